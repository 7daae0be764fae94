/* variables.c - the table of what flow.nc has. */
#include "variables.h"

#include "output.h"
#include "domain/les/flow/sim_impl.h"

#include <stddef.h>

/* Units are those of a flow in metres and seconds. */
static const qn_les_variable table[] = {
    { "vorticity", "s-1", "vorticity", "atmosphere_relative_vorticity", QN_LES_MADE_VORTICITY, 0,
      0 },
    { "streamfunction", "m2 s-1", "stream function: u = d/dy, v = -d/dx", NULL, QN_LES_MADE_PROBE,
      QN_LES_PROBE_PSI, 0 },
    { "u", "m s-1", "velocity along x", "x_wind", QN_LES_MADE_PROBE, QN_LES_PROBE_U, 0 },
    { "v", "m s-1", "velocity along y", "y_wind", QN_LES_MADE_PROBE, QN_LES_PROBE_V, 0 },
    { "spectra", "m2 s-2", "energy by wavenumber", NULL, QN_LES_MADE_SPECTRA, 0, 0 },
    { "energy", "m2 s-2", "mean kinetic energy, without the uniform flow", NULL,
      QN_LES_MADE_NUMBERS, 0, offsetof(qn_les_row, energy) },
    { "enstrophy", "s-2", "mean enstrophy", NULL, QN_LES_MADE_NUMBERS, 0,
      offsetof(qn_les_row, enstrophy) },
    { "palinstrophy", "m-2 s-2", "mean palinstrophy", NULL, QN_LES_MADE_NUMBERS, 0,
      offsetof(qn_les_row, palinstrophy) },
    { "lowpass", "s-1", "vorticity decoded without residual", NULL, QN_LES_MADE_LATE,
      QN_LES_FIELD_LOWPASS, 0 },
    { "decoded", "s-1", "vorticity decoded", NULL, QN_LES_MADE_LATE, QN_LES_FIELD_DECODED, 0 },
};

_Static_assert(sizeof table / sizeof *table <= QN_LES_MAX_VARIABLES, "room for all variables");

int qn_les_variables(const qn_les_options *config, const qn_les_variable *out[QN_LES_MAX_VARIABLES])
{
    int n = 0;

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].made != QN_LES_MADE_LATE || config->what != QN_LES_WHAT_SIM)
            out[n++] = &table[i];
    return n;
}

size_t qn_les_variable_bytes(const qn_les_options *config, const qn_les_variable *variable)
{
    const size_t members = (size_t)config->ensemble, side = (size_t)config->N;

    if (variable->made == QN_LES_MADE_SPECTRA)
        return members * (size_t)qn_les_sim_shells(config) * sizeof(double);
    if (variable->made == QN_LES_MADE_NUMBERS)
        return qn_les_sim_row_bytes(config);
    return members * side * side * (config->precision == QN_LES_F64 ? 8 : 4);
}

/* les_flux.c - the flow in flux form: stages in time, and the products on the grid.
 *
 * Advection and closure are second derivatives of P = nu_t D - u v and Q = u^2 - v^2 - 2 nu_t E,
 * so four fields go to the grid and two come back. A mode is read once per stage: the kernel that
 * finishes one stage writes the fields of the next.
 */
PRECISIONS
#include "dialect.h"
#include "les_sim.h"
#include "les_mode.h"

/* The spectra of u, v, E, D of the vorticity h. */
FN void put_fields(les_par p, les_wave w, GLOBAL real *work, i64 at, les_mode h)
{
    const les_mode psi = les_scaled(w.ik2, h);

    les_put_velocity(p, w, work, at, psi);
    les_put_strain(p, w, work, at + LES_E * p.field, psi);
}

MAP(les_flux_first, VAL(les_par, p), IN(real, s), OUT(real, work))
{
    const i64 at = les_at(p, gx, gy, gz);

    put_fields(p, les_wave_at(p, gx, gy), work, at, les_get(s, at));
}

MAP(les_flux_mid, VAL(les_par, p), IN(double, clock), IN(real, s), OUT(real, mid),
    INOUT(real, work))
{
    const i64 at = les_at(p, gx, gy, gz);
    const les_wave w = les_wave_at(p, gx, gy);
    const les_mode h = les_predicted(p, w, (real)clock[CLOCK_DT], work, at, les_get(s, at));

    les_put(mid, at, h);
    put_fields(p, w, work, at, h);
}

MAP(les_flux_next, VAL(les_par, p), IN(double, clock), INOUT(real, s), IN(real, mid),
    INOUT(real, work))
{
    const i64 at = les_at(p, gx, gy, gz);
    const les_wave w = les_wave_at(p, gx, gy);
    const les_mode h =
        les_corrected(p, w, (real)clock[CLOCK_DT], work, at, les_get(s, at), les_get(mid, at));

    les_put(s, at, h);
    put_fields(p, w, work, at, h);
}

/* u, v, E, D -> P, Q in the places of u and v. `nut` exists where nu_from uses it. */
MAP(les_flux_grid, VAL(les_par, p), VAL(i32, nu_from), INOUT(real, nut), INOUT(real, work))
{
    const i64 at = ((i64)gz * p.n + gy) * (p.n + 2) + gx, field = p.field;
    const real scale = (real)p.inv_cells;
    const real u = scale * work[at + LES_U * field] + (real)p.mean_u;
    const real v = scale * work[at + LES_V * field] + (real)p.mean_v;
    const real e = scale * work[at + LES_E * field];
    const real d = scale * work[at + LES_D * field];
    real nu = (real)p.smag * sqrt(e * e + d * d + (real)p.strain_floor);

    if (nu_from == LES_NU_LOAD)
        nu = nut[at];
    if (nu_from == LES_NU_STORE)
        nut[at] = nu;
    work[at + LES_U * field] = nu * d - u * v;
    work[at + LES_V * field] = u * u - v * v - R(2) * nu * e;
}

/* les_adv.c - the flow in advective form, as in the reference program.
 *
 * The grid gets u, v, the gradient and the Laplacian of the vorticity, and E and D where the eddy
 * viscosity is computed, and returns -(u om_x + v om_y) + nu_t lap. The molecular viscosity is
 * linear and stays in spectral space.
 */
PRECISIONS
#include "dialect.h"
#include "les_sim.h"
#include "les_mode.h"

FN void put_fields(les_par p, les_wave w, GLOBAL real *work, i64 at, les_mode h)
{
    const i64 field = p.field;

    les_put_velocity(p, w, work, at, les_scaled(w.ik2, h));
    les_put(work, at + LES_OM_X * field, les_turned(w.kx, h));
    les_put(work, at + LES_OM_Y * field, les_turned(w.ky, h));
    les_put(work, at + LES_LAP * field, les_scaled(-les_laplacian(p, w), h));
}

FN void put_strain(les_par p, les_wave w, GLOBAL real *work, i64 at, les_mode h)
{
    les_put_strain(p, w, work, at + LES_ADV_E * p.field, les_scaled(w.ik2, h));
}

MAP(les_adv_first, VAL(les_par, p), IN(real, s), OUT(real, work))
{
    const i64 at = les_at(p, gx, gy, gz);
    const les_wave w = les_wave_at(p, gx, gy);
    const les_mode h = les_get(s, at);

    put_fields(p, w, work, at, h);
    put_strain(p, w, work, at, h);
}

/* The second stage reuses the eddy viscosity of the first. */
MAP(les_adv_mid, VAL(les_par, p), IN(double, clock), IN(real, s), OUT(real, mid), INOUT(real, work))
{
    const i64 at = les_at(p, gx, gy, gz);
    const les_wave w = les_wave_at(p, gx, gy);
    const les_mode h = les_predicted(p, w, (real)clock[CLOCK_DT], work, at, les_get(s, at));

    les_put(mid, at, h);
    put_fields(p, w, work, at, h);
}

MAP(les_adv_next, VAL(les_par, p), IN(double, clock), INOUT(real, s), IN(real, mid),
    INOUT(real, work))
{
    const i64 at = les_at(p, gx, gy, gz);
    const les_wave w = les_wave_at(p, gx, gy);
    const les_mode h =
        les_corrected(p, w, (real)clock[CLOCK_DT], work, at, les_get(s, at), les_get(mid, at));

    les_put(s, at, h);
    put_fields(p, w, work, at, h);
    put_strain(p, w, work, at, h);
}

/* The nonlinear terms in the place of u. `nut` exists where nu_from uses it. */
MAP(les_adv_grid, VAL(les_par, p), VAL(i32, nu_from), INOUT(real, nut), INOUT(real, work))
{
    const i64 at = ((i64)gz * p.n + gy) * (p.n + 2) + gx, field = p.field;
    const real scale = (real)p.inv_cells;
    const real u = scale * work[at + LES_U * field] + (real)p.mean_u;
    const real v = scale * work[at + LES_V * field] + (real)p.mean_v;
    const real om_x = scale * work[at + LES_OM_X * field];
    const real om_y = scale * work[at + LES_OM_Y * field];
    const real lap = scale * work[at + LES_LAP * field];
    real nu;

    if (nu_from == LES_NU_LOAD) {
        nu = nut[at];
    } else {
        const real e = scale * work[at + LES_ADV_E * field];
        const real d = scale * work[at + LES_ADV_D * field];

        nu = (real)p.smag * sqrt(e * e + d * d + (real)p.strain_floor);
    }
    if (nu_from == LES_NU_STORE)
        nut[at] = nu;
    work[at + LES_U * field] = nu * lap - (u * om_x + v * om_y);
}

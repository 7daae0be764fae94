/* les_products.c - the nonlinear terms on the grid, in both forms of the equations.
 *
 * In flux form, advection and closure are second derivatives of P = nu_t D - u v and
 * Q = u^2 - v^2 - 2 nu_t E, so four fields go to the grid and two come back. The advective form, as
 * in the reference program, gets u, v, the gradient and the Laplacian of the vorticity, and E and D
 * where the eddy viscosity is computed, and returns -(u om_x + v om_y) + nu_t lap.
 */
PRECISIONS
#include "dialect.h"
#include "les_sim.h"

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

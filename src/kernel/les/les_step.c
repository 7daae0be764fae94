/* les_step.c - stages in time without the fields of the next stage.
 *
 * les_close ends the last step of a graph and gives the same bits as the fused kernels. The full
 * kernels also support what few runs use: a filter, an integrating factor, a given force. Their
 * exponentials would prevent the compiler from vectorising the other kernels.
 */
PRECISIONS
#include "dialect.h"
#include "les_sim.h"
#include "les_mode.h"

MAP(les_close, VAL(les_par, p), IN(double, clock), INOUT(real, s), IN(real, mid), IN(real, work))
{
    const i64 at = les_at(p, gx, gy, gz);
    const les_wave w = les_wave_at(p, gx, gy);

    les_put(s, at,
            les_corrected(p, w, (real)clock[CLOCK_DT], work, at, les_get(s, at), les_get(mid, at)));
}

/* dt times the right-hand side; without the linear terms where a factor integrates them. */
FN les_mode full_change(les_par p, les_wave w, real dt, GLOBAL const real *force,
                        GLOBAL const real *work, i64 at, les_mode h)
{
    les_mode r = les_rate(p, w, p.is_ifac ? R(0) : les_linear(p, w), work, at, h);
    real scale = dt;

    if (p.is_forced)
        r = les_sum(r, les_get(force, les_at(p, w.i, w.j, 0)));
    if (p.filter_alpha > 0)
        scale *=
            exp(-(real)p.filter_alpha * pow(w.k2 * (real)p.filter_scale, (real)p.filter_power));
    return les_scaled(scale, r);
}

FN real full_factor(les_par p, les_wave w, real dt)
{
    return p.is_ifac ? exp(-dt * les_linear(p, w)) : R(1);
}

MAP(les_full_mid, VAL(les_par, p), IN(double, clock), IN(real, force), IN(real, s), OUT(real, mid),
    IN(real, work))
{
    const real dt = (real)clock[CLOCK_DT];
    const i64 at = les_at(p, gx, gy, gz);
    const les_wave w = les_wave_at(p, gx, gy);
    const les_mode h = les_get(s, at);
    const les_mode sum = les_sum(h, full_change(p, w, dt, force, work, at, h));

    les_put(mid, at, les_kept(p, w, les_scaled(full_factor(p, w, dt), sum)));
}

MAP(les_full_close, VAL(les_par, p), IN(double, clock), IN(real, force), INOUT(real, s),
    IN(real, mid), IN(real, work))
{
    const real dt = (real)clock[CLOCK_DT];
    const i64 at = les_at(p, gx, gy, gz);
    const les_wave w = les_wave_at(p, gx, gy);
    const les_mode h = les_get(mid, at);
    const les_mode begun = les_scaled(full_factor(p, w, dt), les_get(s, at));
    const les_mode change = full_change(p, w, dt, force, work, at, h);

    les_put(s, at, les_kept(p, w, les_scaled(R(0.5), les_sum(les_sum(begun, h), change))));
}

/* The right-hand side at s, linear terms included, in the first field of work. */
MAP(les_rhs, VAL(les_par, p), IN(real, force), IN(real, s), INOUT(real, work))
{
    const i64 at = les_at(p, gx, gy, gz);
    const les_wave w = les_wave_at(p, gx, gy);
    const les_mode h = les_get(s, at);
    les_par whole = p;

    whole.is_ifac = 0;
    les_put(work, at, les_kept(p, w, full_change(whole, w, R(1), force, work, at, h)));
}

/* The stream function of s in the first field of work. */
MAP(les_psi, VAL(les_par, p), IN(real, s), INOUT(real, work))
{
    const i64 at = les_at(p, gx, gy, gz);

    les_put(work, at, les_scaled(les_wave_at(p, gx, gy).ik2, les_get(s, at)));
}

/* les_stage.c - stages in time (les_stage.h), for flows that use the transforms of a library.
 *
 * A mode is read once per stage: the kernel that ends one stage writes the fields of the next.
 */
PRECISIONS
#include "dialect.h"
#include "les_sim.h"
#include "philox.h"
#include "les_stage.h"

MAP(les_first, VAL(les_par, p), VAL(i32, fields), IN(real, s), OUT(real, work))
{
    const i64 at = les_at(p, gx, gy, gz);

    les_put_fields(p, fields, les_wave_at(p, gx, gy), work, at, les_get(s, at));
}

FN void stage(i32 rule, les_par p, les_stage_par t, GLOBAL const double *clock,
              GLOBAL const real *filter, GLOBAL const real *force, GLOBAL real *s, GLOBAL real *mid,
              GLOBAL real *sum, GLOBAL real *work, i32 gx, i32 gy, i32 gz)
{
    const les_mode none = { R(0), R(0) };
    const i64 at = les_at(p, gx, gy, gz);
    const real dt = (real)clock[CLOCK_DT];
    const les_wave w = les_wave_at(p, gx, gy);
    const les_mode l = les_operator(p, w);
    const les_factors f = les_factors_of(rule, l, dt);
    les_mode a = none, b = none, c = none, r, value;

    if (t.s != 0 || t.sum_s != 0)
        a = les_get(s, at);
    if (t.mid != 0 || t.is_from_mid)
        b = les_get(mid, at);
    if (t.sum != 0 || t.sum_sum != 0)
        c = les_get(sum, at);
    r = les_forced(p, w, force, les_nonlinear(p, w, work, at));
    if (rule == LES_RK)
        r = les_sum(r, les_times(l, t.is_from_mid ? b : a));
    if (p.is_filtered)
        r = les_scaled(filter[les_at(p, gx, gy, 0) / 2], r);
    value = les_value(t, rule, f, dt, a, b, c, r);
    if (p.driven == LES_KICKED && t.to == LES_TO_STATE && les_is_driven(p, w))
        value = les_sum(value, les_get(force, at));
    value = les_kept(p, w, value);
    if (t.sum_rate != 0)
        les_put(sum, at, les_kept(p, w, les_added(t, rule, f, dt, a, c, r)));
    if (t.to == LES_TO_STATE)
        les_put(s, at, value);
    if (t.to == LES_TO_MID)
        les_put(mid, at, value);
    les_put_fields(p, t.fields, w, work, at, value);
}

MAP(les_stage_rk, VAL(les_par, p), VAL(les_stage_par, t), IN(double, clock), IN(real, filter),
    IN(real, force), INOUT(real, s), INOUT(real, mid), INOUT(real, sum), INOUT(real, work))
{
    stage(LES_RK, p, t, clock, filter, force, s, mid, sum, work, gx, gy, gz);
}

MAP(les_stage_if, VAL(les_par, p), VAL(les_stage_par, t), IN(double, clock), IN(real, filter),
    IN(real, force), INOUT(real, s), INOUT(real, mid), INOUT(real, sum), INOUT(real, work))
{
    stage(LES_IF, p, t, clock, filter, force, s, mid, sum, work, gx, gy, gz);
}

MAP(les_stage_etd, VAL(les_par, p), VAL(les_stage_par, t), IN(double, clock), IN(real, filter),
    IN(real, force), INOUT(real, s), INOUT(real, mid), INOUT(real, sum), INOUT(real, work))
{
    stage(LES_ETD, p, t, clock, filter, force, s, mid, sum, work, gx, gy, gz);
}

/* The right-hand side at s, linear terms included, in the first field of work. */
MAP(les_rhs, VAL(les_par, p), IN(real, filter), IN(real, force), IN(real, s), INOUT(real, work))
{
    const i64 at = les_at(p, gx, gy, gz);
    const les_wave w = les_wave_at(p, gx, gy);
    les_mode r = les_forced(p, w, force, les_nonlinear(p, w, work, at));

    r = les_sum(r, les_times(les_operator(p, w), les_get(s, at)));
    if (p.is_filtered)
        r = les_scaled(filter[les_at(p, gx, gy, 0) / 2], r);
    les_put(work, at, les_kept(p, w, r));
}

/* The stream function of s in the first field of work. */
MAP(les_psi, VAL(les_par, p), IN(real, s), INOUT(real, work))
{
    const i64 at = les_at(p, gx, gy, gz);

    les_put(work, at, les_scaled(les_wave_at(p, gx, gy).ik2, les_get(s, at)));
}

/* The kicks of a step: random phases, from the counter (kx, ky) and the number of the step. Range:
 * columns, rows from the lowest wavenumber on, members. */
MAP(les_ring, VAL(les_par, p), VAL(les_ring_par, ring), IN(double, clock), OUT(real, force))
{
    const i32 ny = gy - p.driven_edge, row = ny < 0 ? ny + p.n : ny;
    const i32 is_mirror = (gx == 0) & (ny < 0), n2 = gx * gx + ny * ny;
    const i32 is_inside = (n2 >= ring.low2) & (n2 <= ring.high2);
    const u32 step = (u32)(clock[CLOCK_STEP] + ring.ahead);
    const philox_words x =
        philox_at(gx, is_mirror ? -ny : ny, PHILOX_RING, step, ring.seed + (u64)gz);
    const real angle = (real)((i32)x.a >> 8) * R(3.7450702829239286e-7); /* 2 pi / 2^24 */
    const real size = is_inside ? (real)(ring.amplitude * sqrt(clock[CLOCK_DT])) : R(0);
    les_mode kick = les_scaled(size, les_circle(angle));

    kick.im = is_mirror ? -kick.im : kick.im;
    les_put(force, les_at(p, gx, row, gz), kick);
}

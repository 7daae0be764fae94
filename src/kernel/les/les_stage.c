/* les_stage.c - stages in time (les_stage.h), for flows that use the transforms of a library.
 *
 * A mode is read once per stage: the kernel that ends one stage writes the fields of the next.
 */
PRECISIONS
#include "dialect.h"
#include "les_sim.h"
#include "philox.h"
#include "les_stage.h"

#define FLUX (LES_VELOCITY | LES_STRAIN)
#define ADV  (LES_VELOCITY | LES_GRADIENT | LES_STRAIN)

MAP(les_first, VAL(les_par, p), IN(real, s), OUT(real, work))
{
    const i64 at = les_at(p, gx, gy, gz);

    les_put_fields(p, FLUX, les_wave_at(p, gx, gy), work, at, les_get(s, at));
}

MAP(les_adv_first, VAL(les_par, p), IN(real, s), OUT(real, work))
{
    const i64 at = les_at(p, gx, gy, gz);

    les_put_fields(p, ADV, les_wave_at(p, gx, gy), work, at, les_get(s, at));
}

/* `touches` is t.touches and `fields` t.fields: a branch around a load or a store would keep the CPU's
 * compiler from vectors, so the usual stages have kernels where these are constants. `is_plain`:
 * without a filter and an array of forces. */
FN void stage(i32 rule, i32 touches, i32 fields, i32 is_plain, les_par p, les_stage_par t,
              GLOBAL const double *clock, GLOBAL const real *filter, GLOBAL const real *force,
              GLOBAL real *s, GLOBAL real *mid, GLOBAL real *sum, GLOBAL real *work, i32 gx, i32 gy,
              i32 gz)
{
    const i64 at = les_at(p, gx, gy, gz);
    const real dt = (real)clock[CLOCK_DT];
    const les_wave w = les_wave_at(p, gx, gy);
    const les_mode l = les_operator(p, w), none = { R(0), R(0) };
    const les_factors f = les_factors_of(rule, l, dt);
    les_mode r = les_waved(p, w, les_nonlinear(p, w, work, at)), a = none, b = none, c = none, v;

    if (touches & LES_GETS_S)
        a = les_get(s, at);
    if (touches & LES_GETS_MID)
        b = les_get(mid, at);
    if (touches & LES_GETS_SUM)
        c = les_get(sum, at);
    if (!is_plain && p.driven == LES_FORCED)
        r = les_sum(r, les_get(force, les_at(p, gx, gy, 0)));
    if (rule == LES_RK)
        r = les_sum(r, les_times(l, les_pick(t.is_from_mid, b, a)));
    if (!is_plain && p.is_filtered)
        r = les_scaled(filter[les_at(p, gx, gy, 0) / 2], r);
    v = les_value(t, rule, f, dt, a, b, c, r);
    if (!is_plain && p.driven == LES_KICKED && (touches & LES_PUTS_S) && les_is_driven(p, w))
        v = les_sum(v, les_get(force, at));
    v = les_kept(p, w, v);
    if (touches & LES_PUTS_SUM)
        les_put(sum, at, les_kept(p, w, les_added(t, rule, f, dt, a, c, r)));
    if (touches & LES_PUTS_S)
        les_put(s, at, v);
    if (touches & LES_PUTS_MID)
        les_put(mid, at, v);
    les_put_fields(p, fields, w, work, at, v);
}

/* Plain stages in flux form: of heun and ssprk3, rk4, ifrk4. */

MAP(les_two_begin, VAL(les_par, p), VAL(les_stage_par, t), IN(double, clock), INOUT(real, s),
    INOUT(real, mid), INOUT(real, work))
{
    stage(LES_RK, LES_TWO_BEGIN, FLUX, 1, p, t, clock, 0, 0, s, mid, 0, work, gx, gy, gz);
}

MAP(les_two_more, VAL(les_par, p), VAL(les_stage_par, t), IN(double, clock), INOUT(real, s),
    INOUT(real, mid), INOUT(real, work))
{
    stage(LES_RK, LES_TWO_MORE, FLUX, 1, p, t, clock, 0, 0, s, mid, 0, work, gx, gy, gz);
}

MAP(les_two_end, VAL(les_par, p), VAL(les_stage_par, t), IN(double, clock), INOUT(real, s),
    INOUT(real, mid), INOUT(real, work))
{
    stage(LES_RK, LES_TWO_END, FLUX, 1, p, t, clock, 0, 0, s, mid, 0, work, gx, gy, gz);
}

MAP(les_rk4_begin, VAL(les_par, p), VAL(les_stage_par, t), IN(double, clock), INOUT(real, s),
    INOUT(real, mid), INOUT(real, sum), INOUT(real, work))
{
    stage(LES_RK, LES_BOTH_BEGIN, FLUX, 1, p, t, clock, 0, 0, s, mid, sum, work, gx, gy, gz);
}

MAP(les_rk4_more, VAL(les_par, p), VAL(les_stage_par, t), IN(double, clock), INOUT(real, s),
    INOUT(real, mid), INOUT(real, sum), INOUT(real, work))
{
    stage(LES_RK, LES_BOTH_MORE, FLUX, 1, p, t, clock, 0, 0, s, mid, sum, work, gx, gy, gz);
}

MAP(les_rk4_end, VAL(les_par, p), VAL(les_stage_par, t), IN(double, clock), INOUT(real, s),
    INOUT(real, mid), INOUT(real, sum), INOUT(real, work))
{
    stage(LES_RK, LES_BOTH_END, FLUX, 1, p, t, clock, 0, 0, s, mid, sum, work, gx, gy, gz);
}

MAP(les_if_begin, VAL(les_par, p), VAL(les_stage_par, t), IN(double, clock), INOUT(real, s),
    INOUT(real, sum), INOUT(real, work))
{
    stage(LES_IF, LES_SUM_BEGIN, FLUX, 1, p, t, clock, 0, 0, s, 0, sum, work, gx, gy, gz);
}

MAP(les_if_more, VAL(les_par, p), VAL(les_stage_par, t), IN(double, clock), INOUT(real, s),
    INOUT(real, sum), INOUT(real, work))
{
    stage(LES_IF, LES_SUM_MORE, FLUX, 1, p, t, clock, 0, 0, s, 0, sum, work, gx, gy, gz);
}

MAP(les_if_end, VAL(les_par, p), VAL(les_stage_par, t), IN(double, clock), INOUT(real, s),
    INOUT(real, sum), INOUT(real, work))
{
    stage(LES_IF, LES_SUM_END, FLUX, 1, p, t, clock, 0, 0, s, 0, sum, work, gx, gy, gz);
}

/* Plain stages of heun in advective form, with one eddy viscosity per step. */

MAP(les_adv_begin, VAL(les_par, p), VAL(les_stage_par, t), IN(double, clock), INOUT(real, s),
    INOUT(real, mid), INOUT(real, work))
{
    stage(LES_RK, LES_TWO_BEGIN, LES_VELOCITY | LES_GRADIENT, 1, p, t, clock, 0, 0, s, mid, 0, work,
          gx, gy, gz);
}

MAP(les_adv_end, VAL(les_par, p), VAL(les_stage_par, t), IN(double, clock), INOUT(real, s),
    INOUT(real, mid), INOUT(real, work))
{
    stage(LES_RK, LES_TWO_END, ADV, 1, p, t, clock, 0, 0, s, mid, 0, work, gx, gy, gz);
}

/* All other stages. The weights of etdrk4 are too long for vectors anyway. */

MAP(les_any_rk, VAL(les_par, p), VAL(les_stage_par, t), IN(double, clock), IN(real, filter),
    IN(real, force), INOUT(real, s), INOUT(real, mid), INOUT(real, sum), INOUT(real, work))
{
    stage(LES_RK, t.touches, t.fields, 0, p, t, clock, filter, force, s, mid, sum, work, gx, gy,
          gz);
}

MAP(les_any_if, VAL(les_par, p), VAL(les_stage_par, t), IN(double, clock), IN(real, filter),
    IN(real, force), INOUT(real, s), INOUT(real, mid), INOUT(real, sum), INOUT(real, work))
{
    stage(LES_IF, t.touches, t.fields, 0, p, t, clock, filter, force, s, mid, sum, work, gx, gy,
          gz);
}

MAP(les_any_etd, VAL(les_par, p), VAL(les_stage_par, t), IN(double, clock), IN(real, filter),
    IN(real, force), INOUT(real, s), INOUT(real, mid), INOUT(real, sum), INOUT(real, work))
{
    stage(LES_ETD, t.touches, t.fields, 0, p, t, clock, filter, force, s, mid, sum, work, gx, gy,
          gz);
}

/* The right-hand side at s, linear terms included, in the first field of work. */
MAP(les_rhs, VAL(les_par, p), IN(real, filter), IN(real, force), IN(real, s), INOUT(real, work))
{
    const i64 at = les_at(p, gx, gy, gz);
    const les_wave w = les_wave_at(p, gx, gy);
    les_mode r = les_waved(p, w, les_nonlinear(p, w, work, at));

    if (p.driven == LES_FORCED)
        r = les_sum(r, les_get(force, les_at(p, gx, gy, 0)));
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

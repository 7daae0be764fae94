/* les_stage.h - right-hand side of a mode, and the stages of all methods in time.
 *
 * A method is a table of les_stage_par (les_sim.h). Its rule is a constant in every kernel, which
 * leaves the compiler only what that rule needs.
 */
#ifndef QN_KERNEL_LES_STAGE_H
#define QN_KERNEL_LES_STAGE_H

#include "les_mode.h"
#include "les_math.h"

/* x^n, n from 0 to 15, without a branch. */
FN real les_to_power(real x, i32 n)
{
    const real x2 = x * x, x4 = x2 * x2, x8 = x4 * x4;

    return ((n & 1) ? x : R(1)) * ((n & 2) ? x2 : R(1)) * ((n & 4) ? x4 : R(1)) *
           ((n & 8) ? x8 : R(1));
}

/* The linear operator: viscosities, drag, and waves on the gradient of planetary vorticity. */
FN les_mode les_operator(les_par p, les_wave w)
{
    const real hyper = les_to_power(w.k2 * (real)p.hyper_unit, p.hyper_order);
    const real hypo = les_to_power(w.ik2 * (real)p.hypo_unit, p.hypo_order);
    const real viscous = (real)p.nu0 * les_laplacian(p, w) + (real)p.drag;
    les_mode r;

    r.re = -(viscous + ((real)p.hyper * hyper + (real)p.hypo * hypo));
    r.im = (real)p.beta * w.kx * w.ik2;
    return r;
}

/* The results of the transforms in `work`: P and Q, or the advective terms. */
FN les_mode les_nonlinear(les_par p, les_wave w, GLOBAL const real *work, i64 at)
{
    const real a = p.is_flux ? w.ky * w.ky - w.kx * w.kx : R(1);
    const real b = p.is_flux ? -(w.kx * w.ky) : R(0);

    return les_sum(les_scaled(a, les_get(work, at)), les_scaled(b, les_get(work, at + p.second)));
}

/* Whether the array of a force or of kicks has the mode. */
FN i32 les_is_driven(les_par p, les_wave w)
{
    return (w.i <= p.driven_edge) & ((w.j <= p.driven_edge) | (p.n - w.j <= p.driven_edge));
}

/* Nonlinear terms and the wave of forcing kolmogorov. */
FN les_mode les_waved(les_par p, les_wave w, les_mode r)
{
    const i32 is_wave = (w.i == 0) & ((w.j == p.force_k) | (w.j == p.n - p.force_k));
    const real wave = (real)p.wave_force;

    r.re = r.re + (is_wave ? wave : R(0));
    return r;
}

/* Factors of a mode: 1, e^(L dt/2) and its square; for LES_ETD the four weights of right-hand sides.
 */
typedef struct {
    les_mode e[3], w[4];
} les_factors;

FN les_factors les_factors_of(i32 rule, les_mode l, real dt)
{
    les_factors f;

    f.e[0].re = R(1);
    f.e[0].im = R(0);
    if (rule != LES_RK) {
        const les_mode h = les_scaled(R(0.5) * dt, l);

        f.e[1] = les_complex_exp(h);
        f.e[2] = les_times(f.e[1], f.e[1]);
        if (rule == LES_ETD) {
            /* phi of twice the argument, from that of h. */
            const les_phis p = les_phis_of(h, f.e[1]);
            const les_mode one = les_scaled(R(0.5), les_times(les_plus(f.e[1], R(1)), p.one));
            const les_mode two =
                les_scaled(R(0.25), les_sum(les_times(p.one, p.one), les_scaled(R(2), p.two)));
            const les_mode three =
                les_scaled(R(0.125), les_sum(les_times(p.two, les_plus(p.one, R(1))),
                                             les_scaled(R(2), p.three)));

            f.w[0] = les_scaled(R(0.5), p.one);
            f.w[1] = les_sum(one, les_sum(les_scaled(R(-3), two), les_scaled(R(4), three)));
            f.w[2] = les_sum(two, les_scaled(R(-2), three));
            f.w[3] = les_sum(les_scaled(R(4), three), les_scaled(R(-1), two));
        }
    }
    return f;
}

/* x times the factor of that power of E. */
FN les_mode les_powered(i32 rule, les_factors f, i32 power, les_mode x)
{
    if (rule == LES_RK)
        return x;
    return les_times(les_pick(power == 0, f.e[0], les_pick(power == 1, f.e[1], f.e[2])), x);
}

FN les_mode les_rated(i32 rule, les_factors f, i32 weight, les_mode r)
{
    if (rule != LES_ETD)
        return les_powered(rule, f, weight, r);
    return les_times(les_pick(weight < 2, les_pick(weight == 0, f.w[0], f.w[1]),
                              les_pick(weight == 2, f.w[2], f.w[3])),
                     r);
}

/* The value of a stage. Arrays of weight 0 are not added, whatever is in them. */
FN les_mode les_value(les_stage_par t, i32 rule, les_factors f, real dt, les_mode s, les_mode mid,
                      les_mode sum, les_mode r)
{
    const les_mode begun = les_scaled((real)t.s, les_powered(rule, f, t.s_power, s));
    const les_mode added = les_scaled((real)t.sum, sum);
    les_mode v, w;

    if (rule == LES_ETD)
        mid = les_times(les_plus(f.e[1], R(-1)), mid);
    v = les_pick(t.s != 0, begun, added);
    w = les_sum(v, les_scaled((real)t.mid, mid));
    v = les_pick(t.mid != 0, w, v);
    return les_sum(v, les_scaled((real)t.rate * dt, les_rated(rule, f, t.rate_weight, r)));
}

/* What is added up for the last stage. */
FN les_mode les_added(les_stage_par t, i32 rule, les_factors f, real dt, les_mode s, les_mode sum,
                      les_mode r)
{
    const les_mode begun = les_scaled((real)t.sum_s, les_powered(rule, f, t.sum_s_power, s));

    return les_sum(les_pick(t.sum_s != 0, begun, sum),
                   les_scaled((real)t.sum_rate * dt, les_rated(rule, f, t.sum_rate_weight, r)));
}

#endif

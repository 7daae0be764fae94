/* les_mode.h - one mode in the spectral kernels of the flow.
 *
 * Wavenumbers are computed from indices. First derivatives drop the Nyquist index, even orders keep
 * it. Results for modes that dealiasing removes are discarded by a selection, not by a factor of
 * zero, since transforms may leave anything there, even NaN. A branch would save loads on a device,
 * but compilers do not vectorise it on the CPU.
 */
#ifndef QN_KERNEL_LES_MODE_H
#define QN_KERNEL_LES_MODE_H

/* Aligned, so that a device loads and stores both parts at once. */
typedef struct {
    real re, im;
} __attribute__((aligned(2 * sizeof(REAL)))) les_mode;

typedef struct {
    real kx, ky; /* of first derivatives */
    real k2;     /* with the Nyquist index */
    real ik2;    /* 1 / k2, 0 for the mean */
    i32 i, j;
} les_wave;

FN les_wave les_wave_at(les_par p, i32 i, i32 j)
{
    const i32 ny = 2 * j <= p.n ? j : j - p.n;
    const real q = (real)p.q;
    const real x = q * (real)i, y = q * (real)ny;
    les_wave w;

    w.kx = 2 * i == p.n ? R(0) : x;
    w.ky = 2 * j == p.n ? R(0) : y;
    w.k2 = x * x + y * y;
    w.ik2 = (i | j) == 0 ? R(0) : R(1) / w.k2;
    w.i = i;
    w.j = j;
    return w;
}

/* Index of the real part of mode (i, j) of member m. */
FN i64 les_at(les_par p, i32 i, i32 j, i32 m)
{
    return 2 * (((i64)m * p.n + j) * (p.n / 2 + 1) + i);
}

FN les_mode les_get(GLOBAL const real *x, i64 at)
{
    return *(GLOBAL const les_mode *)(x + at);
}

FN void les_put(GLOBAL real *x, i64 at, les_mode h)
{
    *(GLOBAL les_mode *)(x + at) = h;
}

FN les_mode les_scaled(real c, les_mode h)
{
    les_mode r;

    r.re = c * h.re;
    r.im = c * h.im;
    return r;
}

/* i c h */
FN les_mode les_turned(real c, les_mode h)
{
    les_mode r;

    r.re = -c * h.im;
    r.im = c * h.re;
    return r;
}

FN les_mode les_sum(les_mode a, les_mode b)
{
    les_mode r;

    r.re = a.re + b.re;
    r.im = a.im + b.im;
    return r;
}

/* h, or 0 where the dealiasing rule removes the mode. */
FN les_mode les_kept(les_par p, les_wave w, les_mode h)
{
    const i32 is_kept = (w.i <= p.edge) & ((w.j <= p.edge) | (p.n - w.j <= p.edge));
    les_mode r;

    r.re = is_kept ? h.re : R(0);
    r.im = is_kept ? h.im : R(0);
    return r;
}

/* k2 in the Laplacian, whose value for the mean is an option. */
FN real les_laplacian(les_par p, les_wave w)
{
    const real dc = (real)p.lap_dc;

    return (w.i | w.j) == 0 ? dc : w.k2;
}

/* Fields for the grid, of the stream function psi. */

FN void les_put_velocity(les_par p, les_wave w, GLOBAL real *work, i64 at, les_mode psi)
{
    les_put(work, at + LES_U * p.field, les_turned(w.ky, psi));
    les_put(work, at + LES_V * p.field, les_turned(-w.kx, psi));
}

/* E and D, one field after the other. */
FN void les_put_strain(les_par p, les_wave w, GLOBAL real *work, i64 at, les_mode psi)
{
    les_put(work, at, les_scaled(R(-2) * w.kx * w.ky, psi));
    les_put(work, at + p.field, les_scaled(w.kx * w.kx - w.ky * w.ky, psi));
}

/* One stage in time. */

/* The results of the transforms in `work`: P and Q, or the advective terms. */
FN les_mode les_nonlinear(les_par p, les_wave w, GLOBAL const real *work, i64 at)
{
    const real a = p.is_flux ? w.ky * w.ky - w.kx * w.kx : R(1);
    const real b = p.is_flux ? -(w.kx * w.ky) : R(0);

    return les_sum(les_scaled(a, les_get(work, at)), les_scaled(b, les_get(work, at + p.second)));
}

/* Rate of the linear terms. */
FN real les_linear(les_par p, les_wave w)
{
    return (real)p.nu0 * les_laplacian(p, w) + (real)p.drag;
}

/* The right-hand side at `h`: the terms of every configuration. */
FN les_mode les_rate(les_par p, les_wave w, real linear, GLOBAL const real *work, i64 at,
                     les_mode h)
{
    const i32 is_forced = (w.i == 0) & ((w.j == p.force_k) | (w.j == p.n - p.force_k));
    const real force = (real)p.wave_force;
    les_mode r = les_nonlinear(p, w, work, at);

    r.re = r.re + (is_forced ? force : R(0));
    return les_sum(r, les_scaled(-linear, h));
}

/* Heun's first stage from the state, and the state after the step. */
FN les_mode les_predicted(les_par p, les_wave w, real dt, GLOBAL const real *work, i64 at,
                          les_mode s)
{
    const les_mode rate = les_rate(p, w, les_linear(p, w), work, at, s);

    return les_kept(p, w, les_sum(s, les_scaled(dt, rate)));
}

FN les_mode les_corrected(les_par p, les_wave w, real dt, GLOBAL const real *work, i64 at,
                          les_mode s, les_mode mid)
{
    const les_mode rate = les_rate(p, w, les_linear(p, w), work, at, mid);

    return les_kept(p, w, les_scaled(R(0.5), les_sum(les_sum(s, mid), les_scaled(dt, rate))));
}

#endif

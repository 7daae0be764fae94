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

/* A selection part by part, which needs no branch. */
FN les_mode les_pick(i32 is_first, les_mode a, les_mode b)
{
    les_mode r;

    r.re = is_first ? a.re : b.re;
    r.im = is_first ? a.im : b.im;
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

/* The spectra named by `fields` (LES_VELOCITY, ...) of the vorticity h. */
FN void les_put_fields(les_par p, i32 fields, les_wave w, GLOBAL real *work, i64 at, les_mode h)
{
    const les_mode psi = les_scaled(w.ik2, h);
    const i64 field = p.field;

    if (fields & LES_VELOCITY)
        les_put_velocity(p, w, work, at, psi);
    if (fields & LES_GRADIENT) {
        les_put(work, at + LES_OM_X * field, les_turned(w.kx, h));
        les_put(work, at + LES_OM_Y * field, les_turned(w.ky, h));
        les_put(work, at + LES_LAP * field, les_scaled(-les_laplacian(p, w), h));
    }
    if (fields & LES_STRAIN)
        les_put_strain(p, w, work, at + (p.is_flux ? LES_E : LES_ADV_E) * field, psi);
}

#endif

/* les_math.h - exp, sin and cos by additions and multiplications alone, so that every backend
 * gives the same bits and the CPU's compiler finds vectors; complex exponentials and phi functions.
 *
 * Series are longer in double precision; `sizeof` is known to the compiler, which leaves out the
 * rest. Errors are a few units in the last place.
 */
#ifndef QN_KERNEL_LES_MATH_H
#define QN_KERNEL_LES_MATH_H

#define LES_IS_DOUBLE (sizeof(REAL) == 8)

FN real les_power_of_two(i32 k)
{
    return LES_IS_DOUBLE ? (real)bits_f64((u64)(i64)(k + 1023) << 52)
                         : (real)bits_f32((u32)(k + 127) << 23);
}

/* exp(x) for x that is not far above 0. Far below 0 it stays at a tiny number whose square is not
 * yet denormal. The first part of ln 2 has few bits: its multiples are exact. */
FN real les_exp(real x)
{
    const real least = LES_IS_DOUBLE ? R(-340) : R(-43);
    const real y = x > least ? x : least;
    const real k = rint(y * R(1.4426950408889634));
    const real r = (y - k * R(0.693359375)) + k * R(2.1219444005469058e-4);
    real p = R(1.0 / 5040);

    if (LES_IS_DOUBLE) {
        p = R(1.0 / 6227020800.0);
        p = p * r + R(1.0 / 479001600.0);
        p = p * r + R(1.0 / 39916800.0);
        p = p * r + R(1.0 / 3628800.0);
        p = p * r + R(1.0 / 362880.0);
        p = p * r + R(1.0 / 40320.0);
        p = p * r + R(1.0 / 5040.0);
    }
    p = p * r + R(1.0 / 720);
    p = p * r + R(1.0 / 120);
    p = p * r + R(1.0 / 24);
    p = p * r + R(1.0 / 6);
    p = p * r + R(0.5);
    return les_power_of_two((i32)k) * (p * r * r + r + R(1));
}

/* cos(x) and sin(x), |x| up to 10^4. Quarter turns are taken off in three parts. */
FN les_mode les_circle(real x)
{
    const real k = rint(x * R(0.63661977236758134308));
    const real r =
        ((x - k * R(1.5703125)) - k * R(4.837512969970703125e-4)) - k * R(7.5497899548918821e-8);
    const real z = r * r;
    const i32 turns = (i32)k;
    real s = R(1.0 / 362880), c = R(-1.0 / 3628800);
    les_mode out;

    if (LES_IS_DOUBLE) {
        s = R(1.0 / 355687428096000.0);
        s = s * z - R(1.0 / 1307674368000.0);
        s = s * z + R(1.0 / 6227020800.0);
        s = s * z - R(1.0 / 39916800.0);
        s = s * z + R(1.0 / 362880.0);
        c = R(-1.0 / 6402373705728000.0);
        c = c * z + R(1.0 / 20922789888000.0);
        c = c * z - R(1.0 / 87178291200.0);
        c = c * z + R(1.0 / 479001600.0);
        c = c * z - R(1.0 / 3628800.0);
    }
    s = s * z - R(1.0 / 5040);
    s = s * z + R(1.0 / 120);
    s = s * z - R(1.0 / 6);
    s = s * z * r + r;
    c = c * z + R(1.0 / 40320);
    c = c * z - R(1.0 / 720);
    c = c * z + R(1.0 / 24);
    c = c * z - R(0.5);
    c = c * z + R(1);
    out.re = (turns & 1) ? s : c;
    out.im = (turns & 1) ? c : s;
    out.re = ((turns + 1) & 2) ? -out.re : out.re;
    out.im = (turns & 2) ? -out.im : out.im;
    return out;
}

FN les_mode les_times(les_mode a, les_mode b)
{
    les_mode r;

    r.re = a.re * b.re - a.im * b.im;
    r.im = a.re * b.im + a.im * b.re;
    return r;
}

FN les_mode les_plus(les_mode a, real b)
{
    a.re += b;
    return a;
}

FN les_mode les_complex_exp(les_mode z)
{
    return les_scaled(les_exp(z.re), les_circle(z.im));
}

/* phi_1, phi_2, phi_3 of z: (e^z - 1) / z, (phi_1 - 1) / z, (phi_2 - 1/2) / z. Near 0, where these
 * cancel, by the series of phi_3, from which the others follow. `e` is e^z. */
typedef struct {
    les_mode one, two, three;
} les_phis;

FN les_phis les_phis_of(les_mode z, les_mode e)
{
    const real size = z.re * z.re + z.im * z.im;
    const i32 is_near = size < R(1);
    const real inverse = R(1) / (is_near ? R(1) : size);
    les_mode over, t;
    les_phis near, far;

    t.re = LES_IS_DOUBLE ? R(1.0 / 2432902008176640000.0) : R(1.0 / 6227020800.0);
    t.im = R(0);
    if (LES_IS_DOUBLE) {
        t = les_plus(les_times(t, z), R(1.0 / 121645100408832000.0));
        t = les_plus(les_times(t, z), R(1.0 / 6402373705728000.0));
        t = les_plus(les_times(t, z), R(1.0 / 355687428096000.0));
        t = les_plus(les_times(t, z), R(1.0 / 20922789888000.0));
        t = les_plus(les_times(t, z), R(1.0 / 1307674368000.0));
        t = les_plus(les_times(t, z), R(1.0 / 87178291200.0));
        t = les_plus(les_times(t, z), R(1.0 / 6227020800.0));
    }
    t = les_plus(les_times(t, z), R(1.0 / 479001600.0));
    t = les_plus(les_times(t, z), R(1.0 / 39916800.0));
    t = les_plus(les_times(t, z), R(1.0 / 3628800.0));
    t = les_plus(les_times(t, z), R(1.0 / 362880.0));
    t = les_plus(les_times(t, z), R(1.0 / 40320.0));
    t = les_plus(les_times(t, z), R(1.0 / 5040.0));
    t = les_plus(les_times(t, z), R(1.0 / 720.0));
    t = les_plus(les_times(t, z), R(1.0 / 120.0));
    t = les_plus(les_times(t, z), R(1.0 / 24.0));
    near.three = les_plus(les_times(t, z), R(1.0 / 6.0));
    near.two = les_plus(les_times(near.three, z), R(0.5));
    near.one = les_plus(les_times(near.two, z), R(1));

    over.re = z.re * inverse;
    over.im = -z.im * inverse;
    far.one = les_times(les_plus(e, R(-1)), over);
    far.two = les_times(les_plus(far.one, R(-1)), over);
    far.three = les_times(les_plus(far.two, R(-0.5)), over);

    far.one.re = is_near ? near.one.re : far.one.re;
    far.one.im = is_near ? near.one.im : far.one.im;
    far.two.re = is_near ? near.two.re : far.two.re;
    far.two.im = is_near ? near.two.im : far.two.im;
    far.three.re = is_near ? near.three.re : far.three.re;
    far.three.im = is_near ? near.three.im : far.three.im;
    return far;
}

#endif

/* sw_math.h - angles from + - * / and square roots.
 *
 * Unlike library calls they vectorise on the CPU, and every device gives the same bits.
 */
#ifndef QN_KERNEL_SW_MATH_H
#define QN_KERNEL_SW_MATH_H

#define SW_PI 3.14159265358979f

/* The tangent, in f32 arithmetic, of pi/2 in f32, which is larger than the true pi/2. */
#define SW_TAN_RIGHT (-22877332.0f)

FN float sw_pow4(float x)
{
    return (x * x) * (x * x);
}

/* Clamped to 0 .. 1; NaN stays NaN. */
FN float sw_unit(float x)
{
    const float low = x < 0.0f ? 0.0f : x;
    return low > 1.0f ? 1.0f : low;
}

/* atan(t) for 0 <= t <= tan(pi/8), with an error below 1e-8; continues beyond. */
FN float sw_atan_small(float t)
{
    const float z = t * t;
    return (((8.05374449538e-2f * z - 1.38776856032e-1f) * z + 1.99777106478e-1f) * z -
            3.33329491539e-1f) *
               z * t +
           t;
}

/* atan(y / x) for y, x >= 0, not both 0. */
FN float sw_angle(float y, float x)
{
    const float most = MAX(y, x), least = MIN(y, x);
    const i32 is_wide = least > 0.414213562f * most;
    const float num = is_wide ? least - most : least;
    const float den = is_wide ? least + most : most;
    const float low = sw_atan_small(num / den) + (is_wide ? 0.25f * SW_PI : 0.0f);

    return y > x ? 0.5f * SW_PI - low : low;
}

/* cos(a) for |a| <= pi/2, to 2e-7. */
FN float sw_cos(float a)
{
    const float z = a * a;
    return 1.0f +
           z * (-0.5f +
                z * (4.16666667e-2f +
                     z * (-1.38888889e-3f +
                          z * (2.48015873e-5f + z * (-2.75573192e-7f + z * 2.08767570e-9f)))));
}

/* tan(asin(s)) and tan(acos(s)) for 0 <= s <= 1. */
FN float sw_tan_asin(float s)
{
    const float rest = (1.0f - s) * (1.0f + s);
    return s < 1.0f ? s / sqrt(rest) : SW_TAN_RIGHT;
}

FN float sw_tan_acos(float s)
{
    const float rest = (1.0f - s) * (1.0f + s);
    return s > 0.0f ? sqrt(rest) / s : SW_TAN_RIGHT;
}

#endif

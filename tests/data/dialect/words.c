/* words.c - text for the tests of the expander: maths names, bits, tables, atomics. */
// clang-format off
PRECISIONS
#define LANES 64
#include "dialect.h"

CONST_TABLE(u32, primes, 8) = { 2, 3, 5, 7, 11, 13, 17, 19 };

FN_NOINLINE u32 mix32(u32 h)
{
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    return h ^ ROTR32(h, 13);
}

/* Exact on every backend: + - * / sqrt, rounding, fma, comparisons. */
MAP(exact_words, IN(real, x), OUT(real, y))
{
    const real v = x[gx];
    real *const none = 0;

    y[gx * 12] = sqrt(fabs(v)) / R(3);
    y[gx * 12 + 1] = floor(v) + ceil(v * R(0.5));
    y[gx * 12 + 2] = trunc(v) - rint(v * R(2));
    y[gx * 12 + 3] = round(v);
    y[gx * 12 + 4] = fma(v, v, R(0.1));
    y[gx * 12 + 5] = v * v + R(0.1);
    y[gx * 12 + 6] = fmin(v, R(0.25)) + fmax(v, R(-0.25));
    y[gx * 12 + 7] = copysign(R(2), v);
    y[gx * 12 + 8] = fmod(v, R(0.75));
    y[gx * 12 + 9] = R(isnan(v) + 2 * isinf(v) + 4 * isfinite(v));
    y[gx * 12 + 10] = fmin(R(NAN), v) + fmax(v, R(NAN));
    y[gx * 12 + 11] = none == 0 && v < R(INFINITY) && v < R(FLT_MAX) ? R(1) : R(0);
}

/* Close on every backend. */
MAP(close_words, IN(real, x), OUT(real, y))
{
    const real v = x[gx];
    const real u = fabs(v) / (R(1) + fabs(v));

    y[gx * 12] = exp(v) + exp2(v);
    y[gx * 12 + 1] = log(u + R(1)) + log2(u + R(1)) + log10(u + R(2));
    y[gx * 12 + 2] = log1p(u) + expm1(v);
    y[gx * 12 + 3] = sin(v) + cos(v);
    y[gx * 12 + 4] = tan(u) + tanh(v);
    y[gx * 12 + 5] = asin(u) + acos(u);
    y[gx * 12 + 6] = atan(v) + atan2(v, R(0.5));
    y[gx * 12 + 7] = sinh(u) + cosh(u);
    y[gx * 12 + 8] = pow(u + R(1), R(1.5)) + hypot(u, R(1));
    y[gx * 12 + 9] = cbrt(v);
    y[gx * 12 + 10] = erf(v);
    y[gx * 12 + 11] = erfc(v);
}

MAP(bit_words, VAL(i32, n), IN(u32, x), INOUT(i32, hits), INOUT(u32, marks), OUT(u32, y))
{
    const u32 h = mix32(x[gx]) + primes[gx & 7];

    y[gx * 4] = h;
    y[gx * 4 + 1] = (u32)POPCOUNT32(h) + 64u * (u32)CLZ32(h >> (gx & 31)) + (u32)IABS(gx - 3);
    y[gx * 4 + 2] = f32_bits(bits_f32((h & 0x007fffffu) | 0x3f800000u) * 2.0f);
    y[gx * 4 + 3] = (u32)(f64_bits(bits_f64(((u64)h << 20) | 0x3ff0000000000000ul) * 2.0) >> 32);
    ATOMIC_ADD(&hits[h & 3], 1);
    ATOMIC_MIN(&hits[4], MIN(gx, n) - 5);
    ATOMIC_MAX(&hits[5], MAX(gx, 2));
    ATOMIC_ADD(&marks[h & 3], 1);
    ATOMIC_MIN(&marks[4], h);
    ATOMIC_MAX(&marks[5], h);
    ATOMIC_OR(&marks[6], 1u << (h & 31));
    ATOMIC_OR(&hits[6], 1 << (h & 15));
}

GROUP(lane_count, VAL(real, scale), OUT(real, y))
{
    EACH_LANE {
        y[(i64)GROUP_X * LANES + LANE] = scale * R(LANE) + R(GROUP_Y);
    }
}

/* vector.c - element-wise kernels, single and as programs.
 *
 * The first eleven maps use only correctly rounded operations, so every backend gives the same
 * bits. Devices produce NaNs with different bits from the same operation, so a result that may be a
 * new NaN is stored as 0x7fc00000. min and max with a NaN give the NaN.
 */
#include "dialect.h"
#include "vector.h"

FN float one_nan(float a)
{
    return a == a ? a : bits_f32(0x7fc00000u);
}

FN float smaller(float a, float b)
{
    return ((a < b) | (a != a)) ? a : b;
}

FN float larger(float a, float b)
{
    return ((a > b) | (a != a)) ? a : b;
}

MAP(saxpy, UNROLL(4), VAL(float, a), IN(float, x), INOUT(float, y))
{
    y[gx] = a * x[gx] + y[gx];
}

MAP(vadd, UNROLL(4), IN(float, x), IN(float, y), OUT(float, out))
{
    out[gx] = x[gx] + y[gx];
}

/* Maps with a constant. */

MAP(map_mul, UNROLL(4), VAL(float, k), IN(float, x), OUT(float, out))
{
    out[gx] = one_nan(x[gx] * k);
}

MAP(map_add, UNROLL(4), VAL(float, k), IN(float, x), OUT(float, out))
{
    out[gx] = one_nan(x[gx] + k);
}

MAP(map_sub, UNROLL(4), VAL(float, k), IN(float, x), OUT(float, out))
{
    out[gx] = one_nan(x[gx] - k);
}

MAP(map_div, UNROLL(4), VAL(float, k), IN(float, x), OUT(float, out))
{
    out[gx] = one_nan(x[gx] / k);
}

MAP(map_min, UNROLL(4), VAL(float, k), IN(float, x), OUT(float, out))
{
    out[gx] = one_nan(smaller(x[gx], k));
}

MAP(map_max, UNROLL(4), VAL(float, k), IN(float, x), OUT(float, out))
{
    out[gx] = one_nan(larger(x[gx], k));
}

/* Maps without a constant. */

MAP(map_abs, UNROLL(4), IN(float, x), OUT(float, out))
{
    out[gx] = one_nan(fabs(x[gx]));
}

MAP(map_neg, UNROLL(4), IN(float, x), OUT(float, out))
{
    out[gx] = one_nan(-x[gx]);
}

MAP(map_sqrt, UNROLL(4), IN(float, x), OUT(float, out))
{
    out[gx] = one_nan(sqrt(x[gx]));
}

MAP(map_square, UNROLL(4), IN(float, x), OUT(float, out))
{
    out[gx] = one_nan(x[gx] * x[gx]);
}

MAP(map_exp, UNROLL(4), IN(float, x), OUT(float, out))
{
    out[gx] = one_nan(exp(x[gx]));
}

MAP(map_log, UNROLL(4), IN(float, x), OUT(float, out))
{
    out[gx] = one_nan(log(x[gx]));
}

MAP(map_sin, UNROLL(4), IN(float, x), OUT(float, out))
{
    out[gx] = one_nan(sin(x[gx]));
}

MAP(map_cos, UNROLL(4), IN(float, x), OUT(float, out))
{
    out[gx] = one_nan(cos(x[gx]));
}

MAP(map_tanh, UNROLL(4), IN(float, x), OUT(float, out))
{
    out[gx] = one_nan(tanh(x[gx]));
}

/* Programs. */

#define CHAIN_STEP(code, EXPR)                                                                     \
    case code:                                                                                     \
        EACH_LANE                                                                                  \
        {                                                                                          \
            const float v0 = P(v[0]), v1 = P(v[1]), v2 = P(v[2]), v3 = P(v[3]);                    \
                                                                                                   \
            P(v[0]) = EXPR(v0);                                                                    \
            P(v[1]) = EXPR(v1);                                                                    \
            P(v[2]) = EXPR(v2);                                                                    \
            P(v[3]) = EXPR(v3);                                                                    \
        }                                                                                          \
        break;

#define CHAIN_MUL(v)    ((v)*k)
#define CHAIN_ADD(v)    ((v) + k)
#define CHAIN_SUB(v)    ((v)-k)
#define CHAIN_DIV(v)    ((v) / k)
#define CHAIN_MIN(v)    smaller(v, k)
#define CHAIN_MAX(v)    larger(v, k)
#define CHAIN_ABS(v)    fabs(v)
#define CHAIN_NEG(v)    (-(v))
#define CHAIN_SQRT(v)   sqrt(v)
#define CHAIN_SQUARE(v) ((v) * (v))
#define CHAIN_EXP(v)    exp(v)
#define CHAIN_LOG(v)    log(v)
#define CHAIN_SIN(v)    sin(v)
#define CHAIN_COS(v)    cos(v)
#define CHAIN_TANH(v)   tanh(v)

/* A list of maps in one launch: a loop over steps outside, lanes inside, four elements each. All
 * lanes have the same step, so the CPU runs each as a vector loop and branches do not diverge on a
 * device. Gives the same bits as the maps above. */
GROUP(chain, VAL(chain_par, p), IN(float, x), OUT(float, out))
{
    PRIV(float, v[4]);
    const i64 from = (i64)GROUP_X * CHAIN_CHUNK;
    const i32 n = (i32)MIN(p.n - from, CHAIN_CHUNK);

    for (i32 j = 0; j < 4; j++)
        EACH_LANE P(v[j]) = j * LANES + LANE < n ? x[from + j * LANES + LANE] : 0.0f;

    for (i32 s = 0; s < p.n_steps; s++) {
        const float k = p.k[s];

        switch (p.code[s]) {
            CHAIN_STEP(QN_CHAIN_MUL, CHAIN_MUL)
            CHAIN_STEP(QN_CHAIN_ADD, CHAIN_ADD)
            CHAIN_STEP(QN_CHAIN_SUB, CHAIN_SUB)
            CHAIN_STEP(QN_CHAIN_DIV, CHAIN_DIV)
            CHAIN_STEP(QN_CHAIN_MIN, CHAIN_MIN)
            CHAIN_STEP(QN_CHAIN_MAX, CHAIN_MAX)
            CHAIN_STEP(QN_CHAIN_ABS, CHAIN_ABS)
            CHAIN_STEP(QN_CHAIN_NEG, CHAIN_NEG)
            CHAIN_STEP(QN_CHAIN_SQRT, CHAIN_SQRT)
            CHAIN_STEP(QN_CHAIN_SQUARE, CHAIN_SQUARE)
            CHAIN_STEP(QN_CHAIN_EXP, CHAIN_EXP)
            CHAIN_STEP(QN_CHAIN_LOG, CHAIN_LOG)
            CHAIN_STEP(QN_CHAIN_SIN, CHAIN_SIN)
            CHAIN_STEP(QN_CHAIN_COS, CHAIN_COS)
            CHAIN_STEP(QN_CHAIN_TANH, CHAIN_TANH)
        }
    }
    for (i32 j = 0; j < 4; j++)
        EACH_LANE if (j * LANES + LANE < n) out[from + j * LANES + LANE] = one_nan(P(v[j]));
}

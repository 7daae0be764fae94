/* reduce.c - sum, dot product and maximum of many arrays at once, with the same bits everywhere.
 *
 * Array t of a batch is x[start[t]] .. x[start[t + 1] - 1]. It is cut into chunks of REDUCE_CHUNK
 * elements with one partial result each; a second kernel joins the partial results of an array. In
 * a chunk, lane l takes the elements l, l + LANES, ... in order, then a tree of fixed shape folds
 * the lanes. So the order of operations depends only on the length of the array, not on the device,
 * the grid, or the number of arrays or threads.
 *
 * A NaN anywhere makes the result NaN, always with the bit pattern 0x7fc00000. The sum of an empty
 * array is 0, its maximum minus infinity; +0 is larger than -0.
 */
#include "dialect.h"
#include "fold.h"
#include "reduce.h"

/* Devices produce NaNs with different bits from the same operation. */
FN float one_nan(float a)
{
    return a == a ? a : bits_f32(0x7fc00000u);
}

/* Maxima are computed on integers in the order of the floats, with NaN on top, because float
 * comparisons that handle NaN are not vectorised. */
FN i32 order_of(float a)
{
    const u32 bits = f32_bits(a);
    const i32 order = (i32)(bits ^ ((u32)((i32)bits >> 31) >> 1));

    return (bits & 0x7fffffffu) > 0x7f800000u ? I32_MAX : order;
}

FN float float_of(i32 order)
{
    const u32 bits = (u32)order ^ ((u32)(order >> 31) >> 1);

    return bits_f32(order == I32_MAX ? 0x7fc00000u : bits);
}

FN i32 larger(i32 a, i32 b)
{
    return a > b ? a : b;
}

#define LEAST ((i32)0x807fffff) /* order_of(-INFINITY) */

/* The partial result of chunk GROUP_X of array GROUP_Y. ITEM(k) is the element at k. */
#define REDUCE_PART(T, FOLD, NOTHING, ITEM, RESULT)                                                \
    const i64 from = start[GROUP_Y] + (i64)GROUP_X * REDUCE_CHUNK;                                 \
    const i64 left = start[GROUP_Y + 1] - from;                                                    \
                                                                                                   \
    if (left >= REDUCE_CHUNK) {                                                                    \
        EACH_LANE                                                                                  \
        {                                                                                          \
            T t = NOTHING;                                                                         \
                                                                                                   \
            for (i32 j = 0; j < REDUCE_CHUNK / LANES; j++)                                         \
                t = FOLD(t, ITEM(from + j * LANES + LANE));                                        \
            tile[LANE] = t;                                                                        \
        }                                                                                          \
    } else {                                                                                       \
        EACH_LANE                                                                                  \
        {                                                                                          \
            T t = NOTHING;                                                                         \
                                                                                                   \
            for (i32 j = LANE; j < left; j += LANES)                                               \
                t = FOLD(t, ITEM(from + j));                                                       \
            tile[LANE] = t;                                                                        \
        }                                                                                          \
    }                                                                                              \
    SYNC;                                                                                          \
    FOLD_LANES(tile, FOLD)                                                                         \
    EACH_LANE if (LANE == 0) part[(i64)GROUP_Y * pitch + GROUP_X] = RESULT(tile[0]);

/* The result of array GROUP_X from its partial results. */
#define REDUCE_JOIN(FOLD, NOTHING, ITEM, RESULT)                                                   \
    const i64 size = start[GROUP_X + 1] - start[GROUP_X];                                          \
    const i64 n = (size + REDUCE_CHUNK - 1) / REDUCE_CHUNK;                                        \
                                                                                                   \
    EACH_LANE tile[LANE] = NOTHING;                                                                \
    for (i64 k = 0; k < n; k += LANES) {                                                           \
        EACH_LANE if (k + LANE < n)                                                                \
        {                                                                                          \
            tile[LANE] = FOLD(tile[LANE], ITEM((i64)GROUP_X * pitch + k + LANE));                  \
        }                                                                                          \
    }                                                                                              \
    SYNC;                                                                                          \
    FOLD_LANES(tile, FOLD)                                                                         \
    EACH_LANE if (LANE == 0) out[GROUP_X] = RESULT(tile[0]);

#define X_AT(k)     x[k]
#define XY_AT(k)    (x[k] * y[k])
#define ORDER_AT(k) order_of(x[k])
#define PART_AT(k)  part[k]
#define TOP_AT(k)   order_of(part[k])
#define AS_IS(v)    (v)

GROUP(sum_part, VAL(i32, pitch), IN(i64, start), IN(float, x), OUT(float, part))
{
    LOCAL(float, tile, LANES);

    REDUCE_PART(float, folded_sum, 0.0f, X_AT, AS_IS)
}

GROUP(dot_part, VAL(i32, pitch), IN(i64, start), IN(float, x), IN(float, y), OUT(float, part))
{
    LOCAL(float, tile, LANES);

    REDUCE_PART(float, folded_sum, 0.0f, XY_AT, AS_IS)
}

GROUP(max_part, VAL(i32, pitch), IN(i64, start), IN(float, x), OUT(float, part))
{
    LOCAL(i32, tile, LANES);

    REDUCE_PART(i32, larger, LEAST, ORDER_AT, float_of)
}

GROUP(sum_join, VAL(i32, pitch), IN(i64, start), IN(float, part), OUT(float, out))
{
    LOCAL(float, tile, LANES);

    REDUCE_JOIN(folded_sum, 0.0f, PART_AT, one_nan)
}

GROUP(max_join, VAL(i32, pitch), IN(i64, start), IN(float, part), OUT(float, out))
{
    LOCAL(i32, tile, LANES);

    REDUCE_JOIN(larger, LEAST, TOP_AT, float_of)
}

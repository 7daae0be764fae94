/* reduce.c - sum, dot product and maximum of many arrays at once, with the same bits everywhere.
 *
 * Array number t of a batch is x[start[t]] .. x[start[t + 1] - 1]. It is cut into chunks of
 * REDUCE_CHUNK elements, which give one partial result each; a second kernel joins the partial
 * results of an array. Within a chunk lane l takes the elements l, l + LANES, ... in order, then
 * a tree of fixed shape folds the lanes, so the order of operations depends on the length of the
 * array alone: not on the device, the grid, the number of arrays or threads.
 *
 * A NaN anywhere makes the result NaN, of one bit pattern (0x7fc00000). The sum of nothing is 0,
 * the maximum of nothing minus infinity.
 */
#include "dialect.h"
#include "reduce.h"

FN float larger(float a, float b)
{
    return ((a > b) | (a != a)) ? a : b;
}

FN float added(float a, float b)
{
    return a + b;
}

/* Devices make NaNs of different bits from the same operation. */
FN float one_nan(float a)
{
    return a == a ? a : bits_f32(0x7fc00000u);
}

#define FOLD_LANES(tile, FOLD)                                                                     \
    for (i32 w = LANES / 2; w > 0; w /= 2) {                                                       \
        EACH_LANE if (LANE < w) tile[LANE] = FOLD(tile[LANE], tile[LANE + w]);                     \
        SYNC;                                                                                      \
    }

/* The partial result of chunk GROUP_X of array GROUP_Y. ITEM(k) is the element at k. */
#define REDUCE_PART(FOLD, NOTHING, ITEM)                                                           \
    const i64 from = start[GROUP_Y] + (i64)GROUP_X * REDUCE_CHUNK;                                 \
    const i64 left = start[GROUP_Y + 1] - from;                                                    \
                                                                                                   \
    if (left >= REDUCE_CHUNK) {                                                                    \
        EACH_LANE                                                                                  \
        {                                                                                          \
            float t = NOTHING;                                                                     \
                                                                                                   \
            for (i32 j = 0; j < REDUCE_CHUNK / LANES; j++)                                         \
                t = FOLD(t, ITEM(from + j * LANES + LANE));                                        \
            tile[LANE] = t;                                                                        \
        }                                                                                          \
    } else {                                                                                       \
        EACH_LANE                                                                                  \
        {                                                                                          \
            float t = NOTHING;                                                                     \
                                                                                                   \
            for (i32 j = LANE; j < left; j += LANES)                                               \
                t = FOLD(t, ITEM(from + j));                                                       \
            tile[LANE] = t;                                                                        \
        }                                                                                          \
    }                                                                                              \
    SYNC;                                                                                          \
    FOLD_LANES(tile, FOLD)                                                                         \
    EACH_LANE if (LANE == 0) part[(i64)GROUP_Y * pitch + GROUP_X] = tile[0];

/* The result of array GROUP_X from its partial results. */
#define REDUCE_JOIN(FOLD, NOTHING)                                                                 \
    const i64 size = start[GROUP_X + 1] - start[GROUP_X];                                          \
    const i64 n = (size + REDUCE_CHUNK - 1) / REDUCE_CHUNK;                                        \
                                                                                                   \
    EACH_LANE tile[LANE] = NOTHING;                                                                \
    for (i64 k = 0; k < n; k += LANES) {                                                           \
        EACH_LANE if (k + LANE < n)                                                                \
        {                                                                                          \
            tile[LANE] = FOLD(tile[LANE], part[(i64)GROUP_X * pitch + k + LANE]);                  \
        }                                                                                          \
    }                                                                                              \
    SYNC;                                                                                          \
    FOLD_LANES(tile, FOLD)                                                                         \
    EACH_LANE if (LANE == 0) out[GROUP_X] = one_nan(tile[0]);

#define X_AT(k)  x[k]
#define XY_AT(k) (x[k] * y[k])

GROUP(sum_part, VAL(i32, pitch), IN(i64, start), IN(float, x), OUT(float, part))
{
    LOCAL(float, tile, LANES);

    REDUCE_PART(added, 0.0f, X_AT)
}

GROUP(dot_part, VAL(i32, pitch), IN(i64, start), IN(float, x), IN(float, y), OUT(float, part))
{
    LOCAL(float, tile, LANES);

    REDUCE_PART(added, 0.0f, XY_AT)
}

GROUP(max_part, VAL(i32, pitch), IN(i64, start), IN(float, x), OUT(float, part))
{
    LOCAL(float, tile, LANES);

    REDUCE_PART(larger, -INFINITY, X_AT)
}

GROUP(sum_join, VAL(i32, pitch), IN(i64, start), IN(float, part), OUT(float, out))
{
    LOCAL(float, tile, LANES);

    REDUCE_JOIN(added, 0.0f)
}

GROUP(max_join, VAL(i32, pitch), IN(i64, start), IN(float, part), OUT(float, out))
{
    LOCAL(float, tile, LANES);

    REDUCE_JOIN(larger, -INFINITY)
}

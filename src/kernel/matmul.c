/* matmul.c - product of f32 matrices, with the same bits everywhere.
 *
 * Every element of c is one chain of fma in the order of k, so any tiling gives the bits of the
 * plain triple loop. Depth is padded with zeros to whole tiles, which changes nothing but the sign
 * of a zero.
 *
 * A group computes 32 x 128 elements from tiles of a and b in local memory. A lane has all 32 rows
 * of the columns LANE and LANE + 64, in strips of 8: on the CPU a strip is 16 vectors of sums,
 * which AVX-512 keeps in registers over the whole depth of a tile; on a device a lane loads 10
 * numbers for 16 fma. If lanes were divided over rows too, the CPU's compiler could not vectorise
 * the reads of a.
 */
#define LANES 64
#include "dialect.h"
#include "matmul.h"

#define DEEP   64 /* of a tile */
#define A_TILE (MATMUL_TILE_ROWS * DEEP)
#define B_TILE (DEEP * MATMUL_TILE_COLS)

#define STRIP(s, EACH)                                                                             \
    EACH(s, 0) EACH(s, 1) EACH(s, 2) EACH(s, 3) EACH(s, 4) EACH(s, 5) EACH(s, 6) EACH(s, 7)

#define GET_SUM(s, r)                                                                              \
    float c##r = P(sum[16 * (s) + 2 * (r)]), d##r = P(sum[16 * (s) + 2 * (r) + 1]);
#define PUT_SUM(s, r)                                                                              \
    P(sum[16 * (s) + 2 * (r)]) = c##r;                                                             \
    P(sum[16 * (s) + 2 * (r) + 1]) = d##r;
#define ADD_ROW(s, r)                                                                              \
    c##r = fma(at[(8 * (s) + (r)) * DEEP + k], b0, c##r);                                          \
    d##r = fma(at[(8 * (s) + (r)) * DEEP + k], b1, d##r);

#define ADD_STRIP(s)                                                                               \
    EACH_LANE                                                                                      \
    {                                                                                              \
        STRIP(s, GET_SUM)                                                                          \
        for (i32 k = 0; k < DEEP; k++) {                                                           \
            const float b0 = bt[k * MATMUL_TILE_COLS + LANE];                                      \
            const float b1 = bt[k * MATMUL_TILE_COLS + LANES + LANE];                              \
                                                                                                   \
            STRIP(s, ADD_ROW)                                                                      \
        }                                                                                          \
        STRIP(s, PUT_SUM)                                                                          \
    }

GROUP(matmul, VAL(matmul_par, p), IN(float, a), IN(float, b), OUT(float, c))
{
    LOCAL(float, at, A_TILE);
    LOCAL(float, bt, B_TILE);
    PRIV(float, sum[2 * MATMUL_TILE_ROWS]);
    const i32 row0 = GROUP_Y * MATMUL_TILE_ROWS, col0 = GROUP_X * MATMUL_TILE_COLS;

    for (i32 i = 0; i < 2 * MATMUL_TILE_ROWS; i++)
        EACH_LANE P(sum[i]) = 0.0f;

    for (i32 k0 = 0; k0 < p.depth; k0 += DEEP) {
        /* A device waits for loads here, so more of them should be in flight: 24 TFLOP/s instead of
         * 19 on an H200. */
#pragma unroll 32
        for (i32 r = 0; r < MATMUL_TILE_ROWS; r++) {
            const i64 from = GROUP_Z * p.a_step + (i64)(row0 + r) * p.depth + k0;
            const i32 n = row0 + r < p.rows ? p.depth - k0 : 0;

            EACH_LANE at[r * DEEP + LANE] = LANE < n ? a[from + LANE] : 0.0f;
        }
#pragma unroll 16
        for (i32 k = 0; k < DEEP; k++) {
            const i64 from = GROUP_Z * p.b_step + (i64)(k0 + k) * p.cols + col0;
            const i32 n = k0 + k < p.depth ? p.cols - col0 : 0;

            EACH_LANE
            {
                bt[k * MATMUL_TILE_COLS + LANE] = LANE < n ? b[from + LANE] : 0.0f;
                bt[k * MATMUL_TILE_COLS + LANES + LANE] =
                    LANES + LANE < n ? b[from + LANES + LANE] : 0.0f;
            }
        }
        SYNC;
        ADD_STRIP(0)
        ADD_STRIP(1)
        ADD_STRIP(2)
        ADD_STRIP(3)
        SYNC;
    }
    for (i32 r = 0; r < MATMUL_TILE_ROWS; r++) {
        const i64 to = GROUP_Z * p.c_step + (i64)(row0 + r) * p.cols + col0;
        const i32 n = row0 + r < p.rows ? p.cols - col0 : 0;

        EACH_LANE
        {
            if (LANE < n)
                c[to + LANE] = P(sum[2 * r]);
            if (LANES + LANE < n)
                c[to + LANES + LANE] = P(sum[2 * r + 1]);
        }
    }
}

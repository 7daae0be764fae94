/* les_proxy_gemm.c - matrix products, and a row vector times a matrix.
 *
 * Every element of a product is one chain of fma in the order of k. A lane owns a column of a tile
 * and holds its eight rows, as in matmul.c. Operators have only a few hundred rows, so small tiles
 * use a device better than large ones.
 */
#define LANES 64
PRECISIONS
#include "dialect.h"
#include "fold.h"
#include "les_proxy.h"

#define DEEP 32

#define EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define GET_SUM(r)   real s##r = P(sum[r]);
#define PUT_SUM(r)   P(sum[r]) = s##r;
#define ADD_ROW(r)   s##r = fma(at[(r)*DEEP + k], v, s##r);

/* The tile GROUP_X, GROUP_Y of c = a b. Loops over k end at the depth, not at the end of the tile:
 * zeros beyond the depth times an infinity would be NaN. */
#define GEMM_TILE(a, b, c)                                                                         \
    LOCAL(real, at, GEMM_ROWS *DEEP);                                                              \
    LOCAL(real, bt, DEEP *GEMM_COLS);                                                              \
    PRIV(real, sum[GEMM_ROWS]);                                                                    \
    const i32 row0 = GROUP_Y * GEMM_ROWS, col0 = GROUP_X * GEMM_COLS;                              \
                                                                                                   \
    for (i32 r = 0; r < GEMM_ROWS; r++)                                                            \
        EACH_LANE P(sum[r]) = R(0);                                                                \
    for (i32 k0 = 0; k0 < p.depth; k0 += DEEP) {                                                   \
        const i32 deep = MIN(p.depth - k0, DEEP);                                                  \
                                                                                                   \
        for (i32 e = 0; e < GEMM_ROWS * DEEP; e += LANES)                                          \
            EACH_LANE                                                                              \
            {                                                                                      \
                const i32 r = (e + LANE) / DEEP, k = (e + LANE) % DEEP;                            \
                                                                                                   \
                at[e + LANE] = row0 + r < p.rows && k < deep                                       \
                                   ? a[p.a_at + (row0 + r) * p.a_row + (k0 + k) * p.a_col]         \
                                   : R(0);                                                         \
            }                                                                                      \
        for (i32 k = 0; k < deep; k++)                                                             \
            EACH_LANE bt[k * GEMM_COLS + LANE] =                                                   \
                col0 + LANE < p.cols ? b[p.b_at + (i64)(k0 + k) * p.cols + col0 + LANE] : R(0);    \
        SYNC;                                                                                      \
        EACH_LANE                                                                                  \
        {                                                                                          \
            EACH_ROW(GET_SUM)                                                                      \
            for (i32 k = 0; k < deep; k++) {                                                       \
                const real v = bt[k * GEMM_COLS + LANE];                                           \
                                                                                                   \
                EACH_ROW(ADD_ROW)                                                                  \
            }                                                                                      \
            EACH_ROW(PUT_SUM)                                                                      \
        }                                                                                          \
        SYNC;                                                                                      \
    }                                                                                              \
    for (i32 r = 0; r < MIN(p.rows - row0, GEMM_ROWS); r++)                                        \
        EACH_LANE if (col0 + LANE < p.cols)                                                        \
        {                                                                                          \
            c[p.c_at + (i64)(row0 + r) * p.cols + col0 + LANE] = P(sum[r]);                        \
        }

GROUP(les_gemm, VAL(gemm_par, p), IN(real, a), IN(real, b), OUT(real, c)){ GEMM_TILE(a, b, c) }

FN real both(real a, real b)
{
    return a + b;
}

/* Element GROUP_X of the vectors `members` rows after row t: vector GROUP_Y times column GROUP_X of
 * the operator, which is row GROUP_X of its transpose. */
GROUP(les_gemv, VAL(i32, size), VAL(i32, members), VAL(i32, t), IN(real, transpose), INOUT(real, y))
{
    LOCAL(real, tile, LANES);
    PRIV(real, sum);
    const i64 from = ((i64)t * members + GROUP_Y) * size, to = from + (i64)members * size;
    const i64 row = (i64)GROUP_X * size;
    const i32 whole = size / LANES * LANES;

    EACH_LANE P(sum) = R(0);
    for (i32 k = 0; k < whole; k += LANES)
        EACH_LANE P(sum) = fma(y[from + k + LANE], transpose[row + k + LANE], P(sum));
    EACH_LANE
    {
        const i32 k = whole + LANE;

        tile[LANE] = k < size ? fma(y[from + k], transpose[row + k], P(sum)) : P(sum);
    }
    SYNC;
    FOLD_STEP(tile, both, 32)
    FOLD_STEP(tile, both, 16)
    FOLD_STEP(tile, both, 8)
    FOLD_STEP(tile, both, 4)
    FOLD_STEP(tile, both, 2)
    FOLD_STEP(tile, both, 1)
    EACH_LANE if (LANE == 0) y[to + GROUP_X] = tile[0];
}

/* Element GROUP_X of the rows `ahead` numbers after those of set GROUP_Y: each row times row
 * GROUP_X of a transpose, which is read once for all rows of the set. */
GROUP(les_gemv_rows, VAL(rows_par, p), IN(real, transpose), INOUT(real, y))
{
    LOCAL(real, part, SET_ROWS * (LANES + 1));
    PRIV(real, sum[SET_ROWS]);
    const i32 first = GROUP_Y * SET_ROWS, last = p.rows - 1, whole = p.size / LANES * LANES;
    const i64 column = (i64)GROUP_X * p.size;

    for (i32 r = 0; r < SET_ROWS; r++)
        EACH_LANE P(sum[r]) = R(0);
    for (i32 k = 0; k < whole; k += LANES)
        for (i32 r = 0; r < SET_ROWS; r++) {
            const i64 row = p.at + (i64)MIN(first + r, last) * p.size + k;

            EACH_LANE P(sum[r]) = fma(y[row + LANE], transpose[column + k + LANE], P(sum[r]));
        }
    EACH_LANE_BELOW(p.size - whole)
    {
        const i32 k = whole + LANE;

        for (i32 r = 0; r < SET_ROWS; r++)
            P(sum[r]) = fma(y[p.at + (i64)MIN(first + r, last) * p.size + k], transpose[column + k],
                            P(sum[r]));
    }
    for (i32 r = 0; r < SET_ROWS; r++)
        EACH_LANE part[r * (LANES + 1) + LANE] = P(sum[r]);
    SYNC;
    EACH_LANE
    {
        const i32 from = LANE / 4 * (LANES + 1) + LANE % 4 * (LANES / 4);
        real total = part[from];

        for (i32 i = 1; i < LANES / 4; i++)
            total = total + part[from + i];
        part[from] = total;
    }
    SYNC;
    EACH_LANE if (LANE < SET_ROWS && first + LANE <= last)
    {
        const i32 from = LANE * (LANES + 1), quarter = LANES / 4;

        y[p.at + p.ahead + (i64)(first + LANE) * p.size + GROUP_X] =
            (part[from] + part[from + quarter]) +
            (part[from + 2 * quarter] + part[from + 3 * quarter]);
    }
}

/* les_codec_majority.c - thresholds, and majority passes over a ternary field.
 *
 * A group runs up to MAJORITY_DEEP passes over a tile with a margin of that width: each pass makes
 * one more ring of outer cells wrong, and these are not written. Tiles have 128 columns, so that
 * the nine neighbours of a cell are at the same distances in every row.
 */
#include "dialect.h"
#include "fold.h"
#include "les_codec.h"

#define WIDTH (MAJORITY_COLS + 2 * MAJORITY_DEEP)
#define CELLS (WIDTH * (MAJORITY_ROWS + 2 * MAJORITY_DEEP))
#define EDGE  (WIDTH + 1) /* the farthest neighbour */
#define ROOM  (CELLS + 2 * EDGE)

FN double larger(double a, double b)
{
    return a > b ? a : b;
}

/* The threshold of member GROUP_X from the largest magnitudes of its rows. */
GROUP(les_max_join, VAL(i32, n), VAL(double, tau), IN(double, part), OUT(double, theta))
{
    LOCAL(double, tile, LANES);

    EACH_LANE tile[LANE] = 0.0;
    for (i32 k = 0; k < n; k += LANES)
        EACH_LANE_BELOW(MIN(n - k, LANES))
        {
            tile[LANE] = larger(tile[LANE], part[(i64)GROUP_X * n + k + LANE]);
        }
    SYNC;
    FOLD_LANES(tile, larger)
    EACH_LANE if (LANE == 0) theta[GROUP_X] = tau * (tile[0] + 1e-12);
}

FN i32 around(i32 x, i32 n)
{
    const i32 r = x % n;

    return r < 0 ? r + n : r;
}

FN i32 both(i32 a, i32 b)
{
    return a + b;
}

/* One pass over all cells of a tile. Sums of nine fit into bytes, which makes vectors wide. */
#define PASS(from, to)                                                                             \
    for (i32 c = EDGE; c < EDGE + CELLS; c += LANES)                                               \
        EACH_LANE                                                                                  \
        {                                                                                          \
            const i32 k = c + LANE;                                                                \
            const i8 sum = (i8)(from[k - WIDTH - 1] + from[k - WIDTH] + from[k - WIDTH + 1] +      \
                                from[k - 1] + from[k] + from[k + 1] + from[k + WIDTH - 1] +        \
                                from[k + WIDTH] + from[k + WIDTH + 1]);                            \
                                                                                                   \
            to[k] = (i8)((sum > 0) - (sum < 0));                                                   \
        }                                                                                          \
    SYNC;

/* Runs `passes` over the tile GROUP_X, GROUP_Y of member GROUP_Z; count[tile] is then the number of
 * its cells that are not 0. */
GROUP(les_majority, VAL(i32, n), VAL(i32, passes), VAL(i32, n_tiles), IN(i8, s), OUT(i8, out),
      OUT(i32, count))
{
    LOCAL(i8, a, ROOM);
    LOCAL(i8, b, ROOM);
    LOCAL(i32, col, WIDTH); /* places of the columns and rows of the tile on the grid */
    LOCAL(i32, row, WIDTH);
    LOCAL(i32, live, LANES);
    const i64 field = (i64)GROUP_Z * n * n;

    EACH_LANE
    {
        live[LANE] = 0;
        if (LANE < WIDTH) {
            col[LANE] = around(GROUP_X * MAJORITY_COLS - MAJORITY_DEEP + LANE, n);
            row[LANE] = around(GROUP_Y * MAJORITY_ROWS - MAJORITY_DEEP + LANE, n);
        }
    }
    for (i32 c = 0; c < ROOM; c += LANES)
        EACH_LANE_BELOW(MIN(ROOM - c, LANES))
        {
            a[c + LANE] = 0;
            b[c + LANE] = 0;
        }
    SYNC;
    for (i32 c = 0; c < CELLS; c += LANES)
        EACH_LANE
        {
            const i32 k = c + LANE;

            a[EDGE + k] = s[field + (i64)row[k / WIDTH] * n + col[k & (WIDTH - 1)]];
        }
    SYNC;
    for (i32 pass = 0; pass < passes; pass += 2) {
        PASS(a, b)
        if (pass + 1 < passes) {
            PASS(b, a)
        }
    }
    for (i32 c = 0; c < CELLS; c += LANES)
        EACH_LANE
        {
            const i32 k = c + LANE;
            const i32 tx = (k & (WIDTH - 1)) - MAJORITY_DEEP, ty = k / WIDTH - MAJORITY_DEEP;
            const i32 x = GROUP_X * MAJORITY_COLS + tx, y = GROUP_Y * MAJORITY_ROWS + ty;
            const i8 v = passes & 1 ? b[EDGE + k] : a[EDGE + k];

            if (tx >= 0 && tx < MAJORITY_COLS && ty >= 0 && ty < MAJORITY_ROWS && x < n && y < n) {
                out[field + (i64)y * n + x] = v;
                live[LANE] += v != 0;
            }
        }
    SYNC;
    FOLD_LANES(live, both)
    EACH_LANE if (LANE == 0)
    {
        const i32 wide = (n + MAJORITY_COLS - 1) / MAJORITY_COLS;

        count[(i64)GROUP_Z * n_tiles + GROUP_Y * wide + GROUP_X] = live[0];
    }
}

/* Anchors. */

/* How many mid modes of its member rank before this one; the order of the list breaks ties. */
MAP(les_rank, VAL(i32, n_mid), IN(double, power), OUT(i32, rank))
{
    const i64 first = (i64)gz * n_mid;
    const double own = power[first + gx];
    i32 before = 0;

    for (i32 k = 0; k < n_mid; k++)
        before += power[first + k] > own || (power[first + k] == own && k < gx);
    rank[first + gx] = before;
}

/* The first row is the next one. */
MAP(les_first_row, OUT(i32, row))
{
    row[gx] = 0;
}

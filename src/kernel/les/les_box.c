/* les_box.c - noise on the cells of a grid, its sums over a periodic box, and their moments.
 *
 * All numbers are integers, so every backend gives the same ones, and the moments are exact in any
 * order of the reduction. A box is summed by rows, then by columns: 2 w loads instead of w^2.
 */
#include "dialect.h"
#include "fold.h"
#include "les_box.h"
#include "philox.h"

MAP(les_box_noise, VAL(les_box_par, p), OUT(i32, noise))
{
    const philox_words w = philox_at(gx, gy, PHILOX_GRID, 0, p.seed + (u64)gz);

    noise[((i64)gz * p.n + gy) * p.n + gx] = philox_gauss(w);
}

/* `x` is at most n outside [0, n). */
FN i32 wrapped(i32 x, i32 n)
{
    return x < 0 ? x + n : x < n ? x : x - n;
}

MAP(les_box_rows, VAL(les_box_par, p), IN(i32, cell), OUT(i32, sum))
{
    const i64 row = ((i64)gz * p.n + gy) * p.n;
    i32 s = 0;

    for (i32 d = -p.reach; d <= p.reach; d++)
        s += cell[row + wrapped(gx + d, p.n)];
    sum[row + gx] = s;
}

MAP(les_box_cols, VAL(les_box_par, p), IN(i32, cell), OUT(i32, sum))
{
    const i64 field = (i64)gz * p.n * p.n;
    i32 s = 0;

    for (i32 d = -p.reach; d <= p.reach; d++)
        s += cell[field + (i64)wrapped(gy + d, p.n) * p.n + gx];
    sum[field + (i64)gy * p.n + gx] = s;
}

FN i64 both(i64 a, i64 b)
{
    return a + b;
}

/* The moments of chunk GROUP_X of member GROUP_Y. */
GROUP(les_box_part, VAL(les_box_par, p), VAL(i32, n_chunks), IN(i32, cell), OUT(i64, part))
{
    LOCAL(i64, sum, LANES);
    LOCAL(i64, high, LANES);
    LOCAL(i64, low, LANES);
    const i64 area = (i64)p.n * p.n;
    const i64 from = (i64)GROUP_X * BOX_CHUNK;
    const i32 n = (i32)MIN(area - from, BOX_CHUNK);

    EACH_LANE
    {
        i64 s = 0, h = 0, l = 0;

        for (i32 k = LANE; k < n; k += LANES) {
            const i64 b = cell[GROUP_Y * area + from + k];

            s += b;
            h += b * b >> 24;
            l += b * b & 0xffffff;
        }
        sum[LANE] = s;
        high[LANE] = h;
        low[LANE] = l;
    }
    SYNC;
    FOLD_LANES(sum, both)
    FOLD_LANES(high, both)
    FOLD_LANES(low, both)
    EACH_LANE if (LANE == 0)
    {
        const i64 at = BOX_MOMENTS * ((i64)GROUP_Y * n_chunks + GROUP_X);

        part[at + BOX_SUM] = sum[0];
        part[at + BOX_HIGH] = high[0];
        part[at + BOX_LOW] = low[0];
    }
}

/* The moments of member GROUP_X from those of its chunks. */
GROUP(les_box_join, VAL(i32, n_chunks), IN(i64, part), OUT(i64, moment))
{
    LOCAL(i64, sum, LANES);
    LOCAL(i64, high, LANES);
    LOCAL(i64, low, LANES);

    EACH_LANE
    {
        i64 s = 0, h = 0, l = 0;

        for (i32 k = LANE; k < n_chunks; k += LANES) {
            const i64 at = BOX_MOMENTS * ((i64)GROUP_X * n_chunks + k);

            s += part[at + BOX_SUM];
            h += part[at + BOX_HIGH];
            l += part[at + BOX_LOW];
        }
        sum[LANE] = s;
        high[LANE] = h;
        low[LANE] = l;
    }
    SYNC;
    FOLD_LANES(sum, both)
    FOLD_LANES(high, both)
    FOLD_LANES(low, both)
    EACH_LANE if (LANE == 0)
    {
        moment[BOX_MOMENTS * GROUP_X + BOX_SUM] = sum[0];
        moment[BOX_MOMENTS * GROUP_X + BOX_HIGH] = high[0];
        moment[BOX_MOMENTS * GROUP_X + BOX_LOW] = low[0];
    }
}

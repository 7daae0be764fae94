/* les_codec_ternary.c - where a field is far above or below its surroundings.
 *
 * The surroundings of a cell are a box of cells. On a periodic grid the transfer function of the
 * box is known, so the difference costs one inverse transform. Sums cost 2 w loads per cell; they
 * serve as a check, and zeros beyond the edge need them.
 */
PRECISIONS
#include "dialect.h"
#include "fold.h"
#include "les_codec.h"

/* box[k]: the transfer function of the box along one axis at wavenumber k. */
MAP(les_smooth_spectrum, VAL(i32, n), VAL(double, factor), IN(double, box), IN(real, h),
    OUT(real, rest))
{
    const i32 ky = 2 * gy <= n ? gy : n - gy;
    const i64 at = 2 * (((i64)gz * n + gy) * (n / 2 + 1) + gx);
    const real f = (real)(factor * (1.0 - box[gx] * box[ky]));

    rest[at] = h[at] * f;
    rest[at + 1] = h[at + 1] * f;
}

MAP(les_scaled, VAL(i32, n), VAL(double, factor), IN(real, h), OUT(real, c))
{
    const i64 at = (i64)gy * (n + 2) + gx;

    c[at] = h[at] * (real)factor;
}

FN i32 wrapped(i32 x, i32 n)
{
    return x < 0 ? x + n : x < n ? x : x - n;
}

MAP(les_smooth_rows, VAL(smooth_par, p), IN(real, field), OUT(real, mean))
{
    const i64 row = ((i64)gz * p.n + gy) * (p.n + 2);
    real sum = R(0);

    for (i32 x = gx - p.reach; x <= gx + p.reach; x++)
        sum += p.is_periodic || (x >= 0 && x < p.n) ? field[row + wrapped(x, p.n)] : R(0);
    mean[row + gx] = sum / (real)(2 * p.reach + 1);
}

/* The field minus its mean over the box, from the means of rows. */
MAP(les_smooth_cols, VAL(smooth_par, p), IN(real, field), IN(real, mean), OUT(real, rest))
{
    const i64 first = (i64)gz * p.n * (p.n + 2) + gx;
    const i64 at = first + (i64)gy * (p.n + 2);
    real sum = R(0);

    for (i32 y = gy - p.reach; y <= gy + p.reach; y++)
        sum += p.is_periodic || (y >= 0 && y < p.n) ? mean[first + (i64)wrapped(y, p.n) * (p.n + 2)]
                                                    : R(0);
    rest[at] = field[at] - sum / (real)(2 * p.reach + 1);
}

FN real larger(real a, real b)
{
    return a > b ? a : b;
}

/* The largest magnitude in row GROUP_X of member GROUP_Y. */
GROUP(les_max_part, VAL(i32, n), IN(real, rest), OUT(double, part))
{
    LOCAL(real, tile, LANES);
    const i64 row = ((i64)GROUP_Y * n + GROUP_X) * (n + 2);

    EACH_LANE tile[LANE] = R(0);
    for (i32 x = 0; x < n; x += LANES)
        EACH_LANE_BELOW(MIN(n - x, LANES))
    tile[LANE] = larger(tile[LANE], fabs(rest[row + x + LANE]));
    SYNC;
    FOLD_LANES(tile, larger)
    EACH_LANE if (LANE == 0) part[(i64)GROUP_Y * n + GROUP_X] = (double)tile[0];
}

/* +1 from the threshold of its member on, -1 from its negative down, else 0. */
MAP(les_threshold, VAL(i32, n), IN(double, theta), IN(real, rest), OUT(i8, s))
{
    const double v = (double)rest[((i64)gz * n + gy) * (n + 2) + gx];

    s[((i64)gz * n + gy) * n + gx] = (i8)((v >= theta[gz]) - (v <= -theta[gz]));
}

/* les_codec_encode.c - encodes half spectra as short vectors.
 *
 * Sums are in double precision and in an order that depends on the grid alone: one group adds up a
 * row of modes, another adds up the rows. Every mode is tested for being high; a list of high modes
 * would be as long as the grid.
 */
PRECISIONS
#include "dialect.h"
#include "fold.h"
#include "les_codec.h"
#include "les_codec_mode.h"

FN codec_value value_at(codec_par p, GLOBAL const real *h, i32 m, i32 mode)
{
    const double per = 1.0 / ((double)p.n * p.n);
    codec_value v;
    i32 sign;
    const i64 at = 2 * ((i64)m * p.n * (p.n / 2 + 1) + half_at(p, mode, &sign));

    v.re = (double)h[at] * per;
    v.im = (double)h[at + 1] * per * sign;
    return v;
}

/* Anchors. */

MAP(les_mid_power, VAL(codec_par, p), IN(i32, mid), IN(real, h), OUT(double, power))
{
    const codec_value v = value_at(p, h, gz, mid[gx]);

    power[(i64)gz * p.n_mid + gx] = v.re * v.re + v.im * v.im;
}

/* Lists the modes of the first ranks in the order of the mid list, and marks each in the map. */
MAP(les_place, VAL(codec_par, p), IN(i32, mid), IN(i32, rank), INOUT(u8, kept), OUT(i32, anchor))
{
    const i64 first = (i64)gz * p.n_mid;
    const i32 width = p.is_full ? p.n : p.n / 2 + 1;
    const i32 kx = wavenumber(p.n, mid[gx] % width), ky = wavenumber(p.n, mid[gx] / width);
    const i32 is_anchor = rank[first + gx] < p.n_anchors;
    i32 before = 0;

    kept[kept_at(p, gz, kx, ky)] = (u8)is_anchor;
    if (is_anchor) {
        for (i32 k = 0; k < gx; k++)
            before += rank[first + k] < p.n_anchors;
        anchor[(i64)gz * p.n_anchors + before] = mid[gx];
    }
}

/* Energies. */

/* How many listed modes of `band` without a stored value the element (i, j) stands for. */
FN i32 times_listed(codec_par p, GLOBAL const u8 *kept, i32 m, i32 band, i32 kx, i32 ky)
{
    const i32 is_first = is_rest(p, kept, m, band, kx, ky);

    if (!p.is_full)
        return (kx > 0 || ky > 0) && is_first;
    if (kx == 0 || 2 * kx == p.n)
        return is_first;
    return is_first + is_rest(p, kept, m, band, -kx, opposite(p.n, ky));
}

/* Sums of |h|^2 over both bands, of row GROUP_X of member GROUP_Y. The spectrum of band b begins
 * `band_step` b complex numbers in. */
GROUP(les_band_part, VAL(codec_par, p), VAL(i64, band_step), IN(u8, kept), IN(real, h),
      OUT(double, part))
{
    LOCAL(double, mid, LANES);
    LOCAL(double, high, LANES);
    const i32 width = p.n / 2 + 1;
    const i32 ky = wavenumber(p.n, GROUP_X);
    const i64 row = ((i64)GROUP_Y * p.n + GROUP_X) * width;

    EACH_LANE
    {
        double sum_mid = 0.0, sum_high = 0.0;

        for (i32 i = LANE; i < width; i += LANES) {
            const i32 band = band_of(p, i, ky);
            const i32 times = band < 0 ? 0 : times_listed(p, kept, GROUP_Y, band, i, ky);
            const i64 at = 2 * (MAX(band, 0) * band_step + row + i);
            const double power = (double)h[at] * h[at] + (double)h[at + 1] * h[at + 1];

            /* A selection, not a factor of 0: other modes may hold anything, even NaN. */
            sum_mid += times && band == CODEC_MID ? times * power : 0.0;
            sum_high += times && band == CODEC_HIGH ? times * power : 0.0;
        }
        mid[LANE] = sum_mid;
        high[LANE] = sum_high;
    }
    SYNC;
    FOLD_LANES(mid, added)
    FOLD_LANES(high, added)
    EACH_LANE if (LANE == 0)
    {
        const i64 to = CODEC_BANDS * ((i64)GROUP_Y * p.n + GROUP_X);

        part[to + CODEC_MID] = mid[0];
        part[to + CODEC_HIGH] = high[0];
    }
}

/* The vector. */

/* Clears rows. Points: numbers of a vector, vectors. */
MAP(les_empty, VAL(i32, size), OUT(real, z))
{
    z[(i64)gy * size + gx] = R(0);
}

FN double mean_of(double sum, i64 count, i32 n)
{
    const double area = (double)n * n;

    return count > 0 ? sum / (area * area) / (double)count : 0.0;
}

/* The next row of member GROUP_X: low modes from `h`, the rest from `r`. */
GROUP(les_encode, VAL(codec_par, p), VAL(i32, room), VAL(i32, n_tiles), IN(i32, low),
      IN(i32, anchor), IN(double, part), IN(i32, count), IN(real, h), IN(real, r), INOUT(i32, row),
      INOUT(real, z))
{
    LOCAL(double, mid, LANES);
    LOCAL(double, high, LANES);
    LOCAL(double, live, LANES);
    const i32 m = GROUP_X, t = row[GROUP_X];
    const i64 to = ((i64)t * p.members + m) * p.size;

    EACH_LANE
    {
        double a = 0.0, b = 0.0, c = 0.0;

        for (i32 k = LANE; k < p.n; k += LANES) {
            a += part[CODEC_BANDS * ((i64)m * p.n + k) + CODEC_MID];
            b += part[CODEC_BANDS * ((i64)m * p.n + k) + CODEC_HIGH];
        }
        for (i32 k = LANE; k < n_tiles; k += LANES)
            c += count[(i64)m * n_tiles + k];
        mid[LANE] = a;
        high[LANE] = b;
        live[LANE] = c;
    }
    SYNC;
    FOLD_LANES(mid, added)
    FOLD_LANES(high, added)
    FOLD_LANES(live, added)
    EACH_LANE if (t < room)
    {
        for (i32 k = LANE; k < p.n_low; k += LANES) {
            const codec_value v = value_at(p, h, m, low[k]);

            z[to + p.at_low + k] = (real)v.re;
            z[to + p.at_low + p.n_low + k] = (real)v.im;
        }
        for (i32 k = LANE; k < p.n_anchors; k += LANES) {
            const codec_value v = value_at(p, r, m, anchor[(i64)m * p.n_anchors + k]);

            z[to + p.at_anchor + k] = (real)v.re;
            z[to + p.at_anchor + p.n_anchors + k] = (real)v.im;
        }
        if (LANE == 0) {
            const double e_mid = mean_of(mid[0], p.n_mid - p.n_anchors, p.n);
            const double e_high = mean_of(high[0], p.n_high, p.n);

            z[to + p.at_support] = (real)(live[0] / ((double)p.n * p.n));
            if (p.is_full) {
                z[to + p.at_support + 1] = (real)e_mid;
                z[to + p.at_support + 2] = (real)e_high;
                z[to + p.at_support + 3] = (real)p.n_anchors;
            } else {
                z[to] = (real)value_at(p, h, m, 0).re;
                z[to + p.at_support + 1] = (real)log(e_mid + 1e-30);
                z[to + p.at_support + 2] = (real)log(e_high + 1e-30);
            }
        }
    }
    SYNC;
    EACH_LANE if (LANE == 0) row[m] = t < room ? t + 1 : t;
}

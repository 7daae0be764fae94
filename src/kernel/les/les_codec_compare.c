/* les_codec_compare.c - a pair of fields: sums over the cells, energies, and shells of the
 * spectrum. In double precision throughout, in an order that depends on the grid alone. */
PRECISIONS
#include "dialect.h"
#include "fold.h"
#include "les_codec.h"

FN double added(double a, double b)
{
    return a + b;
}

FN double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Sums of row GROUP_X of fields without padding. */
GROUP(les_pair_part, VAL(i32, n), IN(real, a), IN(real, b), OUT(double, part))
{
    LOCAL(double, tile, PAIR_PLAIN *LANES);
    const i64 row = (i64)GROUP_X * n;

    EACH_LANE
    {
        double sa = 0.0, sb = 0.0, aa = 0.0, bb = 0.0, ab = 0.0, dd = 0.0;

        for (i32 i = LANE; i < n; i += LANES) {
            const double x = (double)a[row + i], y = (double)b[row + i];

            sa += x;
            sb += y;
            aa += x * x;
            bb += y * y;
            ab += x * y;
            dd += (x - y) * (x - y);
        }
        tile[PAIR_A * LANES + LANE] = sa;
        tile[PAIR_B * LANES + LANE] = sb;
        tile[PAIR_AA * LANES + LANE] = aa;
        tile[PAIR_BB * LANES + LANE] = bb;
        tile[PAIR_AB * LANES + LANE] = ab;
        tile[PAIR_DIFF * LANES + LANE] = dd;
    }
    SYNC;
    for (i32 w = LANES / 2; w > 0; w /= 2) {
        for (i32 q = 0; q < PAIR_PLAIN; q++)
            EACH_LANE if (LANE < w) tile[q * LANES + LANE] += tile[q * LANES + LANE + w];
        SYNC;
    }
    EACH_LANE if (LANE < PAIR_PLAIN) part[(i64)GROUP_X * PAIR_PLAIN + LANE] = tile[LANE * LANES];
}

/* Member 0 of both fields, padded for their transform. */
MAP(les_pair_pad, VAL(i32, n), IN(real, a), IN(real, b), OUT(real, x))
{
    const i64 from = (i64)gy * n + gx;

    x[((i64)gz * n + gy) * (n + 2) + gx] = gz == 0 ? a[from] : b[from];
}

/* Energy of mode (i, ky) of a spectrum, over the area of the grid squared. It is the energy of the
 * velocity, whose derivatives have no Nyquist part, so an axis at Nyquist contributes nothing. */
FN double energy_at(GLOBAL const real *h, i32 n, double q, i32 field, i32 i, i32 ky)
{
    const i64 at = 2 * (((i64)field * n + (ky < 0 ? ky + n : ky)) * (n / 2 + 1) + i);
    const double weight = i == 0 || 2 * i == n ? 0.5 : 1.0;
    const double xx = (double)i * i, yy = (double)ky * ky;
    const double moving = (2 * i == n ? 0.0 : xx) + (2 * ky == n ? 0.0 : yy);
    const double power = (double)h[at] * h[at] + (double)h[at + 1] * h[at + 1];

    return i == 0 && ky == 0 ? 0.0 : weight * power * moving / (q * q * (xx + yy) * (xx + yy));
}

/* Energy of row GROUP_X of spectrum GROUP_Y. */
GROUP(les_energy_part, VAL(i32, n), VAL(double, q), IN(real, h), OUT(double, part))
{
    LOCAL(double, tile, LANES);
    const i32 ky = 2 * GROUP_X <= n ? GROUP_X : GROUP_X - n;

    EACH_LANE
    {
        double sum = 0.0;

        for (i32 i = LANE; i <= n / 2; i += LANES)
            sum += energy_at(h, n, q, GROUP_Y, i, ky);
        tile[LANE] = sum;
    }
    SYNC;
    FOLD_LANES(tile, added)
    EACH_LANE if (LANE == 0) part[(i64)GROUP_Y * n + GROUP_X] = tile[0];
}

/* Energy of shell GROUP_X + 1 of spectrum GROUP_Y: the modes whose wavenumber is nearest to it. */
GROUP(les_shell, VAL(i32, n), VAL(i32, n_shells), VAL(double, q), IN(real, h), OUT(double, shell))
{
    LOCAL(double, tile, LANES);
    const i32 own = GROUP_X + 1;
    const i32 right = MIN(own, n / 2), down = MIN(own, (n - 1) / 2);

    EACH_LANE
    {
        double sum = 0.0;

        for (i32 ky = -down; ky <= right; ky++)
            for (i32 i = LANE; i <= right; i += LANES)
                if ((i32)rint(sqrt((double)(i * i + ky * ky))) == own)
                    sum += energy_at(h, n, q, GROUP_Y, i, ky);
        tile[LANE] = sum;
    }
    SYNC;
    FOLD_LANES(tile, added)
    EACH_LANE if (LANE == 0) shell[(i64)GROUP_Y * n_shells + GROUP_X] = tile[0];
}

/* Collects all results in row `row` of `sums`, which has `pitch` numbers. */
GROUP(les_pair_join, VAL(i32, n), VAL(i32, n_shells), VAL(i32, row), VAL(i32, pitch),
      IN(double, pair), IN(double, energy), IN(double, shell), INOUT(double, sums))
{
    LOCAL(double, tile, PAIR_SUMS *LANES);

    EACH_LANE
    {
        for (i32 q = 0; q < PAIR_SUMS; q++)
            tile[q * LANES + LANE] = 0.0;
        for (i32 k = LANE; k < n; k += LANES) {
            for (i32 q = 0; q < PAIR_PLAIN; q++)
                tile[q * LANES + LANE] += pair[(i64)k * PAIR_PLAIN + q];
            tile[PAIR_ENERGY_A * LANES + LANE] += energy[k];
            tile[PAIR_ENERGY_B * LANES + LANE] += energy[n + k];
        }
        for (i32 k = LANE; k < n_shells; k += LANES) {
            const double ratio = (shell[n_shells + k] + 1e-300) / (shell[k] + 1e-300);

            tile[PAIR_SPECTRUM * LANES + LANE] =
                larger(tile[PAIR_SPECTRUM * LANES + LANE], fabs(log(ratio)));
        }
    }
    SYNC;
    for (i32 w = LANES / 2; w > 0; w /= 2) {
        for (i32 q = 0; q < PAIR_SUMS; q++)
            EACH_LANE if (LANE < w)
            {
                const double other = tile[q * LANES + LANE + w];

                tile[q * LANES + LANE] = q == PAIR_SPECTRUM ? larger(tile[q * LANES + LANE], other)
                                                            : tile[q * LANES + LANE] + other;
            }
        SYNC;
    }
    EACH_LANE if (LANE < PAIR_SUMS) sums[(i64)row * pitch + LANE] = tile[LANE * LANES];
}

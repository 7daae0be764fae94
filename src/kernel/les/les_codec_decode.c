/* les_codec_decode.c - decodes vectors to fields.
 *
 *     les_clear, les_scatter              stored waves                   -> low-pass field
 *     les_level                           energies of the two bands
 *     les_draw                            both bands with random phases
 *     inverse, les_gate, forward          confined to the ternary field, if gated
 *     les_band_part, les_gate_scale       (les_codec_encode.c) back to their energies
 *     les_add_gated or les_add_drawn      into the spectrum              -> field with residual
 *
 * Codec origin adds on the grid instead: les_square_part, les_square_scale, les_add_fields. The
 * bands of all members follow each other: mid of all, then high of all.
 */
PRECISIONS
#include "dialect.h"
#include "fold.h"
#include "les_codec.h"
#include "les_codec_mode.h"
#include "philox.h"

/* Stored waves. */

MAP(les_clear, VAL(i32, n), OUT(real, c))
{
    c[(i64)gy * (n + 2) + gx] = R(0);
}

/* Writes mode (i, j) of the half spectrum that begins at `first`, and its mirror image if there is
 * one. */
#define PUT_MODE(re_, im_)                                                                         \
    {                                                                                              \
        const i64 at = first + 2 * ((i64)j * width + i);                                           \
                                                                                                   \
        c[at] = re_;                                                                               \
        c[at + 1] = im_;                                                                           \
        if (i == 0 && j > 0) {                                                                     \
            c[first + 2 * ((i64)(p.n - j) * width)] = re_;                                         \
            c[first + 2 * ((i64)(p.n - j) * width) + 1] = -(im_);                                  \
        }                                                                                          \
    }

/* Half-plane lists: point 0 is the mean, then come the low modes, then the anchors. */
MAP(les_scatter, VAL(codec_par, p), VAL(i32, row), IN(i32, low), IN(i32, anchor), IN(real, z),
    INOUT(real, c))
{
    const i32 width = p.n / 2 + 1;
    const i64 first = (i64)gz * p.n * (p.n + 2);
    const i64 from = ((i64)row * p.members + gz) * p.size;
    const i32 a = gx - 1 - p.n_low;
    const i32 mode = gx == 0 ? 0 : a < 0 ? low[gx - 1] : anchor[(i64)gz * p.n_anchors + MAX(a, 0)];
    const i64 re = from + (gx == 0 ? 0 : a < 0 ? p.at_low + gx - 1 : p.at_anchor + a);
    const real v = gx == 0 ? R(0) : z[re + (a < 0 ? p.n_low : p.n_anchors)];
    const i32 i = mode % width, j = mode / width;

    PUT_MODE(z[re], v)
}

/* Full-plane lists, low modes only: partner[k] is the place of the opposite mode in the list. The
 * field is the real part of the listed modes, hence the mean of a mode and its partner. */
MAP(les_scatter_full, VAL(codec_par, p), VAL(i32, row), IN(i32, low), IN(i32, partner), IN(real, z),
    INOUT(real, c))
{
    const i32 i = low[gx] % p.n, j = low[gx] / p.n;
    const i64 re = ((i64)row * p.members + gz) * p.size + p.at_low, im = re + p.n_low;

    if (2 * i <= p.n) {
        const i64 at = 2 * (((i64)gz * p.n + j) * (p.n / 2 + 1) + i);

        c[at] = (z[re + gx] + z[re + partner[gx]]) * R(0.5);
        c[at + 1] = (z[im + gx] - z[im + partner[gx]]) * R(0.5);
    }
}

/* A field without the padding of its rows. */
MAP(les_decoded, VAL(i32, n), IN(real, padded), OUT(real, field))
{
    field[((i64)gz * n + gy) * n + gx] = padded[((i64)gz * n + gy) * (n + 2) + gx];
}

/* Waves of which only the energy is stored. */

/* Mean |c|^2 of band gx of member gy. */
MAP(les_level, VAL(codec_par, p), VAL(i32, row), IN(real, z), OUT(double, level))
{
    const double v = (double)z[((i64)row * p.members + gy) * p.size + p.at_support + 1 + gx];

    level[gx * p.members + gy] = p.is_full ? fmax(v, 0.0) : exp(fmin(fmax(v, -69.0), 20.0));
}

/* The unit vector of mode (kx, ky) at `step`. */
FN codec_value drawn(codec_par p, GLOBAL const double *table, i32 step, i32 kx, i32 ky)
{
    codec_value v;
    i64 at;

    if (p.is_drawn_before)
        at = (i64)(ky < 0 ? ky + p.n : ky) * p.n + (kx < 0 ? kx + p.n : kx);
    else
        at = philox_at(kx, ky, PHILOX_PHASE, (u32)step, p.seed).a >> 22;
    v.re = table[2 * at];
    v.im = table[2 * at + 1];
    return v;
}

/* The value of element (kx, ky) of a half spectrum with power `level` in every mode of `band`
 * that is not an anchor: from half-plane modes and their mirrors, or half of what the two modes
 * of a pair have in the full plane. */
FN codec_value residual(codec_par p, GLOBAL const double *table, GLOBAL const u8 *kept, i32 m,
                        i32 step, i32 band, double level, i32 kx, i32 ky)
{
    const double amp = sqrt(level);
    codec_value v, w;

    v.re = 0.0;
    v.im = 0.0;
    if (band_of(p, kx, ky) != band)
        return v;
    if (!p.is_full) {
        const i32 flip = kx == 0 && ky < 0 ? -1 : 1;

        if (is_rest(p, kept, m, band, kx, flip * ky)) {
            w = drawn(p, table, step, kx, flip * ky);
            v.re = amp * w.re;
            v.im = amp * w.im * flip;
        }
        return v;
    }
    if (is_rest(p, kept, m, band, kx, ky)) {
        w = drawn(p, table, step, kx, ky);
        v.re += 0.5 * amp * w.re;
        v.im += 0.5 * amp * w.im;
    }
    if (is_rest(p, kept, m, band, opposite(p.n, kx), opposite(p.n, ky))) {
        w = drawn(p, table, step, opposite(p.n, kx), opposite(p.n, ky));
        v.re += 0.5 * amp * w.re;
        v.im -= 0.5 * amp * w.im;
    }
    return v;
}

/* Points: modes of a row, rows, members of mid and then of high. */
MAP(les_draw, VAL(codec_par, p), VAL(i32, step), IN(double, table), IN(u8, kept), IN(double, level),
    OUT(real, x))
{
    const i64 at = 2 * (((i64)gz * p.n + gy) * (p.n / 2 + 1) + gx);
    const codec_value v = residual(p, table, kept, gz % p.members, step, gz / p.members, level[gz],
                                   gx, wavenumber(p.n, gy));

    x[at] = (real)v.re;
    x[at + 1] = (real)v.im;
}

MAP(les_gate, VAL(i32, n), VAL(i32, members), IN(i8, s), INOUT(real, x))
{
    const i64 at = ((i64)gz * n + gy) * (n + 2) + gx;

    x[at] = s[((i64)(gz % members) * n + gy) * n + gx] ? x[at] : R(0);
}

/* Factors that give both bands of member GROUP_X their stored energy; 0 when gating left nothing.
 */
GROUP(les_gate_scale, VAL(codec_par, p), IN(double, part), IN(double, level), OUT(double, scale))
{
    LOCAL(double, mid, LANES);
    LOCAL(double, high, LANES);

    EACH_LANE
    {
        double a = 0.0, b = 0.0;

        for (i32 k = LANE; k < p.n; k += LANES) {
            a += part[CODEC_BANDS * ((i64)GROUP_X * p.n + k) + CODEC_MID];
            b += part[CODEC_BANDS * ((i64)GROUP_X * p.n + k) + CODEC_HIGH];
        }
        mid[LANE] = a;
        high[LANE] = b;
    }
    SYNC;
    FOLD_LANES(mid, added)
    FOLD_LANES(high, added)
    EACH_LANE if (LANE < CODEC_BANDS)
    {
        const double area = (double)p.n * p.n;
        const double e = (LANE == CODEC_MID ? mid[0] : high[0]) / (area * area);
        const double count = LANE == CODEC_MID ? (double)(p.n_mid - p.n_anchors) : (double)p.n_high;
        const i32 at = LANE * p.members + GROUP_X;

        scale[at] = e > 1e-30 ? sqrt(count * level[at] / e) / area : 0.0;
    }
}

/* Adds both bands to the spectrum `c`: the gated bands `x` times their factors, or the drawn bands
 * where a factor is 0. A mode is in at most one band, and its entry in `c` is still 0. */
MAP(les_add_gated, VAL(codec_par, p), VAL(i32, step), IN(double, table), IN(u8, kept),
    IN(double, level), IN(double, scale), IN(real, x), INOUT(real, c))
{
    const i64 at = 2 * (((i64)gz * p.n + gy) * (p.n / 2 + 1) + gx);
    const i32 ky = wavenumber(p.n, gy), band = band_of(p, gx, ky);
    const i32 flip = gx == 0 && ky < 0 ? -1 : 1;

    if (band >= 0 && is_rest(p, kept, gz, band, gx, flip * ky)) {
        const i32 b = band * p.members + gz;
        const i64 from = at + 2 * (i64)band * p.members * p.n * (p.n / 2 + 1);

        if (scale[b] > 0.0) {
            c[at] = (real)((double)x[from] * scale[b]);
            c[at + 1] = (real)((double)x[from + 1] * scale[b]);
        } else {
            const codec_value v = residual(p, table, kept, gz, step, band, level[b], gx, ky);

            c[at] = (real)v.re;
            c[at + 1] = (real)v.im;
        }
    }
}

MAP(les_add_drawn, VAL(codec_par, p), VAL(i32, step), IN(double, table), IN(u8, kept),
    IN(double, level), INOUT(real, c))
{
    const i64 at = 2 * (((i64)gz * p.n + gy) * (p.n / 2 + 1) + gx);
    const i32 ky = wavenumber(p.n, gy), band = band_of(p, gx, ky);

    if (band >= 0) {
        const codec_value v =
            residual(p, table, kept, gz, step, band, level[band * p.members + gz], gx, ky);

        c[at] += (real)v.re;
        c[at + 1] += (real)v.im;
    }
}

/* Residual on the grid. */

/* Sum of squares of row GROUP_X of field GROUP_Y. */
GROUP(les_square_part, VAL(i32, n), IN(real, x), OUT(double, part))
{
    LOCAL(double, tile, LANES);
    const i64 row = ((i64)GROUP_Y * n + GROUP_X) * (n + 2);

    EACH_LANE
    {
        double sum = 0.0;

        for (i32 i = LANE; i < n; i += LANES)
            sum += (double)x[row + i] * x[row + i];
        tile[LANE] = sum;
    }
    SYNC;
    FOLD_LANES(tile, added)
    EACH_LANE if (LANE == 0) part[(i64)GROUP_Y * n + GROUP_X] = tile[0];
}

/* The factor of field GROUP_X: mid of all members, then high of all. */
GROUP(les_square_scale, VAL(codec_par, p), IN(double, part), IN(double, level), OUT(double, scale))
{
    LOCAL(double, tile, LANES);

    EACH_LANE
    {
        double sum = 0.0;

        for (i32 k = LANE; k < p.n; k += LANES)
            sum += part[(i64)GROUP_X * p.n + k];
        tile[LANE] = sum;
    }
    SYNC;
    FOLD_LANES(tile, added)
    EACH_LANE if (LANE == 0)
    {
        const double mean = tile[0] / ((double)p.n * p.n);
        const double count =
            GROUP_X < p.members ? (double)(p.n_mid - p.n_anchors) : (double)p.n_high;
        const double energy = count * level[GROUP_X];

        scale[GROUP_X] = energy <= 0.0 ? 0.0 : mean > 1e-30 ? sqrt(energy / mean) : 1.0;
    }
}

MAP(les_add_fields, VAL(codec_par, p), IN(double, scale), IN(real, lp), IN(real, x),
    OUT(real, full))
{
    const i64 at = ((i64)gz * p.n + gy) * p.n + gx;
    const i64 from = ((i64)gz * p.n + gy) * (p.n + 2) + gx;
    const i64 step = (i64)p.members * p.n * (p.n + 2);

    full[at] = lp[at] +
               (real)((double)x[from] * scale[gz] + (double)x[from + step] * scale[p.members + gz]);
}

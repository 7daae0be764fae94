/* modes.c - lists of modes by band, made by testing every mode in the order of the codec. */
#include "modes.h"

#include <math.h>
#include <stdlib.h>

/* Numbers and wavenumbers. */

static int wavenumber(int n, int index)
{
    return index <= n / 2 ? index : index - n;
}

static int place_of(int n, int k)
{
    return k < 0 ? k + n : k;
}

static int row_of(const qn_les_modes *modes)
{
    return modes->is_full ? modes->n : modes->n / 2 + 1;
}

qn_les_wave qn_les_wave_of(const qn_les_modes *modes, int32_t mode)
{
    const int row = row_of(modes);

    return (qn_les_wave){ .kx = wavenumber(modes->n, mode % row),
                          .ky = wavenumber(modes->n, mode / row) };
}

int32_t qn_les_mode_of(const qn_les_modes *modes, qn_les_wave wave)
{
    return place_of(modes->n, wave.ky) * row_of(modes) + place_of(modes->n, wave.kx);
}

/* Bands. */

int qn_les_in_band(const qn_les_modes *modes, qn_les_band band, qn_les_wave wave)
{
    const int kx = wave.kx, ky = wave.ky, n2 = kx * kx + ky * ky;
    const qn_les_band of = n2 <= modes->low2   ? QN_LES_LOW
                           : n2 <= modes->mid2 ? QN_LES_MID
                                               : QN_LES_HIGH;
    const int edge = band == QN_LES_HIGH ? modes->high_edge : (modes->n - 1) / 2;

    if (of != band)
        return 0;
    if (modes->is_full)
        return 1;
    return (kx > 0 || (kx == 0 && ky > 0)) && kx <= edge && abs(ky) <= edge;
}

/* Row number `j` in the order of the codec: of an N x N spectrum, or ascending without Nyquist. */
static int ky_at(const qn_les_modes *modes, int j)
{
    return modes->is_full ? wavenumber(modes->n, j) : j + 1 - modes->n / 2;
}

qn_i64 qn_les_list_band(const qn_les_modes *modes, qn_les_band band, int32_t *out)
{
    const int n = modes->n;
    const int n_rows = modes->is_full ? n : n - 1, n_cols = row_of(modes);
    const int reach2 = band == QN_LES_LOW ? modes->low2 : modes->mid2;
    qn_i64 found = 0;

    for (int j = 0; j < n_rows; j++) {
        const int ky = ky_at(modes, j);

        if (band != QN_LES_HIGH && ky * ky > reach2)
            continue; /* most rows of a large grid */
        for (int i = 0; i < n_cols; i++) {
            const qn_les_wave wave = { .kx = wavenumber(n, i), .ky = ky };

            if (!qn_les_in_band(modes, band, wave))
                continue;
            if (out)
                out[found] = qn_les_mode_of(modes, wave);
            found++;
        }
    }
    return found;
}

static int is_inside(const qn_les_modes *modes, int32_t mode, int edge)
{
    const qn_les_wave wave = qn_les_wave_of(modes, mode);

    return abs(wave.kx) <= edge && abs(wave.ky) <= edge;
}

/* The modes that the other bands leave over. Listing them takes a second on the largest grids. */
static qn_i64 count_high(const qn_les_modes *modes)
{
    const qn_i64 n = modes->n, edge = modes->high_edge;
    qn_i64 count = ((2 * edge + 1) * (2 * edge + 1) - 1) / 2;

    if (modes->is_full)
        return n * n - modes->n_low - modes->n_mid;
    for (int k = 0; k < modes->n_low; k++)
        count -= is_inside(modes, modes->low[k], modes->high_edge);
    for (int k = 0; k < modes->n_mid; k++)
        count -= is_inside(modes, modes->mid[k], modes->high_edge);
    return count;
}

static qn_status new_list(const qn_les_modes *modes, qn_les_band band, int32_t **out, int *count,
                          qn_err *err)
{
    const qn_i64 n = qn_les_list_band(modes, band, NULL);

    if (!(*out = malloc((size_t)(n ? n : 1) * sizeof **out)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a list of %lld modes", (long long)n);
    *count = (int)qn_les_list_band(modes, band, *out);
    return QN_OK;
}

/* The largest integer not above k^2; k is at most 8191. */
static int square_floor(double k)
{
    return (int)floor(k * k);
}

qn_status qn_les_modes_new(const qn_les_options *config, qn_les_modes *out, qn_err *err)
{
    const int is_full = config->codec == QN_LES_CODEC_ORIGIN;
    const int wanted = is_full ? config->topk_mid : config->pairs;
    qn_les_modes m = { .n = config->N, .is_full = is_full };
    qn_status st = QN_OK;

    m.low2 = square_floor(config->k_cut);
    m.mid2 = square_floor(config->k_mid);
    m.high_edge = config->dealias == QN_LES_DEALIAS_TWO_THIRDS ? (m.n - 1) / 3 : (m.n - 1) / 2;
    QN_TRY(new_list(&m, QN_LES_LOW, &m.low, &m.n_low, err));
    QN_TRY(new_list(&m, QN_LES_MID, &m.mid, &m.n_mid, err));
    m.n_high = count_high(&m);
    m.n_anchors = wanted < m.n_mid ? wanted : m.n_mid;
    *out = m;
    m = (qn_les_modes){ 0 };
out:
    qn_les_modes_free(&m);
    return st;
}

void qn_les_modes_free(qn_les_modes *modes)
{
    free(modes->low);
    free(modes->mid);
    *modes = (qn_les_modes){ 0 };
}

/* The vector. */

qn_les_layout qn_les_layout_of(const qn_les_modes *modes)
{
    const int is_full = modes->is_full;
    qn_les_layout z = { .mean = is_full ? -1 : 0, .low_re = is_full ? 0 : 1 };

    z.low_im = z.low_re + modes->n_low;
    z.support = z.low_im + modes->n_low;
    z.mid = z.support + 1;
    z.high = z.mid + 1;
    z.count = is_full ? z.high + 1 : -1;
    z.anchor_re = z.high + (is_full ? 2 : 1);
    z.anchor_im = z.anchor_re + modes->n_anchors;
    z.size = z.anchor_im + modes->n_anchors;
    return z;
}

/* codec.c - lists and tables of a codec, made once on the host, and its anchors. */
#include "codec_parts.h"

#include "util/npy.h"
#include "util/list.h"

#include <math.h>
#include <stdlib.h>

/* Makes a buffer of at least one byte, filled with `data` unless that is NULL. */
static qn_status new_buf(const qn_les_codec *codec, const char *name, const void *data,
                         size_t bytes, qn_buf **out, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_buf_new(codec->ctx, name, bytes ? bytes : 8, out, err));
    if (data && bytes)
        QN_TRY(qn_buf_write(*out, 0, data, bytes, err));
out:
    return st;
}

/* Lists and tables. */

static int by_number(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

/* Full-plane lists are sorted by number, and a disc of modes contains the opposite of each. */
static qn_status make_partners(qn_les_codec *codec, qn_err *err)
{
    const qn_les_modes *m = &codec->modes;
    int32_t *partner = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(partner, m->n_low, "a list of modes", err));
    for (int k = 0; m->is_full && k < m->n_low; k++) {
        const qn_les_wave wave = qn_les_wave_of(m, m->low[k]);
        const int32_t mode = qn_les_mode_of(m, (qn_les_wave){ .kx = -wave.kx, .ky = -wave.ky });
        const int32_t *at = bsearch(&mode, m->low, (size_t)m->n_low, sizeof mode, by_number);

        partner[k] = (int32_t)(at - m->low);
    }
    st = new_buf(codec, "opposite modes", partner, (size_t)m->n_low * sizeof *partner,
                 &codec->partner, err);
out:
    free(partner);
    return st;
}

static qn_status make_box(qn_les_codec *codec, qn_err *err)
{
    const int n = codec->config->N, w = codec->config->smooth_k;
    double *box = calloc((size_t)n / 2 + 1, sizeof *box);

    if (!box)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a box of %d cells", n);
    box[0] = 1;
    for (int k = 1; k <= n / 2; k++)
        box[k] = sin(M_PI * w * k / n) / (w * sin(M_PI * k / n));
    const qn_status st = new_buf(codec, "transfer function of the box", box,
                                 ((size_t)n / 2 + 1) * sizeof *box, &codec->box, err);
    free(box);
    return st;
}

static int has_phases(const qn_les_options *config)
{
    return config->phases[0] || config->n_phase_field;
}

/* Unit vectors of the given phases: N x N for mid and N x N for high; a mode uses one of the two.
 */
static qn_status read_phases(const qn_les_codec *codec, double *table, qn_err *err)
{
    const qn_les_options *c = codec->config;
    const int n = c->N;
    const qn_i64 dims[3] = { CODEC_BANDS, n, n };
    const double *phases = c->phase_field;
    qn_npy file = { 0 };
    qn_status st = QN_OK;

    if (!c->n_phase_field) {
        QN_TRY(qn_npy_read_as(c->phases, QN_NPY_F8, 3, dims, &file, err));
        phases = file.data;
    }
    for (int mode = 0; mode < n * n; mode++) {
        const qn_les_wave k = qn_les_wave_of(&codec->modes, mode);
        const int band = qn_les_in_band(&codec->modes, QN_LES_HIGH, k) ? CODEC_HIGH : CODEC_MID;
        const double phase = phases[(size_t)band * (size_t)n * (size_t)n + (size_t)mode];

        table[2 * mode] = cos(phase);
        table[2 * mode + 1] = sin(phase);
    }
out:
    qn_npy_free(&file);
    return st;
}

static qn_status make_table(qn_les_codec *codec, qn_err *err)
{
    const qn_les_options *c = codec->config;
    const size_t n =
        codec->par.is_drawn_before ? (size_t)c->N * (size_t)c->N : (size_t)CODEC_PHASES;
    double *table = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(table, 2 * n, "phases", err));
    if (codec->par.is_drawn_before)
        QN_TRY(read_phases(codec, table, err));
    for (size_t k = 0; k < n && !codec->par.is_drawn_before; k++) {
        table[2 * k] = cos(2 * M_PI * (double)k / CODEC_PHASES);
        table[2 * k + 1] = sin(2 * M_PI * (double)k / CODEC_PHASES);
    }
    st = new_buf(codec, "phases", table, 2 * n * sizeof *table, &codec->table, err);
out:
    free(table);
    return st;
}

/* Life. */

static codec_par par_of(const qn_les_codec *codec)
{
    const qn_les_options *c = codec->config;
    const qn_les_modes *m = &codec->modes;
    const int reach = (int)sqrt((double)m->mid2);

    return (codec_par){ .seed = c->residual_seed,
                        .n_high = m->n_high,
                        .n = m->n,
                        .members = c->ensemble,
                        .is_full = m->is_full,
                        .low2 = m->low2,
                        .mid2 = m->mid2,
                        .edge = m->high_edge,
                        .reach = reach < m->n / 2 ? reach : m->n / 2,
                        .n_low = m->n_low,
                        .n_mid = m->n_mid,
                        .n_anchors = m->n_anchors,
                        .size = codec->layout.size,
                        .at_low = codec->layout.low_re,
                        .at_support = codec->layout.support,
                        .at_anchor = codec->layout.anchor_re,
                        .is_drawn_before = has_phases(c) };
}

static size_t anchor_map_bytes(const qn_les_codec *codec)
{
    const size_t side = 2 * (size_t)codec->par.reach + 1;

    return side * side;
}

static qn_status make_buffers(qn_les_codec *codec, qn_err *err)
{
    const qn_les_modes *m = &codec->modes;
    const size_t members = (size_t)codec->config->ensemble;
    const size_t cells = (size_t)m->n * (size_t)m->n * members;
    qn_status st = QN_OK;

    QN_TRY(
        new_buf(codec, "low modes", m->low, (size_t)m->n_low * sizeof(int32_t), &codec->low, err));
    QN_TRY(
        new_buf(codec, "mid modes", m->mid, (size_t)m->n_mid * sizeof(int32_t), &codec->mid, err));
    QN_TRY(make_partners(codec, err));
    QN_TRY(make_box(codec, err));
    QN_TRY(make_table(codec, err));
    QN_TRY(new_buf(codec, "anchors", NULL, members * (size_t)m->n_anchors * sizeof(int32_t),
                   &codec->anchor, err));
    QN_TRY(new_buf(codec, "map of anchors", NULL, members * anchor_map_bytes(codec),
                   &codec->anchor_map, err));
    QN_TRY(new_buf(codec, "next row", NULL, members * sizeof(int32_t), &codec->row, err));
    QN_TRY(new_buf(codec, "ternary field before", NULL, cells, &codec->before, err));
    QN_TRY(new_buf(codec, "ternary field", NULL, cells, &codec->after, err));
    QN_TRY(new_buf(codec, "support", NULL, members * (size_t)codec->n_tiles * sizeof(int32_t),
                   &codec->count, err));
out:
    return st;
}

qn_status qn_les_codec_new(qn_ctx *ctx, const qn_les_options *config, qn_les_codec **out,
                           qn_err *err)
{
    const int n = config->N;
    qn_les_codec *codec = NULL;
    qn_status st = QN_OK;

    if (has_phases(config) && config->codec != QN_LES_CODEC_ORIGIN)
        return qn_fail(err, QN_ERR_USAGE, "phases: %s is given, but codec is not origin",
                       config->phases[0] ? config->phases : "an array");
    QN_TRY(QN_NEW(codec, 1, "a codec", err));
    codec->ctx = ctx;
    codec->config = config;
    codec->is_f64 = config->precision == QN_LES_F64;
    codec->n_tiles =
        ((n + MAJORITY_COLS - 1) / MAJORITY_COLS) * ((n + MAJORITY_ROWS - 1) / MAJORITY_ROWS);
    QN_TRY(qn_les_modes_new(config, &codec->modes, err));
    codec->layout = qn_les_layout_of(&codec->modes);
    codec->par = par_of(codec);
    QN_TRY(make_buffers(codec, err));
    *out = codec;
    codec = NULL;
out:
    qn_les_codec_free(codec);
    return st;
}

void qn_les_codec_free(qn_les_codec *codec)
{
    if (!codec)
        return;
    qn_buf *const bufs[] = { codec->low,    codec->partner, codec->mid,        codec->box,
                             codec->table,  codec->anchor,  codec->anchor_map, codec->row,
                             codec->before, codec->after,   codec->count };

    for (size_t i = 0; i < sizeof bufs / sizeof bufs[0]; i++)
        qn_buf_free(bufs[i]);
    qn_les_modes_free(&codec->modes);
    free(codec);
}

const qn_les_modes *qn_les_codec_modes(const qn_les_codec *codec)
{
    return &codec->modes;
}

qn_les_layout qn_les_codec_layout(const qn_les_codec *codec)
{
    return codec->layout;
}

qn_buf *qn_les_codec_ternary(const qn_les_codec *codec, int is_before)
{
    return is_before ? codec->before : codec->after;
}

/* For checkpoints. */

qn_status qn_les_codec_set_row(qn_les_codec *codec, int row, qn_err *err)
{
    qn_status st = QN_OK;

    for (int b = 0; b < codec->config->ensemble; b++)
        QN_TRY(qn_buf_write(codec->row, (size_t)b * sizeof(int32_t), &(int32_t){ row },
                            sizeof(int32_t), err));
out:
    return st;
}

static size_t anchor_bytes(const qn_les_codec *codec)
{
    return (size_t)codec->config->ensemble * (size_t)codec->modes.n_anchors * sizeof(int32_t);
}

qn_status qn_les_codec_read_anchors(qn_les_codec *codec, int32_t *modes, qn_err *err)
{
    return qn_buf_read(codec->anchor, 0, modes, anchor_bytes(codec), err);
}

static qn_status mark_anchor(const qn_les_codec *codec, int32_t mode, uint8_t *anchor_map,
                             qn_err *err)
{
    const qn_les_modes *m = &codec->modes;
    const int width = m->is_full ? m->n : m->n / 2 + 1, reach = codec->par.reach;
    const qn_les_wave k = qn_les_wave_of(m, mode);

    if (mode < 0 || mode >= m->n * width || !qn_les_in_band(m, QN_LES_MID, k))
        return qn_fail(err, QN_ERR_INPUT, "anchor %d is not a mode of the mid band", mode);
    anchor_map[(k.ky + reach) * (2 * reach + 1) + k.kx + reach] = 1;
    return QN_OK;
}

qn_status qn_les_codec_set_anchors(qn_les_codec *codec, const int32_t *modes, qn_err *err)
{
    const size_t side = anchor_map_bytes(codec), members = (size_t)codec->config->ensemble;
    const size_t n = (size_t)codec->modes.n_anchors;
    uint8_t *anchor_map = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(anchor_map, members * side, "a map of modes", err));
    for (size_t k = 0; k < members * n; k++)
        QN_TRY(mark_anchor(codec, modes[k], anchor_map + k / n * side, err));
    QN_TRY(qn_buf_write(codec->anchor, 0, modes, anchor_bytes(codec), err));
    QN_TRY(qn_buf_write(codec->anchor_map, 0, anchor_map, members * side, err));
out:
    free(anchor_map);
    return st;
}

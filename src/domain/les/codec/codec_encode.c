/* codec_encode.c - the stages that encode a half spectrum as a vector. */
#include "codec_parts.h"

#include "kernel/les_codec_encode.gen.h"
#include "kernel/les_codec_majority.gen.h"
#include "kernel/les_codec_ternary.gen.h"

qn_status qn_les_temp_fields(const qn_les_codec *codec, qn_graph *graph, const char *name,
                             int batch, qn_buf **out, qn_err *err)
{
    const qn_fft_shape shape = qn_les_shape(codec, batch);

    return qn_graph_temp(graph, name, qn_fft_bytes(&shape), out, err);
}

/* The ternary field. */

static qn_status add_inverse(const qn_les_codec *codec, qn_graph *graph, const char *name,
                             qn_buf *buf, qn_err *err)
{
    const qn_fft_shape shape = qn_les_shape(codec, codec->par.members);

    return qn_graph_fft(graph, name, &shape, QN_FFT_INVERSE, buf, 0, err);
}

qn_status qn_les_add_field(const qn_les_codec *codec, qn_graph *graph, qn_buf *spectrum,
                           double factor, qn_buf **field, qn_err *err)
{
    const int n = codec->par.n, members = codec->par.members;
    qn_status st = QN_OK;

    QN_TRY(qn_les_temp_fields(codec, graph, "field", members, field, err));
    QN_TRY(STAGE(codec, les_scaled, graph, "les.codec.copy",
                 qn_range_2d(n + 2, (qn_i64)n * members), n, factor, spectrum, *field, err));
    QN_TRY(add_inverse(codec, graph, "les.codec.field", *field, err));
out:
    return st;
}

static qn_status add_rest_by_sums(const qn_les_codec *codec, qn_graph *graph, qn_buf *field,
                                  qn_buf *rest, qn_err *err)
{
    const qn_les_options *c = codec->config;
    const int members = codec->par.members;
    const smooth_par par = { .n = c->N,
                             .reach = c->smooth_k / 2,
                             .is_periodic = c->smooth == QN_LES_SMOOTH_DIRECT };
    qn_buf *rows;
    qn_status st = QN_OK;

    QN_TRY(qn_les_temp_fields(codec, graph, "means of rows", members, &rows, err));
    QN_TRY(STAGE(codec, les_smooth_rows, graph, "les.codec.rows", qn_les_cells(codec, members), par,
                 field, rows, err));
    QN_TRY(STAGE(codec, les_smooth_cols, graph, "les.codec.cols", qn_les_cells(codec, members), par,
                 field, rows, rest, err));
out:
    return st;
}

qn_status qn_les_add_rest(const qn_les_codec *codec, qn_graph *graph, qn_buf *spectrum,
                          double factor, qn_buf *field, qn_buf **rest, qn_err *err)
{
    const int n = codec->par.n, members = codec->par.members;
    qn_status st = QN_OK;

    QN_TRY(qn_les_temp_fields(codec, graph, "field less its surroundings", members, rest, err));
    if (codec->config->smooth == QN_LES_SMOOTH_BOX) {
        QN_TRY(STAGE(codec, les_smooth_spectrum, graph, "les.codec.smooth",
                     qn_les_half(codec, members), n, factor, codec->box, spectrum, *rest, err));
        QN_TRY(add_inverse(codec, graph, "les.codec.rest", *rest, err));
    } else {
        if (!field)
            QN_TRY(qn_les_add_field(codec, graph, spectrum, factor, &field, err));
        QN_TRY(add_rest_by_sums(codec, graph, field, *rest, err));
    }
out:
    return st;
}

/* Launches of MAJORITY_DEEP passes each. They alternate between the result and a temporary so that
 * the last one writes the result. */
static qn_status add_majority(const qn_les_codec *codec, qn_graph *graph, qn_err *err)
{
    const int n = codec->par.n, members = codec->par.members, passes = codec->config->maj_iters;
    const int launches = passes ? (passes + MAJORITY_DEEP - 1) / MAJORITY_DEEP : 1;
    const qn_range tiles = qn_range_3d((n + MAJORITY_COLS - 1) / MAJORITY_COLS,
                                       (n + MAJORITY_ROWS - 1) / MAJORITY_ROWS, members);
    qn_buf *from = codec->before, *between = NULL;
    qn_status st = QN_OK;

    if (launches > 1)
        QN_TRY(qn_graph_temp(graph, "ternary field between", qn_buf_bytes(codec->after), &between,
                             err));
    for (int k = 0; k < launches; k++) {
        qn_buf *to = (launches - k) % 2 ? codec->after : between;
        const int left = passes - k * MAJORITY_DEEP;

        QN_TRY(stage_les_majority(graph, "les.codec.majority", tiles, n,
                                  left < MAJORITY_DEEP ? left : MAJORITY_DEEP, codec->n_tiles, from,
                                  to, codec->count, err));
        from = to;
    }
out:
    return st;
}

qn_status qn_les_add_ternary(const qn_les_codec *codec, qn_graph *graph, qn_buf *rest, qn_err *err)
{
    const int n = codec->par.n, members = codec->par.members;
    qn_buf *part, *theta;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_temp(graph, "largest values of rows",
                         (size_t)n * (size_t)members * sizeof(double), &part, err));
    QN_TRY(qn_graph_temp(graph, "thresholds", (size_t)members * sizeof(double), &theta, err));
    QN_TRY(STAGE(codec, les_max_part, graph, "les.codec.max", qn_range_2d(n, members), n, rest,
                 part, err));
    QN_TRY(stage_les_max_join(graph, "les.codec.theta", qn_range_1d(members), n, codec->config->tau,
                              part, theta, err));
    QN_TRY(STAGE(codec, les_threshold, graph, "les.codec.threshold", qn_les_cells(codec, members),
                 n, theta, rest, codec->before, err));
    QN_TRY(add_majority(codec, graph, err));
out:
    return st;
}

/* Anchors and vector. */

static double per_area(const qn_les_codec *codec)
{
    return 1 / ((double)codec->par.n * codec->par.n);
}

/* Codec origin takes anchors and energies from the transform of the field less its surroundings. */
static qn_status add_rest_spectrum(const qn_les_codec *codec, qn_graph *graph, qn_buf *rest,
                                   qn_err *err)
{
    const qn_fft_shape shape = qn_les_shape(codec, codec->par.members);

    return qn_graph_fft(graph, "les.codec.rest spectrum", &shape, QN_FFT_FORWARD, rest, 0, err);
}

qn_status qn_les_codec_add_anchors(qn_les_codec *codec, qn_graph *graph, qn_buf *state, qn_err *err)
{
    const int n_mid = codec->par.n_mid, members = codec->par.members;
    const qn_range modes = qn_range_3d(n_mid, 1, members);
    const size_t count = (size_t)n_mid * (size_t)members;
    qn_buf *power, *rank, *from = state;
    qn_status st = QN_OK;

    if (!codec->par.n_anchors)
        return QN_OK;
    if (codec->par.is_full) {
        QN_TRY(qn_les_add_rest(codec, graph, state, per_area(codec), NULL, &from, err));
        QN_TRY(add_rest_spectrum(codec, graph, from, err));
    }
    QN_TRY(qn_graph_temp(graph, "power of mid modes", count * sizeof(double), &power, err));
    QN_TRY(qn_graph_temp(graph, "ranks of mid modes", count * sizeof(int32_t), &rank, err));
    QN_TRY(STAGE(codec, les_mid_power, graph, "les.codec.power", modes, codec->par, codec->mid,
                 from, power, err));
    QN_TRY(stage_les_rank(graph, "les.codec.rank", modes, n_mid, power, rank, err));
    QN_TRY(STAGE(codec, les_place, graph, "les.codec.anchors", modes, codec->par, codec->mid, rank,
                 codec->anchor_map, codec->anchor, err));
out:
    return st;
}

qn_status qn_les_add_bands(const qn_les_codec *codec, qn_graph *graph, qn_buf *h, qn_i64 band_step,
                           qn_buf **part, qn_err *err)
{
    const int n = codec->par.n, members = codec->par.members;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_temp(graph, "band sums of rows",
                         CODEC_BANDS * (size_t)n * (size_t)members * sizeof(double), part, err));
    QN_TRY(STAGE(codec, les_band_part, graph, "les.codec.bands", qn_range_2d(n, members),
                 codec->par, band_step, codec->anchor_map, h, *part, err));
out:
    return st;
}

qn_status qn_les_codec_add_encode(qn_les_codec *codec, qn_graph *graph, qn_buf *state, qn_buf *z,
                                  int room, qn_err *err)
{
    qn_buf *rest, *part, *from = state;
    qn_status st = QN_OK;

    QN_TRY(qn_les_add_rest(codec, graph, state, per_area(codec), NULL, &rest, err));
    QN_TRY(qn_les_add_ternary(codec, graph, rest, err));
    if (codec->par.is_full) {
        QN_TRY(add_rest_spectrum(codec, graph, rest, err));
        from = rest;
    }
    QN_TRY(qn_les_add_bands(codec, graph, from, 0, &part, err));
    QN_TRY(STAGE(codec, les_encode, graph, "les.codec.encode", qn_range_1d(codec->par.members),
                 codec->par, room, codec->n_tiles, codec->low, codec->anchor, part, codec->count,
                 state, from, codec->row, z, err));
out:
    return st;
}

/* codec_decode.c - the stages that decode a vector to fields. */
#include "codec_parts.h"

#include "kernel/les_codec_decode.gen.h"

/* The buffers that the parts of a decoding share. */
typedef struct {
    qn_les_codec *codec;
    qn_graph *graph;
    qn_buf *z;
    int row, step;
    qn_buf *known; /* the spectrum: known waves, later those of the residual as well */
    qn_buf *level; /* energies of the bands */
    qn_buf *bands; /* spectra or fields of mid and high */
    qn_buf *scale; /* their factors */
} decoding;

static qn_status add_known(decoding *d, qn_err *err)
{
    const codec_par *p = &d->codec->par;
    qn_status st = QN_OK;

    QN_TRY(qn_les_temp_fields(d->codec, d->graph, "decoded spectrum", p->members, &d->known, err));
    QN_TRY(STAGE(d->codec, les_clear, d->graph, "les.decode.clear",
                 qn_range_2d(p->n + 2, (qn_i64)p->n * p->members), p->n, d->known, err));
    if (p->is_full)
        QN_TRY(STAGE(d->codec, les_scatter_full, d->graph, "les.decode.scatter",
                     qn_range_3d(p->n_low, 1, p->members), *p, d->row, d->codec->low,
                     d->codec->partner, d->z, d->known, err));
    else
        QN_TRY(STAGE(d->codec, les_scatter, d->graph, "les.decode.scatter",
                     qn_range_3d(1 + p->n_low + p->n_anchors, 1, p->members), *p, d->row,
                     d->codec->low, d->codec->anchor, d->z, d->known, err));
out:
    return st;
}

static qn_status add_unpad(const decoding *d, qn_buf *padded, qn_buf *field, qn_err *err)
{
    return STAGE(d->codec, les_decoded, d->graph, "les.decode.unpad",
                 qn_les_cells(d->codec, d->codec->par.members), d->codec->par.n, padded, field,
                 err);
}

/* Both bands with random phases, as fields that are 0 where the ternary field is 0. */
static qn_status add_gated(decoding *d, qn_err *err)
{
    const codec_par *p = &d->codec->par;
    const qn_fft_shape shape = qn_les_shape(d->codec, CODEC_BANDS * p->members);
    qn_status st = QN_OK;

    QN_TRY(
        qn_les_temp_fields(d->codec, d->graph, "bands", CODEC_BANDS * p->members, &d->bands, err));
    QN_TRY(STAGE(d->codec, les_draw, d->graph, "les.decode.draw",
                 qn_les_half(d->codec, CODEC_BANDS * p->members), *p, d->step, d->codec->table,
                 d->codec->anchor_map, d->level, d->bands, err));
    QN_TRY(qn_graph_fft(d->graph, "les.decode.bands", &shape, QN_FFT_INVERSE, d->bands, 0, err));
    if (d->codec->config->gate)
        QN_TRY(STAGE(d->codec, les_gate, d->graph, "les.decode.gate",
                     qn_les_cells(d->codec, CODEC_BANDS * p->members), p->n, p->members,
                     d->codec->after, d->bands, err));
out:
    return st;
}

/* Gating moves energy between modes: energy that leaves a band is dropped, the rest is scaled. */
static qn_status add_gated_spectra(decoding *d, qn_err *err)
{
    const codec_par *p = &d->codec->par;
    const qn_fft_shape shape = qn_les_shape(d->codec, CODEC_BANDS * p->members);
    const qn_i64 band_step = (qn_i64)p->members * p->n * (p->n / 2 + 1);
    qn_buf *part;
    qn_status st = QN_OK;

    QN_TRY(add_gated(d, err));
    QN_TRY(qn_graph_fft(d->graph, "les.decode.gated", &shape, QN_FFT_FORWARD, d->bands, 0, err));
    QN_TRY(qn_les_add_bands(d->codec, d->graph, d->bands, band_step, &part, err));
    QN_TRY(STAGE(d->codec, les_gate_scale, d->graph, "les.decode.scale", qn_range_1d(p->members),
                 *p, part, d->level, d->scale, err));
    QN_TRY(STAGE(d->codec, les_add_gated, d->graph, "les.decode.add",
                 qn_les_half(d->codec, p->members), *p, d->step, d->codec->table,
                 d->codec->anchor_map, d->level, d->scale, d->bands, d->known, err));
out:
    return st;
}

static qn_status add_full(decoding *d, qn_buf *full, qn_err *err)
{
    qn_buf *field;
    qn_status st = QN_OK;

    if (d->codec->config->gate)
        QN_TRY(add_gated_spectra(d, err));
    else
        QN_TRY(STAGE(d->codec, les_add_drawn, d->graph, "les.decode.add",
                     qn_les_half(d->codec, d->codec->par.members), d->codec->par, d->step,
                     d->codec->table, d->codec->anchor_map, d->level, d->known, err));
    QN_TRY(qn_les_add_field(d->codec, d->graph, d->known, 1, &field, err));
    QN_TRY(add_unpad(d, field, full, err));
out:
    return st;
}

/* Codec origin adds the gated fields themselves, scaled to the energy of their bands. */
static qn_status add_full_on_grid(decoding *d, qn_buf *lp, qn_buf *full, qn_err *err)
{
    const codec_par *p = &d->codec->par;
    const int n_fields = CODEC_BANDS * p->members;
    qn_buf *part;
    qn_status st = QN_OK;

    QN_TRY(add_gated(d, err));
    QN_TRY(qn_graph_temp(d->graph, "squares of rows",
                         (size_t)p->n * (size_t)n_fields * sizeof(double), &part, err));
    QN_TRY(STAGE(d->codec, les_square_part, d->graph, "les.decode.squares",
                 qn_range_2d(p->n, n_fields), p->n, d->bands, part, err));
    QN_TRY(STAGE(d->codec, les_square_scale, d->graph, "les.decode.scale", qn_range_1d(n_fields),
                 *p, part, d->level, d->scale, err));
    QN_TRY(STAGE(d->codec, les_add_fields, d->graph, "les.decode.add",
                 qn_les_cells(d->codec, p->members), *p, d->scale, lp, d->bands, full, err));
out:
    return st;
}

qn_status qn_les_codec_add_decode(qn_les_codec *codec, qn_graph *graph, qn_buf *z, int row,
                                  int step, qn_buf *lp, qn_buf *full, qn_err *err)
{
    const codec_par *p = &codec->par;
    const size_t pairs = CODEC_BANDS * (size_t)p->members * sizeof(double);
    decoding d = { .codec = codec, .graph = graph, .z = z, .row = row, .step = step };
    qn_buf *field, *rest;
    qn_status st = QN_OK;

    QN_TRY(add_known(&d, err));
    QN_TRY(qn_les_add_field(codec, graph, d.known, 1, &field, err));
    QN_TRY(add_unpad(&d, field, lp, err));
    if (!full)
        goto out;
    if (codec->config->gate) {
        QN_TRY(qn_les_add_rest(codec, graph, d.known, 1, field, &rest, err));
        QN_TRY(qn_les_add_ternary(codec, graph, rest, err));
    }
    QN_TRY(qn_graph_temp(graph, "energies of bands", pairs, &d.level, err));
    QN_TRY(qn_graph_temp(graph, "factors of bands", pairs, &d.scale, err));
    QN_TRY(STAGE(codec, les_level, graph, "les.decode.level", qn_range_2d(CODEC_BANDS, p->members),
                 *p, row, z, d.level, err));
    QN_TRY(p->is_full ? add_full_on_grid(&d, lp, full, err) : add_full(&d, full, err));
out:
    return st;
}

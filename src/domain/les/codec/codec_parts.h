/* codec_parts.h - shared by the files of the codec. */
#ifndef QN_LES_CODEC_PARTS_H
#define QN_LES_CODEC_PARTS_H

#include "codec.h"

#include "kernel/les/les_codec.h"

#include <quern/fft.h>

struct qn_les_codec {
    qn_ctx *ctx;
    const qn_les_options *config;
    qn_les_modes modes;
    qn_les_layout layout;
    codec_par par;
    int is_f64, n_tiles;
    qn_buf *low, *partner, *mid; /* lists of modes; places of opposite modes among the low ones */
    qn_buf *box, *table;         /* transfer function of the smoothing; unit vectors of phases */
    qn_buf *anchor, *anchor_map, *row; /* of every member: anchors, a map of them, the next row */
    qn_buf *before, *after, *count;    /* ternary field; cells of tiles that are not 0 */
};

/* The launcher of kernel `name` for the precision of the run. */
#define STAGE(codec, name, ...)                                                                    \
    ((codec)->is_f64 ? stage_##name##_f64(__VA_ARGS__) : stage_##name##_f32(__VA_ARGS__))

/* Points or modes of one field of `batch` fields. */
static inline qn_range qn_les_cells(const qn_les_codec *codec, int batch)
{
    return qn_range_3d(codec->par.n, codec->par.n, batch);
}

static inline qn_range qn_les_half(const qn_les_codec *codec, int batch)
{
    return qn_range_3d(codec->par.n / 2 + 1, codec->par.n, batch);
}

static inline qn_fft_shape qn_les_shape(const qn_les_codec *codec, int batch)
{
    return (qn_fft_shape){
        .rows = codec->par.n, .cols = codec->par.n, .batch = batch, .is_f64 = codec->is_f64
    };
}

/* A temporary of `batch` padded fields. */
qn_status qn_les_temp_fields(const qn_les_codec *codec, qn_graph *graph, const char *name,
                             int batch, qn_buf **out, qn_err *err);

/* Adds the inverse transform of `spectrum` times `factor` as a new temporary: every member's field
 * on the grid. */
qn_status qn_les_add_field(const qn_les_codec *codec, qn_graph *graph, qn_buf *spectrum,
                           double factor, qn_buf **field, qn_err *err);

/* Adds a field minus its surroundings as a new temporary: from a spectrum that `factor` normalises,
 * or, when the surroundings are sums, from `field` unless it is NULL. */
qn_status qn_les_add_rest(const qn_les_codec *codec, qn_graph *graph, qn_buf *spectrum,
                          double factor, qn_buf *field, qn_buf **rest, qn_err *err);

/* Adds the ternary field of `rest` to codec->before and ->after, with ->count. */
qn_status qn_les_add_ternary(const qn_les_codec *codec, qn_graph *graph, qn_buf *rest, qn_err *err);

/* Adds the sums of both bands over `h`, member by member and row by row, as a new temporary.
 * The spectrum of high begins `band_step` complex numbers after that of mid. */
qn_status qn_les_add_bands(const qn_les_codec *codec, qn_graph *graph, qn_buf *h, qn_i64 band_step,
                           qn_buf **part, qn_err *err);

#endif

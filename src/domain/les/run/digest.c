/* digest.c - hashes, copies and pictures of resident arrays. */
#include "digest.h"

#include "kernel/les_frame.gen.h"
#include "kernel/les_hash.gen.h"
#include "kernel/les/les_frame.h"
#include "kernel/les/les_hash.h"

enum { FROM_ARG = 0, SLOT_ARG = 1, TO_ARG = 0 };
enum { BLOCK = HASH_WORDS * 4 };

static qn_i64 blocks_of(size_t bytes)
{
    return (qn_i64)((bytes + BLOCK - 1) / BLOCK);
}

qn_status qn_les_add_digest(qn_graph *graph, const char *name, qn_buf *buf, size_t from,
                            size_t bytes, qn_buf *out, qn_i64 slot, int *first, qn_err *err)
{
    const qn_i64 n_parts = blocks_of(bytes);
    qn_buf *part;
    qn_status st = QN_OK;

    *first = qn_graph_get_stats(graph).n_stages;
    QN_TRY(qn_graph_temp(graph, "hashes of blocks", (size_t)n_parts * sizeof(u64), &part, err));
    QN_TRY(stage_les_hash_blocks(graph, name, qn_range_1d(n_parts), (i64)(from / 4),
                                 (i64)(bytes / 4), buf, part, err));
    QN_TRY(stage_les_hash_fold(graph, name, qn_range_1d(1), n_parts, slot, part, out, err));
out:
    return st;
}

qn_status qn_les_move_digest(qn_graph *graph, int first, size_t from, qn_i64 slot, qn_err *err)
{
    const i64 word = (i64)(from / 4);
    qn_status st = QN_OK;

    QN_TRY(qn_graph_set(graph, first, FROM_ARG, &word, err));
    QN_TRY(qn_graph_set(graph, first + 1, SLOT_ARG, &slot, err));
out:
    return st;
}

qn_status qn_les_add_copy(qn_graph *graph, const char *name, qn_buf *field, size_t bytes,
                          qn_buf *store, size_t to, int *stage, qn_err *err)
{
    *stage = qn_graph_get_stats(graph).n_stages;
    return stage_les_keep(graph, name, qn_range_1d((qn_i64)(bytes / 4)), (i64)(to / 4), field,
                          store, err);
}

qn_status qn_les_move_copy(qn_graph *graph, int stage, size_t to, qn_err *err)
{
    const i64 word = (i64)(to / 4);

    return qn_graph_set(graph, stage, TO_ARG, &word, err);
}

/* Pictures. */

static int zoom_of(const qn_les_options *config)
{
    return config->N >= 256 ? 1 : (256 + config->N - 1) / config->N;
}

qn_les_frame_size qn_les_frame_size_of(const qn_les_options *config, int panels)
{
    const int side = config->N * zoom_of(config);
    const int width = panels * (side + FRAME_GAP) + FRAME_BAR;

    return (qn_les_frame_size){ width, side, (size_t)3 * (size_t)width * (size_t)side };
}

qn_status qn_les_add_frame(qn_graph *graph, const qn_les_options *config, int panels, double low,
                           double high, qn_buf *flow, qn_buf *decoded, qn_buf *rgb, qn_err *err)
{
    const qn_les_frame_size size = qn_les_frame_size_of(config, panels);
    const qn_range pixels = qn_range_2d(size.width, size.height);
    const les_frame_par par = { .middle = (low + high) / 2,
                                .inverse = high > low ? 2 / (high - low) : 1,
                                .n = config->N,
                                .zoom = zoom_of(config),
                                .panels = panels,
                                .width = size.width };

    if (config->precision == QN_LES_F64)
        return stage_les_frame_f64(graph, "les.frame", pixels, par, flow, decoded, rgb, err);
    return stage_les_frame_f32(graph, "les.frame", pixels, par, flow, decoded, rgb, err);
}

/* tile_layers.c - layers of a tile, and kept view factors, as buffers. */
#include "tile_impl.h"

#include <string.h>

qn_status qn_sw_tile_pin(const qn_sw_tile *tile, qn_graph *graph, qn_err *err)
{
    qn_status st = QN_OK;

    for (int i = 0; tile->scene->is_on_cpu && i < qn_graph_get_stats(graph).n_stages; i++)
        QN_TRY(qn_graph_pin(graph, i, "cpu", err));
out:
    return st;
}

qn_status qn_sw_tile_make(qn_sw_tile *tile, const char *name, size_t elems, size_t bytes,
                          qn_buf **out, qn_err *err)
{
    size_t all = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_size_mul(elems, bytes, name, &all, err));
    QN_TRY(qn_buf_new(tile->scene->ctx, name, all, out, err));
out:
    return st;
}

/* Buffers over what the stage holds; none where it has no such layer. */
qn_status qn_sw_tile_layers(qn_sw_tile *tile, qn_err *err)
{
    qn_sw_layers *l = &tile->layers;
    qn_sw_ground_maps *m = &tile->maps;
    const struct {
        const char *name;
        qn_buf **buf;
    } to[QN_SW_STAGE_LAYERS] = {
        [QN_SW_STAGE_DSM] = { "dsm", &l->dsm },
        [QN_SW_STAGE_CANOPY] = { "canopy", &l->canopy },
        [QN_SW_STAGE_TRUNK] = { "trunk", &l->trunk },
        [QN_SW_STAGE_WALL_HEIGHT] = { "wall height", &l->wall_height },
        [QN_SW_STAGE_WALL_RADIANS] = { "wall radians", &l->wall_aspect },
        [QN_SW_STAGE_CLASS] = { "class of ground", &m->class_of },
        [QN_SW_STAGE_BUILDINGS] = { "buildings", &m->buildings },
        [QN_SW_STAGE_ALBEDO] = { "albedo", &m->albedo },
        [QN_SW_STAGE_EMISSIVITY] = { "emissivity", &m->emissivity },
        [QN_SW_STAGE_SEEN_WALL_HEIGHT] = { "wall height seen", &m->wall_height },
        [QN_SW_STAGE_SEEN_WALL_ASPECT] = { "wall aspect", &m->wall_aspect },
    };
    qn_ctx *ctx = tile->scene->ctx;
    qn_status st = QN_OK;

    for (int i = 0; i < QN_SW_STAGE_LAYERS; i++)
        if (tile->stage.data[i])
            QN_TRY(qn_buf_wrap(ctx, to[i].name, tile->stage.data[i], tile->stage.bytes[i],
                               to[i].buf, err));
out:
    return st;
}

/* Words of 32 patches by pixel, [word][pixel], from the bytes of a file, [pixel][byte]. */
static qn_status cut_bits(qn_sw_tile *tile, const char *name, const uint8_t *matrix, int n_bytes,
                          qn_buf **out, qn_err *err)
{
    const qn_sw_window *w = &tile->place.seen;
    const qn_i64 cols = tile->scene->city->surface.dsm.place.cols;
    const size_t n_words = (size_t)(n_bytes + 3) / 4, pixels = qn_sw_window_pixels(w);
    void *host = NULL;
    uint32_t *word;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_tile_make(tile, name, pixels * n_words, sizeof *word, out, err));
    QN_TRY(qn_buf_host(*out, QN_HOST_DISCARD, &host, err));
    word = host;
    memset(word, 0, pixels * n_words * sizeof *word);
    for (size_t i = 0; i < pixels; i++) {
        const qn_i64 row = w->row + (qn_i64)i / w->cols, col = w->col + (qn_i64)i % w->cols;
        const uint8_t *bytes = matrix + (size_t)(row * cols + col) * (size_t)n_bytes;

        for (int b = 0; b < n_bytes; b++)
            word[(size_t)(b / 4) * pixels + i] |= (uint32_t)bytes[b] << 8 * (b % 4);
    }
out:
    return st;
}

/* Planes of a window behind each other in one buffer. */
static qn_status cut_planes(qn_sw_tile *tile, const char *name, float *const *maps, int n,
                            qn_buf **out, qn_err *err)
{
    const qn_sw_window *w = &tile->place.seen;
    const size_t cols = (size_t)tile->scene->city->surface.dsm.place.cols;
    void *host = NULL;
    float *to;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_tile_make(tile, name, qn_sw_window_pixels(w) * (size_t)n, sizeof *to, out, err));
    QN_TRY(qn_buf_host(*out, QN_HOST_DISCARD, &host, err));
    to = host;
    for (int p = 0; p < n; p++)
        for (qn_i64 r = 0; r < w->rows; r++, to += w->cols)
            memcpy(to, maps[p] + (size_t)(w->row + r) * cols + w->col,
                   (size_t)w->cols * sizeof *to);
out:
    return st;
}

qn_status qn_sw_tile_kept(qn_sw_tile *tile, qn_err *err)
{
    const qn_sw_svf_arrays *kept = tile->scene->kept;
    qn_status st = QN_OK;

    if (tile->scene->config->sky == QN_SW_SKY_ISO)
        return cut_planes(tile, "svf", kept->map, SW_VIEW_PLANES, &tile->svf, err);
    QN_TRY(cut_planes(tile, "svf", &kept->map[SW_SVF], 1, &tile->svf, err));
    QN_TRY(cut_planes(tile, "svf of leaves", &kept->map[SW_VEG], 1, &tile->veg, err));
    QN_TRY(cut_bits(tile, "sky bits", kept->matrix[0], kept->n_bytes, &tile->views.bldg, err));
    if (tile->layers.canopy) {
        QN_TRY(cut_bits(tile, "leaf bits", kept->matrix[1], kept->n_bytes, &tile->views.veg, err));
        QN_TRY(
            cut_bits(tile, "bits of both", kept->matrix[2], kept->n_bytes, &tile->views.vb, err));
    }
out:
    return st;
}

/* tile_layers.c - windows of the city's layers as buffers. */
#include "tile_impl.h"

#include <string.h>

qn_status qn_sw_told(const qn_ctx *ctx, qn_status st, qn_err *err)
{
    return st == QN_OK ? QN_OK : qn_fail(err, st, "%s", qn_error(ctx));
}

qn_status qn_sw_tile_make(qn_sw_tile *tile, const char *name, size_t elems, size_t bytes,
                          qn_buf **out, qn_err *err)
{
    size_t all = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_size_mul(elems, bytes, name, &all, err));
    QN_TRY(qn_sw_told(tile->scene->ctx, qn_buf_new(tile->scene->ctx, name, all, out), err));
out:
    return st;
}

/* A buffer with the pixels of `window` of a layer of the whole raster. */
static qn_status cut(qn_sw_tile *tile, const char *name, const void *layer, size_t bytes,
                     const qn_sw_window *window, qn_buf **out, qn_err *err)
{
    const size_t cols = (size_t)tile->scene->city->surface.dsm.place.cols;
    const size_t line = (size_t)window->cols * bytes;
    void *host = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_tile_make(tile, name, qn_sw_window_pixels(window), bytes, out, err));
    QN_TRY(qn_sw_told(tile->scene->ctx, qn_buf_host(*out, QN_HOST_DISCARD, &host), err));
    for (qn_i64 r = 0; r < window->rows; r++)
        memcpy((char *)host + (size_t)r * line,
               (const char *)layer +
                   ((size_t)(window->row + r) * cols + (size_t)window->col) * bytes,
               line);
out:
    return st;
}

qn_status qn_sw_tile_layers(qn_sw_tile *tile, qn_err *err)
{
    const qn_sw_city *city = tile->scene->city;
    const qn_sw_surface *s = &city->surface;
    const qn_sw_window *reach = &tile->place.reach, *seen = &tile->place.seen;
    qn_sw_layers *l = &tile->layers;
    qn_sw_ground_maps *m = &tile->maps;
    const size_t f = sizeof(float);
    qn_status st = QN_OK;

    QN_TRY(cut(tile, "dsm", s->dsm.data, f, reach, &l->dsm, err));
    if (s->cdsm.data) {
        QN_TRY(cut(tile, "canopy", s->cdsm.data, f, reach, &l->canopy, err));
        QN_TRY(cut(tile, "trunk", s->tdsm.data, f, reach, &l->trunk, err));
    }
    QN_TRY(cut(tile, "wall height", s->wall_height.data, f, reach, &l->wall_height, err));
    QN_TRY(cut(tile, "wall radians", city->wall_radians, f, reach, &l->wall_aspect, err));
    QN_TRY(cut(tile, "class of ground", city->class_of, 1, seen, &m->class_of, err));
    QN_TRY(cut(tile, "buildings", city->buildings, 1, seen, &m->buildings, err));
    QN_TRY(cut(tile, "albedo", city->ground.albedo, f, seen, &m->albedo, err));
    QN_TRY(cut(tile, "emissivity", city->ground.emissivity, f, seen, &m->emissivity, err));
    QN_TRY(cut(tile, "wall height seen", s->wall_height.data, f, seen, &m->wall_height, err));
    QN_TRY(cut(tile, "wall aspect", s->wall_aspect.data, f, seen, &m->wall_aspect, err));
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
    QN_TRY(qn_sw_told(tile->scene->ctx, qn_buf_host(*out, QN_HOST_DISCARD, &host), err));
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
    QN_TRY(qn_sw_told(tile->scene->ctx, qn_buf_host(*out, QN_HOST_DISCARD, &host), err));
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

/* tile_data.c - uploads layers and view factors of a tile, downloads cores and pixels. */
#include "tile.h"

#include "util/list.h"

#include <stdlib.h>
#include <string.h>

/* Layers on the host. */

/* A layer of the whole raster, and the window of it that a tile needs. */
typedef struct layer {
    const void *data; /* NULL: absent */
    size_t bytes;     /* of a pixel */
    const qn_window *window;
} layer;

static void list_layers(const qn_sw_city *c, const qn_tile *at, layer out[QN_SW_CUT_LAYERS])
{
    const qn_sw_surface *s = &c->surface;
    const qn_window *outer = &at->outer, *padded = &at->padded;
    const size_t f = sizeof(float);

    out[QN_SW_CUT_DSM] = (layer){ s->dsm.data, f, outer };
    out[QN_SW_CUT_CANOPY] = (layer){ s->cdsm.data, f, outer };
    out[QN_SW_CUT_TRUNK] = (layer){ s->cdsm.data ? s->tdsm.data : NULL, f, outer };
    out[QN_SW_CUT_WALL_HEIGHT] = (layer){ s->wall_height.data, f, outer };
    out[QN_SW_CUT_WALL_RADIANS] = (layer){ c->wall_radians, f, outer };
    out[QN_SW_CUT_CLASS] = (layer){ c->class_of, 1, padded };
    out[QN_SW_CUT_BUILDINGS] = (layer){ c->buildings, 1, padded };
    out[QN_SW_CUT_ALBEDO] = (layer){ c->ground.albedo, f, padded };
    out[QN_SW_CUT_EMISSIVITY] = (layer){ c->ground.emissivity, f, padded };
    out[QN_SW_CUT_PADDED_WALL_HEIGHT] = (layer){ s->wall_height.data, f, padded };
    out[QN_SW_CUT_PADDED_WALL_ASPECT] = (layer){ s->wall_aspect.data, f, padded };
}

qn_status qn_sw_cut_make(const qn_sw_city *city, const qn_tile *place, qn_sw_cut *out, qn_err *err)
{
    const qn_sw_place *whole = &city->surface.dsm.place;
    qn_sw_cut s = { .number = place->number };
    layer layers[QN_SW_CUT_LAYERS];

    list_layers(city, place, layers);
    for (int i = 0; i < QN_SW_CUT_LAYERS; i++) {
        const layer *l = &layers[i];

        if (!l->data)
            continue;
        s.bytes[i] = qn_window_pixels(l->window) * l->bytes;
        if (l->window->rows == whole->rows && l->window->cols == whole->cols) {
            memcpy(&s.data[i], &l->data, sizeof s.data[i]); /* never written */
            s.borrowed |= 1u << i;
        } else if ((s.data[i] = malloc(s.bytes[i]))) {
            qn_window_cut(l->data, whole->cols, l->window, l->bytes, s.data[i]);
        } else {
            qn_sw_cut_free(&s);
            return qn_fail(err, QN_ERR_NOMEM, "no memory for layers of tile %lld",
                           (long long)place->number);
        }
    }
    *out = s;
    return QN_OK;
}

void qn_sw_cut_free(qn_sw_cut *cut)
{
    for (int i = 0; i < QN_SW_CUT_LAYERS; i++)
        if (!(cut->borrowed >> i & 1u))
            free(cut->data[i]);
    *cut = (qn_sw_cut){ 0 };
}

/* Buffers. */

/* Makes buffers around the memory of the cut; none for an absent layer. */
qn_status qn_sw_tile_layers(qn_sw_tile *tile, qn_err *err)
{
    qn_sw_height_bufs *l = &tile->layers;
    qn_sw_ground_maps *m = &tile->maps;
    const struct {
        const char *name;
        qn_buf **buf;
    } to[QN_SW_CUT_LAYERS] = {
        [QN_SW_CUT_DSM] = { "dsm", &l->dsm },
        [QN_SW_CUT_CANOPY] = { "canopy", &l->canopy },
        [QN_SW_CUT_TRUNK] = { "trunk", &l->trunk },
        [QN_SW_CUT_WALL_HEIGHT] = { "wall height", &l->wall_height },
        [QN_SW_CUT_WALL_RADIANS] = { "wall radians", &l->wall_aspect },
        [QN_SW_CUT_CLASS] = { "class of ground", &m->class_of },
        [QN_SW_CUT_BUILDINGS] = { "buildings", &m->buildings },
        [QN_SW_CUT_ALBEDO] = { "albedo", &m->albedo },
        [QN_SW_CUT_EMISSIVITY] = { "emissivity", &m->emissivity },
        [QN_SW_CUT_PADDED_WALL_HEIGHT] = { "padded wall height", &m->wall_height },
        [QN_SW_CUT_PADDED_WALL_ASPECT] = { "wall aspect", &m->wall_aspect },
    };
    qn_ctx *ctx = tile->scene->ctx;
    qn_status st = QN_OK;

    for (int i = 0; i < QN_SW_CUT_LAYERS; i++)
        if (tile->cut.data[i])
            QN_TRY(qn_buf_wrap(ctx, to[i].name, tile->cut.data[i], tile->cut.bytes[i], to[i].buf,
                               err));
out:
    return st;
}

/* Converts the bytes of a file, [pixel][byte], to words of 32 patches, [word][pixel]. */
static qn_status cut_bits(qn_sw_tile *tile, const char *name, const uint8_t *matrix, int n_bytes,
                          qn_buf **out, qn_err *err)
{
    const qn_window *w = &tile->place.padded;
    const qn_i64 cols = tile->scene->city->surface.dsm.place.cols;
    const size_t n_words = (size_t)(n_bytes + 3) / 4, pixels = qn_window_pixels(w);
    void *host = NULL;
    uint32_t *word;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_buf_new(tile->scene->ctx, name, pixels * n_words, sizeof *word, out, err));
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

/* Copies planes of a window, one after the other, into one buffer. */
static qn_status cut_planes(qn_sw_tile *tile, const char *name, float *const *maps, int n,
                            qn_buf **out, qn_err *err)
{
    const qn_window *w = &tile->place.padded;
    const qn_i64 cols = tile->scene->city->surface.dsm.place.cols;
    void *host = NULL;
    float *to;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_buf_new(tile->scene->ctx, name, qn_window_pixels(w) * (size_t)n, sizeof *to, out,
                         err));
    QN_TRY(qn_buf_host(*out, QN_HOST_DISCARD, &host, err));
    to = host;
    for (int p = 0; p < n; p++, to += qn_window_pixels(w))
        qn_window_cut(maps[p], cols, w, sizeof *to, to);
out:
    return st;
}

qn_status qn_sw_tile_cached(qn_sw_tile *tile, qn_err *err)
{
    const qn_sw_svf_arrays *cached = tile->scene->cached;
    qn_status st = QN_OK;

    if (tile->scene->config->options.sky == QN_SW_ISOTROPIC)
        return cut_planes(tile, "svf", cached->map, SW_VIEW_PLANES, &tile->svf, err);
    QN_TRY(cut_planes(tile, "svf", &cached->map[SW_SVF], 1, &tile->svf, err));
    QN_TRY(cut_planes(tile, "svf of leaves", &cached->map[SW_VEG], 1, &tile->veg, err));
    QN_TRY(cut_bits(tile, "sky bits", cached->matrix[0], cached->n_bytes, &tile->views.bldg, err));
    if (tile->layers.canopy) {
        QN_TRY(
            cut_bits(tile, "leaf bits", cached->matrix[1], cached->n_bytes, &tile->views.veg, err));
        QN_TRY(cut_bits(tile, "bits of both", cached->matrix[2], cached->n_bytes, &tile->views.vb,
                        err));
    }
out:
    return st;
}

/* Results. */

/* The buffer of a plane, its number in the buffer, and the stage that computes it. */
typedef struct source {
    qn_buf *buf;
    int plane;
    const char *stage;
} source;

static source source_of(const qn_sw_tile *tile, qn_sw_plane plane)
{
    const int is_aniso = tile->scene->config->options.sky == QN_SW_ANISOTROPIC;
    const char *const sky = is_aniso ? "aniso" : "radiation";
    const source sources[QN_SW_PLANES] = {
        [QN_SW_TMRT] = { tile->tmrt, 0, "tmrt" },
        [QN_SW_UTCI] = { tile->utci, 0, "utci" },
        [QN_SW_PET] = { tile->pet, 0, "pet" },
        [QN_SW_SHADOW] = { tile->shade, 0, "shadow" },
        [QN_SW_KDOWN] = { tile->radiation->planes, SW_KDOWN, sky },
        [QN_SW_KUP] = { tile->radiation->planes, SW_KUP, sky },
        [QN_SW_LDOWN] = { tile->radiation->planes, SW_LDOWN, sky },
        [QN_SW_LUP] = { tile->gvf->lup, SW_ALL, "delay" },
    };

    return sources[plane];
}

const char *qn_sw_tile_stage_name(const qn_sw_tile *tile, qn_sw_plane plane)
{
    return source_of(tile, plane).stage;
}

/* Bytes before pixel (row, col) of the raster. */
static size_t offset_of(const qn_sw_tile *tile, int plane, qn_i64 row, qn_i64 col)
{
    const qn_window *padded = &tile->place.padded;

    return ((size_t)plane * qn_window_pixels(padded) +
            (size_t)((row - padded->row) * padded->cols + col - padded->col)) *
           sizeof(float);
}

qn_status qn_sw_tile_read(qn_sw_tile *tile, qn_sw_plane plane, float *out, qn_err *err)
{
    const qn_window *core = &tile->place.core;
    const source from = source_of(tile, plane);

    return qn_buf_read_rect(from.buf, offset_of(tile, from.plane, core->row, core->col),
                            (size_t)core->cols * sizeof(float), (size_t)core->rows,
                            (size_t)tile->place.padded.cols * sizeof(float), out, err);
}

qn_status qn_sw_tile_pixel(qn_sw_tile *tile, qn_sw_plane plane, qn_i64 row, qn_i64 col, float *out,
                           qn_err *err)
{
    const source from = source_of(tile, plane);

    return qn_buf_read(from.buf, offset_of(tile, from.plane, row, col), out, sizeof *out, err);
}

/* After the last step the shadow is no longer needed, so its buffer is used for grids. */
qn_status qn_sw_tile_grid(qn_sw_tile *tile, int which, float *out, qn_err *err)
{
    const size_t bytes = qn_window_pixels(&tile->place.core) * sizeof *out;
    qn_ctx *ctx = tile->scene->ctx;
    qn_buf *grid = tile->shade;
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(ctx, "summary grid", &graph, err));
    QN_TRY(qn_sw_add_summary_grid(tile->summary, graph, which, grid, err));
    QN_TRY(qn_tile_pin(tile->slot, graph, err));
    QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_graph_wait(graph, err));
    QN_TRY(qn_buf_read(grid, 0, out, bytes, err));
out:
    qn_graph_free(graph);
    return st;
}

/* State between steps. */

enum { PIECE = 32 << 20 };

enum { PARTS = 5 };

static qn_buf *part_of(const qn_sw_tile *tile, int part)
{
    const qn_sw_summary *s = tile->summary;
    qn_buf *const parts[PARTS] = { tile->state, s->sums, s->extremes, s->counts, s->records };

    return parts[part];
}

size_t qn_sw_tile_state_bytes(const qn_sw_tile *tile)
{
    size_t bytes = 0;

    for (int i = 0; i < PARTS; i++)
        bytes += qn_buf_bytes(part_of(tile, i));
    return bytes;
}

/* Copies all parts in pieces, from the tile to the file or back. */
static qn_status copy_state(qn_sw_tile *tile, FILE *file, int is_saving, qn_err *err)
{
    char *piece = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(piece, PIECE, "a checkpoint", err));
    for (int i = 0; i < PARTS; i++) {
        qn_buf *part = part_of(tile, i);

        for (size_t at = 0, n, bytes = qn_buf_bytes(part); at < bytes; at += n) {
            n = bytes - at < PIECE ? bytes - at : PIECE;
            if (is_saving) {
                QN_TRY(qn_buf_read(part, at, piece, n, err));
                fwrite(piece, 1, n, file); /* the caller looks at ferror */
            } else if (fread(piece, 1, n, file) == n) {
                QN_TRY(qn_buf_write(part, at, piece, n, err));
            } else {
                QN_FAIL(err, QN_ERR_INPUT, "a checkpoint is shorter than the state of a tile");
            }
        }
    }
out:
    free(piece);
    return st;
}

qn_status qn_sw_tile_save(qn_sw_tile *tile, FILE *to, qn_err *err)
{
    return copy_state(tile, to, 1, err);
}

qn_status qn_sw_tile_load(qn_sw_tile *tile, FILE *from, size_t step, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(copy_state(tile, from, 0, err));
    QN_TRY(qn_sw_step_table_seek(tile->scene->forcing->table, (int)step, err));
out:
    return st;
}

/* shadow.c - shadow rasters, and the stages that cast their rays. */
#include "shadow.h"

#include "kernel/sw_cover.gen.h"
#include "kernel/sw_sun.gen.h"
#include "kernel/sw_sun_tile.gen.h"

#include "util/list.h"

#include <math.h>
#include <stdlib.h>

/* The same values as in the kernel files. */
enum { ROW_COLS = 16, TILE_SIDE = 8 };

static qn_status check_area(const qn_sw_area *a, qn_err *err)
{
    if (a->rows < 1 || a->cols < 1 || a->rows > QN_MAX_AXIS || a->cols > QN_MAX_AXIS)
        return qn_fail(err, QN_ERR_LIMIT, "raster of %d x %d pixels, sides must be 1 to %d",
                       a->rows, a->cols, QN_MAX_AXIS);
    if (!isfinite(a->gmax))
        return qn_fail(err, QN_ERR_INPUT, "greatest height %g is not finite", (double)a->gmax);
    if (a->core_rows &&
        (a->core_row < 0 || a->core_col < 0 || a->core_rows < 0 || a->core_cols < 1 ||
         a->core_row > a->rows - a->core_rows || a->core_col > a->cols - a->core_cols))
        return qn_fail(err, QN_ERR_INPUT,
                       "core of %d x %d pixels at row %d, column %d of a raster of %d x %d",
                       a->core_rows, a->core_cols, a->core_row, a->core_col, a->rows, a->cols);
    return QN_OK;
}

/* Checks that a layer has rows x cols floats; NULL is fine for optional layers. */
static qn_status check_layer(const qn_sw_area *a, const char *name, const qn_buf *layer,
                             qn_err *err)
{
    const size_t bytes = (size_t)a->rows * (size_t)a->cols * sizeof(float);

    if (layer && qn_buf_bytes(layer) < bytes)
        return qn_fail(err, QN_ERR_INPUT, "%s has %zu bytes, %d x %d pixels need %zu", name,
                       qn_buf_bytes(layer), a->rows, a->cols, bytes);
    return QN_OK;
}

static qn_status check_layers(const qn_sw_area *a, const qn_sw_height_bufs *l, qn_err *err)
{
    qn_status st = QN_OK;

    if (!l->dsm)
        return qn_fail(err, QN_ERR_USAGE, "a raster of shadows needs a DSM");
    if (!l->canopy != !l->trunk)
        return qn_fail(err, QN_ERR_USAGE, "a canopy needs a trunk zone, and a trunk zone a canopy");
    if (!l->wall_height != !l->wall_aspect)
        return qn_fail(err, QN_ERR_USAGE, "walls need heights and aspects");
    QN_TRY(check_layer(a, "DSM", l->dsm, err));
    QN_TRY(check_layer(a, "canopy", l->canopy, err));
    QN_TRY(check_layer(a, "trunk zone", l->trunk, err));
    QN_TRY(check_layer(a, "wall height", l->wall_height, err));
    QN_TRY(check_layer(a, "wall aspect", l->wall_aspect, err));
out:
    return st;
}

static int has_gpu(const qn_ctx *ctx)
{
    for (int i = 0; i < qn_device_count(ctx); i++) {
        const qn_device_kind kind = qn_device_get(ctx, i)->kind;

        if (kind == QN_KIND_DISCRETE || kind == QN_KIND_INTEGRATED)
            return 1;
    }
    return 0;
}

static sw_grid grid_of(const qn_sw_area *a, const qn_sw_height_bufs *l)
{
    const int is_whole = a->core_rows == 0;

    return (sw_grid){ .rows = a->rows,
                      .cols = a->cols,
                      .core_row = is_whole ? 0 : a->core_row,
                      .core_col = is_whole ? 0 : a->core_col,
                      .core_rows = is_whole ? a->rows : a->core_rows,
                      .core_cols = is_whole ? a->cols : a->core_cols,
                      .has_veg = l->canopy != NULL,
                      .has_walls = l->wall_height != NULL,
                      .exits = SW_EXITS & ~a->exits_off,
                      .gmax = a->gmax };
}

static qn_status make_planes(qn_sw_shadow_raster *s, qn_err *err)
{
    const size_t bytes = (size_t)s->par.rows * (size_t)s->par.cols * sizeof(float);
    qn_status st = QN_OK;

    QN_TRY(qn_buf_new(s->ctx, "sw no detail", sizeof(float), &s->no_detail, err));
    QN_TRY(qn_buf_new(s->ctx, "sw top", bytes, &s->top, err));
    if (s->par.has_veg) {
        QN_TRY(qn_buf_new(s->ctx, "sw leaf top", bytes, &s->leaf_top, err));
        QN_TRY(qn_buf_new(s->ctx, "sw high", bytes, &s->high, err));
        QN_TRY(qn_buf_new(s->ctx, "sw low", bytes, &s->low, err));
    }
out:
    return st;
}

static qn_buf *or_ground(qn_buf *layer, const qn_sw_height_bufs *l)
{
    return layer ? layer : l->dsm;
}

qn_status qn_sw_shadow_new(qn_ctx *ctx, const qn_sw_area *area, const qn_sw_height_bufs *layers,
                           qn_sw_shadow_raster **out, qn_err *err)
{
    qn_sw_shadow_raster *s = NULL;
    qn_status st = QN_OK;

    QN_TRY(check_area(area, err));
    QN_TRY(check_layers(area, layers, err));
    QN_TRY(QN_NEW(s, 1, "a raster of shadows", err));
    s->ctx = ctx;
    s->par = grid_of(area, layers);
    s->has_tiles =
        area->lanes == QN_SW_LANES_AUTO ? has_gpu(ctx) : area->lanes == QN_SW_LANES_TILES;
    s->layers = (qn_sw_height_bufs){ .dsm = layers->dsm,
                                     .canopy = or_ground(layers->canopy, layers),
                                     .trunk = or_ground(layers->trunk, layers),
                                     .wall_height = or_ground(layers->wall_height, layers),
                                     .wall_aspect = or_ground(layers->wall_aspect, layers) };
    QN_TRY(make_planes(s, err));
    *out = s;
    s = NULL;
out:
    qn_sw_shadow_free(s);
    return st;
}

void qn_sw_shadow_free(qn_sw_shadow_raster *shadow)
{
    if (!shadow)
        return;
    qn_buf_free(shadow->no_detail);
    qn_buf_free(shadow->high);
    qn_buf_free(shadow->low);
    qn_buf_free(shadow->top);
    qn_buf_free(shadow->leaf_top);
    free(shadow);
}

qn_range qn_sw_march_range(const qn_sw_shadow_raster *shadow, int n_words)
{
    const int cols = shadow->has_tiles ? TILE_SIDE : ROW_COLS;
    const int rows = shadow->has_tiles ? TILE_SIDE : 1;

    return qn_range_3d((shadow->par.core_cols + cols - 1) / cols,
                       (shadow->par.core_rows + rows - 1) / rows, n_words);
}

/* Planes for casting rays. */

/* Computes the maximum of each window of SW_LEG_STEPS x SW_LEG_STEPS pixels of `from` in `to`. */
static qn_status add_windows(qn_sw_shadow_raster *s, qn_graph *graph, qn_buf *from, qn_buf *to,
                             qn_err *err)
{
    const qn_range pixels = qn_range_2d(s->par.cols, s->par.rows);
    const size_t bytes = qn_buf_bytes(to);
    qn_buf *two = NULL, *four = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_temp(graph, "sw windows of 2", bytes, &two, err));
    QN_TRY(qn_graph_temp(graph, "sw windows of 4", bytes, &four, err));
    QN_TRY(stage_sw_window(graph, "shadow", pixels, s->par, 1, from, two, err));
    QN_TRY(stage_sw_window(graph, "shadow", pixels, s->par, 2, two, four, err));
    QN_TRY(stage_sw_window(graph, "shadow", pixels, s->par, 4, four, to, err));
out:
    return st;
}

qn_status qn_sw_add_cover(qn_sw_shadow_raster *shadow, qn_graph *graph, qn_err *err)
{
    qn_sw_shadow_raster *s = shadow;
    qn_buf *highest = s->layers.dsm;
    qn_status st = QN_OK;

    if (s->par.has_veg) {
        QN_TRY(qn_graph_temp(graph, "sw highest", qn_buf_bytes(s->top), &highest, err));
        QN_TRY(stage_sw_cover(graph, "shadow", qn_range_2d(s->par.cols, s->par.rows), s->par,
                              s->layers.dsm, s->layers.canopy, s->layers.trunk, s->high, s->low,
                              highest, err));
        QN_TRY(add_windows(s, graph, s->high, s->leaf_top, err));
    }
    QN_TRY(add_windows(s, graph, highest, s->top, err));
out:
    return st;
}

qn_status qn_sw_add_shadow(qn_sw_shadow_raster *shadow, qn_graph *graph, const qn_sw_rays *rays,
                           qn_buf *which, const qn_sw_shade *out, qn_err *err)
{
    const qn_sw_shadow_raster *s = shadow;
    const qn_range groups = qn_sw_march_range(s, 1);
    qn_buf *const high = or_ground(s->high, &s->layers), *const low = or_ground(s->low, &s->layers);
    qn_buf *const leaf_top = or_ground(s->leaf_top, &s->layers);
    qn_buf *detail = out->detail ? out->detail : s->no_detail;
    sw_grid par = s->par;
    qn_status st = QN_OK;

    par.n_rays = rays->n;
    par.has_detail = out->detail != NULL;
    if (s->has_tiles)
        QN_TRY(stage_sw_sun_tile(graph, "shadow", groups, par, which, rays->rays, rays->legs,
                                 rays->steps, s->layers.dsm, s->layers.canopy, high, low, s->top,
                                 leaf_top, s->layers.wall_height, s->layers.wall_aspect,
                                 out->shadow, out->wall_sun, detail, err));
    else
        QN_TRY(stage_sw_sun(graph, "shadow", groups, par, which, rays->rays, rays->legs,
                            rays->steps, s->layers.dsm, s->layers.canopy, high, low, s->top,
                            leaf_top, s->layers.wall_height, s->layers.wall_aspect, out->shadow,
                            out->wall_sun, detail, err));
out:
    return st;
}

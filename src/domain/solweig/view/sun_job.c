/* sun_job.c - layers of a tile up, one graph, its core down. */
#include "sun_job.h"

#include "tile_run.h"

#include "domain/solweig/shadow/shadow.h"

/* Planes of a tile, 4 bytes each: three heights, four that marches need and five while those are
 * made; without vegetation one, one and two. */
enum { SUN_PLANES = 12, SUN_PLANES_BARE = 4, SUN_RESULTS = 2, WALL_PLANES = 4, IN_FLIGHT = 1 };

static qn_status check_sides(const qn_sw_place *place, qn_err *err)
{
    if (place->rows < 1 || place->cols < 1 || place->rows > QN_MAX_AXIS ||
        place->cols > QN_MAX_AXIS)
        return qn_fail(err, QN_ERR_LIMIT, "raster of %lld x %lld pixels, sides must be 1 to %d",
                       (long long)place->rows, (long long)place->cols, QN_MAX_AXIS);
    return QN_OK;
}

static void choose_tiles(qn_ctx *ctx, qn_sw_tiles *tiles, qn_i64 core)
{
    if (core)
        qn_sw_tiles_set(tiles, core);
    else
        qn_sw_tiles_fit(ctx, tiles, IN_FLIGHT);
}

/* One sun. */

/* The march of one sun over a tile. */
typedef struct march {
    qn_ctx *ctx;
    const qn_sw_surface *surface;
    const qn_sw_beam *beam;
    qn_sw_raster *out;
    qn_sw_reach reach; /* over the whole raster */
    float gmax;
    int has_veg;
    qn_sw_layers layers;
    qn_sw_shadow *shadow;
    qn_sw_rays *rays;
    qn_sw_shade shade;
    qn_buf *which;
} march;

static void clear_march(void *user)
{
    march *m = user;

    qn_sw_shadow_free(m->shadow);
    qn_sw_rays_free(m->rays);
    qn_buf_free(m->which);
    qn_buf_free(m->shade.shadow);
    qn_buf_free(m->shade.wall_sun);
    qn_buf_free(m->layers.dsm);
    qn_buf_free(m->layers.canopy);
    qn_buf_free(m->layers.trunk);
    m->shadow = NULL;
    m->rays = NULL;
    m->which = NULL;
    m->shade = (qn_sw_shade){ 0 };
    m->layers = (qn_sw_layers){ 0 };
}

static qn_status make_buffers(march *m, const qn_sw_tile_cut *at, qn_err *err)
{
    const size_t bytes = (size_t)at->core.rows * (size_t)at->core.cols * sizeof(float);
    const qn_sw_surface *s = m->surface;
    const int32_t first = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_window_upload(m->ctx, "sw dsm", &s->dsm, &at->area, &m->layers.dsm, err));
    if (m->has_veg) {
        QN_TRY(
            qn_sw_window_upload(m->ctx, "sw canopy", &s->cdsm, &at->area, &m->layers.canopy, err));
        QN_TRY(qn_sw_window_upload(m->ctx, "sw trunk", &s->tdsm, &at->area, &m->layers.trunk, err));
    }
    QN_TRY(qn_buf_new(m->ctx, "sw which", sizeof first, &m->which, err));
    QN_TRY(qn_buf_write(m->which, 0, &first, sizeof first, err));
    QN_TRY(qn_buf_new(m->ctx, "sw shadow", bytes, &m->shade.shadow, err));
    QN_TRY(qn_buf_new(m->ctx, "sw wall sun", bytes, &m->shade.wall_sun, err));
out:
    return st;
}

static qn_status build_march(void *user, const qn_sw_tile_cut *at, qn_graph *graph, qn_err *err)
{
    march *m = user;
    const qn_sw_area area = { .rows = (int)at->area.rows,
                              .cols = (int)at->area.cols,
                              .core_row = (int)(at->core.row - at->area.row),
                              .core_col = (int)(at->core.col - at->area.col),
                              .core_rows = (int)at->core.rows,
                              .core_cols = (int)at->core.cols,
                              .gmax = m->gmax };
    qn_sw_reach reach = m->reach;
    qn_status st = QN_OK;

    reach.rows = area.rows;
    reach.cols = area.cols;
    QN_TRY(make_buffers(m, at, err));
    QN_TRY(qn_sw_rays_new(m->ctx, &reach, m->beam, 1, &m->rays, err));
    QN_TRY(qn_sw_shadow_new(m->ctx, &area, &m->layers, &m->shadow, err));
    QN_TRY(qn_sw_add_cover(m->shadow, graph, err));
    QN_TRY(qn_sw_add_shadow(m->shadow, graph, m->rays, m->which, &m->shade, err));
out:
    return st;
}

static qn_status collect_march(void *user, const qn_sw_tile_cut *at, qn_err *err)
{
    march *m = user;

    return qn_sw_window_collect(m->ctx, m->shade.shadow, at->core.cols, 0, 0, &at->core, m->out,
                                err);
}

qn_status qn_sw_shadow_compute(qn_ctx *ctx, const qn_sw_surface *surface, const qn_sw_beam *beam,
                               const qn_sw_sun_options *options, qn_sw_raster *out, qn_err *err)
{
    const qn_sw_place *place = &surface->dsm.place;
    const qn_sw_relief relief = qn_sw_relief_of(surface);
    const int has_veg = surface->cdsm.data && surface->tdsm.data;
    qn_sw_raster result = { 0 };
    march m = { .ctx = ctx,
                .surface = surface,
                .beam = beam,
                .out = &result,
                .has_veg = has_veg,
                .gmax = has_veg ? relief.top : relief.highest,
                .reach = { .rows = (int)place->rows,
                           .cols = (int)place->cols,
                           .px = (float)place->pixel_size,
                           .max_height = has_veg ? relief.max_height : relief.max_building,
                           .max_dist = (float)options->max_dist } };
    const qn_sw_tile_work work = { "shadow", &m, build_march, collect_march, clear_march };
    qn_sw_tiles tiles = { .rows = place->rows,
                          .cols = place->cols,
                          .area_bytes = 4.0 * (has_veg ? SUN_PLANES : SUN_PLANES_BARE),
                          .core_bytes = 4.0 * SUN_RESULTS,
                          .widest_bytes = 4 };
    qn_status st = QN_OK;

    QN_TRY(check_sides(place, err));
    QN_TRY(qn_sw_raster_new(place, &result, err));
    QN_TRY(qn_sw_ray_pixels(&m.reach, beam, &tiles.overlap, err));
    choose_tiles(ctx, &tiles, options->tile);
    QN_TRY(qn_sw_tiles_run(ctx, &tiles, &work, err));
    *out = result;
    result = (qn_sw_raster){ 0 };
out:
    qn_sw_raster_free(&result);
    return st;
}

/* Walls. */

typedef struct wall_job {
    qn_ctx *ctx;
    const qn_sw_raster *from;
    float limit;
    qn_sw_raster height_out, aspect_out;
    qn_sw_walls *walls;
    qn_buf *dsm, *height, *degrees, *radians;
} wall_job;

static void clear_walls(void *user)
{
    wall_job *w = user;

    qn_buf_free(w->dsm);
    qn_buf_free(w->height);
    qn_buf_free(w->degrees);
    qn_buf_free(w->radians);
    qn_sw_walls_free(w->walls);
    w->dsm = w->height = w->degrees = w->radians = NULL;
    w->walls = NULL;
}

static qn_status build_walls(void *user, const qn_sw_tile_cut *at, qn_graph *graph, qn_err *err)
{
    wall_job *w = user;
    const size_t bytes = (size_t)at->area.rows * (size_t)at->area.cols * sizeof(float);
    qn_status st = QN_OK;

    QN_TRY(qn_sw_walls_new(w->ctx, (int)at->area.rows, (int)at->area.cols,
                           (float)w->from->place.pixel_size, w->limit, &w->walls, err));
    QN_TRY(qn_sw_window_upload(w->ctx, "sw dsm", w->from, &at->area, &w->dsm, err));
    QN_TRY(qn_buf_new(w->ctx, "sw wall height", bytes, &w->height, err));
    QN_TRY(qn_buf_new(w->ctx, "sw wall degrees", bytes, &w->degrees, err));
    QN_TRY(qn_buf_new(w->ctx, "sw wall radians", bytes, &w->radians, err));
    QN_TRY(qn_sw_add_walls(w->walls, graph, w->dsm, w->height, w->degrees, w->radians, err));
out:
    return st;
}

static qn_status collect_walls(void *user, const qn_sw_tile_cut *at, qn_err *err)
{
    wall_job *w = user;
    const qn_i64 row = at->core.row - at->area.row, col = at->core.col - at->area.col;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_window_collect(w->ctx, w->height, at->area.cols, row, col, &at->core,
                                &w->height_out, err));
    QN_TRY(qn_sw_window_collect(w->ctx, w->degrees, at->area.cols, row, col, &at->core,
                                &w->aspect_out, err));
out:
    return st;
}

/* Pixels around one that decide about its wall. */
static qn_status walls_reach(wall_job *w, int *out, qn_err *err)
{
    const qn_status st =
        qn_sw_walls_new(w->ctx, 1, 1, (float)w->from->place.pixel_size, w->limit, &w->walls, err);

    if (st == QN_OK)
        *out = qn_sw_wall_reach(w->walls);
    clear_walls(w);
    return st;
}

qn_status qn_sw_walls_compute(qn_ctx *ctx, const qn_sw_raster *dsm,
                              const qn_sw_walls_options *options, qn_sw_raster *height,
                              qn_sw_raster *aspect, qn_err *err)
{
    wall_job w = { .ctx = ctx, .from = dsm, .limit = (float)options->limit };
    const qn_sw_tile_work work = { "walls", &w, build_walls, collect_walls, clear_walls };
    qn_sw_tiles tiles = { .rows = dsm->place.rows,
                          .cols = dsm->place.cols,
                          .area_bytes = 4.0 * WALL_PLANES };
    qn_status st = QN_OK;

    QN_TRY(check_sides(&dsm->place, err));
    QN_TRY(qn_sw_raster_new(&dsm->place, &w.height_out, err));
    QN_TRY(qn_sw_raster_new(&dsm->place, &w.aspect_out, err));
    QN_TRY(walls_reach(&w, &tiles.overlap, err));
    choose_tiles(ctx, &tiles, options->tile);
    QN_TRY(qn_sw_tiles_run(ctx, &tiles, &work, err));
    *height = w.height_out;
    *aspect = w.aspect_out;
    w.height_out = w.aspect_out = (qn_sw_raster){ 0 };
out:
    qn_sw_raster_free(&w.height_out);
    qn_sw_raster_free(&w.aspect_out);
    return st;
}

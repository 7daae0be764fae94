/* shadow.c - shadows for one position of the sun, and walls: uploads the layers of a tile, runs one
 * graph, downloads the core. */
#include "view.h"

/* Planes of a tile, 4 bytes each: three of heights, four for casting rays, and five while those are
 * made; without vegetation one, one and two. */
enum { SUN_PLANES = 12, SUN_PLANES_BARE = 4, SUN_RESULTS = 2, WALL_PLANES = 4 };

/* Shadow. */

typedef struct sun_job {
    qn_ctx *ctx;
    const qn_sw_surface *surface;
    const qn_sw_beam *beam;
    qn_sw_raster out;
    qn_sw_ray_limits limits; /* over the whole raster */
    float gmax;
    int has_veg;
    qn_graph *graph; /* this and what follows: of a tile */
    qn_sw_height_bufs layers;
    qn_sw_shadow_raster *shadow;
    qn_sw_rays *rays;
    qn_sw_shade shade;
    qn_buf *which;
} sun_job;

static void clear_sun(void *user, QN_UNUSED qn_tile_slot *slot)
{
    sun_job *j = user;

    qn_graph_free(j->graph);
    qn_sw_shadow_free(j->shadow);
    qn_sw_rays_free(j->rays);
    qn_buf_free(j->which);
    qn_buf_free(j->shade.shadow);
    qn_buf_free(j->shade.wall_sun);
    qn_sw_heights_free(&j->layers);
    j->graph = NULL;
    j->shadow = NULL;
    j->rays = NULL;
    j->which = NULL;
    j->shade = (qn_sw_shade){ 0 };
}

static qn_status make_buffers(sun_job *j, const qn_tile *tile, qn_err *err)
{
    const size_t bytes = qn_window_pixels(&tile->core) * sizeof(float);
    const int32_t first = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_heights_upload(j->ctx, j->surface, j->has_veg, tile, &j->layers, err));
    QN_TRY(qn_buf_new(j->ctx, "sw which", sizeof first, &j->which, err));
    QN_TRY(qn_buf_write(j->which, 0, &first, sizeof first, err));
    QN_TRY(qn_buf_new(j->ctx, "sw shadow", bytes, &j->shade.shadow, err));
    QN_TRY(qn_buf_new(j->ctx, "sw wall sun", bytes, &j->shade.wall_sun, err));
out:
    return st;
}

static qn_status begin_sun(void *user, qn_tile_slot *slot, qn_err *err)
{
    sun_job *j = user;
    const qn_sw_area area = qn_sw_area_of(&slot->tile, j->gmax);
    qn_sw_ray_limits limits = j->limits;
    qn_status st = QN_OK;

    limits.rows = area.rows;
    limits.cols = area.cols;
    QN_TRY(qn_graph_new(j->ctx, "shadow", &j->graph, err));
    QN_TRY(make_buffers(j, &slot->tile, err));
    QN_TRY(qn_sw_rays_new(j->ctx, &limits, j->beam, 1, &j->rays, err));
    QN_TRY(qn_sw_shadow_new(j->ctx, &area, &j->layers, &j->shadow, err));
    QN_TRY(qn_sw_add_cover(j->shadow, j->graph, err));
    QN_TRY(qn_sw_add_shadow(j->shadow, j->graph, j->rays, j->which, &j->shade, err));
    QN_TRY(qn_sw_tile_start(slot, j->graph, err));
out:
    return st;
}

static qn_status collect_sun(void *user, qn_tile_slot *slot, qn_err *err)
{
    sun_job *j = user;
    const qn_window *core = &slot->tile.core;
    const qn_tile_source from = { j->shade.shadow, 0, core->cols, sizeof(float) };
    qn_status st = QN_OK;

    QN_TRY(qn_graph_wait(j->graph, err));
    QN_TRY(qn_tile_download(&from, core, j->out.data, j->out.place.cols, err));
out:
    return st;
}

qn_status qn_sw_shadow_compute(qn_ctx *ctx, const qn_sw_surface *surface, const qn_sw_beam *beam,
                               const qn_sw_sun_job *options, qn_sw_raster *out, qn_err *err)
{
    const qn_sw_place *place = &surface->dsm.place;
    const qn_sw_relief relief = qn_sw_relief_of(surface);
    const int has_veg = surface->cdsm.data && surface->tdsm.data;
    sun_job j = { .ctx = ctx,
                  .surface = surface,
                  .beam = beam,
                  .has_veg = has_veg,
                  .gmax = has_veg ? relief.top : relief.highest,
                  .limits = { .rows = (int)place->rows,
                              .cols = (int)place->cols,
                              .px = (float)place->pixel_size,
                              .max_height = has_veg ? relief.max_height : relief.max_building,
                              .max_dist = (float)options->max_dist } };
    const qn_tile_work work = { .stage = "shadow",
                                .user = &j,
                                .begin = begin_sun,
                                .collect = collect_sun,
                                .clear = clear_sun };
    qn_tiles_needs needs = { .core = options->tile,
                             .cost = { .device = 4.0 * (has_veg ? SUN_PLANES : SUN_PLANES_BARE),
                                       .device_core = 4.0 * SUN_RESULTS,
                                       .widest_core = 4 } };
    qn_tiles tiles;
    int border = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_ray_pixels(&j.limits, beam, &border, err));
    needs.border = border;
    QN_TRY(qn_sw_tiles_of(ctx, place, &needs, &tiles, err));
    QN_TRY(qn_sw_raster_new(place, &j.out, err));
    QN_TRY(qn_tiles_run(ctx, &tiles, &work, NULL, err));
    *out = j.out;
    j.out = (qn_sw_raster){ 0 };
out:
    qn_sw_raster_free(&j.out);
    return st;
}

/* Walls. */

typedef struct wall_job {
    qn_ctx *ctx;
    const qn_sw_raster *from;
    float limit;
    qn_sw_raster height_out, aspect_out;
    qn_graph *graph; /* this and what follows: of a tile */
    qn_sw_wall_filters *walls;
    qn_buf *dsm, *height, *degrees, *radians;
} wall_job;

static void clear_walls(void *user, QN_UNUSED qn_tile_slot *slot)
{
    wall_job *j = user;

    qn_graph_free(j->graph);
    qn_buf_free(j->dsm);
    qn_buf_free(j->height);
    qn_buf_free(j->degrees);
    qn_buf_free(j->radians);
    qn_sw_walls_free(j->walls);
    j->graph = NULL;
    j->dsm = j->height = j->degrees = j->radians = NULL;
    j->walls = NULL;
}

static qn_status begin_walls(void *user, qn_tile_slot *slot, qn_err *err)
{
    wall_job *j = user;
    const qn_window *outer = &slot->tile.outer;
    const size_t bytes = qn_window_pixels(outer) * sizeof(float);
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(j->ctx, "walls", &j->graph, err));
    QN_TRY(qn_sw_walls_new(j->ctx, (int)outer->rows, (int)outer->cols,
                           (float)j->from->place.pixel_size, j->limit, &j->walls, err));
    QN_TRY(
        qn_tile_upload(j->ctx, "sw dsm", j->from->data, j->from->place.cols, outer, &j->dsm, err));
    QN_TRY(qn_buf_new(j->ctx, "sw wall height", bytes, &j->height, err));
    QN_TRY(qn_buf_new(j->ctx, "sw wall degrees", bytes, &j->degrees, err));
    QN_TRY(qn_buf_new(j->ctx, "sw wall radians", bytes, &j->radians, err));
    QN_TRY(qn_sw_add_walls(j->walls, j->graph, j->dsm, j->height, j->degrees, j->radians, err));
    QN_TRY(qn_sw_tile_start(slot, j->graph, err));
out:
    return st;
}

static qn_status collect_walls(void *user, qn_tile_slot *slot, qn_err *err)
{
    wall_job *j = user;
    const qn_window *core = &slot->tile.core, *outer = &slot->tile.outer;
    const qn_i64 first = (core->row - outer->row) * outer->cols + core->col - outer->col;
    const qn_i64 cols = j->from->place.cols;
    qn_tile_source from = { j->height, (size_t)first * sizeof(float), outer->cols, sizeof(float) };
    qn_status st = QN_OK;

    QN_TRY(qn_graph_wait(j->graph, err));
    QN_TRY(qn_tile_download(&from, core, j->height_out.data, cols, err));
    from.buf = j->degrees;
    QN_TRY(qn_tile_download(&from, core, j->aspect_out.data, cols, err));
out:
    return st;
}

/* How many pixels around a pixel its wall depends on. */
static qn_status wall_border(const wall_job *j, qn_i64 *out, qn_err *err)
{
    qn_sw_wall_filters *walls = NULL;
    const qn_status st =
        qn_sw_walls_new(j->ctx, 1, 1, (float)j->from->place.pixel_size, j->limit, &walls, err);

    if (st == QN_OK)
        *out = qn_sw_wall_reach(walls);
    qn_sw_walls_free(walls);
    return st;
}

qn_status qn_sw_walls_compute(qn_ctx *ctx, const qn_sw_raster *dsm, const qn_sw_wall_job *options,
                              qn_sw_raster *height, qn_sw_raster *aspect, qn_err *err)
{
    wall_job j = { .ctx = ctx, .from = dsm, .limit = (float)options->limit };
    const qn_tile_work work = { .stage = "walls",
                                .user = &j,
                                .begin = begin_walls,
                                .collect = collect_walls,
                                .clear = clear_walls };
    qn_tiles_needs needs = { .core = options->tile, .cost = { .device = 4.0 * WALL_PLANES } };
    qn_tiles tiles;
    qn_status st = QN_OK;

    QN_TRY(wall_border(&j, &needs.border, err));
    QN_TRY(qn_sw_tiles_of(ctx, &dsm->place, &needs, &tiles, err));
    QN_TRY(qn_sw_raster_new(&dsm->place, &j.height_out, err));
    QN_TRY(qn_sw_raster_new(&dsm->place, &j.aspect_out, err));
    QN_TRY(qn_tiles_run(ctx, &tiles, &work, NULL, err));
    *height = j.height_out;
    *aspect = j.aspect_out;
    j.height_out = j.aspect_out = (qn_sw_raster){ 0 };
out:
    qn_sw_raster_free(&j.height_out);
    qn_sw_raster_free(&j.aspect_out);
    return st;
}

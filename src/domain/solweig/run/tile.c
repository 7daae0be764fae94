/* tile.c - the graphs of a tile.
 *
 * With an anisotropic sky a step reads only two of the fifteen planes of view factors, and with an
 * isotropic sky it reads no bits; data that steps do not read exist only in the graph of the start.
 */
#include "tile.h"

#include "domain/solweig/step/step.h"
#include "domain/solweig/view/view.h"
#include "util/clock.h"
#include "util/list.h"

#include <stdlib.h>

static int is_aniso(const qn_sw_tile *tile)
{
    return tile->scene->config->options.sky == QN_SW_ANISOTROPIC;
}

/* Rays. */

void qn_sw_ray_tables_free(qn_sw_ray_tables *tables)
{
    qn_sw_rays_free(tables->suns);
    qn_sw_sky_free(tables->sky);
    *tables = (qn_sw_ray_tables){ 0 };
}

static qn_status fit_ray_tables(const qn_sw_scene *scene, const qn_window *outer,
                                qn_sw_ray_tables *tables, qn_err *err)
{
    const qn_sw_run_config *config = scene->config;
    qn_sw_ray_limits limits = { .rows = (int)outer->rows,
                                .cols = (int)outer->cols,
                                .px = (float)scene->city->surface.dsm.place.pixel_size,
                                .max_height = scene->city->relief.max_height,
                                .max_dist = (float)config->options.max_distance };
    qn_status st = QN_OK;

    if (tables->rows == limits.rows && tables->cols == limits.cols)
        return QN_OK;
    qn_sw_ray_tables_free(tables);
    QN_TRY(qn_sw_rays_new(scene->ctx, &limits, scene->forcing->suns, (int)scene->forcing->n,
                          &tables->suns, err));
    limits.max_dist = 0;
    if (!scene->cached)
        QN_TRY(qn_sw_sky_new(scene->ctx, qn_sw_patch_option(config), &limits, &tables->sky, err));
    tables->rows = limits.rows;
    tables->cols = limits.cols;
out:
    return st;
}

/* Objects. */

static sw_body body_of(const qn_sw_params *params)
{
    const qn_sw_posture *posture = &params->posture[params->person.pose];

    return (sw_body){ .wall_albedo = params->wall.albedo,
                      .wall_emissivity = params->wall.emissivity,
                      .abs_k = (float)params->person.abs_k,
                      .abs_l = (float)params->person.abs_l,
                      .f_up = (float)posture->f_up,
                      .f_side = (float)posture->f_side,
                      .f_cyl = (float)posture->f_cyl,
                      .box = params->person.pose == QN_SW_SITTING ? 1 : 0 };
}

static qn_sw_gvf_options gvf_options(const qn_sw_tile *tile)
{
    const qn_sw_scene *scene = tile->scene;
    const int corrected = scene->config->options.corrected;

    return (qn_sw_gvf_options){ .cols = (int)tile->place.padded.cols,
                                .rows = (int)tile->place.padded.rows,
                                .has_sides = !is_aniso(tile),
                                .has_walls = 1,
                                .pixel_m = (float)scene->city->surface.dsm.place.pixel_size,
                                .height_m = (float)scene->config->params.person.height_m,
                                .wall_albedo = scene->config->params.wall.albedo,
                                .water_class = !scene->city->surface.land_cover ? -1
                                               : corrected                      ? QN_SW_WATER
                                                                                : 3,
                                .divides_by_pixel = corrected,
                                .aspect_in_radians = corrected };
}

static int bits_of(const qn_sw_tile *tile)
{
    if (tile->layers.canopy)
        return SW_BITS_GIVEN;
    return tile->scene->config->options.corrected ? SW_BITS_WALLS : SW_BITS_BARE;
}

static qn_status make_objects(qn_sw_tile *tile, qn_err *err)
{
    const qn_sw_scene *scene = tile->scene;
    const qn_tile *at = &tile->place;
    const qn_sw_area area = qn_sw_area_of(at, scene->city->relief.top);
    const qn_sw_core core = { .x0 = (int)(at->core.col - at->padded.col),
                              .y0 = (int)(at->core.row - at->padded.row),
                              .cols = (int)at->core.cols,
                              .rows = (int)at->core.rows };
    const qn_sw_gvf_options view = gvf_options(tile);
    const sw_body body = body_of(&scene->config->params);
    qn_status st = QN_OK;

    QN_TRY(qn_sw_shadow_new(scene->ctx, &area, &tile->layers, &tile->shadow, err));
    QN_TRY(qn_sw_gvf_new(scene->ctx, &view, &tile->gvf, err));
    QN_TRY(qn_sw_radiation_new(scene->ctx, view.cols, view.rows, &body, scene->forcing->table,
                               bits_of(tile), &tile->radiation, err));
    QN_TRY(qn_sw_summary_new(scene->ctx, view.cols, core, scene->forcing->dt_hours,
                             scene->config->thresholds, scene->config->n_thresholds,
                             (int)scene->forcing->n, &tile->summary, err));
    if (scene->has_pet && scene->config->options.pet_table)
        QN_TRY(qn_sw_pet_table_new(scene->ctx, &tile->pet_table, err));
out:
    return st;
}

/* Makes a plane of results that is written after the last read of `alb` in a step. If sides have
 * their own planes, it shares one of the planes of `alb`. */
static qn_status make_aliased(qn_sw_tile *tile, const char *name, int plane, qn_buf **out,
                              qn_err *err)
{
    const size_t n = qn_window_pixels(&tile->place.padded), bytes = n * sizeof(float);

    if (tile->gvf->par.n_dirs <= plane)
        return qn_sw_buf_new(tile->scene->ctx, name, n, sizeof(float), out, err);
    return qn_buf_view(tile->gvf->alb, name, (size_t)plane * bytes, bytes, out, err);
}

static qn_status make_planes(qn_sw_tile *tile, qn_err *err)
{
    const size_t n = qn_window_pixels(&tile->place.padded), f = sizeof(float);
    qn_status st = QN_OK;

    QN_TRY(qn_sw_buf_new(tile->scene->ctx, "shadow", n, f, &tile->shade, err));
    QN_TRY(qn_sw_buf_new(tile->scene->ctx, "delay", n * (size_t)tile->gvf->par.n_dirs, f,
                         &tile->state, err));
    QN_TRY(make_aliased(tile, "tmrt", SW_S, &tile->tmrt, err));
    QN_TRY(make_aliased(tile, "utci", SW_N, &tile->utci, err));
    if (tile->scene->has_pet)
        QN_TRY(make_aliased(tile, "pet", SW_E, &tile->pet, err));
out:
    return st;
}

/* Before the first step. */

/* Copies plane number `plane` of `from` to a buffer of its own; multiplying by one changes no
 * bit. */
static qn_status add_copy(qn_graph *graph, qn_buf *from, int plane, qn_i64 pixels, qn_buf *to,
                          qn_err *err)
{
    const float one = 1;
    const qn_arg args[] = { qn_arg_val(&one, sizeof one),
                            qn_arg_at(from, (size_t)plane * (size_t)pixels * sizeof(float)),
                            qn_arg_buf(to) };

    return qn_graph_stage(graph, "svf.finish", qn_kernel_builtin("map_mul"), qn_range_1d(pixels),
                          args, err);
}

/* Makes a buffer for bits, or a temporary if no step reads them. */
static qn_status bits_buffer(qn_sw_tile *tile, qn_graph *graph, const char *name, int is_needed,
                             int n_words, qn_buf **own, qn_buf **out, qn_err *err)
{
    const size_t n = qn_window_pixels(&tile->place.padded) * (size_t)n_words;
    qn_status st = QN_OK;

    if (!is_needed)
        return qn_graph_temp(graph, name, n * sizeof(uint32_t), out, err);
    QN_TRY(qn_sw_buf_new(tile->scene->ctx, name, n, sizeof(uint32_t), own, err));
    *out = *own;
out:
    return st;
}

static qn_status add_views(qn_sw_tile *tile, qn_graph *graph, const qn_sw_sky *sky, qn_err *err)
{
    const qn_i64 pixels = (qn_i64)qn_window_pixels(&tile->place.padded);
    const size_t bytes = (size_t)pixels * SW_VIEW_PLANES * sizeof(float);
    const int aniso = is_aniso(tile), leaves = aniso && tile->layers.canopy;
    qn_sw_views *own = &tile->views, all = { 0 };
    qn_status st = QN_OK;

    QN_TRY(bits_buffer(tile, graph, "sky bits", aniso, sky->n_words, &own->bldg, &all.bldg, err));
    QN_TRY(bits_buffer(tile, graph, "leaf bits", leaves, sky->n_words, &own->veg, &all.veg, err));
    QN_TRY(bits_buffer(tile, graph, "bits of both", leaves, sky->n_words, &own->vb, &all.vb, err));
    if (aniso) {
        QN_TRY(qn_graph_temp(graph, "svf planes", bytes, &all.svf, err));
        QN_TRY(
            qn_sw_buf_new(tile->scene->ctx, "svf", (size_t)pixels, sizeof(float), &tile->svf, err));
        QN_TRY(qn_sw_buf_new(tile->scene->ctx, "svf of leaves", (size_t)pixels, sizeof(float),
                             &tile->veg, err));
    } else {
        QN_TRY(qn_sw_buf_new(tile->scene->ctx, "svf", bytes, 1, &tile->svf, err));
        all.svf = tile->svf;
    }
    QN_TRY(qn_sw_add_svf(tile->shadow, graph, sky, &all, err));
    if (aniso) {
        QN_TRY(add_copy(graph, all.svf, SW_SVF, pixels, tile->svf, err));
        QN_TRY(add_copy(graph, all.svf, SW_VEG, pixels, tile->veg, err));
    }
out:
    return st;
}

static qn_status run_start(qn_sw_tile *tile, const qn_sw_ray_tables *tables, qn_err *err)
{
    qn_ctx *ctx = tile->scene->ctx;
    const double start = qn_now_us();
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(ctx, "start of a tile", &graph, err));
    QN_TRY(qn_sw_add_cover(tile->shadow, graph, err));
    if (tables->sky)
        QN_TRY(add_views(tile, graph, tables->sky, err));
    else
        QN_TRY(qn_sw_tile_cached(tile, err));
    QN_TRY(qn_sw_add_gvf_geometry(tile->gvf, graph, &tile->maps, err));
    QN_TRY(qn_sw_add_summary_clear(tile->summary, graph, err));
    QN_TRY(qn_tile_pin(tile->slot, graph, err));
    QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_graph_wait(graph, err));
    tile->svf_s = (qn_now_us() - start) * 1e-6;
out:
    qn_graph_free(graph);
    return st;
}

/* The start has found which walls face which ray, so the layers of walls are dropped. Idle memory
 * is freed, since steps need no arrays of these sizes. */
static void drop_start(qn_sw_tile *tile)
{
    qn_buf_free(tile->maps.wall_height);
    qn_buf_free(tile->maps.wall_aspect);
    tile->maps.wall_height = tile->maps.wall_aspect = NULL;
    qn_ctx_trim(tile->scene->ctx, QN_TRIM_DEVICES);
}

/* A time step. */

static qn_status add_radiation(qn_sw_tile *tile, qn_graph *graph, qn_err *err)
{
    const qn_sw_step_table *table = tile->scene->forcing->table;
    const qn_sw_sky_bits bits = { tile->views.bldg, tile->views.veg, tile->views.vb };
    const qn_sw_gvf *gvf = tile->gvf;

    if (is_aniso(tile))
        return qn_sw_add_aniso(tile->radiation, graph, table, &bits, tile->svf, tile->veg,
                               tile->shade, gvf->lup, gvf->alb, gvf->nosh, err);
    return qn_sw_add_iso(tile->radiation, graph, table, tile->svf, tile->shade, gvf->lup, gvf->alb,
                         gvf->nosh, err);
}

static qn_status add_comfort(qn_sw_tile *tile, qn_graph *graph, qn_err *err)
{
    const qn_window *padded = &tile->place.padded;
    const qn_sw_forcing *forcing = tile->scene->forcing;
    sw_utci_par utci = forcing->utci[0];
    sw_pet_par pet = forcing->pet[0];
    qn_status st = QN_OK;

    utci.cols = (int)padded->cols;
    pet.n = padded->rows * padded->cols;
    tile->utci_stage = qn_graph_get_stats(graph).n_stages;
    QN_TRY(qn_sw_add_utci(graph, &utci, (int)padded->rows, tile->tmrt, tile->utci, err));
    tile->pet_stage = qn_graph_get_stats(graph).n_stages;
    if (tile->pet_table)
        QN_TRY(qn_sw_add_pet_by_table(tile->pet_table, graph, &pet, (int)padded->cols,
                                      (int)padded->rows, tile->tmrt, tile->pet, err));
    else if (tile->pet)
        QN_TRY(qn_sw_add_pet(graph, &pet, tile->tmrt, tile->pet, err));
out:
    return st;
}

static qn_status build_step(qn_sw_tile *tile, const qn_sw_ray_tables *tables, qn_err *err)
{
    qn_sw_step_table *table = tile->scene->forcing->table;
    /* Sunlit walls are read early in a step and UTCI is computed late, so they share a plane. */
    qn_buf *const wall_sun = tile->utci;
    const qn_sw_shade shade = { tile->shade, wall_sun, NULL };
    const int cols = (int)tile->place.padded.cols, rows = (int)tile->place.padded.rows;
    qn_sw_gvf *gvf = tile->gvf;
    qn_graph *graph;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(tile->scene->ctx, "time step", &tile->step, err));
    graph = tile->step;
    QN_TRY(qn_sw_add_shadow(tile->shadow, graph, tables->suns, table->now, &shade, err));
    QN_TRY(qn_sw_add_ground(gvf, graph, table, &tile->maps, tile->shade, wall_sun, tile->svf, err));
    QN_TRY(qn_sw_add_gvf_thermal(gvf, graph, table, &tile->maps, err));
    QN_TRY(qn_sw_add_delay(graph, table, cols, rows, gvf->par.n_dirs, gvf->lup, tile->state, err));
    QN_TRY(add_radiation(tile, graph, err));
    QN_TRY(qn_sw_add_tmrt(tile->radiation, graph, table, gvf->lup, tile->shade, tile->tmrt, err));
    QN_TRY(add_comfort(tile, graph, err));
    QN_TRY(
        qn_sw_add_summary(tile->summary, graph, table, tile->tmrt, tile->utci, tile->shade, err));
    QN_TRY(qn_sw_add_next(table, graph, err));
    QN_TRY(qn_tile_pin(tile->slot, graph, err));
out:
    return st;
}

/* Calls. */

qn_status qn_sw_tile_open(const qn_sw_scene *scene, const qn_tile_slot *slot, qn_sw_cut *cut,
                          qn_sw_ray_tables *tables, qn_sw_tile **out, qn_err *err)
{
    qn_sw_tile *tile = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(tile, 1, "a tile", err));
    tile->scene = scene;
    tile->slot = slot;
    tile->place = slot->tile;
    if (cut->data[QN_SW_CUT_DSM] && cut->number == tile->place.number) {
        tile->cut = *cut;
        *cut = (qn_sw_cut){ 0 };
    } else {
        QN_TRY(qn_sw_cut_make(scene->city, &tile->place, &tile->cut, err));
    }
    QN_TRY(fit_ray_tables(scene, &tile->place.outer, tables, err));
    QN_TRY(qn_sw_tile_layers(tile, err));
    QN_TRY(make_objects(tile, err));
    QN_TRY(run_start(tile, tables, err));
    drop_start(tile);
    QN_TRY(make_planes(tile, err));
    QN_TRY(build_step(tile, tables, err));
    QN_TRY(qn_sw_step_table_seek(scene->forcing->table, 0, err));
    *out = tile;
    tile = NULL;
out:
    qn_sw_tile_close(tile);
    return st;
}

void qn_sw_tile_close(qn_sw_tile *tile)
{
    if (!tile)
        return;
    const qn_sw_ground_maps *m = &tile->maps;
    const qn_sw_views *v = &tile->views;
    qn_buf *const buffers[] = { m->class_of,    m->buildings,   m->albedo,  m->emissivity,
                                m->wall_height, m->wall_aspect, v->bldg,    v->veg,
                                v->vb,          tile->svf,      tile->veg,  tile->shade,
                                tile->state,    tile->tmrt,     tile->utci, tile->pet };

    qn_graph_free(tile->step);
    qn_sw_pet_table_free(tile->pet_table);
    qn_sw_summary_free(tile->summary);
    qn_sw_radiation_free(tile->radiation);
    qn_sw_gvf_free(tile->gvf);
    qn_sw_shadow_free(tile->shadow);
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        qn_buf_free(buffers[i]);
    qn_sw_heights_free(&tile->layers);
    qn_sw_cut_free(&tile->cut);
    free(tile);
}

qn_status qn_sw_tile_step(qn_sw_tile *tile, size_t step, qn_err *err)
{
    const qn_sw_forcing *forcing = tile->scene->forcing;
    const qn_window *padded = &tile->place.padded;
    sw_utci_par utci = forcing->utci[step];
    sw_pet_par pet = forcing->pet[step];
    qn_status st = QN_OK;

    utci.cols = (int)padded->cols;
    pet.n = padded->rows * padded->cols;
    QN_TRY(qn_graph_set(tile->step, tile->utci_stage, 0, &utci, err));
    if (tile->pet)
        QN_TRY(qn_graph_set(tile->step, tile->pet_stage, 0, &pet, err));
    QN_TRY(qn_graph_run(tile->step, err));
out:
    return st;
}

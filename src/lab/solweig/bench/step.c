/* step.c - the weather, objects and buffers of a step, and its stages. */
#include "lab/solweig/bench/step.h"

#include "domain/solweig/comfort/comfort.h"
#include "domain/solweig/input/params.h"
#include "domain/solweig/sky/sky.h"
#include "domain/solweig/step/step.h"
#include "domain/solweig/surface/surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The day. */

/* Weather at noon, for comfort. */
static const double NOON_TA = 24, NOON_RH = 50, NOON_WS = 2;

enum { HOURS = 24 };

/* Global radiation of a clear day, a sine from 4 to 21 hours. */
static double global_at(int hour)
{
    return fmax(0, 800 * sin(M_PI * (hour - 4) / 17.0));
}

static qn_status derive_day(qn_sw_weather_row *rows, qn_sw_sky_step *sky, qn_err *err)
{
    const qn_sw_site site = { .latitude = 57.7, .longitude = 11.9, .utc_offset = 1 };
    const qn_sw_trees trees = qn_sw_trees_default();
    const qn_sw_sky_rules rules = { 0 };
    const qn_i64 midnight = qn_sw_minutes_of(2006, 7, 26, 0, 0);

    for (int h = 0; h < HOURS; h++)
        rows[h] = (qn_sw_weather_row){ .minutes = midnight + 60 * h,
                                       .date = qn_sw_date_of(midnight + 60 * h),
                                       .timestep_min = 60,
                                       .ta = NOON_TA + 5 * sin(M_PI * (h - 9) / 12.0),
                                       .rh = NOON_RH,
                                       .ws = NOON_WS,
                                       .pressure_hpa = 1013,
                                       .global = global_at(h),
                                       .direct = NAN,
                                       .diffuse = NAN,
                                       .line = (size_t)h + 1 };
    return qn_sw_sky_derive(rows, HOURS, &site, &trees, &rules, sky, err);
}

/* Arrays of a day while its records are made. */
typedef struct day {
    qn_sw_weather_row rows[HOURS];
    qn_sw_sky_step sky[HOURS];
    qn_sw_patch_sky table;
    float luminance[QN_SW_MAX_PATCHES];
    sw_moment *moments;
    sw_sky *patches; /* [n_steps][n_table] */
} day;

static void fill_step(day *d, int is_aniso, int i, qn_sw_delay *delay, qn_sw_beam *sun)
{
    const qn_sw_materials materials = qn_sw_materials_default();
    const qn_sw_sky_step *s = &d->sky[i % HOURS];
    const qn_sw_step_weather row = qn_sw_step_weather_of(&d->rows[i % HOURS], s);
    const qn_sw_perez_sky light = { s->sun.zenith, s->sun.azimuth, s->diffuse, s->direct, s->doy };
    const size_t n_table = (size_t)d->table.dome.n_table;

    if (is_aniso)
        qn_sw_perez_luminance(&light, d->table.altitude, d->table.azimuth, (size_t)d->table.dome.n,
                              d->luminance);
    qn_sw_moment_fill(&row, &materials, is_aniso ? &d->table.dome : NULL,
                      is_aniso ? d->luminance : NULL, NULL, delay, &d->moments[i],
                      is_aniso ? d->patches + (size_t)i * n_table : NULL);
    *sun = (qn_sw_beam){ row.azimuth, row.altitude, row.psi };
}

/* `n_steps` records of a clear summer day, repeated from midnight on, and their suns; the caller
 * frees both with free(). A `patch_option` of 0 is an isotropic sky. */
static qn_status make_day(qn_ctx *ctx, int patch_option, int n_steps, qn_sw_step_table **out,
                          qn_sw_beam **suns, qn_err *err)
{
    qn_sw_delay delay = qn_sw_delay_begin(1.0 / 24);
    const size_t n = (size_t)n_steps;
    qn_owned owned = { 0 };
    qn_status st = QN_OK;
    day *d;

    *suns = NULL;
    QN_TRY(qn_owned_memory(&owned, sizeof *d, &d, err));
    QN_TRY(qn_owned_memory(&owned, n * sizeof *d->moments, &d->moments, err));
    if (patch_option) {
        QN_TRY(qn_sw_patch_sky_make(patch_option, &d->table, err));
        QN_TRY(qn_owned_memory(&owned, n * (size_t)d->table.dome.n_table * sizeof *d->patches,
                               &d->patches, err));
    }
    if (!(*suns = calloc(n, sizeof **suns)))
        QN_FAIL(err, QN_ERR_NOMEM, "no memory for %d time steps", n_steps);
    QN_TRY(derive_day(d->rows, d->sky, err));
    for (int i = 0; i < n_steps; i++)
        fill_step(d, patch_option > 0, i, &delay, &(*suns)[i]);
    QN_TRY(qn_sw_step_table_new(ctx, n_steps, d->moments, d->table.dome.n_table,
                                patch_option ? d->table.dome.table : NULL, d->patches, out, err));
out:
    qn_owned_free(&owned, 0);
    return st;
}

/* Buffers. */

static size_t cells_of(const qn_sw_bench_step *s)
{
    return (size_t)s->rows * (size_t)s->cols;
}

/* A buffer of `elem` bytes a pixel; filled from `data` unless that is NULL. */
static qn_status make(qn_sw_bench_step *s, const char *name, size_t elem, const void *data,
                      qn_buf **out, qn_err *err)
{
    const size_t bytes = cells_of(s) * elem;
    qn_status st = QN_OK;

    QN_TRY(qn_owned_buf(&s->owned, s->ctx, name, bytes, out, err));
    if (data)
        QN_TRY(qn_buf_write(*out, 0, data, bytes, err));
out:
    return st;
}

/* Input. */

static qn_status upload_layers(qn_sw_bench_step *s, const qn_sw_surface *surface, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(make(s, "sw dsm", sizeof(float), surface->dsm.data, &s->layers.dsm, err));
    if (s->has_veg) {
        QN_TRY(make(s, "sw canopy", sizeof(float), surface->cdsm.data, &s->layers.canopy, err));
        QN_TRY(make(s, "sw trunk", sizeof(float), surface->tdsm.data, &s->layers.trunk, err));
    }
    QN_TRY(make(s, "sw wall height", sizeof(float), NULL, &s->layers.wall_height, err));
    QN_TRY(make(s, "sw wall radians", sizeof(float), NULL, &s->layers.wall_aspect, err));
    QN_TRY(make(s, "sw wall degrees", sizeof(float), NULL, &s->maps.wall_aspect, err));
out:
    return st;
}

/* Ground of one kind everywhere, and buildings by their heights. */
static qn_status upload_ground(qn_sw_bench_step *s, const qn_sw_surface *surface, qn_err *err)
{
    qn_sw_material_grids grids = { 0 };
    uint8_t *buildings = NULL;
    qn_sw_params params;
    qn_status st = QN_OK;

    qn_sw_params_default(&params);
    QN_TRY(qn_sw_material_grids_new(surface, &params, &grids, err));
    QN_TRY(qn_sw_building_mask(surface, &buildings, err));
    QN_TRY(make(s, "sw class", 1, NULL, &s->maps.class_of, err));
    QN_TRY(make(s, "sw buildings", 1, buildings, &s->maps.buildings, err));
    QN_TRY(make(s, "sw albedo", sizeof(float), grids.albedo, &s->maps.albedo, err));
    QN_TRY(make(s, "sw emissivity", sizeof(float), grids.emissivity, &s->maps.emissivity, err));
    s->maps.wall_height = s->layers.wall_height;
out:
    qn_sw_material_grids_free(&grids);
    free(buildings);
    return st;
}

/* Results. */

static qn_status make_rays(qn_sw_bench_step *s, const qn_sw_surface *surface, int patch_option,
                           const qn_sw_beam *suns, int n_suns, qn_err *err)
{
    const qn_sw_relief relief = qn_sw_relief_of(surface);
    qn_sw_ray_limits limits = { .rows = s->rows,
                                .cols = s->cols,
                                .px = (float)surface->dsm.place.pixel_size,
                                .max_height =
                                    s->has_veg ? relief.max_height : relief.max_building };
    const qn_sw_area area = { .rows = s->rows,
                              .cols = s->cols,
                              .gmax = s->has_veg ? relief.top : relief.highest };
    qn_status st = QN_OK;

    QN_TRY(qn_sw_shadow_new(s->ctx, &area, &s->layers, &s->shadow, err));
    QN_TRY(qn_sw_walls_new(s->ctx, s->rows, s->cols, limits.px, 1, &s->walls, err));
    QN_TRY(qn_sw_sky_new(s->ctx, patch_option, &limits, &s->sky, err));
    limits.max_dist = 1000;
    QN_TRY(qn_sw_rays_new(s->ctx, &limits, suns, n_suns, &s->suns, err));
out:
    return st;
}

static qn_status make_objects(qn_sw_bench_step *s, const qn_sw_surface *surface, qn_err *err)
{
    const sw_body body = qn_sw_body_standing();
    const qn_sw_gvf_options view = { .cols = s->cols,
                                     .rows = s->rows,
                                     .has_sides = !s->is_aniso,
                                     .has_walls = 1,
                                     .pixel_m = (float)surface->dsm.place.pixel_size,
                                     .height_m = 1.75f,
                                     .wall_albedo = 0.20f,
                                     .water_class = -1 };
    qn_status st = QN_OK;

    QN_TRY(qn_sw_gvf_new(s->ctx, &view, &s->gvf, err));
    QN_TRY(qn_sw_radiation_new(s->ctx, s->cols, s->rows, &body, s->series,
                               s->has_veg ? SW_BITS_GIVEN : SW_BITS_BARE, &s->radiation, err));
    QN_TRY(qn_sw_pet_table_new(s->ctx, &s->pet_table, err));
out:
    return st;
}

static qn_status make_results(qn_sw_bench_step *s, qn_err *err)
{
    const size_t words = (size_t)s->sky->n_words * sizeof(uint32_t);
    const size_t plane = cells_of(s) * sizeof(float);
    qn_status st = QN_OK;

    QN_TRY(make(s, "sw svf", SW_SVF_PLANES * sizeof(float), NULL, &s->views.svf, err));
    QN_TRY(qn_buf_view(s->views.svf, "sw svf total", 0, plane, &s->svf, err));
    QN_TRY(qn_buf_view(s->views.svf, "sw svf leaves", SW_VEG * plane, plane, &s->veg, err));
    QN_TRY(make(s, "sw bldg", words, NULL, &s->views.bldg, err));
    QN_TRY(make(s, "sw veg", words, NULL, &s->views.veg, err));
    QN_TRY(make(s, "sw vb", words, NULL, &s->views.vb, err));
    QN_TRY(make(s, "sw shadow", sizeof(float), NULL, &s->shade, err));
    QN_TRY(make(s, "sw wall sun", sizeof(float), NULL, &s->wall_sun, err));
    QN_TRY(make(s, "sw delay", (size_t)s->gvf->par.n_dirs * sizeof(float), NULL, &s->state, err));
    QN_TRY(make(s, "sw tmrt", sizeof(float), NULL, &s->tmrt, err));
    QN_TRY(make(s, "sw utci", sizeof(float), NULL, &s->utci, err));
    QN_TRY(make(s, "sw pet", sizeof(float), NULL, &s->pet, err));
out:
    return st;
}

qn_status qn_sw_step_open(qn_ctx *ctx, const qn_sw_surface *surface, int patch_option, int is_aniso,
                          int n_steps, qn_sw_bench_step *out, qn_err *err)
{
    const int n = n_steps < 24 ? 24 : n_steps;
    qn_sw_bench_step s = { .ctx = ctx,
                           .rows = (int)surface->dsm.place.rows,
                           .cols = (int)surface->dsm.place.cols,
                           .is_aniso = is_aniso,
                           .has_veg = surface->cdsm.data && surface->tdsm.data };
    qn_sw_beam *suns = NULL;
    qn_status st = QN_OK;

    QN_TRY(make_day(ctx, is_aniso ? patch_option : 0, n, &s.series, &suns, err));
    QN_TRY(upload_layers(&s, surface, err));
    QN_TRY(upload_ground(&s, surface, err));
    QN_TRY(make_rays(&s, surface, patch_option, suns, n, err));
    QN_TRY(make_objects(&s, surface, err));
    QN_TRY(make_results(&s, err));
    *out = s;
    s = (qn_sw_bench_step){ 0 };
out:
    qn_sw_step_close(&s);
    free(suns);
    return st;
}

void qn_sw_step_close(qn_sw_bench_step *s)
{
    qn_sw_pet_table_free(s->pet_table);
    qn_sw_radiation_free(s->radiation);
    qn_sw_gvf_free(s->gvf);
    qn_sw_step_table_free(s->series);
    qn_sw_rays_free(s->suns);
    qn_sw_sky_free(s->sky);
    qn_sw_walls_free(s->walls);
    qn_sw_shadow_free(s->shadow);
    qn_buf_free(s->svf);
    qn_buf_free(s->veg);
    qn_owned_free(&s->owned, 0);
    *s = (qn_sw_bench_step){ 0 };
}

/* Stages. */

qn_status qn_sw_step_add_walls(qn_sw_bench_step *s, qn_graph *graph, qn_err *err)
{
    return qn_sw_add_walls(s->walls, graph, s->layers.dsm, s->layers.wall_height,
                           s->maps.wall_aspect, s->layers.wall_aspect, err);
}

qn_status qn_sw_step_add_svf(qn_sw_bench_step *s, qn_graph *graph, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_sw_add_cover(s->shadow, graph, err));
    QN_TRY(qn_sw_add_svf(s->shadow, graph, s->sky, &s->views, err));
out:
    return st;
}

qn_status qn_sw_step_add_geometry(qn_sw_bench_step *s, qn_graph *graph, qn_err *err)
{
    return qn_sw_add_gvf_geometry(s->gvf, graph, &s->maps, err);
}

const char *qn_sw_step_name(const qn_sw_bench_step *s, qn_sw_step_stage stage)
{
    static const char *const names[QN_SW_STEP_STAGES] = { "shadow", "ground", "gvf.thermal",
                                                          "delay",  NULL,     "tmrt",
                                                          "utci",   "pet" };

    return names[stage] ? names[stage] : s->is_aniso ? "aniso" : "radiation";
}

static qn_status add_sky(qn_sw_bench_step *s, qn_graph *graph, qn_err *err)
{
    const qn_sw_sky_bits bits = { s->views.bldg, s->has_veg ? s->views.veg : NULL,
                                  s->has_veg ? s->views.vb : NULL };
    const qn_sw_gvf *gvf = s->gvf;

    if (s->is_aniso)
        return qn_sw_add_aniso(s->radiation, graph, s->series, &bits, s->svf, s->veg, s->shade,
                               gvf->lup, gvf->alb, gvf->nosh, err);
    return qn_sw_add_iso(s->radiation, graph, s->series, s->views.svf, s->shade, gvf->lup, gvf->alb,
                         gvf->nosh, err);
}

qn_status qn_sw_step_add(qn_sw_bench_step *s, qn_graph *graph, qn_sw_step_stage stage, qn_err *err)
{
    const qn_sw_shade shade = { s->shade, s->wall_sun, NULL };
    const qn_sw_body body = qn_sw_body_default();
    const sw_utci_par utci = qn_sw_utci_prepare(NOON_TA, NOON_RH, NOON_WS, s->cols);
    const sw_pet_par pet = qn_sw_pet_prepare(&body, NOON_TA, NOON_RH, NOON_WS, (qn_i64)cells_of(s));
    qn_sw_gvf *gvf = s->gvf;

    switch (stage) {
    case QN_SW_STEP_SHADOW:
        return qn_sw_add_shadow(s->shadow, graph, s->suns, s->series->now, &shade, err);
    case QN_SW_STEP_GROUND:
        return qn_sw_add_ground(gvf, graph, s->series, &s->maps, s->shade, s->wall_sun, s->svf,
                                err);
    case QN_SW_STEP_GVF:
        return qn_sw_add_gvf_thermal(gvf, graph, s->series, &s->maps, err);
    case QN_SW_STEP_DELAY:
        return qn_sw_add_delay(graph, s->series, s->cols, s->rows, gvf->par.n_dirs, gvf->lup,
                               s->state, err);
    case QN_SW_STEP_SKY:
        return add_sky(s, graph, err);
    case QN_SW_STEP_TMRT:
        return qn_sw_add_tmrt(s->radiation, graph, s->series, gvf->lup, s->shade, s->tmrt, err);
    case QN_SW_STEP_UTCI:
        return qn_sw_add_utci(graph, &utci, s->rows, s->tmrt, s->utci, err);
    default:
        return qn_sw_add_pet_by_table(s->pet_table, graph, &pet, s->cols, s->rows, s->tmrt, s->pet,
                                      err);
    }
}

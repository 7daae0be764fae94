/* inputs.c - layers and weather of a run, and everything derived only from them. */
#include "inputs.h"

#include "domain/solweig/step/step.h"
#include "domain/solweig/view/view.h"
#include "util/clock.h"
#include "util/hash.h"
#include "util/list.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* The city. */

/* Metres; lower steps in the ground are not walls. */
#define WALL_LIMIT 1.0

/* Uses the same product as the stage walls. */
static void turn_to_radians(qn_sw_city *city)
{
    const size_t n = qn_sw_elems(&city->surface.dsm.place);

    for (size_t i = 0; i < n; i++)
        city->wall_radians[i] = city->surface.wall_aspect.data[i] * 0.017453292519943295f;
}

static void classify(qn_sw_city *city)
{
    const uint8_t *cover = city->surface.land_cover;
    const size_t n = qn_sw_elems(&city->surface.dsm.place);

    for (size_t i = 0; cover && i < n; i++)
        city->class_of[i] = (uint8_t)qn_sw_cover_id(cover[i]);
}

static qn_status check_size(const qn_sw_run_config *config, const qn_sw_place *place, qn_err *err)
{
    if (place->rows > QN_MAX_AXIS || place->cols > QN_MAX_AXIS)
        return qn_fail(err, QN_ERR_LIMIT, "%s: %lld x %lld pixels; a side has at most %d",
                       config->layers.dsm_file[0] ? config->layers.dsm_file : "DSM",
                       (long long)place->rows, (long long)place->cols, QN_MAX_AXIS);
    return QN_OK;
}

qn_status qn_sw_city_load(qn_ctx *ctx, const qn_sw_run_config *config, qn_sw_city *out, qn_err *err)
{
    const qn_sw_params *params = &config->params;
    const qn_sw_wall_job walls = { .limit = WALL_LIMIT };
    qn_sw_layer_options load = config->layers;
    const double start = qn_now_us();
    qn_sw_city city = { 0 };
    qn_status st = QN_OK;
    double loaded;
    size_t n;

    if (!(load.trunk_ratio > 0))
        load.trunk_ratio = params->trunk_ratio;
    QN_TRY(qn_sw_surface_load(&load, &city.surface, &city.was_smoothed, err));
    QN_TRY(check_size(config, &city.surface.dsm.place, err));
    n = qn_sw_elems(&city.surface.dsm.place);
    loaded = qn_now_us();
    city.load_s = (loaded - start) * 1e-6;
    QN_TRY(QN_NEW(city.wall_radians, n, "layers", err));
    QN_TRY(QN_NEW(city.class_of, n, "layers", err));
    if (!city.surface.wall_height.data)
        QN_TRY(qn_sw_walls_compute(ctx, &city.surface.dsm, &walls, &city.surface.wall_height,
                                   &city.surface.wall_aspect, err));
    turn_to_radians(&city);
    city.walls_s = (qn_now_us() - loaded) * 1e-6;
    QN_TRY(qn_sw_building_mask(&city.surface, &city.buildings, err));
    QN_TRY(qn_sw_material_grids_new(&city.surface, params, &city.ground, err));
    classify(&city);
    city.relief = qn_sw_relief_of(&city.surface);
    *out = city;
    city = (qn_sw_city){ 0 };
out:
    qn_sw_city_free(&city);
    return st;
}

void qn_sw_city_free(qn_sw_city *city)
{
    qn_sw_surface_free(&city->surface);
    qn_sw_material_grids_free(&city->ground);
    free(city->wall_radians);
    free(city->buildings);
    free(city->class_of);
    *city = (qn_sw_city){ 0 };
}

/* The forcing. */

static qn_sw_ground_class class_of(const qn_sw_material *m)
{
    return (qn_sw_ground_class){ .tgk = m->tgk, .tstart = m->tstart, .tmaxlst = m->tmaxlst };
}

static qn_sw_materials materials_of(const qn_sw_params *params, int has_land_cover)
{
    qn_sw_materials m = qn_sw_materials_default();

    for (int i = 0; i < QN_SW_COVERS; i++)
        m.ground[i] = class_of(has_land_cover ? &params->cover[i] : &params->plain);
    m.wall = class_of(&params->wall);
    m.wall_emissivity = params->wall.emissivity;
    m.wall_albedo = params->wall.albedo;
    return m;
}

static qn_status make_series(qn_ctx *ctx, const qn_sw_run_config *config, int has_land_cover,
                             qn_sw_forcing *r, qn_err *err)
{
    const int is_aniso = config->options.sky == QN_SW_ANISOTROPIC;
    const qn_sw_materials materials = materials_of(&config->params, has_land_cover);
    qn_sw_delay delay = qn_sw_delay_begin(r->dt_hours / 24);
    qn_sw_patch_sky *table = NULL;
    sw_moment *moments = NULL;
    sw_sky *sky = NULL;
    float luminance[QN_SW_MAX_PATCHES];
    size_t n_table = 0;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(table, 1, "records of steps", err));
    QN_TRY(QN_NEW(moments, r->n, "records of steps", err));
    if (is_aniso) {
        QN_TRY(qn_sw_patch_sky_make(qn_sw_patch_option(config), table, err));
        n_table = (size_t)table->dome.n_table;
        QN_TRY(QN_NEW(sky, r->n * n_table, "records of steps", err));
    }
    for (size_t i = 0; i < r->n; i++) {
        const qn_sw_sky_step *s = &r->sky[i];
        const qn_sw_perez_sky light = { s->sun.zenith, s->sun.azimuth, s->diffuse, s->direct,
                                        s->doy };
        const qn_sw_step_weather step = qn_sw_step_weather_of(&r->weather.rows[i], s);

        if (is_aniso)
            qn_sw_perez_luminance(&light, table->altitude, table->azimuth, (size_t)table->dome.n,
                                  luminance);
        qn_sw_moment_fill(&step, &materials, is_aniso ? &table->dome : NULL,
                          is_aniso ? luminance : NULL, NULL, &delay, &moments[i],
                          is_aniso ? sky + i * n_table : NULL);
    }
    r->hash = qn_fnv1a64_add(r->hash, moments, r->n * sizeof *moments);
    r->hash = qn_fnv1a64_add(r->hash, sky, r->n * n_table * sizeof *sky);
    QN_TRY(qn_sw_step_table_new(ctx, (int)r->n, moments, (int)n_table,
                                is_aniso ? table->dome.table : NULL, sky, &r->table, err));
out:
    free(table);
    free(moments);
    free(sky);
    return st;
}

static qn_status read_weather(const qn_sw_run_config *config, qn_sw_forcing *r, qn_err *err)
{
    const qn_sw_run_options *o = &config->options;
    qn_status st = QN_OK;

    if (!o->n_weather && !o->n_weather_files)
        return qn_fail(err, QN_ERR_USAGE, "no weather file: a run needs one");
    if (o->n_weather)
        QN_TRY(qn_sw_weather_take(o->weather, o->n_weather, &config->steps, &r->weather, err));
    else
        QN_TRY(qn_sw_weather_read(o->weather_files, o->n_weather_files, &config->steps, &r->weather,
                                  err));
    r->n = r->weather.n_rows;
    if (r->n > INT_MAX)
        return qn_fail(err, QN_ERR_LIMIT, "%zu steps; the limit is %d", r->n, INT_MAX);
    if (!isnan(o->latitude))
        r->site = (qn_sw_site){ o->latitude, o->longitude, o->altitude, o->utc_offset };
    else if (r->weather.has_place)
        r->site = (qn_sw_site){ r->weather.latitude, r->weather.longitude, r->weather.elevation,
                                r->weather.utc_offset };
    else
        return qn_fail(err, QN_ERR_USAGE,
                       "%s does not say its location: latitude, longitude and hours ahead of UTC "
                       "are needed (--lat, --lon and --utc)",
                       o->n_weather ? "the weather" : o->weather_files[0]);
out:
    return st;
}

qn_sw_body qn_sw_body_of(const qn_sw_person *p)
{
    return (qn_sw_body){ p->weight_kg,  p->age, p->height_m,
                         p->activity_w, p->clo, p->is_female ? QN_SW_FEMALE : QN_SW_MALE };
}

static void fill_host(const qn_sw_params *params, qn_sw_forcing *r)
{
    const qn_sw_body body = qn_sw_body_of(&params->person);

    for (size_t i = 0; i < r->n; i++) {
        const qn_sw_weather_row *w = &r->weather.rows[i];
        const qn_sw_sky_step *s = &r->sky[i];

        r->suns[i] = (qn_sw_beam){ .azimuth = (float)s->sun.azimuth,
                                   .altitude = (float)s->sun.altitude,
                                   .psi = (float)s->psi };
        r->utci[i] = qn_sw_utci_prepare(w->ta, w->rh, w->ws, 0);
        r->pet[i] = qn_sw_pet_prepare(&body, w->ta, w->rh, w->ws, 0);
        r->hash = qn_fnv1a64_add(r->hash, &w->minutes, sizeof w->minutes);
    }
    r->hash = qn_fnv1a64_add(r->hash, r->suns, r->n * sizeof *r->suns);
    r->hash = qn_fnv1a64_add(r->hash, r->utci, r->n * sizeof *r->utci);
    r->hash = qn_fnv1a64_add(r->hash, r->pet, r->n * sizeof *r->pet);
}

static double interval_hours(const qn_sw_weather *weather)
{
    const double hours = weather->n_rows > 1
                             ? (double)(weather->rows[1].minutes - weather->rows[0].minutes) / 60
                             : 1;

    return hours > 0 ? hours : 1;
}

qn_status qn_sw_forcing_make(qn_ctx *ctx, const qn_sw_run_config *config, int has_land_cover,
                             qn_sw_forcing *out, qn_err *err)
{
    const qn_sw_sky_rules rules = {
        .pressure = config->options.corrected || config->options.fix_pressure
                        ? QN_SW_PRESSURE_CORRECTED
                        : QN_SW_PRESSURE_REFERENCE,
        .ignore_measured_split = config->options.ignore_split,
    };
    qn_sw_forcing r = { .hash = QN_FNV1A64_START };
    qn_status st = QN_OK;

    QN_TRY(read_weather(config, &r, err));
    r.dt_hours = interval_hours(&r.weather);
    QN_TRY(QN_NEW(r.sky, r.n, "steps of weather", err));
    QN_TRY(QN_NEW(r.suns, r.n, "steps of weather", err));
    QN_TRY(QN_NEW(r.utci, r.n, "steps of weather", err));
    QN_TRY(QN_NEW(r.pet, r.n, "steps of weather", err));
    QN_TRY(
        qn_sw_sky_derive(r.weather.rows, r.n, &r.site, &config->params.trees, &rules, r.sky, err));
    fill_host(&config->params, &r);
    QN_TRY(make_series(ctx, config, has_land_cover, &r, err));
    *out = r;
    r = (qn_sw_forcing){ 0 };
out:
    qn_sw_forcing_free(&r);
    return st;
}

void qn_sw_forcing_free(qn_sw_forcing *forcing)
{
    qn_sw_weather_free(&forcing->weather);
    qn_sw_step_table_free(forcing->table);
    free(forcing->sky);
    free(forcing->suns);
    free(forcing->utci);
    free(forcing->pet);
    *forcing = (qn_sw_forcing){ 0 };
}

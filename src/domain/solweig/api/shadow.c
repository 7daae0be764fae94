/* shadow.c - maps of shadows for one position of the sun, and of walls. */
#include "api.h"

#include "domain/solweig/sky/sky.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The sun. */

static qn_status parse_time(const char *text, qn_sw_date *out, qn_err *err)
{
    qn_sw_date t = { 0 };
    const char *at = text;
    int is_time =
        qn_sw_take_digits(&at, 4, '-', &t.year) && qn_sw_take_digits(&at, 2, '-', &t.month) &&
        qn_sw_take_digits(&at, 2, 'T', &t.day) && qn_sw_take_digits(&at, 2, ':', &t.hour) &&
        qn_sw_take_digits(&at, 2, 0, &t.minute);

    if (is_time && *at == ':') {
        at++;
        is_time = qn_sw_take_digits(&at, 2, 0, &t.second);
    }
    at += is_time && *at == 'Z';
    if (is_time && !*at && t.second < 60 && qn_sw_date_is_valid(&t)) {
        *out = t;
        return QN_OK;
    }
    return qn_fail(err, QN_ERR_USAGE, "--at: '%s' is not a time such as 2006-07-26T13:30", text);
}

static qn_status sun_at(const qn_sw_shadow_options *o, qn_sw_beam *out, qn_err *err)
{
    const qn_sw_trees trees = qn_sw_trees_default();
    const qn_sw_site site = { .latitude = o->latitude,
                              .longitude = o->longitude,
                              .utc_offset = o->utc_offset };
    qn_sw_date time;
    qn_sw_sun sun;
    qn_status st = QN_OK;

    QN_TRY(parse_time(o->at, &time, err));
    if (isnan(o->latitude) || isnan(o->longitude))
        return qn_fail(err, QN_ERR_USAGE, "--at needs --lat and --lon");
    if (strchr(o->at, 'Z') && o->utc_offset != 0)
        return qn_fail(err, QN_ERR_USAGE, "--at %s is UTC; --utc %g contradicts it", o->at,
                       o->utc_offset);
    sun = qn_sw_sun_at(&site, &time);
    *out = (qn_sw_beam){ .azimuth = (float)sun.azimuth,
                         .altitude = (float)sun.altitude,
                         .psi = (float)qn_sw_psi(&trees, qn_sw_day_of_year(&time)) };
out:
    return st;
}

static qn_status sun_of(const qn_sw_shadow_options *o, qn_sw_beam *out, qn_err *err)
{
    const int has_azimuth = !isnan(o->azimuth), has_altitude = !isnan(o->altitude);
    qn_status st = QN_OK;

    if (o->at[0] && (has_azimuth || has_altitude))
        return qn_fail(err, QN_ERR_USAGE, "--at and --azimuth, --altitude exclude each other");
    if (o->at[0])
        QN_TRY(sun_at(o, out, err));
    else if (has_azimuth && has_altitude)
        *out = (qn_sw_beam){ (float)o->azimuth, (float)o->altitude, 0.03f };
    else
        return qn_fail(err, QN_ERR_USAGE,
                       "where is the sun? Give --azimuth and --altitude, or --at, --lat and --lon");
    if (!isnan(o->psi))
        out->psi = (float)o->psi;
out:
    return st;
}

/* Shadow. */

static double mean_of(const qn_sw_raster *raster)
{
    const size_t n = qn_sw_elems(&raster->place);
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        if (isfinite(raster->data[i])) {
            sum += (double)raster->data[i];
            count++;
        }
    return count ? sum / (double)count : NAN;
}

qn_status qn_sw_shadow(qn_ctx *ctx, const qn_sw_layer_options *layers,
                       const qn_sw_shadow_options *options, float *shadow,
                       qn_sw_shadow_report *report, qn_err *err)
{
    qn_sw_map look = { .title = "Sunlit share", .low = 0, .high = 1 };
    qn_sw_layer_options l;
    qn_sw_shadow_options o;
    qn_sw_grid grid;
    qn_sw_surface surface = { 0 };
    qn_sw_raster map = { 0 };
    qn_sw_sun_job job;
    qn_sw_beam sun;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_shadow_take(options, &o, err));
    if (o.file[0])
        QN_TRY(qn_sw_map_check(o.file, err));
    QN_TRY(sun_of(&o, &sun, err));
    QN_TRY(qn_sw_api_load(layers, shadow != NULL, &l, &surface, &grid, err));
    job = (qn_sw_sun_job){ .max_dist = o.max_distance, .tile = o.tile };
    QN_TRY(qn_sw_shadow_compute(ctx, &surface, &sun, &job, &map, err));
    look.pixel_size = map.place.pixel_size;
    if (o.file[0])
        QN_TRY(qn_sw_map_out(o.file, &map, &look, err));
    qn_sw_api_give(&l, &map, shadow);
    if (report)
        *report = (qn_sw_shadow_report){ .grid = grid,
                                         .azimuth = (double)sun.azimuth,
                                         .altitude = (double)sun.altitude,
                                         .sunlit = mean_of(&map) };
out:
    qn_sw_raster_free(&map);
    qn_sw_surface_free(&surface);
    return st;
}

/* Walls. */

static qn_status write_walls(qn_run_folder *to, const qn_sw_raster *height,
                             const qn_sw_raster *aspect, qn_err *err)
{
    const qn_sw_map look = { .title = "Wall height",
                             .unit = "m",
                             .pixel_size = height->place.pixel_size };
    const char *ending = qn_sw_map_ending(&height->place);
    qn_status st = QN_OK;

    QN_TRY(qn_sw_api_put(to, "wall_height", ending, height, NULL, err));
    QN_TRY(qn_sw_api_put(to, "wall_aspect", ending, aspect, NULL, err));
    QN_TRY(qn_sw_api_put(to, "wall_height", ".png", height, &look, err));
    QN_TRY(qn_run_folder_finish(to, err));
out:
    return st;
}

static qn_sw_wall_report walls_of(const qn_sw_grid *grid, const qn_sw_raster *height)
{
    const size_t n = qn_sw_elems(&height->place);
    qn_sw_wall_report r = { .grid = *grid };

    for (size_t i = 0; i < n; i++)
        if (height->data[i] > 0) {
            r.highest = fmax(r.highest, (double)height->data[i]);
            r.n_walls++;
        }
    snprintf(r.ending, sizeof r.ending, "%s", qn_sw_map_ending(&height->place));
    return r;
}

qn_status qn_sw_walls(qn_ctx *ctx, const qn_sw_layer_options *layers,
                      const qn_sw_wall_options *options, float *height, float *aspect,
                      qn_sw_wall_report *report, qn_err *err)
{
    qn_sw_layer_options l;
    qn_sw_wall_options o;
    qn_sw_grid grid;
    qn_sw_raster heights = { 0 }, aspects = { 0 };
    qn_sw_surface surface = { 0 };
    qn_sw_wall_job job = { .limit = 1 };
    qn_run_folder *to = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_wall_take(options, &o, err));
    job.tile = o.tile;
    QN_TRY(qn_sw_api_load(layers, height || aspect, &l, &surface, &grid, err));
    QN_TRY(qn_sw_api_begin(o.out, "walls", &to, err));
    QN_TRY(qn_sw_walls_compute(ctx, &surface.dsm, &job, &heights, &aspects, err));
    if (to)
        QN_TRY(write_walls(to, &heights, &aspects, err));
    qn_sw_api_give(&l, &heights, height);
    qn_sw_api_give(&l, &aspects, aspect);
    if (report)
        *report = walls_of(&grid, &heights);
out:
    qn_run_folder_close(to);
    qn_sw_raster_free(&heights);
    qn_sw_raster_free(&aspects);
    qn_sw_surface_free(&surface);
    return st;
}

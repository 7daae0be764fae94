/* check_run.c - whole days at a site, from its files to the temperature of a person.
 *
 * Besides the series of a day there are rasters of some of its hours, <kind>_<plane>_h<hour>.npy.
 */
#include "lab/solweig/check/check_impl.h"
#include "domain/solweig/api/api.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One step more or less along a ray can move a patch, and with it one pixel, across the edge of
 * sunlight. So narrow bounds apply to nearly all pixels, and wider ones to all. */
static const qn_limit kelvin = { .abs = 0.02, .share = 0.999, .most = 0.1 };
static const qn_limit watts = { .abs = 0.02, .rel = 1e-5, .share = 0.999, .most = 1 };
static const qn_limit mean_kelvin = { .abs = 0.005 };
static const qn_limit one_kelvin = { .abs = 0.1 };
static const qn_limit one_watt = { .abs = 0.05, .rel = 1e-5 };
static const qn_limit sunlit = { .abs = 1e-5 };
static const qn_limit exact = { 0 };

enum { UTCI_STRIDE = 37 }; /* the mean of UTCI is taken over every STRIDE-th pixel */

/* Results of a run. */

typedef struct day_planes {
    qn_golden *g;
    const qn_sw_day *day;
    qn_sw_plane_set watched;
    size_t n_rows, pixels;
    float *plane[QN_SW_PLANES]; /* [row][pixel] of the whole raster */
    qn_i64 poi;                 /* pixel of the point of interest; -1: none */
} day_planes;

static const qn_sw_plane_set all_planes = 1u << QN_SW_TMRT | 1u << QN_SW_UTCI | 1u << QN_SW_SHADOW |
                                          1u << QN_SW_KDOWN | 1u << QN_SW_KUP | 1u << QN_SW_LDOWN |
                                          1u << QN_SW_LUP;

static qn_status record_step(void *user, const qn_sw_step_view *view, qn_err *err)
{
    day_planes *planes = user;
    const qn_window *w = &view->window;
    const qn_i64 cols = view->place->cols;
    qn_status st = QN_OK;

    planes->pixels = qn_sw_elems(view->place);
    for (int p = 0; p < QN_SW_PLANES; p++) {
        if (!view->plane[p] || view->step >= planes->n_rows)
            continue;
        if (!planes->plane[p])
            QN_TRY(qn_golden_floats_new(planes->g, planes->n_rows * planes->pixels, NAN,
                                        &planes->plane[p], err));
        qn_window_paste(view->plane[p], w, sizeof(float),
                        planes->plane[p] + view->step * planes->pixels, cols);
    }
out:
    return st;
}

/* The pixel of the folder's poi.geojson. Without that file it is the pixel of the site gbg, which
 * is known only from its description. */
static qn_status find_poi(qn_golden *g, const qn_sw_day *day, const qn_sw_place *place, qn_i64 *out,
                          qn_err *err)
{
    char file[64], path[QN_GOLDEN_PATH];
    qn_sw_pois pois = { 0 };
    qn_status st = QN_OK;

    snprintf(file, sizeof file, "%s/poi.geojson", day->folder);
    qn_golden_path(g, file, path);
    *out = -1;
    if (!qn_golden_has(g, file)) {
        if (!strcmp(day->folder, "gbg") && place->rows > 51 && place->cols > 117)
            *out = 51 * place->cols + 117;
        return QN_OK;
    }
    QN_TRY(qn_golden_refuse(g, file, qn_sw_pois_read(path, place, &pois, err), err));
    if (pois.n)
        *out = pois.list[0].row * place->cols + pois.list[0].col;
out:
    qn_sw_pois_free(&pois);
    return st;
}

static qn_status run_day(qn_golden *g, const qn_sw_day *day, day_planes *planes, qn_err *err)
{
    const char *const weather[] = { day->met };
    const qn_sw_run_hooks options = { .observe = record_step,
                                      .watched = planes->watched,
                                      .user = planes };
    qn_sw_run_result result = { 0 };
    qn_sw_check_site_files files = { 0 };
    qn_sw_layer_options layers;
    qn_sw_run_options o;
    qn_sw_run_config config;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_check_site_find(g, day->folder, &files, err));
    qn_sw_layer_options_init(&layers, sizeof layers);
    layers.dsm_file = files.dsm;
    layers.dem_file = files.dem;
    layers.cdsm_file = files.cdsm;
    layers.landcover_file = files.land_cover;
    layers.reference = 1;
    qn_sw_run_options_init(&o, sizeof o);
    o.weather_files = weather;
    o.n_weather_files = 1;
    if (day->has_more) {
        o.from = day->first;
        o.to = day->last;
    }
    o.latitude = qn_sw_day_site.latitude;
    o.longitude = qn_sw_day_site.longitude;
    o.altitude = qn_sw_day_site.altitude;
    o.utc_offset = qn_sw_day_site.utc_offset;
    o.person = day->is_sitting ? QN_SW_SITTING : QN_SW_STANDING;
    o.sky = day->is_iso ? QN_SW_ISOTROPIC : QN_SW_ANISOTROPIC;
    o.ignore_split = day->is_estimated;
    QN_TRY(qn_sw_run_config_read(&layers, &o, &config, err));
    planes->n_rows = day->weather.n_rows;
    QN_TRY(qn_golden_refuse(g, day->file, qn_sw_simulate(g->ctx, &config, &options, &result, err),
                            err));
    QN_TRY(find_poi(g, day, &result.place, &planes->poi, err));
out:
    qn_sw_run_result_free(&result);
    return st;
}

/* Against the series. */

typedef struct row_figures {
    double mean, min, max;
} row_figures;

/* Over every `stride`-th pixel that is a number. */
static row_figures figures_of(const float *plane, size_t n, size_t stride)
{
    row_figures f = { .min = INFINITY, .max = -INFINITY };
    double sum = 0, count = 0;

    for (size_t i = 0; i < n; i += stride) {
        const double v = (double)plane[i];

        if (isnan(v))
            continue;
        sum += v;
        count++;
        f.min = fmin(f.min, v);
        f.max = fmax(f.max, v);
    }
    f.mean = sum / count;
    return f;
}

/* Kinds of columns: how a row's figure follows from a plane. */
typedef enum { MEAN, LEAST, MOST, STRIDED_MEAN, AT_POI } figure;

static const struct column {
    const char *name;
    qn_sw_plane plane;
    figure figure;
    const qn_limit *limit;
    int by_day; /* at night the reference has no meaning there */
} columns[] = {
    { "tmrt_mean", QN_SW_TMRT, MEAN, &mean_kelvin, 0 },
    { "tmrt_min", QN_SW_TMRT, LEAST, &one_kelvin, 0 },
    { "tmrt_max", QN_SW_TMRT, MOST, &one_kelvin, 0 },
    { "utci_mean", QN_SW_UTCI, STRIDED_MEAN, &mean_kelvin, 0 },
    { "sunlit_mean", QN_SW_SHADOW, MEAN, &sunlit, 1 },
    { "poi_tmrt", QN_SW_TMRT, AT_POI, &one_kelvin, 0 },
    { "poi_shadow", QN_SW_SHADOW, AT_POI, &sunlit, 1 },
    { "poi_kdown", QN_SW_KDOWN, AT_POI, &one_watt, 0 },
    { "poi_kup", QN_SW_KUP, AT_POI, &one_watt, 0 },
    { "poi_ldown", QN_SW_LDOWN, AT_POI, &one_watt, 0 },
    { "poi_lup", QN_SW_LUP, AT_POI, &one_watt, 0 },
};

static double figure_of(const day_planes *planes, const struct column *column, size_t row)
{
    const float *plane = planes->plane[column->plane] + row * planes->pixels;

    switch (column->figure) {
    case MEAN:
        return figures_of(plane, planes->pixels, 1).mean;
    case LEAST:
        return figures_of(plane, planes->pixels, 1).min;
    case MOST:
        return figures_of(plane, planes->pixels, 1).max;
    case STRIDED_MEAN:
        return figures_of(plane, planes->pixels, UTCI_STRIDE).mean;
    default:
        return (double)plane[planes->poi];
    }
}

static void compare_series(qn_golden *g, const day_planes *planes)
{
    const qn_csv *csv = planes->day->series;

    if (csv->n_rows != planes->n_rows) {
        qn_golden_add_why(g, QN_FINDING_OUT, planes->day->file, "%zu rows, not %zu", csv->n_rows,
                          planes->n_rows);
        return;
    }
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        const struct column *c = &columns[k];
        qn_tally tally = { .limit = *c->limit };

        if ((c->figure == AT_POI && planes->poi < 0) || !planes->plane[c->plane])
            continue;
        for (size_t row = 0; row < csv->n_rows; row++)
            if (!c->by_day || qn_golden_cell(csv, row, "sun_altitude") > 0)
                qn_tally_add(&tally, figure_of(planes, c, row), qn_golden_cell(csv, row, c->name));
        qn_golden_add(g, &tally, "%s %s", planes->day->file, c->name);
    }
}

/* Against rasters. */

static qn_limit limit_of(int plane)
{
    switch (plane) {
    case QN_SW_TMRT:
    case QN_SW_UTCI:
        return kelvin;
    case QN_SW_PET:
        return (qn_limit){ .abs = 0.02, .share = 0.999, .most = 0.2 };
    case QN_SW_SHADOW:
        return exact;
    default:
        return watts;
    }
}

/* The row whose time stamp lies in this hour. */
static int row_of_hour(const qn_sw_day *day, int hour)
{
    for (size_t i = 0; i < day->weather.n_rows; i++)
        if (day->weather.rows[i].date.hour == hour)
            return (int)i;
    return -1;
}

static qn_status hours_of(qn_golden *g, const qn_sw_day *day, int plane, qn_golden_names *out,
                          qn_err *err)
{
    char prefix[128];

    snprintf(prefix, sizeof prefix, "%s_%s_h", day->kind, qn_sw_plane_name((qn_sw_plane)plane));
    return qn_golden_list(g, day->folder, prefix, ".npy", out, err);
}

static void compare_raster(qn_golden *g, const day_planes *planes, int plane, const char *hour)
{
    const qn_sw_day *day = planes->day;
    const int row = row_of_hour(day, (int)strtol(hour, NULL, 10));
    char file[256];

    snprintf(file, sizeof file, "%s/%s_%s_h%s.npy", day->folder, day->kind,
             qn_sw_plane_name((qn_sw_plane)plane), hour);
    if (row < 0 || !planes->plane[plane])
        qn_golden_add_why(g, QN_FINDING_SKIPPED, file, "the run has no such row or plane");
    else if (plane == QN_SW_SHADOW &&
             !(qn_golden_cell(day->series, (size_t)row, "sun_altitude") > 0))
        qn_golden_add_why(g, QN_FINDING_SKIPPED, file, "by night there are no shadows");
    else
        qn_golden_compare_all(g, file, planes->plane[plane] + (size_t)row * planes->pixels,
                              (qn_i64)planes->pixels, limit_of(plane));
}

/* Every raster of the day. */
static qn_status compare_rasters(qn_golden *g, const day_planes *planes, qn_err *err)
{
    size_t n_found = 0;
    char name[128];
    qn_status st = QN_OK;

    for (int p = 0; p < QN_SW_PLANES; p++) {
        qn_golden_names hours = { 0 };

        QN_TRY(hours_of(g, planes->day, p, &hours, err));
        for (size_t i = 0; i < hours.n; i++)
            compare_raster(g, planes, p, hours.list[i]);
        n_found += hours.n;
    }
    snprintf(name, sizeof name, "%s/%s_*_h*.npy", planes->day->folder, planes->day->kind);
    if (!n_found)
        qn_golden_add_why(g, QN_FINDING_SKIPPED, name, "absent");
out:
    return st;
}

static qn_status check_day(qn_golden *g, const qn_sw_day *day, qn_err *err)
{
    day_planes planes = { .g = g, .day = day, .poi = -1, .watched = all_planes };
    qn_golden_names hours = { 0 };
    qn_status st = QN_OK;

    QN_TRY(hours_of(g, day, QN_SW_PET, &hours, err));
    if (hours.n) /* slow, so only when PET is compared */
        planes.watched |= 1u << QN_SW_PET;
    QN_TRY(run_day(g, day, &planes, err));
    compare_series(g, &planes);
    QN_TRY(compare_rasters(g, &planes, err));
out:
    return st;
}

qn_status qn_sw_day_at_poi(qn_golden *g, const qn_sw_day *day, double *tmrt, qn_err *err)
{
    day_planes planes = { .g = g, .day = day, .poi = -1, .watched = 1u << QN_SW_TMRT };
    qn_status st = QN_OK;

    QN_TRY(run_day(g, day, &planes, err));
    for (size_t i = 0; i < planes.n_rows; i++)
        tmrt[i] = planes.poi < 0 || !planes.plane[QN_SW_TMRT]
                      ? NAN
                      : (double)planes.plane[QN_SW_TMRT][i * planes.pixels + (size_t)planes.poi];
out:
    return st;
}

qn_status qn_sw_check_ga(qn_golden *g, qn_err *err)
{
    return qn_sw_each_day(g, "ga", check_day, err);
}

qn_status qn_sw_check_gbg(qn_golden *g, qn_err *err)
{
    return qn_sw_each_day(g, "gbg", check_day, err);
}

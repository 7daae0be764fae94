/* readers_solweig.c - weather, rasters, points, parameters, and files that a run saves for
 * later. */
#include "fuzz.h"

#include "domain/solweig/cache/svf_cache.h"
#include "domain/solweig/input/params.h"
#include "domain/solweig/input/poi.h"
#include "domain/solweig/raster/raster.h"
#include "domain/solweig/run/run_impl.h"
#include "domain/solweig/weather/weather.h"
#include "util/npy.h"

#include <math.h>

/* Weather. */

static void check_row(const qn_sw_weather_row *r)
{
    fuzz_must(r->rh >= 0 && r->rh <= 100 && r->global >= 0 && r->ws >= 0 && isfinite(r->ta) &&
                  r->pressure_hpa >= 300 && r->pressure_hpa <= 1100,
              "weather that cannot be");
    fuzz_must(r->timestep_min > 0 && qn_sw_minutes_of(r->date.year, r->date.month, r->date.day,
                                                      r->date.hour, r->date.minute) == r->minutes,
              "a time that cannot be");
}

static qn_status read_weather(const fuzz_input *in, qn_err *err)
{
    const qn_sw_weather_options options = { .corrected = (int)(in->n & 1) };
    qn_sw_weather w = { 0 };
    const qn_status st = qn_sw_weather_read(&in->path, 1, &options, &w, err);

    fuzz_must(st != QN_OK || w.n_rows > 0, "weather without rows");
    for (size_t i = 0; i < w.n_rows; i++)
        check_row(&w.rows[i]);
    qn_sw_weather_free(&w);
    return st;
}

/* A line each: start, end, hours. */
static qn_status read_dates(const fuzz_input *in, qn_err *err)
{
    char *text = strndup((const char *)in->bytes, in->n), *next = text, *part[3];
    qn_sw_date_filter filter;
    qn_status st;

    for (int i = 0; i < 3; i++)
        if ((part[i] = next ? strsep(&next, "\n") : NULL) && !*part[i])
            part[i] = NULL;
    st = qn_sw_date_filter_parse(part[0], part[1], part[2], &filter, err);
    if (st == QN_OK)
        (void)qn_sw_date_passes(&filter, (qn_i64)in->n);
    free(text);
    return st;
}

/* Places. */

static const qn_sw_place place = {
    .rows = 10, .cols = 20, .transform = { 100, 2, 0, 50, 0, -2 }, .pixel_size = 2
};

static qn_status read_pois(const fuzz_input *in, qn_err *err)
{
    qn_sw_pois pois = { 0 };
    const qn_status st = qn_sw_pois_read(in->path, &place, &pois, err);

    for (size_t i = 0; i < pois.n; i++)
        fuzz_must(pois.list[i].row >= 0 && pois.list[i].row < place.rows && pois.list[i].col >= 0 &&
                      pois.list[i].col < place.cols,
                  "a point beside the map");
    qn_sw_pois_free(&pois);
    return st;
}

static qn_status read_place(const fuzz_input *in, qn_err *err)
{
    qn_sw_place read = { .rows = 10, .cols = 20 };
    char path[1200];
    qn_status st;

    snprintf(path, sizeof path, "%s/a.npy", in->folder);
    st = qn_sw_place_json_read(path, &read, err);
    qn_sw_place_free(&read);
    return st;
}

static qn_status read_raster(const fuzz_input *in, qn_err *err)
{
    qn_sw_raster raster = { 0 };
    const qn_status st = qn_sw_raster_read(in->path, NULL, &raster, err);

    fuzz_must(st != QN_OK || qn_sw_elems(&raster.place) <= in->n, "a raster larger than its file");
    qn_sw_raster_free(&raster);
    return st;
}

static qn_status read_params(const fuzz_input *in, qn_err *err)
{
    qn_sw_params p;
    qn_status st;

    qn_sw_params_default(&p);
    if ((st = qn_sw_params_read(in->path, &p, err)) == QN_OK)
        fuzz_must(p.cover[0].albedo >= 0 && p.cover[0].albedo <= 1 && p.trees.first_leaf_day >= 1 &&
                      p.trees.first_leaf_day <= 366,
                  "parameters that cannot be");
    return st;
}

/* An archive of arrays, in the format of saved sky view factors. */

static void seed_archive(const char *path)
{
    const qn_npy array = { .type = QN_NPY_U1, .n_dims = 3, .dims = { 2, 3, 19 } };
    const uint8_t bits[2 * 3 * 19] = { 1, 2, 4 };
    qn_sw_zip *zip = NULL;
    qn_str head = { 0 };
    qn_err err;

    if (!qn_sw_has_geotiff()) /* and so no GDAL, which writes them */
        return;
    qn_npy_add_header(&array, &head);
    fuzz_ok(qn_sw_zip_create(path, &zip, &err), &err);
    fuzz_ok(qn_sw_zip_add(zip, "shadowmat.npy", head.data, head.len, bits, sizeof bits, &err),
            &err);
    fuzz_ok(qn_sw_zip_commit(zip, &err), &err);
    qn_str_free(&head);
}

static qn_status read_member(const fuzz_input *in, qn_err *err)
{
    enum { MOST = 1 << 16 };
    qn_npy array = { 0 };
    char *bytes = NULL;
    size_t n = 0, at;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_zip_read(in->path, "shadowmat.npy", MOST, &bytes, &n, err));
    fuzz_must(n <= MOST, "more than the limit");
    QN_TRY(qn_npy_parse("shadowmat.npy", bytes, n, &array, &at, err));
out:
    free(bytes);
    return st;
}

/* Figures of a tile of an interrupted run, and their use in a report. */

static qn_status read_figures(const fuzz_input *in, qn_err *err)
{
    const qn_tile tile = { .core = { .rows = 10, .cols = 20 } };
    qn_sw_weather_row rows[2] = { 0 };
    qn_sw_sky_step sky[2] = { 0 };
    const qn_sw_forcing forcing = { .n = 2, .weather = { .rows = rows, .n_rows = 2 }, .sky = sky };
    qn_sw_figures figures = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_sw_figures_new(2, 1, "", &place, &figures, err));
    QN_TRY(qn_sw_figures_load(&figures, in->path, &tile, err));
    for (size_t step = 0; step < 2; step++)
        (void)qn_sw_figures_step(&figures, &forcing, step);
out:
    qn_sw_figures_free(&figures);
    return st;
}

static void seed_figures(const char *path)
{
    const qn_tile tile = { .core = { .rows = 10, .cols = 20 } };
    qn_sw_figures figures = { 0 };
    qn_err err;

    fuzz_ok(qn_sw_figures_new(2, 1, "", &place, &figures, &err), &err);
    fuzz_ok(qn_sw_figures_begin(&figures, 0, &err), &err);
    figures.sums[0][0] = (qn_sw_step_sums){ .tmrt = 500, .n_tmrt = 20, .utci = 400, .n_utci = 20 };
    fuzz_ok(qn_sw_figures_save(&figures, path, &tile, &err), &err);
    qn_sw_figures_free(&figures);
}

const fuzz_reader fuzz_solweig[] = {
    { .name = "epw", .file = "a.epw", .read = read_weather },
    { .name = "umep", .file = "a.txt", .read = read_weather },
    { .name = "dates", .read = read_dates },
    { .name = "poi-csv", .file = "a.csv", .read = read_pois },
    { .name = "poi-geojson", .file = "a.geojson", .read = read_pois },
    { .name = "place", .file = "a.place.json", .read = read_place },
    { .name = "raster", .file = "a.npy", .read = read_raster },
    { .name = "params", .file = "a.json", .read = read_params },
    { .name = "npz", .file = "shadowmats.npz", .read = read_member, .seed = seed_archive },
    { .name = "tile-figures", .file = "figures.npy", .read = read_figures, .seed = seed_figures },
    { .name = NULL },
};

/* sw_run_fixture.h - whole runs for tests: a site of golden data, a small city, stored results. */
#ifndef QN_TESTS_SW_RUN_FIXTURE_H
#define QN_TESTS_SW_RUN_FIXTURE_H

/* First, since a name in the fixtures would hide its parameters. */
#include "domain/solweig/api/api.h"

#include "sw_surface_fixture.h"

#include "util/csv.h"
#include "util/file.h"
#include "util/temp_dir.h"

/* Paths of the site Gustav Adolfs torg; they live as long as the program. */
static inline const char *ga_path(const char *file)
{
    static char paths[8][2100];
    static int next;
    char *path = paths[next++ % 8];
    char name[256];

    snprintf(name, sizeof name, "solweig/ga/%s", file);
    snprintf(path, sizeof paths[0], "%s", golden_path(name));
    return path;
}

/* The default run of one weather file in Gothenburg, `altitude` metres above the sea. */
static inline qn_sw_run_config gothenburg_config(const char *const *weather, double altitude)
{
    qn_sw_layer_options layers;
    qn_sw_run_options options;
    qn_sw_run_config config;

    qn_sw_layer_options_init(&layers, sizeof layers);
    qn_sw_run_options_init(&options, sizeof options);
    options.weather_files = weather;
    options.n_weather_files = 1;
    options.latitude = 57.7;
    options.longitude = 12;
    options.altitude = altitude;
    options.utc_offset = 1;
    must_do(qn_sw_run_config_read(&layers, &options, &config, &err));
    return config;
}

static inline qn_sw_run_config ga_config(const char *const *weather)
{
    qn_sw_run_config config = gothenburg_config(weather, 10);

    config.layers.dsm_file = ga_path("DSM_GA.tif");
    config.layers.dem_file = ga_path("DEM_GA.tif");
    config.layers.cdsm_file = ga_path("CDSM_GA.tif");
    config.layers.landcover_file = ga_path("LC_GA.tif");
    config.layers.reference = 1;
    return config;
}

/* Planes of all rows, as passed to an observer. */

typedef struct kept_planes {
    size_t n_rows, pixels;
    qn_sw_plane_set set;
    float *plane[QN_SW_PLANES]; /* [row][pixel] of the whole raster */
    int n_views;
} kept_planes;

static inline qn_status keep_planes(void *user, const qn_sw_step_view *view, qn_err *err)
{
    kept_planes *kept = user;
    const qn_window *w = &view->window;

    (void)err;
    kept->n_views++;
    kept->pixels = qn_sw_elems(view->place);
    for (int p = 0; p < QN_SW_PLANES; p++) {
        if (!view->plane[p])
            continue;
        if (view->step >= kept->n_rows || !kept->plane[p]) {
            const size_t n = view->step + 1 > kept->n_rows ? view->step + 1 : kept->n_rows;

            kept->plane[p] = realloc(kept->plane[p], n * kept->pixels * sizeof *kept->plane[p]);
            assert_non_null(kept->plane[p]);
        }
        qn_window_paste(view->plane[p], w, sizeof(float),
                        kept->plane[p] + view->step * kept->pixels, view->place->cols);
    }
    if (view->step >= kept->n_rows)
        kept->n_rows = view->step + 1;
    return QN_OK;
}

static inline void drop_planes(kept_planes *kept)
{
    for (int p = 0; p < QN_SW_PLANES; p++)
        free(kept->plane[p]);
    *kept = (kept_planes){ 0 };
}

/* Runs and stores planes of `set`. */
static inline qn_sw_run_result run_kept(qn_ctx *ctx, const qn_sw_run_config *config,
                                        qn_sw_plane_set set, kept_planes *kept)
{
    const qn_sw_run_hooks options = { .observe = keep_planes, .watched = set, .user = kept };
    qn_sw_run_result result = { 0 };

    kept->set = set;
    must_do(qn_sw_simulate(ctx, config, &options, &result, &err));
    return result;
}

static inline void assert_same_planes(const char *what, const kept_planes *a, const kept_planes *b)
{
    assert_int_equal(a->n_rows, b->n_rows);
    assert_int_equal(a->pixels, b->pixels);
    for (int p = 0; p < QN_SW_PLANES; p++)
        for (size_t i = 0; a->plane[p] && i < a->n_rows * a->pixels; i++)
            if (memcmp(&a->plane[p][i], &b->plane[p][i], sizeof(float)))
                fail_msg("%s: %s of row %zu, pixel %zu is %.9g, not %.9g", what,
                         qn_sw_plane_name((qn_sw_plane)p), i / a->pixels, i % a->pixels,
                         (double)b->plane[p][i], (double)a->plane[p][i]);
}

#endif

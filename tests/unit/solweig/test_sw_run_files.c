/* test_sw_run_files.c - files of a run, of a killed run, and refused ones. */
/* test: cost 33 */
#include "sw_small_city.h"

#include "domain/solweig/cache/svf_cache.h"
#include "domain/solweig/view/view.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/run_folder.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { FILES_ROWS = 60, FILES_COLS = 70 };

static int make_small(void **state)
{
    static const char pois[] = "name,row,col\nyard,12,13\ncorner,59,69\n";

    (void)state;
    if (make_folder(state) != 0)
        return -1;
    write_city(FILES_ROWS, FILES_COLS);
    write_city_weather();
    must_do(qn_file_write(in_folder("pois.csv"), pois, sizeof pois - 1, &err));
    return 0;
}

static qn_sw_run_config files_config(const char *out)
{
    qn_sw_run_config config = city_config();

    config.options.out = in_folder(out);
    config.options.tile = 32;
    config.options.pois = in_folder("pois.csv");
    config.outputs = 1u << QN_SW_TMRT | 1u << QN_SW_PET;
    return config;
}

static int is_there(const char *name)
{
    return access(in_folder(name), F_OK) == 0;
}

static const char *ending(void)
{
    return qn_sw_has_geotiff() ? "tif" : "npy";
}

/* The bytes of two files must be equal. */
static void assert_same_file(const char *a, const char *b)
{
    char *x = NULL, *y = NULL;
    size_t n = 0, m = 0;

    must_do(qn_file_read(in_folder(a), &x, &n, &err));
    must_do(qn_file_read(in_folder(b), &y, &m, &err));
    if (n != m || memcmp(x, y, n))
        fail_msg("%s and %s differ", a, b);
    free(x);
    free(y);
}

static void assert_same_raster(const char *a, const char *b)
{
    qn_sw_raster x = { 0 }, y = { 0 };

    must_do(qn_sw_raster_read(in_folder(a), NULL, &x, &err));
    must_do(qn_sw_raster_read(in_folder(b), NULL, &y, &err));
    assert_int_equal(qn_sw_elems(&x.place), qn_sw_elems(&y.place));
    if (memcmp(x.data, y.data, qn_sw_elems(&x.place) * sizeof(float)))
        fail_msg("%s and %s differ", a, b);
    qn_sw_raster_free(&x);
    qn_sw_raster_free(&y);
}

static const char *const rasters[] = {
    "tmrt/tmrt_20060726_0450",
    "tmrt/tmrt_20060726_1300",
    "tmrt/tmrt_20060726_2300",
    "pet/pet_20060726_1300",
    "summary/tmrt_mean",
    "summary/utci_max",
    "summary/sun_hours",
    "summary/utci_hours_above_32_day",
    "summary/utci_hours_above_26_night",
};

static void assert_same_results(const char *a, const char *b)
{
    char x[128], y[128];

    for (size_t i = 0; i < sizeof rasters / sizeof *rasters; i++) {
        snprintf(x, sizeof x, "%s/%s.%s", a, rasters[i], ending());
        snprintf(y, sizeof y, "%s/%s.%s", b, rasters[i], ending());
        assert_same_raster(x, y);
    }
    snprintf(x, sizeof x, "%s/timeseries.csv", a);
    snprintf(y, sizeof y, "%s/timeseries.csv", b);
    assert_same_file(x, y);
    snprintf(x, sizeof x, "%s/pois.csv", a);
    snprintf(y, sizeof y, "%s/pois.csv", b);
    assert_same_file(x, y);
}

/* A run that is killed. */

/* Whether the journal has the second tile, which is noted while the third one is computed. */
static int has_second_tile(void)
{
    char *text = NULL;
    size_t bytes;
    int has;

    if (qn_file_read(in_folder("killed/run.journal"), &text, &bytes, NULL) != QN_OK)
        return 0;
    has = strstr(text, " fact tile.1 ") != NULL;
    free(text);
    return has;
}

static qn_status die_in_the_third_tile(void *user, const qn_sw_step_view *view, qn_err *err)
{
    int *n_starts = user;

    (void)err;
    *n_starts += view->step == 0;
    if (*n_starts < 3 || view->step < 2)
        return QN_OK;
    for (int i = 0; i < 3000 && !has_second_tile(); i++)
        qn_sleep_us(10000);
    raise(SIGKILL);
    return QN_OK;
}

static void run_and_die(void)
{
    qn_sw_run_config config = files_config("killed");
    int n_starts = 0;
    const qn_sw_run_hooks options = { .observe = die_in_the_third_tile, .user = &n_starts };
    qn_ctx *ctx = open_place(&cpu_place);
    qn_err err = { .text = "" };

    config.options.maps = "13";
    (void)qn_sw_simulate(ctx, &config, &options, NULL, &err);
    _exit(1);
}

/* First in the list: a child must be created before this process has threads. */
static void killed_run_resumes_to_the_same_files(void **state)
{
    qn_sw_run_config config;
    qn_sw_run_result result = { 0 };
    qn_ctx *ctx;
    int status = 0;
    pid_t child = fork();

    (void)state;
    if (child == 0)
        run_and_die();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_true(is_there("killed/run.unfinished"));
    assert_false(is_there("killed/run_metadata.json"));

    ctx = open_place(&cpu_place);
    config = files_config("whole");
    config.options.maps = "13";
    must_do(qn_sw_simulate(ctx, &config, NULL, NULL, &err));
    config = files_config("killed");
    config.options.maps = "13";
    config.options.resume = 1;
    config.options.corrected = 1;
    must_refuse(qn_sw_simulate(ctx, &config, NULL, NULL, &err), QN_ERR_MISMATCH, "a different one");
    config.options.corrected = 0;
    config.options.tile = 0; /* that of the run before */
    must_do(qn_sw_simulate(ctx, &config, NULL, &result, &err));
    assert_int_equal(result.plan.core, 32);
    assert_int_equal(result.n_tiles_resumed, 2);
    assert_int_equal(result.n_tiles_done, 4);
    assert_same_results("whole", "killed");
    assert_same_file("whole/maps/tmrt_20060726_1300.png", "killed/maps/tmrt_20060726_1300.png");
    assert_same_file("whole/maps/pet_20060726_1300.png", "killed/maps/pet_20060726_1300.png");
    assert_false(is_there("killed/run.unfinished"));
    qn_sw_run_result_free(&result);
    config = files_config("killed");
    config.options.maps = "13";
    config.options.resume = 1;
    must_do(qn_sw_simulate(ctx, &config, NULL, &result, &err));
    assert_true(result.was_finished && result.n_steps == 0);
    qn_sw_run_result_free(&result);
    qn_ctx_close(ctx);
}

static void a_run_that_never_began_is_started(void **state)
{
    qn_sw_run_config config = files_config("nothing");
    qn_ctx *ctx = open_place(&cpu_place);

    (void)state;
    config.options.resume = 1;
    must_do(qn_sw_simulate(ctx, &config, NULL, NULL, &err));
    assert_true(is_there("nothing/run_metadata.json"));
    config.options.out = "";
    must_refuse(qn_sw_run_config_read(&config.layers, &config.options, &config, &err), QN_ERR_USAGE,
                "nothing to resume");
    qn_ctx_close(ctx);
}

static void a_plan_with_wild_numbers_is_another_plan(void **state)
{
    const qn_run_folder_options theirs = {
        .path = in_folder("wild"),
        .plan = "solweig tile=-1 border=9223372036854775807+9223372036854775807"
    };
    qn_sw_run_config config = files_config("wild");
    qn_ctx *ctx = open_place(&cpu_place);
    qn_run_folder *folder = NULL;

    (void)state;
    must_do(qn_run_folder_open(&theirs, &folder, &err));
    must_do(qn_run_folder_commit(folder, "rasters", "1", &err));
    qn_run_folder_close(folder);
    config.options.tile = 0;
    config.options.resume = 1;
    must_refuse(qn_sw_simulate(ctx, &config, NULL, NULL, &err), QN_ERR_MISMATCH, "a different one");
    qn_ctx_close(ctx);
}

static qn_status stop_late(void *user, const qn_sw_step_view *view, qn_err *err)
{
    (void)user;
    return view->step == 4 ? qn_fail(err, QN_ERR_FAILED, "no more") : QN_OK;
}

/* A run in one tile is continued between two of its time steps. */
static void one_tile_is_continued_inside(void **state)
{
    qn_sw_run_config config = files_config("inside");
    const qn_sw_run_hooks stop = { .observe = stop_late };
    qn_sw_run_result result = { 0 };
    qn_ctx *ctx = open_place(&cpu_place);

    (void)state;
    setenv("QUERN_CHECKPOINT_S", "0", 1);
    config.options.tile = 0;
    must_refuse(qn_sw_simulate(ctx, &config, &stop, NULL, &err), QN_ERR_FAILED, "with --resume");
    config.options.resume = 1;
    must_do(qn_sw_simulate(ctx, &config, NULL, &result, &err));
    assert_int_equal(result.n_steps_resumed, 4);
    assert_int_equal(result.n_tiles_resumed, 0);
    qn_sw_run_result_free(&result);
    config = files_config("uninterrupted");
    config.options.tile = 0;
    must_do(qn_sw_simulate(ctx, &config, NULL, NULL, &err));
    unsetenv("QUERN_CHECKPOINT_S");
    assert_same_results("uninterrupted", "inside");
    qn_ctx_close(ctx);
}

/* Files. */

static void pictures_report_and_metadata_are_written(void **state)
{
    qn_sw_run_config config = files_config("full");
    qn_ctx *ctx = open_place(&cpu_place);
    json_t *root;
    char *page = NULL;
    size_t bytes = 0;

    (void)state;
    config.options.maps = "13";
    config.options.pet_table = 1;
    must_do(qn_sw_simulate(ctx, &config, NULL, NULL, &err));
    assert_true(is_there("full/maps/tmrt_20060726_1300.png"));
    assert_true(is_there("full/maps/pet_20060726_1300.png"));
    assert_false(is_there("full/maps/tmrt_20060726_2300.png"));
    must_do(qn_file_read(in_folder("full/report.html"), &page, &bytes, &err));
    assert_non_null(strstr(page, "data:image/png;base64,"));
    assert_non_null(strstr(page, "Tmrt at points of interest"));
    free(page);
    must_do(qn_json_read(in_folder("full/run_metadata.json"), &root, &err));
    assert_int_equal(json_integer_value(golden_member(root, "grid/rows")), FILES_ROWS);
    assert_int_equal(json_integer_value(golden_member(root, "timeseries/timesteps")), 5);
    assert_int_equal(json_integer_value(golden_member(root, "tile_plan/core")), 32);
    assert_string_equal(json_string_value(golden_member(root, "svf")), "computed");
    assert_true(json_is_true(golden_member(root, "parameters/use_anisotropic_sky")));
    json_decref(root);
    qn_ctx_close(ctx);
}

/* The tile's planes reach the maps twice. */
static void maps_of_a_tile_that_is_redone_are_the_same(void **state)
{
    static const char *const maps[] = { "maps/tmrt_20060726_1300.png",
                                        "maps/pet_20060726_2300.png" };
    static const char *const folders[] = { "one", "four" };

    (void)state;
    for (int tiles = 0; tiles < 2; tiles++) {
        qn_sw_run_config config = files_config("clean");
        qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim"));
        char a[64], b[64], text[4096];

        config.options.maps = "13,23";
        config.options.tile = tiles ? 40 : 0;
        must_do(qn_sw_simulate(ctx, &config, NULL, NULL, &err));
        qn_ctx_close(ctx);
        ctx = open_with(QN_OPTIONS(.backend = "sim", .fault = "copy_d2h@14*1"));
        config.options.out = in_folder(folders[tiles]);
        capture_begin();
        must_do(qn_sw_simulate(ctx, &config, NULL, NULL, &err));
        capture_end(text, sizeof text);
        qn_ctx_close(ctx);
        assert_non_null(strstr(text, ". CPU fallback.\n"));
        for (int i = 0; i < 2; i++) {
            snprintf(a, sizeof a, "clean/%s", maps[i]);
            snprintf(b, sizeof b, "%s/%s", folders[tiles], maps[i]);
            assert_same_file(a, b);
        }
    }
}

static void points_have_the_values_of_the_rasters(void **state)
{
    const qn_sw_run_config config = files_config("points");
    qn_ctx *ctx = open_place(&cpu_place);
    qn_sw_raster map = { 0 };
    qn_csv csv = { 0 };
    double value = 0;
    char path[64];

    (void)state;
    must_do(qn_sw_simulate(ctx, &config, NULL, NULL, &err));
    snprintf(path, sizeof path, "points/tmrt/tmrt_20060726_1300.%s", ending());
    must_do(qn_sw_raster_read(in_folder(path), NULL, &map, &err));
    must_do(qn_csv_read(in_folder("points/pois.csv"), &csv, &err));
    assert_int_equal(csv.n_rows, 10);
    assert_string_equal(qn_csv_get(&csv, 2, 0), "yard");
    assert_string_equal(qn_csv_get(&csv, 2, 1), "2006-07-26T13:00");
    must_do(qn_csv_f64(&csv, 2, 2, -100, 100, &value, &err));
    assert_float_equal(value, map.data[12 * FILES_COLS + 13], 1e-4);
    must_do(qn_csv_f64(&csv, 7, 2, -100, 100, &value, &err));
    assert_float_equal(value, map.data[59 * FILES_COLS + 69], 1e-4);
    qn_csv_free(&csv);
    qn_sw_raster_free(&map);
    qn_ctx_close(ctx);
}

/* Saved sky view factors. */

static void check_kept(qn_ctx *ctx, int sky)
{
    qn_sw_run_config config = city_config();
    kept_planes fresh = { 0 }, read = { 0 };
    qn_sw_run_result result;

    config.options.sky = sky;
    result = run_kept(ctx, &config, 1u << QN_SW_TMRT, &fresh);
    assert_false(result.svf_was_read);
    qn_sw_run_result_free(&result);
    config.options.svf = in_folder("svf");
    config.options.tile = 40;
    result = run_kept(ctx, &config, 1u << QN_SW_TMRT, &read);
    assert_true(result.svf_was_read);
    qn_sw_run_result_free(&result);
    assert_same_planes("with kept view factors", &fresh, &read);
    drop_planes(&fresh);
    drop_planes(&read);
}

static void cached_view_factors_give_the_same_bits(void **state)
{
    qn_sw_run_config config = city_config();
    qn_ctx *ctx = open_place(&cpu_place);
    const qn_sw_svf_job job = { .patch_option = 2, .share = 1 };
    const qn_run_folder_options folder = { .path = in_folder("svf"), .plan = "svf" };
    qn_run_folder *to = NULL;
    qn_sw_svf_arrays arrays = { 0 };
    qn_sw_svf_figures report;
    qn_sw_surface surface = { 0 };
    qn_sw_run_result result = { 0 };
    qn_sw_svf_key key;

    (void)state;
    must_do(qn_sw_surface_load(&config.layers, &surface, NULL, &err));
    must_do(qn_sw_svf_compute(ctx, &surface, &job, &arrays, &report, &err));
    key = qn_sw_svf_key_of(&surface, 2);
    must_do(qn_run_folder_open(&folder, &to, &err));
    must_do(qn_sw_svf_cache_write(to, &surface.dsm.place, &arrays, &key, &err));
    must_do(qn_run_folder_finish(to, &err));
    qn_run_folder_close(to);
    check_kept(ctx, QN_SW_ANISOTROPIC);
    check_kept(ctx, QN_SW_ISOTROPIC);

    config = city_config();
    config.options.svf = in_folder("svf");
    config.options.patches = QN_SW_145_PATCHES; /* the folder has those of 153 */
    must_do(qn_sw_simulate(ctx, &config, NULL, &result, &err));
    assert_false(result.svf_was_read);
    assert_non_null(strstr(result.svf_note, "another surface"));
    qn_sw_run_result_free(&result);
    qn_sw_svf_arrays_free(&arrays);
    qn_sw_surface_free(&surface);
    qn_ctx_close(ctx);
}

/* Refusals. */

static qn_status refuse_a_row(void *user, const qn_sw_step_view *view, qn_err *err)
{
    (void)user;
    return view->step == 3 ? qn_fail(err, QN_ERR_FAILED, "no more") : QN_OK;
}

static void failed_run_leaves_no_file(void **state)
{
    const qn_sw_run_config config = files_config("failed");
    const qn_sw_run_hooks options = { .observe = refuse_a_row };
    qn_ctx *ctx = open_place(&cpu_place);
    char path[64];

    (void)state;
    must_refuse(qn_sw_simulate(ctx, &config, &options, NULL, &err), QN_ERR_FAILED, "no more");
    snprintf(path, sizeof path, "failed/tmrt/tmrt_20060726_0450.%s", ending());
    assert_false(is_there(path));
    assert_false(is_there("failed"));
    qn_ctx_close(ctx);
}

static void bad_input_is_refused_by_name(void **state)
{
    qn_ctx *ctx = open_place(&cpu_place);
    qn_sw_run_config config = city_config();
    float *small = constant(12, 1);

    (void)state;
    config.layers.dsm_file = in_folder("none.npy");
    must_refuse(qn_sw_simulate(ctx, &config, NULL, NULL, &err), QN_ERR_IO, "none.npy");
    config = city_config();
    write_layer("odd.npy", small, 3, 4);
    config.layers.cdsm_file = in_folder("odd.npy");
    must_refuse(qn_sw_simulate(ctx, &config, NULL, NULL, &err), QN_ERR_INPUT, "odd.npy");
    config = city_config();
    config.options.latitude = NAN;
    must_refuse(qn_sw_simulate(ctx, &config, NULL, NULL, &err), QN_ERR_USAGE,
                "day.txt does not say");
    config = city_config();
    config.options.latitude = 95;
    must_refuse(qn_sw_simulate(ctx, &config, NULL, NULL, &err), QN_ERR_INPUT, "95");
    config = city_config();
    config.steps.start = "2007-01-01";
    must_refuse(qn_sw_simulate(ctx, &config, NULL, NULL, &err), QN_ERR_INPUT, "day.txt");
    config = city_config();
    config.options.patches = 5;
    must_refuse(qn_sw_run_config_read(&config.layers, &config.options, &config, &err), QN_ERR_USAGE,
                "patches");
    config = city_config();
    config.options.tile = -1;
    must_refuse(qn_sw_run_config_read(&config.layers, &config.options, &config, &err), QN_ERR_USAGE,
                "-1");
    config = city_config();
    config.options.n_weather_files = 0;
    must_refuse(qn_sw_simulate(ctx, &config, NULL, NULL, &err), QN_ERR_USAGE, "weather");
    free(small);
    qn_ctx_close(ctx);
}

static void weather_of_an_epw_file_knows_its_place(void **state)
{
    const char *weather;
    qn_sw_run_config config = city_config();
    qn_sw_run_result result = { 0 };
    qn_ctx *ctx = open_place(&cpu_place);

    (void)state;
    need_golden("solweig/weather/athens_2023_jan_jul.epw");
    weather = golden_path("solweig/weather/athens_2023_jan_jul.epw");
    config.options.weather_files = &weather;
    config.options.latitude = NAN;
    config.steps = (qn_sw_weather_options){ .start = "07-03", .hours = "6,12,23" };
    must_do(qn_sw_simulate(ctx, &config, NULL, &result, &err));
    assert_int_equal(result.n_steps, 3);
    assert_true(result.site.latitude > 37 && result.site.latitude < 39);
    assert_true(result.steps[1].sun_altitude > 60 && !result.steps[2].is_day);
    assert_true(result.steps[1].tmrt_mean > result.steps[0].tmrt_mean);
    qn_sw_run_result_free(&result);
    qn_ctx_close(ctx);
}

/* Names. */

static void lists_of_outputs_are_read_and_checked(void **state)
{
    qn_sw_plane_set set = 0;

    (void)state;
    must_do(qn_sw_planes_parse("tmrt,lup,pet", &set, &err));
    assert_int_equal(set, 1u << QN_SW_TMRT | 1u << QN_SW_LUP | 1u << QN_SW_PET);
    must_do(qn_sw_planes_parse("none", &set, &err));
    assert_int_equal(set, 0);
    must_refuse(qn_sw_planes_parse("tmrt,tmr", &set, &err), QN_ERR_USAGE, "'tmr'");
    must_refuse(qn_sw_planes_parse("", &set, &err), QN_ERR_USAGE, "''");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_run_resumes_to_the_same_files),
        cmocka_unit_test(a_run_that_never_began_is_started),
        cmocka_unit_test(a_plan_with_wild_numbers_is_another_plan),
        cmocka_unit_test(one_tile_is_continued_inside),
        cmocka_unit_test(pictures_report_and_metadata_are_written),
        cmocka_unit_test(maps_of_a_tile_that_is_redone_are_the_same),
        cmocka_unit_test(points_have_the_values_of_the_rasters),
        cmocka_unit_test(cached_view_factors_give_the_same_bits),
        cmocka_unit_test(failed_run_leaves_no_file),
        cmocka_unit_test(bad_input_is_refused_by_name),
        cmocka_unit_test(weather_of_an_epw_file_knows_its_place),
        cmocka_unit_test(lists_of_outputs_are_read_and_checked),
    };
    return cmocka_run_group_tests(tests, make_small, remove_folder);
}

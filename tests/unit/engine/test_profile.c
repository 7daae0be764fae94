/* test_profile.c - what is saved of a device, and what is not trusted. */
/* test: cost 8 */
#include "engine_fixture.h"

#include <dirent.h>
#include <math.h>
#include <sys/stat.h>

#include "engine/route/route.h"
#include "util/file.h"
#include "util/json.h"

static qn_ctx *open_here(const char *backend, const char *log)
{
    return open_with(QN_OPTIONS(.backend = backend, .cache_dir = test_folder.path, .log = log));
}

/* A context that knows something about sim:0. */
static qn_ctx *open_learned(void)
{
    qn_ctx *ctx = open_here("cpu,sim", NULL);
    qn_route_op *op = qn_router_op(ctx, "vadd");

    qn_model_restore(&op->models[1], 1000, 12.5, 0.25, 32);
    qn_model_restore(&op->models[1], 100000, 40, 1, 7);
    op->crossover[1][QN_COLD] = 250000;
    op->crossover[1][QN_RESIDENT] = 0;
    ctx->router->links[1] = (qn_link){ 6.1, 24, 7.9, 22.5, 12 };
    ctx->router->has_link = 2;
    ctx->router->speeds[1] = (qn_speed){ 3, 400, 9000, 1 };
    return ctx;
}

static void write_profile(void)
{
    qn_ctx *ctx = open_learned();
    qn_err err;

    if (qn_profile_write(ctx, 1, &err) != QN_OK)
        fail_msg("%s", err.text);
    qn_ctx_close(ctx);
}

static void path_of(char *out, size_t size)
{
    qn_ctx *ctx = open_here("cpu,sim", NULL);
    qn_err err;

    assert_int_equal(qn_profile_path(ctx, 1, out, size, &err), QN_OK);
    qn_ctx_close(ctx);
}

/* Loads, capturing stderr at info level. */
static qn_ctx *load(char *text, size_t size)
{
    qn_ctx *ctx = open_here("cpu,sim", "info");

    CAPTURE_STDERR(text, size, qn_profile_load_all(ctx));
    return ctx;
}

static int n_lines(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void profile_comes_back_as_it_was(void **state)
{
    char text[512];
    qn_ctx *ctx;
    const qn_route_op *op;

    (void)state;
    write_profile();
    ctx = load(text, sizeof text);
    op = qn_map_get(&ctx->router->ops, "vadd");
    assert_string_equal(text, "");
    assert_non_null(op);
    assert_int_equal(op->models[1].n_buckets, 2);
    assert_true(op->models[1].buckets[0]->size == 1000);
    assert_true(fabs(op->models[1].buckets[0]->median_us - 12.5) < 1e-9);
    assert_true(fabs(op->models[1].buckets[0]->mad_us - 0.25) < 1e-9);
    assert_int_equal(op->crossover[1][QN_COLD], 250000);
    assert_int_equal(op->crossover[1][QN_RESIDENT], 0);
    assert_int_equal(op->crossover[0][QN_COLD], -1);
    assert_true(ctx->router->links[1].d2h_gbps == 22.5 && ctx->router->links[1].h2d_us == 6.1);
    assert_true(ctx->router->links[1].sync_us == 12);
    assert_true(ctx->router->speeds[1].gflops == 9000 && ctx->router->speeds[1].is_measured);
    assert_int_equal(strlen(qn_profile_updated(ctx, 1)), 20);
    assert_true(qn_metric_value(qn_ctx_metrics(ctx), "gpu_threshold",
                                QN_LABELS("op", "vadd", "device", "sim:0", "mode", "cold")) ==
                250000);
    qn_ctx_close(ctx);
}

static void file_is_named_after_the_identity(void **state)
{
    char path[1200];
    const char *name;
    json_t *root;
    qn_err err;

    (void)state;
    write_profile();
    path_of(path, sizeof path);
    name = strrchr(path, '/') + 1;
    assert_int_equal(strlen(name), strlen("sim-0123456789abcdef.json"));
    assert_memory_equal(name, "sim-", 4);
    assert_int_equal(qn_json_read(path, &root, &err), QN_OK);
    assert_string_equal(json_string_value(json_object_get(root, "format")), "quern-profile/1");
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(root, "identity"), "driver")), "sim");
    json_decref(root);
}

static void nothing_but_the_profile_is_left(void **state)
{
    char path[1100];
    struct dirent *entry;
    int n = 0;
    DIR *dir;

    (void)state;
    write_profile();
    write_profile();
    snprintf(path, sizeof path, "%s/profile", test_folder.path);
    assert_non_null(dir = opendir(path));
    while ((entry = readdir(dir)))
        n += entry->d_name[0] != '.';
    closedir(dir);
    assert_int_equal(n, 1);
}

/* The file with `from` replaced by `to`. */
static void tamper(const char *from, const char *to)
{
    char path[1200], *data, *at, *made;
    size_t bytes;
    qn_err err;

    path_of(path, sizeof path);
    assert_int_equal(qn_file_read(path, &data, &bytes, &err), QN_OK);
    assert_non_null(at = strstr(data, from));
    assert_non_null(made = malloc(bytes + strlen(to) + 1));
    sprintf(made, "%.*s%s%s", (int)(at - data), data, to, at + strlen(from));
    assert_int_equal(qn_file_write(path, made, strlen(made), &err), QN_OK);
    free(made);
    free(data);
}

static void profile_that_does_not_fit_is_ignored_with_one_line(void **state)
{
    const struct {
        const char *from, *to, *told;
    } cases[] = {
        { "quern-profile/1", "quern-profile/2", "another format" },
        { "\"driver\": \"sim\"", "\"driver\": \"sim 2\"", "another driver" },
        { "\"arch\": \"sim\"", "\"arch\": \"sm_90\"", "another architecture" },
        { "\"threads\": ", "\"threads\": 9", "another host" },
        { "{", "{{", "profile" }, /* not JSON at all */
        { "\"median_us\": 12.5", "\"median_us\": -1", "point" },
        { "\"median_us\": 12.5", "\"median_us\": \"fast\"", "median_us" },
        { "\"h2d_gbps\": 24", "\"h2d_gbps\": 0", "link" },
        { "\"ops\"", "\"tricks\"", "ops" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        qn_ctx *ctx;

        write_profile();
        tamper(cases[i].from, cases[i].to);
        ctx = load(text, sizeof text);
        if (n_lines(text) != 1 || !strstr(text, "quern: info: profile ") ||
            !strstr(text, cases[i].told))
            fail_msg("%s: %s", cases[i].to, text);
        assert_null(qn_map_get(&ctx->router->ops, "vadd"));
        assert_int_equal(ctx->router->has_profile, 0);
        assert_int_equal(ctx->router->speeds[1].is_measured, 0);
        qn_ctx_close(ctx);
    }
}

static void profile_of_an_older_driver_is_mentioned(void **state)
{
    char path[1200], older[1300], text[2048];
    qn_ctx *ctx;

    (void)state;
    write_profile();
    tamper("\"driver\": \"sim\"", "\"driver\": \"old\"");
    path_of(path, sizeof path);
    snprintf(older, sizeof older, "%s/profile/sim-00000000000000aa.json", test_folder.path);
    assert_int_equal(rename(path, older), 0);
    ctx = load(text, sizeof text);
    assert_int_equal(n_lines(text), 1);
    assert_non_null(strstr(text, "sim-00000000000000aa.json is ignored: another driver"));
    qn_ctx_close(ctx);
}

static void profiles_can_be_turned_off(void **state)
{
    char text[512];
    qn_ctx *ctx;

    (void)state;
    write_profile();
    setenv("QUERN_PROFILE", "0", 1);
    ctx = load(text, sizeof text);
    unsetenv("QUERN_PROFILE");
    assert_null(qn_map_get(&ctx->router->ops, "vadd"));
    qn_ctx_close(ctx);
}

static void folder_that_cannot_be_written_is_reported(void **state)
{
    char path[1100];
    qn_ctx *ctx = open_learned();
    qn_err err;

    (void)state;
    snprintf(path, sizeof path, "%s/profile", test_folder.path);
    assert_int_equal(qn_file_write(path, "x", 1, &err),
                     QN_OK); /* a file where a folder is needed */
    assert_int_equal(qn_profile_write(ctx, 1, &err), QN_ERR_IO);
    assert_non_null(strstr(err.text, path));
    qn_ctx_close(ctx);
}

/* Calibration. */

static qn_ctx *calibrated(const char *fault, const qn_calibration *how)
{
    qn_ctx *ctx =
        open_with(QN_OPTIONS(.backend = "cpu,sim", .cache_dir = test_folder.path, .fault = fault));

    must(qn_calibrate(ctx, how, &failure));
    return ctx;
}

/* A machine that stalls for seconds leaves a calibration no time to measure in, so it is
 * repeated. */
static void calibration_finds_links_and_speeds(void **state)
{
    qn_ctx *ctx = NULL;

    (void)state;
    for (int tries = 0; tries < 10; tries++) {
        qn_ctx_close(ctx);
        ctx = calibrated("sim.h2d_us=9,sim.h2d_gbps=20,sim.d2h_us=4,sim.d2h_gbps=10,"
                         "sim.launch_us=7,sim.submit_us=0,sim.gbps=200",
                         &QN_CALIBRATION(.is_quick = 1));
        if (ctx->router->speeds[0].is_measured && fabs(ctx->router->speeds[1].gbps - 200) < 4)
            break;
    }
    const qn_link *link = &ctx->router->links[1];
    assert_true(fabs(link->h2d_us - 9) < 0.1 && fabs(link->h2d_gbps - 20) < 0.2);
    assert_true(fabs(link->d2h_us - 4) < 0.1 && fabs(link->d2h_gbps - 10) < 0.2);
    assert_true(fabs(ctx->router->speeds[1].launch_us - 7) < 0.2);
    assert_true(fabs(ctx->router->speeds[1].gbps - 200) < 4);
    assert_true(ctx->router->speeds[0].is_measured);
    qn_ctx_close(ctx);
}

static void calibration_keeps_curves_and_writes_both_profiles(void **state)
{
    const qn_route_op *op = NULL, *part = NULL;
    qn_ctx *ctx = NULL;
    char path[1200];
    qn_err err;

    (void)state;
    for (double seconds = 0.3; seconds < 30; seconds *= 4) {
        qn_ctx_close(ctx);
        ctx = calibrated("sim.launch_us=100,sim.submit_us=0,sim.gbps=1000",
                         &QN_CALIBRATION(.ops = "vadd,sum_part", .op_seconds = seconds));
        op = qn_map_get(&ctx->router->ops, "vadd");
        part = qn_map_get(&ctx->router->ops, "sum_part");
        if (op->models[1].n_buckets >= 5 && op->models[0].n_buckets >= 3 &&
            part->models[1].n_buckets > 0)
            break;
    }
    assert_true(op->models[1].n_buckets >= 5 && op->models[0].n_buckets >= 3);
    assert_true(fabs(op->models[1].buckets[0]->median_us - 100) < 1);
    assert_true(op->crossover[1][QN_COLD] >= 0 && op->crossover[1][QN_RESIDENT] >= 0);
    assert_true(part->models[1].n_buckets > 0);
    for (int d = 0; d < 2; d++) {
        assert_int_equal(qn_profile_path(ctx, d, path, sizeof path, &err), QN_OK);
        assert_int_equal(access(path, R_OK), 0);
    }
    qn_ctx_close(ctx);
}

static void measuring_leaves_no_trace_in_the_counters(void **state)
{
    qn_ctx *ctx = calibrated(NULL, &QN_CALIBRATION(.ops = "vadd", .op_seconds = 0.1));

    (void)state;
    assert_int_equal(qn_ctx_transfers(ctx).h2d_count, 0);
    assert_int_equal(qn_metric_value(qn_ctx_metrics(ctx), "gpu_ops", NULL), 0);
    assert_int_equal(qn_metric_value(qn_ctx_metrics(ctx), "cpu_ops", NULL), 0);
    qn_ctx_close(ctx);
}

static void unknown_op_is_refused(void **state)
{
    qn_ctx *ctx = open_here("cpu", NULL);

    (void)state;
    assert_int_equal(qn_calibrate(ctx, &QN_CALIBRATION(.ops = "vadd,nonsense"), &failure),
                     QN_ERR_USAGE);
    assert_string_equal(failure.text, "unknown op 'nonsense'");
    assert_int_equal(qn_calibrate(ctx, &QN_CALIBRATION(.ops = "merkle_top"), &failure),
                     QN_ERR_USAGE);
    qn_ctx_close(ctx);
}

/* Devices that are simulated, or the same silicon as the CPU, get no scan, which would only take
 * time. */
static void there_is_no_scan_where_nothing_is_to_be_found(void **state)
{
    qn_ctx *ctx = open_here("cpu,sim", NULL);

    (void)state;
    qn_router_inform(ctx);
    assert_int_equal(ctx->router->ops.count, 0);
    assert_int_equal(ctx->router->speeds[0].is_measured, 0);
    qn_ctx_close(ctx);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(profile_comes_back_as_it_was),
        TEST(file_is_named_after_the_identity),
        TEST(nothing_but_the_profile_is_left),
        TEST(profile_that_does_not_fit_is_ignored_with_one_line),
        TEST(profile_of_an_older_driver_is_mentioned),
        TEST(profiles_can_be_turned_off),
        TEST(folder_that_cannot_be_written_is_reported),
        TEST(calibration_finds_links_and_speeds),
        TEST(calibration_keeps_curves_and_writes_both_profiles),
        TEST(measuring_leaves_no_trace_in_the_counters),
        TEST(unknown_op_is_refused),
        TEST(there_is_no_scan_where_nothing_is_to_be_found),
    };

    unsetenv("QUERN_PROFILE");
    unsetenv("QUERN_CACHE");
    return cmocka_run_group_tests(tests, NULL, NULL);
}

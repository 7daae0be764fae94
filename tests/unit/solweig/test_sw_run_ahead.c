/* test_sw_run_ahead.c - queued work of a run changes no file, and its amount is bounded. */
/* test: long, cost 30 */
#include "sw_small_city.h"

#include <quern/metrics.h>

#include <dirent.h>

/* A smaller city than in other tests: there are files to wait for. */
static int make_small(void **state)
{
    (void)state;
    if (make_folder(state) != 0)
        return -1;
    write_city(120, 135);
    write_city_weather();
    return 0;
}

/* A context with overlap or without. */
static qn_ctx *open_overlap(const char *overlap)
{
    qn_ctx *ctx;

    setenv("QUERN_OVERLAP", overlap, 1);
    ctx = open_place(&cpu_place);
    unsetenv("QUERN_OVERLAP");
    return ctx;
}

static qn_sw_run_result run_to(qn_ctx *ctx, const char *folder, qn_i64 tile)
{
    qn_sw_run_config config = city_config();
    qn_sw_run_result result = { 0 };

    config.options.out = in_folder(folder);
    config.outputs = 1u << QN_SW_TMRT | 1u << QN_SW_SHADOW;
    config.steps =
        (qn_sw_weather_options){ .start = "2006-07-26T13:00", .end = "2006-07-26T20:00" };
    config.options.tile = tile;
    must_do(qn_sw_simulate(ctx, &config, NULL, &result, &err));
    return result;
}

/* Every raster of one folder is equal to that of the other. */
static int compare_folder(const char *a, const char *b, const char *part)
{
    char path[2][2000];
    struct dirent **names = NULL;
    int n, n_rasters = 0;

    snprintf(path[0], sizeof path[0], "%s/%s", in_folder(a), part);
    n = scandir(path[0], &names, NULL, alphasort);
    assert_true(n > 2);
    for (int i = 0; i < n; i++) {
        char *data[2];
        size_t bytes[2];

        if (names[i]->d_name[0] != '.') {
            for (int k = 0; k < 2; k++) {
                snprintf(path[k], sizeof path[k], "%s/%s/%s", in_folder(k ? b : a), part,
                         names[i]->d_name);
                must_do(qn_file_read(path[k], &data[k], &bytes[k], &err));
            }
            assert_int_equal(bytes[0], bytes[1]);
            assert_memory_equal(data[0], data[1], bytes[0]);
            free(data[0]);
            free(data[1]);
            n_rasters++;
        }
        free(names[i]);
    }
    free(names);
    return n_rasters;
}

static void overlap_changes_no_file(void **state)
{
    qn_ctx *behind = open_overlap("1"), *plain = open_overlap("0");
    qn_sw_run_result a = run_to(behind, "behind", 50), b = run_to(plain, "plain", 50);
    const qn_sw_run_result *both[] = { &a, &b };

    (void)state;
    assert_int_equal(compare_folder("behind", "plain", "tmrt"), 2);
    assert_int_equal(compare_folder("behind", "plain", "shadow"), 2);
    assert_int_equal(compare_folder("behind", "plain", "summary"), 15);
    for (int i = 0; i < 2; i++)
        assert_int_equal(both[i]->n_tiles_done, 9);
    assert_float_equal(a.steps[0].tmrt_mean, b.steps[0].tmrt_mean, 0);
    assert_int_equal(a.n_tiles_ahead, 8);
    assert_int_equal(b.n_tiles_ahead, 0);
    assert_true(a.queue_peak >= 1 && a.queue_peak <= 2);
    assert_int_equal(b.queue_peak, 0);
    qn_sw_run_result_free(&a);
    qn_sw_run_result_free(&b);
    qn_ctx_close(behind);
    qn_ctx_close(plain);
}

static void queue_stays_within_its_limit(void **state)
{
    static const char *const overlaps[] = { "0", "1" };

    (void)state;
    for (int i = 0; i < 2; i++) {
        qn_ctx *ctx = open_overlap(overlaps[i]);
        const qn_metrics *m = qn_ctx_metrics(ctx);
        qn_sw_run_result result = run_to(ctx, "queue", 70);

        assert_true(qn_metric_value(m, "inflight_limit", NULL) == (i ? 3 : 1));
        assert_true(qn_metric_value(m, "max_queue", NULL) >= 1);
        assert_true(qn_metric_value(m, "max_queue", NULL) <=
                    qn_metric_value(m, "inflight_limit", NULL));
        for (size_t r = 0; r < result.n_steps; r++)
            assert_true(isfinite(result.steps[r].tmrt_mean));
        qn_sw_run_result_free(&result);
        qn_ctx_close(ctx);
    }
}

/* A file that cannot be written ends the run, whichever thread writes it. */
static void a_failed_write_in_the_queue_ends_the_run(void **state)
{
    static const char *const overlaps[] = { "0", "1" };

    (void)state;
    for (int i = 0; i < 2; i++) {
        qn_ctx *ctx = open_overlap(overlaps[i]);
        qn_sw_run_config config = city_config();
        qn_err why = { .text = "" };
        char path[1600];

        config.options.out = in_folder("blocked");
        config.options.tile = 70;
        snprintf(path, sizeof path, "%s/tmrt", config.options.out);
        must_do(qn_make_parent(path, &err));
        must_do(qn_file_write(path, "x", 1, &err)); /* in place of a folder */
        assert_int_equal(qn_sw_simulate(ctx, &config, NULL, NULL, &why), QN_ERR_IO);
        assert_non_null(strstr(why.text, "tmrt"));
        qn_ctx_close(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlap_changes_no_file),
        cmocka_unit_test(queue_stays_within_its_limit),
        cmocka_unit_test(a_failed_write_in_the_queue_ends_the_run),
    };
    return cmocka_run_group_tests(tests, make_small, remove_folder);
}

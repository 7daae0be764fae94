/* test_export.c - metrics as JSON and Prometheus text: shape, order, escapes, files. */
#include "test.h"

#include "engine/telemetry/export.h"
#include "prom_check.h"
#include "util/file.h"

#include <jansson.h>

static int open_metrics(void **state)
{
    return qn_metrics_new((qn_metrics **)state, NULL) != QN_OK;
}

static int close_metrics(void **state)
{
    qn_metrics_free(*state);
    return 0;
}

static const qn_run_device devices[] = { { "cpu:0", "AMD EPYC", "avx2", "-", "vadd: lost" },
                                         { "cuda:0", "NVIDIA H100", "sm_90", "550.1", NULL } };
static const qn_fallback fallbacks[] = { { "svf.shadow", "oom", "out of memory (1 GiB)", 2 },
                                         { "init", "init", "no device", 1 } };
static const qn_run_stage stages[] = { { "vmul", "cuda:0", 1, 2.5, 0, 0 },
                                       { "vadd", "cuda:0", 24, 610.2, 6291456, 3145728 } };

static qn_run_report full_report(void)
{
    return (qn_run_report){ .run.command = "tasks run",
                            .started = "2026-01-31T12:00:00Z",
                            .run.status = "ok",
                            .wall_time_s = 0.0031,
                            .devices = devices,
                            .n_devices = 2,
                            .fallbacks = fallbacks,
                            .n_fallbacks = 2,
                            .stages = stages,
                            .n_stages = 2 };
}

static json_t *exported(qn_metrics *m, const qn_run_report *report)
{
    qn_str text = { 0 };
    json_t *json;

    assert_int_equal(qn_export_json(m, report, &text, NULL), QN_OK);
    json = json_loads(qn_str_get(&text), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    qn_str_free(&text);
    return json;
}

static char *as_prometheus(qn_metrics *m)
{
    qn_str text = { 0 };

    assert_int_equal(qn_export_prometheus(m, &text, NULL), QN_OK);
    return text.data;
}

/* Checks the keys of an object, in file order, against "a b c". */
static void assert_keys(const json_t *object, const char *expected)
{
    char keys[400] = "";
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)object, key, value)
    {
        strcat(keys, *keys ? " " : "");
        strcat(keys, key);
    }
    assert_string_equal(keys, expected);
}

static json_t *metric_named(const json_t *root, const char *name)
{
    const json_t *const list = json_object_get(root, "metrics");

    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(list, i), "name")), name) == 0)
            return json_array_get(list, i);
    return NULL;
}

/* JSON. */

static void json_has_the_documented_shape(void **state)
{
    const qn_run_report report = full_report();
    json_t *const root = exported(*state, &report);

    assert_keys(root, "format command version started wall_time_s status devices metrics fallbacks "
                      "stages");
    assert_string_equal(json_string_value(json_object_get(root, "format")), "quern-metrics/1");
    assert_string_equal(json_string_value(json_object_get(root, "command")), "tasks run");
    assert_string_equal(json_string_value(json_object_get(root, "version")), QN_VERSION);
    assert_string_equal(json_string_value(json_object_get(root, "started")),
                        "2026-01-31T12:00:00Z");
    assert_true(json_real_value(json_object_get(root, "wall_time_s")) == 0.0031);
    assert_string_equal(json_string_value(json_object_get(root, "status")), "ok");
    assert_keys(json_array_get(json_object_get(root, "devices"), 1), "id name arch driver state");
    assert_keys(json_array_get(json_object_get(root, "devices"), 0),
                "id name arch driver state reason");
    assert_keys(json_array_get(json_object_get(root, "fallbacks"), 0), "stage reason text count");
    assert_keys(json_array_get(json_object_get(root, "stages"), 0),
                "name device runs exec_us h2d_bytes d2h_bytes");
    json_decref(root);
}

static void json_tells_command_line_work_and_checks_of_a_run_that_said_so(void **state)
{
    const qn_run_check checks[] = { { "results", "the CPU", 34, 34, NAN, NAN, 1 },
                                    { "decay", "analysis", 1, NAN, 2e-3, 1e-3, 0 } };
    qn_run_report report = full_report();

    report.run.command_line = "quern tasks run --scenario all";
    report.run.n_items = 34;
    report.run.items = "tasks";
    report.run.checks = checks;
    report.run.n_checks = 2;
    json_t *const root = exported(*state, &report);
    const json_t *const list = json_object_get(root, "checks");
    const json_t *const first = json_array_get(list, 0), *const second = json_array_get(list, 1);

    assert_keys(root, "format command version started wall_time_s status command_line work checks "
                      "devices metrics fallbacks stages");
    assert_string_equal(json_string_value(json_object_get(root, "command_line")),
                        "quern tasks run --scenario all");
    assert_keys(json_object_get(root, "work"), "count name");
    assert_int_equal(json_array_size(list), 2);
    assert_keys(first, "what against values equal error limit ok");
    assert_int_equal(json_integer_value(json_object_get(first, "equal")), 34);
    assert_true(json_is_null(json_object_get(first, "error")));
    assert_true(json_is_true(json_object_get(first, "ok")));
    assert_true(json_is_null(json_object_get(second, "equal")));
    assert_true(json_real_value(json_object_get(second, "error")) == 2e-3);
    assert_true(json_is_false(json_object_get(second, "ok")));
    json_decref(root);
}

static void counts_are_integers_and_times_reals(void **state)
{
    qn_metric_add(qn_metric_of(*state, "h2d_bytes", QN_LABELS("device", "cuda:0")), 6291456);
    qn_metric_set(qn_metric_of(*state, "les_sim_time_s", NULL), 0.61);
    qn_str text = { 0 };
    assert_int_equal(qn_export_json(*state, &(qn_run_report){ 0 }, &text, NULL), QN_OK);
    assert_non_null(strstr(qn_str_get(&text), "\"value\": 6291456\n"));
    assert_non_null(strstr(qn_str_get(&text), "\"value\": 0.61\n"));
    qn_str_free(&text);
}

static void series_carry_their_labels(void **state)
{
    qn_metric_observe(
        qn_metric_of(*state, "gpu_stage_time_ms", QN_LABELS("device", "cuda:0", "stage", "vadd")),
        0.5);
    json_t *const root = exported(*state, &(qn_run_report){ 0 });
    const json_t *const metric = metric_named(root, "gpu_stage_time_ms");

    assert_keys(metric, "name labels count sum min max p50 p90 p95 p99");
    assert_keys(json_object_get(metric, "labels"), "stage device");
    assert_int_equal(json_integer_value(json_object_get(metric, "count")), 1);
    assert_true(json_real_value(json_object_get(metric, "p99")) == 0.5);
    assert_keys(metric_named(root, "gpu_ops"), "name labels value");
    json_decref(root);
}

static void numbers_that_are_not_finite_are_null(void **state)
{
    qn_metric_set(qn_metric_of(*state, "les_l2_error", NULL), NAN);
    qn_metric_set(qn_metric_of(*state, "les_energy_drift", NULL), INFINITY);
    qn_metric_of(*state, "arc_program_time_ms", NULL); /* never observed */
    json_t *const root = exported(*state, &(qn_run_report){ 0 });

    assert_true(json_is_null(json_object_get(metric_named(root, "les_l2_error"), "value")));
    assert_true(json_is_null(json_object_get(metric_named(root, "les_energy_drift"), "value")));
    assert_true(json_is_null(json_object_get(metric_named(root, "arc_program_time_ms"), "p50")));
    json_decref(root);
}

static void the_run_and_the_metric_tell_the_same_wall_time(void **state)
{
    const qn_run_report report = full_report();
    json_t *const root = exported(*state, &report);

    assert_true(json_equal(json_object_get(root, "wall_time_s"),
                           json_object_get(metric_named(root, "wall_time_s"), "value")));
    json_decref(root);
}

static void fallbacks_and_stages_are_sorted(void **state)
{
    const qn_run_report report = full_report();
    json_t *const root = exported(*state, &report);
    const json_t *const fallback = json_array_get(json_object_get(root, "fallbacks"), 0);
    const json_t *const stage = json_array_get(json_object_get(root, "stages"), 0);

    assert_string_equal(json_string_value(json_object_get(fallback, "stage")), "init");
    assert_string_equal(json_string_value(json_object_get(stage, "name")), "vadd");
    assert_int_equal(json_integer_value(json_object_get(stage, "h2d_bytes")), 6291456);
    json_decref(root);
}

static void output_does_not_depend_on_the_order_of_counting(void **state)
{
    static const char *const pools[] = { "device", "host", "staging" };
    const qn_run_report report = full_report();
    qn_metrics *other = NULL;
    qn_str a = { 0 }, b = { 0 };

    assert_int_equal(qn_metrics_new(&other, NULL), QN_OK);
    for (int i = 0; i < 3; i++) {
        qn_metric_add(qn_metric_of(*state, "pool_hits", QN_LABELS("pool", pools[i])), 1);
        qn_metric_add(qn_metric_of(other, "pool_hits", QN_LABELS("pool", pools[2 - i])), 1);
    }
    assert_int_equal(qn_export_json(*state, &report, &a, NULL), QN_OK);
    assert_int_equal(qn_export_json(other, &report, &b, NULL), QN_OK);
    assert_string_equal(qn_str_get(&a), qn_str_get(&b));
    qn_str_free(&a);
    qn_str_free(&b);
    qn_metrics_free(other);
}

static void text_that_is_not_utf8_is_replaced(void **state)
{
    const qn_run_device odd = { "opencl:0", "caf\xe9 \xc3\xa9 \xed\xa0\x80", NULL, NULL, NULL };
    json_t *const root = exported(*state, &(qn_run_report){ .devices = &odd, .n_devices = 1 });
    const json_t *const device = json_array_get(json_object_get(root, "devices"), 0);

    assert_string_equal(json_string_value(json_object_get(device, "name")),
                        "caf\xEF\xBF\xBD \xc3\xa9 \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    assert_string_equal(json_string_value(json_object_get(device, "arch")), "");
    json_decref(root);
}

static long allocs_left;

static void *limited_malloc(size_t bytes)
{
    return allocs_left-- > 0 ? malloc(bytes) : NULL;
}

static void running_out_of_memory_anywhere_is_reported(void **state)
{
    const qn_run_report report = full_report();
    qn_status st = QN_ERR_NOMEM;
    long limit = 0;

    json_set_alloc_funcs(limited_malloc, free);
    for (; st != QN_OK && limit < 100000; limit += 7) {
        qn_str text = { 0 };
        allocs_left = limit;
        st = qn_export_json(*state, &report, &text, NULL);
        assert_true(st == QN_OK || st == QN_ERR_NOMEM);
        qn_str_free(&text);
    }
    json_set_alloc_funcs(malloc, free);
    assert_int_equal(st, QN_OK);
    assert_true(limit > 500); /* so it failed in many places before */
}

/* Prometheus. */

static void the_checker_refuses_what_is_wrong(void **state)
{
    static const char *const bad[] = {
        "quern_x 1\n",
        "# HELP quern_x text\nquern_x 1\n",
        "# HELP quern_x text\n# TYPE quern_x counter\nquern_x 1",
        "# HELP quern_x text\n# TYPE quern_x counter\nquern_y 1\n",
        "# HELP quern_x text\n# TYPE quern_x counter\nquern_x -1\n",
        "# HELP quern_x text\n# TYPE quern_x counter\nquern_x  1\n",
        "# HELP quern_x text\n# TYPE quern_x gauge\nquern_x 1,5\n",
        "# HELP quern_x text\n# TYPE quern_x gauge\nquern_x 1\nquern_x 2\n",
        "# HELP quern_x text\n# TYPE quern_x gauge\nquern_x{a=\"b} 1\n",
        "# HELP quern_x text\n# TYPE quern_x gauge\nquern_x{a=\"b\\c\"} 1\n",
        "# HELP quern_x text\n# TYPE quern_x gauge\nquern_x{} 1\n",
        "# HELP quern_x text\n# TYPE quern_x summary\nquern_x 1\n",
        "# HELP quern_x text\n# TYPE quern_x gauge\nquern_x{quantile=\"0.5\"} 1\n",
        "# HELP quern_x text\n# TYPE quern_x gauge\n# HELP quern_x text\n# TYPE quern_x gauge\n",
    };
    prom check;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_string_not_equal(prom_check(&check, bad[i]), "");
}

static void text_is_valid_with_all_kinds_of_series(void **state)
{
    qn_metric_add(qn_metric_of(*state, "h2d_bytes", QN_LABELS("device", "cuda:0")), 0x1p60);
    qn_metric_set(qn_metric_of(*state, "les_l2_error", NULL), NAN);
    qn_metric_set(qn_metric_of(*state, "les_energy_drift", NULL), -INFINITY);
    qn_metric_observe(
        qn_metric_of(*state, "gpu_stage_time_ms", QN_LABELS("stage", "vadd", "device", "cuda:0")),
        0.5);
    qn_metric_of(*state, "arc_program_time_ms", NULL);
    char *const text = as_prometheus(*state);
    prom check;

    assert_string_equal(prom_check(&check, text), "");
    assert_non_null(strstr(text, "\nquern_les_l2_error NaN\n"));
    assert_non_null(strstr(text, "\nquern_les_energy_drift -Inf\n"));
    assert_non_null(strstr(text, "\nquern_h2d_bytes{device=\"cuda:0\"} 1.152921504606847e+18\n"));
    free(text);
}

static void histograms_become_summaries(void **state)
{
    qn_metric *const times =
        qn_metric_of(*state, "gpu_stage_time_ms", QN_LABELS("stage", "vadd", "device", "cuda:0"));
    qn_metric_observe(times, 0.5);
    qn_metric_observe(times, 0.5);
    char *const text = as_prometheus(*state);

    assert_non_null(strstr(text, "# HELP quern_gpu_stage_time_ms Device time per stage\n"
                                 "# TYPE quern_gpu_stage_time_ms summary\n"
                                 "quern_gpu_stage_time_ms{stage=\"vadd\",device=\"cuda:0\","
                                 "quantile=\"0.5\"} 0.5\n"));
    assert_non_null(strstr(text, "{stage=\"vadd\",device=\"cuda:0\",quantile=\"0.99\"} 0.5\n"
                                 "quern_gpu_stage_time_ms_sum{stage=\"vadd\",device=\"cuda:0\"} 1\n"
                                 "quern_gpu_stage_time_ms_count{stage=\"vadd\",device=\"cuda:0\"}"
                                 " 2\n"));
    free(text);
}

static void label_values_are_escaped(void **state)
{
    qn_metric_set(qn_metric_of(*state, "gpu_device_info",
                               QN_LABELS("device", "opencl:0", "name", "a \"b\" \\ c\nd")),
                  1);
    char *const text = as_prometheus(*state);
    prom check;

    assert_non_null(strstr(text, "quern_gpu_device_info{device=\"opencl:0\","
                                 "name=\"a \\\"b\\\" \\\\ c\\nd\"} 1\n"));
    assert_string_equal(prom_check(&check, text), "");
    free(text);
}

/* Files. */

static void the_ending_of_the_file_decides(void **state)
{
    const qn_run_report report = full_report();
    char folder[] = "/tmp/quern-export-XXXXXX";
    char path[80];
    char *text = NULL;
    size_t n = 0;
    prom check;

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/m.json", folder);
    assert_int_equal(qn_export_file(*state, &report, path, NULL), QN_OK);
    json_t *const json = json_load_file(path, 0, NULL);
    assert_non_null(json);
    json_decref(json);
    unlink(path);

    snprintf(path, sizeof path, "%s/m.prom", folder);
    assert_int_equal(qn_export_file(*state, &report, path, NULL), QN_OK);
    assert_int_equal(qn_file_read(path, &text, &n, NULL), QN_OK);
    assert_string_equal(prom_check(&check, text), "");
    assert_non_null(strstr(text, "quern_wall_time_s 0.0031\n"));
    free(text);
    unlink(path);
    assert_int_equal(rmdir(folder), 0); /* no temporary file is left */
}

static void other_endings_are_refused(void **state)
{
    qn_err err = { 0 };

    assert_int_equal(qn_export_file(*state, &(qn_run_report){ 0 }, "m.txt", &err), QN_ERR_USAGE);
    assert_non_null(strstr(err.text, "m.txt"));
    assert_int_equal(qn_export_check(".json", NULL), QN_ERR_USAGE);
    assert_int_equal(qn_export_check("out/m.prom", NULL), QN_OK);
}

static void a_file_that_cannot_be_written_is_an_io_error(void **state)
{
    qn_err err = { 0 };

    assert_int_equal(qn_export_file(*state, &(qn_run_report){ 0 }, "/dev/null/m.json", &err),
                     QN_ERR_IO);
    assert_non_null(strstr(err.text, "/dev/null/m.json"));
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, open_metrics, close_metrics)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(json_has_the_documented_shape),
        WITH(json_tells_command_line_work_and_checks_of_a_run_that_said_so),
        WITH(counts_are_integers_and_times_reals),
        WITH(series_carry_their_labels),
        WITH(numbers_that_are_not_finite_are_null),
        WITH(the_run_and_the_metric_tell_the_same_wall_time),
        WITH(fallbacks_and_stages_are_sorted),
        WITH(output_does_not_depend_on_the_order_of_counting),
        WITH(text_that_is_not_utf8_is_replaced),
        WITH(running_out_of_memory_anywhere_is_reported),
        cmocka_unit_test(the_checker_refuses_what_is_wrong),
        WITH(text_is_valid_with_all_kinds_of_series),
        WITH(histograms_become_summaries),
        WITH(label_values_are_escaped),
        WITH(the_ending_of_the_file_decides),
        WITH(other_endings_are_refused),
        WITH(a_file_that_cannot_be_written_is_an_io_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_summary.c - the summary printed at the end of a run. */
#include "test.h"

#include "engine/telemetry/export.h"
#include "util/format.h"

static int open_metrics(void **state)
{
    return qn_metrics_new((qn_metrics **)state, NULL) != QN_OK;
}

static int close_metrics(void **state)
{
    qn_metrics_free(*state);
    return 0;
}

static void add(qn_metrics *m, const char *name, const char *const *labels, double amount)
{
    qn_metric_add(qn_metric_of(m, name, labels), amount);
}

/* The output of `print`; the caller frees it. */
static char *summary_of(const qn_metrics *m, const qn_run_report *report)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const to = open_memstream(&text, &size);

    qn_summary_print(to, m, report);
    fclose(to);
    return text;
}

static char *stats_of(const qn_metrics *m)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const to = open_memstream(&text, &size);

    qn_stats_print(to, m);
    fclose(to);
    return text;
}

static void a_run_is_reported_in_six_lines(void **state)
{
    static const qn_run_device devices[] = { { "cpu:0", "AMD EPYC", "avx2", "", NULL },
                                             { "cuda:0", "NVIDIA H100", "sm_90", "550.1", NULL } };
    const qn_run_report report = { .run.command = "tasks run",
                                   .devices = devices,
                                   .n_devices = 2,
                                   .run.n_items = 24,
                                   .run.item = "task",
                                   .run.items = "tasks",
                                   .budget_bytes = 63.2 * 1073741824 };
    const char *const *const gpu = QN_LABELS("device", "cuda:0");
    qn_metrics *const m = *state;

    qn_metric_set(qn_metric_of(m, "wall_time_s", NULL), 0.0031);
    add(m, "gpu_ops", NULL, 24);
    add(m, "h2d_count", gpu, 48);
    add(m, "h2d_bytes", gpu, 6291456);
    add(m, "d2h_count", gpu, 24);
    add(m, "d2h_bytes", gpu, 3145728);
    qn_metric_max(qn_metric_of(m, "gpu_memory_peak_bytes", gpu), 12582912);
    add(m, "pool_hits", QN_LABELS("pool", "device"), 23);
    add(m, "pool_misses", QN_LABELS("pool", "device"), 1);
    add(m, "kernel_cache_disk_hits", NULL, 1);
    add(m, "graph_replays", NULL, 3);
    add(m, "hybrid_routing_decisions_total", QN_LABELS("op", "vadd"), 24);
    add(m, "route_probe_total", NULL, 1);
    qn_metric_observe(qn_metric_of(m, "route_mispredict_pct", NULL), 4.1);

    char *const text = summary_of(m, &report);
    assert_string_equal(
        text,
        "quern tasks run: 24 tasks in 3.1 ms (7 742 tasks/s), result ok\n"
        "  device     cuda:0 NVIDIA H100 (sm_90)      stages 24   cpu stages 0   fallbacks 0\n"
        "  transfers  h2d 48 (6.0 MiB)  d2h 24 (3.0 MiB)  elided 0   crossings 0\n"
        "  memory     peak 12.0 MiB of 63.2 GiB budget   pool hits 95.8 %   evictions 0\n"
        "  kernels    1 used, 0 compiled, 1 from disk cache    graph replays 3\n"
        "  route      24 decisions, 1 probe, mispredict p50 4.1 %\n");
    free(text);
}

static void a_run_on_the_cpu_alone_names_the_cpu(void **state)
{
    static const qn_run_device cpu = { "cpu:0", "AMD EPYC", "avx2", "", NULL };
    const qn_run_report report = { .run.command = "les run",
                                   .run.status = "failed",
                                   .devices = &cpu,
                                   .n_devices = 1,
                                   .run.n_items = 1,
                                   .run.item = "step",
                                   .run.items = "steps" };

    qn_metric_set(qn_metric_of(*state, "wall_time_s", NULL), 2);
    add(*state, "cpu_ops", NULL, 1234567);
    add(*state, "gpu_fallback_count", QN_LABELS("stage", "init", "reason", "init"), 1);
    char *const text = summary_of(*state, &report);
    assert_non_null(strstr(text, "quern les run: 1 step in 2.0 s (0.5 steps/s), result failed\n"));
    assert_non_null(strstr(text, "device     cpu:0 AMD EPYC (avx2)           stages 0   "
                                 "cpu stages 1 234 567   fallbacks 1\n"));
    assert_non_null(strstr(text, "memory     peak 0 B   pool unused   evictions 0\n"));
    assert_non_null(strstr(text, "route      0 decisions, 0 probes\n"));
    free(text);
}

static void every_device_has_a_line_and_a_failed_one_two(void **state)
{
    static const qn_run_device devices[] = { { "cuda:0", "A", "sm_90", "", NULL },
                                             { "cuda:1", "B", "", "", "vadd: lost" } };
    const qn_run_report report = { .devices = devices, .n_devices = 2 };
    char *const text = summary_of(*state, &report);

    assert_non_null(strstr(text, "  device     cuda:0 A (sm_90)                stages 0"));
    assert_non_null(strstr(text, "\n             cuda:1 B\n"));
    assert_non_null(strstr(text, "\n  failed     cuda:1: vadd: lost\n"));
    free(text);
}

static void a_run_that_counts_nothing_tells_its_time(void **state)
{
    const qn_run_report report = { .run.command = "devices" };

    qn_metric_set(qn_metric_of(*state, "wall_time_s", NULL), 0.25);
    char *const text = summary_of(*state, &report);
    assert_memory_equal(text, "quern devices: 250.0 ms, result ok\n", 35);
    free(text);
}

static void counts_are_grouped_by_thousands(void **state)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = { { 0, "0" },        { 7, "7" },          { 999, "999" },
                 { 1000, "1 000" }, { 7741.9, "7 742" }, { 1234567, "1 234 567" },
                 { 12.34, "12.3" }, { 0.25, "0.25" },    { -1234, "-1 234" },
                 { -123, "-123" },  { 100.4, "100" },    { 1e15, "1 000 000 000 000 000" } };
    char out[40];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(qn_format_count(rows[i].value, out, sizeof out), rows[i].text);
    assert_string_equal(qn_format_count(1e17, out, 6), "100 0"); /* cut, not overrun */
}

static void times_have_the_unit_that_fits(void **state)
{
    static const struct {
        double seconds;
        const char *text;
    } rows[] = { { 0, "0 us" },        { 42e-6, "42 us" },      { 0.0031, "3.1 ms" },
                 { 0.25, "250.0 ms" }, { 1.5, "1.5 s" },        { 119, "119.0 s" },
                 { 754, "12:34 min" }, { 3599.6, "1:00:00 h" }, { 7325, "2:02:05 h" } };
    char out[40];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(qn_format_time(rows[i].seconds, out, sizeof out), rows[i].text);
}

static void pools_and_buckets_are_tables(void **state)
{
    qn_metrics *const m = *state;

    add(m, "pool_hits", QN_LABELS("pool", "staging"), 93);
    add(m, "pool_misses", QN_LABELS("pool", "staging"), 7);
    add(m, "pool_misses", QN_LABELS("pool", "device"), 4);
    qn_metric_set(qn_metric_of(m, "pool_bytes_live", QN_LABELS("pool", "device")), 1048576);
    add(m, "bucket_tasks", QN_LABELS("bucket", "131072"), 1);
    add(m, "bucket_tasks", QN_LABELS("bucket", "16384"), 3);
    add(m, "bucket_elems", QN_LABELS("bucket", "16384"), 36864);
    add(m, "bucket_hits", NULL, 2);
    add(m, "bucket_misses", NULL, 2);
    char *const text = stats_of(m);
    assert_string_equal(
        text, "pool                   hits     misses    hit %  rejects         live         idle"
              "        waste\n"
              "device                    0          4      0.0        0      1.0 MiB          0 B"
              "          0 B\n"
              "staging                  93          7     93.0        0          0 B          0 B"
              "          0 B\n"
              "bucket                tasks  share %  waste %\n"
              "16384                     3     75.0     25.0\n"
              "131072                    1     25.0        -\n"
              "bucket cache: 2 hits, 2 misses, 0 buckets; plan cache: 0 hits, 0 misses\n");
    free(text);
}

static void tables_without_content_are_not_printed(void **state)
{
    char *const text = stats_of(*state);

    assert_string_equal(text, "");
    free(text);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, open_metrics, close_metrics)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(a_run_is_reported_in_six_lines),
        WITH(a_run_on_the_cpu_alone_names_the_cpu),
        WITH(every_device_has_a_line_and_a_failed_one_two),
        WITH(a_run_that_counts_nothing_tells_its_time),
        cmocka_unit_test(counts_are_grouped_by_thousands),
        cmocka_unit_test(times_have_the_unit_that_fits),
        WITH(pools_and_buckets_are_tables),
        WITH(tables_without_content_are_not_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

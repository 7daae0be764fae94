/* test_metrics.c - names, series, exact counts from many threads, rates. */
#include "test.h"

#include "engine/telemetry/export.h"
#include "engine/telemetry/metrics.h"
#include "prom_check.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { N_THREADS = 3, N_UPDATES = 500000 };

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

static void set(qn_metrics *m, const char *name, double value)
{
    qn_metric_set(qn_metric_of(m, name, NULL), value);
}

#define VALUE(m, name)    qn_metric_value(m, name, NULL)
#define ASSERT_SAME(a, b) assert_true((a) == (b))
#define ON(device)        QN_LABELS("device", device)
#define GPU_MODULE(id, unit)                                                                       \
    "gpu_" id "_executions_total", "gpu_" id "_failures_total", "gpu_" id "_cpu_fallback_total",   \
        "gpu_" id "_last_" unit "_size", "gpu_" id "_last_latency_ms",                             \
        "gpu_" id "_latency_avg_ms", "gpu_" id "_latency_min_ms", "gpu_" id "_latency_max_ms"

/* Names. */

/* The documented names, written down a second time: a name that vanishes or changes breaks the
 * dashboards of users. */
/* clang-format off */
static const char *const documented[] = {
    "gpu_available", "gpu_device_info", "gpu_total_executions", "gpu_total_failures",
    "gpu_failure_rate", "gpu_cpu_fallback_rate", "gpu_fallback_count", "gpu_queue_depth",
    "queue_depth_peak", "gpu_memory_used_bytes", "gpu_memory_peak_bytes",
    "gpu_total_exec_time_seconds", "gpu_stage_time_ms", "gpu_utilization", "gpu_busy_events",
    GPU_MODULE("crypto", "batch"), GPU_MODULE("merkle", "tree"), GPU_MODULE("vector", "batch"),
    GPU_MODULE("reduce", "batch"), GPU_MODULE("matmul", "batch"), "gpu_ops", "cpu_ops",
    "transfers", "transfer_count", "h2d_count", "h2d_bytes", "d2h_count", "d2h_bytes",
    "d2d_count", "d2d_bytes", "transfers_elided", "transfer_time_us", "crossings", "pool_hits",
    "pool_misses", "pool_usage_rejects", "pool_trims", "pool_hit_rate", "pool_bytes_live", "pool_bytes_idle",
    "pool_bytes_waste", "plan_hits", "plan_misses", "bucket_hits", "bucket_misses",
    "bucket_count", "bucket_tasks", "bucket_elems", "evictions_clean", "evictions_dirty", "oom_splits",
    "spill_bytes", "spill_file_bytes", "kernel_cache_hits", "kernel_cache_disk_hits",
    "kernel_pack_hits", "kernel_compile_wait_ms",
    "content_hits", "content_misses", "content_evictions", "content_peak_bytes", "content_uploads",
    "content_upload_bytes",
    "kernel_cache_misses", "kernel_cache_bad", "kernel_compiles", "kernel_compile_time_ms", "kernel_registers", "kernel_local_bytes",
    "kernel_live", "kernel_live_kept", "kernel_repeats",
    "fft_plans_made", "fft_plan_time_ms",
    "graph_captures", "graph_replays", "stages_fused", "submit_overhead_us", "overlap_ratio", "pipe_wall_us",
    "pipe_prepare_us", "pipe_h2d_us", "pipe_compute_us", "pipe_d2h_us",
    "hybrid_routing_decisions_total", "hybrid_batch_size", "hybrid_throughput_tps",
    "hybrid_executor_duration_ms", "hybrid_cpu_parallel_factor", "gpu_threshold",
    "recent_cpu_batches", "recent_gpu_batches", "recent_cpu_time_us", "recent_gpu_time_us",
    "route_regret", "route_probe_total", "route_mispredict_pct", "device_total_tasks",
    "device_active_tasks", "device_total_execution_ms", "device_avg_task_ms",
    "tile_turnaround_ms", "mean_turnaround", "max_queue", "inflight_limit",
    "svf_tile_wall_time_s", "svf_stitch_copy_time_ms", "svf_patch_progress_rate",
    "svf_gpu_fallback_count", "timestep_wall_time_s", "les_sim_time_s", "les_encode_time_s",
    "les_learn_time_s", "les_rollout_time_s", "les_decode_time_s", "les_plot_time_s",
    "les_video_time_s", "les_l2_error", "les_correlation", "les_energy_drift",
    "les_enstrophy_drift", "arc_program_time_ms", "arc_ops_total", "fit_batch_size",
    "fit_kernel_groups", "fit_residuals_per_s", "verify_checked", "verify_mismatched", "wall_time_s",
    "memory_overhead_pct",
};
/* clang-format on */

enum { N_DOCUMENTED = sizeof documented / sizeof *documented };

/* One update of every name that accepts updates, with all its labels. */
static void touch_everything(qn_metrics *m)
{
    for (size_t i = 0; i < qn_metrics_count(m); i++) {
        const qn_metric_def *const def = qn_metrics_def(m, i);
        const char *labels[2 * QN_MAX_LABELS + 1] = { NULL };

        if (def->derive)
            continue;
        for (int k = 0; k < QN_MAX_LABELS && def->keys[k]; k++) {
            labels[2 * k] = def->keys[k];
            labels[2 * k + 1] = "x";
        }
        if (def->type == QN_HISTOGRAM)
            qn_metric_observe(qn_metric_of(m, def->name, labels), 1);
        else if (def->type == QN_GAUGE)
            qn_metric_set(qn_metric_of(m, def->name, labels), 1);
        else
            qn_metric_add(qn_metric_of(m, def->name, labels), 1);
    }
}

static void every_documented_name_is_registered_and_no_other(void **state)
{
    for (size_t i = 0; i < N_DOCUMENTED; i++)
        assert_non_null(qn_metrics_named(*state, documented[i]));
    assert_int_equal(qn_metrics_count(*state), N_DOCUMENTED);
}

static void every_documented_name_is_exported_in_both_formats(void **state)
{
    qn_str text = { 0 }, json = { 0 };
    char wanted[128];
    prom check;

    touch_everything(*state);
    assert_int_equal(qn_export_prometheus(*state, &text, NULL), QN_OK);
    assert_int_equal(qn_export_json(*state, &(qn_run_report){ 0 }, &json, NULL), QN_OK);
    for (size_t i = 0; i < N_DOCUMENTED; i++) {
        snprintf(wanted, sizeof wanted, "# TYPE quern_%s ", documented[i]);
        assert_non_null(strstr(qn_str_get(&text), wanted));
        snprintf(wanted, sizeof wanted, "\"name\": \"%s\"", documented[i]);
        assert_non_null(strstr(qn_str_get(&json), wanted));
    }
    assert_string_equal(prom_check(&check, qn_str_get(&text)), "");
    assert_int_equal(check.n_families, N_DOCUMENTED);
    qn_str_free(&text);
    qn_str_free(&json);
}

static void every_name_has_a_help_text(void **state)
{
    for (size_t i = 0; i < qn_metrics_count(*state); i++)
        assert_true(strlen(qn_metrics_def(*state, i)->help) > 5);
}

/* How a child ends that requests a name or label that is not in the table. */
static int end_of_child_asking_for(qn_metrics *m, const char *name, const char *const *labels)
{
    int status = 0;
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit none = { 0, 0 };
        const int quiet = open("/dev/null", O_WRONLY);
        setrlimit(RLIMIT_CORE, &none);
        dup2(quiet, STDERR_FILENO);
        qn_metric *const series = qn_metric_of(m, name, labels);
        qn_metric_add(series, 1);
        qn_metric_set(series, 1);
        qn_metric_max(series, 1);
        qn_metric_observe(series, 1);
        _exit(qn_metric_summary(series).last == 0 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    return status;
}

static void assert_is_our_mistake(qn_metrics *m, const char *name, const char *const *labels)
{
    const int status = end_of_child_asking_for(m, name, labels);

#ifdef NDEBUG
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
#else
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
#endif
}

static void unknown_names_and_labels_stop_a_debug_build_and_do_no_harm_in_release(void **state)
{
    assert_is_our_mistake(*state, "no_such_metric", NULL);
    assert_is_our_mistake(*state, "h2d_bytes", QN_LABELS("colour", "red"));
    assert_is_our_mistake(*state, "gpu_failure_rate", NULL); /* computed, not set */
}

static void updates_of_no_series_are_ignored(void **state)
{
    (void)state;
    qn_metric_add(NULL, 1);
    qn_metric_set(NULL, 1);
    qn_metric_max(NULL, 1);
    qn_metric_observe(NULL, 1);
    assert_null(qn_metric_of(NULL, "gpu_ops", NULL));
}

/* Series. */

static void labels_in_any_order_name_the_same_series(void **state)
{
    qn_metric *const one =
        qn_metric_of(*state, "gpu_fallback_count", QN_LABELS("stage", "sum", "reason", "oom"));

    assert_ptr_equal(one, qn_metric_of(*state, "gpu_fallback_count",
                                       QN_LABELS("reason", "oom", "stage", "sum")));
    assert_ptr_not_equal(one, qn_metric_of(*state, "gpu_fallback_count",
                                           QN_LABELS("reason", "sum", "stage", "oom")));
}

static void thousands_of_series_are_told_apart(void **state)
{
    char stage[16];

    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 5000; i++) {
            snprintf(stage, sizeof stage, "s%d", i);
            add(*state, "gpu_fallback_count", QN_LABELS("stage", stage, "reason", "oom"), i);
        }
    for (int i = 0; i < 5000; i += 499) {
        snprintf(stage, sizeof stage, "s%d", i);
        ASSERT_SAME(qn_metric_value(*state, "gpu_fallback_count", QN_LABELS("stage", stage)),
                    2 * i);
    }
}

static void values_are_summed_over_the_series_that_match(void **state)
{
    add(*state, "gpu_fallback_count", QN_LABELS("stage", "a", "reason", "oom"), 1);
    add(*state, "gpu_fallback_count", QN_LABELS("stage", "a", "reason", "launch"), 2);
    add(*state, "gpu_fallback_count", QN_LABELS("stage", "b", "reason", "oom"), 4);

    ASSERT_SAME(VALUE(*state, "gpu_fallback_count"), 7);
    ASSERT_SAME(qn_metric_value(*state, "gpu_fallback_count", QN_LABELS("stage", "a")), 3);
    ASSERT_SAME(qn_metric_value(*state, "gpu_fallback_count", QN_LABELS("reason", "oom")), 5);
    ASSERT_SAME(
        qn_metric_value(*state, "gpu_fallback_count", QN_LABELS("reason", "oom", "stage", "b")), 4);
    ASSERT_SAME(qn_metric_value(*state, "gpu_fallback_count", QN_LABELS("stage", "c")), 0);
}

static void transfers_and_transfer_count_are_one_value(void **state)
{
    add(*state, "transfers", NULL, 2);
    add(*state, "transfer_count", NULL, 3);
    ASSERT_SAME(VALUE(*state, "transfers"), 5);
    ASSERT_SAME(VALUE(*state, "transfer_count"), 5);
}

static void the_largest_value_stays(void **state)
{
    qn_metric *const peak = qn_metric_of(*state, "queue_depth_peak", ON("sim:0"));

    qn_metric_max(peak, 3);
    qn_metric_max(peak, 7);
    qn_metric_max(peak, 5);
    ASSERT_SAME(VALUE(*state, "queue_depth_peak"), 7);
}

static void gauges_go_up_and_down(void **state)
{
    add(*state, "gpu_queue_depth", ON("sim:0"), 2);
    add(*state, "gpu_queue_depth", ON("sim:0"), -1);
    ASSERT_SAME(VALUE(*state, "gpu_queue_depth"), 1);
}

static void counters_stay_exact_beyond_the_integers_of_a_double(void **state)
{
    add(*state, "h2d_bytes", ON("sim:0"), 0x1p53);
    add(*state, "h2d_bytes", ON("sim:0"), 1);
    add(*state, "h2d_bytes", ON("sim:0"), 1);
    ASSERT_SAME(VALUE(*state, "h2d_bytes"), 0x1p53 + 2);
}

static void counters_take_fractions(void **state)
{
    add(*state, "gpu_total_exec_time_seconds", ON("sim:0"), 0.25);
    add(*state, "gpu_total_exec_time_seconds", ON("sim:0"), 2);
    ASSERT_SAME(VALUE(*state, "gpu_total_exec_time_seconds"), 2.25);
}

static void a_counter_kept_elsewhere_can_be_set(void **state)
{
    qn_metric *const hits = qn_metric_of(*state, "pool_hits", QN_LABELS("pool", "host"));

    qn_metric_set(hits, 10);
    qn_metric_set(hits, 12);
    ASSERT_SAME(VALUE(*state, "pool_hits"), 12);
}

/* Threads. */

typedef struct hammered {
    qn_metric *whole, *part, *gauge, *peak, *times;
    pthread_barrier_t start;
} hammered;

/* One kind of update at a time, from all threads at once: the more they collide, the better. */
static void *hammer(void *user)
{
    hammered *const h = user;

    pthread_barrier_wait(&h->start);
    for (int i = 1; i <= N_UPDATES; i++)
        qn_metric_add(h->whole, 1);
    pthread_barrier_wait(&h->start);
    for (int i = 1; i <= N_UPDATES; i++)
        qn_metric_add(h->part, 0.5);
    pthread_barrier_wait(&h->start);
    for (int i = 1; i <= N_UPDATES; i++)
        qn_metric_add(h->gauge, i % 2 ? 1 : -1);
    pthread_barrier_wait(&h->start);
    for (int i = 1; i <= N_UPDATES; i++)
        qn_metric_max(h->peak, i);
    pthread_barrier_wait(&h->start);
    for (int i = 1; i <= N_UPDATES; i++)
        qn_metric_observe(h->times, 2);
    return NULL;
}

static void counts_from_three_threads_are_exact(void **state)
{
    qn_metrics *const m = *state;
    hammered h = { .whole = qn_metric_of(m, "gpu_ops", NULL),
                   .part = qn_metric_of(m, "transfer_time_us", NULL),
                   .gauge = qn_metric_of(m, "gpu_queue_depth", ON("sim:0")),
                   .peak = qn_metric_of(m, "queue_depth_peak", ON("sim:0")),
                   .times = qn_metric_of(m, "kernel_compile_time_ms", NULL) };
    pthread_t threads[N_THREADS];

    assert_int_equal(pthread_barrier_init(&h.start, NULL, N_THREADS), 0);
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, &h), 0);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&h.start);

    ASSERT_SAME(VALUE(m, "gpu_ops"), N_THREADS * N_UPDATES);
    ASSERT_SAME(VALUE(m, "transfer_time_us"), N_THREADS * N_UPDATES * 0.5);
    ASSERT_SAME(VALUE(m, "gpu_queue_depth"), 0);
    ASSERT_SAME(VALUE(m, "queue_depth_peak"), N_UPDATES);
    ASSERT_SAME(VALUE(m, "kernel_compile_time_ms"), N_THREADS * N_UPDATES);
    ASSERT_SAME(qn_metric_summary(h.times).sum, N_THREADS * N_UPDATES * 2.0);
}

static void *look_up(void *metrics)
{
    char stage[16];

    for (int i = 0; i < 2000; i++) {
        snprintf(stage, sizeof stage, "s%d", i % 50);
        add(metrics, "gpu_fallback_count", QN_LABELS("stage", stage, "reason", "oom"), 1);
    }
    return NULL;
}

static void looking_up_and_exporting_at_once_makes_each_series_once(void **state)
{
    pthread_t threads[N_THREADS];
    int n = 0;

    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look_up, *state), 0);
    for (int i = 0; i < 5; i++) {
        qn_str text = { 0 };
        prom check;
        assert_int_equal(qn_export_prometheus(*state, &text, NULL), QN_OK);
        assert_string_equal(prom_check(&check, qn_str_get(&text)), "");
        qn_str_free(&text);
    }
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    for (const qn_metric *s = qn_metrics_first(*state, "gpu_fallback_count"); s; s = s->next) {
        ASSERT_SAME(qn_series_value(s), N_THREADS * 40);
        n++;
    }
    assert_int_equal(n, 50);
}

/* Rates. */

static void failure_and_fallback_rates_follow_their_counters(void **state)
{
    ASSERT_SAME(VALUE(*state, "gpu_failure_rate"), 0);

    add(*state, "gpu_total_executions", ON("sim:0"), 6);
    add(*state, "gpu_total_executions", ON("sim:1"), 2);
    add(*state, "gpu_total_failures", ON("sim:1"), 2);
    add(*state, "gpu_fallback_count", QN_LABELS("stage", "a", "reason", "oom"), 1);
    ASSERT_SAME(VALUE(*state, "gpu_failure_rate"), 0.25);
    ASSERT_SAME(VALUE(*state, "gpu_cpu_fallback_rate"), 0.125);

    add(*state, "gpu_total_executions", ON("sim:0"), 8);
    ASSERT_SAME(VALUE(*state, "gpu_failure_rate"), 0.125);
}

static void a_fallback_without_any_execution_is_not_hidden(void **state)
{
    add(*state, "gpu_fallback_count", QN_LABELS("stage", "init", "reason", "init"), 1);
    ASSERT_SAME(VALUE(*state, "gpu_cpu_fallback_rate"), 1);
}

static void pool_hit_rate_is_per_pool_and_over_all(void **state)
{
    add(*state, "pool_hits", QN_LABELS("pool", "device"), 3);
    add(*state, "pool_misses", QN_LABELS("pool", "device"), 1);
    add(*state, "pool_misses", QN_LABELS("pool", "host"), 4);
    ASSERT_SAME(qn_metric_value(*state, "pool_hit_rate", QN_LABELS("pool", "device")), 0.75);
    ASSERT_SAME(qn_metric_value(*state, "pool_hit_rate", QN_LABELS("pool", "host")), 0);
    ASSERT_SAME(VALUE(*state, "pool_hit_rate"), 0.375);
}

static void utilization_is_busy_time_per_wall_time(void **state)
{
    set(*state, "wall_time_s", 8);
    add(*state, "gpu_total_exec_time_seconds", ON("sim:0"), 2);
    add(*state, "gpu_total_exec_time_seconds", ON("sim:1"), 6);
    ASSERT_SAME(qn_metric_value(*state, "gpu_utilization", ON("sim:0")), 0.25);
    ASSERT_SAME(qn_metric_value(*state, "gpu_utilization", ON("sim:1")), 0.75);
    ASSERT_SAME(VALUE(*state, "gpu_utilization"), 0.5);
}

static void wall_time_runs_until_it_is_set(void **state)
{
    const double before = VALUE(*state, "wall_time_s");

    usleep(2000);
    assert_true(VALUE(*state, "wall_time_s") >= before + 0.002);
    set(*state, "wall_time_s", 0.5);
    ASSERT_SAME(VALUE(*state, "wall_time_s"), 0.5);
}

static void throughput_and_averages_are_quotients(void **state)
{
    set(*state, "hybrid_batch_size", 24);
    set(*state, "hybrid_executor_duration_ms", 4);
    ASSERT_SAME(VALUE(*state, "hybrid_throughput_tps"), 6000);

    add(*state, "device_total_tasks", ON("sim:0"), 4);
    add(*state, "device_total_execution_ms", ON("sim:0"), 10);
    ASSERT_SAME(qn_metric_value(*state, "device_avg_task_ms", ON("sim:0")), 2.5);

    qn_metric_observe(qn_metric_of(*state, "tile_turnaround_ms", NULL), 1);
    qn_metric_observe(qn_metric_of(*state, "tile_turnaround_ms", NULL), 4);
    ASSERT_SAME(VALUE(*state, "mean_turnaround"), 2.5);
}

static void svf_fallbacks_are_those_of_its_stages(void **state)
{
    add(*state, "gpu_fallback_count", QN_LABELS("stage", "svf.shadow", "reason", "oom"), 2);
    add(*state, "gpu_fallback_count", QN_LABELS("stage", "svf.march", "reason", "launch"), 1);
    add(*state, "gpu_fallback_count", QN_LABELS("stage", "les.step", "reason", "oom"), 4);
    ASSERT_SAME(VALUE(*state, "svf_gpu_fallback_count"), 3);
}

static void module_latencies_come_from_one_observation(void **state)
{
    qn_metric *const latency_ms = qn_metric_of(*state, "gpu_merkle_last_latency_ms", NULL);

    qn_metric_observe(latency_ms, 3);
    qn_metric_observe(latency_ms, 1);
    ASSERT_SAME(VALUE(*state, "gpu_merkle_last_latency_ms"), 1);
    ASSERT_SAME(VALUE(*state, "gpu_merkle_latency_avg_ms"), 2);
    ASSERT_SAME(VALUE(*state, "gpu_merkle_latency_min_ms"), 1);
    ASSERT_SAME(VALUE(*state, "gpu_merkle_latency_max_ms"), 3);
}

/* Collecting. */

static void samples_are_sorted_and_numbers_in_labels_by_size(void **state)
{
    const char *const expected[] = { "16384", "65536", "131072" };
    qn_sample *samples = NULL;
    size_t n = 0;
    int found = 0;

    add(*state, "bucket_tasks", QN_LABELS("bucket", "131072"), 1);
    add(*state, "bucket_tasks", QN_LABELS("bucket", "16384"), 2);
    add(*state, "bucket_tasks", QN_LABELS("bucket", "65536"), 3);
    assert_int_equal(qn_metrics_collect(*state, &samples, &n, NULL), QN_OK);
    for (size_t i = 0; i < n; i++) {
        assert_true(i == 0 || strcmp(samples[i - 1].def->name, samples[i].def->name) <= 0);
        if (strcmp(samples[i].def->name, "bucket_tasks") != 0)
            continue;
        assert_true(found < 3);
        assert_string_equal(samples[i].labels[0], expected[found++]);
    }
    assert_int_equal(found, 3);
    free(samples);
}

static void untouched_counters_are_zero_and_untouched_gauges_absent(void **state)
{
    qn_sample *samples = NULL;
    size_t n = 0;
    int counters = 0;

    assert_int_equal(qn_metrics_collect(*state, &samples, &n, NULL), QN_OK);
    for (size_t i = 0; i < n; i++) {
        counters += samples[i].def->type == QN_COUNTER;
        assert_string_not_equal(samples[i].def->name, "les_l2_error");
        if (strcmp(samples[i].def->name, "gpu_fallback_count") == 0)
            ASSERT_SAME(samples[i].value, 0);
    }
    assert_true(counters > 50);
    free(samples);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, open_metrics, close_metrics)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(every_documented_name_is_registered_and_no_other),
        WITH(every_documented_name_is_exported_in_both_formats),
        WITH(every_name_has_a_help_text),
        WITH(unknown_names_and_labels_stop_a_debug_build_and_do_no_harm_in_release),
        WITH(updates_of_no_series_are_ignored),
        WITH(labels_in_any_order_name_the_same_series),
        WITH(thousands_of_series_are_told_apart),
        WITH(values_are_summed_over_the_series_that_match),
        WITH(transfers_and_transfer_count_are_one_value),
        WITH(the_largest_value_stays),
        WITH(gauges_go_up_and_down),
        WITH(counters_stay_exact_beyond_the_integers_of_a_double),
        WITH(counters_take_fractions),
        WITH(a_counter_kept_elsewhere_can_be_set),
        WITH(counts_from_three_threads_are_exact),
        WITH(looking_up_and_exporting_at_once_makes_each_series_once),
        WITH(failure_and_fallback_rates_follow_their_counters),
        WITH(a_fallback_without_any_execution_is_not_hidden),
        WITH(pool_hit_rate_is_per_pool_and_over_all),
        WITH(utilization_is_busy_time_per_wall_time),
        WITH(wall_time_runs_until_it_is_set),
        WITH(throughput_and_averages_are_quotients),
        WITH(svf_fallbacks_are_those_of_its_stages),
        WITH(module_latencies_come_from_one_observation),
        WITH(samples_are_sorted_and_numbers_in_labels_by_size),
        WITH(untouched_counters_are_zero_and_untouched_gauges_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

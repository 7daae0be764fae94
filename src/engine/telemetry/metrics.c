/* metrics.c - every metric name of the engine, and where its series are found.
 *
 * The table is the single place where a name exists; a series is made the first time somebody
 * asks for a name with a set of labels. Counting and reading series is series.c.
 */
#include "engine/telemetry/metrics.h"

#include "engine/telemetry/derived.h"
#include "util/clock.h"
#include "util/hash.h"
#include "util/status.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
/* ROW("name", "help") and, where there is more to say, further members of qn_metric_def. */
#define COUNTER(id, ...) { .name = id, .type = QN_COUNTER, .help = __VA_ARGS__ }
#define GAUGE(id, ...)   { .name = id, .type = QN_GAUGE, .help = __VA_ARGS__ }
#define HISTO(id, ...)   { .name = id, .type = QN_HISTOGRAM, .help = __VA_ARGS__ }
#define KEYS(...)        .keys = { __VA_ARGS__ }
#define DERIVED(fn)      .derive = qn_derive_##fn

/* Names of one module; `unit` is what its stages work on. */
#define LATENCY(id) "gpu_" id "_last_latency_ms"
#define MODULE(id, unit)                                                                          \
    COUNTER("gpu_" id "_executions_total", "Stages of " id " given to a device"),                 \
    COUNTER("gpu_" id "_failures_total", "Stages of " id " that failed on a device"),             \
    COUNTER("gpu_" id "_cpu_fallback_total", "Stages of " id " that fell back to the CPU"),       \
    GAUGE("gpu_" id "_last_" unit "_size", "Items in the last " unit " of " id),                  \
    GAUGE(LATENCY(id), "Time of the last " unit " of " id, .is_tracked = 1),                      \
    GAUGE("gpu_" id "_latency_avg_ms", "Mean time per " unit " of " id, DERIVED(mean),            \
          .from = LATENCY(id)),                                                                   \
    GAUGE("gpu_" id "_latency_min_ms", "Shortest time of a " unit " of " id, DERIVED(min),        \
          .from = LATENCY(id)),                                                                   \
    GAUGE("gpu_" id "_latency_max_ms", "Longest time of a " unit " of " id, DERIVED(max),         \
          .from = LATENCY(id))

static const qn_metric_def table[] = {
    /* devices */
    GAUGE("gpu_available", "1 if the device is open and healthy", KEYS("device")),
    GAUGE("gpu_device_info", "Always 1; the labels describe the device",
          KEYS("device", "name", "backend", "driver", "arch")),
    COUNTER("gpu_total_executions", "Stages given to a device, failed ones included",
            KEYS("device")),
    COUNTER("gpu_total_failures", "Stages that failed on a device", KEYS("device")),
    GAUGE("gpu_failure_rate", "Failures per device execution", DERIVED(failure_rate)),
    GAUGE("gpu_cpu_fallback_rate", "CPU fallbacks per device execution", DERIVED(fallback_rate)),
    COUNTER("gpu_fallback_count", "Stages that fell back to the CPU", KEYS("stage", "reason")),
    GAUGE("gpu_queue_depth", "Stages submitted and not done", KEYS("device")),
    GAUGE("queue_depth_peak", "Largest queue depth of the run", KEYS("device")),
    GAUGE("gpu_memory_used_bytes", "Device memory in live and idle blocks", KEYS("device")),
    GAUGE("gpu_memory_peak_bytes", "Largest device memory of the run", KEYS("device")),
    COUNTER("gpu_total_exec_time_seconds", "Summed device time", KEYS("device")),
    HISTO("gpu_stage_time_ms", "Device time per stage", KEYS("stage", "device")),
    GAUGE("gpu_utilization", "Busy time per wall time", KEYS("device"),
          DERIVED(utilization), .from = "gpu_total_exec_time_seconds"),
    COUNTER("gpu_busy_events", "Times the device could not take work", KEYS("device")),
    MODULE("crypto", "batch"),
    MODULE("merkle", "tree"),
    MODULE("vector", "batch"),
    MODULE("reduce", "batch"),
    MODULE("matmul", "batch"),

    /* stages and transfers */
    COUNTER("gpu_ops", "Stages run on devices"),
    COUNTER("cpu_ops", "Stages run on the CPU"),
    COUNTER("transfers", "Copies between host and devices"),
    COUNTER("transfer_count", "Copies between host and devices", .same_as = "transfers"),
    COUNTER("h2d_count", "Uploads", KEYS("device")),
    COUNTER("h2d_bytes", "Bytes uploaded", KEYS("device")),
    COUNTER("d2h_count", "Downloads", KEYS("device")),
    COUNTER("d2h_bytes", "Bytes downloaded", KEYS("device")),
    COUNTER("d2d_count", "Copies from device to device", KEYS("device")),
    COUNTER("d2d_bytes", "Bytes copied from device to device", KEYS("device")),
    COUNTER("transfers_elided", "Copies saved because the data was resident"),
    COUNTER("transfer_time_us", "Time spent in copies"),
    COUNTER("crossings", "CPU stages in the middle of device work"),

    /* memory */
    COUNTER("pool_hits", "Requests served by a parked block", KEYS("pool")),
    COUNTER("pool_misses", "Requests that needed new memory", KEYS("pool")),
    COUNTER("pool_usage_rejects", "Blocks refused for lack of usage flags", KEYS("pool")),
    COUNTER("pool_trims", "Parked blocks freed for room", KEYS("pool")),
    GAUGE("pool_hit_rate", "Share of requests served by a parked block", KEYS("pool"),
          DERIVED(pool_hit_rate), .from = "pool_misses"),
    GAUGE("pool_bytes_live", "Bytes in use", KEYS("pool")),
    GAUGE("pool_bytes_idle", "Bytes parked for reuse", KEYS("pool")),
    GAUGE("pool_bytes_waste", "Bytes in use beyond what was asked for", KEYS("pool")),
    COUNTER("plan_hits", "Tasks that reused the plan of their shape"),
    COUNTER("plan_misses", "Tasks that needed a new plan"),
    COUNTER("bucket_hits", "Tasks whose bucket was cached"),
    COUNTER("bucket_misses", "Tasks whose bucket was new"),
    GAUGE("bucket_count", "Buckets in the cache"),
    COUNTER("bucket_tasks", "Tasks per bucket", KEYS("bucket")),
    COUNTER("bucket_elems", "Elements asked for by the tasks of a bucket", KEYS("bucket")),
    COUNTER("evictions_clean", "Device copies dropped that existed elsewhere"),
    COUNTER("evictions_dirty", "Device copies saved to the host, then dropped"),
    COUNTER("spill_bytes", "Bytes moved from devices to the host for room"),
    COUNTER("spill_file_bytes", "Bytes moved from the host to files for room"),
    COUNTER("oom_splits", "Stages run in pieces for want of device memory"),

    /* kernels and graphs */
    COUNTER("kernel_cache_hits", "Kernels found in memory"),
    COUNTER("kernel_cache_disk_hits", "Kernels found on disk"),
    COUNTER("kernel_cache_misses", "Kernels found nowhere"),
    COUNTER("kernel_cache_bad", "Damaged or foreign cache files ignored"),
    COUNTER("kernel_compiles", "Kernels compiled"),
    HISTO("kernel_compile_time_ms", "Time to compile a kernel"),
    GAUGE("kernel_registers", "Registers of an item", KEYS("kernel", "device")),
    GAUGE("kernel_local_bytes", "Memory of an item for what registers do not hold",
          KEYS("kernel", "device")),
    GAUGE("kernel_live", "Values of an item alive at once", KEYS("kernel")),
    GAUGE("kernel_live_kept", "The same, were none computed again", KEYS("kernel")),
    GAUGE("kernel_repeats", "Operations of an item that are done again", KEYS("kernel")),
    COUNTER("fft_plans_made", "Plans of transforms made"),
    HISTO("fft_plan_time_ms", "Time to make the plan of a transform"),
    COUNTER("graph_captures", "Graph submissions recorded"),
    COUNTER("graph_replays", "Recorded submissions replayed"),
    COUNTER("stages_fused", "Stages that were made part of one with others"),
    HISTO("submit_overhead_us", "Host time per submitted stage"),
    GAUGE("overlap_ratio", "1 - wall time / sum of the phases of a pipeline"),
    GAUGE("pipe_wall_us", "Pipeline: wall time"),
    GAUGE("pipe_prepare_us", "Pipeline: time to prepare batches"),
    GAUGE("pipe_h2d_us", "Pipeline: upload time"),
    GAUGE("pipe_compute_us", "Pipeline: compute time"),
    GAUGE("pipe_d2h_us", "Pipeline: download time"),

    /* routing and batches */
    COUNTER("hybrid_routing_decisions_total", "Routing decisions", KEYS("op", "device", "reason")),
    GAUGE("hybrid_batch_size", "Tasks of the last batch"),
    GAUGE("hybrid_throughput_tps", "Tasks per second of the last batch",
          DERIVED(throughput), .from = "hybrid_executor_duration_ms"),
    GAUGE("hybrid_executor_duration_ms", "Time of the last batch"),
    GAUGE("hybrid_cpu_parallel_factor", "CPU threads busy in the last batch"),
    GAUGE("gpu_threshold", "Size from which the device wins, 0 = none",
          KEYS("op", "device", "mode")),
    GAUGE("recent_cpu_batches", "Batches on the CPU in the router's window"),
    GAUGE("recent_gpu_batches", "Batches on devices in the router's window"),
    GAUGE("recent_cpu_time_us", "Time of the CPU batches in the router's window"),
    GAUGE("recent_gpu_time_us", "Time of the device batches in the router's window"),
    GAUGE("route_regret", "Routed time / best possible time - 1"),
    COUNTER("route_probe_total", "Decisions taken to measure"),
    HISTO("route_mispredict_pct", "Distance of predicted from measured time"),
    COUNTER("device_total_tasks", "Tasks finished by a device", KEYS("device")),
    GAUGE("device_active_tasks", "Tasks a device works on", KEYS("device")),
    COUNTER("device_total_execution_ms", "Summed task time of a device", KEYS("device")),
    GAUGE("device_avg_task_ms", "Mean task time of a device", KEYS("device"),
          DERIVED(device_avg), .from = "device_total_tasks"),

    /* tiles and workloads */
    HISTO("tile_turnaround_ms", "Submission of a tile to its result"),
    GAUGE("mean_turnaround", "Mean of tile_turnaround_ms",
          DERIVED(mean), .from = "tile_turnaround_ms"),
    GAUGE("max_queue", "Most tiles, or pieces of host work, in progress at once"),
    GAUGE("inflight_limit", "Limit of max_queue"),
    HISTO("svf_tile_wall_time_s", "Sky view factors: time per tile"),
    HISTO("svf_stitch_copy_time_ms", "Sky view factors: time to copy a tile's core"),
    GAUGE("svf_patch_progress_rate", "Sky view factors: patches per second"),
    COUNTER("svf_gpu_fallback_count", "Fallbacks of the stages svf.*", DERIVED(svf_fallbacks)),
    HISTO("timestep_wall_time_s", "Wall time per time step"),
    GAUGE("les_sim_time_s", "Time to simulate"),
    GAUGE("les_encode_time_s", "Time to encode"),
    GAUGE("les_learn_time_s", "Time to learn"),
    GAUGE("les_rollout_time_s", "Time to roll out"),
    GAUGE("les_decode_time_s", "Time to decode"),
    GAUGE("les_plot_time_s", "Time to plot"),
    GAUGE("les_video_time_s", "Time to make the video"),
    GAUGE("les_l2_error", "Relative L2 error of the surrogate"),
    GAUGE("les_correlation", "Correlation of surrogate and simulation"),
    GAUGE("les_energy_drift", "Relative change of energy"),
    GAUGE("les_enstrophy_drift", "Relative change of enstrophy"),
    HISTO("arc_program_time_ms", "Time per grid program"),
    COUNTER("arc_ops_total", "Grid operations", KEYS("op", "side")),
    HISTO("fit_batch_size", "Problems per batch"),
    GAUGE("fit_kernel_groups", "Kernel groups of the last batch"),
    GAUGE("fit_residuals_per_s", "Residuals evaluated per second"),

    /* checks and the whole run */
    GAUGE("mean_abs_diff", "Mean difference from the CPU result", KEYS("fixture")),
    GAUGE("max_abs_diff", "Largest difference from the CPU result", KEYS("fixture")),
    GAUGE("finite_pixels_pct", "Share of finite values in the result", KEYS("fixture")),
    COUNTER("verify_checked", "Stages recomputed on the CPU for comparison", KEYS("op")),
    COUNTER("verify_mismatched", "Stages whose result differed from the CPU's", KEYS("op")),
    GAUGE("wall_time_s", "Wall time of the run", DERIVED(wall_time), .is_settable = 1),
    GAUGE("memory_overhead_pct", "Host memory of the tracking per data tracked"),
};
/* clang-format on */

enum { N_NAMES = sizeof table / sizeof *table, N_CHAINS = 1024 };

/* One name with its series. */
typedef struct entry {
    const qn_metric_def *def;
    _Atomic(qn_metric *) first;
} entry;

struct qn_metrics {
    entry entries[N_NAMES]; /* sorted by name */
    /* The same series again, by hash: a large graph has one per stage. */
    _Atomic(qn_metric *) chains[N_CHAINS];
    pthread_mutex_t adding;
    qn_metric sink;
    double start_us;
};

/* Names and series. */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->def->name, ((const entry *)b)->def->name);
}

/* The place of a name; for a second name, that of the first. NULL: no such name. */
static entry *entry_of(const qn_metrics *metrics, const char *name)
{
    const qn_metric_def wanted = { .name = name };
    const entry key = { .def = &wanted };
    entry *const found = bsearch(&key, metrics->entries, N_NAMES, sizeof key, by_name);

    return found && found->def->same_as ? entry_of(metrics, found->def->same_as) : found;
}

qn_status qn_metrics_new(qn_metrics **out, qn_err *err)
{
    qn_metrics *metrics = calloc(1, sizeof *metrics);

    if (!metrics)
        return qn_fail(err, QN_ERR_NOMEM, "metrics: %zu bytes", sizeof *metrics);
    if (pthread_mutex_init(&metrics->adding, NULL)) {
        free(metrics);
        return qn_fail(err, QN_ERR_FAILED, "metrics: cannot make a mutex");
    }
    for (int i = 0; i < N_NAMES; i++)
        metrics->entries[i].def = &table[i];
    qsort(metrics->entries, N_NAMES, sizeof *metrics->entries, by_name);
    metrics->start_us = qn_now_us();
    *out = metrics;
    return QN_OK;
}

static void free_series(qn_metric *series)
{
    if (!series)
        return;
    for (int i = 0; i < QN_MAX_LABELS; i++)
        free(series->labels[i]);
    qn_histogram_free(series->histogram);
    free(series);
}

void qn_metrics_free(qn_metrics *metrics)
{
    if (!metrics)
        return;
    for (int i = 0; i < N_NAMES; i++) {
        qn_metric *series = metrics->entries[i].first;
        while (series) {
            qn_metric *const next = series->next;
            free_series(series);
            series = next;
        }
    }
    pthread_mutex_destroy(&metrics->adding);
    free(metrics);
}

size_t qn_metrics_count(const qn_metrics *metrics)
{
    (void)metrics;
    return N_NAMES;
}

const qn_metric_def *qn_metrics_def(const qn_metrics *metrics, size_t i)
{
    return metrics->entries[i].def;
}

const qn_metric_def *qn_metrics_named(const qn_metrics *metrics, const char *name)
{
    const entry *const found = entry_of(metrics, name);

    return found ? found->def : NULL;
}

const qn_metric *qn_metrics_first(const qn_metrics *metrics, const char *name)
{
    entry *const found = entry_of(metrics, name);

    return found ? atomic_load_explicit(&found->first, memory_order_acquire) : NULL;
}

double qn_metrics_age_s(const qn_metrics *metrics)
{
    return (qn_now_us() - metrics->start_us) * 1e-6;
}

/* Place of `key` among the labels of a name, or -1. */
static int key_index(const qn_metric_def *def, const char *key)
{
    for (int i = 0; i < QN_MAX_LABELS && def->keys[i]; i++)
        if (strcmp(def->keys[i], key) == 0)
            return i;
    return -1;
}

/* Sorts a label list into the order of the table; false when a key is not allowed. */
static int place_labels(const qn_metric_def *def, const char *const *labels,
                        const char *values[QN_MAX_LABELS])
{
    for (int i = 0; i < QN_MAX_LABELS; i++)
        values[i] = NULL;
    for (; labels && labels[0]; labels += 2) {
        const int i = key_index(def, labels[0]);
        if (i < 0 || !labels[1])
            return 0;
        values[i] = labels[1];
    }
    return 1;
}

static int same_label(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static _Atomic(qn_metric *) *chain_of(qn_metrics *metrics, const qn_metric_def *def,
                                      const char *const values[QN_MAX_LABELS])
{
    uint64_t hash = qn_fnv1a64(def->name, strlen(def->name));

    for (int i = 0; i < QN_MAX_LABELS; i++)
        if (values[i]) /* with its NUL, so that "ab", "c" and "a", "bc" differ */
            hash = qn_fnv1a64_add(hash, values[i], strlen(values[i]) + 1);
    return &metrics->chains[hash % N_CHAINS];
}

static qn_metric *find_series(_Atomic(qn_metric *) *chain, const qn_metric_def *def,
                              const char *const values[QN_MAX_LABELS])
{
    qn_metric *series = atomic_load_explicit(chain, memory_order_acquire);

    for (; series; series = series->chain) {
        int i = 0;
        while (i < QN_MAX_LABELS && same_label(series->labels[i], values[i]))
            i++;
        if (series->def == def && i == QN_MAX_LABELS)
            return series;
    }
    return NULL;
}

/* NULL when there is no memory. */
static qn_metric *new_series(const qn_metric_def *def, const char *const values[QN_MAX_LABELS])
{
    qn_metric *series = calloc(1, sizeof *series);

    if (!series)
        return NULL;
    series->def = def;
    for (int i = 0; i < QN_MAX_LABELS; i++)
        if (values[i] && !(series->labels[i] = strdup(values[i])))
            goto failed;
    if ((def->type == QN_HISTOGRAM || def->is_tracked) &&
        qn_histogram_new(&series->histogram, NULL) != QN_OK)
        goto failed;
    return series;
failed:
    free_series(series);
    return NULL;
}

qn_metric *qn_metric_of(qn_metrics *metrics, const char *name, const char *const *labels)
{
    const char *values[QN_MAX_LABELS];
    entry *const found = metrics ? entry_of(metrics, name) : NULL;
    qn_metric *series;

    if (!metrics)
        return NULL;
    assert(found && "metric name is not in the table");
    if (!found)
        return &metrics->sink;
    const int is_fed = !found->def->derive || found->def->is_settable;
    const int is_placed = place_labels(found->def, labels, values);
    assert(is_fed && "a derived metric cannot be updated");
    assert(is_placed && "label is not in the table");
    if (!is_fed || !is_placed)
        return &metrics->sink;

    _Atomic(qn_metric *) *const chain = chain_of(metrics, found->def, values);
    if ((series = find_series(chain, found->def, values)))
        return series;
    pthread_mutex_lock(&metrics->adding);
    if (!(series = find_series(chain, found->def, values)) &&
        (series = new_series(found->def, values))) {
        series->next = found->first;
        series->chain = *chain;
        atomic_store_explicit(&found->first, series, memory_order_release);
        atomic_store_explicit(chain, series, memory_order_release);
    }
    pthread_mutex_unlock(&metrics->adding);
    /* Out of memory: the run goes on, this series is not counted. */
    return series ? series : &metrics->sink;
}

const qn_metric *qn_metric_next(const qn_metrics *metrics, const char *name,
                                const qn_metric *before)
{
    return before ? before->next : qn_metrics_first(metrics, name);
}

const char *qn_metric_label(const qn_metric *metric, const char *key)
{
    const int i = metric->def ? key_index(metric->def, key) : -1;

    return i < 0 ? NULL : metric->labels[i];
}

/* metrics.c - the metric names of the engine and of all tools, with their series.
 *
 * Each name is in one table, here or in its tool. A series is made when a name is first requested
 * with a set of labels. series.c counts into series and reads them.
 */
#include "engine/telemetry/metrics.h"

#include "util/clock.h"
#include "util/hash.h"
#include "util/status.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const qn_metric_def table[] = {
    /* devices */
    QN_GAUGE_ROW("gpu_available", "1 if the device is open and healthy", QN_KEYS("device")),
    QN_GAUGE_ROW("gpu_device_info", "Always 1; the labels describe the device",
                 QN_KEYS("device", "name", "backend", "driver", "arch")),
    QN_COUNTER_ROW("gpu_total_executions", "Stages given to a device, failed ones included",
                   QN_KEYS("device")),
    QN_COUNTER_ROW("gpu_total_failures", "Stages that failed on a device", QN_KEYS("device")),
    QN_GAUGE_ROW("gpu_failure_rate", "Failures per device execution",
                 .derive = qn_derive_failure_rate),
    QN_GAUGE_ROW("gpu_cpu_fallback_rate", "CPU fallbacks per device execution",
                 .derive = qn_derive_fallback_rate),
    QN_COUNTER_ROW("gpu_fallback_count", "Stages that fell back to the CPU",
                   QN_KEYS("stage", "reason")),
    QN_GAUGE_ROW("gpu_queue_depth", "Stages submitted and not done", QN_KEYS("device")),
    QN_GAUGE_ROW("queue_depth_peak", "Largest queue depth of the run", QN_KEYS("device")),
    QN_GAUGE_ROW("gpu_memory_used_bytes", "Device memory in live and idle blocks",
                 QN_KEYS("device")),
    QN_GAUGE_ROW("gpu_memory_peak_bytes", "Largest device memory of the run", QN_KEYS("device")),
    QN_COUNTER_ROW("gpu_total_exec_time_seconds",
                   "Summed device time of the stages that were timed", QN_KEYS("device"),
                   .is_measured = 1),
    QN_HISTOGRAM_ROW("gpu_stage_time_ms", "Device time per stage", QN_KEYS("stage", "device")),
    QN_GAUGE_ROW("gpu_utilization", "Busy time per wall time", QN_KEYS("device"),
                 .derive = qn_derive_utilization, .from = "gpu_total_exec_time_seconds"),
    QN_COUNTER_ROW("gpu_busy_events", "Times the device could not take work", QN_KEYS("device")),

    /* stages and transfers */
    QN_COUNTER_ROW("gpu_ops", "Stages run on devices"),
    QN_COUNTER_ROW("cpu_ops", "Stages run on the CPU"),
    QN_COUNTER_ROW("transfers", "Copies between host and devices"),
    QN_COUNTER_ROW("transfer_count", "Copies between host and devices", .same_as = "transfers"),
    QN_COUNTER_ROW("h2d_count", "Uploads", QN_KEYS("device")),
    QN_COUNTER_ROW("h2d_bytes", "Bytes uploaded", QN_KEYS("device")),
    QN_COUNTER_ROW("d2h_count", "Downloads", QN_KEYS("device")),
    QN_COUNTER_ROW("d2h_bytes", "Bytes downloaded", QN_KEYS("device")),
    QN_COUNTER_ROW("d2d_count", "Copies from device to device", QN_KEYS("device")),
    QN_COUNTER_ROW("d2d_bytes", "Bytes copied from device to device", QN_KEYS("device")),
    QN_COUNTER_ROW("transfers_elided", "Copies saved because the data was resident"),
    QN_COUNTER_ROW("transfer_time_us", "Time spent in copies"),
    QN_COUNTER_ROW("crossings", "CPU stages in the middle of device work"),

    /* memory */
    QN_COUNTER_ROW("pool_hits", "Requests served by a parked block", QN_KEYS("pool")),
    QN_COUNTER_ROW("pool_misses", "Requests that needed new memory", QN_KEYS("pool")),
    QN_COUNTER_ROW("pool_usage_rejects", "Blocks refused for lack of usage flags", QN_KEYS("pool")),
    QN_COUNTER_ROW("pool_trims", "Parked blocks freed for room", QN_KEYS("pool")),
    QN_GAUGE_ROW("pool_hit_rate", "Share of requests served by a parked block", QN_KEYS("pool"),
                 .derive = qn_derive_pool_hit_rate, .from = "pool_misses"),
    QN_GAUGE_ROW("pool_bytes_live", "Bytes in use", QN_KEYS("pool")),
    QN_GAUGE_ROW("pool_bytes_idle", "Bytes parked for reuse", QN_KEYS("pool")),
    QN_GAUGE_ROW("pool_bytes_waste", "Bytes in use beyond what was asked for", QN_KEYS("pool")),
    QN_COUNTER_ROW("evictions_clean", "Device copies dropped that existed elsewhere"),
    QN_COUNTER_ROW("evictions_dirty", "Device copies saved to the host, then dropped"),
    QN_COUNTER_ROW("spill_bytes", "Bytes moved from devices to the host for room"),
    QN_COUNTER_ROW("spill_file_bytes", "Bytes moved from the host to files for room"),
    QN_COUNTER_ROW("oom_splits", "Stages run in pieces for want of device memory"),

    QN_COUNTER_ROW("content_hits", "Arrays found in a content store", QN_KEYS("store")),
    QN_COUNTER_ROW("content_misses", "Arrays that a content store lacked", QN_KEYS("store")),
    QN_COUNTER_ROW("content_evictions", "Arrays dropped from a store", QN_KEYS("store")),
    QN_GAUGE_ROW("content_peak_bytes", "Largest size of a store", QN_KEYS("store")),
    QN_COUNTER_ROW("content_uploads", "Updates of a device's copy of a store",
                   QN_KEYS("store", "device")),
    QN_COUNTER_ROW("content_upload_bytes", "Bytes brought to a device's copy of a store",
                   QN_KEYS("store", "device")),

    /* kernels and graphs */
    QN_COUNTER_ROW("kernel_cache_hits", "Kernels found in memory"),
    QN_COUNTER_ROW("kernel_cache_disk_hits", "Kernels found on disk"),
    QN_COUNTER_ROW("kernel_pack_hits", "Kernels found in the pack of compiled kernels"),
    QN_COUNTER_ROW("kernel_cache_misses", "Kernels found nowhere"),
    QN_COUNTER_ROW("kernel_cache_bad", "Damaged or foreign cache files ignored"),
    QN_COUNTER_ROW("kernel_compiles", "Kernels compiled"),
    QN_HISTOGRAM_ROW("kernel_compile_time_ms", "Time to compile a kernel"),
    QN_COUNTER_ROW("kernel_compile_wait_ms", "Time that runs waited for compilers"),
    QN_GAUGE_ROW("kernel_registers", "Registers of an item", QN_KEYS("kernel", "device")),
    QN_GAUGE_ROW("kernel_local_bytes", "Memory of an item for what registers do not hold",
                 QN_KEYS("kernel", "device")),
    QN_COUNTER_ROW("fft_plans_made", "Plans of transforms made"),
    QN_HISTOGRAM_ROW("fft_plan_time_ms", "Time to make the plan of a transform"),
    QN_COUNTER_ROW("graph_captures", "Graph submissions recorded"),
    QN_COUNTER_ROW("graph_replays", "Recorded submissions replayed"),
    QN_COUNTER_ROW("stages_fused", "Stages that were made part of one with others"),
    QN_HISTOGRAM_ROW("submit_overhead_us", "Host time per submitted stage"),
    QN_GAUGE_ROW("overlap_ratio", "1 - wall time / sum of the phases of a pipeline"),
    QN_GAUGE_ROW("pipe_wall_us", "Pipeline: wall time"),
    QN_GAUGE_ROW("pipe_prepare_us", "Pipeline: time to prepare batches"),
    QN_GAUGE_ROW("pipe_h2d_us", "Pipeline: upload time"),
    QN_GAUGE_ROW("pipe_compute_us", "Pipeline: compute time"),
    QN_GAUGE_ROW("pipe_d2h_us", "Pipeline: download time"),

    /* routing and batches */
    QN_COUNTER_ROW("hybrid_routing_decisions_total", "Routing decisions",
                   QN_KEYS("op", "device", "reason")),
    QN_GAUGE_ROW("gpu_threshold", "Size from which the device wins, 0 = none",
                 QN_KEYS("op", "device", "mode")),
    QN_GAUGE_ROW("recent_cpu_batches", "Batches on the CPU in the router's window"),
    QN_GAUGE_ROW("recent_gpu_batches", "Batches on devices in the router's window"),
    QN_GAUGE_ROW("recent_cpu_time_us", "Time of the CPU batches in the router's window"),
    QN_GAUGE_ROW("recent_gpu_time_us", "Time of the device batches in the router's window"),
    QN_GAUGE_ROW("route_regret", "Routed time / best possible time - 1"),
    QN_COUNTER_ROW("route_probe_total", "Decisions taken to measure"),
    QN_HISTOGRAM_ROW("route_mispredict_pct", "Distance of predicted from measured time"),
    QN_COUNTER_ROW("device_total_tasks", "Tasks finished by a device", QN_KEYS("device")),
    QN_GAUGE_ROW("device_active_tasks", "Tasks a device works on", QN_KEYS("device")),
    QN_COUNTER_ROW("device_total_execution_ms", "Summed task time of a device", QN_KEYS("device")),
    QN_GAUGE_ROW("device_avg_task_ms", "Mean task time of a device", QN_KEYS("device"),
                 .derive = qn_derive_device_avg, .from = "device_total_tasks"),

    /* checks, the whole run */
    QN_COUNTER_ROW("verify_checked", "Stages recomputed on the CPU for comparison", QN_KEYS("op")),
    QN_COUNTER_ROW("verify_mismatched", "Stages whose result differed from the CPU's",
                   QN_KEYS("op")),
    QN_GAUGE_ROW("wall_time_s", "Wall time of the run", .derive = qn_derive_wall_time,
                 .is_settable = 1),
    QN_GAUGE_ROW("memory_overhead_pct", "Host memory of the tracking per data tracked"),
};

enum { N_OWN = sizeof table / sizeof *table, N_CHAINS = 1024 };

/* One name with its series. */
typedef struct entry {
    const qn_metric_def *def;
    _Atomic(qn_metric *) first;
} entry;

struct qn_metrics {
    entry *entries; /* sorted by name */
    size_t n_entries;
    /* The series by hash, since a large graph has one per stage. */
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

/* The entry of a name; for an alias, the entry of the original. NULL: no such name. */
static entry *entry_of(const qn_metrics *metrics, const char *name)
{
    const qn_metric_def wanted = { .name = name };
    const entry key = { .def = &wanted };
    entry *const found = bsearch(&key, metrics->entries, metrics->n_entries, sizeof key, by_name);

    return found && found->def->same_as ? entry_of(metrics, found->def->same_as) : found;
}

static void add_names(qn_metrics *metrics, const qn_metric_def *defs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        metrics->entries[metrics->n_entries++].def = &defs[i];
}

qn_status qn_metrics_new(qn_metrics **out, qn_err *err)
{
    qn_metrics *metrics = calloc(1, sizeof *metrics);
    size_t n = N_OWN;

    for (int t = 0; qn_tools[t]; t++)
        n += qn_tools[t]->n_metrics;
    if (!metrics || !(metrics->entries = calloc(n, sizeof *metrics->entries))) {
        free(metrics);
        return qn_fail(err, QN_ERR_NOMEM, "metrics: out of host memory for %zu names", n);
    }
    if (pthread_mutex_init(&metrics->adding, NULL)) {
        free(metrics->entries);
        free(metrics);
        return qn_fail(err, QN_ERR_FAILED, "metrics: cannot make a mutex");
    }
    add_names(metrics, table, N_OWN);
    for (int t = 0; qn_tools[t]; t++)
        add_names(metrics, qn_tools[t]->metrics, qn_tools[t]->n_metrics);
    qsort(metrics->entries, n, sizeof *metrics->entries, by_name);
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
    for (size_t i = 0; i < metrics->n_entries; i++) {
        qn_metric *series = metrics->entries[i].first;
        while (series) {
            qn_metric *const next = series->next;
            free_series(series);
            series = next;
        }
    }
    pthread_mutex_destroy(&metrics->adding);
    free(metrics->entries);
    free(metrics);
}

size_t qn_metrics_count(const qn_metrics *metrics)
{
    return metrics->n_entries;
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

/* Index of `key` among the labels of a name, or -1. */
static int key_index(const qn_metric_def *def, const char *key)
{
    for (int i = 0; i < QN_MAX_LABELS && def->keys[i]; i++)
        if (strcmp(def->keys[i], key) == 0)
            return i;
    return -1;
}

/* Sorts a label list into the order of the table; returns 0 if a key is not allowed. */
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
        if (values[i]) /* with the NUL, so that "ab", "c" and "a", "bc" differ */
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

/* NULL if out of memory. */
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
    /* If out of memory, the run continues and this series is not counted. */
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

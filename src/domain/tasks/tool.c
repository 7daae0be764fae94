/* tool.c - registers tasks with the engine. */
#include "domain/tools.h"
#include "domain/tasks/task.h"

/* Tasks per second of the last batch. */
static QN_DERIVE(throughput)
{
    const double ms = qn_metric_value(metrics, "hybrid_executor_duration_ms", labels);

    return ms > 0 ? 1000 * qn_metric_value(metrics, "hybrid_batch_size", labels) / ms : 0;
}

/* Names of one module; `unit` is the unit of work of its stages. */
#define LATENCY(id) "gpu_" id "_last_latency_ms"
#define MODULE(id, unit)                                                                           \
    QN_COUNTER_ROW("gpu_" id "_executions_total", "Stages of " id " given to a device"),           \
        QN_COUNTER_ROW("gpu_" id "_failures_total", "Stages of " id " that failed on a device"),   \
        QN_COUNTER_ROW("gpu_" id "_cpu_fallback_total",                                            \
                       "Stages of " id " that fell back to the CPU"),                              \
        QN_GAUGE_ROW("gpu_" id "_last_" unit "_size", "Items in the last " unit " of " id),        \
        QN_GAUGE_ROW(LATENCY(id), "Time of the last " unit " of " id, .is_tracked = 1),            \
        QN_GAUGE_ROW("gpu_" id "_latency_avg_ms", "Mean time per " unit " of " id,                 \
                     .derive = qn_derive_mean, .from = LATENCY(id)),                               \
        QN_GAUGE_ROW("gpu_" id "_latency_min_ms", "Shortest time of a " unit " of " id,            \
                     .derive = qn_derive_min, .from = LATENCY(id)),                                \
        QN_GAUGE_ROW("gpu_" id "_latency_max_ms", "Longest time of a " unit " of " id,             \
                     .derive = qn_derive_max, .from = LATENCY(id))

static const qn_metric_def names[] = {
    MODULE("crypto", "batch"),
    MODULE("merkle", "tree"),
    MODULE("vector", "batch"),
    MODULE("reduce", "batch"),
    MODULE("matmul", "batch"),
    QN_COUNTER_ROW("plan_hits", "Tasks that reused the plan of their shape"),
    QN_COUNTER_ROW("plan_misses", "Tasks that needed a new plan"),
    QN_COUNTER_ROW("bucket_hits", "Tasks whose bucket was cached"),
    QN_COUNTER_ROW("bucket_misses", "Tasks whose bucket was new"),
    QN_GAUGE_ROW("bucket_count", "Buckets in the cache"),
    QN_COUNTER_ROW("bucket_tasks", "Tasks per bucket", QN_KEYS("bucket")),
    QN_COUNTER_ROW("bucket_elems", "Elements asked for by the tasks of a bucket",
                   QN_KEYS("bucket")),
    QN_GAUGE_ROW("hybrid_batch_size", "Tasks of the last batch"),
    QN_GAUGE_ROW("hybrid_throughput_tps", "Tasks per second of the last batch",
                 .derive = throughput, .from = "hybrid_executor_duration_ms"),
    QN_GAUGE_ROW("hybrid_executor_duration_ms", "Time of the last batch"),
    QN_GAUGE_ROW("hybrid_cpu_parallel_factor", "CPU threads busy in the last batch"),
};

const qn_tool qn_tool_tasks = {
    .name = "tasks",
    .metrics = names,
    .n_metrics = sizeof names / sizeof *names,
    .ops = qn_task_kernels,
    .n_ops = QN_TASK_KERNELS,
};

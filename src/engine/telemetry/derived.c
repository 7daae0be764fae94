/* derived.c - rates, averages and percentages, computed when they are read. */
#include "engine/telemetry/metrics.h"

#include <math.h>

/* A rate of nothing is 0. */
static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* Executions include failed ones, so the rate is at most 1. A stage that failed before it counted
 * as executed (opening a device, compiling) must not disappear in a division by zero. */
static double share_of_executions(const qn_metrics *metrics, double part)
{
    return ratio(part, fmax(qn_metric_value(metrics, "gpu_total_executions", NULL), part));
}

QN_DERIVE(qn_derive_failure_rate)
{
    return share_of_executions(metrics, qn_metric_value(metrics, "gpu_total_failures", NULL));
}

QN_DERIVE(qn_derive_fallback_rate)
{
    return share_of_executions(metrics, qn_metric_value(metrics, "gpu_fallback_count", NULL));
}

QN_DERIVE(qn_derive_utilization)
{
    const double busy_s = qn_metric_value(metrics, def->from, labels);
    const double wall_s = qn_metric_value(metrics, "wall_time_s", NULL);
    int n_devices = 0;

    for (const qn_metric *s = qn_metrics_first(metrics, def->from); s; s = s->next)
        n_devices += qn_series_has(s, labels);
    /* Times of concurrent streams are summed, so busy may exceed wall. */
    return busy_s > 0 ? fmin(ratio(busy_s, wall_s * n_devices), 1) : NAN;
}

QN_DERIVE(qn_derive_pool_hit_rate)
{
    const double hits = qn_metric_value(metrics, "pool_hits", labels);

    return ratio(hits, hits + qn_metric_value(metrics, "pool_misses", labels));
}

QN_DERIVE(qn_derive_device_avg)
{
    return ratio(qn_metric_value(metrics, "device_total_execution_ms", labels),
                 qn_metric_value(metrics, "device_total_tasks", labels));
}

QN_DERIVE(qn_derive_wall_time)
{
    const qn_metric *series = qn_metrics_first(metrics, def->name);
    const double set_s = series ? qn_series_value(series) : 0;

    return set_s > 0 ? set_s : qn_metrics_age_s(metrics);
}

/* The source distributions have no labels, so there is one series. */
static qn_summary summary_of(const qn_metrics *metrics, const qn_metric_def *def)
{
    const qn_metric *series = qn_metrics_first(metrics, def->from);

    return series ? qn_metric_summary(series) : (qn_summary){ 0 };
}

QN_DERIVE(qn_derive_mean)
{
    const qn_summary summary = summary_of(metrics, def);

    return ratio(summary.sum, (double)summary.count);
}

QN_DERIVE(qn_derive_min)
{
    return summary_of(metrics, def).min;
}

QN_DERIVE(qn_derive_max)
{
    return summary_of(metrics, def).max;
}

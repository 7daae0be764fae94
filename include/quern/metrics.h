/* metrics.h - counters, gauges and histograms, and the files they are written to.
 *
 * A table of the library or of a tool declares each name with its type and meaning. A name with a
 * set of labels is one series. Updating a series takes no lock and may happen in any thread;
 * looking one up takes a lock, so hot paths look up once and keep the pointer.
 */
#ifndef QUERN_METRICS_H
#define QUERN_METRICS_H

#include <quern/quern.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qn_metrics qn_metrics;
typedef struct qn_metric qn_metric;

/* Label list: QN_LABELS("stage", name, "reason", "oom"); NULL means no labels. */
#define QN_LABELS(...) ((const char *const[]){ __VA_ARGS__, NULL })

QN_API qn_metrics *qn_ctx_metrics(const qn_ctx *ctx);

/* The series with that name and labels, made on first use; it lives as long as `metrics`. The name
 * and the label keys must be in the table. Derived metrics (gpu_failure_rate, pool_hit_rate, ...)
 * are computed when they are read and have no series to update. */
QN_API qn_metric *qn_metric_of(qn_metrics *metrics, const char *name, const char *const *labels);

/* Updates; NULL is fine and does nothing. */
QN_API void qn_metric_add(qn_metric *metric, double amount); /* counter; gauge, with either sign */
QN_API void qn_metric_set(qn_metric *metric,
                          double value); /* gauge, or a counter counted elsewhere */
QN_API void qn_metric_max(qn_metric *metric, double value);     /* gauge that only grows */
QN_API void qn_metric_observe(qn_metric *metric, double value); /* histogram */

/* Value of a counter or gauge, count of a histogram: the sum over all series of that name with
 * these labels; NULL means all series. */
QN_API double qn_metric_value(const qn_metrics *metrics, const char *name,
                              const char *const *labels);

typedef struct qn_summary {
    uint64_t count;
    double sum, min, max, last, p50, p90, p95, p99; /* quantiles within 2 % */
} qn_summary;

QN_API qn_summary qn_metric_summary(const qn_metric *metric);

/* Writes all series; the ending of the path chooses `.json` (quern-metrics/1) or `.prom`
 * (Prometheus text). */
QN_API qn_status qn_metrics_write(qn_ctx *ctx, const char *command, const char *path, qn_err *err);

#ifdef __cplusplus
}
#endif
#endif

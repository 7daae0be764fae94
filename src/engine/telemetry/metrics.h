/* metrics.h - the table of names and their series, for exporters and derived rates.
 *
 * Private to engine/. Series are only added, at the front of the list of their name, and live until
 * qn_metrics_free, so lists are read without a lock while other threads add to them.
 */
#ifndef QN_ENGINE_METRICS_H
#define QN_ENGINE_METRICS_H

#include "engine/engine.h"

#include <stdatomic.h>
#include <string.h>

/* Doubles that several threads update, stored as bits. */

static inline uint64_t qn_bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double qn_value_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline void qn_bits_add(_Atomic uint64_t *to, double amount)
{
    uint64_t old = atomic_load_explicit(to, memory_order_relaxed);

    while (!atomic_compare_exchange_weak_explicit(to, &old, qn_bits_of(qn_value_of(old) + amount),
                                                  memory_order_relaxed, memory_order_relaxed))
        continue;
}

/* histogram.c: the distribution of many values in fixed memory.
 *
 * Observing takes no lock, does not allocate, and may happen in any thread. Quantiles are nearest
 * ranks, within 1.6 % of the true value for values from 1e-9 to 4e12; count, sum, min, max and last
 * are exact. */
typedef struct qn_histogram qn_histogram;

qn_status qn_histogram_new(qn_histogram **out, qn_err *err);
void qn_histogram_free(qn_histogram *histogram); /* NULL is fine */

/* Values are times, sizes and fractions, so zero or above; negative values count as zero in the
 * quantiles. Values that are not finite are not counted. */
void qn_histogram_observe(qn_histogram *histogram, double value);

/* If count is 0, everything else is 0 too. */
qn_summary qn_histogram_summary(const qn_histogram *histogram);

struct qn_metric {
    const qn_metric_def *def;    /* NULL: the sink, which ignores updates */
    _Atomic int64_t whole;       /* counter: sum of the integral amounts */
    _Atomic uint64_t bits;       /* of a double. Gauge: value. Counter: the other amounts */
    qn_histogram *histogram;     /* NULL unless histogram or tracked */
    char *labels[QN_MAX_LABELS]; /* value of def->keys[i], NULL when absent */
    struct qn_metric *next;      /* of the same name */
    struct qn_metric *chain;     /* of the same hash */
};

qn_status qn_metrics_new(qn_metrics **out, qn_err *err);
void qn_metrics_free(qn_metrics *metrics); /* NULL is fine */

/* Every name, sorted. */
size_t qn_metrics_count(const qn_metrics *metrics);
const qn_metric_def *qn_metrics_def(const qn_metrics *metrics, size_t i);

/* The row of a name, or NULL. */
const qn_metric_def *qn_metrics_named(const qn_metrics *metrics, const char *name);

/* First series of a name, or NULL; `next` links the others. */
const qn_metric *qn_metrics_first(const qn_metrics *metrics, const char *name);

/* Seconds since qn_metrics_new. */
double qn_metrics_age_s(const qn_metrics *metrics);

/* Whether the series has every pair of `labels` (NULL: always). */
int qn_series_has(const qn_metric *series, const char *const *labels);

/* One series at one moment, for exporters. */
typedef struct qn_sample {
    const qn_metric_def *def;
    const char *labels[QN_MAX_LABELS]; /* value of def->keys[i], NULL when absent */
    double value;
    qn_summary summary; /* histograms */
} qn_sample;

/* All series sorted by name and labels (numbers in labels by value), including aliases and derived
 * values. A counter that was never updated is 0, so that zero does not look like a missing metric.
 * Free it with free(); strings in it live as long as `metrics`. */
qn_status qn_metrics_collect(const qn_metrics *metrics, qn_sample **out, size_t *n, qn_err *err);

/* derived.c: metrics that are computed from others when they are read. Each function is the
 * `derive` of a row in the table of names (metrics.c). Rates over all labels are rates of the sums,
 * never sums of rates. */

QN_DERIVE(qn_derive_failure_rate);
QN_DERIVE(qn_derive_fallback_rate);
QN_DERIVE(qn_derive_utilization);
QN_DERIVE(qn_derive_pool_hit_rate);
QN_DERIVE(qn_derive_device_avg);
QN_DERIVE(qn_derive_wall_time);

#endif

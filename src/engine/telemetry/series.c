/* series.c - counts into series and reads them.
 *
 * Updates are relaxed atomics on the series itself, without locks or allocations. A counter adds
 * integral amounts to an integer (one fetch-and-add) and others to a double (compare and exchange),
 * so counts are exact with any number of threads, even beyond 2^53.
 */
#include "engine/telemetry/metrics.h"

#include "util/list.h"
#include "util/status.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Updates. */

/* Whether the integer part of a counter can take the amount without loss or overflow. */
static int is_whole(double amount)
{
    return amount >= 0 && amount <= 0x1p53 && (double)(int64_t)amount == amount;
}

static int is_sink(const qn_metric *metric)
{
    return !metric || !metric->def;
}

void qn_metric_add(qn_metric *metric, double amount)
{
    if (is_sink(metric))
        return;
    assert(metric->def->type != QN_HISTOGRAM && !metric->def->is_tracked);
    if (metric->def->type == QN_GAUGE) {
        qn_bits_add(&metric->bits, amount);
        return;
    }
    assert(amount >= 0 && "counters only grow");
    if (is_whole(amount))
        atomic_fetch_add_explicit(&metric->whole, (int64_t)amount, memory_order_relaxed);
    else if (amount > 0 && isfinite(amount))
        qn_bits_add(&metric->bits, amount);
}

void qn_metric_set(qn_metric *metric, double value)
{
    if (is_sink(metric))
        return;
    if (metric->histogram) {
        qn_metric_observe(metric, value);
        return;
    }
    if (metric->def->type == QN_COUNTER && is_whole(value)) {
        atomic_store_explicit(&metric->whole, (int64_t)value, memory_order_relaxed);
        value = 0;
    }
    atomic_store_explicit(&metric->bits, qn_bits_of(value), memory_order_relaxed);
}

void qn_metric_max(qn_metric *metric, double value)
{
    if (is_sink(metric))
        return;
    assert(metric->def->type == QN_GAUGE && !metric->histogram);
    uint64_t old = atomic_load_explicit(&metric->bits, memory_order_relaxed);

    while (value > qn_value_of(old))
        if (atomic_compare_exchange_weak_explicit(&metric->bits, &old, qn_bits_of(value),
                                                  memory_order_relaxed, memory_order_relaxed))
            return;
}

void qn_metric_observe(qn_metric *metric, double value)
{
    if (is_sink(metric))
        return;
    assert(metric->histogram && "only histograms and tracked gauges can observe");
    if (metric->histogram)
        qn_histogram_observe(metric->histogram, value);
}

/* Reading. */

double qn_series_value(const qn_metric *series)
{
    if (is_sink(series))
        return 0;
    if (series->def->type == QN_HISTOGRAM)
        return (double)qn_histogram_summary(series->histogram).count;
    if (series->histogram)
        return qn_histogram_summary(series->histogram).last;
    const double rest = qn_value_of(atomic_load_explicit(&series->bits, memory_order_relaxed));
    const int64_t whole = atomic_load_explicit(&series->whole, memory_order_relaxed);
    return whole ? (double)whole + rest : rest;
}

int qn_series_has(const qn_metric *series, const char *const *labels)
{
    for (; labels && labels[0] && labels[1]; labels += 2) {
        int i = 0;
        while (i < QN_MAX_LABELS && series->def->keys[i] &&
               strcmp(series->def->keys[i], labels[0]) != 0)
            i++;
        if (i == QN_MAX_LABELS || !series->def->keys[i] || !series->labels[i] ||
            strcmp(series->labels[i], labels[1]) != 0)
            return 0;
    }
    return 1;
}

double qn_metric_value(const qn_metrics *metrics, const char *name, const char *const *labels)
{
    const qn_metric_def *const def = qn_metrics_named(metrics, name);
    double sum = 0;

    assert(def && "metric name is not in the table");
    if (!def)
        return 0;
    if (def->derive)
        return def->derive(metrics, def, labels);
    for (const qn_metric *series = qn_metrics_first(metrics, name); series; series = series->next)
        if (qn_series_has(series, labels))
            sum += qn_series_value(series);
    return sum;
}

qn_summary qn_metric_summary(const qn_metric *metric)
{
    if (!is_sink(metric) && metric->histogram)
        return qn_histogram_summary(metric->histogram);
    return (qn_summary){ .last = qn_series_value(metric) };
}

/* All at once. */

typedef struct sample_list {
    qn_sample *items;
    size_t n, cap;
    int failed;
} sample_list;

/* A new sample of `def` with the labels of `series` (NULL: none), or NULL. */
static qn_sample *append(sample_list *list, const qn_metric_def *def, const qn_metric *series)
{
    qn_sample *items = qn_grown(list->items, list->n, &list->cap, sizeof *items);

    if (!items) {
        list->failed = 1;
        return NULL;
    }
    list->items = items;
    qn_sample *const sample = &list->items[list->n++];
    *sample = (qn_sample){ .def = def };
    for (int i = 0; series && i < QN_MAX_LABELS; i++)
        sample->labels[i] = series->labels[i];
    return sample;
}

static void append_value(sample_list *list, const qn_metric_def *def, const qn_metric *series,
                         double value)
{
    qn_sample *const sample = isnan(value) ? NULL : append(list, def, series);

    if (sample)
        sample->value = value;
}

static void append_derived(sample_list *list, const qn_metrics *metrics, const qn_metric_def *def)
{
    const qn_metric *series = def->from ? qn_metrics_first(metrics, def->from) : NULL;

    if (!def->from || (series && !def->keys[0])) {
        append_value(list, def, NULL, def->derive(metrics, def, NULL));
        return;
    }
    for (; series; series = series->next) {
        const char *pairs[2 * QN_MAX_LABELS + 1] = { NULL };
        int n = 0;
        for (int i = 0; i < QN_MAX_LABELS; i++) {
            if (!series->labels[i])
                continue;
            pairs[n++] = def->keys[i];
            pairs[n++] = series->labels[i];
        }
        append_value(list, def, series, def->derive(metrics, def, pairs));
    }
}

static void append_stored(sample_list *list, const qn_metrics *metrics, const qn_metric_def *def)
{
    const qn_metric *series = qn_metrics_first(metrics, def->name);

    if (!series && def->type == QN_COUNTER && !def->is_measured)
        append(list, def, NULL);
    for (; series; series = series->next) {
        qn_sample *sample;

        if (def->is_measured && !(qn_series_value(series) > 0))
            continue;
        sample = append(list, def, series);
        if (!sample)
            return;
        if (def->type == QN_HISTOGRAM)
            sample->summary = qn_metric_summary(series);
        else
            sample->value = qn_series_value(series);
    }
}

static int by_labels(const void *a, const void *b)
{
    const qn_sample *const x = a, *const y = b;
    int order = strcmp(x->def->name, y->def->name);

    for (int i = 0; i < QN_MAX_LABELS && order == 0; i++) {
        const char *const u = x->labels[i] ? x->labels[i] : "";
        const char *const v = y->labels[i] ? y->labels[i] : "";
        if ((order = strverscmp(u, v)) == 0)
            order = strcmp(u, v);
    }
    return order;
}

qn_status qn_metrics_collect(const qn_metrics *metrics, qn_sample **out, size_t *n, qn_err *err)
{
    sample_list list = { 0 };

    for (size_t i = 0; i < qn_metrics_count(metrics); i++) {
        const qn_metric_def *const def = qn_metrics_def(metrics, i);
        if (def->derive)
            append_derived(&list, metrics, def);
        else
            append_stored(&list, metrics, def);
    }
    if (list.failed) {
        free(list.items);
        return qn_fail(err, QN_ERR_NOMEM, "metrics: %zu samples", list.cap * 2);
    }
    if (list.n)
        qsort(list.items, list.n, sizeof *list.items, by_labels);
    *out = list.items;
    *n = list.n;
    return QN_OK;
}

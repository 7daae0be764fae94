/* bench.c - figures in memory, as a table, and compared with older ones. */
#include "lab/engine/bench.h"

#include "lab/sheet.h"
#include "util/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_METRICS = 24 };

void qn_bench_free(qn_bench *bench)
{
    free(bench->command);
    free(bench->host);
    free(bench->list);
    *bench = (qn_bench){ 0 };
}

qn_status qn_bench_add(qn_bench *bench, const char *item, const char *device, const char *metric,
                       qn_better better, double value, qn_err *err)
{
    qn_figure f = { .value = value, .better = better };

    snprintf(f.item, sizeof f.item, "%s", item);
    snprintf(f.device, sizeof f.device, "%s", device);
    snprintf(f.metric, sizeof f.metric, "%s", metric);
    return QN_SHEET_ADD(bench->list, bench->n, bench->room, &f, err);
}

static const qn_figure *find(const qn_bench *bench, const char *item, const char *device,
                             const char *metric)
{
    for (size_t i = 0; i < bench->n; i++) {
        const qn_figure *f = &bench->list[i];

        if (!strcmp(f->item, item) && !strcmp(f->device, device) && !strcmp(f->metric, metric))
            return f;
    }
    return NULL;
}

static const qn_figure *find_same(const qn_bench *bench, const qn_figure *f)
{
    return find(bench, f->item, f->device, f->metric);
}

double qn_bench_value(const qn_bench *bench, const char *item, const char *device,
                      const char *metric)
{
    const qn_figure *f = find(bench, item, device, metric);

    return f ? f->value : NAN;
}

/* As a table. */

/* Four significant digits without an exponent: 0.0412, 3.071, 58.3, 12045. */
static void add_number(qn_table *table, double value)
{
    int decimals = 3;

    if (!isfinite(value)) {
        qn_table_add(table, "-");
        return;
    }
    for (double v = fabs(value); v >= 10 && decimals > 0; v /= 10)
        decimals--;
    if (value != 0 && fabs(value) < 0.1)
        decimals = 5;
    qn_table_addf(table, "%.*f", decimals, value);
}

static size_t find_metrics(const qn_bench *bench, const char **metrics)
{
    size_t n = 0;

    for (size_t i = 0; i < bench->n; i++) {
        size_t k = 0;

        while (k < n && strcmp(metrics[k], bench->list[i].metric))
            k++;
        if (k == n && n < MAX_METRICS)
            metrics[n++] = bench->list[i].metric;
    }
    return n;
}

/* Whether no earlier figure has this device and, if by_item, this item. */
static int is_first(const qn_bench *bench, size_t at, int by_item)
{
    for (size_t i = 0; i < at; i++)
        if (!strcmp(bench->list[i].device, bench->list[at].device) &&
            (!by_item || !strcmp(bench->list[i].item, bench->list[at].item)))
            return 0;
    return 1;
}

qn_status qn_bench_print(const qn_bench *bench, FILE *to, qn_err *err)
{
    const char *names[MAX_METRICS + 3] = { "ITEM", "DEVICE" };
    const size_t n_metrics = find_metrics(bench, names + 2);
    qn_table table = qn_table_begin_list(names);

    for (size_t i = 0; i < bench->n; i++) {
        const qn_figure *f = &bench->list[i];

        if (!is_first(bench, i, 1))
            continue;
        qn_table_add(&table, f->item);
        qn_table_add(&table, f->device);
        for (size_t m = 0; m < n_metrics; m++)
            add_number(&table, qn_bench_value(bench, f->item, f->device, names[2 + m]));
    }
    return qn_table_print(&table, to, QN_TABLE_TEXT, err);
}

/* Before and after. */

/* Such figures vary by 5 % from run to run, so a smaller change counts as none. */
static const char *verdict(const qn_figure *f, double ratio)
{
    static const double noise = 0.05;

    if (!isfinite(ratio) || f->better == QN_NEITHER || fabs(ratio - 1) <= noise)
        return "-";
    return (ratio > 1) == (f->better == QN_MORE) ? "better" : "worse";
}

static void add_change(qn_table *table, const qn_figure *f, const qn_figure *before,
                       const qn_figure *after)
{
    const double ratio = before && after ? after->value / before->value : NAN;

    qn_table_add(table, f->item);
    qn_table_add(table, f->device);
    qn_table_add(table, f->metric);
    add_number(table, before ? before->value : NAN);
    add_number(table, after ? after->value : NAN);
    if (isfinite(ratio))
        qn_table_addf(table, "%.3f", ratio);
    else
        qn_table_add(table, "-");
    qn_table_add(table, !before ? "new" : !after ? "gone" : verdict(f, ratio));
}

static size_t count_device(const qn_bench *bench, const char *device)
{
    size_t n = 0;

    for (size_t i = 0; i < bench->n; i++)
        n += !strcmp(bench->list[i].device, device);
    return n;
}

/* A figure that is missing now. A device that is missing now gets one line for all its figures. */
static void add_gone(qn_table *table, const qn_bench *before, size_t i, const qn_bench *after)
{
    const qn_figure *f = &before->list[i];

    if (find_same(after, f))
        return;
    if (count_device(after, f->device)) {
        add_change(table, f, f, NULL);
        return;
    }
    if (!is_first(before, i, 0))
        return;
    qn_table_addf(table, "%zu figures", count_device(before, f->device));
    qn_table_add(table, f->device);
    for (int c = 0; c < 4; c++)
        qn_table_add(table, "-");
    qn_table_add(table, "gone");
}

qn_status qn_bench_print_change(const qn_bench *before, const qn_bench *after, FILE *to,
                                qn_err *err)
{
    qn_table table;

    if (strcmp(before->verb, after->verb))
        return qn_fail(err, QN_ERR_INPUT, "the older file is of bench %s, this run of bench %s",
                       before->verb, after->verb);
    table = qn_table_begin("ITEM", "DEVICE", "METRIC", "BEFORE", "AFTER", "RATIO", "CHANGE");
    for (size_t i = 0; i < after->n; i++)
        add_change(&table, &after->list[i], find_same(before, &after->list[i]), &after->list[i]);
    for (size_t i = 0; i < before->n; i++)
        add_gone(&table, before, i, after);
    return qn_table_print(&table, to, QN_TABLE_TEXT, err);
}

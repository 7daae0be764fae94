/* summary.c - prints the summary of a run. */
#include "engine/telemetry/export.h"

#include "util/format.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBER = 40 };

/* Summary. */

/* A line being built, with buffers for its numbers. */
typedef struct printer {
    FILE *to;
    const qn_metrics *metrics;
    char numbers[8][NUMBER];
    int used;
} printer;

static char *slot(printer *p)
{
    return p->numbers[p->used++ % 8];
}

static const char *count(printer *p, double value)
{
    return qn_format_count(value, slot(p), NUMBER);
}

/* One decimal is enough here, unlike in messages about insufficient memory. */
static const char *bytes(printer *p, double value)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    char *const out = slot(p);
    int unit = 0;

    for (; value >= 1023.95 && unit < 4; unit++)
        value /= 1024;
    snprintf(out, NUMBER, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return out;
}

static double total(const printer *p, const char *name)
{
    return qn_metric_value(p->metrics, name, NULL);
}

static const char *sum(printer *p, const char *name)
{
    return count(p, total(p, name));
}

static void print_title(printer *p, const qn_run_report *report)
{
    const double wall_s = total(p, "wall_time_s");
    const char *const status = report->run.status ? report->run.status : "ok";
    char time[NUMBER];

    qn_format_time(wall_s, time, sizeof time);
    fprintf(p->to, "quern %s: ", report->run.command ? report->run.command : "run");
    if (report->run.n_items > 0 && report->run.item && report->run.items)
        fprintf(p->to, "%s %s in %s (%s %s/s)", count(p, report->run.n_items),
                report->run.n_items == 1 ? report->run.item : report->run.items, time,
                count(p, wall_s > 0 ? report->run.n_items / wall_s : 0), report->run.items);
    else
        fprintf(p->to, "%s", time);
    fprintf(p->to, ", result %s\n", status);
}

static int is_cpu(const qn_run_device *device)
{
    return device->id && strncmp(device->id, "cpu", 3) == 0;
}

/* Prints the devices that were available; the CPU only if there was no other. */
static void print_devices(printer *p, const qn_run_report *report)
{
    const char *head = "device";
    size_t n_others = 0;

    for (size_t i = 0; i < report->n_devices; i++)
        n_others += !is_cpu(&report->devices[i]);
    for (size_t i = 0; i < report->n_devices; i++) {
        const qn_run_device *const d = &report->devices[i];
        char text[256];

        if (n_others > 0 && is_cpu(d))
            continue;
        snprintf(text, sizeof text, d->arch && *d->arch ? "%s %s (%s)" : "%s %s",
                 d->id ? d->id : "-", d->name ? d->name : "", d->arch);
        if (!*head)
            fprintf(p->to, "  %-10s %s", head, text);
        else
            fprintf(p->to, "  %-10s %-29s   stages %s   cpu stages %s   fallbacks %s", head, text,
                    sum(p, "gpu_ops"), sum(p, "cpu_ops"), sum(p, "gpu_fallback_count"));
        fputc('\n', p->to);
        head = "";
    }
    for (size_t i = 0; i < report->n_devices; i++)
        if (report->devices[i].failure)
            fprintf(p->to, "  failed     %s: %s\n", report->devices[i].id,
                    report->devices[i].failure);
}

static void print_memory(printer *p, const qn_run_report *report)
{
    fprintf(p->to, "  memory     peak %s", bytes(p, total(p, "gpu_memory_peak_bytes")));
    if (report->budget_bytes > 0)
        fprintf(p->to, " of %s budget", bytes(p, report->budget_bytes));
    if (total(p, "pool_hits") + total(p, "pool_misses") > 0)
        fprintf(p->to, "   pool hits %.1f %%", 100 * total(p, "pool_hit_rate"));
    else
        fprintf(p->to, "   pool unused");
    fprintf(p->to, "   evictions %s\n",
            count(p, total(p, "evictions_clean") + total(p, "evictions_dirty")));
}

static void print_route(printer *p)
{
    const double decisions = total(p, "hybrid_routing_decisions_total");
    const double probes = total(p, "route_probe_total");
    const qn_metric *const misses = qn_metrics_first(p->metrics, "route_mispredict_pct");
    const qn_summary off = misses ? qn_metric_summary(misses) : (qn_summary){ 0 };

    fprintf(p->to, "  route      %s decision%s, %s probe%s", count(p, decisions),
            decisions == 1 ? "" : "s", count(p, probes), probes == 1 ? "" : "s");
    if (off.count)
        fprintf(p->to, ", mispredict p50 %.1f %%", off.p50);
    fputc('\n', p->to);
}

static void print_kernels(printer *p)
{
    const double compiled = total(p, "kernel_compiles"), packed = total(p, "kernel_pack_hits");
    const double stored = total(p, "kernel_cache_disk_hits");

    fprintf(p->to, "  kernels    %s used, %s compiled, %s from disk cache",
            count(p, compiled + stored + packed), count(p, compiled), count(p, stored));
    if (packed > 0)
        fprintf(p->to, ", %s from the pack", count(p, packed));
    fprintf(p->to, "    graph replays %s\n", sum(p, "graph_replays"));
}

void qn_summary_print(FILE *to, const qn_metrics *metrics, const qn_run_report *report)
{
    printer p = { .to = to, .metrics = metrics };

    print_title(&p, report);
    print_devices(&p, report);
    fprintf(to, "  transfers  h2d %s (%s)  d2h %s (%s)  elided %s   crossings %s\n",
            sum(&p, "h2d_count"), bytes(&p, total(&p, "h2d_bytes")), sum(&p, "d2h_count"),
            bytes(&p, total(&p, "d2h_bytes")), sum(&p, "transfers_elided"), sum(&p, "crossings"));
    print_memory(&p, report);
    print_kernels(&p);
    print_route(&p);
}

/* Statistics. */

static int by_label(const void *a, const void *b)
{
    const qn_metric *const x = *(const qn_metric *const *)a;
    const qn_metric *const y = *(const qn_metric *const *)b;

    return strverscmp(x->labels[0] ? x->labels[0] : "", y->labels[0] ? y->labels[0] : "");
}

/* Series of a name with one label, sorted by it; the caller frees the array. *n is 0 if there are
 * none, or if out of memory. */
static const qn_metric **series_of(const qn_metrics *metrics, const char *name, size_t *n)
{
    const qn_metric *const first = qn_metrics_first(metrics, name);
    const qn_metric **list;

    *n = 0;
    for (const qn_metric *s = first; s; s = s->next)
        ++*n;
    if (!(list = calloc(*n + 1, sizeof *list)))
        *n = 0;
    size_t i = 0;
    for (const qn_metric *s = first; s && i < *n; s = s->next)
        list[i++] = s;
    if (list)
        qsort(list, *n, sizeof *list, by_label);
    return list;
}

static void print_pools(printer *p)
{
    size_t n;
    const qn_metric **const pools = series_of(p->metrics, "pool_misses", &n);

    if (n > 0)
        fprintf(p->to, "%-16s %10s %10s %8s %8s %12s %12s %12s\n", "pool", "hits", "misses",
                "hit %", "rejects", "live", "idle", "waste");
    for (size_t i = 0; i < n; i++) {
        const char *const name = pools[i]->labels[0] ? pools[i]->labels[0] : "-";
        const char *const *const of = pools[i]->labels[0] ? QN_LABELS("pool", name) : NULL;

        fprintf(p->to, "%-16s %10s %10s %8.1f %8s %12s %12s %12s\n", name,
                count(p, qn_metric_value(p->metrics, "pool_hits", of)),
                count(p, qn_metric_value(p->metrics, "pool_misses", of)),
                100 * qn_metric_value(p->metrics, "pool_hit_rate", of),
                count(p, qn_metric_value(p->metrics, "pool_usage_rejects", of)),
                bytes(p, qn_metric_value(p->metrics, "pool_bytes_live", of)),
                bytes(p, qn_metric_value(p->metrics, "pool_bytes_idle", of)),
                bytes(p, qn_metric_value(p->metrics, "pool_bytes_waste", of)));
    }
    free(pools);
}

static void print_buckets(printer *p)
{
    const double all = total(p, "bucket_tasks");
    size_t n;
    const qn_metric **const buckets = series_of(p->metrics, "bucket_tasks", &n);

    if (n > 0)
        fprintf(p->to, "%-16s %10s %8s %8s\n", "bucket", "tasks", "share %", "waste %");
    for (size_t i = 0; i < n; i++) {
        const char *const name = buckets[i]->labels[0] ? buckets[i]->labels[0] : "0";
        const char *const *const of = QN_LABELS("bucket", name);
        const double tasks = qn_series_value(buckets[i]);
        const double room = tasks * strtod(name, NULL);
        const double used = qn_metric_value(p->metrics, "bucket_elems", of);

        fprintf(p->to, "%-16s %10s %8.1f ", name, count(p, tasks), all > 0 ? 100 * tasks / all : 0);
        if (used > 0 && room > 0)
            fprintf(p->to, "%8.1f\n", 100 * (1 - used / room));
        else
            fprintf(p->to, "%8s\n", "-"); /* sizes are not known */
    }
    if (n > 0)
        fprintf(p->to,
                "bucket cache: %s hits, %s misses, %s buckets; plan cache: %s hits, %s misses\n",
                sum(p, "bucket_hits"), sum(p, "bucket_misses"), sum(p, "bucket_count"),
                sum(p, "plan_hits"), sum(p, "plan_misses"));
    free(buckets);
}

void qn_stats_print(FILE *to, const qn_metrics *metrics)
{
    printer p = { .to = to, .metrics = metrics };

    print_pools(&p);
    print_buckets(&p);
}

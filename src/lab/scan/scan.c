/* scan.c - all ops at all sizes, then closer looks at the crossovers. */
#include "lab/scan/curves.h"
#include "lab/scan/measure.h"
#include "lab/scan/sizes.h"

#include "hal/cpu/cpu_host.h"
#include "util/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Conditions. */

static qn_status add_devices(const qn_scanner *s, qn_err *err)
{
    qn_status st = QN_OK;
    char text[400];

    for (int p = 0; p < s->n_places; p++) {
        const qn_place *place = &s->places[p];
        const qn_device_info *info = qn_device_get(place->ctx, place->device);
        const char *id = qn_device_id(place->ctx, place->device);

        if (!strcmp(place->backend, "cpu1"))
            continue;
        snprintf(text, sizeof text, "%s %s, %s", id, info->name, info->arch);
        QN_TRY(qn_scan_add_fact(s->scan, "device", text, err));
        snprintf(text, sizeof text, "%s %s", id, info->driver[0] ? info->driver : "-");
        QN_TRY(qn_scan_add_fact(s->scan, "driver", text, err));
    }
out:
    return st;
}

static qn_status add_conditions(const qn_scanner *s, qn_err *err)
{
    const qn_cpu_host host = qn_cpu_host_get();
    qn_status st = QN_OK;
    char date[QN_UTC_SIZE], text[64];

    qn_utc(date);
    QN_TRY(qn_scan_add_fact(s->scan, "version", qn_version(), err));
    QN_TRY(qn_scan_add_fact(s->scan, "date", date, err));
    QN_TRY(qn_scan_add_fact(s->scan, "host", host.model, err));
    QN_TRY(add_devices(s, err));
    snprintf(text, sizeof text, "%u", qn_device_get(s->ctx, QN_CPU_SLOT)->units);
    QN_TRY(qn_scan_add_fact(s->scan, "threads", text, err));
    snprintf(text, sizeof text, "%llu", (unsigned long long)s->options->seed);
    QN_TRY(qn_scan_add_fact(s->scan, "seed", text, err));
    if (s->options->command)
        QN_TRY(qn_scan_add_fact(s->scan, "command", s->options->command, err));
out:
    return st;
}

/* Refinement. */

/* Two neighbouring sizes with the crossover in between. */
typedef struct bracket {
    qn_i64 low, high;
} bracket;

static const double close_enough = 1.10;

/* The size in the middle, or 0 when the ends are close enough. */
static qn_i64 middle(const bracket *b)
{
    const qn_i64 m = (qn_i64)(sqrt((double)b->low * (double)b->high) + 0.5);

    if ((double)b->high <= close_enough * (double)b->low || m <= b->low || m >= b->high)
        return 0;
    return m;
}

/* Where the crossover of a curve lies. Without one, or with one at the smallest size, there is
 * nothing to look for: 0. */
static int find_bracket(const qn_curves *curves, const qn_curve *curve, bracket *out)
{
    const qn_curve *cpu = qn_curve_is_device(curve) ? qn_curve_cpu(curves, curve) : NULL;
    qn_crossover found;
    qn_err unheard;

    if (!cpu || qn_curve_crossover(curve, cpu, &found, &unheard) != QN_OK || found.crossover_i < 1)
        return 0;
    out->low = cpu->rows[found.crossover_i - 1]->size;
    out->high = found.crossover;
    return 1;
}

/* A size of this op that would narrow some crossover, or 0. */
static qn_status next_size(const qn_scan *scan, const char *op, qn_i64 *out, qn_err *err)
{
    qn_curves curves;
    const qn_status st = qn_curves_make(scan, &curves, err);

    *out = 0;
    if (st != QN_OK)
        return st;
    for (size_t i = 0; i < curves.n && !*out; i++) {
        bracket b;

        if (!strcmp(curves.list[i].op, op) && find_bracket(&curves, &curves.list[i], &b))
            *out = middle(&b);
    }
    qn_curves_free(&curves);
    return QN_OK;
}

/* Bisects. A new size is measured everywhere, so that all curves stay comparable; one that shows
 * the crossover elsewhere moves the bracket, and the steps are bounded for curves that keep
 * moving it. */
static qn_status refine(qn_scanner *s, const char *op, qn_err *err)
{
    enum { MAX_STEPS = 40 };
    qn_status st = QN_OK;
    qn_i64 size;

    for (int i = 0; i < MAX_STEPS; i++) {
        QN_TRY(next_size(s->scan, op, &size, err));
        if (!size)
            break;
        QN_TRY(qn_scanner_size(s, op, size, err));
    }
out:
    return st;
}

/* The scan. */

static qn_status sizes_of(const qn_scan_options *options, const char *op, qn_sizes *out,
                          qn_err *err)
{
    return options->sizes ? qn_sizes_parse(options->sizes, out, err)
                          : qn_sizes_default(op, out, err);
}

/* Also finds mistakes in the lists before anything is measured. */
static qn_status begin_progress(qn_scanner *s, const char *ops, qn_err *err)
{
    const int per_size = s->n_places * (s->options->has_cold + s->options->has_resident);
    qn_status st = QN_OK;
    double total = 0;
    char op[48];

    QN_TRY(qn_op_list_check(ops, err));
    for (int i = 0; qn_list_item(ops, i, op, sizeof op); i++) {
        qn_sizes sizes = { 0 };

        QN_TRY(sizes_of(s->options, op, &sizes, err));
        total += (double)sizes.n * per_size;
        qn_sizes_free(&sizes);
    }
    QN_TRY(qn_progress_new(&s->options->watch, "scan", "measurements", total, &s->progress, err));
out:
    return st;
}

static qn_status scan_op(qn_scanner *s, const char *op, qn_err *err)
{
    qn_sizes sizes = { 0 };
    qn_status st = QN_OK;

    QN_TRY(sizes_of(s->options, op, &sizes, err));
    for (size_t i = 0; i < sizes.n; i++)
        QN_TRY(qn_scanner_size(s, op, sizes.list[i], err));
    if (s->options->is_refined)
        QN_TRY(refine(s, op, err));
    /* What the pools keep for reuse would only crowd the next op. */
    qn_ctx_trim(s->ctx, QN_TRIM_HOST);
    if (s->one_thread)
        qn_ctx_trim(s->one_thread, QN_TRIM_HOST);
out:
    qn_sizes_free(&sizes);
    return st;
}

qn_status qn_scan_run(qn_ctx *ctx, const qn_scan_options *options, qn_scan *out, qn_err *err)
{
    const char *ops = qn_op_list_of(options->ops);
    qn_scanner s = { .options = options, .scan = out, .ctx = ctx };
    qn_status st = QN_OK;
    char op[48];

    QN_TRY(qn_scanner_open(&s, err));
    QN_TRY(begin_progress(&s, ops, err));
    QN_TRY(add_conditions(&s, err));
    for (int i = 0; qn_list_item(ops, i, op, sizeof op); i++)
        QN_TRY(scan_op(&s, op, err));
    qn_scan_sort(out);
    qn_progress_done(s.progress);
out:
    qn_progress_free(s.progress);
    qn_scanner_close(&s);
    return st;
}

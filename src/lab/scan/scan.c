/* scan.c - measures all ops at all sizes on every device, and more sizes around the crossovers. */
#include "lab/scan/report.h"
#include "lab/scan/work.h"
#include "engine/engine.h"
#include "hal/cpu/cpu_host.h"
#include "util/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PLACES = QN_MAX_DEVICES + 1 };

/* A device, or the CPU with one thread. */
typedef struct place {
    char backend[16];
    qn_ctx *ctx;
    int device;
} place;

typedef struct scanner {
    const qn_scan_options *options;
    qn_scan *scan;
    qn_ctx *ctx, *one_thread; /* the second is NULL until it is needed, and owned */
    place places[MAX_PLACES];
    int n_places;
    void *want;            /* result of the CPU for the current op and size */
    qn_progress *progress; /* in measurements */
} scanner;

/* Places. */

static void add_place(scanner *s, const char *backend, qn_ctx *ctx, int device)
{
    place *at = &s->places[s->n_places];

    for (int i = 0; i < s->n_places; i++)
        if (!strcmp(s->places[i].backend, backend) && s->places[i].device == device)
            return;
    if (s->n_places == MAX_PLACES)
        return;
    *at = (place){ .ctx = ctx, .device = device };
    snprintf(at->backend, sizeof at->backend, "%s", backend);
    s->n_places++;
}

static qn_status add_one_thread(scanner *s, qn_err *err)
{
    qn_options options = s->options->engine;
    qn_status st = QN_OK;

    options.backend = "cpu";
    options.threads = 1;
    options.explain_route = NULL;
    if (!s->one_thread)
        QN_TRY(qn_ctx_open(&options, &s->one_thread, err));
    add_place(s, "cpu1", s->one_thread, QN_CPU_SLOT);
out:
    return st;
}

static void add_device(scanner *s, int d)
{
    add_place(s, qn_device_backend(s->ctx, d), s->ctx, d);
}

/* Names that match no device were reported when the context was opened. */
static qn_status add_named(scanner *s, const char *name, qn_err *err)
{
    if (!strcmp(name, "cpu1"))
        return add_one_thread(s, err);
    for (int d = 0; d < qn_device_count(s->ctx); d++)
        if (!strcmp(qn_device_id(s->ctx, d), name) || !strcmp(qn_device_backend(s->ctx, d), name) ||
            !strcmp(name, "auto"))
            add_device(s, d);
    return QN_OK;
}

static qn_status find_places(scanner *s, qn_err *err)
{
    const char *names = s->options->backends;
    qn_status st = QN_OK;
    char name[48];

    for (int i = 0; names && qn_list_item(names, i, name, sizeof name); i++)
        QN_TRY(add_named(s, name, err));
    if (!s->n_places)
        add_device(s, QN_CPU_SLOT);
    if (!names) {
        QN_TRY(add_one_thread(s, err));
        for (int d = 1; d < qn_device_count(s->ctx); d++)
            add_device(s, d);
    }
out:
    return st;
}

static void close_places(scanner *s)
{
    qn_ctx_close(s->one_thread);
    free(s->want);
    s->one_thread = NULL;
    s->want = NULL;
}

/* One measurement. */

static void fill_row(qn_scan_row *row, const place *at, const char *op, qn_i64 size, int is_cold)
{
    *row = (qn_scan_row){ .size = size, .residency = is_cold ? QN_COLD : QN_RESIDENT };
    snprintf(row->op, sizeof row->op, "%s", op);
    snprintf(row->backend, sizeof row->backend, "%s", at->backend);
    snprintf(row->device, sizeof row->device, "%s", qn_device_id(at->ctx, at->device));
}

static qn_status measure(scanner *s, const place *at, const char *op, qn_i64 size, int is_cold,
                         qn_err *err)
{
    /* Resident data needs one more run, to choose how many runs make a sample. */
    const int n_warm = s->options->warmup - is_cold;
    qn_work work = { 0 };
    qn_work_times times;
    qn_status st = QN_OK;
    qn_scan_row row;

    fill_row(&row, at, op, size, is_cold);
    QN_TRY(qn_work_open(at->ctx, at->device, op, size, s->options->seed, is_cold, &work, err));
    QN_TRY(qn_work_time(&work, n_warm, s->options->samples, s->want, &times, err));
    const qn_stats *stats = &times.timing.samples;

    row.samples = (qn_i64)stats->n;
    row.median_us = stats->median;
    row.p90_us = stats->p90;
    row.min_us = stats->min;
    row.max_us = stats->max;
    row.mean_us = stats->mean;
    row.stddev_us = stats->stddev;
    row.first_us = times.timing.first_us;
    row.h2d_bytes = times.h2d_bytes;
    row.d2h_bytes = times.d2h_bytes;
    row.is_verified = 1;
    QN_TRY(qn_scan_add_row(s->scan, &row, err));
out:
    qn_work_close(&work);
    return st;
}

/* A device that fails leaves a gap with a note, unless gaps are forbidden. A wrong result is always
 * an error. */
static qn_status note_gap(scanner *s, const place *at, const char *op, qn_i64 size, int is_cold,
                          qn_err *err)
{
    const char *residency = qn_residency_name(is_cold ? QN_COLD : QN_RESIDENT);
    char note[sizeof err->text + 96];

    if (at->device == QN_CPU_SLOT || err->status == QN_ERR_MISMATCH)
        return err->status;
    if (qn_ctx_settings(s->ctx)->fallback == QN_FALLBACK_ERROR) {
        err->status = QN_ERR_FALLBACK;
        return qn_prefix(err, "%s of size %lld on %s", op, (long long)size,
                         qn_device_id(at->ctx, at->device));
    }
    snprintf(note, sizeof note, "%s of size %lld, %s, on %s was not measured: %s", op,
             (long long)size, residency, qn_device_id(at->ctx, at->device), err->text);
    qn_log_put(qn_ctx_log(s->ctx), QN_LOG_WARN, "%s", note);
    err->status = QN_OK;
    err->text[0] = '\0';
    return qn_scan_add_fact(s->scan, "note", note, err);
}

/* The result of the CPU, which is compared with a plain computation. */
static qn_status make_reference(scanner *s, const char *op, qn_i64 size, qn_err *err)
{
    qn_work work = { 0 };
    qn_status st = QN_OK;
    double us;

    free(s->want);
    s->want = NULL;
    QN_TRY(qn_work_open(s->ctx, QN_CPU_SLOT, op, size, s->options->seed, 1, &work, err));
    if (!(s->want = malloc(qn_work_result_bytes(&work))))
        QN_FAIL(err, QN_ERR_NOMEM, "%s of size %lld: no memory for %zu bytes", op, (long long)size,
                qn_work_result_bytes(&work));
    QN_TRY(qn_work_run(&work, 1, &us, err));
    QN_TRY(qn_work_check(&work, err));
    QN_TRY(qn_work_read(&work, s->want, err));
out:
    qn_work_close(&work);
    return st;
}

static qn_status scan_size(scanner *s, const char *op, qn_i64 size, qn_err *err)
{
    const int wanted[] = { s->options->has_resident, s->options->has_cold };
    qn_status st = QN_OK;

    QN_TRY(make_reference(s, op, size, err));
    for (int p = 0; p < s->n_places; p++) {
        for (int is_cold = 1; is_cold >= 0; is_cold--) {
            if (!wanted[is_cold])
                continue;
            if (measure(s, &s->places[p], op, size, is_cold, err) != QN_OK)
                QN_TRY(note_gap(s, &s->places[p], op, size, is_cold, err));
            qn_progress_add(s->progress, 1);
        }
    }
out:
    return st;
}

/* Conditions. */

static qn_status add_devices(const scanner *s, qn_err *err)
{
    qn_status st = QN_OK;
    char text[400];

    for (int p = 0; p < s->n_places; p++) {
        const place *at = &s->places[p];
        const qn_device_info *info = qn_device_get(at->ctx, at->device);
        const char *id = qn_device_id(at->ctx, at->device);

        if (!strcmp(at->backend, "cpu1"))
            continue;
        snprintf(text, sizeof text, "%s %s, %s", id, info->name, info->arch);
        QN_TRY(qn_scan_add_fact(s->scan, "device", text, err));
        snprintf(text, sizeof text, "%s %s", id, info->driver[0] ? info->driver : "-");
        QN_TRY(qn_scan_add_fact(s->scan, "driver", text, err));
    }
out:
    return st;
}

static qn_status add_conditions(const scanner *s, qn_err *err)
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

/* The size in the middle, or 0 if the ends are close enough. */
static qn_i64 middle(const bracket *b)
{
    const qn_i64 m = (qn_i64)(sqrt((double)b->low * (double)b->high) + 0.5);

    if ((double)b->high <= close_enough * (double)b->low || m <= b->low || m >= b->high)
        return 0;
    return m;
}

/* Brackets the crossover of a curve. Returns 0 if there is nothing to search: no crossover, or one
 * at the smallest size. */
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
    qn_owned owned = { 0 };
    qn_curves curves;
    qn_status st = QN_OK;

    *out = 0;
    QN_TRY(qn_curves_make(&owned, scan, &curves, err));
    for (size_t i = 0; i < curves.n && !*out; i++) {
        bracket b;

        if (!strcmp(curves.list[i].op, op) && find_bracket(&curves, &curves.list[i], &b))
            *out = middle(&b);
    }
out:
    qn_owned_free(&owned, 0);
    return st;
}

/* Bisects. A new size is measured everywhere, so that all curves stay comparable; if it moves the
 * crossover, the bracket moves too, so the number of steps is limited. */
static qn_status refine(scanner *s, const char *op, qn_err *err)
{
    enum { MAX_STEPS = 40 };
    qn_status st = QN_OK;
    qn_i64 size;

    for (int i = 0; i < MAX_STEPS; i++) {
        QN_TRY(next_size(s->scan, op, &size, err));
        if (!size)
            break;
        QN_TRY(scan_size(s, op, size, err));
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
static qn_status begin_progress(scanner *s, const char *ops, qn_err *err)
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

static qn_status scan_op(scanner *s, const char *op, qn_err *err)
{
    qn_sizes sizes = { 0 };
    qn_status st = QN_OK;

    QN_TRY(sizes_of(s->options, op, &sizes, err));
    for (size_t i = 0; i < sizes.n; i++)
        QN_TRY(scan_size(s, op, sizes.list[i], err));
    if (s->options->is_refined)
        QN_TRY(refine(s, op, err));
    /* Memory in the pools would only get in the way of the next op. */
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
    scanner s = { .options = options, .scan = out, .ctx = ctx };
    qn_status st = QN_OK;
    char op[48];

    QN_TRY(find_places(&s, err));
    QN_TRY(begin_progress(&s, ops, err));
    QN_TRY(add_conditions(&s, err));
    for (int i = 0; qn_list_item(ops, i, op, sizeof op); i++)
        QN_TRY(scan_op(&s, op, err));
    qn_scan_sort(out);
    qn_progress_done(s.progress);
out:
    qn_progress_free(s.progress);
    close_places(&s);
    return st;
}

/* measure.c - the devices of a scan, and one measurement. */
#include "lab/scan/measure.h"

#include "lab/scan/sizes.h"
#include "lab/scan/work.h"
#include "util/stats.h"

#include <stdlib.h>
#include <string.h>

/* Places. */

static void add_place(qn_scanner *s, const char *backend, qn_ctx *ctx, int device)
{
    qn_place *place = &s->places[s->n_places];

    for (int i = 0; i < s->n_places; i++)
        if (!strcmp(s->places[i].backend, backend) && s->places[i].device == device)
            return;
    if (s->n_places == QN_MAX_PLACES)
        return;
    *place = (qn_place){ .ctx = ctx, .device = device };
    snprintf(place->backend, sizeof place->backend, "%s", backend);
    s->n_places++;
}

static qn_status add_one_thread(qn_scanner *s, qn_err *err)
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

static void add_device(qn_scanner *s, int d)
{
    add_place(s, qn_device_backend(s->ctx, d), s->ctx, d);
}

/* Names that found no device were reported when the context was opened. */
static qn_status add_named(qn_scanner *s, const char *name, qn_err *err)
{
    if (!strcmp(name, "cpu1"))
        return add_one_thread(s, err);
    for (int d = 0; d < qn_device_count(s->ctx); d++)
        if (!strcmp(qn_device_id(s->ctx, d), name) || !strcmp(qn_device_backend(s->ctx, d), name) ||
            !strcmp(name, "auto"))
            add_device(s, d);
    return QN_OK;
}

qn_status qn_scanner_open(qn_scanner *s, qn_err *err)
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

void qn_scanner_close(qn_scanner *s)
{
    qn_ctx_close(s->one_thread);
    free(s->want);
    s->one_thread = NULL;
    s->want = NULL;
}

/* One measurement. */

static void fill_row(qn_scan_row *row, const qn_place *place, const char *op, qn_i64 size,
                     int is_cold)
{
    *row = (qn_scan_row){ .size = size, .residency = is_cold ? QN_COLD : QN_RESIDENT };
    snprintf(row->op, sizeof row->op, "%s", op);
    snprintf(row->backend, sizeof row->backend, "%s", place->backend);
    snprintf(row->device, sizeof row->device, "%s", qn_device_id(place->ctx, place->device));
}

static void fill_times(qn_scan_row *row, double *times, int n)
{
    const qn_stats stats = qn_stats_of(times, (size_t)n);

    row->samples = (qn_i64)stats.n;
    row->median_us = stats.median;
    row->p90_us = stats.p90;
    row->min_us = stats.min;
    row->max_us = stats.max;
    row->mean_us = stats.mean;
    row->stddev_us = stats.stddev;
}

/* The result of the first run is checked: later runs may have overwritten their inputs. */
static qn_status sample(qn_scanner *s, qn_work *work, double *times, qn_scan_row *row, qn_err *err)
{
    qn_transfer_count before, after;
    qn_status st = QN_OK;
    double us = 0;
    int repeats;

    QN_TRY(qn_work_run(work, 1, &row->first_us, err));
    QN_TRY(qn_work_compare(work, s->want, err));
    row->is_verified = 1;
    for (int i = 1; i < s->options->warmup; i++)
        QN_TRY(qn_work_run(work, 1, &us, err));
    if (!work->is_cold) /* time of one run, to choose the runs per sample */
        QN_TRY(qn_work_run(work, 1, &us, err));
    repeats = qn_work_repeats(work, us);
    before = qn_work_transfers(work);
    for (int i = 0; i < s->options->samples; i++)
        QN_TRY(qn_work_run(work, repeats, &times[i], err));
    after = qn_work_transfers(work);
    row->h2d_bytes = (qn_i64)(after.h2d_bytes - before.h2d_bytes) / (s->options->samples * repeats);
    row->d2h_bytes = (qn_i64)(after.d2h_bytes - before.d2h_bytes) / (s->options->samples * repeats);
    fill_times(row, times, s->options->samples);
out:
    return st;
}

static qn_status measure(qn_scanner *s, const qn_place *place, const char *op, qn_i64 size,
                         int is_cold, qn_err *err)
{
    double *times = calloc((size_t)s->options->samples, sizeof *times);
    qn_work work = { 0 };
    qn_status st = QN_OK;
    qn_scan_row row;

    if (!times)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %d samples", s->options->samples);
    fill_row(&row, place, op, size, is_cold);
    QN_TRY(
        qn_work_open(place->ctx, place->device, op, size, s->options->seed, is_cold, &work, err));
    QN_TRY(sample(s, &work, times, &row, err));
    QN_TRY(qn_scan_add_row(s->scan, &row, err));
out:
    qn_work_close(&work);
    free(times);
    return st;
}

/* A device that fails leaves a gap with a note, unless gaps are forbidden. A wrong result is always
 * an error. */
static qn_status forgive(qn_scanner *s, const qn_place *place, const char *op, qn_i64 size,
                         int is_cold, qn_err *err)
{
    const char *residency = qn_residency_name(is_cold ? QN_COLD : QN_RESIDENT);
    char note[sizeof err->text + 96];

    if (place->device == QN_CPU_SLOT || err->status == QN_ERR_MISMATCH)
        return err->status;
    if (qn_ctx_settings(s->ctx)->fallback == QN_FALLBACK_ERROR) {
        err->status = QN_ERR_FALLBACK;
        return qn_prefix(err, "%s of size %lld on %s", op, (long long)size,
                         qn_device_id(place->ctx, place->device));
    }
    snprintf(note, sizeof note, "%s of size %lld, %s, on %s was not measured: %s", op,
             (long long)size, residency, qn_device_id(place->ctx, place->device), err->text);
    qn_log_put(qn_ctx_log(s->ctx), QN_LOG_WARN, "%s", note);
    err->status = QN_OK;
    err->text[0] = '\0';
    return qn_scan_add_fact(s->scan, "note", note, err);
}

/* The result of the CPU, which is compared with a plain computation. */
static qn_status make_reference(qn_scanner *s, const char *op, qn_i64 size, qn_err *err)
{
    qn_work work = { 0 };
    qn_status st = QN_OK;
    double us;

    free(s->want);
    s->want = NULL;
    QN_TRY(qn_work_open(s->ctx, QN_CPU_SLOT, op, size, s->options->seed, 1, &work, err));
    if (!(s->want = malloc(qn_work_result_bytes(&work)))) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s of size %lld: no memory for %zu bytes", op,
                     (long long)size, qn_work_result_bytes(&work));
        goto out;
    }
    QN_TRY(qn_work_run(&work, 1, &us, err));
    QN_TRY(qn_work_check(&work, err));
    QN_TRY(qn_work_read(&work, s->want, err));
out:
    qn_work_close(&work);
    return st;
}

qn_status qn_scanner_size(qn_scanner *s, const char *op, qn_i64 size, qn_err *err)
{
    const int wanted[] = { s->options->has_resident, s->options->has_cold };
    qn_status st = QN_OK;

    QN_TRY(make_reference(s, op, size, err));
    for (int p = 0; p < s->n_places; p++) {
        for (int is_cold = 1; is_cold >= 0; is_cold--) {
            if (!wanted[is_cold])
                continue;
            if (measure(s, &s->places[p], op, size, is_cold, err) != QN_OK)
                QN_TRY(forgive(s, &s->places[p], op, size, is_cold, err));
            qn_progress_add(s->progress, 1);
        }
    }
out:
    return st;
}

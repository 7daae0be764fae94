/* curves.c - the rows of a scan as lines over sizes, and where lines cross. */
#include "lab/scan/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* CPU, one thread, then devices. */
static int backend_rank(const char *backend)
{
    return !strcmp(backend, "cpu") ? 0 : !strcmp(backend, "cpu1") ? 1 : 2;
}

static int by_curve(const qn_scan_row *l, const qn_scan_row *r)
{
    int order = strcmp(l->op, r->op);

    if (!order)
        order = (l->residency == QN_RESIDENT) - (r->residency == QN_RESIDENT);
    if (!order)
        order = backend_rank(l->backend) - backend_rank(r->backend);
    if (!order)
        order = strcmp(l->backend, r->backend);
    if (!order)
        order = strcmp(l->device, r->device);
    return order;
}

static int by_curve_and_size(const void *a, const void *b)
{
    const qn_scan_row *l = *(const qn_scan_row *const *)a, *r = *(const qn_scan_row *const *)b;
    const int order = by_curve(l, r);

    return order ? order : (l->size > r->size) - (l->size < r->size);
}

/* The position of the device among the scan's devices of this backend, in order of their names. */
static int device_rank(const qn_scan *scan, const qn_scan_row *row)
{
    const char *last = "";
    int rank = 0;

    for (;;) {
        const char *next = NULL;

        for (size_t i = 0; i < scan->n_rows; i++) {
            const qn_scan_row *r = &scan->rows[i];

            if (!strcmp(r->backend, row->backend) && strcmp(r->device, last) > 0 &&
                (!next || strcmp(r->device, next) < 0))
                next = r->device;
        }
        if (!next || !strcmp(next, row->device))
            return rank;
        last = next;
        rank++;
    }
}

static void begin_curve(qn_curve *curve, const qn_scan *scan, const qn_scan_row **at)
{
    *curve = (qn_curve){ .op = (*at)->op,
                         .backend = (*at)->backend,
                         .device = (*at)->device,
                         .residency = (*at)->residency,
                         .rank = device_rank(scan, *at),
                         .rows = at };
}

qn_status qn_curves_make(qn_owned *owned, const qn_scan *scan, qn_curves *out, qn_err *err)
{
    qn_curves curves = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_owned_memory(owned, scan->n_rows * sizeof *curves.rows, &curves.rows, err));
    QN_TRY(qn_owned_memory(owned, scan->n_rows * sizeof *curves.list, &curves.list, err));
    for (size_t i = 0; i < scan->n_rows; i++)
        curves.rows[i] = &scan->rows[i];
    qsort(curves.rows, scan->n_rows, sizeof *curves.rows, by_curve_and_size);
    for (size_t i = 0; i < scan->n_rows; i++) {
        if (!i || by_curve(curves.rows[i - 1], curves.rows[i]))
            begin_curve(&curves.list[curves.n++], scan, curves.rows + i);
        curves.list[curves.n - 1].n++;
    }
    *out = curves;
out:
    return st;
}

const qn_scan_row *qn_curve_at(const qn_curve *curve, qn_i64 size)
{
    size_t low = 0, high = curve->n;

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (curve->rows[middle]->size < size)
            low = middle + 1;
        else
            high = middle;
    }
    return low < curve->n && curve->rows[low]->size == size ? curve->rows[low] : NULL;
}

int qn_curve_is_device(const qn_curve *curve)
{
    return backend_rank(curve->backend) == 2;
}

const char *qn_curve_label(const qn_curve *curve)
{
    static const char *const names[] = { "CPU", "CPU, 1 thread" };

    return qn_curve_is_device(curve) ? curve->device : names[backend_rank(curve->backend)];
}

const qn_curve *qn_curve_cpu(const qn_curves *curves, const qn_curve *curve)
{
    for (size_t i = 0; i < curves->n; i++) {
        const qn_curve *c = &curves->list[i];

        if (!strcmp(c->backend, "cpu") && c->residency == curve->residency &&
            !strcmp(c->op, curve->op))
            return c;
    }
    return NULL;
}

qn_status qn_curve_crossover(const qn_curve *device, const qn_curve *cpu, qn_crossover *out,
                             qn_err *err)
{
    qn_owned owned = { 0 };
    double *device_us, *cpu_us;
    qn_i64 *sizes;
    qn_status st = QN_OK;

    QN_TRY(qn_owned_memory(&owned, cpu->n * sizeof *sizes, &sizes, err));
    QN_TRY(qn_owned_memory(&owned, cpu->n * sizeof *device_us, &device_us, err));
    QN_TRY(qn_owned_memory(&owned, cpu->n * sizeof *cpu_us, &cpu_us, err));
    for (size_t i = 0; i < cpu->n; i++) {
        const qn_scan_row *row = qn_curve_at(device, cpu->rows[i]->size);

        sizes[i] = cpu->rows[i]->size;
        cpu_us[i] = cpu->rows[i]->median_us;
        device_us[i] = row ? row->median_us : NAN;
    }
    *out = qn_crossover_find(sizes, device_us, cpu_us, cpu->n);
out:
    qn_owned_free(&owned, 0);
    return st;
}

static int by_value(const void *a, const void *b)
{
    const qn_i64 l = *(const qn_i64 *)a, r = *(const qn_i64 *)b;

    return (l > r) - (l < r);
}

qn_status qn_curves_sizes(const qn_curve *from, const qn_curve *to, qn_i64 **out, size_t *n,
                          qn_err *err)
{
    size_t total = 0, kept = 0;
    qn_i64 *sizes;

    for (const qn_curve *c = from; c < to; c++)
        total += c->n;
    if (!(sizes = calloc(total + 1, sizeof *sizes)))
        return qn_fail(err, QN_ERR_NOMEM, "scan: no memory for %zu sizes", total);
    total = 0;
    for (const qn_curve *c = from; c < to; c++)
        for (size_t i = 0; i < c->n; i++)
            sizes[total++] = c->rows[i]->size;
    qsort(sizes, total, sizeof *sizes, by_value);
    for (size_t i = 0; i < total; i++)
        if (!kept || sizes[kept - 1] != sizes[i])
            sizes[kept++] = sizes[i];
    *out = sizes;
    *n = kept;
    return QN_OK;
}

size_t qn_curves_op_end(const qn_curves *curves, size_t at)
{
    size_t end = at;

    while (end < curves->n && !strcmp(curves->list[end].op, curves->list[at].op))
        end++;
    return end;
}

size_t qn_curves_residency_end(const qn_curves *curves, size_t at)
{
    const size_t op_end = qn_curves_op_end(curves, at);
    size_t end = at;

    while (end < op_end && curves->list[end].residency == curves->list[at].residency)
        end++;
    return end;
}

/* device_owner.c - gradients and products J'J v without contributions: each block evaluates the
 * terms it is in.
 *
 * A spring has a score of operations and six neighbours: doing it twice costs less than writing
 * what it gives to both ends and reading that again. The kernel of a set walks the list of a block,
 * evaluates each instance and keeps what this block gets, in the order of the list, so the sums are
 * those of the gather.
 *
 * What an instance is bound to is copied to each of its entries, 32 blocks side by side: entry j of
 * block b is at (row[b / 32] + j) * 32 + b % 32, so that neighbours read neighbours. Going through
 * the instances' own tables instead took two dependent loads more, each scattered.
 */
#include "domain/fit/batch/device_impl.h"

#include "domain/fit/batch/traffic.h"

#include <stdio.h>
#include <stdlib.h>

enum { SIDE = QN_FIT_DEV_SIDE, MAX_PLACES = 255 };

/* Weighted operations that take as long as a byte of traffic: those of a device with 34e12
 * operations and 4.3e12 bytes a second. */
static const double OPS_PER_BYTE = 8;

int qn_fit_dev_count_places(const qn_fit_problem *p, int set)
{
    int n = 0;

    for (int k = 0; k < p->n_groups; k++)
        for (int s = 0; s < p->groups[k].n_slots; s++)
            n += p->groups[k].slot_set[s] == set;
    return n;
}

static int can_own(const qn_fit_problem *problem)
{
    for (int k = 0; k < problem->n_sets; k++)
        if (qn_fit_dev_count_places(problem, k) > MAX_PLACES)
            return 0;
    return problem->inverse.max_degree <= QN_FIT_SHORT;
}

static qn_status compare(qn_fit_device *d, qn_err *err)
{
    qn_fit_traffic owner, gather;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_traffic_of(d->problem, QN_FIT_DO_OWNER, d->precision, &owner, err));
    QN_TRY(qn_fit_traffic_of(d->problem, QN_FIT_DO_GRADIENT, d->precision, &gather, err));
    d->owner_pays =
        owner.bytes + owner.ops / OPS_PER_BYTE < gather.bytes + gather.ops / OPS_PER_BYTE;
out:
    return st;
}

qn_status qn_fit_dev_choose_owner(qn_fit_device *device, int *is_owner, qn_err *err)
{
    qn_status st = QN_OK;

    *is_owner = 0;
    if (device->accumulate == QN_FIT_ACCUMULATE_GATHER || !can_own(device->problem))
        return QN_OK;
    if (device->owner_pays < 0)
        QN_TRY(compare(device, err));
    *is_owner = device->accumulate == QN_FIT_ACCUMULATE_OWNER || device->owner_pays;
out:
    return st;
}

/* ---- tables
 * ------------------------------------------------------------------------------------------ */

typedef struct {
    uint32_t *row, *other;
    uint8_t *degree, *from;
    double *data;
    int n_others, n_columns; /* the most that a group of the set has */
    qn_i64 stride;           /* entries with those that fill up */
} tables;

static void tables_free(tables *t)
{
    free(t->row);
    free(t->other);
    free(t->degree);
    free(t->from);
    free(t->data);
}

/* Rows of 32 entries, as many for 32 blocks as the longest of their lists has. */
static void count_rows(const qn_fit_problem *p, const qn_fit_set *set, tables *t)
{
    const qn_i64 *start = p->inverse.start + set->first_block;
    uint32_t rows = 0;

    for (uint32_t b = 0; b < set->count; b += SIDE) {
        uint32_t most = 0;

        t->row[b / SIDE] = rows;
        for (uint32_t k = b; k < b + SIDE && k < set->count; k++) {
            t->degree[k] = (uint8_t)(start[k + 1] - start[k]);
            most = t->degree[k] > most ? t->degree[k] : most;
        }
        rows += most;
    }
    t->stride = (qn_i64)(rows + 1) * SIDE; /* one more row is loaded, and not used */
}

static void fill_entry(const qn_fit_problem *p, qn_i64 entry, const uint8_t *number, qn_i64 k,
                       tables *t)
{
    const uint32_t place = p->inverse.place[entry], i = p->inverse.instance[entry];
    const qn_fit_group *g = &p->groups[p->places[place].group];
    const int own = p->places[place].slot;

    t->from[k] = number[place];
    for (int s = 0; s < g->n_slots; s++)
        if (s != own)
            t->other[(s - (s > own)) * t->stride + k] = g->idx[s * g->ld + i];
    for (int c = 0; c < g->n_columns; c++)
        t->data[c * t->stride + k] = g->data[c * g->ld + i];
}

/* Places of the set, numbered as print_group does. */
static qn_status number_places(const qn_fit_problem *p, int set, tables *t, uint8_t **number,
                               qn_err *err)
{
    uint8_t next = 0;

    if (!(*number = calloc((size_t)p->n_places + 1, 1)))
        return qn_fail(err, QN_ERR_NOMEM, "%d places", p->n_places);
    for (int k = 0; k < p->n_groups; k++) {
        const qn_fit_group *g = &p->groups[k];
        int is_in = 0;

        for (int s = 0; s < g->n_slots; s++)
            if (g->slot_set[s] == set) {
                (*number)[g->first_place + s] = next++;
                is_in = 1;
            }
        if (is_in && g->n_slots - 1 > t->n_others)
            t->n_others = g->n_slots - 1;
        if (is_in && g->n_columns > t->n_columns)
            t->n_columns = g->n_columns;
    }
    return QN_OK;
}

static qn_status fill_tables(const qn_fit_problem *p, int set, tables *t, qn_err *err)
{
    const qn_fit_set *s = &p->sets[set];
    uint8_t *number = NULL;
    qn_status st = QN_OK;

    QN_TRY(number_places(p, set, t, &number, err));
    t->row = calloc(s->count / SIDE + 2, sizeof *t->row);
    t->degree = calloc((size_t)s->count + 1, 1);
    if (t->row && t->degree) {
        count_rows(p, s, t);
        t->from = calloc((size_t)t->stride + 1, 1);
        t->other = calloc((size_t)(t->n_others * t->stride) + 1, sizeof *t->other);
        t->data = calloc((size_t)(t->n_columns * t->stride) + 1, sizeof *t->data);
    }
    if (!t->from || !t->other || !t->data) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: entries of %u blocks", s->name, s->count);
        goto out;
    }
#pragma omp parallel for schedule(static)
    for (uint32_t b = 0; b < s->count; b++) {
        const qn_i64 from = p->inverse.start[s->first_block + b];
        const qn_i64 begin = (qn_i64)t->row[b / SIDE] * SIDE + b % SIDE;

        for (qn_i64 j = 0; j < t->degree[b]; j++)
            fill_entry(p, from + j, number, begin + j * SIDE, t);
    }
out:
    free(number);
    return st;
}

static qn_status upload_set(qn_fit_device *d, int set, qn_err *err)
{
    qn_fit_dev_own *own = &d->owns[set];
    tables t = { 0 };
    qn_status st = QN_OK;
    size_t n;

    QN_TRY(fill_tables(d->problem, set, &t, err));
    n = (size_t)t.stride;
    own->stride = t.stride;
    QN_TRY(qn_fit_dev_bytes(d, "fit.own.row", t.row,
                            ((size_t)d->problem->sets[set].count / SIDE + 1) * sizeof *t.row,
                            &own->row, err));
    QN_TRY(qn_fit_dev_bytes(d, "fit.own.degree", t.degree, d->problem->sets[set].count,
                            &own->degree, err));
    QN_TRY(qn_fit_dev_bytes(d, "fit.own.from", t.from, n, &own->from, err));
    QN_TRY(qn_fit_dev_bytes(d, "fit.own.other", t.other, (size_t)t.n_others * n * sizeof *t.other,
                            &own->other, err));
    QN_TRY(qn_fit_dev_numbers(d, "fit.own.data", t.data, t.n_columns * t.stride, &own->data, err));
out:
    tables_free(&t);
    return st;
}

void qn_fit_dev_owner_free(qn_fit_device *device)
{
    for (int k = 0; device->owns && k < device->problem->n_sets; k++) {
        qn_buf_free(device->owns[k].row);
        qn_buf_free(device->owns[k].degree);
        qn_buf_free(device->owns[k].from);
        qn_buf_free(device->owns[k].other);
        qn_buf_free(device->owns[k].data);
    }
    free(device->owns);
    device->owns = NULL;
}

qn_status qn_fit_dev_owner_tables(qn_fit_device *device, qn_err *err)
{
    qn_status st = QN_OK;

    if (device->owns)
        return QN_OK;
    if (!(device->owns = calloc((size_t)device->problem->n_sets + 1, sizeof *device->owns)))
        return qn_fail(err, QN_ERR_NOMEM, "%d parameter sets", device->problem->n_sets);
    for (int k = 0; st == QN_OK && k < device->problem->n_sets; k++)
        st = upload_set(device, k, err);
    if (st != QN_OK)
        qn_fit_dev_owner_free(device);
    return st;
}

/* ---- stage
 * ------------------------------------------------------------------------------------------ */

static qn_status stage_set(qn_fit_device *d, qn_graph *graph, qn_fit_dev_kind kind, int set,
                           qn_buf *x, qn_buf *tangent, qn_buf *out, qn_err *err)
{
    const qn_fit_dev_own *own = &d->owns[set];
    const qn_i64 first = d->problem->sets[set].first;
    qn_arg args[12];
    char kernel[32], name[96];
    int n = 0;

    args[n++] = qn_arg_val(&first, sizeof first);
    args[n++] = qn_arg_val(&own->stride, sizeof own->stride);
    args[n++] = qn_arg_buf(own->row);
    args[n++] = qn_arg_buf(own->degree);
    args[n++] = qn_arg_buf(own->from);
    args[n++] = qn_arg_buf(own->other);
    args[n++] = qn_arg_buf(own->data);
    args[n++] = qn_arg_buf(x);
    if (tangent)
        args[n++] = qn_arg_buf(tangent);
    args[n++] = qn_arg_buf(d->is_fixed);
    args[n++] = qn_arg_buf(out);
    snprintf(kernel, sizeof kernel, "fit_set%d", set);
    snprintf(name, sizeof name, "fit.own.%s", d->problem->sets[set].name);
    return qn_fit_dev_failed(d,
                             qn_graph_stage(graph, name,
                                            qn_kernels_find(d->runs[kind].module, kernel),
                                            qn_range_1d(d->problem->sets[set].count), args),
                             err);
}

qn_status qn_fit_dev_stage_owner(qn_fit_device *device, qn_graph *graph, qn_buf *x, qn_buf *tangent,
                                 qn_buf *out, qn_err *err)
{
    const qn_fit_dev_kind kind = tangent ? QN_FIT_DEV_OWNER_JTJV : QN_FIT_DEV_OWNER;
    qn_status st = qn_fit_dev_prepare(device, kind, err);

    for (int k = 0; st == QN_OK && k < device->problem->n_sets; k++)
        if (device->problem->sets[k].count)
            st = stage_set(device, graph, kind, k, x, tangent, out, err);
    return st;
}

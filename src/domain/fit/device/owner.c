/* owner.c - gradients and products J'J v without stored contributions: each block evaluates the
 * terms it is in.
 *
 * A spring takes some twenty operations, and a vertex has six of them: evaluating each spring twice
 * costs less than writing its contributions to both ends and reading them back. The kernel of a set
 * goes through the list of a block, evaluates each instance and adds the part that belongs to this
 * block, in the order of the list, so the sums equal those of the gather.
 *
 * The bindings of an instance are copied to each of its entries, 32 blocks side by side: entry j of
 * block b is at (row[b / 32] + j) * 32 + b % 32, so that neighbouring items read neighbouring
 * numbers. Reading the instances' own tables instead took two more dependent loads, both scattered.
 */
#include "domain/fit/device/device_impl.h"

#include "domain/fit/device/choose.h"
#include "domain/fit/device/device.h"

#include <stdio.h>
#include <stdlib.h>

enum { SIDE = QN_FIT_DEV_SIDE, MAX_PLACES = 255 };

/* Weighted operations that take as long as one byte of traffic, on a device with 34e12 operations
 * and 4.3e12 bytes a second. */
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

    QN_TRY(qn_fit_traffic_of_gradients(d->problem, d->precision, &gather, &owner, err));
    d->owner_pays =
        owner.bytes + owner.ops / OPS_PER_BYTE < gather.bytes + gather.ops / OPS_PER_BYTE;
out:
    return st;
}

qn_status qn_fit_dev_choose_owner(qn_fit_device *device, int *is_owner, qn_err *err)
{
    qn_status st = QN_OK;

    *is_owner = 0;
    if (device->accumulate == QN_FIT_ACCUMULATE_GATHER ||
        device->accumulate == QN_FIT_ACCUMULATE_ATOMIC || !can_own(device->problem))
        return QN_OK;
    if (device->owner_pays < 0)
        QN_TRY(compare(device, err));
    *is_owner = device->accumulate == QN_FIT_ACCUMULATE_OWNER || device->owner_pays;
out:
    return st;
}

/* Tables. */

typedef struct {
    uint32_t *row, *other;
    uint8_t *degree, *from;
    void *data;
    qn_fit_precision precision; /* of data */
    int n_others, n_columns;    /* the largest number in any group of the set */
    qn_i64 stride;              /* entries, padding included */
    uint8_t *number;            /* of each place, counted within the set */
} tables;

/* Rows of 32 entries: 32 blocks get as many rows as their longest list has entries. */
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
    t->row[(set->count + SIDE - 1) / SIDE] = rows;
    t->stride = (qn_i64)(rows + 1) * SIDE; /* one more row is loaded but not used */
}

static void set_number(const tables *t, qn_i64 at, double value)
{
    if (t->precision == QN_FIT_F64)
        ((double *)t->data)[at] = value;
    else
        ((float *)t->data)[at] = (float)value;
}

/* Where a group has fewer of them than others of the set, the rest is 0: loaded but not used. */
static void fill_entry(const qn_fit_problem *p, qn_i64 entry, qn_i64 k, tables *t)
{
    const uint32_t place = p->inverse.place[entry], i = p->inverse.instance[entry];
    const qn_fit_group *g = &p->groups[p->places[place].group];
    const int own = p->places[place].slot;

    t->from[k] = t->number[place];
    for (int s = 0; s < g->n_slots; s++)
        if (s != own)
            t->other[(s - (s > own)) * t->stride + k] = g->idx[s * g->ld + i];
    for (int s = g->n_slots - 1; s < t->n_others; s++)
        t->other[s * t->stride + k] = 0;
    for (int c = 0; c < g->n_columns; c++)
        set_number(t, c * t->stride + k, g->data[c * g->ld + i]);
    for (int c = g->n_columns; c < t->n_columns; c++)
        set_number(t, c * t->stride + k, 0);
}

static void clear_entry(qn_i64 k, tables *t)
{
    t->from[k] = 0;
    for (int s = 0; s < t->n_others; s++)
        t->other[s * t->stride + k] = 0;
    for (int c = 0; c < t->n_columns; c++)
        set_number(t, c * t->stride + k, 0);
}

/* The places of the set, numbered as in print_group. */
static void number_places(const qn_fit_problem *p, int set, tables *t)
{
    uint8_t next = 0;

    for (int k = 0; k < p->n_groups; k++) {
        const qn_fit_group *g = &p->groups[k];
        int is_in = 0;

        for (int s = 0; s < g->n_slots; s++)
            if (g->slot_set[s] == set) {
                t->number[g->first_place + s] = next++;
                is_in = 1;
            }
        if (is_in && g->n_slots - 1 > t->n_others)
            t->n_others = g->n_slots - 1;
        if (is_in && g->n_columns > t->n_columns)
            t->n_columns = g->n_columns;
    }
}

static void fill_rows(const qn_fit_problem *p, const qn_fit_set *set, tables *t)
{
    const qn_i64 *start = p->inverse.start + set->first_block;
    const uint32_t n = (set->count + SIDE - 1) / SIDE;

#pragma omp parallel for schedule(static)
    for (uint32_t part = 0; part <= n; part++) {
        const uint32_t first = t->row[part], rows = part < n ? t->row[part + 1] - first : 1;

        for (uint32_t j = 0; j < rows; j++)
            for (uint32_t lane = 0; lane < SIDE; lane++) {
                const uint32_t b = part * SIDE + lane;
                const qn_i64 k = (qn_i64)(first + j) * SIDE + lane;

                if (b < set->count && j < t->degree[b])
                    fill_entry(p, start[b] + j, k, t);
                else
                    clear_entry(k, t);
            }
    }
}

static qn_status upload_set(qn_fit_device *d, int set, qn_err *err)
{
    const qn_fit_problem *p = d->problem;
    const qn_fit_set *of = &p->sets[set];
    qn_fit_dev_own *own = &d->owns[set];
    tables t = { .precision = d->precision };
    qn_status st = QN_OK;
    void *row, *degree, *from, *other;
    size_t n;

    if (!(t.number = calloc((size_t)p->n_places + 1, 1)))
        return qn_fail(err, QN_ERR_NOMEM, "%d places", p->n_places);
    number_places(p, set, &t);
    QN_TRY(qn_fit_upload_room(d->ctx, "fit.own.row", (of->count / SIDE + 2) * sizeof *t.row,
                              &own->row, &row, err));
    QN_TRY(qn_fit_upload_room(d->ctx, "fit.own.degree", of->count, &own->degree, &degree, err));
    t.row = row;
    t.degree = degree;
    count_rows(p, of, &t);
    own->stride = t.stride;
    n = (size_t)t.stride;
    QN_TRY(qn_fit_upload_room(d->ctx, "fit.own.from", n, &own->from, &from, err));
    QN_TRY(qn_fit_upload_room(d->ctx, "fit.own.other", (size_t)t.n_others * n * sizeof *t.other,
                              &own->other, &other, err));
    QN_TRY(qn_fit_upload_room(d->ctx, "fit.own.data", (size_t)t.n_columns * n * qn_fit_dev_size(d),
                              &own->data, &t.data, err));
    t.from = from;
    t.other = other;
    fill_rows(p, of, &t);
out:
    free(t.number);
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

/* Stage. */

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
    return qn_fit_dev_stage_blocks(d, graph, name, qn_kernels_find(d->runs[kind].module, kernel),
                                   set, args, err);
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

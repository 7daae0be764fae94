/* device.c - tables of a problem as buffers. */
#include "domain/fit/device/device_impl.h"

#include "util/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t qn_fit_dev_size(const qn_fit_device *device)
{
    return device->precision == QN_FIT_F64 ? sizeof(double) : sizeof(float);
}

/* Buffers.
 *
 * The host copy of a buffer is pinned memory that is reused: tables written straight into it need
 * no second copy and no fresh pages from the system, which took longer than filling the tables of a
 * million terms. Large copies are made by all threads.
 */

enum { PIECE = 1 << 18 }; /* bytes from which another thread is worth it */

static void copy_bytes(void *to, const void *from, size_t bytes)
{
    const qn_i64 n = (qn_i64)((bytes + PIECE - 1) / PIECE);

#pragma omp parallel for schedule(static) if (n > 2)
    for (qn_i64 k = 0; k < n; k++) {
        const size_t at = (size_t)k * PIECE;

        memcpy((char *)to + at, (const char *)from + at, bytes - at < PIECE ? bytes - at : PIECE);
    }
}

static void copy_numbers(void *to, const double *from, qn_i64 n, qn_fit_precision precision)
{
    if (precision == QN_FIT_F64) {
        copy_bytes(to, from, (size_t)n * sizeof *from);
        return;
    }
#pragma omp parallel for schedule(static) if (n > PIECE)
    for (qn_i64 k = 0; k < n; k++)
        ((float *)to)[k] = (float)from[k];
}

/* A new buffer of at least 8 bytes and its host copy. The caller must write every byte of the copy
 * now, since its content is undefined. */
static qn_status make_room(qn_ctx *ctx, const char *name, size_t bytes, qn_buf **out, void **host,
                           qn_err *err)
{
    qn_status st = qn_buf_new(ctx, name, bytes ? bytes : 8, out, err);

    if (st == QN_OK)
        st = qn_buf_host(*out, QN_HOST_DISCARD, host, err);
    if (st == QN_OK && !bytes)
        memset(*host, 0, 8);
    return st;
}

/* A buffer of numbers in the device's precision; `values` may be NULL. */
static qn_status make_numbers(qn_fit_device *d, const char *name, const double *values, qn_i64 n,
                              qn_buf **out, qn_err *err)
{
    const size_t bytes = (size_t)n * qn_fit_dev_size(d);
    qn_status st;
    void *host;

    if (!values)
        return qn_buf_new(d->ctx, name, bytes ? bytes : 8, out, err);
    st = make_room(d->ctx, name, bytes, out, &host, err);
    if (st == QN_OK)
        copy_numbers(host, values, n, d->precision);
    return st;
}

qn_status qn_fit_device_own(qn_fit_device *device, qn_status made, qn_buf **buf, qn_err *err)
{
    qn_buf **more = qn_grown(device->owned, device->n_owned, &device->owned_room, sizeof *more);

    if (!more) {
        qn_buf_free(*buf);
        *buf = NULL;
        return qn_fail(err, QN_ERR_NOMEM, "%zu buffers", device->n_owned + 1);
    }
    device->owned = more;
    device->owned[device->n_owned++] = *buf;
    return made;
}

qn_status qn_fit_device_room(qn_fit_device *device, const char *name, size_t bytes, qn_buf **out,
                             void **host, qn_err *err)
{
    const qn_status st = make_room(device->ctx, name, bytes, out, host, err);

    return qn_fit_device_own(device, st, out, err);
}

qn_status qn_fit_device_table(qn_fit_device *device, const char *name, const void *from, size_t n,
                              qn_buf **out, qn_err *err)
{
    void *host;
    const qn_status st = qn_fit_device_room(device, name, n, out, &host, err);

    if (st == QN_OK)
        copy_bytes(host, from, n);
    return st;
}

qn_status qn_fit_device_numbers(qn_fit_device *device, const char *name, const double *values,
                                qn_i64 n, qn_buf **out, qn_err *err)
{
    const qn_status st = make_numbers(device, name, values, n, out, err);

    return qn_fit_device_own(device, st, out, err);
}

qn_status qn_fit_device_make(qn_fit_device *device, qn_fit_maker *make, const char *name,
                             qn_buf **out, qn_err *err)
{
    const qn_status st = make(device, name, out, err);

    return qn_fit_device_own(device, st, out, err);
}

qn_status qn_fit_device_bytes(qn_fit_device *device, const char *name, size_t bytes, qn_buf **out,
                              qn_err *err)
{
    const qn_status st = qn_buf_new(device->ctx, name, bytes ? bytes : 8, out, err);

    return qn_fit_device_own(device, st, out, err);
}

qn_status qn_fit_device_chunks(qn_fit_device *device, const char *const names[3],
                               const qn_i64 *from, const qn_i64 *to, qn_i64 n, qn_i64 base,
                               qn_i64 most, qn_fit_chunks *out, qn_err *err)
{
    qn_arena scratch = { 0 };
    qn_i64 *first, *last, *begin = qn_arena_zeros(&scratch, (size_t)n + 1, sizeof *begin);
    qn_i64 at = 0;
    qn_status st = QN_OK;

    out->n = 0;
    for (qn_i64 k = 0; k < n; k++)
        out->n += (to[k] - from[k] + most - 1) / most;
    first = qn_arena_zeros(&scratch, (size_t)out->n, sizeof *first);
    last = qn_arena_zeros(&scratch, (size_t)out->n, sizeof *last);
    if (scratch.failed)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: %lld chunks", names[0], (long long)out->n);
    for (qn_i64 k = 0; k < n; k++) {
        begin[k] = at;
        for (qn_i64 e = from[k]; e < to[k]; e += most) {
            first[at] = e - base;
            last[at++] = (e + most < to[k] ? e + most : to[k]) - base;
        }
    }
    begin[n] = at;
    QN_TRY(qn_fit_device_table(device, names[0], first, (size_t)at * 8, &out->from, err));
    QN_TRY(qn_fit_device_table(device, names[1], last, (size_t)at * 8, &out->to, err));
    QN_TRY(qn_fit_device_table(device, names[2], begin, ((size_t)n + 1) * 8, &out->begin, err));
out:
    qn_arena_clear(&scratch);
    return st;
}

/* Tables. */

static qn_status lay_out(qn_fit_device *d, qn_err *err)
{
    const qn_fit_problem *p = d->problem;
    qn_i64 **const tables[] = { &d->idx_at, &d->data_at, &d->row_at, &d->cost_at };

    for (int k = 0; k < 4; k++)
        *tables[k] = qn_arena_zeros(&d->memory, (size_t)p->n_groups + 1, sizeof **tables[k]);
    if (d->memory.failed)
        return qn_fail(err, QN_ERR_NOMEM, "%d groups", p->n_groups);
    for (int k = 0; k < p->n_groups; k++) {
        const qn_fit_group *g = &p->groups[k];

        d->idx_at[k + 1] = d->idx_at[k] + g->n_slots * g->ld;
        d->data_at[k + 1] = d->data_at[k] + g->n_columns * g->ld;
        d->row_at[k + 1] = d->row_at[k] + (g->is_energy ? 0 : g->n_rows * g->ld);
        d->cost_at[k + 1] = d->cost_at[k] + (g->is_energy ? g->n_rows : 1) * g->ld;
    }
    d->n_rows = d->row_at[p->n_groups];
    d->n_costs = d->cost_at[p->n_groups];
    return QN_OK;
}

/* Seeds of energies: one for each row of the largest energy. */
static qn_status upload_ones(qn_fit_device *d, qn_err *err)
{
    const qn_fit_problem *p = d->problem;
    qn_i64 n = 1;
    qn_status st;
    void *host;

    for (int k = 0; k < p->n_groups; k++)
        if (p->groups[k].is_energy && p->groups[k].n_rows * p->groups[k].ld > n)
            n = p->groups[k].n_rows * p->groups[k].ld;
    st = qn_fit_device_room(d, "fit.ones", (size_t)n * qn_fit_dev_size(d), &d->ones, &host, err);
    for (qn_i64 k = 0; st == QN_OK && k < n; k++)
        if (d->precision == QN_FIT_F64)
            ((double *)host)[k] = 1;
        else
            ((float *)host)[k] = 1;
    return st;
}

static qn_status upload_tables(qn_fit_device *d, qn_err *err)
{
    const qn_fit_problem *p = d->problem;
    const size_t size = qn_fit_dev_size(d);
    qn_status st = QN_OK;
    uint32_t *idx;
    void *data, *room;

    QN_TRY(qn_fit_device_room(d, "fit.idx", (size_t)d->idx_at[p->n_groups] * sizeof *idx, &d->idx,
                              &room, err));
    QN_TRY(qn_fit_device_room(d, "fit.data", (size_t)d->data_at[p->n_groups] * size, &d->data,
                              &data, err));
    idx = room;
    for (int k = 0; k < p->n_groups; k++) {
        const qn_fit_group *g = &p->groups[k];

        copy_bytes(idx + d->idx_at[k], g->idx, (size_t)(g->n_slots * g->ld) * sizeof *idx);
        copy_numbers((char *)data + (size_t)d->data_at[k] * size, g->data, g->n_columns * g->ld,
                     d->precision);
    }
    QN_TRY(upload_ones(d, err));
out:
    return st;
}

/* Marks the numbers of the diagonal blocks that belong to a fixed scalar. */
static qn_status upload_off(qn_fit_device *d, qn_err *err)
{
    const qn_fit_problem *p = d->problem;
    size_t n = 0;
    qn_status st;
    uint8_t *off;
    void *room;

    for (int k = 0; k < p->n_sets; k++)
        n += (size_t)p->sets[k].count * p->sets[k].dim * p->sets[k].dim;
    if ((st = qn_fit_device_room(d, "fit.off", n, &d->is_off_block, &room, err)) != QN_OK)
        return st;
    off = room;
    for (int k = 0; k < p->n_sets; k++) {
        const size_t dim = p->sets[k].dim;

#pragma omp parallel for schedule(static)
        for (uint32_t b = 0; b < p->sets[k].count; b++) {
            const uint8_t *fixed = p->is_fixed + p->sets[k].first + b * dim;
            uint8_t *to = off + b * dim * dim;

            for (size_t i = 0; i < dim; i++)
                for (size_t j = 0; j < dim; j++)
                    to[i * dim + j] = fixed[i] || fixed[j];
        }
        off += p->sets[k].count * dim * dim;
    }
    return QN_OK;
}

static qn_status upload_index(qn_fit_device *d, qn_err *err)
{
    const qn_fit_problem *p = d->problem;
    const qn_fit_inverse *inv = &p->inverse;
    const size_t n = (size_t)inv->n_entries;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_device_table(d, "fit.start", inv->start,
                               ((size_t)p->n_blocks + 1) * sizeof *inv->start, &d->start, err));
    QN_TRY(qn_fit_device_table(d, "fit.place", inv->place, n * sizeof *inv->place, &d->place, err));
    QN_TRY(qn_fit_device_table(d, "fit.instance", inv->instance, n * sizeof *inv->instance,
                               &d->instance, err));
    QN_TRY(qn_fit_device_table(d, "fit.fixed", p->is_fixed, p->n_scalars, &d->is_fixed, err));
    QN_TRY(upload_off(d, err));
out:
    return st;
}

/* Chunks of the long lists of a set. */
static qn_status upload_long(qn_fit_device *d, int set, qn_err *err)
{
    static const char *const names[] = { "fit.first", "fit.last", "fit.begin" };
    const qn_fit_problem *p = d->problem;
    const qn_fit_set *s = &p->sets[set];
    const qn_i64 *start = p->inverse.start + s->first_block;
    qn_fit_dev_long *l = &d->longs[set];
    qn_arena scratch = { 0 };
    qn_i64 *target = qn_arena_zeros(&scratch, s->count, sizeof *target);
    qn_i64 *from = qn_arena_zeros(&scratch, s->count, sizeof *from);
    qn_i64 *to = qn_arena_zeros(&scratch, s->count, sizeof *to);
    qn_status st = QN_OK;

    if (scratch.failed)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: lists of %u blocks", s->name, s->count);
    for (uint32_t b = 0; b < s->count; b++)
        if (start[b + 1] - start[b] > QN_FIT_SHORT) {
            target[l->n] = b;
            from[l->n] = start[b];
            to[l->n++] = start[b + 1];
        }
    if (!l->n)
        goto out;
    QN_TRY(qn_fit_device_table(d, "fit.target", target, (size_t)l->n * 8, &l->target, err));
    QN_TRY(qn_fit_device_chunks(d, names, from, to, l->n, 0, QN_FIT_CHUNK, &l->chunks, err));
out:
    qn_arena_clear(&scratch);
    return st;
}

/* Sums of chunks of all sets lie in one buffer, since one kernel may write those of several. */
static qn_status make_sums(qn_fit_device *d, qn_err *err)
{
    const qn_fit_problem *p = d->problem;
    const size_t size = qn_fit_dev_size(d);
    qn_status st = QN_OK;

    if (!(d->sums_at = qn_arena_zeros(&d->memory, (size_t)p->n_sets + 1, sizeof *d->sums_at)))
        return qn_fail(err, QN_ERR_NOMEM, "%d parameter sets", p->n_sets);
    for (int k = 0; k < p->n_sets; k++)
        d->sums_at[k + 1] = d->sums_at[k] + d->longs[k].chunks.n * p->sets[k].dim * p->sets[k].dim;
    QN_TRY(qn_fit_device_numbers(d, "fit.sums", NULL, d->sums_at[p->n_sets], &d->sums, err));
    for (int k = 0; k < p->n_sets; k++)
        if (d->longs[k].n)
            QN_TRY(qn_fit_device_own(d,
                                     qn_buf_view(d->sums, p->sets[k].name,
                                                 (size_t)d->sums_at[k] * size,
                                                 (size_t)(d->sums_at[k + 1] - d->sums_at[k]) * size,
                                                 &d->longs[k].sums, err),
                                     &d->longs[k].sums, err));
out:
    return st;
}

/* Chunks of costs: each row of each group by itself. */
static qn_status upload_costs(qn_fit_device *d, qn_err *err)
{
    static const char *const names[] = { "fit.cost_first", "fit.cost_last", "fit.cost_begin" };
    const qn_fit_problem *p = d->problem;
    qn_arena scratch = { 0 };
    qn_i64 *row = qn_arena_zeros(&scratch, (size_t)p->n_groups + 1, sizeof *row), *from, *to;
    qn_i64 room = 0;
    qn_status st = QN_OK;

    for (int k = 0; k < p->n_groups; k++)
        room += p->groups[k].n_rows;
    from = qn_arena_zeros(&scratch, (size_t)room, sizeof *from);
    to = qn_arena_zeros(&scratch, (size_t)room, sizeof *to);
    if (scratch.failed)
        QN_FAIL(err, QN_ERR_NOMEM, "%lld rows of costs", (long long)room);
    for (int k = 0; k < p->n_groups; k++) {
        const qn_fit_group *g = &p->groups[k];

        row[k] = d->n_cost_rows;
        for (int r = 0; r < (g->is_energy ? g->n_rows : 1); r++) {
            from[d->n_cost_rows] = d->cost_at[k] + r * g->ld;
            to[d->n_cost_rows] = from[d->n_cost_rows] + g->n;
            d->n_cost_rows++;
        }
    }
    row[p->n_groups] = d->n_cost_rows;
    QN_TRY(qn_fit_device_chunks(d, names, from, to, d->n_cost_rows, 0, QN_FIT_CHUNK,
                                &d->cost_chunks, err));
    QN_TRY(qn_fit_device_table(d, "fit.cost_row", row, ((size_t)p->n_groups + 1) * 8, &d->cost_row,
                               err));
    QN_TRY(
        qn_fit_device_bytes(d, "fit.cost_sums", (size_t)d->cost_chunks.n * 8, &d->cost_sums, err));
    QN_TRY(qn_fit_device_bytes(d, "fit.cost_rows", (size_t)d->n_cost_rows * 8, &d->cost_rows, err));
    QN_TRY(qn_fit_device_numbers(d, "fit.costs", NULL, d->n_costs, &d->costs, err));
out:
    qn_arena_clear(&scratch);
    return st;
}

/* Open and close. */

qn_status qn_fit_device_new(qn_ctx *ctx, const qn_fit_problem *problem, qn_fit_precision precision,
                            qn_fit_device **out, qn_err *err)
{
    qn_fit_device *d = calloc(1, sizeof *d);
    qn_status st = QN_OK;

    if (!d)
        return qn_fail(err, QN_ERR_NOMEM, "evaluation on a device");
    d->ctx = ctx;
    d->problem = problem;
    d->precision = d->storage = precision;
    d->max_dim = 1;
    d->owner_pays = -1;
    for (int k = 0; k < problem->n_sets; k++)
        d->max_dim =
            (int)problem->sets[k].dim > d->max_dim ? (int)problem->sets[k].dim : d->max_dim;
    if (!(d->longs = qn_arena_zeros(&d->memory, (size_t)problem->n_sets, sizeof *d->longs)))
        QN_FAIL(err, QN_ERR_NOMEM, "%d parameter sets", problem->n_sets);
    QN_TRY(lay_out(d, err));
    QN_TRY(upload_tables(d, err));
    QN_TRY(upload_index(d, err));
    for (int k = 0; k < problem->n_sets; k++)
        QN_TRY(upload_long(d, k, err));
    QN_TRY(make_sums(d, err));
    QN_TRY(upload_costs(d, err));
    *out = d;
    d = NULL;
out:
    qn_fit_device_free(d);
    return st;
}

void qn_fit_device_free(qn_fit_device *device)
{
    if (!device)
        return;
    for (int k = 0; k < QN_FIT_N_DEV; k++)
        qn_fit_dev_run_free(device, &device->runs[k]);
    while (device->n_owned) /* views before the buffers they show */
        qn_buf_free(device->owned[--device->n_owned]);
    free(device->owned);
    qn_arena_clear(&device->memory);
    free(device);
}

void qn_fit_device_set_accumulate(qn_fit_device *device, qn_fit_accumulate how)
{
    device->accumulate = how;
}

void qn_fit_device_set_contraction(qn_fit_device *device, int may_contract)
{
    device->may_contract = may_contract;
}

const char *qn_fit_device_accumulation(qn_fit_device *device)
{
    qn_err ignored;
    int is_owner = 0;

    if (device->accumulate == QN_FIT_ACCUMULATE_ATOMIC)
        return "atomic";
    return qn_fit_dev_choose_owner(device, &is_owner, &ignored) == QN_OK && is_owner ? "owner"
                                                                                     : "gather";
}

/* Buffers of callers. */

qn_status qn_fit_device_vector(qn_fit_device *device, const char *name, const double *values,
                               qn_buf **out, qn_err *err)
{
    return make_numbers(device, name, values, device->problem->n_scalars, out, err);
}

qn_status qn_fit_device_rows(qn_fit_device *device, const char *name, qn_buf **out, qn_err *err)
{
    return make_numbers(device, name, NULL, device->n_rows, out, err);
}

qn_status qn_fit_device_cost(qn_fit_device *device, const char *name, qn_buf **out, qn_err *err)
{
    return qn_buf_new(device->ctx, name, ((size_t)device->problem->n_groups + 1) * sizeof(double),
                      out, err);
}

qn_status qn_fit_device_blocks(qn_fit_device *device, const char *name, qn_buf **out, qn_err *err)
{
    qn_i64 n = 0;

    for (int k = 0; k < device->problem->n_sets; k++)
        n += (qn_i64)device->problem->sets[k].count * device->problem->sets[k].dim *
             device->problem->sets[k].dim;
    return make_numbers(device, name, NULL, n, out, err);
}

void qn_fit_device_set_storage(qn_fit_device *device, qn_fit_precision storage)
{
    device->storage = storage;
}

size_t qn_fit_dev_stored_size(const qn_fit_device *device)
{
    return device->storage == QN_FIT_F64 ? sizeof(double) : sizeof(float);
}

const char *qn_fit_dev_stored_type(const qn_fit_device *device)
{
    return device->storage == device->precision ? "real" : "float";
}

qn_status qn_fit_device_jacobian(qn_fit_device *device, const char *name, qn_buf **out, qn_err *err)
{
    const qn_status st = qn_fit_dev_tapes(device, QN_FIT_DEV_LINEARIZE, err);
    const size_t bytes = qn_fit_device_jacobian_bytes(device);

    return st == QN_OK ? qn_buf_new(device->ctx, name, bytes ? bytes : 8, out, err) : st;
}

size_t qn_fit_device_jacobian_bytes(const qn_fit_device *device)
{
    const qn_fit_dev_run *run = &device->runs[QN_FIT_DEV_LINEARIZE];

    return run->tapes ? (size_t)run->jacobian_at[device->problem->n_groups] *
                            qn_fit_dev_stored_size(device)
                      : 0;
}

const qn_fit_tape *qn_fit_device_tape(const qn_fit_device *device, int group, qn_i64 *jacobian_at)
{
    const qn_fit_dev_run *run = &device->runs[QN_FIT_DEV_LINEARIZE];

    if (!run->tapes)
        return NULL;
    *jacobian_at = run->jacobian_at[group];
    return run->tapes[group];
}

qn_status qn_fit_device_bad(qn_fit_device *device, const char *name, qn_buf **out, qn_err *err)
{
    return qn_buf_new(device->ctx, name,
                      ((size_t)device->problem->n_groups + 1) * 2 * sizeof(uint32_t), out, err);
}

qn_status qn_fit_device_read_bad(qn_fit_device *device, qn_buf *bad, qn_fit_bad *out, qn_err *err)
{
    const qn_fit_problem *p = device->problem;
    void *host;
    const qn_status st = qn_buf_host(bad, QN_HOST_READ, &host, err);

    *out = (qn_fit_bad){ .group = -1 };
    for (int k = 0; st == QN_OK && k < p->n_groups; k++) {
        const uint32_t *of = (const uint32_t *)host + 2 * (size_t)k;

        if (of[0] && out->group < 0) {
            out->group = k;
            out->row = p->groups[k].rows[of[1]];
        }
        out->count += of[0];
    }
    return st;
}

qn_status qn_fit_device_read(qn_fit_device *device, qn_buf *buf, double *out, qn_i64 n, qn_err *err)
{
    qn_status st;
    void *host;

    if (device->precision == QN_FIT_F64)
        return qn_buf_read(buf, 0, out, (size_t)n * sizeof *out, err);
    st = qn_buf_host(buf, QN_HOST_READ, &host, err);
    for (qn_i64 k = 0; st == QN_OK && k < n; k++)
        out[k] = ((float *)host)[k];
    return st;
}

void qn_fit_device_describe(qn_fit_device *device, char *text, size_t size)
{
    qn_fit_bad bad = { .group = -1 };
    qn_buf *found = NULL;
    qn_graph *graph = NULL;
    qn_status st = QN_OK;
    qn_err err;

    QN_TRY(qn_graph_new(device->ctx, "fit.bad", &graph, &err));
    QN_TRY(qn_fit_device_bad(device, "fit.bad", &found, &err));
    QN_TRY(qn_fit_stage_bad(device, graph, found, &err));
    QN_TRY(qn_graph_run(graph, &err));
    QN_TRY(qn_graph_wait(graph, &err));
    QN_TRY(qn_fit_device_read_bad(device, found, &bad, &err));
out:
    if (st == QN_OK)
        qn_fit_describe_bad(device->problem, &bad, text, size);
    else
        snprintf(text, size, "a term of the problem is not finite");
    qn_graph_free(graph);
    qn_buf_free(found);
}

/* device.c - tables of a problem as buffers. */
#include "domain/fit/device/device_impl.h"

#include <stdio.h>
#include <stdlib.h>

size_t qn_fit_dev_size(const qn_fit_device *device)
{
    return device->precision == QN_FIT_F64 ? sizeof(double) : sizeof(float);
}

qn_status qn_fit_dev_bytes(qn_fit_device *device, const char *name, const void *bytes, size_t n,
                           qn_buf **out, qn_err *err)
{
    if (bytes && n)
        return qn_fit_upload(device->ctx, name, bytes, n, 0, out, err);
    return qn_buf_new(device->ctx, name, n ? n : 8, out, err);
}

qn_status qn_fit_dev_numbers(qn_fit_device *device, const char *name, const double *values,
                             qn_i64 n, qn_buf **out, qn_err *err)
{
    const size_t bytes = (size_t)n * qn_fit_dev_size(device);
    qn_status st;
    void *host;

    if (!values)
        return qn_fit_dev_bytes(device, name, NULL, bytes, out, err);
    st = qn_fit_upload_room(device->ctx, name, bytes, out, &host, err);
    if (st == QN_OK)
        qn_fit_copy_numbers(host, values, n, device->precision);
    return st;
}

/* Tables. */

static qn_status lay_out(qn_fit_device *d, qn_err *err)
{
    const qn_fit_problem *p = d->problem;
    qn_i64 **const tables[] = { &d->idx_at, &d->data_at, &d->row_at, &d->cost_at };

    for (int k = 0; k < 4; k++)
        if (!(*tables[k] = calloc((size_t)p->n_groups + 1, sizeof **tables[k])))
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
    st = qn_fit_upload_room(d->ctx, "fit.ones", (size_t)n * qn_fit_dev_size(d), &d->ones, &host,
                            err);
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

    QN_TRY(qn_fit_upload_room(d->ctx, "fit.idx", (size_t)d->idx_at[p->n_groups] * sizeof *idx,
                              &d->idx, &room, err));
    QN_TRY(qn_fit_upload_room(d->ctx, "fit.data", (size_t)d->data_at[p->n_groups] * size, &d->data,
                              &data, err));
    idx = room;
    for (int k = 0; k < p->n_groups; k++) {
        const qn_fit_group *g = &p->groups[k];

        qn_fit_copy_bytes(idx + d->idx_at[k], g->idx, (size_t)(g->n_slots * g->ld) * sizeof *idx);
        qn_fit_copy_numbers((char *)data + (size_t)d->data_at[k] * size, g->data,
                            g->n_columns * g->ld, d->precision);
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
    if ((st = qn_fit_upload_room(d->ctx, "fit.off", n, &d->is_off_block, &room, err)) != QN_OK)
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

    QN_TRY(qn_fit_dev_bytes(d, "fit.start", inv->start,
                            ((size_t)p->n_blocks + 1) * sizeof *inv->start, &d->start, err));
    QN_TRY(qn_fit_dev_bytes(d, "fit.place", inv->place, n * sizeof *inv->place, &d->place, err));
    QN_TRY(qn_fit_dev_bytes(d, "fit.instance", inv->instance, n * sizeof *inv->instance,
                            &d->instance, err));
    QN_TRY(qn_fit_dev_bytes(d, "fit.fixed", p->is_fixed, p->n_scalars, &d->is_fixed, err));
    QN_TRY(upload_off(d, err));
out:
    return st;
}

/* Chunks of the long lists of a set. */
static qn_status upload_long(qn_fit_device *d, int set, qn_err *err)
{
    const qn_fit_problem *p = d->problem;
    const qn_fit_set *s = &p->sets[set];
    const qn_i64 *start = p->inverse.start + s->first_block;
    qn_fit_dev_long *l = &d->longs[set];
    qn_i64 *table = NULL, *target, *begin, *first, *last;
    qn_status st = QN_OK;

    for (uint32_t b = 0; b < s->count; b++)
        if (start[b + 1] - start[b] > QN_FIT_SHORT) {
            l->n++;
            l->n_chunks += (start[b + 1] - start[b] + QN_FIT_CHUNK - 1) / QN_FIT_CHUNK;
        }
    if (!l->n)
        return QN_OK;
    if (!(table = calloc((size_t)(2 * l->n + 2 * l->n_chunks + 2), sizeof *table)))
        return qn_fail(err, QN_ERR_NOMEM, "%s: %lld chunks", s->name, (long long)l->n_chunks);
    target = table;
    begin = target + l->n;
    first = begin + l->n + 1;
    last = first + l->n_chunks;
    l->n = l->n_chunks = 0;
    for (uint32_t b = 0; b < s->count; b++) {
        if (start[b + 1] - start[b] <= QN_FIT_SHORT)
            continue;
        target[l->n] = b;
        begin[l->n++] = l->n_chunks;
        for (qn_i64 k = start[b]; k < start[b + 1]; k += QN_FIT_CHUNK) {
            first[l->n_chunks] = k;
            last[l->n_chunks++] = k + QN_FIT_CHUNK < start[b + 1] ? k + QN_FIT_CHUNK : start[b + 1];
        }
    }
    begin[l->n] = l->n_chunks;
    QN_TRY(qn_fit_dev_bytes(d, "fit.target", target, (size_t)l->n * 8, &l->target, err));
    QN_TRY(qn_fit_dev_bytes(d, "fit.begin", begin, (size_t)(l->n + 1) * 8, &l->begin, err));
    QN_TRY(qn_fit_dev_bytes(d, "fit.first", first, (size_t)l->n_chunks * 8, &l->first, err));
    QN_TRY(qn_fit_dev_bytes(d, "fit.last", last, (size_t)l->n_chunks * 8, &l->last, err));
out:
    free(table);
    return st;
}

/* Sums of chunks of all sets lie in one buffer, since one kernel may write those of several. */
static qn_status make_sums(qn_fit_device *d, qn_err *err)
{
    const qn_fit_problem *p = d->problem;
    const size_t size = qn_fit_dev_size(d);
    qn_status st = QN_OK;

    if (!(d->sums_at = calloc((size_t)p->n_sets + 1, sizeof *d->sums_at)))
        return qn_fail(err, QN_ERR_NOMEM, "%d parameter sets", p->n_sets);
    for (int k = 0; k < p->n_sets; k++)
        d->sums_at[k + 1] = d->sums_at[k] + d->longs[k].n_chunks * p->sets[k].dim * p->sets[k].dim;
    QN_TRY(qn_fit_dev_numbers(d, "fit.sums", NULL, d->sums_at[p->n_sets], &d->sums, err));
    for (int k = 0; k < p->n_sets; k++)
        if (d->longs[k].n)
            QN_TRY(qn_buf_view(d->sums, p->sets[k].name, (size_t)d->sums_at[k] * size,
                               (size_t)(d->sums_at[k + 1] - d->sums_at[k]) * size,
                               &d->longs[k].sums, err));
out:
    return st;
}

/* Chunks of costs: each row of each group by itself. */
static qn_status upload_costs(qn_fit_device *d, qn_err *err)
{
    const qn_fit_problem *p = d->problem;
    qn_i64 *first, *last, *begin, *row, room = d->n_costs / QN_FIT_CHUNK + 1;
    qn_status st = QN_OK;

    for (int k = 0; k < p->n_groups; k++)
        room += p->groups[k].n_rows;
    first = calloc((size_t)room * 3 + (size_t)p->n_groups + 4, sizeof *first);
    if (!first)
        return qn_fail(err, QN_ERR_NOMEM, "%lld costs", (long long)d->n_costs);
    last = first + room;
    begin = last + room;
    row = begin + room + 1;
    for (int k = 0; k < p->n_groups; k++) {
        const qn_fit_group *g = &p->groups[k];

        row[k] = d->n_cost_rows;
        for (int r = 0; r < (g->is_energy ? g->n_rows : 1); r++) {
            const qn_i64 from = d->cost_at[k] + r * g->ld;

            begin[d->n_cost_rows++] = d->n_cost_chunks;
            for (qn_i64 i = 0; i < g->n; i += QN_FIT_CHUNK) {
                first[d->n_cost_chunks] = from + i;
                last[d->n_cost_chunks++] =
                    from + (i + QN_FIT_CHUNK < g->n ? i + QN_FIT_CHUNK : g->n);
            }
        }
    }
    row[p->n_groups] = d->n_cost_rows;
    begin[d->n_cost_rows] = d->n_cost_chunks;
    QN_TRY(qn_fit_dev_bytes(d, "fit.cost_first", first, (size_t)d->n_cost_chunks * 8,
                            &d->cost_first, err));
    QN_TRY(qn_fit_dev_bytes(d, "fit.cost_last", last, (size_t)d->n_cost_chunks * 8, &d->cost_last,
                            err));
    QN_TRY(qn_fit_dev_bytes(d, "fit.cost_begin", begin, (size_t)(d->n_cost_rows + 1) * 8,
                            &d->cost_begin, err));
    QN_TRY(
        qn_fit_dev_bytes(d, "fit.cost_row", row, ((size_t)p->n_groups + 1) * 8, &d->cost_row, err));
    QN_TRY(qn_fit_dev_bytes(d, "fit.cost_sums", NULL, (size_t)d->n_cost_chunks * 8, &d->cost_sums,
                            err));
    QN_TRY(
        qn_fit_dev_bytes(d, "fit.cost_rows", NULL, (size_t)d->n_cost_rows * 8, &d->cost_rows, err));
    QN_TRY(qn_fit_dev_numbers(d, "fit.costs", NULL, d->n_costs, &d->costs, err));
out:
    free(first);
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
    if (!(d->longs = calloc((size_t)problem->n_sets + 1, sizeof *d->longs))) {
        st = qn_fail(err, QN_ERR_NOMEM, "%d parameter sets", problem->n_sets);
        goto out;
    }
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
    qn_fit_dev_owner_free(device);
    for (int k = 0; device->longs && k < device->problem->n_sets; k++) {
        qn_buf_free(device->longs[k].target);
        qn_buf_free(device->longs[k].begin);
        qn_buf_free(device->longs[k].first);
        qn_buf_free(device->longs[k].last);
        qn_buf_free(device->longs[k].sums);
    }
    {
        qn_buf *const all[] = { device->sums,      device->idx,        device->data,
                                device->ones,      device->start,      device->place,
                                device->instance,  device->is_fixed,   device->is_off_block,
                                device->costs,     device->cost_first, device->cost_last,
                                device->cost_sums, device->cost_begin, device->cost_rows,
                                device->cost_row };

        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            qn_buf_free(all[k]);
    }
    free(device->longs);
    free(device->sums_at);
    free(device->idx_at);
    free(device->data_at);
    free(device->row_at);
    free(device->cost_at);
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

static qn_status read_numbers(qn_buf *buf, qn_fit_precision precision, double *out, qn_i64 n,
                              qn_err *err)
{
    qn_status st;
    void *host;

    if (precision == QN_FIT_F64)
        return qn_buf_read(buf, 0, out, (size_t)n * sizeof *out, err);
    st = qn_buf_host(buf, QN_HOST_READ, &host, err);
    for (qn_i64 k = 0; st == QN_OK && k < n; k++)
        out[k] = ((float *)host)[k];
    return st;
}

/* Buffers of callers. */

qn_status qn_fit_device_vector(qn_fit_device *device, const char *name, const double *values,
                               qn_buf **out, qn_err *err)
{
    return qn_fit_dev_numbers(device, name, values, device->problem->n_scalars, out, err);
}

qn_status qn_fit_device_rows(qn_fit_device *device, const char *name, qn_buf **out, qn_err *err)
{
    return qn_fit_dev_numbers(device, name, NULL, device->n_rows, out, err);
}

qn_status qn_fit_device_cost(qn_fit_device *device, const char *name, qn_buf **out, qn_err *err)
{
    return qn_fit_dev_bytes(device, name, NULL,
                            ((size_t)device->problem->n_groups + 1) * sizeof(double), out, err);
}

qn_status qn_fit_device_blocks(qn_fit_device *device, const char *name, qn_buf **out, qn_err *err)
{
    qn_i64 n = 0;

    for (int k = 0; k < device->problem->n_sets; k++)
        n += (qn_i64)device->problem->sets[k].count * device->problem->sets[k].dim *
             device->problem->sets[k].dim;
    return qn_fit_dev_numbers(device, name, NULL, n, out, err);
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

    if (st != QN_OK)
        return st;
    return qn_fit_dev_bytes(device, name, NULL, qn_fit_device_jacobian_bytes(device), out, err);
}

size_t qn_fit_device_jacobian_bytes(const qn_fit_device *device)
{
    const qn_fit_dev_run *run = &device->runs[QN_FIT_DEV_LINEARIZE];

    return run->tapes ? (size_t)run->jacobian_at[device->problem->n_groups] *
                            qn_fit_dev_stored_size(device)
                      : 0;
}

qn_status qn_fit_device_read_jacobian(qn_fit_device *device, qn_buf *jacobian, double *out,
                                      qn_i64 n, qn_err *err)
{
    return read_numbers(jacobian, device->storage, out, n, err);
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
    return qn_fit_dev_bytes(device, name, NULL,
                            (size_t)device->problem->n_groups * 2 * sizeof(uint32_t), out, err);
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
    return read_numbers(buf, device->precision, out, n, err);
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

/* stages.c - evaluation as stages: a kernel per group, then sums. */
#include "domain/fit/device/device_impl.h"

#include "kernel/fit_gather.gen.h"

#include <stdio.h>

/* Dispatches of a limited number of instances.
 *
 * A part is a range of the same launch, so every instance and every sum is computed as in a single
 * launch: results do not depend on the cuts. This is for devices that stop long kernels, or that
 * also drive a screen.
 */

/* Stages of one kernel: each costs the host a few microseconds and a kilobyte. */
enum { MOST_PARTS = 1 << 16 };

qn_status qn_fit_device_set_batch_size(qn_fit_device *device, qn_i64 most, qn_err *err)
{
    const qn_fit_problem *p = device->problem;

    for (int k = 0; most > 0 && k < p->n_groups; k++)
        if (p->groups[k].n / most >= MOST_PARTS)
            return qn_fail(err, QN_ERR_LIMIT,
                           "batch_size = %lld: %lld instances of %s are more than %d dispatches",
                           (long long)most, (long long)p->groups[k].n, p->groups[k].name,
                           MOST_PARTS);
    device->batch_size = most;
    return QN_OK;
}

qn_status qn_fit_dev_stage_group(qn_fit_device *device, qn_graph *graph, const char *prefix,
                                 qn_fit_dev_kind kind, int group, qn_i64 n, qn_i64 most,
                                 const qn_arg *args, qn_err *err)
{
    const qn_i64 step = most > 0 ? most : n;
    char kernel[32], name[96];
    qn_status st = QN_OK;

    snprintf(kernel, sizeof kernel, "fit_g%d", group);
    snprintf(name, sizeof name, "%s.%s", prefix, device->problem->groups[group].name);
    for (qn_i64 at = 0; st == QN_OK && at < n; at += step)
        st = qn_graph_stage(graph, name, qn_kernels_find(device->runs[kind].module, kernel),
                            (qn_range){ at, at + step < n ? at + step : n, 0, 1, 0, 1 }, args, err);
    return st;
}

/* The end of a dispatch that begins at block `first`: at least one block, and otherwise no more
 * terms than the limit. */
static uint32_t end_of_part(const qn_fit_device *d, const qn_fit_set *set, uint32_t first)
{
    const qn_i64 *start = d->problem->inverse.start + set->first_block;
    uint32_t end = first + 1;

    if (!d->batch_size)
        return set->count;
    while (end < set->count && start[end + 1] - start[first] <= d->batch_size)
        end++;
    return end;
}

qn_status qn_fit_dev_stage_blocks(qn_fit_device *device, qn_graph *graph, const char *name,
                                  const qn_kernel_info *kernel, int set, const qn_arg *args,
                                  qn_err *err)
{
    const qn_fit_set *s = &device->problem->sets[set];
    qn_status st = QN_OK;
    uint32_t end;

    for (uint32_t at = 0; st == QN_OK && at < s->count; at = end) {
        end = end_of_part(device, s, at);
        st = qn_graph_stage(graph, name, kernel, (qn_range){ at, end, 0, 1, 0, 1 }, args, err);
    }
    return st;
}

/* Kernels of groups. */

static qn_arg output_of(qn_fit_device *d, qn_fit_dev_kind kind, int k, int section,
                        const qn_fit_dev_vectors *v)
{
    const size_t size = qn_fit_dev_size(d);
    const qn_fit_group *g = &d->problem->groups[k];

    if (section == QN_FIT_COST || (section == QN_FIT_RES && g->is_energy))
        return qn_arg_at(d->costs, (size_t)d->cost_at[k] * size);
    if (section == QN_FIT_RES || section == QN_FIT_JVP)
        return qn_arg_at(v->rows, (size_t)d->row_at[k] * size);
    if (section == QN_FIT_JAC)
        return qn_arg_at(v->jacobian,
                         (size_t)d->runs[kind].jacobian_at[k] * qn_fit_dev_stored_size(d));
    const qn_fit_dev_parts *parts =
        section == QN_FIT_DIAG ? &d->runs[kind].squares : &d->runs[kind].slopes;

    return qn_arg_at(parts->part, (size_t)parts->base[k] * size);
}

static qn_arg input_of(const qn_fit_device *d, qn_fit_dev_kind kind, int k, qn_fit_arg arg,
                       const qn_fit_dev_vectors *v)
{
    const qn_fit_group *g = &d->problem->groups[k];
    const size_t size = qn_fit_dev_size(d);

    switch (arg) {
    case QN_FIT_ARG_LD:
        return qn_arg_val(&g->ld, sizeof g->ld);
    case QN_FIT_ARG_IDX:
        return qn_arg_at(d->idx, (size_t)d->idx_at[k] * sizeof *g->idx);
    case QN_FIT_ARG_X:
        return qn_arg_buf(v->x);
    case QN_FIT_ARG_TANGENT:
        return qn_arg_buf(v->tangent);
    case QN_FIT_ARG_DATA:
        if (qn_fit_dev_reads_jacobian(kind))
            return qn_arg_at(v->jacobian,
                             (size_t)d->runs[kind].jacobian_at[k] * qn_fit_dev_stored_size(d));
        return qn_arg_at(d->data, (size_t)d->data_at[k] * size);
    default:
        return g->is_energy ? qn_arg_buf(d->ones) : qn_arg_at(v->seed, (size_t)d->row_at[k] * size);
    }
}

/* A group whose kernel sums its contributions: one group of lanes for each chunk. */
static qn_status stage_reduced(qn_fit_device *d, qn_graph *graph, qn_fit_dev_kind kind, int k,
                               const qn_fit_dev_vectors *v, qn_err *err)
{
    const qn_fit_group *g = &d->problem->groups[k];
    qn_fit_arg wanted[QN_FIT_N_ARGS];
    qn_arg args[QN_FIT_N_ARGS + 4];
    const int n_wanted = qn_fit_kernel_args(d->runs[kind].tapes[k], wanted);
    int n = 0;

    args[n++] = qn_arg_val(&g->n, sizeof g->n);
    for (int a = 0; a < n_wanted && wanted[a] < QN_FIT_ARG_OUT; a++)
        args[n++] = input_of(d, kind, k, wanted[a], v);
    args[n++] = qn_arg_buf(d->runs[kind].reduce_at[k]);
    args[n++] = qn_arg_at(d->costs, (size_t)d->cost_at[k] * qn_fit_dev_size(d));
    args[n++] = qn_arg_buf(d->sums);
    return qn_fit_dev_stage_group(d, graph, "fit", kind, k,
                                  (g->n + QN_FIT_CHUNK - 1) / QN_FIT_CHUNK,
                                  d->batch_size / QN_FIT_CHUNK, args, err);
}

static qn_status stage_group(qn_fit_device *d, qn_graph *graph, qn_fit_dev_kind kind, int k,
                             const qn_fit_dev_vectors *v, qn_err *err)
{
    const qn_fit_group *g = &d->problem->groups[k];
    qn_fit_arg wanted[QN_FIT_N_ARGS];
    qn_arg args[QN_FIT_N_ARGS];
    const int n = qn_fit_kernel_args(d->runs[kind].tapes[k], wanted);

    if (d->runs[kind].is_small[k])
        return QN_OK;
    if (d->runs[kind].is_reduced[k])
        return stage_reduced(d, graph, kind, k, v, err);
    /* Where all entries are constants, the gather's tables hold all that is needed. */
    if (g->n == 0 || wanted[n - 1] < QN_FIT_ARG_OUT)
        return QN_OK;
    for (int a = 0; a < n; a++) {
        args[a] = wanted[a] < QN_FIT_ARG_OUT
                      ? input_of(d, kind, k, wanted[a], v)
                      : output_of(d, kind, k, (int)(wanted[a] - QN_FIT_ARG_OUT), v);
    }
    return qn_fit_dev_stage_group(d, graph, "fit", kind, k, g->n, d->batch_size, args, err);
}

static qn_status stage_groups(qn_fit_device *d, qn_graph *graph, qn_fit_dev_kind kind,
                              const qn_fit_dev_vectors *v, qn_err *err)
{
    qn_status st = qn_fit_dev_prepare(d, kind, err);

    for (int k = 0; st == QN_OK && k < d->problem->n_groups; k++)
        st = stage_group(d, graph, kind, k, v, err);
    if (st == QN_OK && d->runs[kind].n_small)
        st = qn_fit_dev_stage_small(d, graph, kind, v, err);
    return st;
}

/* Sums. */

enum { FEW_ROWS = 16 }; /* costs that one group of lanes sums faster than two kernels do */

/* Adds nothing where no cost is wanted. */
static qn_status sum_costs(qn_fit_device *d, qn_graph *graph, qn_buf *cost, qn_err *err)
{
    qn_status st;

    if (!cost)
        return QN_OK;
    st = STAGE(fit_cost_part)(graph, "fit.cost.part", qn_range_1d(d->cost_chunks.n),
                              d->cost_chunks.from, d->cost_chunks.to, d->costs, d->cost_sums, err);

    if (st == QN_OK && d->n_cost_rows <= FEW_ROWS) {
        st = STAGE(fit_cost_finish)(
            graph, "fit.cost.finish", qn_range_1d(1), (int32_t)d->n_cost_rows, d->problem->n_groups,
            d->cost_chunks.begin, d->cost_row, d->cost_sums, d->cost_rows, cost, err);
        return st;
    }
    if (st == QN_OK)
        st = STAGE(fit_cost_join)(graph, "fit.cost.join", qn_range_1d(d->n_cost_rows),
                                  d->cost_chunks.begin, d->cost_sums, d->cost_rows, err);
    if (st == QN_OK)
        st = STAGE(fit_cost_total)(graph, "fit.cost.total", qn_range_1d(1), d->problem->n_groups,
                                   d->cost_row, d->cost_rows, cost, err);
    return st;
}

/* Contributions to scalars, or (`is_pair`) to numbers of the diagonal blocks. */
static qn_status gather_set(qn_fit_device *d, qn_graph *graph, qn_fit_dev_kind kind, int is_pair,
                            int set, qn_i64 first, qn_buf *out, qn_err *err)
{
    const qn_fit_set *s = &d->problem->sets[set];
    const qn_fit_dev_parts *of = is_pair ? &d->runs[kind].squares : &d->runs[kind].slopes;
    const qn_fit_dev_long *l = &d->longs[set];
    qn_buf *const is_off = is_pair ? d->is_off_block : d->is_fixed;
    const fit_gather_par par = { .first = first,
                                 .first_block = s->first_block,
                                 .n_chunks = l->chunks.n,
                                 .cells = (int32_t)(is_pair ? s->dim * s->dim : s->dim),
                                 .stride = is_pair ? d->max_dim * d->max_dim : d->max_dim };
    const int is_reduced = qn_fit_dev_is_reduced(d, kind, set);
    char name[96];
    qn_status st = QN_OK;

    if (s->count == 0)
        return QN_OK;
    snprintf(name, sizeof name, "fit.gather.%s", s->name);
    if (!is_reduced)
        st = STAGE(fit_gather_short)(graph, name, qn_range_1d((qn_i64)s->count * par.cells), par,
                                     d->start, d->place, d->instance, of->at, of->factor, of->part,
                                     is_off, out, err);
    snprintf(name, sizeof name, "fit.part.%s", s->name);
    if (st == QN_OK && l->n && !is_reduced)
        st = STAGE(fit_gather_part)(graph, name, qn_range_2d(l->chunks.n, par.cells), par,
                                    l->chunks.from, l->chunks.to, d->place, d->instance, of->at,
                                    of->factor, of->part, l->sums, err);
    snprintf(name, sizeof name, "fit.join.%s", s->name);
    if (st == QN_OK && l->n)
        st = STAGE(fit_gather_join)(graph, name, qn_range_2d(l->n, par.cells), par, l->target,
                                    l->chunks.begin, l->sums, is_off, out, err);
    return st;
}

static qn_status gather(qn_fit_device *d, qn_graph *graph, qn_fit_dev_kind kind, int is_pair,
                        qn_buf *out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_i64 first = 0;

    for (int k = 0; st == QN_OK && k < d->problem->n_sets; k++) {
        const qn_fit_set *s = &d->problem->sets[k];

        st = gather_set(d, graph, kind, is_pair, k, first, out, err);
        first += (qn_i64)s->count * s->dim * (is_pair ? s->dim : 1);
    }
    return st;
}

qn_status qn_fit_dev_stage(qn_fit_device *device, qn_graph *graph, qn_fit_dev_kind kind,
                           const qn_fit_dev_vectors *v, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(stage_groups(device, graph, kind, v, err));
    QN_TRY(sum_costs(device, graph, v->cost, err));
    if (v->sums)
        QN_TRY(gather(device, graph, kind, 0, v->sums, err));
    if (v->blocks)
        QN_TRY(gather(device, graph, kind, 1, v->blocks, err));
out:
    return st;
}

/* Stages for solvers. */

qn_status qn_fit_stage_cost(qn_fit_device *device, qn_graph *graph, qn_buf *x, qn_buf *cost,
                            qn_err *err)
{
    return qn_fit_dev_stage(device, graph, QN_FIT_DEV_COST,
                            &(qn_fit_dev_vectors){ .x = x, .cost = cost }, err);
}

qn_status qn_fit_stage_gradient(qn_fit_device *device, qn_graph *graph, qn_buf *x, qn_buf *cost,
                                qn_buf *gradient, qn_err *err)
{
    const qn_fit_dev_vectors v = { .x = x, .cost = cost, .sums = gradient };
    qn_status st = QN_OK;
    int is_owner;

    QN_TRY(qn_fit_dev_choose_owner(device, &is_owner, err));
    if (!is_owner && device->accumulate != QN_FIT_ACCUMULATE_ATOMIC)
        return qn_fit_dev_stage(device, graph,
                                cost ? QN_FIT_DEV_GRADIENT : QN_FIT_DEV_BARE_GRADIENT, &v, err);
    if (cost)
        QN_TRY(qn_fit_stage_cost(device, graph, x, cost, err));
    st = (is_owner ? qn_fit_dev_stage_owner : qn_fit_dev_stage_atomic)(device, graph, x, NULL,
                                                                       gradient, err);
out:
    return st;
}

qn_status qn_fit_stage_residuals(qn_fit_device *device, qn_graph *graph, qn_buf *x, qn_buf *cost,
                                 qn_buf *rows, qn_err *err)
{
    const qn_fit_dev_vectors v = { .x = x, .rows = rows, .cost = cost };

    return qn_fit_dev_stage(device, graph, cost ? QN_FIT_DEV_RESIDUALS : QN_FIT_DEV_BARE_RESIDUALS,
                            &v, err);
}

qn_status qn_fit_stage_linearize(qn_fit_device *device, qn_graph *graph, qn_buf *x, qn_buf *cost,
                                 qn_buf *rows, qn_buf *jacobian, qn_err *err)
{
    const qn_fit_dev_vectors v = { .x = x, .rows = rows, .jacobian = jacobian, .cost = cost };

    return qn_fit_dev_stage(device, graph, cost ? QN_FIT_DEV_LINEARIZE : QN_FIT_DEV_BARE_LINEARIZE,
                            &v, err);
}

qn_status qn_fit_stage_jv(qn_fit_device *device, qn_graph *graph, qn_buf *x, qn_buf *v,
                          qn_buf *rows, qn_err *err)
{
    return qn_fit_dev_stage(device, graph, QN_FIT_DEV_JV,
                            &(qn_fit_dev_vectors){ .x = x, .tangent = v, .rows = rows }, err);
}

qn_status qn_fit_stage_jtu(qn_fit_device *device, qn_graph *graph, qn_buf *x, qn_buf *rows,
                           qn_buf *out, qn_err *err)
{
    return qn_fit_dev_stage(device, graph, QN_FIT_DEV_JTU,
                            &(qn_fit_dev_vectors){ .x = x, .seed = rows, .sums = out }, err);
}

qn_status qn_fit_stage_jtjv(qn_fit_device *device, qn_graph *graph, qn_buf *x, qn_buf *v,
                            qn_buf *out, qn_err *err)
{
    const qn_fit_dev_vectors all = { .x = x, .tangent = v, .sums = out };
    qn_status st;
    int is_owner;

    if (device->accumulate == QN_FIT_ACCUMULATE_ATOMIC)
        return qn_fit_dev_stage_atomic(device, graph, x, v, out, err);
    if ((st = qn_fit_dev_choose_owner(device, &is_owner, err)) != QN_OK)
        return st;
    if (is_owner && !qn_fit_problem_has_energies(device->problem))
        return qn_fit_dev_stage_owner(device, graph, x, v, out, err);
    return qn_fit_dev_stage(device, graph, QN_FIT_DEV_JTJV, &all, err);
}

qn_status qn_fit_stage_diagonal(qn_fit_device *device, qn_graph *graph, qn_buf *x, qn_buf *blocks,
                                qn_err *err)
{
    return qn_fit_dev_stage(device, graph, QN_FIT_DEV_DIAGONAL,
                            &(qn_fit_dev_vectors){ .x = x, .blocks = blocks }, err);
}

/* The largest number of values alive in a combined kernel; with more it would spill registers. */
enum { MOST_ALIVE = 96 };

/* Parameters that all instances share are summed only in the kernel of their gradient. */
qn_status qn_fit_dev_choose_point(qn_fit_device *d, qn_fit_dev_kind kind, int *is_one, qn_err *err)
{
    const qn_fit_problem *p = d->problem;
    qn_status st = QN_OK;

    *is_one = 0;
    if (d->accumulate == QN_FIT_ACCUMULATE_ATOMIC)
        return QN_OK;
    QN_TRY(qn_fit_dev_tapes(d, kind, err));
    *is_one = 1;
    for (int k = 0; k < p->n_groups; k++)
        *is_one &= !qn_fit_dev_can_reduce(p, k, QN_FIT_DEV_JTU) &&
                   d->runs[kind].tapes[k]->peak_live <= MOST_ALIVE;
out:
    return st;
}

qn_status qn_fit_stage_point(qn_fit_device *device, qn_graph *graph, qn_buf *x, qn_buf *cost,
                             qn_buf *rows, qn_buf *gradient, qn_buf *blocks, qn_err *err)
{
    const qn_fit_dev_vectors v = {
        .x = x, .rows = rows, .cost = cost, .sums = gradient, .blocks = blocks
    };
    qn_status st = QN_OK;
    int is_one;

    QN_TRY(qn_fit_dev_choose_point(device, QN_FIT_DEV_POINT, &is_one, err));
    if (is_one)
        return qn_fit_dev_stage(device, graph, QN_FIT_DEV_POINT, &v, err);
    QN_TRY(qn_fit_stage_residuals(device, graph, x, cost, rows, err));
    if (device->accumulate == QN_FIT_ACCUMULATE_ATOMIC)
        QN_TRY(qn_fit_dev_stage_atomic(device, graph, x, NULL, gradient, err));
    else
        QN_TRY(qn_fit_stage_jtu(device, graph, x, rows, gradient, err));
    QN_TRY(qn_fit_stage_diagonal(device, graph, x, blocks, err));
out:
    return st;
}

/* Terms that are not finite. */

qn_status qn_fit_stage_bad(qn_fit_device *d, qn_graph *graph, qn_buf *bad, qn_err *err)
{
    qn_status st =
        STAGE(fit_bad_clear)(graph, "fit.bad.clear", qn_range_1d(d->problem->n_groups), bad, err);

    for (int k = 0; st == QN_OK && k < d->problem->n_groups; k++) {
        const qn_fit_group *g = &d->problem->groups[k];
        char name[80];

        snprintf(name, sizeof name, "fit.bad.%s", g->name);
        if (g->n)
            st = STAGE(fit_bad_count)(graph, name, qn_range_1d(g->n), d->cost_at[k], g->ld,
                                      g->is_energy ? g->n_rows : 1, k, d->costs, bad, err);
    }
    return st;
}

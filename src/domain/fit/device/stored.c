/* stored.c - products with a Jacobian stored on the device.
 *
 * J is formed once per point, as its distinct values that vary; the products of conjugate gradients
 * then read it instead of evaluating the terms again. When J is stored in another precision than
 * the device's, it serves products only: the gradient, which decides where a solve ends, and the
 * diagonal come from unrounded values, so that only the path of the solve changes.
 */
#include "domain/fit/device/choose.h"
#include "domain/fit/device/device_impl.h"

static qn_status point_at_once(qn_fit_device *d, qn_graph *graph, const qn_fit_dev_vectors *v,
                               qn_buf *cost, qn_buf *gradient, qn_buf *blocks, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_fit_dev_stage_groups(d, graph, QN_FIT_DEV_STORING_POINT, v, err));
    QN_TRY(qn_fit_dev_sum_costs(d, graph, cost, err));
    QN_TRY(qn_fit_dev_gather(d, graph, QN_FIT_DEV_STORING_POINT, 0, gradient, err));
    QN_TRY(qn_fit_dev_gather(d, graph, QN_FIT_DEV_STORING_POINT, 1, blocks, err));
out:
    return st;
}

qn_status qn_fit_stage_storing_point(qn_fit_device *device, qn_graph *graph, qn_buf *x,
                                     qn_buf *cost, qn_buf *rows, qn_buf *gradient, qn_buf *blocks,
                                     qn_buf *jacobian, qn_err *err)
{
    const qn_fit_dev_vectors v = { .x = x, .rows = rows, .jacobian = jacobian };
    qn_status st = QN_OK;
    int is_one;

    QN_TRY(qn_fit_dev_choose_point(device, QN_FIT_DEV_STORING_POINT, &is_one, err));
    if (is_one) {
        QN_TRY(point_at_once(device, graph, &v, cost, gradient, blocks, err));
        goto out;
    }
    QN_TRY(qn_fit_stage_linearize(device, graph, x, cost, rows, jacobian, err));
    if (device->storage == device->precision) {
        QN_TRY(qn_fit_stage_stored_jtu(device, graph, jacobian, rows, gradient, err));
        QN_TRY(qn_fit_stage_stored_diagonal(device, graph, jacobian, blocks, err));
    } else {
        QN_TRY(qn_fit_stage_jtu(device, graph, x, rows, gradient, err));
        QN_TRY(qn_fit_stage_diagonal(device, graph, x, blocks, err));
    }
out:
    return st;
}

/* Products. */

qn_status qn_fit_stage_stored_jv(qn_fit_device *device, qn_graph *graph, qn_buf *jacobian,
                                 qn_buf *v, qn_buf *rows, qn_err *err)
{
    const qn_fit_dev_vectors all = { .jacobian = jacobian, .tangent = v, .rows = rows };

    return qn_fit_dev_stage_groups(device, graph, QN_FIT_DEV_STORED_JV, &all, err);
}

static qn_status summed(qn_fit_device *d, qn_graph *graph, qn_fit_dev_kind kind,
                        const qn_fit_dev_vectors *v, int is_pair, qn_buf *out, qn_err *err)
{
    const qn_status st = qn_fit_dev_stage_groups(d, graph, kind, v, err);

    return st == QN_OK ? qn_fit_dev_gather(d, graph, kind, is_pair, out, err) : st;
}

qn_status qn_fit_stage_stored_jtu(qn_fit_device *device, qn_graph *graph, qn_buf *jacobian,
                                  qn_buf *rows, qn_buf *out, qn_err *err)
{
    const qn_fit_dev_vectors v = { .jacobian = jacobian, .seed = rows };

    return summed(device, graph, QN_FIT_DEV_STORED_JTU, &v, 0, out, err);
}

qn_status qn_fit_stage_stored_jtjv(qn_fit_device *device, qn_graph *graph, qn_buf *jacobian,
                                   qn_buf *v, qn_buf *out, qn_err *err)
{
    const qn_fit_dev_vectors all = { .jacobian = jacobian, .tangent = v };

    return summed(device, graph, QN_FIT_DEV_STORED_JTJV, &all, 0, out, err);
}

qn_status qn_fit_stage_stored_diagonal(qn_fit_device *device, qn_graph *graph, qn_buf *jacobian,
                                       qn_buf *blocks, qn_err *err)
{
    const qn_fit_dev_vectors v = { .jacobian = jacobian };

    return summed(device, graph, QN_FIT_DEV_STORED_DIAGONAL, &v, 1, blocks, err);
}

/* Which of the two. */

/* Bytes and operations of J'J v for one group, computed and stored. */
static qn_status count_group(qn_fit_device *d, int k, int is_owner, qn_fit_traffic *free_way,
                             qn_fit_traffic *stored_way, qn_err *err)
{
    const qn_fit_dev_kind kind = is_owner ? QN_FIT_DEV_OWNER_JTJV : QN_FIT_DEV_JTJV;
    const qn_fit_group *g = &d->problem->groups[k];
    const qn_fit_tape *p = d->runs[kind].tapes[k];
    const double n = (double)g->n, size = (double)qn_fit_dev_size(d);
    qn_fit_derived jacobian = { 0 };
    const qn_status st = qn_fit_derive(g->graph, QN_FIT_WANT(QN_FIT_JAC), g->loss,
                                       QN_FIT_SWEEP_AUTO, &jacobian, err);
    double sums = size * p->sections[QN_FIT_JTJV].count; /* written, then read by lists */
    int n_entries = 0;

    if (st != QN_OK)
        return st;
    for (int e = 0; e < jacobian.sections[QN_FIT_JAC].n_entries; e++)
        n_entries += jacobian.sections[QN_FIT_JAC].entries[e].factor != 0;
    sums += 8.0 * g->n_slots + size * p->n_variables;
    if (qn_fit_dev_can_reduce(d->problem, k, QN_FIT_DEV_JTJV))
        sums = 0;
    if (is_owner) {
        free_way->bytes += n * g->n_slots * (4.0 * (g->n_slots - 1) + size * g->n_columns);
        free_way->ops += n * g->n_slots * (double)p->weight;
    } else {
        free_way->bytes += n * (4.0 * g->n_slots + size * g->n_columns + sums);
        free_way->ops += n * (double)p->weight;
    }
    stored_way->stored += n * jacobian.sections[QN_FIT_JAC].count;
    stored_way->bytes +=
        n * (4.0 * g->n_slots + sums +
             (double)(qn_fit_dev_stored_size(d) * (size_t)jacobian.sections[QN_FIT_JAC].count));
    stored_way->ops += n * 4 * n_entries; /* J v, then J' times that */
    qn_fit_derived_free(&jacobian);
    return QN_OK;
}

qn_status qn_fit_device_choose_stored(qn_fit_device *device, int *is_stored, qn_err *err)
{
    qn_fit_traffic free_way = { 0 }, stored_way = { 0 };
    qn_status st = QN_OK;
    int is_owner;

    *is_stored = 0;
    if (device->accumulate == QN_FIT_ACCUMULATE_ATOMIC ||
        device->accumulate == QN_FIT_ACCUMULATE_OWNER)
        return QN_OK;
    QN_TRY(qn_fit_dev_choose_owner(device, &is_owner, err));
    QN_TRY(qn_fit_dev_tapes(device, is_owner ? QN_FIT_DEV_OWNER_JTJV : QN_FIT_DEV_JTJV, err));
    for (int k = 0; k < device->problem->n_groups; k++)
        QN_TRY(count_group(device, k, is_owner, &free_way, &stored_way, err));
    *is_stored = qn_fit_is_stored_shorter(&free_way, &stored_way);
out:
    return st;
}

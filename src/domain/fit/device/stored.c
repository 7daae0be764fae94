/* stored.c - products with a Jacobian stored on the device.
 *
 * J is formed once per point, as its distinct values that vary; the products of conjugate gradients
 * then read it instead of evaluating the terms again. When J is stored in another precision than
 * the device's, it serves products only: the gradient, which decides where a solve ends, and the
 * diagonal come from unrounded values, so that only the path of the solve changes.
 */
#include "domain/fit/device/choose.h"
#include "domain/fit/device/device_impl.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

/* Products as expressions.
 *
 * J v is linear in v: with stored values as data columns and v as parameters it is an expression
 * like any other. Its derivative is J itself, so the tapes for J v, J'u, J'J v and the diagonal
 * blocks are derived like all tapes, with the signs and constants of stored entries.
 */

/* entry * variable; 0 where the entry is 0. */
static qn_fit_v term_of(qn_fit_graph *g, const qn_fit_entry *e, qn_fit_v variable)
{
    qn_fit_v term;

    if (e->stored < 0)
        return e->factor == 0 ? 0 : qn_fit_mul(g, qn_fit_exact(g, e->factor), variable);
    term = qn_fit_mul(g, qn_fit_leaf(g, QN_FIT_OP_data, (uint32_t)e->stored, 0), variable);
    return e->factor < 0 ? qn_fit_neg(g, term) : term;
}

/* All variables come first, even those without an entry, because the sums of parameters that all
 * instances share are made for every variable. */
static void fill(qn_fit_graph *g, const qn_fit_tape *from, qn_fit_v *leaves)
{
    for (int k = 0; k < from->n_variables; k++)
        leaves[k] =
            qn_fit_leaf(g, QN_FIT_OP_param, from->variables[k].slot, from->variables[k].comp);
    for (int r = 0; r < from->n_rows; r++) {
        const qn_fit_entry *row = from->sections[QN_FIT_JAC].entries + r * from->n_variables;
        qn_fit_v sum = 0;

        for (int k = 0; k < from->n_variables; k++) {
            const qn_fit_v term = term_of(g, &row[k], leaves[k]);

            if (term)
                sum = sum ? qn_fit_add(g, sum, term) : term;
        }
        qn_fit_output(g, sum ? sum : qn_fit_exact(g, 0));
    }
}

/* Column k of the graph is stored value k; slots and variables are those of `linearized`. */
static qn_status make_graph(const qn_fit_tape *linearized, qn_fit_graph **out, qn_err *err)
{
    const qn_fit_tape *from = linearized;
    qn_fit_v *leaves = calloc((size_t)from->n_variables + 1, sizeof *leaves);
    qn_fit_graph *g = NULL;
    qn_status st = qn_fit_graph_new(from->name, QN_FIT_TEMPLATE, &g, err);

    if (!leaves || st != QN_OK ||
        !(g->slot_dims = qn_arena_zeros(&g->memory, (size_t)from->n_slots, sizeof *g->slot_dims)))
        QN_FAIL(err, QN_ERR_NOMEM, "%s: products with a Jacobian of %d columns", from->name,
                from->n_variables);
    fill(g, from, leaves);
    QN_TRY(qn_fit_graph_check(g, err));
    /* Slots are numbered as in the tape, where they are in canonical order already. */
    memcpy(g->slot_dims, from->slot_dims, (size_t)from->n_slots * sizeof *g->slot_dims);
    g->n_slots = (uint32_t)from->n_slots;
    g->n_columns = (uint32_t)from->sections[QN_FIT_JAC].count;
    g->is_finished = 1;
    *out = g;
    g = NULL;
out:
    qn_fit_graph_free(g);
    free(leaves);
    return st;
}

qn_status qn_fit_stored_tape(const qn_fit_tape *linearized, unsigned wants, qn_fit_tape **out,
                             qn_err *err)
{
    qn_fit_graph *graph = NULL;
    qn_status st = make_graph(linearized, &graph, err);

    if (st == QN_OK)
        st = qn_fit_tape_new(graph, wants, (qn_fit_loss){ QN_FIT_LOSS_NONE, 1 }, QN_FIT_SWEEP_AUTO,
                             out, err);
    if (st == QN_OK)
        (*out)->reads_jacobian = 1;
    qn_fit_graph_free(graph);
    return st;
}

/* Points. */

qn_status qn_fit_stage_storing_point(qn_fit_device *device, qn_graph *graph, qn_buf *x,
                                     qn_buf *cost, qn_buf *rows, qn_buf *gradient, qn_buf *blocks,
                                     qn_buf *jacobian, qn_err *err)
{
    const qn_fit_dev_vectors v = {
        .x = x, .rows = rows, .jacobian = jacobian, .cost = cost, .sums = gradient, .blocks = blocks
    };
    qn_status st = QN_OK;
    int is_one;

    QN_TRY(qn_fit_dev_choose_point(device, QN_FIT_DEV_STORING_POINT, &is_one, err));
    if (is_one)
        return qn_fit_dev_stage(device, graph, QN_FIT_DEV_STORING_POINT, &v, err);
    QN_TRY(qn_fit_stage_linearize(device, graph, x, cost, rows, jacobian, err));
    if (device->storage == device->precision) {
        QN_TRY(qn_fit_stage_stored_jtu(device, graph, jacobian, rows, gradient, err));
        QN_TRY(qn_fit_dev_stage(device, graph, QN_FIT_DEV_STORED_DIAGONAL,
                                &(qn_fit_dev_vectors){ .jacobian = jacobian, .blocks = blocks },
                                err));
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
    return qn_fit_dev_stage(
        device, graph, QN_FIT_DEV_STORED_JV,
        &(qn_fit_dev_vectors){ .jacobian = jacobian, .tangent = v, .rows = rows }, err);
}

qn_status qn_fit_stage_stored_jtu(qn_fit_device *device, qn_graph *graph, qn_buf *jacobian,
                                  qn_buf *rows, qn_buf *out, qn_err *err)
{
    return qn_fit_dev_stage(
        device, graph, QN_FIT_DEV_STORED_JTU,
        &(qn_fit_dev_vectors){ .jacobian = jacobian, .seed = rows, .sums = out }, err);
}

qn_status qn_fit_stage_stored_jtjv(qn_fit_device *device, qn_graph *graph, qn_buf *jacobian,
                                   qn_buf *v, qn_buf *out, qn_err *err)
{
    return qn_fit_dev_stage(
        device, graph, QN_FIT_DEV_STORED_JTJV,
        &(qn_fit_dev_vectors){ .jacobian = jacobian, .tangent = v, .sums = out }, err);
}

/* Which of the two. */

/* Bytes and operations of J'J v for one group, computed and stored. */
static qn_status count_group(qn_fit_device *d, int k, int is_owner, qn_fit_traffic *computed,
                             qn_fit_traffic *stored, qn_err *err)
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
        computed->bytes += n * g->n_slots * (4.0 * (g->n_slots - 1) + size * g->n_columns);
        computed->ops += n * g->n_slots * (double)p->weight;
    } else {
        computed->bytes += n * (4.0 * g->n_slots + size * g->n_columns + sums);
        computed->ops += n * (double)p->weight;
    }
    stored->stored += n * jacobian.sections[QN_FIT_JAC].count;
    stored->bytes +=
        n * (4.0 * g->n_slots + sums +
             (double)(qn_fit_dev_stored_size(d) * (size_t)jacobian.sections[QN_FIT_JAC].count));
    stored->ops += n * 4 * n_entries; /* J v, then J' times that */
    qn_fit_derived_free(&jacobian);
    return QN_OK;
}

qn_status qn_fit_device_choose_stored(qn_fit_device *device, int *is_stored, qn_err *err)
{
    qn_fit_traffic computed = { 0 }, stored = { 0 };
    qn_status st = QN_OK;
    int is_owner;

    *is_stored = 0;
    if (device->accumulate == QN_FIT_ACCUMULATE_ATOMIC ||
        device->accumulate == QN_FIT_ACCUMULATE_OWNER)
        return QN_OK;
    QN_TRY(qn_fit_dev_choose_owner(device, &is_owner, err));
    QN_TRY(qn_fit_dev_tapes(device, is_owner ? QN_FIT_DEV_OWNER_JTJV : QN_FIT_DEV_JTJV, err));
    for (int k = 0; k < device->problem->n_groups; k++)
        QN_TRY(count_group(device, k, is_owner, &computed, &stored, err));
    *is_stored = qn_fit_is_stored_shorter(&computed, &stored);
out:
    return st;
}

/* stored_graph.c - builds the rows of J v from stored values, constants and signs. */
#include "domain/fit/device/device_impl.h"

#include "util/status.h"

#include <stdlib.h>
#include <string.h>

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

qn_status qn_fit_stored_graph(const qn_fit_tape *linearized, qn_fit_graph **out, qn_err *err)
{
    const qn_fit_tape *from = linearized;
    qn_fit_v *leaves = calloc((size_t)from->n_variables + 1, sizeof *leaves);
    qn_fit_graph *g = NULL;
    qn_status st = qn_fit_graph_new(from->name, QN_FIT_TEMPLATE, &g, err);

    if (!leaves || st != QN_OK ||
        !(g->slot_dims = calloc((size_t)from->n_slots + 1, sizeof *g->slot_dims))) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: products with a Jacobian of %d columns", from->name,
                     from->n_variables);
        goto out;
    }
    fill(g, from, leaves);
    if (g->err.status != QN_OK) {
        st = g->err.status;
        if (err)
            *err = g->err;
        goto out;
    }
    /* Slots are numbered as those of the tape, which are in canonical order already. */
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
    qn_status st = qn_fit_stored_graph(linearized, &graph, err);

    if (st == QN_OK)
        st = qn_fit_tape_new(graph, wants, (qn_fit_loss){ QN_FIT_LOSS_NONE, 1 }, QN_FIT_SWEEP_AUTO,
                             out, err);
    if (st == QN_OK)
        (*out)->reads_jacobian = 1;
    qn_fit_graph_free(graph);
    return st;
}

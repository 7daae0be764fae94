/* lower.c - replaces integer powers by chains of products, and each stop by its argument. */
#include "domain/fit/code/tape.h"

#include "util/status.h"

#include <stdlib.h>

static qn_fit_v power(qn_fit_graph *g, qn_fit_v a, int n)
{
    qn_fit_v half;

    switch (n) {
    case 1:
        return a;
    case 2:
        return qn_fit_make(g, QN_FIT_OP_square, &a);
    case 3:
        return qn_fit_make(g, QN_FIT_OP_cube, &a);
    default:
        break;
    }
    if (n % 2)
        return qn_fit_mul(g, a, power(g, a, n - 1));
    half = power(g, a, n / 2);
    return qn_fit_make(g, QN_FIT_OP_square, &half);
}

static qn_fit_v integer_power(qn_fit_graph *g, qn_fit_v a, int n)
{
    qn_fit_v p = power(g, a, abs(n));

    return n < 0 ? qn_fit_make(g, QN_FIT_OP_recip, &p) : p;
}

static qn_fit_v lowered(qn_fit_graph *g, const qn_fit_graph *from, qn_fit_v id,
                        const qn_fit_v *number)
{
    qn_fit_node n = *qn_fit_at(from, id);

    for (int i = 0; i < n.n_args; i++)
        n.arg[i] = number[n.arg[i]];
    if (n.op == QN_FIT_OP_stop)
        return n.arg[0];
    if (n.op == QN_FIT_OP_powi)
        return integer_power(g, n.arg[0], (int)qn_fit_at(g, n.arg[1])->value);
    return qn_fit_intern(g, &n);
}

qn_status qn_fit_lower(const qn_fit_graph *graph, qn_fit_graph **out, qn_err *err)
{
    qn_fit_graph *g = NULL;
    qn_fit_v *number = calloc(graph->n_nodes, sizeof *number);
    uint8_t *mark = calloc(graph->n_nodes, 1);
    qn_status st = qn_fit_graph_new(graph->name, QN_FIT_TEMPLATE, &g, err);

    if (!number || !mark || st != QN_OK) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: lowering %u nodes", graph->name, graph->n_nodes);
        goto out;
    }
    qn_fit_reach(graph, graph->outputs, graph->n_outputs, mark);
    for (qn_fit_v id = 1; id < graph->n_nodes; id++)
        if (mark[id])
            number[id] = lowered(g, graph, id, number);
    for (int k = 0; k < graph->n_outputs; k++)
        qn_fit_output(g, number[graph->outputs[k]]);
    if (g->err.status != QN_OK) {
        st = g->err.status;
        if (err)
            *err = g->err;
        goto out;
    }
    *out = g;
    g = NULL;
out:
    qn_fit_graph_free(g);
    free(number);
    free(mark);
    return st;
}

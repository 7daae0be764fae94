/* sweep.c - forward and reverse accumulation over a graph.
 *
 * Both create nodes, so equal work is shared between rows, columns and values. A value known to be
 * zero gets no node.
 */
#include "domain/fit/derive/derive.h"

#include <stdlib.h>

static qn_fit_v select_of(qn_fit_graph *g, qn_fit_v c, qn_fit_v x, qn_fit_v y)
{
    const qn_fit_v zero = qn_fit_exact(g, 0);

    if (!x && !y)
        return 0;
    return qn_fit_make(g, QN_FIT_OP_select, (const qn_fit_v[]){ c, x ? x : zero, y ? y : zero });
}

static void accumulate(qn_fit_graph *g, qn_fit_v *sum, qn_fit_v term)
{
    if (term)
        *sum = *sum ? qn_fit_add(g, *sum, term) : term;
}

/* Reverse. */

enum { LEADS_TO_VARIABLE = 1, BEHIND_SELECT = 2, IS_USED = 4, MAY_BLOW = 8 };

/* Which nodes depend on variables; which may be infinite or NaN because of a singular operation
 * below them; and which reach the roots only through branches of selects. */
static void mark(const qn_fit_graph *g, qn_fit_v n, const qn_fit_v *roots, int n_roots,
                 uint8_t *marks)
{
    for (qn_fit_v id = 1; id < n; id++) {
        const qn_fit_node *node = qn_fit_at(g, id);

        if (node->op == QN_FIT_OP_param && !node->is_fixed)
            marks[id] |= LEADS_TO_VARIABLE;
        if (qn_fit_op_has((qn_fit_opcode)node->op, QN_FIT_SING))
            marks[id] |= MAY_BLOW;
        for (int i = 0; i < node->n_args; i++)
            marks[id] |= marks[node->arg[i]] & (LEADS_TO_VARIABLE | MAY_BLOW);
        if (node->op == QN_FIT_OP_stop)
            marks[id] &= (uint8_t)~LEADS_TO_VARIABLE;
        marks[id] |= BEHIND_SELECT;
    }
    for (int k = 0; k < n_roots; k++) {
        marks[roots[k]] |= IS_USED;
        marks[roots[k]] &= (uint8_t)~BEHIND_SELECT;
    }
    for (qn_fit_v id = n - 1; id > 0; id--) {
        const qn_fit_node *node = qn_fit_at(g, id);

        for (int i = 0; (marks[id] & IS_USED) && i < node->n_args; i++) {
            const int is_branch = node->op == QN_FIT_OP_select && i > 0;

            marks[node->arg[i]] |= IS_USED;
            if (!is_branch && !(marks[id] & BEHIND_SELECT))
                marks[node->arg[i]] &= (uint8_t)~BEHIND_SELECT;
        }
    }
}

/* g * partial, but 0 if g is 0, even where the partial is infinite. */
static qn_fit_v arriving(qn_fit_graph *g, qn_fit_v id, int i, qn_fit_v adj, unsigned marks_of_node)
{
    const qn_fit_v partial = qn_fit_partial(g, id, i);
    const int guard = (marks_of_node & BEHIND_SELECT) && (marks_of_node & MAY_BLOW);

    if (!partial)
        return 0;
    return guard ? qn_fit_make(g, QN_FIT_OP_mulz, (const qn_fit_v[]){ adj, partial })
                 : qn_fit_mul(g, adj, partial);
}

void qn_fit_reverse(qn_fit_graph *graph, qn_fit_v n, const qn_fit_v *roots, const qn_fit_v *seeds,
                    int n_roots, qn_fit_v *adj)
{
    uint8_t *marks = calloc(n, 1);

    if (!marks) {
        qn_fit_graph_fault(graph, QN_ERR_NOMEM, "derivatives of %u nodes", n);
        return;
    }
    mark(graph, n, roots, n_roots, marks);
    for (int k = 0; k < n_roots; k++)
        accumulate(graph, &adj[roots[k]], seeds[k]);
    for (qn_fit_v id = n - 1; id > 0; id--) {
        const qn_fit_node node = *qn_fit_at(graph, id);

        if (!adj[id] || !(marks[id] & LEADS_TO_VARIABLE))
            continue;
        for (int i = 0; i < node.n_args; i++) {
            qn_fit_v term;

            if (!(marks[node.arg[i]] & LEADS_TO_VARIABLE))
                continue;
            if (node.op == QN_FIT_OP_select)
                term = i == 0 ? 0
                              : select_of(graph, node.arg[0], i == 1 ? adj[id] : 0,
                                          i == 2 ? adj[id] : 0);
            else
                term = arriving(graph, id, i, adj[id], marks[id]);
            accumulate(graph, &adj[node.arg[i]], term);
        }
    }
    free(marks);
}

/* Forward. */

void qn_fit_forward(qn_fit_graph *graph, qn_fit_v n, qn_fit_v *tan)
{
    for (qn_fit_v id = 1; id < n; id++) {
        const qn_fit_node node = *qn_fit_at(graph, id);

        if (node.op == QN_FIT_OP_select) {
            tan[id] = select_of(graph, node.arg[0], tan[node.arg[1]], tan[node.arg[2]]);
            continue;
        }
        for (int i = 0; i < node.n_args; i++) {
            const qn_fit_v partial = tan[node.arg[i]] ? qn_fit_partial(graph, id, i) : 0;

            if (partial)
                accumulate(graph, &tan[id], qn_fit_mul(graph, partial, tan[node.arg[i]]));
        }
    }
}

/* finish.c - finishes a graph, answers questions about a finished one, and rebuilds it. */
#include "domain/fit/expr/graph.h"

#include "util/status.h"

#include <assert.h>
#include <stdlib.h>

qn_status qn_fit_graph_finish(qn_fit_graph *graph, qn_err *err)
{
    if (qn_fit_graph_check(graph, err) != QN_OK)
        return graph->err.status;
    if (graph->is_finished)
        return qn_fail(err, QN_ERR_USAGE, "%s: finished twice", graph->name);
    if (!graph->n_outputs)
        return qn_fail(err, QN_ERR_USAGE, "%s: no output", graph->name);
    return qn_fit_canonicalise(graph, err);
}

qn_status qn_fit_graph_copy(const qn_fit_graph *graph, qn_fit_graph **out, qn_err *err)
{
    qn_fit_graph *copy = NULL;
    qn_status st = qn_fit_graph_new(graph->name, QN_FIT_TEMPLATE, &copy, err);

    assert(graph->is_finished);
    if (st != QN_OK)
        return qn_fail(err, st, "%s: no memory for a copy", graph->name);
    for (qn_fit_v id = 1; id < graph->n_nodes; id++)
        qn_fit_intern(copy, qn_fit_at(graph, id));
    for (int k = 0; k < graph->n_outputs; k++)
        qn_fit_output(copy, graph->outputs[k]);
    if ((st = qn_fit_graph_check(copy, err)) == QN_OK)
        *out = copy;
    else
        qn_fit_graph_free(copy);
    return st;
}

const uint8_t *qn_fit_graph_signature(const qn_fit_graph *graph)
{
    return graph->signature;
}

const uint8_t *qn_fit_graph_canonical(const qn_fit_graph *graph, size_t *bytes)
{
    *bytes = graph->canonical_bytes;
    return graph->canonical;
}

int qn_fit_graph_n_outputs(const qn_fit_graph *graph)
{
    return graph->n_outputs;
}

int qn_fit_graph_n_slots(const qn_fit_graph *graph)
{
    return (int)graph->n_slots;
}

int qn_fit_graph_n_columns(const qn_fit_graph *graph)
{
    return (int)graph->n_columns;
}

int qn_fit_graph_slot(const qn_fit_graph *graph, int slot)
{
    return (int)graph->slot_names[slot];
}

int qn_fit_graph_slot_dim(const qn_fit_graph *graph, int slot)
{
    return (int)graph->slot_dims[slot];
}

int qn_fit_graph_column(const qn_fit_graph *graph, int column)
{
    return graph->column_names[column];
}

double qn_fit_graph_column_value(const qn_fit_graph *graph, int column)
{
    return graph->column_values[column];
}

/* Rebuilding with facts about the instances. */

/* The leaf as its builder created it, so that slots and columns keep the builder's names. */
static qn_fit_v remade_column(const qn_fit_graph *from, uint32_t column,
                              const qn_fit_change *change, qn_fit_graph *g)
{
    const int32_t name = from->column_names[column];

    if (change->is_literal && change->is_literal[column])
        return qn_fit_exact(g, change->literals[column]);
    if (name >= 0)
        return qn_fit_leaf(g, QN_FIT_OP_data, (uint32_t)name, 0);
    return qn_fit_intern(g, &(qn_fit_node){ .op = QN_FIT_OP_data,
                                            .slot = (uint32_t)(-1 - name),
                                            .comp = 1,
                                            .value = from->column_values[column] });
}

static qn_fit_v remade(const qn_fit_graph *from, qn_fit_v id, const qn_fit_v *number,
                       const qn_fit_change *change, qn_fit_graph *g)
{
    const qn_fit_node *n = qn_fit_at(from, id);
    qn_fit_v args[QN_FIT_MAX_ARGS] = { 0 };

    switch (n->op) {
    case QN_FIT_OP_lit:
        return qn_fit_exact(g, n->value);
    case QN_FIT_OP_data:
        return remade_column(from, n->slot, change, g);
    case QN_FIT_OP_param:
        if (n->is_fixed || (change->is_fixed && change->is_fixed[n->slot]))
            qn_fit_fix(g, (int)from->slot_names[n->slot], (int)n->comp);
        return qn_fit_leaf(g, QN_FIT_OP_param, from->slot_names[n->slot], n->comp);
    default:
        for (int i = 0; i < n->n_args; i++)
            args[i] = number[n->arg[i]];
        return qn_fit_make(g, (qn_fit_opcode)n->op, args);
    }
}

qn_status qn_fit_graph_remake(const qn_fit_graph *graph, const qn_fit_change *change,
                              qn_fit_graph **out, qn_err *err)
{
    qn_fit_graph *g = NULL;
    qn_fit_v *number = NULL;
    qn_status st = QN_OK;

    if (!graph->is_finished)
        return qn_fail(err, QN_ERR_USAGE, "%s: not finished", graph->name);
    number = calloc(graph->n_nodes, sizeof *number);
    if (!number || qn_fit_graph_new(graph->name, graph->mode, &g, err) != QN_OK)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: no memory for a copy", graph->name);
    for (qn_fit_v id = 1; id < graph->n_nodes; id++)
        number[id] = remade(graph, id, number, change, g);
    for (int k = 0; k < graph->n_outputs; k++)
        qn_fit_output(g, number[graph->outputs[k]]);
    QN_TRY(qn_fit_graph_finish(g, err));
    *out = g;
    g = NULL;
out:
    qn_fit_graph_free(g);
    free(number);
    return st;
}

/* finish.c - finishes a graph, and answers questions about a finished one. */
#include "domain/fit/expr/graph.h"

#include "util/status.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

qn_status qn_fit_graph_finish(qn_fit_graph *graph, qn_err *err)
{
    if (graph->err.status != QN_OK) {
        if (err)
            *err = graph->err;
        return graph->err.status;
    }
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
    if (copy->err.status != QN_OK) {
        st = copy->err.status;
        if (err)
            *err = copy->err;
        qn_fit_graph_free(copy);
        return st;
    }
    *out = copy;
    return QN_OK;
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

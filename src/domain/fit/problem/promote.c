/* promote.c - turns columns with the same value in all instances back into literals.
 *
 * Terms that were added one by one have a column for every number that may differ between them.
 * Where the number is the same everywhere, a literal may fold with others; it stays a column where
 * that saves no operation.
 */
#include "domain/fit/problem/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int find_common(const qn_fit_group *g, uint8_t *is_common, double *values)
{
    int n = 0;

    for (int c = 0; c < g->n_columns; c++) {
        const double *column = g->data + c * g->ld;
        qn_i64 i = 1;

        while (i < g->n && !memcmp(&column[i], &column[0], sizeof *column))
            i++;
        is_common[c] = i >= g->n && isfinite(column[0]);
        values[c] = column[0];
        n += is_common[c];
    }
    return n;
}

static int count_operations(const qn_fit_graph *graph)
{
    int n = 0;

    for (qn_fit_v id = 1; id < graph->n_nodes; id++)
        n += qn_fit_at(graph, id)->n_args > 0;
    return n;
}

/* The old number of a slot or column of the new graph, found by the builder's name. */
static int old_number(const qn_fit_graph *graph, int n, int (*name)(const qn_fit_graph *, int),
                      int wanted)
{
    for (int k = 0; k < n; k++)
        if (name(graph, k) == wanted)
            return k;
    return 0;
}

static qn_status replace_graph(qn_fit_group *g, qn_fit_graph *graph, qn_err *err)
{
    const int n_slots = qn_fit_graph_n_slots(graph), n_columns = qn_fit_graph_n_columns(graph);
    uint32_t *idx = calloc((size_t)(n_slots * g->ld) + 1, sizeof *idx);
    double *data = calloc((size_t)(n_columns * g->ld) + 1, sizeof *data);
    int *sets = calloc((size_t)n_slots + 1, sizeof *sets);

    if (!idx || !data || !sets) {
        free(idx);
        free(data);
        free(sets);
        return qn_fail(err, QN_ERR_NOMEM, "%s: tables of %lld instances", g->name, (long long)g->n);
    }
    for (int s = 0; s < n_slots; s++) {
        const int from =
            old_number(g->graph, g->n_slots, qn_fit_graph_slot, qn_fit_graph_slot(graph, s));

        sets[s] = g->slot_set[from];
        memcpy(idx + s * g->ld, g->idx + from * g->ld, (size_t)g->ld * sizeof *idx);
    }
    for (int c = 0; c < n_columns; c++) {
        const int from =
            old_number(g->graph, g->n_columns, qn_fit_graph_column, qn_fit_graph_column(graph, c));

        memcpy(data + c * g->ld, g->data + from * g->ld, (size_t)g->ld * sizeof *data);
    }
    qn_fit_graph_free(g->graph);
    free(g->idx);
    free(g->data);
    free(g->slot_set);
    g->graph = graph;
    g->idx = idx;
    g->data = data;
    g->slot_set = sets;
    g->n_slots = n_slots;
    g->n_columns = n_columns;
    return QN_OK;
}

qn_status qn_fit_group_promote(qn_fit_group *group, qn_err *err)
{
    uint8_t *is_common = calloc((size_t)group->n_columns + 1, 1);
    double *values = calloc((size_t)group->n_columns + 1, sizeof *values);
    qn_fit_graph *graph = NULL;
    qn_status st = QN_OK;

    if (!is_common || !values) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: %d columns", group->name, group->n_columns);
        goto out;
    }
    if (group->n == 0 || !find_common(group, is_common, values))
        goto out;
    QN_TRY(qn_fit_graph_remake(group->graph,
                               &(qn_fit_change){ .is_literal = is_common, .literals = values },
                               &graph, err));
    if (count_operations(graph) >= count_operations(group->graph))
        goto out;
    QN_TRY(replace_graph(group, graph, err));
    graph = NULL;
out:
    qn_fit_graph_free(graph);
    free(is_common);
    free(values);
    return st;
}

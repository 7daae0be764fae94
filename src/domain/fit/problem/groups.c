/* groups.c - adds terms: by template with tables, or one by one, grouped by topology. */
#include "domain/fit/problem/problem.h"
#include "util/list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static qn_status new_group(qn_fit_problem *p, qn_fit_group **out, qn_err *err)
{
    qn_fit_group *more = qn_grown(p->groups, (size_t)p->n_groups, &p->group_room, sizeof *more);

    if (!more)
        return qn_fail(err, QN_ERR_NOMEM, "%d groups of terms", p->n_groups + 1);
    p->groups = more;
    *out = &p->groups[p->n_groups++];
    memset(*out, 0, sizeof **out);
    return QN_OK;
}

static qn_status allocate_tables(qn_fit_group *g, qn_err *err)
{
    g->ld = (g->n + 31) / 32 * 32;
    free(g->idx);
    free(g->data);
    free(g->rows);
    g->idx = calloc((size_t)(g->n_slots * g->ld) + 1, sizeof *g->idx);
    g->data = calloc((size_t)(g->n_columns * g->ld) + 1, sizeof *g->data);
    g->rows = calloc((size_t)g->ld + 1, sizeof *g->rows);
    if (g->idx && g->data && g->rows)
        return QN_OK;
    return qn_fail(err, QN_ERR_NOMEM, "%s: tables of %lld instances", g->name, (long long)g->n);
}

/* Copies the sizes of the finished graph. */
static qn_status adopt_graph(qn_fit_group *g, qn_fit_graph *graph, qn_err *err)
{
    g->graph = graph;
    g->n_slots = qn_fit_graph_n_slots(graph);
    g->n_columns = qn_fit_graph_n_columns(graph);
    g->n_rows = qn_fit_graph_n_outputs(graph);
    g->slot_set = calloc((size_t)g->n_slots + 1, sizeof *g->slot_set);
    g->is_global_slot = calloc((size_t)g->n_slots + 1, 1);
    if (g->slot_set && g->is_global_slot)
        return QN_OK;
    return qn_fail(err, QN_ERR_NOMEM, "%s: %d slots", g->name, g->n_slots);
}

/* Template mode. */

static qn_status check_spec(const qn_fit_problem *p, const qn_fit_group_spec *spec, qn_err *err)
{
    if (p->is_finished)
        return qn_fail(err, QN_ERR_USAGE, "%s: the problem is finished", spec->name);
    if (spec->n > INT32_MAX)
        return qn_fail(err, QN_ERR_LIMIT, "%s: %u instances (limit 2^31 - 1)", spec->name, spec->n);
    if (spec->weight < 0 || !isfinite(spec->weight))
        return qn_fail(err, QN_ERR_INPUT, "%s: weight %g is not above 0", spec->name, spec->weight);
    for (int s = 0; s < spec->n_slots; s++) {
        if (spec->slot_set[s] < 0 || spec->slot_set[s] >= p->n_sets)
            return qn_fail(err, QN_ERR_USAGE, "%s: slot %d is of parameter set %d of %d",
                           spec->name, s, spec->slot_set[s], p->n_sets);
        for (uint32_t i = 0; i < spec->n; i++)
            if (spec->slot_block[s][i] >= p->sets[spec->slot_set[s]].count)
                return qn_fail(err, QN_ERR_INPUT, "%s, row %u: block %u of %u of %s", spec->name, i,
                               spec->slot_block[s][i], p->sets[spec->slot_set[s]].count,
                               p->sets[spec->slot_set[s]].name);
    }
    return QN_OK;
}

/* A component that is fixed in every row is not a variable of the group. */
static void fix_components(const qn_fit_problem *p, const qn_fit_group_spec *spec)
{
    for (int s = 0; s < spec->n_slots; s++) {
        const qn_fit_set *set = &p->sets[spec->slot_set[s]];

        for (uint32_t c = 0; c < set->dim; c++) {
            uint32_t i = 0;

            while (i < spec->n &&
                   p->is_fixed[set->first + (size_t)spec->slot_block[s][i] * set->dim + c])
                i++;
            if (i == spec->n && spec->n)
                qn_fit_fix(spec->graph, s, (int)c);
        }
    }
}

static void apply_weight(const qn_fit_group_spec *spec)
{
    qn_fit_graph *g = spec->graph;
    const double factor = spec->is_energy ? spec->weight : sqrt(spec->weight);

    for (int k = 0; spec->weight != 0 && spec->weight != 1 && k < g->n_outputs; k++)
        g->outputs[k] = qn_fit_mul(g, qn_fit_exact(g, factor), g->outputs[k]);
}

static qn_status check_slots(const qn_fit_problem *p, const qn_fit_graph *graph, const int *sets,
                             int n_slots, int n_columns, qn_err *err)
{
    for (int s = 0; s < qn_fit_graph_n_slots(graph); s++) {
        const int slot = qn_fit_graph_slot(graph, s), dim = qn_fit_graph_slot_dim(graph, s);

        if (slot >= n_slots || (uint32_t)dim > p->sets[sets[slot]].dim)
            return qn_fail(err, QN_ERR_USAGE, "%s: slot %d uses %d components, its set has %u",
                           graph->name, slot, dim, slot < n_slots ? p->sets[sets[slot]].dim : 0);
    }
    for (int c = 0; c < qn_fit_graph_n_columns(graph); c++)
        if (qn_fit_graph_column(graph, c) >= n_columns)
            return qn_fail(err, QN_ERR_USAGE, "%s: column %d of %d", graph->name,
                           qn_fit_graph_column(graph, c), n_columns);
    return QN_OK;
}

static void fill_tables(const qn_fit_problem *p, const qn_fit_group_spec *spec, qn_fit_group *g)
{
    for (int s = 0; s < g->n_slots; s++) {
        const int from = qn_fit_graph_slot(g->graph, s);
        const qn_fit_set *set = &p->sets[spec->slot_set[from]];

        g->slot_set[s] = spec->slot_set[from];
        for (qn_i64 i = 0; i < g->n; i++)
            g->idx[s * g->ld + i] = set->first + spec->slot_block[from][i] * set->dim;
    }
    for (int c = 0; c < g->n_columns; c++) {
        const int from = qn_fit_graph_column(g->graph, c);

        for (qn_i64 i = 0; i < g->n; i++)
            g->data[c * g->ld + i] =
                from < 0 ? qn_fit_graph_column_value(g->graph, c) : spec->columns[from][i];
    }
    for (qn_i64 i = 0; i < g->n; i++)
        g->rows[i] = (uint32_t)i;
}

qn_status qn_fit_problem_add_group(qn_fit_problem *problem, const qn_fit_group_spec *spec,
                                   qn_err *err)
{
    qn_status st = QN_OK;
    qn_fit_graph *graph = spec->graph;
    qn_fit_group *g = NULL;

    QN_TRY(check_spec(problem, spec, err));
    QN_TRY(qn_fit_loss_check(spec->loss, err));
    fix_components(problem, spec);
    apply_weight(spec);
    QN_TRY(qn_fit_graph_finish(graph, err));
    QN_TRY(check_slots(problem, graph, spec->slot_set, spec->n_slots, spec->n_columns, err));
    QN_TRY(new_group(problem, &g, err));
    snprintf(g->name, sizeof g->name, "%s", spec->name);
    g->n = spec->n;
    g->loss = spec->loss;
    g->is_energy = spec->is_energy;
    QN_TRY(adopt_graph(g, graph, err));
    graph = NULL;
    QN_TRY(allocate_tables(g, err));
    fill_tables(problem, spec, g);
out:
    if (g && g->graph)
        graph = NULL;
    qn_fit_graph_free(graph);
    return st;
}

/* Instance mode. */

static int is_same_topology(const qn_fit_group *g, const qn_fit_graph *graph, const int *sets,
                            qn_fit_loss loss)
{
    size_t n = 0, m = 0;
    const uint8_t *a = qn_fit_graph_canonical(g->graph, &n);
    const uint8_t *b = qn_fit_graph_canonical(graph, &m);

    if (!g->is_by_instance || n != m || memcmp(a, b, n) || g->loss.kind != loss.kind ||
        g->loss.scale != loss.scale)
        return 0;
    for (int s = 0; s < g->n_slots; s++)
        if (g->slot_set[s] != sets[qn_fit_graph_slot(graph, s)])
            return 0;
    return 1;
}

static qn_status make_room(qn_fit_group *g, qn_err *err)
{
    const qn_i64 room = g->came_room ? 2 * g->came_room : 16;
    uint32_t *idx;
    double *data;

    if (g->n < g->came_room)
        return QN_OK;
    idx = realloc(g->came_idx, (size_t)(room * g->n_slots + 1) * sizeof *idx);
    g->came_idx = idx ? idx : g->came_idx;
    data = realloc(g->came_data, (size_t)(room * g->n_columns + 1) * sizeof *data);
    g->came_data = data ? data : g->came_data;
    if (!idx || !data)
        return qn_fail(err, QN_ERR_NOMEM, "%s: %lld instances", g->name, (long long)room);
    g->came_room = room;
    return QN_OK;
}

static void fix_scalars(const qn_fit_problem *p, qn_fit_graph *graph, const int *sets,
                        const uint32_t *blocks, int n_slots)
{
    for (int s = 0; s < n_slots; s++) {
        const qn_fit_set *set = &p->sets[sets[s]];

        for (uint32_t c = 0; c < set->dim; c++)
            if (p->is_fixed[set->first + (size_t)blocks[s] * set->dim + c])
                qn_fit_fix(graph, s, (int)c);
    }
}

static qn_status check_instance(const qn_fit_problem *p, const qn_fit_graph *graph, const int *sets,
                                const uint32_t *blocks, int n_slots, qn_err *err)
{
    if (p->is_finished)
        return qn_fail(err, QN_ERR_USAGE, "%s: the problem is finished", graph->name);
    for (int s = 0; s < n_slots; s++)
        if (sets[s] < 0 || sets[s] >= p->n_sets || blocks[s] >= p->sets[sets[s]].count)
            return qn_fail(err, QN_ERR_INPUT, "%s: slot %d is bound to block %u of set %d",
                           graph->name, s, blocks[s], sets[s]);
    return QN_OK;
}

qn_status qn_fit_problem_add_instance(qn_fit_problem *problem, qn_fit_graph *graph, const int *sets,
                                      const uint32_t *blocks, int n_slots, const double *columns,
                                      int n_columns, qn_fit_loss loss, qn_err *err)
{
    qn_status st = QN_OK;
    const qn_fit_graph *like = graph;
    qn_fit_group *g = NULL;

    QN_TRY(check_instance(problem, graph, sets, blocks, n_slots, err));
    QN_TRY(qn_fit_loss_check(loss, err));
    fix_scalars(problem, graph, sets, blocks, n_slots);
    QN_TRY(qn_fit_graph_finish(graph, err));
    QN_TRY(check_slots(problem, graph, sets, n_slots, n_columns, err));
    /* Searches the latest group first, because terms of one kind tend to follow each other. */
    for (int k = problem->n_groups - 1; k >= 0 && !g; k--)
        if (is_same_topology(&problem->groups[k], graph, sets, loss))
            g = &problem->groups[k];
    if (!g) {
        QN_TRY(new_group(problem, &g, err));
        snprintf(g->name, sizeof g->name, "%s", graph->name);
        g->loss = loss;
        g->is_by_instance = 1;
        QN_TRY(adopt_graph(g, graph, err));
        graph = NULL;
        for (int s = 0; s < g->n_slots; s++)
            g->slot_set[s] = sets[qn_fit_graph_slot(like, s)];
    }
    QN_TRY(make_room(g, err));
    for (int s = 0; s < g->n_slots; s++) {
        const qn_fit_set *set = &problem->sets[g->slot_set[s]];

        g->came_idx[g->n * g->n_slots + s] =
            set->first + blocks[qn_fit_graph_slot(like, s)] * set->dim;
    }
    for (int c = 0; c < g->n_columns; c++) {
        const int from = qn_fit_graph_column(like, c);

        g->came_data[g->n * g->n_columns + c] =
            from < 0 ? qn_fit_graph_column_value(like, c) : columns[from];
    }
    g->n++;
out:
    if (g && g->graph == like)
        graph = NULL;
    qn_fit_graph_free(graph);
    return st;
}

/* The last form. */

static qn_status transpose(qn_fit_group *g, qn_err *err)
{
    const qn_status st = allocate_tables(g, err);

    if (st != QN_OK)
        return st;
    for (qn_i64 i = 0; i < g->n; i++) {
        for (int s = 0; s < g->n_slots; s++)
            g->idx[s * g->ld + i] = g->came_idx[i * g->n_slots + s];
        for (int c = 0; c < g->n_columns; c++)
            g->data[c * g->ld + i] = g->came_data[i * g->n_columns + c];
        g->rows[i] = (uint32_t)i;
    }
    free(g->came_idx);
    free(g->came_data);
    g->came_idx = NULL;
    g->came_data = NULL;
    return QN_OK;
}

static qn_status permute(qn_fit_group *g, const uint32_t *order, qn_err *err)
{
    double *column = malloc(((size_t)g->n + 1) * sizeof *column);
    uint32_t *slot = (uint32_t *)column;

    if (!column)
        return qn_fail(err, QN_ERR_NOMEM, "%s: order of %lld instances", g->name, (long long)g->n);
    for (int s = 0; s < g->n_slots; s++) {
        for (qn_i64 i = 0; i < g->n; i++)
            slot[i] = g->idx[s * g->ld + order[i]];
        memcpy(g->idx + s * g->ld, slot, (size_t)g->n * sizeof *slot);
    }
    for (int c = 0; c < g->n_columns; c++) {
        for (qn_i64 i = 0; i < g->n; i++)
            column[i] = g->data[c * g->ld + order[i]];
        memcpy(g->data + c * g->ld, column, (size_t)g->n * sizeof *column);
    }
    for (qn_i64 i = 0; i < g->n; i++)
        slot[i] = g->rows[order[i]];
    memcpy(g->rows, slot, (size_t)g->n * sizeof *slot);
    free(column);
    return QN_OK;
}

qn_status qn_fit_group_finish(qn_fit_problem *problem, qn_fit_group *group, qn_err *err)
{
    uint32_t *order = NULL;
    qn_status st = QN_OK;

    if (group->is_by_instance) {
        QN_TRY(transpose(group, err));
        QN_TRY(qn_fit_group_promote(group, err));
    }
    QN_TRY(qn_fit_group_order(problem, group, &order, err));
    if (order)
        QN_TRY(permute(group, order, err));
    for (int s = 0; s < group->n_slots; s++) {
        qn_i64 i = 1;

        while (i < group->n && group->idx[s * group->ld + i] == group->idx[s * group->ld])
            i++;
        group->is_global_slot[s] = group->n > 0 && i >= group->n;
        /* Lanes past the end read the first block, which always exists. */
        for (i = group->n; i < group->ld; i++)
            group->idx[s * group->ld + i] = group->n ? group->idx[s * group->ld] : 0;
    }
out:
    free(order);
    return st;
}

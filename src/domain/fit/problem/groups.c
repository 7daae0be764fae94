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

static qn_status allocate_tables(qn_fit_problem *p, qn_fit_group *g, qn_err *err)
{
    g->ld = (g->n + 31) / 32 * 32;
    g->idx = qn_arena_zeros(&p->memory, (size_t)(g->n_slots * g->ld), sizeof *g->idx);
    g->data = qn_arena_zeros(&p->memory, (size_t)(g->n_columns * g->ld), sizeof *g->data);
    g->rows = qn_arena_zeros(&p->memory, (size_t)g->ld, sizeof *g->rows);
    return !p->memory.failed ? QN_OK
                             : qn_fail(err, QN_ERR_NOMEM, "%s: tables of %lld instances", g->name,
                                       (long long)g->n);
}

/* Copies the sizes of the finished graph. */
static qn_status adopt_graph(qn_fit_problem *p, qn_fit_group *g, qn_fit_graph *graph, qn_err *err)
{
    g->graph = graph;
    g->n_slots = qn_fit_graph_n_slots(graph);
    g->n_columns = qn_fit_graph_n_columns(graph);
    g->n_rows = qn_fit_graph_n_outputs(graph);
    g->slot_set = qn_arena_zeros(&p->memory, (size_t)g->n_slots, sizeof *g->slot_set);
    g->is_global_slot = qn_arena_zeros(&p->memory, (size_t)g->n_slots, 1);
    return !p->memory.failed ? QN_OK
                             : qn_fail(err, QN_ERR_NOMEM, "%s: %d slots", g->name, g->n_slots);
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
        const int slot = qn_fit_graph_slot(graph, s), dim = (int)graph->slot_dims[s];

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
    QN_TRY(adopt_graph(problem, g, graph, err));
    graph = NULL;
    QN_TRY(allocate_tables(problem, g, err));
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
        QN_TRY(adopt_graph(problem, g, graph, err));
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

/* Sorting instances, so that their gathers are close to each other.
 *
 * The key of an instance is the lowest block of the largest set that it uses, then the highest such
 * block, or the block of the next slot if only one slot belongs to that set: edges sort by (lower
 * vertex, higher vertex), observations by point.
 */

qn_status qn_fit_sort_keys(uint64_t *keys, uint32_t *with, size_t n, qn_err *err)
{
    uint64_t *other_keys = malloc((n + 1) * sizeof *other_keys), *from = keys, *to = other_keys;
    uint32_t *other_with = malloc((n + 1) * sizeof *other_with), *wf = with, *wt = other_with;
    qn_status st = QN_OK;

    if (!other_keys || !other_with)
        QN_FAIL(err, QN_ERR_NOMEM, "sorting %zu keys", n);
    for (int shift = 0; shift < 64; shift += 8) {
        size_t count[257] = { 0 };

        for (size_t i = 0; i < n; i++)
            count[(from[i] >> shift & 255) + 1]++;
        /* A byte that is equal in all keys needs no pass. */
        if (n == 0 || count[(from[0] >> shift & 255) + 1] == n)
            continue;
        for (int b = 0; b < 256; b++)
            count[b + 1] += count[b];
        for (size_t i = 0; i < n; i++) {
            const size_t at = count[from[i] >> shift & 255]++;

            to[at] = from[i];
            wt[at] = wf[i];
        }
        {
            uint64_t *const keys_were = from;
            uint32_t *const with_were = wf;

            from = to;
            to = keys_were;
            wf = wt;
            wt = with_were;
        }
    }
    if (from != keys) {
        memcpy(keys, from, n * sizeof *keys);
        memcpy(with, wf, n * sizeof *with);
    }
out:
    free(other_keys);
    free(other_with);
    return st;
}

static uint64_t key_of(const qn_fit_group *g, int largest, qn_i64 i)
{
    uint32_t low = UINT32_MAX, high = 0, next = 0;
    int n_same = 0, has_next = 0;

    for (int s = 0; s < g->n_slots; s++) {
        const uint32_t at = g->idx[s * g->ld + i];

        if (g->slot_set[s] == largest) {
            low = at < low ? at : low;
            high = at > high ? at : high;
            n_same++;
        } else if (!has_next) {
            next = at;
            has_next = 1;
        }
    }
    return (uint64_t)low << 32 | (n_same > 1 || !has_next ? high : next);
}

/* order[i] is the old number; *order is NULL if they are sorted already. */
static qn_status order_of(const qn_fit_problem *problem, const qn_fit_group *group,
                          uint32_t **order, qn_err *err)
{
    const size_t n = (size_t)group->n;
    uint64_t *keys = malloc((n + 1) * sizeof *keys);
    uint32_t *with = malloc((n + 1) * sizeof *with);
    int largest = group->n_slots ? group->slot_set[0] : 0, is_sorted = 1;
    qn_status st = QN_OK;

    *order = NULL;
    if (!keys || !with)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: order of %zu instances", group->name, n);
    for (int s = 1; s < group->n_slots; s++)
        if (problem->sets[group->slot_set[s]].count > problem->sets[largest].count)
            largest = group->slot_set[s];
    for (size_t i = 0; i < n; i++) {
        keys[i] = group->n_slots ? key_of(group, largest, (qn_i64)i) : 0;
        with[i] = (uint32_t)i;
        is_sorted &= i == 0 || keys[i - 1] <= keys[i];
    }
    if (is_sorted)
        goto out;
    QN_TRY(qn_fit_sort_keys(keys, with, n, err));
    *order = with;
    with = NULL;
out:
    free(keys);
    free(with);
    return st;
}

/* Final form. */

static qn_status transpose(qn_fit_problem *p, qn_fit_group *g, qn_err *err)
{
    const qn_status st = allocate_tables(p, g, err);

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

/* Columns with the same value in all instances become literals again.
 *
 * Terms that were added one by one have a column for every number that may differ between them.
 * Where the number is the same everywhere, a literal may fold with others; it stays a column where
 * that saves no operation.
 */

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

static qn_status replace_graph(qn_fit_problem *p, qn_fit_group *g, qn_fit_graph *graph, qn_err *err)
{
    const int n_slots = qn_fit_graph_n_slots(graph), n_columns = qn_fit_graph_n_columns(graph);
    uint32_t *idx = qn_arena_zeros(&p->memory, (size_t)(n_slots * g->ld), sizeof *idx);
    double *data = qn_arena_zeros(&p->memory, (size_t)(n_columns * g->ld), sizeof *data);
    int *sets = qn_arena_zeros(&p->memory, (size_t)n_slots, sizeof *sets);

    if (p->memory.failed)
        return qn_fail(err, QN_ERR_NOMEM, "%s: tables of %lld instances", g->name, (long long)g->n);
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
    g->graph = graph;
    g->idx = idx;
    g->data = data;
    g->slot_set = sets;
    g->n_slots = n_slots;
    g->n_columns = n_columns;
    return QN_OK;
}

static qn_status promote(qn_fit_problem *p, qn_fit_group *group, qn_err *err)
{
    uint8_t *is_common = calloc((size_t)group->n_columns + 1, 1);
    double *values = calloc((size_t)group->n_columns + 1, sizeof *values);
    qn_fit_graph *graph = NULL;
    qn_status st = QN_OK;

    if (!is_common || !values)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: %d columns", group->name, group->n_columns);
    if (group->n == 0 || !find_common(group, is_common, values))
        goto out;
    QN_TRY(qn_fit_graph_remake(group->graph,
                               &(qn_fit_change){ .is_literal = is_common, .literals = values },
                               &graph, err));
    if (count_operations(graph) >= count_operations(group->graph))
        goto out;
    QN_TRY(replace_graph(p, group, graph, err));
    graph = NULL;
out:
    qn_fit_graph_free(graph);
    free(is_common);
    free(values);
    return st;
}

/* Finishing. */

qn_status qn_fit_group_finish(qn_fit_problem *problem, qn_fit_group *group, qn_err *err)
{
    uint32_t *order = NULL;
    qn_status st = QN_OK;

    if (group->is_by_instance) {
        QN_TRY(transpose(problem, group, err));
        QN_TRY(promote(problem, group, err));
    }
    QN_TRY(order_of(problem, group, &order, err));
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

/* share.c - equal nodes of different programs. */
#include "share.h"
#include "passes.h"

#include <stdlib.h>
#include <string.h>

#include "domain/arc/value/known.h"
#include "kernel/arc/arc_ops.h"
#include "util/hash.h"
#include "util/status.h"

enum { ALONE = -1, MOST_DEPTH = 256 };

/* One of the different nodes. */
typedef struct {
    const qn_arc_node *node; /* the first of them */
    int a[4];                /* its operands among the different nodes */
    uint64_t hash;
    int is_candidate; /* worth sharing */
    uint16_t kinds;
    int first_use, last_use; /* in uses; -1: none */
    int n_uses;
} distinct;

typedef struct {
    qn_arc_shared_use use;
    int next;
} use_link;

typedef struct {
    distinct *nodes;
    int n;
    use_link *uses;
    int n_uses;
    int *table; /* 1 + number of a node, by hash */
    size_t table_size;
} numbering;

/* ---- hashes ---------------------------------------------------------------------- */

static uint64_t hash_value(uint64_t hash, const qn_arc_value *v, int depth)
{
    const int64_t own[] = { v->kind, v->n, v->number, v->step, v->which };

    hash = qn_fnv1a64_add(hash, own, sizeof own);
    for (int i = 0; i < v->n && depth > 0; i++)
        hash = hash_value(hash, &v->items[i], depth - 1);
    return hash;
}

static uint64_t hash_of(const numbering *all, const qn_arc_node *node, const int *a)
{
    const int32_t own[] = { node->op, node->n_args };
    uint64_t hash = qn_fnv1a64_add(QN_FNV1A64_START, own, sizeof own);

    if (node->value)
        return hash_value(hash, node->value, MOST_DEPTH);
    for (int k = 0; k < node->n_args; k++)
        hash = qn_fnv1a64_add(hash, &all->nodes[a[k]].hash, sizeof hash);
    return hash;
}

static int is_equal(const distinct *old, const qn_arc_node *node, const int *a)
{
    if (old->node->op != node->op || old->node->n_args != node->n_args)
        return 0;
    if (node->value)
        return qn_arc_same_value(old->node->value, node->value);
    return memcmp(old->a, a, node->n_args * sizeof *a) == 0;
}

/* The number of `node`, whose operands have the numbers `a`. */
static int number_of(numbering *all, const qn_arc_node *node, const int *a)
{
    const uint64_t hash = hash_of(all, node, a);
    size_t at = hash & (all->table_size - 1);

    for (; all->table[at]; at = (at + 1) & (all->table_size - 1)) {
        const distinct *old = &all->nodes[all->table[at] - 1];

        if (old->hash == hash && is_equal(old, node, a))
            return all->table[at] - 1;
    }
    all->nodes[all->n] = (distinct){ .node = node, .hash = hash, .first_use = -1, .last_use = -1 };
    memcpy(all->nodes[all->n].a, a, sizeof all->nodes[all->n].a);
    all->table[at] = ++all->n;
    return all->n - 1;
}

/* ---- programs -------------------------------------------------------------------- */

static int is_grid_param(const qn_arc_dag *dag, const qn_arc_node *node)
{
    return node->op == QN_ARC_NODE_PARAM && node->number == (dag->flags & ARC_FLAG_THREE ? 1 : 0);
}

static int value_has_closures(const qn_arc_value *v, int depth)
{
    if (v->kind == QN_ARC_CLOS || depth == 0)
        return 1;
    for (int i = 0; i < v->n; i++)
        if (value_has_closures(&v->items[i], depth - 1))
            return 1;
    return 0;
}

enum { HOLDS = 1, GIVES = 2 };

/* Which values hold closures, and which hold functions that give some when they are called. Such a
 * value belongs to the run that made it. On entry marks[i] says whether functions in it make new
 * ones. */
static void find_closures(const qn_arc_dag *dag, char *marks)
{
    for (int i = 0; i < dag->n; i++) {
        const qn_arc_node *node = &dag->nodes[i];
        const int calls = qn_arc_op_has_class(node->op, 'H') || node->op == ARC_OP_CALL;
        int seen = calls && marks[i];

        if (node->value && value_has_closures(node->value, MOST_DEPTH))
            seen = 1;
        for (int k = 0; k < node->n_args; k++)
            seen |= (marks[node->a[k]] & (qn_arc_is_called(node->op, k) ? GIVES : HOLDS)) != 0;
        marks[i] =
            (char)((seen || qn_arc_op_has_class(node->op, 'K') ? HOLDS : 0) | (seen ? GIVES : 0));
    }
}

/* Worth a launch of its own, and the same whenever it is computed. */
static int is_candidate(const qn_arc_node *node, int mark)
{
    return !(mark & HOLDS) &&
           (qn_arc_op_has_class(node->op, 'L') || qn_arc_op_has_class(node->op, 'Q') ||
            qn_arc_op_has_class(node->op, 'H'));
}

static void add_use(numbering *all, int number, int program, int node)
{
    distinct *d = &all->nodes[number];

    if (d->last_use >= 0 && all->uses[d->last_use].use.program == program)
        return;
    all->uses[all->n_uses] = (use_link){ { program, node }, -1 };
    if (d->last_use >= 0)
        all->uses[d->last_use].next = all->n_uses;
    else
        d->first_use = all->n_uses;
    d->last_use = all->n_uses++;
    d->n_uses++;
}

/* Numbers the nodes of one program; those that depend on more than the grid stay alone. */
static void number_program(numbering *all, const qn_arc_dag *dag, int program, int *numbers,
                           const char *closures, const qn_arc_kinds *kinds, qn_arc_sharing *out)
{
    for (int i = 0; i < dag->n; i++) {
        const qn_arc_node *node = &dag->nodes[i];
        int a[4] = { 0 }, is_alone = 0;

        numbers[i] = ALONE;
        if (node->guard || node->n_needs || node->op == ARC_OP_FAIL ||
            (node->op == QN_ARC_NODE_PARAM && !is_grid_param(dag, node)))
            continue;
        for (int k = 0; k < node->n_args; k++) {
            a[k] = numbers[node->a[k]];
            is_alone = is_alone || a[k] == ALONE;
        }
        if (is_alone)
            continue;
        numbers[i] = number_of(all, node, a);
        if (qn_arc_is_leaf(node))
            continue;
        out->n_nodes++;
        all->nodes[numbers[i]].is_candidate = is_candidate(node, closures[i]);
        all->nodes[numbers[i]].kinds = kinds[i].self;
        add_use(all, numbers[i], program, i);
    }
}

/* ---- the list -------------------------------------------------------------------- */

/* What computing `node` of a program takes, from the grid on. */
static uint32_t cost_of(const qn_arc_dag *dag, int node, const qn_arc_kinds *kinds, char *marks)
{
    uint64_t cost = 0;

    memset(marks, 0, (size_t)dag->n);
    marks[node] = 1;
    for (int i = node; i >= 0; i--) {
        const qn_arc_node *other = &dag->nodes[i];
        qn_arc_kinds args[4];

        if (!marks[i] || qn_arc_is_leaf(other))
            continue;
        for (int k = 0; k < other->n_args; k++) {
            marks[other->a[k]] = 1;
            args[k] = kinds[other->a[k]];
        }
        cost += qn_arc_node_cost(other->op, args, other->n_args);
    }
    return cost < UINT32_MAX ? (uint32_t)cost : UINT32_MAX;
}

static void list_shared(const numbering *all, const qn_arc_source *const *programs,
                        qn_arc_kinds *kinds, char *marks, qn_arc_sharing *out)
{
    qn_arc_shared_use *uses = out->all_uses;
    int of_program = -1; /* whose kinds are in `kinds` */

    for (int i = 0; i < all->n; i++) {
        const distinct *d = &all->nodes[i];
        qn_arc_shared *item;

        out->n_distinct += !qn_arc_is_leaf(d->node);
        if (!d->is_candidate || d->n_uses < 2)
            continue;
        item = &out->items[out->n++];
        *item =
            (qn_arc_shared){ .op = d->node->op, .hash = d->hash, .kinds = d->kinds, .uses = uses };
        for (int u = d->first_use; u >= 0; u = all->uses[u].next)
            uses[item->n_uses++] = all->uses[u].use;
        uses += item->n_uses;
        if (of_program != item->uses[0].program) {
            of_program = item->uses[0].program;
            qn_arc_infer(&programs[of_program]->dag, kinds);
        }
        item->cost = cost_of(&programs[of_program]->dag, item->uses[0].node, kinds, marks);
    }
}

qn_status qn_arc_find_shared(const qn_arc_source *const *programs, int n, qn_arc_sharing *out,
                             qn_err *err)
{
    qn_status st = QN_OK;
    numbering all = { .table_size = 16 };
    qn_arc_sharing found = { 0 };
    qn_arc_kinds *kinds = NULL;
    char *marks = NULL;
    int *numbers = NULL;
    size_t total = 1, most = 1;

    for (int i = 0; i < n; i++) {
        total += (size_t)programs[i]->dag.n;
        most = (size_t)programs[i]->dag.n > most ? (size_t)programs[i]->dag.n : most;
    }
    while (all.table_size < 2 * total)
        all.table_size *= 2;
    all.nodes = calloc(total, sizeof *all.nodes);
    all.uses = calloc(total, sizeof *all.uses);
    all.table = calloc(all.table_size, sizeof *all.table);
    found.items = calloc(total, sizeof *found.items);
    found.all_uses = calloc(total, sizeof *found.all_uses);
    kinds = calloc(most, sizeof *kinds);
    marks = calloc(most, 1);
    numbers = calloc(most, sizeof *numbers);
    if (!all.nodes || !all.uses || !all.table || !found.items || !found.all_uses || !kinds ||
        !marks || !numbers) {
        st = qn_fail(err, QN_ERR_NOMEM, "no memory to compare %zu nodes of %d programs", total, n);
        goto out;
    }
    for (int i = 0; i < n; i++) {
        const qn_arc_dag *dag = &programs[i]->dag;

        if (programs[i]->n_errors)
            continue;
        qn_arc_infer(dag, kinds);
        qn_arc_find_creators(dag, marks);
        find_closures(dag, marks);
        number_program(&all, dag, i, numbers, marks, kinds, &found);
    }
    list_shared(&all, programs, kinds, marks, &found);
    *out = found;
    found = (qn_arc_sharing){ 0 };
out:
    qn_arc_sharing_free(&found);
    free(all.nodes);
    free(all.uses);
    free(all.table);
    free(kinds);
    free(marks);
    free(numbers);
    return st;
}

void qn_arc_sharing_free(qn_arc_sharing *sharing)
{
    free(sharing->items);
    free(sharing->all_uses);
    *sharing = (qn_arc_sharing){ 0 };
}

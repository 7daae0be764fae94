/* merge.c - equal operations become one.
 *
 * All primitives are pure, but closures have an identity: two made in the same way are different.
 * So the pass first finds out which closures are only ever called.
 */
#include "domain/arc/compile/passes.h"

#include <stdlib.h>

#include "domain/arc/value/value.h"
#include "kernel/arc/arc_ops.h"
#include "util/hash.h"
#include "util/list.h"
#include "util/status.h"

/* Whether operand `arg` of `op` is a function that the operation only calls. */
static int is_called(int op, int arg)
{
    switch (op) {
    case ARC_OP_compose:
    case ARC_OP_chain:
    case ARC_OP_fork:
        return 1;
    case ARC_OP_CALL:
    case ARC_OP_matcher:
    case ARC_OP_rbind:
    case ARC_OP_lbind:
    case ARC_OP_power:
    case ARC_OP_apply:
    case ARC_OP_mapply:
    case ARC_OP_papply:
    case ARC_OP_mpapply:
    case ARC_OP_prapply:
        return arg == 0;
    case ARC_OP_order:
    case ARC_OP_valmax:
    case ARC_OP_valmin:
    case ARC_OP_argmax:
    case ARC_OP_argmin:
    case ARC_OP_sfilter:
    case ARC_OP_mfilter:
    case ARC_OP_mfilter_t:
    case ARC_OP_extract:
    case ARC_OP_get_arg_rank:
    case ARC_OP_get_val_rank:
    case ARC_OP_c_iz:
    case ARC_OP_c_zo:
        return arg == 1;
    case ARC_OP_c_iz_n:
    case ARC_OP_c_zo_n:
        return arg == 1 || arg == 2;
    case ARC_OP_get_nth_by_key_t:
    case ARC_OP_get_nth_by_key_f:
        return arg == 2;
    default:
        return 0;
    }
}

/* Closures. */

/* Clears only_called[] of nodes whose value is stored, compared or passed on somewhere. */
static void find_only_called(const qn_arc_dag *dag, char *only_called)
{
    for (int i = 0; i < dag->n; i++)
        only_called[i] = 1;
    if (dag->output >= 0)
        only_called[dag->output] = 0;
    for (int i = 0; i < dag->n_records; i++)
        only_called[dag->records[i].node] = 0;
    for (int i = dag->n - 1; i >= 0; i--) {
        const qn_arc_node *node = &dag->nodes[i];

        for (int k = 0; k < node->n_args; k++) {
            /* A stored closure also stores what it captured. */
            const int is_stored = qn_arc_op_has_class(node->op, 'K') && !only_called[i];

            if (!is_called(node->op, k) || is_stored)
                only_called[node->a[k]] = 0;
        }
    }
}

enum { MOST_DEPTH = 32 };

/* Whether calling a function within `value` may make closures. */
static int value_may_create(const qn_arc_value *value, int depth)
{
    if (value->kind == QN_ARC_PRIM)
        return qn_arc_op_has_class((int)value->number, 'K');
    if (value->kind == QN_ARC_CLOS || depth == 0)
        return 1;
    for (int i = 0; i < value->n; i++)
        if (value_may_create(&value->items[i], depth - 1))
            return 1;
    return 0;
}

/* creates[i]: functions in the value of node i may make closures when called. */
static void find_creators(const qn_arc_dag *dag, char *creates)
{
    for (int i = 0; i < dag->n; i++) {
        const qn_arc_node *node = &dag->nodes[i];

        creates[i] = node->value && value_may_create(node->value, MOST_DEPTH);
        for (int k = 0; k < node->n_args; k++)
            creates[i] = creates[i] || creates[node->a[k]];
    }
}

static int may_merge(const qn_arc_node *node, int only_called, int creates)
{
    if (node->op == ARC_OP_FAIL)
        return 0;
    if (qn_arc_op_has_class(node->op, 'K'))
        return only_called;
    if (qn_arc_op_has_class(node->op, 'H') || node->op == ARC_OP_CALL)
        return !creates;
    return 1;
}

/* Equal nodes. */

static uint64_t hash_node(const qn_arc_dag *dag, const qn_arc_node *node)
{
    uint64_t hash = QN_FNV1A64_START;
    const int head[] = { node->op, node->n_args, node->guard, node->n_needs, node->number };

    hash = qn_fnv1a64_add(hash, head, sizeof head);
    hash = qn_fnv1a64_add(hash, node->a, node->n_args * sizeof *node->a);
    if (node->n_needs)
        hash = qn_fnv1a64_add(hash, dag->needs + node->needs,
                              (size_t)node->n_needs * sizeof *dag->needs);
    if (node->value) {
        const int64_t shallow[] = { node->value->kind, node->value->n, node->value->number };

        hash = qn_fnv1a64_add(hash, shallow, sizeof shallow);
    }
    return hash;
}

static int is_equal(const qn_arc_dag *dag, const qn_arc_node *a, const qn_arc_node *b)
{
    if (a->op != b->op || a->n_args != b->n_args || a->guard != b->guard ||
        a->n_needs != b->n_needs || a->number != b->number)
        return 0;
    for (int i = 0; i < a->n_args; i++)
        if (a->a[i] != b->a[i])
            return 0;
    for (int i = 0; i < a->n_needs; i++)
        if (dag->needs[a->needs + i] != dag->needs[b->needs + i])
            return 0;
    return !a->value || qn_arc_same_value(a->value, b->value);
}

/* The first node equal to `i`, possibly itself, which is then added to the table. */
static int find_first(const qn_arc_dag *dag, int i, int *table, size_t size)
{
    size_t at = hash_node(dag, &dag->nodes[i]) & (size - 1);

    for (; table[at]; at = (at + 1) & (size - 1))
        if (is_equal(dag, &dag->nodes[table[at] - 1], &dag->nodes[i]))
            return table[at] - 1;
    table[at] = i + 1;
    return i;
}

qn_status qn_arc_merge(qn_arc_draft *work, qn_err *err)
{
    qn_status st = QN_OK;
    qn_arc_dag *dag = &work->dag;
    const size_t n = (size_t)dag->n;
    size_t size = 16;
    char *only_called = NULL, *creates = NULL;
    int *same = work->same, *table;

    while (size < 2 * n)
        size *= 2;
    QN_TRY(QN_NEW(only_called, n + 1, "a program that is compiled", err));
    QN_TRY(QN_NEW(creates, n + 1, "a program that is compiled", err));
    QN_TRY(QN_NEW(table, size, "a program that is compiled", err));
    find_only_called(dag, only_called);
    find_creators(dag, creates);
    for (int i = 0; i < dag->n; i++) {
        qn_arc_node *node = &dag->nodes[i];

        for (int k = 0; k < node->n_args; k++)
            node->a[k] = same[node->a[k]];
        for (int k = 0; k < node->n_needs; k++)
            dag->needs[node->needs + k] = same[dag->needs[node->needs + k]];
        same[i] = may_merge(node, only_called[i], creates[i]) ? find_first(dag, i, table, size) : i;
        /* An unused copy must not run just for its failure: the first one fails in the same way. */
        if (same[i] != i)
            *node = (qn_arc_node){ .op = QN_ARC_NODE_GONE };
    }
    if (dag->output >= 0)
        dag->output = same[dag->output];
    for (int i = 0; i < dag->n_records; i++)
        dag->records[i].node = same[dag->records[i].node];
out:
    free(table);
    free(creates);
    free(only_called);
    return st;
}

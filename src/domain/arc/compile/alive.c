/* alive.c - which nodes of a program have an effect. */
#include "passes.h"

#include "kernel/arc/arc_ops.h"

/* A function as often as a constant says, which is not less than once. */
static int is_good_power(const qn_arc_dag *dag, const qn_arc_node *node)
{
    const qn_arc_value *times = node->op == ARC_OP_power ? dag->nodes[node->a[1]].value : NULL;

    return times && times->kind == QN_ARC_INT && times->number >= 1;
}

static int may_fail(const qn_arc_draft *work, const qn_arc_node *node)
{
    qn_arc_kinds args[4];

    if (is_good_power(&work->dag, node))
        return 0;
    for (int k = 0; k < node->n_args; k++)
        args[k] = work->kinds[node->a[k]];
    return !qn_arc_cannot_fail(node->op, args, node->n_args);
}

void qn_arc_mark_alive(qn_arc_draft *work, qn_arc_keep keep)
{
    const qn_arc_dag *dag = &work->dag;

    for (int i = 0; i < dag->n; i++)
        work->is_alive[i] = 0;
    if (dag->output >= 0)
        work->is_alive[dag->output] = 1;
    for (int i = 0; i < dag->n_records; i++)
        work->is_alive[dag->records[i].node] = 1;
    for (int i = dag->n - 1; i >= 0; i--) {
        const qn_arc_node *node = &dag->nodes[i];

        if (!qn_arc_is_leaf(node) &&
            (keep == QN_ARC_KEEP_ALL || (keep == QN_ARC_KEEP_FAILING && may_fail(work, node))))
            work->is_alive[i] = 1;
        if (!work->is_alive[i])
            continue;
        for (int k = 0; k < node->n_args; k++)
            work->is_alive[node->a[k]] = 1;
        for (int k = 0; k < node->n_needs; k++)
            work->is_alive[dag->needs[node->needs + k]] = 1;
    }
}

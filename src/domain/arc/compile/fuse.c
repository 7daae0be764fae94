/* fuse.c - merges two operations into one, where neither result nor failure changes.
 *
 * Only the outer operation may use the inner one, and neither may be a guarded step or wait for
 * others. Patterns are fused only where the inner operation cannot fail. If the outer one fails,
 * the fused one fails in the same line and for the same reason: argmin as first(order(x, f)) does
 * on an empty x, and the primitives made for first(sizefilter(x, n)) and argmax(x, size) likewise.
 */
#include "domain/arc/compile/passes.h"

#include <stdlib.h>

#include "kernel/arc/arc_ops.h"
#include "util/status.h"

typedef struct {
    qn_arc_draft *work;
    int *n_uses;
} fuser;

static void count_uses(fuser *f)
{
    const qn_arc_dag *dag = &f->work->dag;

    for (int i = 0; i < dag->n; i++) {
        const qn_arc_node *node = &dag->nodes[i];

        for (int k = 0; k < node->n_args; k++)
            f->n_uses[node->a[k]]++;
        for (int k = 0; k < node->n_needs; k++)
            f->n_uses[dag->needs[node->needs + k]]++;
    }
    if (dag->output >= 0)
        f->n_uses[dag->output]++;
    for (int i = 0; i < dag->n_records; i++)
        f->n_uses[dag->records[i].node]++;
}

static unsigned kind(const fuser *f, int node)
{
    return f->work->kinds[node].self;
}

static int is_number(const fuser *f, int node)
{
    return (kind(f, node) & ~QN_ARC_IS_NUMBER) == 0;
}

static int is_plain(const qn_arc_node *node)
{
    return node->guard == ARC_GUARD_NO && node->n_needs == 0;
}

/* The node of operand `arg` of `node`, if it is an `op` that nothing else uses; otherwise NULL. */
static qn_arc_node *inner(fuser *f, const qn_arc_node *node, int arg, int op)
{
    qn_arc_node *other = &f->work->dag.nodes[node->a[arg]];

    return other->op == op && is_plain(other) && f->n_uses[node->a[arg]] == 1 ? other : NULL;
}

/* Replaces `node` and removes `used`, which only `node` needed. */
static void become(qn_arc_node *node, qn_arc_node *used, int op, int n, int a, int b, int c)
{
    node->op = (uint16_t)op;
    node->n_args = (uint8_t)n;
    node->a[0] = a;
    node->a[1] = b;
    node->a[2] = c;
    *used = (qn_arc_node){ .op = QN_ARC_NODE_GONE };
}

/* The key must be a primitive that gives an integer for every item: then any two keys can be
 * compared, and sorting fails no more often than looking for the least. */
static void fuse_argmin(fuser *f, qn_arc_node *node)
{
    const qn_arc_dag *dag = &f->work->dag;
    qn_arc_node *order = inner(f, node, 0, ARC_OP_order);
    const qn_arc_value *key;
    qn_arc_kinds items, container;

    if (!order)
        return;
    key = dag->nodes[order->a[1]].value;
    container = f->work->kinds[order->a[0]];
    items = (qn_arc_kinds){ container.inner, QN_ARC_IS_ANYTHING };
    if (!key || key->kind != QN_ARC_PRIM || (container.self & ~QN_ARC_IS_CONT) != 0 ||
        (f->work->kinds[order->a[1]].inner & ~QN_ARC_IS_NUMBER) != 0 ||
        !qn_arc_cannot_fail((int)key->number, &items, 1))
        return;
    become(node, order, ARC_OP_argmin, 2, order->a[0], order->a[1], 0);
}

static int are_containers(const fuser *f, int node)
{
    const qn_arc_kinds *kinds = &f->work->kinds[node];

    return ((kinds->self | kinds->inner) & ~QN_ARC_IS_CONT) == 0;
}

static void fuse_of_size(fuser *f, qn_arc_node *node)
{
    qn_arc_node *chosen = inner(f, node, 0, ARC_OP_sizefilter);

    if (chosen && are_containers(f, chosen->a[0]))
        become(node, chosen, ARC_OP_first_of_size, 2, chosen->a[0], chosen->a[1], 0);
}

/* The key is a constant, so others may use it too. */
static void fuse_by_size(fuser *f, qn_arc_node *node)
{
    const qn_arc_value *key = f->work->dag.nodes[node->a[1]].value;

    if (!key || key->kind != QN_ARC_PRIM || key->number != ARC_OP_size)
        return;
    node->op = node->op == ARC_OP_argmax ? ARC_OP_argmax_size : ARC_OP_argmin_size;
    node->n_args = 1;
}

static void fuse_largest(fuser *f, qn_arc_node *node)
{
    qn_arc_node *objects = inner(f, node, 0, ARC_OP_objects);
    qn_arc_kinds args[4];

    if (!objects)
        return;
    for (int k = 0; k < 4; k++)
        args[k] = f->work->kinds[objects->a[k]];
    if (!qn_arc_cannot_fail(ARC_OP_objects, args, 4))
        return;
    node->a[3] = objects->a[3];
    become(node, objects, ARC_OP_largest_object, 4, objects->a[0], objects->a[1], objects->a[2]);
}

static void fuse_colorcount(fuser *f, qn_arc_node *node)
{
    qn_arc_node *cells = inner(f, node, 0, ARC_OP_ofcolor);

    if (cells && kind(f, cells->a[0]) == QN_ARC_IS_GRID && is_number(f, cells->a[1]))
        become(node, cells, ARC_OP_colorcount, 2, cells->a[0], cells->a[1], 0);
}

/* The two colours are swapped. If both could be bad, a batt program would then report the other one
 * first. */
static void fuse_replace(fuser *f, qn_arc_node *node)
{
    const qn_arc_dag *dag = &f->work->dag;
    qn_arc_node *cells = inner(f, node, 2, ARC_OP_ofcolor);

    if (cells && dag->flags & ARC_FLAG_BATT && !dag->nodes[node->a[1]].value &&
        !dag->nodes[cells->a[1]].value)
        return;
    if (cells && cells->a[0] == node->a[0] && kind(f, node->a[0]) == QN_ARC_IS_GRID &&
        is_number(f, node->a[1]) && is_number(f, cells->a[1]))
        become(node, cells, ARC_OP_replace, 3, node->a[0], cells->a[1], node->a[1]);
}

static void fuse_fill(fuser *f, qn_arc_node *node)
{
    qn_arc_node *object = inner(f, node, 1, ARC_OP_recolor);

    if (object && kind(f, node->a[0]) == QN_ARC_IS_GRID && is_number(f, object->a[0]) &&
        (kind(f, object->a[1]) & ~QN_ARC_IS_PATCH) == 0)
        become(node, object, ARC_OP_fill, 3, node->a[0], object->a[0], object->a[1]);
}

qn_status qn_arc_fuse(qn_arc_draft *work, unsigned off, qn_err *err)
{
    fuser f = { .work = work, .n_uses = calloc((size_t)work->dag.n + 1, sizeof(int)) };

    if (!f.n_uses)
        return qn_fail(err, QN_ERR_NOMEM, "no memory to compile a program of %d nodes",
                       work->dag.n);
    count_uses(&f);
    for (int i = 0; i < work->dag.n; i++) {
        qn_arc_node *node = &work->dag.nodes[i];

        if (!is_plain(node))
            continue;
        if (node->op == ARC_OP_first && !(off & QN_ARC_OFF_ARGMIN))
            fuse_argmin(&f, node);
        if (node->op == ARC_OP_first && !(off & QN_ARC_OFF_OF_SIZE))
            fuse_of_size(&f, node);
        else if ((node->op == ARC_OP_argmax || node->op == ARC_OP_argmin) &&
                 !(off & QN_ARC_OFF_BY_SIZE))
            fuse_by_size(&f, node);
        else if (node->op == ARC_OP_size && !(off & QN_ARC_OFF_COLORCOUNT))
            fuse_colorcount(&f, node);
        else if (node->op == ARC_OP_fill && !(off & QN_ARC_OFF_REPLACE))
            fuse_replace(&f, node);
        else if (node->op == ARC_OP_paint && !(off & QN_ARC_OFF_FILL))
            fuse_fill(&f, node);
        if (node->op == ARC_OP_argmax_size && !(off & QN_ARC_OFF_LARGEST))
            fuse_largest(&f, node);
    }
    free(f.n_uses);
    return QN_OK;
}

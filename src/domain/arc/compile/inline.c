/* inline.c - expands calls of functions that the program itself composed.
 *
 * f = compose(size, first); x = f(y) becomes first, then size, in the line of the call. They can
 * then be merged and fused with others, their kinds are known, and a failure names the primitive. A
 * call is expanded only if it certainly has the right number of arguments; any other is left to run
 * and fail as it does. Steps of batt programs are left alone: each is a single step that is ok or
 * not.
 */
#include "domain/arc/compile/passes.h"

#include <stdlib.h>

#include "domain/arc/value/value.h"
#include "kernel/arc/arc_ops.h"
#include "util/status.h"

/* How many operations one call may become, and how often a power is repeated. */
enum { MOST_WRITTEN = 64, MOST_POWER = 8, MOST_NODES = 30000 };

static int is_primitive(const qn_arc_node *node)
{
    return node->op == QN_ARC_NODE_CONST && node->value->kind == QN_ARC_PRIM;
}

/* How often the function of a power is called; 0 if that is unknown, or too often. */
static int times_of(const qn_arc_dag *dag, const qn_arc_node *power)
{
    const qn_arc_value *times = dag->nodes[power->a[1]].value;

    return times && times->kind == QN_ARC_INT && times->number >= 1 && times->number <= MOST_POWER
               ? (int)times->number
               : 0;
}

/* Whether the call of function node f with n arguments can be expanded into at most *left
 * operations. */
static int can_write(const qn_arc_dag *dag, int f, int n, int *left)
{
    const qn_arc_node *node = &dag->nodes[f];
    int times;

    if (--*left < 0)
        return 0;
    if (is_primitive(node))
        return qn_arc_op_arity((int)node->value->number) == n;
    switch (node->op) {
    case ARC_OP_compose:
        return n == 1 && can_write(dag, node->a[1], 1, left) && can_write(dag, node->a[0], 1, left);
    case ARC_OP_chain:
        return n == 1 && can_write(dag, node->a[2], 1, left) &&
               can_write(dag, node->a[1], 1, left) && can_write(dag, node->a[0], 1, left);
    case ARC_OP_fork:
        return n == 1 && can_write(dag, node->a[1], 1, left) &&
               can_write(dag, node->a[2], 1, left) && can_write(dag, node->a[0], 2, left);
    case ARC_OP_matcher:
        return n == 1 && can_write(dag, node->a[0], 1, left);
    case ARC_OP_lbind:
    case ARC_OP_rbind:
        return n < 4 && can_write(dag, node->a[0], n + 1, left);
    case ARC_OP_power:
        times = times_of(dag, node);
        for (int k = 0; k < times; k++)
            if ((times > 1 && n != 1) || !can_write(dag, node->a[0], n, left))
                return 0;
        return times > 0;
    default:
        return 0;
    }
}

static int add(qn_arc_dag *dag, int op, int n, const int args[4], int line)
{
    qn_arc_node node = { .op = (uint16_t)op, .n_args = (uint8_t)n, .line = line };

    for (int k = 0; k < n; k++)
        node.a[k] = args[k];
    return qn_arc_dag_add(dag, &node);
}

/* The node of f(args), which can be expanded; -1 when out of memory. */
static int write_out(qn_arc_dag *dag, int f, int n, const int args[4], int line);

static int write_one(qn_arc_dag *dag, int f, int x, int line)
{
    return x < 0 ? -1 : write_out(dag, f, 1, (const int[4]){ x }, line);
}

static int write_bound(qn_arc_dag *dag, const qn_arc_node *f, int n, const int args[4], int line)
{
    const int shift = f->op == ARC_OP_lbind;
    int all[4] = { 0 };

    for (int k = 0; k < n; k++)
        all[k + shift] = args[k];
    all[shift ? 0 : n] = f->a[1];
    return write_out(dag, f->a[0], n + 1, all, line);
}

static int write_out(qn_arc_dag *dag, int f, int n, const int args[4], int line)
{
    const qn_arc_node node = dag->nodes[f]; /* a copy: the list moves as it grows */
    int x = args[0], y, times;

    if (is_primitive(&node))
        return add(dag, (int)node.value->number, n, args, line);
    switch (node.op) {
    case ARC_OP_compose:
        x = write_one(dag, node.a[1], x, line);
        return write_one(dag, node.a[0], x, line);
    case ARC_OP_chain:
        x = write_one(dag, node.a[2], x, line);
        x = write_one(dag, node.a[1], x, line);
        return write_one(dag, node.a[0], x, line);
    case ARC_OP_fork:
        x = write_one(dag, node.a[1], args[0], line);
        y = write_one(dag, node.a[2], args[0], line);
        return x < 0 || y < 0 ? -1 : write_out(dag, node.a[0], 2, (const int[4]){ x, y }, line);
    case ARC_OP_matcher:
        x = write_one(dag, node.a[0], x, line);
        return x < 0 ? -1 : add(dag, ARC_OP_equality, 2, (const int[4]){ x, node.a[1] }, line);
    case ARC_OP_lbind:
    case ARC_OP_rbind:
        return write_bound(dag, &node, n, args, line);
    default: /* power */
        times = times_of(dag, &node);
        if (times == 1)
            return write_out(dag, node.a[0], n, args, line);
        for (int k = 0; k < times; k++)
            x = write_one(dag, node.a[0], x, line);
        return x;
    }
}

/* The node in the new list: unchanged, or the expansion of its call. */
static int take(qn_arc_dag *dag, const qn_arc_node *node)
{
    int left = MOST_WRITTEN;

    if (node->op != ARC_OP_CALL || node->guard || dag->n > MOST_NODES ||
        !can_write(dag, node->a[0], node->n_args - 1, &left))
        return qn_arc_dag_add(dag, node);
    return write_out(dag, node->a[0], node->n_args - 1,
                     (const int[4]){ node->a[1], node->a[2], node->a[3] }, node->line);
}

qn_status qn_arc_inline(qn_arc_draft *work, qn_err *err)
{
    qn_arc_dag *from = &work->dag, to = *from;
    int *now = malloc(((size_t)from->n + 1) * sizeof *now);
    int failed = !now;

    if (from->flags & ARC_FLAG_BATT) {
        free(now);
        return QN_OK;
    }
    to.nodes = NULL;
    to.n = 0;
    to.room = 0;
    for (int i = 0; i < from->n && !failed; i++) {
        qn_arc_node node = from->nodes[i];

        for (int k = 0; k < node.n_args; k++)
            node.a[k] = now[node.a[k]];
        failed = (now[i] = take(&to, &node)) < 0;
    }
    if (!failed && from->output >= 0)
        to.output = now[from->output];
    free(now);
    free(failed ? to.nodes : from->nodes);
    if (failed)
        return qn_fail(err, QN_ERR_NOMEM, "no memory to compile a program of %d nodes", from->n);
    work->dag = to;
    return QN_OK;
}

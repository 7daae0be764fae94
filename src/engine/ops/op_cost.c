/* op_cost.c - cost functions of the registry.
 *
 * Costs rank devices before anything has been measured, so they count what dominates and leave
 * the rest out. Lengths that lie in tables on the device (messages, trees) are taken from the
 * sizes of the buffers.
 */
#include "engine/ops/op_cost.h"

#include "kernel/matmul.h"
#include "kernel/merkle.h"
#include "kernel/reduce.h"
#include "kernel/vector.h"

#include <math.h>
#include <string.h>

static double points_of(const qn_range *r)
{
    return (double)(r->x1 - r->x0) * (double)(r->y1 - r->y0) * (double)(r->z1 - r->z0);
}

static int reads(const qn_arg_info *arg)
{
    return arg->mode == QN_ARG_IN || arg->mode == QN_ARG_INOUT;
}

static int writes(const qn_arg_info *arg)
{
    return arg->mode == QN_ARG_OUT || arg->mode == QN_ARG_INOUT;
}

/* Bytes of the buffer of that name, 0 when the kernel has none. */
static double bytes_of(const qn_op_use *use, const char *name)
{
    for (int i = 0; i < use->kernel->n_args; i++)
        if (!strcmp(use->kernel->args[i].name, name))
            return (double)use->bytes[i];
    return 0;
}

static double min_of(double a, double b)
{
    return a < b ? a : b;
}

qn_cost qn_cost_nothing(const qn_op *op, const qn_op_use *use)
{
    (void)op;
    (void)use;
    return (qn_cost){ 0, 0, 0 };
}

qn_cost qn_cost_points(const qn_op *op, const qn_op_use *use)
{
    const double n = points_of(&use->range);
    qn_cost cost = { 0, 0, op->work * n };

    for (int i = 0; i < use->kernel->n_args; i++) {
        const qn_arg_info *arg = &use->kernel->args[i];

        cost.read_bytes += reads(arg) ? min_of(n * arg->size, (double)use->bytes[i]) : 0;
        cost.write_bytes += writes(arg) ? min_of(n * arg->size, (double)use->bytes[i]) : 0;
    }
    return cost;
}

qn_cost qn_cost_buffers(const qn_op *op, const qn_op_use *use)
{
    qn_cost cost = { 0, 0, 0 };

    for (int i = 0; i < use->kernel->n_args; i++) {
        const qn_arg_info *arg = &use->kernel->args[i];
        const double elems = (double)use->bytes[i] / (arg->size ? arg->size : 1);

        cost.read_bytes += reads(arg) ? (double)use->bytes[i] : 0;
        cost.write_bytes += writes(arg) ? (double)use->bytes[i] : 0;
        if (arg->mode != QN_ARG_VAL && op->work * elems > cost.flops)
            cost.flops = op->work * elems;
    }
    return cost;
}

qn_cost qn_cost_chain(const qn_op *op, const qn_op_use *use)
{
    chain_par par;
    double n;

    memcpy(&par, use->values[0], sizeof par);
    n = (double)par.n;
    return (qn_cost){ 4 * n, 4 * n, op->work * n * par.n_steps };
}

qn_cost qn_cost_chunks(const qn_op *op, const qn_op_use *use)
{
    const double chunks = points_of(&use->range);
    const double x = min_of(bytes_of(use, "x"), 4.0 * REDUCE_CHUNK * chunks);
    const double y = min_of(bytes_of(use, "y"), 4.0 * REDUCE_CHUNK * chunks);

    return (qn_cost){ x + y, 4 * chunks, op->work * x / 4 };
}

qn_cost qn_cost_matmul(const qn_op *op, const qn_op_use *use)
{
    matmul_par par;
    double rows, cols, depth, n;

    memcpy(&par, use->values[0], sizeof par);
    rows = par.rows;
    cols = par.cols;
    depth = par.depth;
    n = (double)(use->range.z1 - use->range.z0);
    return (qn_cost){ 4 * n * depth * (rows + cols), 4 * n * rows * cols,
                      op->work * n * rows * cols * depth };
}

qn_cost qn_cost_messages(const qn_op *op, const qn_op_use *use)
{
    const double data = bytes_of(use, "data"), hash = bytes_of(use, "hash");

    /* A message of one byte costs a whole block: 64 bytes per hash at least. */
    return (qn_cost){ data + bytes_of(use, "start"), hash, op->work * (data + 2 * hash) };
}

qn_cost qn_cost_nodes(const qn_op *op, const qn_op_use *use)
{
    const double nodes = min_of(points_of(&use->range) * MERKLE_LANES, bytes_of(use, "tree") / 32);

    return (qn_cost){ 64 * nodes, 32 * nodes, op->work * nodes };
}

qn_cost qn_cost_top(const qn_op *op, const qn_op_use *use)
{
    const double trees = points_of(&use->range);
    const double nodes = min_of(trees * MERKLE_TOP, bytes_of(use, "tree") / 32);

    return (qn_cost){ 32 * nodes, 32 * nodes, op->work * nodes };
}

qn_cost qn_cost_sort(const qn_op *op, const qn_op_use *use)
{
    const double bytes = bytes_of(use, "x"), n = bytes / 4;

    return (qn_cost){ bytes, bytes, op->work * n * log2(n + 2) };
}

/* registry.c - finds ops in the tables of the tools and in the engine's own. */
#include "engine/ops/registry.h"

#include "kernel/vector.h"

#include <stdlib.h>
#include <string.h>

#define SEGMENT_ROW(id)                                                                            \
    {                                                                                              \
        .name = id, .priority = 2, .kernel = id, .cost = qn_cost_buffers, .work = 1                \
    }

/* Stages of qn_segments_sum. Sorted by name. */
static const qn_op own[] = {
    SEGMENT_ROW("segment_join"),
    SEGMENT_ROW("segment_part"),
    SEGMENT_ROW("segment_short"),
};
enum { N_OWN = sizeof own / sizeof *own };

/* For kernels without an op: only their head is known. */
static const qn_op kernel_op = {
    .name = "kernel", .priority = QN_PRIORITY_HOT, .cost = qn_cost_buffers, .work = 1
};

static qn_cost cost_nothing(QN_UNUSED const qn_op *op, QN_UNUSED const qn_op_use *use)
{
    return (qn_cost){ 0, 0, 0 };
}

/* Stages that are host functions. */
static const qn_op host_op = { .name = "host", .priority = QN_PRIORITY_CPU, .cost = cost_nothing };

static int by_name(const void *key, const void *row)
{
    return strcmp(key, ((const qn_op *)row)->name);
}

const qn_op *qn_op_find(const char *name)
{
    const qn_op *op = name ? bsearch(name, own, N_OWN, sizeof *op, by_name) : NULL;

    for (int t = 0; name && !op && qn_tools[t]; t++)
        if (qn_tools[t]->n_ops)
            op = bsearch(name, qn_tools[t]->ops, qn_tools[t]->n_ops, sizeof *op, by_name);
    return op;
}

int qn_op_count(void)
{
    size_t n = N_OWN;

    for (int t = 0; qn_tools[t]; t++)
        n += qn_tools[t]->n_ops;
    return (int)n;
}

const qn_op *qn_op_at(int i)
{
    if (i < N_OWN)
        return i >= 0 ? &own[i] : NULL;
    i -= N_OWN;
    for (int t = 0; qn_tools[t]; i -= (int)qn_tools[t++]->n_ops)
        if (i < (int)qn_tools[t]->n_ops)
            return &qn_tools[t]->ops[i];
    return NULL;
}

const qn_op *qn_op_yardstick(qn_yardstick yardstick)
{
    for (int i = 0; i < qn_op_count(); i++)
        if (qn_op_at(i)->yardstick == yardstick)
            return qn_op_at(i);
    return NULL;
}

const qn_kernel_info *qn_op_kernel(const qn_op *op)
{
    return op->kernel ? qn_kernel_builtin(op->kernel) : op->cpu;
}

const qn_op *qn_op_of_kernel(const qn_kernel_info *kernel)
{
    const qn_op *op = kernel ? qn_op_find(kernel->name) : &host_op;

    /* A run-time kernel may have the name of a built-in one. */
    if (!op || (kernel && qn_op_kernel(op) != kernel))
        op = &kernel_op;
    return op;
}

qn_diff qn_op_compare(const qn_op *op, const char *type, const void *want, const void *got,
                      size_t bytes)
{
    return qn_compare_arrays(op->exactness, op->tolerance, type, want, got, bytes);
}

/* Costs. */

static int reads(const qn_arg_info *arg)
{
    return arg->mode == QN_ARG_IN || arg->mode == QN_ARG_INOUT;
}

static int writes(const qn_arg_info *arg)
{
    return arg->mode == QN_ARG_OUT || arg->mode == QN_ARG_INOUT;
}

double qn_cost_count(const qn_range *r)
{
    return (double)(r->x1 - r->x0) * (double)(r->y1 - r->y0) * (double)(r->z1 - r->z0);
}

double qn_cost_bytes(const qn_op_use *use, const char *name)
{
    for (int i = 0; i < use->kernel->n_args; i++)
        if (!strcmp(use->kernel->args[i].name, name))
            return (double)use->bytes[i];
    return 0;
}

qn_cost qn_cost_points(const qn_op *op, const qn_op_use *use)
{
    const double n = qn_cost_count(&use->range);
    qn_cost cost = { 0, 0, op->work * n };

    for (int i = 0; i < use->kernel->n_args; i++) {
        const qn_arg_info *arg = &use->kernel->args[i];
        const double all = (double)use->bytes[i], bytes = n * arg->size < all ? n * arg->size : all;

        cost.read_bytes += reads(arg) ? bytes : 0;
        cost.write_bytes += writes(arg) ? bytes : 0;
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

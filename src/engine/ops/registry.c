/* registry.c - the table of ops.
 *
 * One row per built-in kernel that a graph may name, sorted by name for lookup. Kernels that are
 * a step of a larger op (sum_part, merkle_level) have rows of their own, since a stage runs one
 * kernel; ops that belong together have the same `module`.
 */
#include "engine/ops/registry.h"

#include "engine/ops/cpu_ops.h"
#include "engine/ops/op_cost.h"

#include <stdlib.h>
#include <string.h>

#define MAP_ROW(op, prio, flops, module_)                                                          \
    {                                                                                              \
        .name = op, .priority = prio, .kernel = op, .cost = qn_cost_points, .work = flops,         \
        .split = QN_SPLIT_X, .module = module_                                                     \
    }
/* Functions that no standard rounds correctly. */
#define SMOOTH_ROW(op, flops)                                                                      \
    {                                                                                              \
        .name = op, .priority = 2, .kernel = op, .cost = qn_cost_points, .work = flops,            \
        .exactness = QN_EXACT_REL, .tolerance = 1e-6, .split = QN_SPLIT_X, .module = "vector"      \
    }
#define ROW(op, prio, cost_, flops, module_)                                                       \
    {                                                                                              \
        .name = op, .priority = prio, .kernel = op, .cost = cost_, .work = flops,                  \
        .module = module_                                                                          \
    }

/* Sorted by name. */
static const qn_op ops[] = {
    /* Programs with exp and its like are compared by the tolerance; the others keep to it. */
    { .name = "chain",
      .priority = 1,
      .kernel = "chain",
      .cost = qn_cost_chain,
      .work = 1,
      .exactness = QN_EXACT_REL,
      .tolerance = 1e-6,
      .module = "vector" },
    ROW("dot_part", 1, qn_cost_chunks, 2, "reduce"),
    ROW("keccak256", 3, qn_cost_messages, 4500.0 / 136, "crypto"),
    MAP_ROW("map_abs", 2, 1, "vector"),
    MAP_ROW("map_add", 2, 1, "vector"),
    SMOOTH_ROW("map_cos", 20),
    MAP_ROW("map_div", 2, 4, "vector"),
    SMOOTH_ROW("map_exp", 15),
    SMOOTH_ROW("map_log", 15),
    MAP_ROW("map_max", 2, 1, "vector"),
    MAP_ROW("map_min", 2, 1, "vector"),
    MAP_ROW("map_mul", 2, 1, "vector"),
    MAP_ROW("map_neg", 2, 1, "vector"),
    SMOOTH_ROW("map_sin", 20),
    MAP_ROW("map_sqrt", 2, 4, "vector"),
    MAP_ROW("map_square", 2, 1, "vector"),
    MAP_ROW("map_sub", 2, 1, "vector"),
    SMOOTH_ROW("map_tanh", 20),
    { .name = "matmul",
      .priority = 1,
      .kernel = "matmul",
      .cost = qn_cost_matmul,
      .work = 2,
      .split = QN_SPLIT_Z,
      .module = "matmul" },
    ROW("max_join", 1, qn_cost_buffers, 1, "reduce"),
    ROW("max_part", 1, qn_cost_chunks, 1, "reduce"),
    ROW("merkle_first", 1, qn_cost_nodes, 2400, "merkle"),
    ROW("merkle_leaf_rfc", 2, qn_cost_nodes, 1500, "merkle"),
    ROW("merkle_level", 1, qn_cost_nodes, 2400, "merkle"),
    ROW("merkle_level_rfc", 2, qn_cost_nodes, 3000, "merkle"),
    ROW("merkle_top", 1, qn_cost_top, 2400, "merkle"),
    ROW("merkle_top_rfc", 2, qn_cost_top, 3000, "merkle"),
    MAP_ROW("saxpy", 1, 2, "vector"),
    ROW("scan_add", 3, qn_cost_points, 1, "reduce"),
    ROW("scan_join", 3, qn_cost_buffers, 1, "reduce"),
    ROW("scan_part", 3, qn_cost_buffers, 1, "reduce"),
    ROW("segment_join", 2, qn_cost_buffers, 1, "reduce"),
    ROW("segment_part", 2, qn_cost_buffers, 1, "reduce"),
    ROW("segment_short", 2, qn_cost_buffers, 1, "reduce"),
    ROW("sha256", 1, qn_cost_messages, 1500.0 / 64, "crypto"),
    { .name = "sort",
      .priority = QN_PRIORITY_CPU,
      .cpu = &qn_cpu_sort,
      .cost = qn_cost_sort,
      .work = 1,
      .module = "vector" },
    ROW("sum_join", 1, qn_cost_buffers, 1, "reduce"),
    ROW("sum_part", 1, qn_cost_chunks, 1, "reduce"),
    MAP_ROW("vadd", 1, 1, "vector"),
};

enum { N_OPS = sizeof ops / sizeof ops[0] };

/* Kernels without a row: nothing is known but their head. */
static const qn_op kernel_op = {
    .name = "kernel", .priority = QN_PRIORITY_HOT, .cost = qn_cost_buffers, .work = 1
};

/* Stages that are host functions. */
static const qn_op host_op = { .name = "host",
                               .priority = QN_PRIORITY_CPU,
                               .cost = qn_cost_nothing };

static int by_name(const void *key, const void *row)
{
    return strcmp(key, ((const qn_op *)row)->name);
}

const qn_op *qn_op_find(const char *name)
{
    return name ? bsearch(name, ops, N_OPS, sizeof ops[0], by_name) : NULL;
}

int qn_op_count(void)
{
    return N_OPS;
}

const qn_op *qn_op_at(int i)
{
    return i >= 0 && i < N_OPS ? &ops[i] : NULL;
}

const qn_kernel_info *qn_op_kernel(const qn_op *op)
{
    return op->kernel ? qn_kernel_builtin(op->kernel) : op->cpu;
}

const qn_op *qn_op_of_kernel(const qn_kernel_info *kernel)
{
    const qn_op *op = kernel ? qn_op_find(kernel->name) : &host_op;

    /* A kernel given at run time may bear the name of a built-in one. */
    if (!op || (kernel && qn_op_kernel(op) != kernel))
        op = &kernel_op;
    return op;
}

qn_cost qn_op_cost(const qn_op *op, const qn_op_use *use)
{
    return op->cost(op, use);
}

qn_diff qn_op_compare(const qn_op *op, const char *type, const void *want, const void *got,
                      size_t bytes)
{
    return qn_compare_arrays(op->exactness, op->tolerance, type, want, got, bytes);
}

const char *qn_op_name(const qn_op *op)
{
    return op->name;
}

int qn_op_is_cpu_only(const qn_op *op)
{
    return op->priority == QN_PRIORITY_CPU;
}

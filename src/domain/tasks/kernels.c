/* kernels.c - the kernels of tasks as ops: cost, exactness, and made-up data for measurements.
 *
 * Lengths in tables on the device (messages, trees) are unknown here, so the sizes of buffers are
 * used.
 */
#include "domain/tasks/task.h"

#include "kernel/matmul.h"
#include "kernel/merkle.h"
#include "kernel/reduce.h"
#include "kernel/scan.h"
#include "kernel/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Costs. */

static qn_cost cost_chunks(const qn_op *op, const qn_op_use *use)
{
    const double chunks = qn_cost_count(&use->range);
    const double x = fmin(qn_cost_bytes(use, "x"), 4.0 * REDUCE_CHUNK * chunks);
    const double y = fmin(qn_cost_bytes(use, "y"), 4.0 * REDUCE_CHUNK * chunks);

    return (qn_cost){ x + y, 4 * chunks, op->work * x / 4 };
}

static qn_cost cost_matmul(const qn_op *op, const qn_op_use *use)
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

static qn_cost cost_messages(const qn_op *op, const qn_op_use *use)
{
    const double data = qn_cost_bytes(use, "data"), hash = qn_cost_bytes(use, "hash");

    /* A message of one byte costs a whole block, so count at least 64 bytes per hash. */
    return (qn_cost){ data + qn_cost_bytes(use, "start"), hash, op->work * (data + 2 * hash) };
}

static qn_cost cost_nodes(const qn_op *op, const qn_op_use *use)
{
    const double nodes =
        fmin(qn_cost_count(&use->range) * MERKLE_LANES, qn_cost_bytes(use, "tree") / 32);

    return (qn_cost){ 64 * nodes, 32 * nodes, op->work * nodes };
}

static qn_cost cost_top(const qn_op *op, const qn_op_use *use)
{
    const double trees = qn_cost_count(&use->range);
    const double nodes = fmin(trees * MERKLE_TOP, qn_cost_bytes(use, "tree") / 32);

    return (qn_cost){ 32 * nodes, 32 * nodes, op->work * nodes };
}

static qn_cost cost_sort(const qn_op *op, const qn_op_use *use)
{
    const double bytes = qn_cost_bytes(use, "x"), n = bytes / 4;

    return (qn_cost){ bytes, bytes, op->work * n * log2(n + 2) };
}

/* Required sizes of buffers. */

static double need_chain(const qn_op_use *use, QN_UNUSED int arg)
{
    chain_par par;

    memcpy(&par, use->values[0], sizeof par);
    return fmin((double)par.n, (double)use->range.x1 * CHAIN_CHUNK);
}

/* VAL par, IN a, IN b, OUT c */
static double need_matmul(const qn_op_use *use, int arg)
{
    matmul_par par;
    double rows, cols, last;

    memcpy(&par, use->values[0], sizeof par);
    rows = fmin(par.rows, (double)use->range.y1 * MATMUL_TILE_ROWS);
    cols = fmin(par.cols, (double)use->range.x1 * MATMUL_TILE_COLS);
    last = (double)use->range.z1 - 1;
    if (arg == 3)
        return last * (double)par.c_step + (rows - 1) * par.cols + cols;
    if (par.depth < 1)
        return 0;
    return arg == 1 ? last * (double)par.a_step + rows * par.depth
                    : last * (double)par.b_step + (par.depth - 1.0) * par.cols + cols;
}

static double need_rows(const qn_op_use *use, QN_UNUSED int arg)
{
    qn_i64 n;

    memcpy(&n, use->values[0], sizeof n);
    return (double)use->range.x1 * (double)n;
}

/* Sort: rows of n floats, ascending, -0 before +0, NaNs last. Range x: rows. There is no kernel;
 * the engine copies its arguments to the host. */

/* Maps floats to integers in the same order: negative ones reversed, NaNs of either sign last. */
static uint32_t order_key(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return UINT32_MAX;
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static int by_order(const void *a, const void *b)
{
    const uint32_t x = order_key(*(const float *)a), y = order_key(*(const float *)b);

    return (x > y) - (x < y);
}

static void sort_rows(const qn_span *part, void *const *args)
{
    const qn_i64 n = *(const qn_i64 *)args[0];
    const float *x = *(const float *const *)args[1];
    float *out = *(float *const *)args[2];

    for (int32_t row = part->x0; row < part->x1; row++) {
        memcpy(out + row * n, x + row * n, (size_t)n * sizeof *out);
        qsort(out + row * n, (size_t)n, sizeof *out, by_order);
    }
}

static const qn_arg_info sort_args[] = {
    { "n", "i64", 8, QN_ARG_VAL },
    { "x", "float", 4, QN_ARG_IN },
    { "out", "float", 4, QN_ARG_OUT },
};

static const qn_kernel_info sort_head = { .name = "sort",
                                          .form = QN_FORM_GROUP,
                                          .n_args = 3,
                                          .unroll = 1,
                                          .lanes = 1,
                                          .args = sort_args,
                                          .cpu = sort_rows };

/* Samples. */

enum { MESSAGE_BYTES = 64, HASH_LANES = 64, MERKLE_LEVELS = 2 };

static qn_i64 groups(qn_i64 n, qn_i64 each)
{
    return (n + each - 1) / each;
}

static void sample_chain(qn_op_sample *s)
{
    const chain_par par = { .n = s->n,
                            .n_steps = 4,
                            .code = { QN_CHAIN_MUL, QN_CHAIN_ADD, QN_CHAIN_ABS, QN_CHAIN_SQRT },
                            .k = { 2, 1 } };

    qn_op_sample_set(s, 0, &par, sizeof par);
    s->bytes[1] = s->bytes[2] = (size_t)s->n * 4;
    s->range = qn_range_1d(groups(s->n, CHAIN_CHUNK));
}

static void sample_matmul(qn_op_sample *s)
{
    const i32 side = (i32)lround(sqrt((double)s->n));
    const matmul_par par = { .rows = side, .cols = side, .depth = side };

    s->n = (qn_i64)side * side;
    qn_op_sample_set(s, 0, &par, sizeof par);
    s->bytes[1] = s->bytes[2] = s->bytes[3] = (size_t)s->n * 4;
    s->range = qn_range_2d(groups(side, MATMUL_TILE_COLS), groups(side, MATMUL_TILE_ROWS));
}

/* VAL pitch, IN start, IN x [, IN y], OUT part */
static void sample_reduce(qn_op_sample *s)
{
    const qn_i64 chunks = groups(s->n, REDUCE_CHUNK);
    const int last = s->kernel->n_args - 1;

    qn_op_sample_set_int(s, 0, chunks);
    s->bytes[1] = 2 * sizeof(i64);
    for (int a = 2; a < last; a++)
        s->bytes[a] = (size_t)s->n * 4;
    s->bytes[last] = (size_t)chunks * 4;
    s->range = qn_range_1d(chunks);
}

/* VAL n, VAL n_words, IN start, IN data, OUT hash */
static void sample_messages(qn_op_sample *s)
{
    qn_op_sample_set_int(s, 0, s->n);
    qn_op_sample_set_int(s, 1, s->n * (MESSAGE_BYTES / 4));
    s->bytes[2] = (size_t)(s->n + 1) * sizeof(i64);
    s->bytes[3] = (size_t)s->n * MESSAGE_BYTES;
    s->bytes[4] = (size_t)s->n * 32;
    s->range = qn_range_1d(groups(s->n, HASH_LANES));
}

/* VAL n_trees, IN from, IN start, IN leaf, INOUT tree: one tree, its first level */
static void sample_merkle(qn_op_sample *s)
{
    const i64 from[2] = { 0, s->n };
    i64 start[MERKLE_LEVELS];

    qn_op_sample_set_int(s, 0, 1);
    s->bytes[1] = sizeof from;
    s->bytes[2] = sizeof start;
    s->bytes[3] = (size_t)s->n * 32;
    s->bytes[4] = (size_t)merkle_layout(from, 1, 1, MERKLE_LEVELS, start) * 32;
    s->range = qn_range_1d(groups(groups(s->n, 2), MERKLE_LANES));
}

/* VAL n, IN x, OUT y, OUT part */
static void sample_scan(qn_op_sample *s)
{
    qn_op_sample_set_int(s, 0, s->n);
    s->bytes[1] = s->bytes[2] = (size_t)s->n * 4;
    s->bytes[3] = (size_t)groups(s->n, SCAN_CHUNK) * 4;
    s->range = qn_range_1d(groups(s->n, SCAN_CHUNK));
}

static int is_named(const qn_op_sample *s, int arg, const char *name)
{
    return !strcmp(s->kernel->args[arg].name, name);
}

static void fill_reduce(const qn_op_sample *s, int arg, void *data)
{
    if (is_named(s, arg, "start"))
        ((i64 *)data)[1] = s->n;
}

static void fill_messages(const qn_op_sample *s, int arg, void *data)
{
    i64 *start = data;

    for (qn_i64 i = 0; is_named(s, arg, "start") && i <= s->n; i++)
        start[i] = i * MESSAGE_BYTES;
}

static void fill_merkle(const qn_op_sample *s, int arg, void *data)
{
    const i64 from[2] = { 0, s->n };

    if (is_named(s, arg, "from"))
        memcpy(data, from, sizeof from);
    else if (is_named(s, arg, "start"))
        merkle_layout(from, 1, 1, MERKLE_LEVELS, data);
}

/* The table. */

#define ROW(id, prio, cost_, flops)                                                                \
    .name = id, .priority = prio, .kernel = id, .cost = cost_, .work = flops
#define MAP_ROW(id, prio, flops)  ROW(id, prio, qn_cost_points, flops), .split = QN_SPLIT_X
#define STEP_ROW(id, flops, code) MAP_ROW(id, 2, flops), .chain_step = 1 + code
/* Functions that no standard requires to be correctly rounded. */
#define SMOOTH(id, flops) MAP_ROW(id, 2, flops), .exactness = QN_EXACT_REL, .tolerance = 1e-6

const qn_op qn_task_kernels[] = {
    /* sorted by name */
    /* The tolerance is for programs with exp and the like; other programs are well within it. */
    { ROW("chain", 1, qn_cost_chain, 1), .need = need_chain, .exactness = QN_EXACT_REL,
      .tolerance = 1e-6, .sample = sample_chain },
    { ROW("dot_part", 1, cost_chunks, 2), .sample = sample_reduce, .fill = fill_reduce },
    { ROW("keccak256", 3, cost_messages, 4500.0 / 136), .sample = sample_messages,
      .fill = fill_messages },
    { STEP_ROW("map_abs", 1, QN_CHAIN_ABS) },
    { STEP_ROW("map_add", 1, QN_CHAIN_ADD) },
    { SMOOTH("map_cos", 20) },
    { STEP_ROW("map_div", 4, QN_CHAIN_DIV) },
    { SMOOTH("map_exp", 15) },
    { SMOOTH("map_log", 15) },
    { STEP_ROW("map_max", 1, QN_CHAIN_MAX) },
    { STEP_ROW("map_min", 1, QN_CHAIN_MIN) },
    { STEP_ROW("map_mul", 1, QN_CHAIN_MUL) },
    { STEP_ROW("map_neg", 1, QN_CHAIN_NEG) },
    { SMOOTH("map_sin", 20) },
    { STEP_ROW("map_sqrt", 4, QN_CHAIN_SQRT) },
    { STEP_ROW("map_square", 1, QN_CHAIN_SQUARE) },
    { STEP_ROW("map_sub", 1, QN_CHAIN_SUB) },
    { SMOOTH("map_tanh", 20) },
    { ROW("matmul", 1, cost_matmul, 2), .need = need_matmul, .split = QN_SPLIT_Z,
      .yardstick = QN_YARDSTICK_COMPUTE, .sample = sample_matmul },
    { ROW("max_join", 1, qn_cost_buffers, 1) },
    { ROW("max_part", 1, cost_chunks, 1), .sample = sample_reduce, .fill = fill_reduce },
    { ROW("merkle_first", 1, cost_nodes, 2400), .sample = sample_merkle, .fill = fill_merkle },
    { ROW("merkle_leaf_rfc", 2, cost_nodes, 1500) },
    { ROW("merkle_level", 1, cost_nodes, 2400) },
    { ROW("merkle_level_rfc", 2, cost_nodes, 3000) },
    { ROW("merkle_top", 1, cost_top, 2400) },
    { ROW("merkle_top_rfc", 2, cost_top, 3000) },
    { MAP_ROW("saxpy", 1, 2) },
    { ROW("scan_add", 3, qn_cost_points, 1) },
    { ROW("scan_join", 3, qn_cost_buffers, 1) },
    { ROW("scan_part", 3, qn_cost_buffers, 1), .sample = sample_scan },
    { ROW("sha256", 1, cost_messages, 1500.0 / 64), .sample = sample_messages,
      .fill = fill_messages },
    { .name = "sort",
      .priority = QN_PRIORITY_CPU,
      .cpu = &sort_head,
      .cost = cost_sort,
      .need = need_rows,
      .work = 1 },
    { ROW("sum_join", 1, qn_cost_buffers, 1) },
    { ROW("sum_part", 1, cost_chunks, 1), .sample = sample_reduce, .fill = fill_reduce },
    { MAP_ROW("vadd", 1, 1), .yardstick = QN_YARDSTICK_MEMORY },
};
_Static_assert(sizeof qn_task_kernels / sizeof *qn_task_kernels == QN_TASK_KERNELS, "count them");

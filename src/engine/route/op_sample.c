/* op_sample.c - arguments for ops that are to be measured. */
#include "engine/route/op_sample.h"

#include "engine/ops/op_cost.h"
#include "kernel/matmul.h"
#include "kernel/merkle.h"
#include "kernel/reduce.h"
#include "kernel/scan.h"
#include "kernel/vector.h"

#include <math.h>
#include <string.h>

enum { MESSAGE_BYTES = 64, HASH_LANES = 64, MERKLE_LEVELS = 2 };

static qn_i64 groups(qn_i64 n, qn_i64 each)
{
    return (n + each - 1) / each;
}

static void set_value(qn_op_sample *s, int arg, const void *value, size_t bytes)
{
    size_t at = 0;

    for (int a = 0; a < arg; a++)
        at += s->kernel->args[a].mode == QN_ARG_VAL ? 160u : 0u; /* chain_par has 144 bytes */
    s->value_at[arg] = at;
    memcpy(s->values + at, value, bytes);
}

static void set_i64(qn_op_sample *s, int arg, i64 value)
{
    const i32 narrow = (i32)value;

    if (s->kernel->args[arg].size == sizeof narrow)
        set_value(s, arg, &narrow, sizeof narrow);
    else
        set_value(s, arg, &value, sizeof value);
}

/* One function per shape of op. */

/* One element of each buffer per point, constants 1.5. */
static void make_points(qn_op_sample *s)
{
    const float k = 1.5f;

    s->range = qn_range_1d(s->n);
    for (int a = 0; a < s->kernel->n_args; a++) {
        if (s->kernel->args[a].mode == QN_ARG_VAL)
            set_value(s, a, &k, sizeof k);
        else
            s->bytes[a] = (size_t)s->n * s->kernel->args[a].size;
    }
}

static void make_chain(qn_op_sample *s)
{
    const chain_par par = { .n = s->n,
                            .n_steps = 4,
                            .code = { QN_CHAIN_MUL, QN_CHAIN_ADD, QN_CHAIN_ABS, QN_CHAIN_SQRT },
                            .k = { 2, 1 } };

    set_value(s, 0, &par, sizeof par);
    s->bytes[1] = s->bytes[2] = (size_t)s->n * 4;
    s->range = qn_range_1d(groups(s->n, CHAIN_CHUNK));
}

static void make_matmul(qn_op_sample *s)
{
    const i32 side = (i32)lround(sqrt((double)s->n));
    const matmul_par par = { .rows = side, .cols = side, .depth = side };

    s->n = (qn_i64)side * side;
    set_value(s, 0, &par, sizeof par);
    s->bytes[1] = s->bytes[2] = s->bytes[3] = (size_t)s->n * 4;
    s->range = qn_range_2d(groups(side, MATMUL_TILE_COLS), groups(side, MATMUL_TILE_ROWS));
}

/* VAL pitch, IN start, IN x [, IN y], OUT part */
static void make_reduce(qn_op_sample *s)
{
    const qn_i64 chunks = groups(s->n, REDUCE_CHUNK);
    const int last = s->kernel->n_args - 1;

    set_i64(s, 0, chunks);
    s->bytes[1] = 2 * sizeof(i64);
    for (int a = 2; a < last; a++)
        s->bytes[a] = (size_t)s->n * 4;
    s->bytes[last] = (size_t)chunks * 4;
    s->range = qn_range_1d(chunks);
}

/* VAL n, VAL n_words, IN start, IN data, OUT hash */
static void make_messages(qn_op_sample *s)
{
    set_i64(s, 0, s->n);
    set_i64(s, 1, s->n * (MESSAGE_BYTES / 4));
    s->bytes[2] = (size_t)(s->n + 1) * sizeof(i64);
    s->bytes[3] = (size_t)s->n * MESSAGE_BYTES;
    s->bytes[4] = (size_t)s->n * 32;
    s->range = qn_range_1d(groups(s->n, HASH_LANES));
}

/* VAL n_trees, IN from, IN start, IN leaf, INOUT tree: one tree, its first level */
static void make_merkle(qn_op_sample *s)
{
    const i64 from[2] = { 0, s->n };
    i64 start[MERKLE_LEVELS];

    set_i64(s, 0, 1);
    s->bytes[1] = sizeof from;
    s->bytes[2] = sizeof start;
    s->bytes[3] = (size_t)s->n * 32;
    s->bytes[4] = (size_t)merkle_layout(from, 1, 1, MERKLE_LEVELS, start) * 32;
    s->range = qn_range_1d(groups(groups(s->n, 2), MERKLE_LANES));
}

/* VAL n, IN x, OUT y, OUT part */
static void make_scan(qn_op_sample *s)
{
    set_i64(s, 0, s->n);
    s->bytes[1] = s->bytes[2] = (size_t)s->n * 4;
    s->bytes[3] = (size_t)groups(s->n, SCAN_CHUNK) * 4;
    s->range = qn_range_1d(groups(s->n, SCAN_CHUNK));
}

static const struct {
    const char *op;
    void (*make)(qn_op_sample *s);
} makers[] = {
    { "chain", make_chain },    { "dot_part", make_reduce }, { "keccak256", make_messages },
    { "matmul", make_matmul },  { "max_part", make_reduce }, { "merkle_first", make_merkle },
    { "scan_part", make_scan }, { "sha256", make_messages }, { "sum_part", make_reduce },
};

/* Any MAP over plain arrays whose constants are floats. */
static int is_plain_map(const qn_op *op, const qn_kernel_info *kernel)
{
    if (op->cost != qn_cost_points || kernel->form != QN_FORM_MAP)
        return 0;
    for (int a = 0; a < kernel->n_args; a++)
        if (!kernel->args[a].size ||
            (kernel->args[a].mode == QN_ARG_VAL && strcmp(kernel->args[a].type, "float") != 0))
            return 0;
    return 1;
}

qn_status qn_op_sample_make(const qn_op *op, qn_i64 n, qn_op_sample *out, qn_err *err)
{
    const qn_kernel_info *kernel = qn_op_kernel(op);
    qn_op_sample s = { .op = op, .kernel = kernel, .n = n < 1 ? 1 : n };

    if (!kernel || !kernel->module)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "op %s has no kernel", op->name);
    for (int i = 0; i < kernel->module->n_kernels; i++)
        if (kernel->module->kernels[i] == kernel)
            s.kernel_i = i;
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (!strcmp(makers[i].op, op->name)) {
            makers[i].make(&s);
            *out = s;
            return QN_OK;
        }
    if (!is_plain_map(op, kernel))
        return qn_fail(err, QN_ERR_UNSUPPORTED, "op %s is a step of others and not measured alone",
                       op->name);
    make_points(&s);
    *out = s;
    return QN_OK;
}

void qn_op_sample_fill(const qn_op_sample *s, int arg, void *data)
{
    const char *name = s->kernel->args[arg].name;
    i64 *table = data;

    if (!strcmp(name, "from") || (!strcmp(name, "start") && s->op->cost == qn_cost_chunks)) {
        table[1] = s->n;
    } else if (!strcmp(name, "start") && s->op->cost == qn_cost_messages) {
        for (qn_i64 i = 0; i <= s->n; i++)
            table[i] = i * MESSAGE_BYTES;
    } else if (!strcmp(name, "start")) {
        const i64 from[2] = { 0, s->n };

        merkle_layout(from, 1, 1, MERKLE_LEVELS, table);
    }
}

double qn_op_sample_items(const qn_op_sample *s)
{
    const double points = (double)(s->range.x1 - s->range.x0) *
                          (double)(s->range.y1 - s->range.y0) * (double)(s->range.z1 - s->range.z0);

    return points * (s->kernel->lanes > 1 ? s->kernel->lanes : 1);
}

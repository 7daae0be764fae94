/* samples.c - ops of tasks with made-up data, for `quern calibrate` and the router. */
#include "samples.h"

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

static void make_chain(qn_op_sample *s)
{
    const chain_par par = { .n = s->n,
                            .n_steps = 4,
                            .code = { QN_CHAIN_MUL, QN_CHAIN_ADD, QN_CHAIN_ABS, QN_CHAIN_SQRT },
                            .k = { 2, 1 } };

    qn_op_sample_set(s, 0, &par, sizeof par);
    s->bytes[1] = s->bytes[2] = (size_t)s->n * 4;
    s->range = qn_range_1d(groups(s->n, CHAIN_CHUNK));
}

static void make_matmul(qn_op_sample *s)
{
    const i32 side = (i32)lround(sqrt((double)s->n));
    const matmul_par par = { .rows = side, .cols = side, .depth = side };

    s->n = (qn_i64)side * side;
    qn_op_sample_set(s, 0, &par, sizeof par);
    s->bytes[1] = s->bytes[2] = s->bytes[3] = (size_t)s->n * 4;
    s->range = qn_range_2d(groups(side, MATMUL_TILE_COLS), groups(side, MATMUL_TILE_ROWS));
}

/* VAL pitch, IN start, IN x [, IN y], OUT part */
static void make_reduce(qn_op_sample *s)
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
static void make_messages(qn_op_sample *s)
{
    qn_op_sample_set_int(s, 0, s->n);
    qn_op_sample_set_int(s, 1, s->n * (MESSAGE_BYTES / 4));
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

    qn_op_sample_set_int(s, 0, 1);
    s->bytes[1] = sizeof from;
    s->bytes[2] = sizeof start;
    s->bytes[3] = (size_t)s->n * 32;
    s->bytes[4] = (size_t)merkle_layout(from, 1, 1, MERKLE_LEVELS, start) * 32;
    s->range = qn_range_1d(groups(groups(s->n, 2), MERKLE_LANES));
}

/* VAL n, IN x, OUT y, OUT part */
static void make_scan(qn_op_sample *s)
{
    qn_op_sample_set_int(s, 0, s->n);
    s->bytes[1] = s->bytes[2] = (size_t)s->n * 4;
    s->bytes[3] = (size_t)groups(s->n, SCAN_CHUNK) * 4;
    s->range = qn_range_1d(groups(s->n, SCAN_CHUNK));
}

/* Contents. */

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

const qn_op_sampler qn_task_samplers[] = {
    { "chain", make_chain, NULL },
    { "dot_part", make_reduce, fill_reduce },
    { "keccak256", make_messages, fill_messages },
    { "matmul", make_matmul, NULL },
    { "max_part", make_reduce, fill_reduce },
    { "merkle_first", make_merkle, fill_merkle },
    { "scan_part", make_scan, NULL },
    { "sha256", make_messages, fill_messages },
    { "sum_part", make_reduce, fill_reduce },
    { NULL, NULL, NULL },
};

/* cases.c - every op of the registry in a small graph. */
#include "lab/selftest/selftest_impl.h"

#include "kernel/keccak.gen.h"
#include "kernel/matmul.gen.h"
#include "kernel/merkle.gen.h"
#include "kernel/merkle.h"
#include "kernel/merkle_rfc.gen.h"
#include "kernel/reduce.gen.h"
#include "kernel/scan.gen.h"
#include "kernel/sha256.gen.h"
#include "kernel/vector.gen.h"
#include "util/hash.h"

#include <string.h>

enum { SEED = 1, HASH_LANES = 64, MAX_ITEMS = 20011 };

/* Passes on the reason why the fixture could not make a buffer. */
static qn_status in(const qn_fixture *fixture, const qn_buf *buf, qn_err *err)
{
    return buf ? QN_OK : qn_fail(err, fixture->err.status, "%s", fixture->err.text);
}

static qn_i64 ceil_div(qn_i64 n, qn_i64 by)
{
    return (n + by - 1) / by;
}

/* The result: `n` elements of `type`, `size` bytes each. */
static qn_status result(qn_fixture *fixture, const char *type, qn_i64 n, size_t size, qn_err *err)
{
    fixture->type = type;
    return qn_fixture_out(fixture, (size_t)n * size, err);
}

/* Vectors. */

static qn_status build_vadd(qn_fixture *fixture, const qn_case *c, qn_err *err)
{
    qn_buf *x = qn_fixture_floats(fixture, c->n, SEED),
           *y = qn_fixture_floats(fixture, c->n, SEED + 1);
    qn_status st = QN_OK;

    QN_TRY(in(fixture, x && y ? x : NULL, err));
    QN_TRY(result(fixture, "float", c->n, 4, err));
    QN_TRY(stage_vadd(fixture->graph, c->name, qn_range_1d(c->n), x, y, fixture->out, err));
out:
    return st;
}

static qn_status build_saxpy(qn_fixture *fixture, const qn_case *c, qn_err *err)
{
    qn_buf *x = qn_fixture_floats(fixture, c->n, SEED);
    qn_status st = QN_OK;

    fixture->out = qn_fixture_floats(fixture, c->n, SEED + 1);
    fixture->type = "float";
    QN_TRY(in(fixture, x && fixture->out ? x : NULL, err));
    QN_TRY(stage_saxpy(fixture->graph, c->name, qn_range_1d(c->n), 1.7f, x, fixture->out, err));
out:
    return st;
}

static qn_status build_map(qn_fixture *fixture, const qn_case *c, qn_err *err)
{
    const qn_kernel_info *kernel = qn_op_kernel(qn_op_find(c->ops));
    qn_buf *x = qn_fixture_floats(fixture, c->n, SEED);
    const float k = 0.37f;
    qn_status st = QN_OK;

    QN_TRY(in(fixture, x, err));
    QN_TRY(result(fixture, "float", c->n, 4, err));
    const qn_arg args[] = { qn_arg_val(&k, sizeof k), qn_arg_buf(x), qn_arg_buf(fixture->out) };
    const int skip = 3 - kernel->n_args; /* some have no constant */
    QN_TRY(qn_graph_stage(fixture->graph, c->name, kernel, qn_range_1d(c->n), args + skip, err));
out:
    return st;
}

/* All steps except those whose bits differ between devices. */
static qn_status build_chain(qn_fixture *fixture, const qn_case *c, qn_err *err)
{
    chain_par p = { .n = c->n, .n_steps = QN_CHAIN_EXP };
    qn_buf *x = qn_fixture_floats(fixture, c->n, SEED);
    qn_status st = QN_OK;

    for (int i = 0; i < p.n_steps; i++) {
        p.code[i] = i;
        p.k[i] = 1.25f;
    }
    QN_TRY(in(fixture, x, err));
    QN_TRY(result(fixture, "float", c->n, 4, err));
    QN_TRY(stage_chain(fixture->graph, c->name, qn_range_1d(ceil_div(c->n, CHAIN_CHUNK)), p, x,
                       fixture->out, err));
out:
    return st;
}

static qn_status build_sort(qn_fixture *fixture, const qn_case *c, qn_err *err)
{
    qn_buf *x = qn_fixture_floats(fixture, c->n, SEED);
    qn_status st = QN_OK;

    QN_TRY(in(fixture, x, err));
    QN_TRY(result(fixture, "float", c->n, 4, err));
    const qn_arg args[] = { qn_arg_val(&c->n, sizeof c->n), qn_arg_buf(x),
                            qn_arg_buf(fixture->out) };
    QN_TRY(qn_graph_op(fixture->graph, c->name, "sort", qn_range_1d(1), args, 3, err));
out:
    return st;
}

/* Reductions. */

static qn_status build_reduce(qn_fixture *fixture, const qn_case *c, qn_err *err)
{
    const qn_i64 start[] = { 0, c->n };
    const int32_t pitch = (int32_t)ceil_div(c->n, REDUCE_CHUNK);
    const qn_range chunks = qn_range_2d(pitch, 1), one = qn_range_1d(1);
    qn_buf *table = qn_fixture_copy(fixture, start, sizeof start);
    qn_buf *x = qn_fixture_floats(fixture, c->n, SEED),
           *y = qn_fixture_floats(fixture, c->n, SEED + 1);
    qn_buf *part = qn_fixture_new(fixture, (size_t)pitch * sizeof(float));
    qn_graph *g = fixture->graph;
    qn_status st = QN_OK;

    QN_TRY(in(fixture, table && x && y ? part : NULL, err));
    QN_TRY(result(fixture, "float", 1, 4, err));
    if (!strcmp(c->name, "dot"))
        QN_TRY(stage_dot_part(g, "dot", chunks, pitch, table, x, y, part, err));
    else if (!strcmp(c->name, "max"))
        QN_TRY(stage_max_part(g, "max", chunks, pitch, table, x, part, err));
    else
        QN_TRY(stage_sum_part(g, "sum", chunks, pitch, table, x, part, err));
    if (!strcmp(c->name, "max"))
        QN_TRY(stage_max_join(g, "join", one, pitch, table, part, fixture->out, err));
    else
        QN_TRY(stage_sum_join(g, "join", one, pitch, table, part, fixture->out, err));
out:
    return st;
}

static qn_status build_scan(qn_fixture *fixture, const qn_case *c, qn_err *err)
{
    const qn_i64 chunks = ceil_div(c->n, SCAN_CHUNK);
    int32_t values[MAX_ITEMS];
    qn_buf *part = qn_fixture_new(fixture, (size_t)chunks * 4), *total = qn_fixture_new(fixture, 4);
    qn_graph *g = fixture->graph;
    qn_buf *x;
    qn_status st = QN_OK;

    for (qn_i64 i = 0; i < c->n; i++)
        values[i] = qn_random_byte(SEED, (uint64_t)i) - 100;
    x = qn_fixture_copy(fixture, values, (size_t)c->n * sizeof *values);
    QN_TRY(in(fixture, x && part ? total : NULL, err));
    QN_TRY(result(fixture, "i32", c->n, 4, err));
    QN_TRY(stage_scan_part(g, "part", qn_range_1d(chunks), c->n, x, fixture->out, part, err));
    QN_TRY(stage_scan_join(g, "join", qn_range_1d(1), (int32_t)chunks, part, total, err));
    QN_TRY(stage_scan_add(g, "add", qn_range_1d(c->n), part, fixture->out, err));
out:
    return st;
}

/* Half of the items meet in cell 0, the others are spread out. */
static qn_status build_segments(qn_fixture *fixture, const qn_case *c, qn_err *err)
{
    enum { CELLS = 500 };
    int32_t target[MAX_ITEMS];
    qn_buf *value = qn_fixture_floats(fixture, c->n, SEED);
    qn_status st = QN_OK;

    for (qn_i64 i = 0; i < c->n; i++)
        target[i] = i & 1 ? 0 : (int32_t)(qn_random_u64(SEED + 2, (uint64_t)i) % CELLS);
    QN_TRY(in(fixture, value, err));
    QN_TRY(result(fixture, "float", CELLS, 4, err));
    QN_TRY(qn_segments_new(fixture->ctx, "segments", target, c->n, CELLS, &fixture->segments, err));
    QN_TRY(
        qn_segments_sum(fixture->segments, fixture->graph, "segments", value, fixture->out, err));
out:
    return st;
}

/* Matrices, hashes. */

static qn_status build_matmul(qn_fixture *fixture, const qn_case *c, qn_err *err)
{
    const qn_i64 size = c->n * c->n;
    const i32 n = (i32)c->n;
    const matmul_par p = { size, size, size, n, n, n, 0 };
    qn_buf *a = qn_fixture_floats(fixture, size, SEED),
           *b = qn_fixture_floats(fixture, size, SEED + 1);
    const qn_range tiles =
        qn_range_3d(ceil_div(n, MATMUL_TILE_COLS), ceil_div(n, MATMUL_TILE_ROWS), 1);
    qn_status st = QN_OK;

    QN_TRY(in(fixture, a ? b : NULL, err));
    QN_TRY(result(fixture, "float", size, 4, err));
    QN_TRY(stage_matmul(fixture->graph, c->name, tiles, p, a, b, fixture->out, err));
out:
    return st;
}

qn_status qn_build_hash(qn_fixture *fixture, const char *op, const void *messages,
                        const qn_i64 *start, qn_i64 n, qn_err *err)
{
    const qn_i64 words = start[n] / 4 + 1;
    const qn_range groups = qn_range_1d(ceil_div(n, HASH_LANES));
    qn_buf *table = qn_fixture_copy(fixture, start, (size_t)(n + 1) * sizeof *start);
    qn_buf *data = qn_fixture_new(fixture, (size_t)words * 4);
    qn_status st = QN_OK;

    QN_TRY(in(fixture, table ? data : NULL, err));
    QN_TRY(qn_buf_write(data, 0, messages, (size_t)start[n], err));
    QN_TRY(result(fixture, "u32", 8 * n, 4, err));
    if (!strcmp(op, "sha256"))
        QN_TRY(stage_sha256(fixture->graph, op, groups, n, words, table, data, fixture->out, err));
    else
        QN_TRY(
            stage_keccak256(fixture->graph, op, groups, n, words, table, data, fixture->out, err));
out:
    return st;
}

/* Messages of 0, 1, 2, ... bytes: every alignment and every way of padding. */
static qn_status build_messages(qn_fixture *fixture, const qn_case *c, qn_err *err)
{
    enum { MOST = 300 };
    qn_i64 start[MOST + 1] = { 0 };
    uint8_t bytes[MOST * (MOST - 1) / 2];

    for (qn_i64 i = 0; i < c->n; i++)
        start[i + 1] = start[i] + i;
    for (qn_i64 i = 0; i < start[c->n]; i++)
        bytes[i] = qn_random_byte(SEED, (uint64_t)i);
    return qn_build_hash(fixture, c->name, bytes, start, c->n, err);
}

static qn_status add_levels(qn_fixture *fixture, qn_i64 n, int is_rfc, qn_buf *from, qn_buf *start,
                            qn_buf *leaf, qn_buf *tree, qn_err *err)
{
    qn_graph *g = fixture->graph;
    qn_i64 nodes = is_rfc ? n : ceil_div(n, 2);
    i32 level = is_rfc ? 0 : 1;
    qn_status st = QN_OK;

    if (is_rfc)
        QN_TRY(stage_merkle_leaf_rfc(g, "leaves", qn_range_2d(ceil_div(nodes, MERKLE_LANES), 1),
                                     from, start, leaf, tree, err));
    else
        QN_TRY(stage_merkle_first(g, "leaves", qn_range_2d(ceil_div(nodes, MERKLE_LANES), 1), 1,
                                  from, start, leaf, tree, err));
    for (; nodes > MERKLE_TOP; level++) {
        const qn_range groups = qn_range_2d(ceil_div(ceil_div(nodes, 2), MERKLE_LANES), 1);

        QN_TRY(is_rfc ? stage_merkle_level_rfc(g, "level", groups, level, 1, from, start, tree, err)
                      : stage_merkle_level(g, "level", groups, level, 1, from, start, tree, err));
        nodes = ceil_div(nodes, 2);
    }
    QN_TRY(is_rfc ? stage_merkle_top_rfc(g, "top", qn_range_1d(1), level, 1, from, start, tree,
                                         fixture->out, err)
                  : stage_merkle_top(g, "top", qn_range_1d(1), level, 1, from, start, tree,
                                     fixture->out, err));
out:
    return st;
}

qn_status qn_build_merkle(qn_fixture *fixture, qn_i64 n_leaves, uint64_t seed, int is_rfc,
                          qn_err *err)
{
    enum { MAX_LEVELS = 48 };
    const i64 from[] = { 0, n_leaves };
    i64 start[MAX_LEVELS];
    i32 n_levels = 2;
    qn_status st = QN_OK;

    while (ceil_div(n_leaves, (qn_i64)1 << (n_levels - 1)) > 1)
        n_levels++;
    const i64 nodes = merkle_layout(from, 1, is_rfc ? 0 : 1, n_levels, start);
    qn_buf *from_buf = qn_fixture_copy(fixture, from, sizeof from);
    qn_buf *start_buf = qn_fixture_copy(fixture, start, (size_t)n_levels * sizeof *start);
    qn_buf *leaf = qn_fixture_bytes(fixture, 32 * n_leaves, seed);
    qn_buf *tree = qn_fixture_new(fixture, (size_t)nodes * 32);

    QN_TRY(in(fixture, from_buf && start_buf && leaf ? tree : NULL, err));
    QN_TRY(result(fixture, "u32", 8, 4, err));
    QN_TRY(add_levels(fixture, n_leaves, is_rfc, from_buf, start_buf, leaf, tree, err));
out:
    return st;
}

static qn_status build_tree(qn_fixture *fixture, const qn_case *c, qn_err *err)
{
    return qn_build_merkle(fixture, c->n, SEED, c->arg != NULL, err);
}

/* The table. */

const qn_case qn_cases[] = {
    { "vadd", "vadd", build_vadd, 10007, NULL },
    { "saxpy", "saxpy", build_saxpy, 10007, NULL },
    { "chain", "chain", build_chain, 5000, NULL },
    { "sort", "sort", build_sort, 3000, NULL },
    { "sum", "sum_part,sum_join", build_reduce, 30011, NULL },
    { "dot", "dot_part,sum_join", build_reduce, 30011, NULL },
    { "max", "max_part,max_join", build_reduce, 30011, NULL },
    { "scan", "scan_part,scan_join,scan_add", build_scan, MAX_ITEMS, NULL },
    { "segments", "segment_short,segment_part,segment_join", build_segments, MAX_ITEMS, NULL },
    { "matmul", "matmul", build_matmul, 67, NULL },
    { "sha256", "sha256", build_messages, 300, NULL },
    { "keccak256", "keccak256", build_messages, 300, NULL },
    { "merkle", "merkle_first,merkle_level,merkle_top", build_tree, 2051, NULL },
    { "merkle rfc6962", "merkle_leaf_rfc,merkle_level_rfc,merkle_top_rfc", build_tree, 2051,
      "rfc6962" },
    { NULL, NULL, NULL, 0, NULL },
};

qn_case qn_case_of_map(const qn_op *op)
{
    return (qn_case){ op->name, op->name, build_map, 3001, NULL };
}

qn_status qn_case_run(qn_fixture *fixture, const char *device, const qn_case *c, void *data,
                      qn_err *err)
{
    const qn_status st = c->build(fixture, c, err);

    return st == QN_OK ? qn_fixture_run(fixture, device, data, err) : st;
}

/* trees.c - launches the kernels of merkle.c and merkle_rfc.c for a set of trees.
 *
 * One launch per level of the largest tree computes that level of all trees, until the rest of the
 * largest fits into the local memory of one group. Then one group per tree computes the root.
 */
#include "trees.h"

#include "engine/engine.h"
#include "kernel/merkle.gen.h"
#include "kernel/merkle.h"
#include "kernel/merkle_rfc.gen.h"
#include "util/hash.h"
#include "util/list.h"

#include <stdlib.h>
#include <string.h>

enum { NODE = QN_MERKLE_NODE, MAX_LEVELS = QN_MERKLE_MAX_PATH };

qn_i64 qn_trees_nodes(const qn_trees *trees, int t, int level)
{
    const qn_i64 leaves = trees->from[t + 1] - trees->from[t];

    return (leaves + ((qn_i64)1 << level) - 1) >> level;
}

/* The level of the root. */
static int top_of(const qn_trees *trees, int t)
{
    int level = trees->first_level;

    while (qn_trees_nodes(trees, t, level) > 1)
        level++;
    return level;
}

/* Arrays. */

static qn_status check(const qn_i64 *from, int n_trees, qn_err *err)
{
    const qn_i64 limit = (qn_i64)1 << (MAX_LEVELS - 2);

    if (n_trees < 1 || from[0])
        return qn_fail(err, QN_ERR_USAGE,
                       "merkle: %d trees from leaf %lld on; must be at least 1, from 0 on", n_trees,
                       n_trees < 1 ? 0LL : (long long)from[0]);
    for (int t = 0; t < n_trees; t++)
        if (from[t + 1] <= from[t])
            return qn_fail(err, QN_ERR_USAGE, "merkle: tree %d has no leaves", t);
    if (from[n_trees] > limit)
        return qn_fail(err, QN_ERR_LIMIT, "merkle: %lld leaves exceed the limit %lld",
                       (long long)from[n_trees], (long long)limit);
    return QN_OK;
}

static qn_status lay_out(qn_trees *trees, const qn_i64 *from, int n_trees, qn_err *err)
{
    const size_t count = (size_t)n_trees;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(trees->from, count + 1, "trees", err));
    memcpy(trees->from, from, (count + 1) * sizeof *from);
    trees->n_trees = n_trees;
    trees->n_leaves = from[n_trees];
    trees->first_level = trees->rule == QN_MERKLE_PLAIN;
    for (int t = 0; t < n_trees; t++) {
        const int top = top_of(trees, t);

        trees->n_levels = top + 1 > trees->n_levels ? top + 1 : trees->n_levels;
        if (from[t + 1] - from[t] > trees->largest)
            trees->largest = from[t + 1] - from[t];
    }
    QN_TRY(QN_NEW(trees->start, (size_t)trees->n_levels * count, "trees", err));
    trees->n_nodes =
        merkle_layout(trees->from, n_trees, trees->first_level, trees->n_levels, trees->start);
out:
    return st;
}

static qn_status make_arrays(qn_trees *trees, qn_err *err)
{
    const size_t count = (size_t)trees->n_trees;
    const size_t from = (count + 1) * sizeof *trees->from;
    const size_t start = (size_t)trees->n_levels * count * sizeof *trees->start;
    qn_ctx *ctx = trees->ctx;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_new(ctx, "merkle.from", from, &trees->from_buf, err));
    QN_TRY(qn_buf_new(ctx, "merkle.start", start, &trees->start_buf, err));
    QN_TRY(qn_buf_new(ctx, "merkle.leaf", (size_t)trees->n_leaves * NODE, &trees->leaf, err));
    QN_TRY(qn_buf_new(ctx, "merkle.tree", (size_t)trees->n_nodes * NODE, &trees->tree, err));
    QN_TRY(qn_buf_new(ctx, "merkle.root", count * NODE, &trees->root, err));
    QN_TRY(qn_buf_write(trees->from_buf, 0, trees->from, from, err));
    QN_TRY(qn_buf_write(trees->start_buf, 0, trees->start, start, err));
out:
    return st;
}

qn_status qn_trees_new(qn_ctx *ctx, qn_merkle_rule rule, const qn_i64 *from, int n_trees,
                       qn_trees **out, qn_err *err)
{
    qn_trees *trees = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(trees, 1, "trees", err));
    trees->ctx = ctx;
    trees->rule = rule;
    QN_TRY(check(from, n_trees, err));
    QN_TRY(lay_out(trees, from, n_trees, err));
    QN_TRY(make_arrays(trees, err));
    *out = trees;
    trees = NULL;
out:
    qn_trees_free(trees);
    return st;
}

void qn_trees_free(qn_trees *trees)
{
    if (!trees)
        return;
    qn_buf_free(trees->from_buf);
    qn_buf_free(trees->start_buf);
    qn_buf_free(trees->leaf);
    qn_buf_free(trees->tree);
    qn_buf_free(trees->root);
    free(trees->from);
    free(trees->start);
    free(trees);
}

qn_status qn_trees_touch(qn_trees *trees, qn_err *err)
{
    void *ignored;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_host(trees->from_buf, QN_HOST_DISCARD, &ignored, err));
    QN_TRY(qn_buf_host(trees->start_buf, QN_HOST_DISCARD, &ignored, err));
out:
    return st;
}

/* Stages. */

static qn_range over(const qn_trees *trees, qn_i64 nodes)
{
    return qn_range_2d((nodes + MERKLE_LANES - 1) / MERKLE_LANES, trees->n_trees);
}

qn_status qn_trees_build(qn_trees *trees, qn_graph *graph, const char *name, qn_err *err)
{
    const int is_plain = trees->rule == QN_MERKLE_PLAIN;
    const qn_range each = qn_range_1d(trees->n_trees);
    const i32 n = trees->n_trees;
    i32 level = trees->first_level;
    qn_i64 nodes = is_plain ? (trees->largest + 1) / 2 : trees->largest;
    qn_status st = QN_OK;

    QN_TRY(is_plain ? stage_merkle_first(graph, name, over(trees, nodes), n, trees->from_buf,
                                         trees->start_buf, trees->leaf, trees->tree, err)
                    : stage_merkle_leaf_rfc(graph, name, over(trees, nodes), trees->from_buf,
                                            trees->start_buf, trees->leaf, trees->tree, err));
    for (; nodes > MERKLE_TOP; level++) {
        nodes = (nodes + 1) / 2;
        QN_TRY(is_plain
                   ? stage_merkle_level(graph, name, over(trees, nodes), level, n, trees->from_buf,
                                        trees->start_buf, trees->tree, err)
                   : stage_merkle_level_rfc(graph, name, over(trees, nodes), level, n,
                                            trees->from_buf, trees->start_buf, trees->tree, err));
    }
    QN_TRY(is_plain ? stage_merkle_top(graph, name, each, level, n, trees->from_buf,
                                       trees->start_buf, trees->tree, trees->root, err)
                    : stage_merkle_top_rfc(graph, name, each, level, n, trees->from_buf,
                                           trees->start_buf, trees->tree, trees->root, err));
    QN_TRY(qn_graph_output(graph, trees->root, err));
out:
    return st;
}

/* On the host. */

void qn_tree_leaf(qn_merkle_rule rule, const uint8_t *leaf, uint8_t out[NODE])
{
    uint8_t prefixed[1 + NODE] = { 0 };

    memcpy(prefixed + 1, leaf, NODE);
    if (rule == QN_MERKLE_PLAIN)
        memcpy(out, leaf, NODE);
    else
        qn_sha256_of(prefixed, sizeof prefixed, out);
}

void qn_tree_parent(qn_merkle_rule rule, const uint8_t *left, const uint8_t *right,
                    uint8_t out[NODE])
{
    uint8_t pair[1 + 2 * NODE] = { 1 };

    memcpy(pair + 1, left, NODE);
    memcpy(pair + 1 + NODE, right ? right : left, NODE);
    if (rule == QN_MERKLE_PLAIN)
        qn_sha256_of(pair + 1, 2 * NODE, out);
    else if (right)
        qn_sha256_of(pair, sizeof pair, out);
    else
        memmove(out, left, NODE);
}

void qn_tree_climb(qn_merkle_rule rule, uint8_t *nodes, qn_i64 n)
{
    for (; n > 1; n = (n + 1) / 2)
        for (qn_i64 i = 0; i < (n + 1) / 2; i++)
            qn_tree_parent(rule, nodes + 2 * i * NODE,
                           2 * i + 1 < n ? nodes + (2 * i + 1) * NODE : NULL, nodes + i * NODE);
}

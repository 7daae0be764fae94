/* merkle.c - the public calls for trees: roots, and proofs that download only the nodes they
 * need. */
#include <quern/tasks.h>

#include "engine/engine.h"
#include "trees.h"
#include "util/list.h"

#include <stdlib.h>
#include <string.h>

enum { NODE = QN_MERKLE_NODE };

struct qn_merkle {
    qn_trees *trees;
    qn_graph *graph;
};

qn_status qn_merkle_new(qn_ctx *ctx, qn_merkle_rule rule, const qn_i64 *from, int n_trees,
                        qn_merkle **out, qn_err *err)
{
    qn_merkle *merkle = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(merkle, 1, "trees", err));
    QN_TRY(qn_trees_new(ctx, rule, from, n_trees, &merkle->trees, err));
    QN_TRY(qn_graph_new(ctx, "merkle", &merkle->graph, err));
    QN_TRY(qn_trees_build(merkle->trees, merkle->graph, "merkle", err));
    *out = merkle;
    merkle = NULL;
out:
    qn_merkle_free(merkle);
    return st;
}

void qn_merkle_free(qn_merkle *merkle)
{
    if (!merkle)
        return;
    qn_graph_free(merkle->graph);
    qn_trees_free(merkle->trees);
    free(merkle);
}

qn_status qn_merkle_leaves(qn_merkle *merkle, void **out, qn_err *err)
{
    return qn_buf_host(merkle->trees->leaf, QN_HOST_DISCARD, out, err);
}

qn_status qn_merkle_run(qn_merkle *merkle, qn_err *err)
{
    const qn_status st = qn_graph_run(merkle->graph, err);

    return st == QN_OK ? qn_graph_wait(merkle->graph, err) : st;
}

static qn_status check_tree(const qn_merkle *merkle, int tree, qn_err *err)
{
    const qn_trees *trees = merkle->trees;

    if (tree >= 0 && tree < trees->n_trees)
        return QN_OK;
    return qn_fail(err, QN_ERR_USAGE, "merkle: no tree %d, there are %d", tree, trees->n_trees);
}

qn_status qn_merkle_root(qn_merkle *merkle, int tree, uint8_t out[NODE], qn_err *err)
{
    const qn_status st = check_tree(merkle, tree, err);

    if (st != QN_OK)
        return st;
    return qn_buf_read(merkle->trees->root, (size_t)tree * NODE, out, NODE, err);
}

/* Proofs. */

static qn_status read_node(const qn_trees *trees, int tree, int level, qn_i64 i, uint8_t *out,
                           qn_err *err)
{
    qn_i64 at;

    if (level < trees->first_level)
        return qn_buf_read(trees->leaf, (size_t)(trees->from[tree] + i) * NODE, out, NODE, err);
    at = trees->start[(qn_i64)level * trees->n_trees + tree] + i;
    return qn_buf_read(trees->tree, (size_t)at * NODE, out, NODE, err);
}

/* The sibling of node i among n, or -1 if the node moves up unchanged. */
static qn_i64 neighbour(qn_merkle_rule rule, qn_i64 i, qn_i64 n)
{
    if ((i ^ 1) < n)
        return i ^ 1;
    return rule == QN_MERKLE_PLAIN ? i : -1;
}

qn_status qn_merkle_proof(qn_merkle *merkle, int tree, qn_i64 leaf,
                          uint8_t path[QN_MERKLE_MAX_PATH][NODE], int *n_path, qn_err *err)
{
    const qn_trees *trees = merkle->trees;
    qn_status st = check_tree(merkle, tree, err);
    qn_i64 i = leaf;
    int n = 0;

    if (st != QN_OK)
        return st;
    if (leaf < 0 || leaf >= qn_trees_nodes(trees, tree, 0))
        return qn_fail(err, QN_ERR_USAGE, "merkle: no leaf %lld, the tree has %lld",
                       (long long)leaf, (long long)qn_trees_nodes(trees, tree, 0));
    for (int level = 0; qn_trees_nodes(trees, tree, level) > 1; level++, i /= 2) {
        const qn_i64 other = neighbour(trees->rule, i, qn_trees_nodes(trees, tree, level));

        if (other < 0)
            continue;
        if ((st = read_node(trees, tree, level, other, path[n], err)) != QN_OK)
            return st;
        n++;
    }
    *n_path = n;
    return QN_OK;
}

int qn_merkle_check(qn_merkle_rule rule, const uint8_t leaf[NODE], qn_i64 i, qn_i64 n,
                    const uint8_t (*path)[NODE], int n_path, const uint8_t root[NODE])
{
    uint8_t node[NODE];
    int used = 0;

    if (i < 0 || i >= n)
        return 0;
    qn_tree_leaf(rule, leaf, node);
    for (; n > 1; i /= 2, n = (n + 1) / 2) {
        if (neighbour(rule, i, n) < 0)
            continue;
        if (used == n_path)
            return 0;
        if (i & 1)
            qn_tree_parent(rule, path[used], node, node);
        else
            qn_tree_parent(rule, node, path[used], node);
        used++;
    }
    return used == n_path && !memcmp(node, root, NODE);
}

/* trees.h - arrays and stages of Merkle trees, for the op and for the public calls. */
#ifndef QN_TASKS_TREES_H
#define QN_TASKS_TREES_H

#include <quern/graph.h>
#include <quern/tasks.h>

#include "kernel/types.h"
#include "util/status.h"

typedef struct qn_trees {
    qn_ctx *ctx;
    qn_merkle_rule rule;
    int n_trees, first_level, n_levels;
    qn_i64 n_leaves, largest; /* leaves of all trees; of the largest tree */
    i64 *from, *start;        /* as described in kernel/merkle.h */
    qn_i64 n_nodes;           /* of `tree` */
    qn_buf *from_buf, *start_buf, *leaf, *tree, *root;
} qn_trees;

/* Makes arrays for trees over the leaves [from[t], from[t + 1]), which begin at 0. */
qn_status qn_trees_new(qn_ctx *ctx, qn_merkle_rule rule, const qn_i64 *from, int n_trees,
                       qn_trees **out, qn_err *err);
void qn_trees_free(qn_trees *trees); /* NULL is fine */

/* Adds the stages, all with that name; the roots are an output. */
qn_status qn_trees_build(qn_trees *trees, qn_graph *graph, const char *name, qn_err *err);

/* Marks all inputs except the leaves as changed. */
qn_status qn_trees_touch(qn_trees *trees, qn_err *err);

qn_i64 qn_trees_nodes(const qn_trees *trees, int t, int level);

/* Trees on the host. */

/* The node of a leaf; the parent of two nodes, where `right` is NULL for a node without a
 * sibling. */
void qn_tree_leaf(qn_merkle_rule rule, const uint8_t *leaf, uint8_t out[QN_MERKLE_NODE]);
void qn_tree_parent(qn_merkle_rule rule, const uint8_t *left, const uint8_t *right,
                    uint8_t out[QN_MERKLE_NODE]);

/* Replaces n nodes of one level by the node above them all, stored in the first. */
void qn_tree_climb(qn_merkle_rule rule, uint8_t *nodes, qn_i64 n);

#endif

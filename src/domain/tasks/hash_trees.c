/* hash_trees.c - trees that are never in memory as a whole.
 *
 * Leaves wait until there are enough files for one launch over all their trees. In a file with more
 * than fold_leaves leaves, each full subtree is replaced by its top node. These subtrees are
 * complete under both rules, because their number of leaves is a power of two; only the last one
 * may be incomplete, and its root is raised to the level of the others.
 */
#include "domain/tasks/hash_files.h"

#include "trees.h"

#include "engine/engine.h"
#include "util/list.h"

#include <stdlib.h>
#include <string.h>

enum { NODE = QN_MERKLE_NODE, FOLD_LEAVES = 1 << 20, MAX_WAITING = 4096 };

typedef struct {
    uint8_t (*nodes)[NODE];
    qn_i64 n;
    size_t cap;
} node_list;

/* A file with all its leaves. */
typedef struct {
    int file;
    qn_i64 leaves;  /* waiting leaves, after those of earlier files */
    node_list tops; /* of its full subtrees */
} waiting_file;

struct qn_hash_trees {
    qn_ctx *ctx;
    qn_merkle_rule rule;
    qn_i64 fold;
    const char *const *paths;
    qn_hash_fn fn;
    void *user;
    node_list leaves;     /* of all waiting files, then of the current one */
    qn_i64 ended;         /* leaves of the waiting files */
    waiting_file current; /* file -1: none */
    waiting_file waiting[MAX_WAITING];
    int n_waiting;
    qn_merkle *folder; /* one tree of `fold` leaves */
};

static qn_status push(node_list *list, const uint8_t *node, qn_err *err)
{
    const qn_status st = QN_GROW(list->nodes, list->n, &list->cap, "nodes of trees", err);

    if (st != QN_OK)
        return st;
    memcpy(list->nodes[list->n++], node, NODE);
    return QN_OK;
}

qn_status qn_hash_trees_new(qn_ctx *ctx, qn_merkle_rule rule, qn_i64 fold_leaves,
                            const char *const *paths, qn_hash_fn fn, void *user,
                            qn_hash_trees **out, qn_err *err)
{
    qn_hash_trees *trees;
    const qn_status st = QN_NEW(trees, 1, "trees", err);

    if (st != QN_OK)
        return st;
    *trees = (qn_hash_trees){ .ctx = ctx,
                              .rule = rule,
                              .paths = paths,
                              .fn = fn,
                              .user = user,
                              .fold = fold_leaves ? fold_leaves : FOLD_LEAVES,
                              .current = { .file = -1 } };
    *out = trees;
    return QN_OK;
}

void qn_hash_trees_free(qn_hash_trees *trees)
{
    if (!trees)
        return;
    for (int i = 0; i < trees->n_waiting; i++)
        free(trees->waiting[i].tops.nodes);
    free(trees->current.tops.nodes);
    free(trees->leaves.nodes);
    qn_merkle_free(trees->folder);
    free(trees);
}

/* Subtrees. */

/* Replaces the last `fold` leaves of the current file by one node. */
static qn_status fold_current(qn_hash_trees *trees, qn_err *err)
{
    const qn_i64 from[2] = { 0, trees->fold };
    uint8_t top[NODE];
    void *leaves;
    qn_status st = QN_OK;

    if (!trees->folder)
        QN_TRY(qn_merkle_new(trees->ctx, trees->rule, from, 1, &trees->folder, err));
    QN_TRY(qn_merkle_leaves(trees->folder, &leaves, err));
    memcpy(leaves, trees->leaves.nodes + trees->ended, (size_t)trees->fold * NODE);
    QN_TRY(qn_merkle_run(trees->folder, err));
    QN_TRY(qn_merkle_root(trees->folder, 0, top, err));
    QN_TRY(push(&trees->current.tops, top, err));
    trees->leaves.n = trees->ended;
    trees->current.leaves = 0;
out:
    return st;
}

/* Raises the root of a subtree with `leaves` leaves to the level of full subtrees. */
static void raise(const qn_hash_trees *trees, qn_i64 leaves, uint8_t *node)
{
    for (qn_i64 reach = 1; reach < trees->fold; reach *= 2)
        if (reach >= leaves)
            qn_tree_parent(trees->rule, node, NULL, node);
}

/* Roots. */

/* Computes the roots of the waiting leaves of each file in one launch; files without waiting leaves
 * are skipped. */
static qn_status make_roots(qn_hash_trees *trees, uint8_t (*roots)[NODE], qn_err *err)
{
    qn_i64 *from = NULL;
    qn_merkle *merkle = NULL;
    void *leaves;
    qn_status st = QN_OK;
    int n = 0;

    QN_TRY(QN_NEW(from, (size_t)trees->n_waiting + 1, "roots of trees", err));
    for (int i = 0; i < trees->n_waiting; i++)
        if (trees->waiting[i].leaves) {
            from[n + 1] = from[n] + trees->waiting[i].leaves;
            n++;
        }
    if (!n)
        goto out;
    QN_TRY(qn_merkle_new(trees->ctx, trees->rule, from, n, &merkle, err));
    QN_TRY(qn_merkle_leaves(merkle, &leaves, err));
    memcpy(leaves, trees->leaves.nodes, (size_t)trees->ended * NODE);
    QN_TRY(qn_merkle_run(merkle, err));
    for (int i = 0; i < n; i++)
        QN_TRY(qn_merkle_root(merkle, i, roots[i], err));
out:
    qn_merkle_free(merkle);
    free(from);
    return st;
}

static qn_status report_root(qn_hash_trees *trees, waiting_file *w, uint8_t *root, qn_err *err)
{
    qn_status st = QN_OK;

    if (!w->tops.n)
        return trees->fn(trees->user, trees->paths[w->file], root, err);
    if (w->leaves) {
        raise(trees, w->leaves, root);
        QN_TRY(push(&w->tops, root, err));
    }
    qn_tree_climb(trees->rule, w->tops.nodes[0], w->tops.n);
    QN_TRY(trees->fn(trees->user, trees->paths[w->file], w->tops.nodes[0], err));
out:
    return st;
}

static qn_status flush(qn_hash_trees *trees, qn_err *err)
{
    uint8_t(*roots)[NODE] = NULL;
    const qn_i64 left = trees->leaves.n - trees->ended;
    qn_status st = QN_OK;
    int n = 0;

    QN_TRY(QN_NEW(roots, trees->n_waiting + 1, "roots of trees", err));
    QN_TRY(make_roots(trees, roots, err));
    for (int i = 0; i < trees->n_waiting; i++) {
        QN_TRY(report_root(trees, &trees->waiting[i], roots[n], err));
        n += trees->waiting[i].leaves > 0;
    }
    for (int i = 0; i < trees->n_waiting; i++)
        free(trees->waiting[i].tops.nodes);
    trees->n_waiting = 0;
    memmove(trees->leaves.nodes, trees->leaves.nodes + trees->ended, (size_t)left * NODE);
    trees->leaves.n = left;
    trees->ended = 0;
out:
    free(roots);
    return st;
}

static qn_status end_current(qn_hash_trees *trees, qn_err *err)
{
    if (trees->current.file < 0)
        return QN_OK;
    trees->waiting[trees->n_waiting++] = trees->current;
    trees->ended += trees->current.leaves;
    trees->current = (waiting_file){ .file = -1 };
    return trees->n_waiting == MAX_WAITING || trees->ended >= trees->fold ? flush(trees, err)
                                                                          : QN_OK;
}

qn_status qn_hash_trees_add(qn_hash_trees *trees, int file, const uint8_t *leaf, qn_err *err)
{
    qn_status st = QN_OK;

    if (trees->current.file != file) {
        QN_TRY(end_current(trees, err));
        trees->current.file = file;
    }
    QN_TRY(push(&trees->leaves, leaf, err));
    if (++trees->current.leaves == trees->fold)
        QN_TRY(fold_current(trees, err));
out:
    return st;
}

qn_status qn_hash_trees_finish(qn_hash_trees *trees, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(end_current(trees, err));
    if (trees->n_waiting)
        QN_TRY(flush(trees, err));
out:
    return st;
}

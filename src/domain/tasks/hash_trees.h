/* hash_trees.h - leaves of many files to roots, in bounded memory. For hash_files.c. */
#ifndef QN_TASKS_HASH_TREES_H
#define QN_TASKS_HASH_TREES_H

#include "hash_files.h"

typedef struct qn_hash_trees qn_hash_trees;

qn_status qn_hash_trees_new(qn_ctx *ctx, qn_merkle_rule rule, qn_i64 fold_leaves,
                            const char *const *paths, qn_hash_fn fn, void *user,
                            qn_hash_trees **out, qn_err *err);
void qn_hash_trees_free(qn_hash_trees *trees);

/* The next leaf of file number `file`; a new number ends the file before it. */
qn_status qn_hash_trees_add(qn_hash_trees *trees, int file, const uint8_t *leaf, qn_err *err);

/* Ends the last file and reports all remaining roots. */
qn_status qn_hash_trees_finish(qn_hash_trees *trees, qn_err *err);

#endif

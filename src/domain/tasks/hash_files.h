/* hash_files.h - Merkle roots of files of any size.
 *
 * A file is cut into chunks, the last one shorter; the leaves of its tree are the SHA-256 of the
 * chunks. An empty file has one empty chunk. Memory does not grow with the files: chunks go through
 * a pipe, and full subtrees are reduced to their top node as soon as possible.
 */
#ifndef QN_TASKS_HASH_FILES_H
#define QN_TASKS_HASH_FILES_H

#include "util/status.h"

#include <quern/tasks.h>

enum { QN_HASH_CHUNK = 4096 };

typedef struct qn_hash_options {
    qn_i64 chunk_bytes; /* 0: QN_HASH_CHUNK */
    /* Initial size of a batch; 0: 16 MiB. Long runs on a device grow it to four times that, or
     * shrink it to a fourth. */
    qn_i64 batch_bytes;
    qn_i64 fold_leaves; /* leaves of a subtree, a power of two; 0: 2^20 */
    int depth;          /* of the pipe; 0: its default */
    qn_merkle_rule rule;
    const qn_split_options *split; /* how devices share the chunks, as in qn_tasks_options */
} qn_hash_options;

/* Called for every file, in order. */
typedef qn_status (*qn_hash_fn)(void *user, const char *path, const uint8_t root[QN_MERKLE_NODE],
                                qn_err *err);

/* "-" is standard input. A file that cannot be read is QN_ERR_INPUT. */
qn_status qn_hash_files(qn_ctx *ctx, const char *const *paths, int n_paths,
                        const qn_hash_options *options, qn_hash_fn fn, void *user, qn_err *err);

/* For hash_files.c: computes the roots of many files from their leaves, in bounded memory. */

typedef struct qn_hash_trees qn_hash_trees;

qn_status qn_hash_trees_new(qn_ctx *ctx, qn_merkle_rule rule, qn_i64 fold_leaves,
                            const char *const *paths, qn_hash_fn fn, void *user,
                            qn_hash_trees **out, qn_err *err);
void qn_hash_trees_free(qn_hash_trees *trees);

/* Adds the next leaf of file number `file`; a new number ends the previous file. */
qn_status qn_hash_trees_add(qn_hash_trees *trees, int file, const uint8_t *leaf, qn_err *err);

/* Ends the last file and reports all remaining roots. */
qn_status qn_hash_trees_finish(qn_hash_trees *trees, qn_err *err);

#endif

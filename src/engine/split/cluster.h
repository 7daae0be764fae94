/* cluster.h - the seam between who has chunks and who runs them.
 *
 * The devices of this process (split.c) take chunks from a source and report back to it.
 * The source of a batch that lies here is chunks.c. A source that asks another process, where the
 * list of items lies, has the same face; neither split.c nor its callers would know.
 */
#ifndef QN_ENGINE_CLUSTER_H
#define QN_ENGINE_CLUSTER_H

#include <quern/split.h>

/* Items [first, first + count). */
typedef struct qn_chunk {
    qn_i64 first, count;
} qn_chunk;

/* Workers are numbered from 0; in this process each is a device. */
typedef struct qn_chunk_source {
    void *state;
    /* The next chunk for the worker. 0: there is none for it now. */
    int (*take)(void *state, int worker, qn_chunk *out);
    /* Its results are delivered. */
    void (*finish)(void *state, int worker, qn_chunk chunk);
    /* It was not done; another worker gets it. */
    void (*give_back)(void *state, int worker, qn_chunk chunk);
    /* The worker takes no more. Its own block is open to all workers. */
    void (*leave)(void *state, int worker);
    /* Items that no worker has taken yet. */
    qn_i64 (*left)(void *state);
    /* Everything is delivered. */
    int (*is_over)(void *state);
} qn_chunk_source;

/* Lets the devices of `split` work until the source is over. */
qn_status qn_split_serve(qn_split *split, const qn_chunk_source *source, qn_err *err);

/* Chunks.c: a batch in this process. */

typedef struct qn_chunks qn_chunks;

/* Items 0 .. n_items - 1 in chunks of at most `chunk_items`. `blocks` (one count per worker, sum
 * n_items) gives each worker a block of its own, in order; NULL: one queue for all. At most
 * `in_flight` chunks are out at a time. */
qn_status qn_chunks_new(qn_i64 n_items, qn_i64 chunk_items, const qn_i64 *blocks, int n_workers,
                        int in_flight, qn_chunks **out, qn_err *err);
void qn_chunks_free(qn_chunks *chunks);

qn_chunk_source qn_chunks_source(qn_chunks *chunks);

#endif

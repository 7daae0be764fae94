/* pool.h - values and programs that stay on the device from batch to batch.
 *
 * The pool is the host's side: what lies where in one buffer, with a copy of its bytes. Content is
 * found by a hash and compared in full, so equal values are resident once. A batch takes what it
 * needs, uploads the ranges that are new, runs, and is released; what no batch holds may be
 * evicted, least recently used first.
 *
 * Input grids, expected outputs and programs always enter. A value shared between programs enters
 * once it was asked for more often than `hot_accesses`: most are needed once and would only evict
 * others.
 *
 * Calls come from one thread at a time. Batches are uploaded in the order in which they were
 * filled: a later one relies on what an earlier one brings.
 */
#ifndef QN_ARC_POOL_H
#define QN_ARC_POOL_H

#include "domain/arc/pool/places.h"

typedef struct qn_arc_pool qn_arc_pool;

typedef struct qn_arc_pool_options {
    size_t budget_bytes;   /* at most 2 GiB, which slots can address, are used */
    int hot_accesses;      /* 0: 2 */
    qn_arc_resize *resize; /* NULL: realloc and free */
} qn_arc_pool_options;

typedef enum qn_arc_use {
    QN_ARC_USE_ALWAYS, /* an input grid, an expected output, a program */
    QN_ARC_USE_SHARED  /* the value of a statement that several programs share */
} qn_arc_use;

typedef enum qn_arc_taken {
    QN_ARC_RESIDENT, /* the slot is pooled now, and stays valid until the batch is released */
    QN_ARC_COLD,     /* not hot yet; the slot is as it was */
    QN_ARC_FULL,     /* the batches hold everything: split this one */
    QN_ARC_TOO_LARGE /* larger than the budget: for the CPU */
} qn_arc_taken;

/* What one batch holds. Zero-initialised is empty. */
typedef struct qn_arc_batch {
    uint32_t *held; /* entries, one for every take; marked when it is new */
    size_t n_held, held_room;
    qn_arc_range *uploads; /* places that are new */
    size_t n_uploads, uploads_room;
} qn_arc_batch;

typedef struct qn_arc_pool_stats {
    uint64_t cache_hits, cache_misses, cache_evictions;
    size_t cache_bytes; /* resident now */
    size_t n_entries;
} qn_arc_pool_stats;

qn_status qn_arc_pool_new(const qn_arc_pool_options *options, qn_arc_pool **out, qn_err *err);
void qn_arc_pool_free(qn_arc_pool *pool); /* batches first; NULL is fine */

/* Makes the content of *slot, offsets into the n bytes, resident for the batch. On QN_ARC_RESIDENT
 * *slot points into the pool. Slots without content are always resident. After a failure nothing
 * has changed, except that others may have been evicted. */
qn_status qn_arc_pool_take(qn_arc_pool *pool, qn_arc_batch *batch, qn_arc_use use, uint64_t *slot,
                           const unsigned char *bytes, size_t n, qn_arc_taken *taken, qn_err *err);

/* Where content was found or put last; zeroed: nowhere. */
typedef struct qn_arc_ticket {
    uint64_t stamp;
    uint32_t entry;
} qn_arc_ticket;

qn_arc_ticket qn_arc_pool_ticket(const qn_arc_pool *pool); /* of the last take that succeeded */

/* The same as a take of the content that the ticket stands for, when that has not been evicted
 * since: its slot, or place, is as it was. Otherwise 0, and nothing has happened. Nothing is hashed
 * and compared. */
int qn_arc_pool_retake(qn_arc_pool *pool, qn_arc_batch *batch, qn_arc_ticket ticket);

/* Takes a program as it stands in a file. *place is its byte offset in the pool. */
qn_status qn_arc_pool_take_program(qn_arc_pool *pool, qn_arc_batch *batch,
                                   const unsigned char *bytes, size_t n, uint32_t *place,
                                   qn_arc_taken *taken, qn_err *err);

/* The ranges that must be written before the batch runs, by address. Ranges less than `gap` bytes
 * apart become one: the bytes between are what the device has already. */
size_t qn_arc_batch_uploads(qn_arc_batch *batch, size_t gap, const qn_arc_range **ranges);

/* Ends the batch's hold and frees its memory. `abandon` is for a batch whose upload failed: what
 * was new in it is forgotten; a batch filled after it may rely on that, and is to be abandoned too.
 */
void qn_arc_pool_release(qn_arc_pool *pool, qn_arc_batch *batch);
void qn_arc_pool_abandon(qn_arc_pool *pool, qn_arc_batch *batch);

void qn_arc_pool_clear(qn_arc_pool *pool); /* evicts everything that is not held */

/* Makes do with `budget_bytes` from now on: what lies beyond is evicted, and of the rest what was
 * not used for longest, until half is free for what is to come. No batch holds anything. */
void qn_arc_pool_shrink(qn_arc_pool *pool, size_t budget_bytes);
size_t qn_arc_pool_budget(const qn_arc_pool *pool);

const unsigned char *qn_arc_pool_bytes(const qn_arc_pool *pool); /* until the next take */
size_t qn_arc_pool_extent(const qn_arc_pool *pool);              /* bytes from 0 that are in use */
qn_arc_pool_stats qn_arc_pool_get_stats(const qn_arc_pool *pool);

#endif

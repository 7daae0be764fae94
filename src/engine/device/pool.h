/* pool.h - pools of memory for reuse.
 *
 * A pool hands out blocks in power-of-two sizes (buckets) and takes them back without freeing them.
 * A block is reused only if its usage covers the request, it is large enough and the device is done
 * with it. The source of the memory is a table of three functions, so device memory, pinned memory
 * and plain memory use the same code.
 */
#ifndef QN_ENGINE_POOL_H
#define QN_ENGINE_POOL_H

#include "engine/engine.h"
#include "hal/backend.h"
#include "util/status.h"

typedef struct qn_block {
    qn_mem *mem;   /* device memory */
    void *host;    /* or host memory */
    size_t bytes;  /* its size: the bucket */
    size_t wanted; /* bytes requested */
    unsigned usage;
    uint64_t generation; /* changes whenever the block is acquired: part of replay keys */
    /* Set by the owner before release: the last work that touches the block, by stream. */
    uint64_t use_seq[QN_N_STREAMS];
    int is_pinned; /* host memory allocated by a device */
    /* private to the pool */
    struct qn_block *next, *prev;
    uint64_t tick;
    int idle;
} qn_block;

typedef struct qn_pool_source {
    void *user;
    qn_status (*alloc)(void *user, size_t bytes, unsigned usage, qn_block *block, qn_err *err);
    void (*free)(void *user, qn_block *block);
    int (*is_idle)(void *user, const qn_block *block); /* the device is done with it; may be NULL */
} qn_pool_source;

typedef struct qn_pool_options {
    const char *name;    /* "device", "staging", "host" */
    size_t budget_bytes; /* live + idle; 0 = no limit */
    uint64_t bucket_min; /* 0 = QN_BUCKET_MIN */
    size_t exact_above;  /* larger blocks are rounded to 2 MiB instead; 0 = 256 MiB */
    size_t max_block;    /* no block is larger, though its bucket may be; 0 = no limit */
    int max_idle;        /* idle blocks per bucket; 0 = no limit */
    int disabled;        /* never reuse, to measure the gain of the pool */
} qn_pool_options;

typedef struct qn_pool_stats {
    uint64_t hits, misses, usage_rejects, trims;
    size_t bytes_live, bytes_idle, bytes_waste, bytes_peak;
    size_t n_live, n_idle;
} qn_pool_stats;

qn_status qn_pool_new(const qn_pool_options *options, const qn_pool_source *source, qn_pool **out,
                      qn_err *err);

/* Frees every block, idle or not. */
void qn_pool_free(qn_pool *pool);

/* A block of at least `bytes`. If the budget requires it, idle blocks are trimmed; if that is not
 * enough, the result is QN_ERR_NOMEM with bytes and budget. */
qn_status qn_pool_acquire(qn_pool *pool, size_t bytes, unsigned usage, qn_block **out, qn_err *err);
void qn_pool_release(qn_pool *pool, qn_block *block);

/* Frees idle blocks, oldest first, until `bytes` are free or none is left; returns the bytes
 * freed. */
size_t qn_pool_trim(qn_pool *pool, size_t bytes);

/* From now on blocks larger than `bytes` are rounded to 2 MiB. For work with few large, long-lived
 * arrays, where powers of two would waste up to half and nothing would be reused. */
void qn_pool_set_exact_above(qn_pool *pool, size_t bytes);
qn_pool_stats qn_pool_get_stats(const qn_pool *pool);

#endif

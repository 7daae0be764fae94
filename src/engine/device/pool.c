/* pool.c - buckets, reuse, trimming.
 *
 * Idle blocks are in one list per power of two, newest first, and in one list ordered by time for
 * trimming. Blocks above `exact_above` are rounded to 2 MiB instead of a power of two: a 300 MiB
 * array would otherwise hold 512 MiB. If the bucket is larger than the device or the budget allows,
 * the request is rounded to 4 KiB instead, so that an array that fits is not refused.
 */
#include "engine/device/pool.h"

#include "util/str.h"

#include <stdlib.h>
#include <string.h>

enum { N_BUCKETS = 64, EXACT_UNIT = 2 << 20, SMALL_UNIT = 4096 };

struct qn_pool {
    qn_pool_options opt;
    qn_pool_source source;
    qn_pool_stats stats;
    qn_block *idle[N_BUCKETS]; /* newest first */
    qn_block *live;
    uint64_t tick;
    uint64_t generation;
};

qn_status qn_bucket(uint64_t n, uint64_t minimum, uint64_t *out, qn_err *err)
{
    uint64_t size = minimum ? minimum : QN_BUCKET_MIN;

    if (n > (uint64_t)1 << 62)
        return qn_fail(err, QN_ERR_LIMIT, "size %llu exceeds the largest bucket 2^62",
                       (unsigned long long)n);
    while (size < n)
        size *= 2;
    *out = size;
    return QN_OK;
}

static int log2_of(size_t bytes)
{
    int k = 0;

    while (((size_t)1 << k) < bytes)
        k++;
    return k;
}

static void unlink_block(qn_block **list, qn_block *block)
{
    if (block->prev)
        block->prev->next = block->next;
    else
        *list = block->next;
    if (block->next)
        block->next->prev = block->prev;
    block->next = block->prev = NULL;
}

static void push_block(qn_block **list, qn_block *block)
{
    block->prev = NULL;
    block->next = *list;
    if (*list)
        (*list)->prev = block;
    *list = block;
}

qn_status qn_pool_new(const qn_pool_options *options, const qn_pool_source *source, qn_pool **out,
                      qn_err *err)
{
    qn_pool *pool = calloc(1, sizeof *pool);

    if (!pool)
        return qn_fail(err, QN_ERR_NOMEM, "pool %s: out of host memory", options->name);
    pool->opt = *options;
    pool->source = *source;
    if (!pool->opt.exact_above)
        pool->opt.exact_above = (size_t)256 << 20;
    *out = pool;
    return QN_OK;
}

/* Returns an idle block's memory to its source. */
static void destroy_idle(qn_pool *pool, qn_block *block)
{
    unlink_block(&pool->idle[log2_of(block->bytes)], block);
    pool->stats.bytes_idle -= block->bytes;
    pool->stats.n_idle--;
    pool->source.free(pool->source.user, block);
    free(block);
}

void qn_pool_free(qn_pool *pool)
{
    if (!pool)
        return;
    for (int k = 0; k < N_BUCKETS; k++)
        while (pool->idle[k])
            destroy_idle(pool, pool->idle[k]);
    while (pool->live) {
        qn_block *block = pool->live;

        unlink_block(&pool->live, block);
        pool->source.free(pool->source.user, block);
        free(block);
    }
    free(pool);
}

size_t qn_pool_trim(qn_pool *pool, size_t bytes)
{
    size_t freed = 0;

    while (freed < bytes) {
        qn_block *oldest = NULL;

        for (int k = 0; k < N_BUCKETS; k++)
            for (qn_block *b = pool->idle[k]; b; b = b->next)
                if (!oldest || b->tick < oldest->tick)
                    oldest = b;
        if (!oldest)
            break;
        freed += oldest->bytes;
        pool->stats.trims++;
        destroy_idle(pool, oldest);
    }
    return freed;
}

static int is_reusable(qn_pool *pool, qn_block *block, size_t bytes, unsigned usage)
{
    if (block->bytes < bytes)
        return 0;
    if ((block->usage & usage) != usage) {
        pool->stats.usage_rejects++;
        return 0;
    }
    return !pool->source.is_idle || pool->source.is_idle(pool->source.user, block);
}

/* Same bucket first; one bucket up only under memory pressure. */
static qn_block *find_idle(qn_pool *pool, size_t size, unsigned usage, int pressure)
{
    const int k = log2_of(size);

    for (int up = 0; up <= pressure && k + up < N_BUCKETS; up++)
        for (qn_block *b = pool->idle[k + up]; b; b = b->next)
            if (is_reusable(pool, b, size, usage))
                return b;
    return NULL;
}

static void hand_out(qn_pool *pool, qn_block *block, size_t wanted)
{
    block->wanted = wanted;
    block->idle = 0;
    memset(block->use_seq, 0, sizeof block->use_seq);
    block->generation = ++pool->generation;
    push_block(&pool->live, block);
    pool->stats.n_live++;
    pool->stats.bytes_live += block->bytes;
    pool->stats.bytes_waste += block->bytes - wanted;
    if (pool->stats.bytes_live + pool->stats.bytes_idle > pool->stats.bytes_peak)
        pool->stats.bytes_peak = pool->stats.bytes_live + pool->stats.bytes_idle;
}

static qn_block *take_idle(qn_pool *pool, size_t size, size_t wanted, unsigned usage, int pressure)
{
    qn_block *block = pool->opt.disabled ? NULL : find_idle(pool, size, usage, pressure);

    if (!block)
        return NULL;
    unlink_block(&pool->idle[log2_of(block->bytes)], block);
    pool->stats.bytes_idle -= block->bytes;
    pool->stats.n_idle--;
    pool->stats.hits++;
    hand_out(pool, block, wanted);
    return block;
}

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static int is_too_large(const qn_pool *pool, size_t size)
{
    return (pool->opt.max_block && size > pool->opt.max_block) ||
           (pool->opt.budget_bytes && size > pool->opt.budget_bytes);
}

static qn_status round_size(const qn_pool *pool, size_t bytes, size_t *out, qn_err *err)
{
    uint64_t bucket = 0;
    const qn_status st = qn_bucket(bytes, pool->opt.bucket_min, &bucket, err);

    if (st != QN_OK)
        return st;
    *out = bytes > pool->opt.exact_above ? round_up(bytes, EXACT_UNIT) : (size_t)bucket;
    if (is_too_large(pool, *out))
        *out = round_up(bytes, SMALL_UNIT);
    if (is_too_large(pool, *out))
        *out = bytes;
    return QN_OK;
}

static size_t over_budget(const qn_pool *pool, size_t size)
{
    const size_t held = pool->stats.bytes_live + pool->stats.bytes_idle;

    if (!pool->opt.budget_bytes || held + size <= pool->opt.budget_bytes)
        return 0;
    return held + size - pool->opt.budget_bytes;
}

static qn_status no_room(const qn_pool *pool, size_t size, qn_err *err)
{
    char need[32], budget[32], live[32];

    return qn_fail(err, QN_ERR_NOMEM, "out of memory (need %s, budget %s, in use %s)",
                   qn_format_bytes((double)size, need, sizeof need),
                   qn_format_bytes((double)pool->opt.budget_bytes, budget, sizeof budget),
                   qn_format_bytes((double)pool->stats.bytes_live, live, sizeof live));
}

qn_status qn_pool_acquire(qn_pool *pool, size_t bytes, unsigned usage, qn_block **out, qn_err *err)
{
    size_t size;
    qn_block *block;
    qn_status st = round_size(pool, bytes, &size, err);

    if (st != QN_OK)
        return st;
    if ((*out = take_idle(pool, size, bytes, usage, over_budget(pool, size) > 0)))
        return QN_OK;

    qn_pool_trim(pool, over_budget(pool, size));
    if (over_budget(pool, size) && round_up(bytes, SMALL_UNIT) < size)
        size = round_up(bytes, SMALL_UNIT);
    if (over_budget(pool, size))
        return no_room(pool, size, err);
    if (!(block = calloc(1, sizeof *block)))
        return qn_fail(err, QN_ERR_NOMEM, "pool %s: out of host memory", pool->opt.name);
    st = pool->source.alloc(pool->source.user, size, usage, block, err);
    if (st == QN_ERR_NOMEM && qn_pool_trim(pool, SIZE_MAX))
        st = pool->source.alloc(pool->source.user, size, usage, block, err);
    if (st != QN_OK) {
        free(block);
        return st;
    }
    block->bytes = size;
    block->usage = usage;
    pool->stats.misses++;
    hand_out(pool, block, bytes);
    *out = block;
    return QN_OK;
}

static int count_idle(const qn_block *list)
{
    int n = 0;

    for (; list; list = list->next)
        n++;
    return n;
}

void qn_pool_release(qn_pool *pool, qn_block *block)
{
    const int k = log2_of(block->bytes);

    unlink_block(&pool->live, block);
    pool->stats.n_live--;
    pool->stats.bytes_live -= block->bytes;
    pool->stats.bytes_waste -= block->bytes - block->wanted;
    block->tick = ++pool->tick;
    block->idle = 1;
    push_block(&pool->idle[k], block);
    pool->stats.bytes_idle += block->bytes;
    pool->stats.n_idle++;
    if (pool->opt.disabled ||
        (pool->opt.max_idle && count_idle(pool->idle[k]) > pool->opt.max_idle)) {
        qn_block *last = pool->idle[k];

        while (last->next)
            last = last->next;
        destroy_idle(pool, last);
    }
}

void qn_pool_set_exact_above(qn_pool *pool, size_t bytes)
{
    pool->opt.exact_above = bytes;
}

void qn_pool_set_disabled(qn_pool *pool, int disabled)
{
    pool->opt.disabled = disabled;
}

qn_pool_stats qn_pool_get_stats(const qn_pool *pool)
{
    return pool->stats;
}

/* plan_cache.c - finds or makes the plan for a batch.
 *
 * There are two caches of plans, which both evict the least recently used. The exact one is keyed
 * by the ops, arguments and sizes of a batch, and its plans are packed tightly. The other is keyed
 * by buckets instead of sizes; its plans fit every size of a bucket but copy the padding too.
 * Whether such a plan or a new one is faster depends on device and sizes, so both are timed. A
 * repeated batch always gets a tight plan.
 */
#include "domain/tasks/task.h"

#include "engine/engine.h"
#include "util/list.h"

#include <stdlib.h>
#include <string.h>

enum { KEY = QN_SHA256_BYTES, TIGHT = 0, PADDED = 1, TRY_OTHER = 32 };

typedef struct {
    uint8_t key[KEY];
    qn_task_plan *plan; /* NULL: the key is known, but another plan was used */
    uint64_t tick;      /* 0: free */
    /* for buckets: time of a batch of new sizes either way, and number of tries */
    double us[2];
    uint64_t tries[2];
} entry;

struct qn_task_cache {
    qn_ctx *ctx;
    qn_tasks_options options;
    int n_shares;
    entry exact[QN_TASK_CACHE], buckets[QN_TASK_CACHE];
    uint64_t tick;
    size_t limit_bytes;
    qn_task_plan *single; /* of the last batch, without a cache */
    /* for the observation after the last batch */
    entry *watched;
    int way;
    /* scratch, by position */
    qn_task_spec *specs;
    int *order;
    int cap;
};

qn_status qn_task_cache_new(qn_ctx *ctx, const qn_tasks_options *options, int n_shares,
                            qn_task_cache **out, qn_err *err)
{
    qn_task_cache *cache;
    const qn_status st = QN_NEW(cache, 1, "a cache of plans", err);

    if (st != QN_OK)
        return st;
    cache->ctx = ctx;
    cache->options = *options;
    cache->n_shares = n_shares;
    /* Plans hold host memory. */
    cache->limit_bytes = qn_ctx_settings(ctx)->host_budget
                             ? qn_ctx_settings(ctx)->host_budget / 2
                             : (size_t)(qn_device_get(ctx, QN_CPU_SLOT)->mem_total / 8);
    *out = cache;
    return QN_OK;
}

static void drop(entry *e)
{
    qn_task_plan_free(e->plan);
    *e = (entry){ .plan = NULL };
}

void qn_task_cache_free(qn_task_cache *cache)
{
    if (!cache)
        return;
    for (int i = 0; i < QN_TASK_CACHE; i++) {
        drop(&cache->exact[i]);
        drop(&cache->buckets[i]);
    }
    qn_task_plan_free(cache->single);
    free(cache->specs);
    free(cache->order);
    free(cache);
}

/* Entries. */

static void make_key(const qn_task_spec *specs, int n, int by_bucket, uint8_t key[KEY])
{
    const qn_task_arg *last = NULL;
    qn_sha256 hash;

    qn_sha256_begin(&hash);
    for (int k = 0; k < n; k++) {
        const qn_task_spec *spec = &specs[k];
        const qn_i64 size = by_bucket && spec->op->is_padded ? (qn_i64)spec->bucket : spec->n;
        const struct {
            const qn_task_op *op;
            qn_i64 size;
            qn_i64 is_new_arg;
        } row = { spec->op, size, !last || qn_task_arg_compare(last, spec->arg) };

        qn_sha256_add(&hash, &row, sizeof row);
        if (row.is_new_arg)
            qn_sha256_add(&hash, spec->arg, sizeof *spec->arg);
        last = spec->arg;
    }
    qn_sha256_end(&hash, key);
}

/* The entry of the key. A new entry is empty and evicts the oldest one. */
static entry *find(qn_task_cache *cache, entry *entries, const uint8_t key[KEY])
{
    entry *oldest = entries;

    for (int i = 0; i < QN_TASK_CACHE; i++) {
        if (entries[i].tick && !memcmp(entries[i].key, key, KEY)) {
            entries[i].tick = ++cache->tick;
            return &entries[i];
        }
        if (entries[i].tick < oldest->tick)
            oldest = &entries[i];
    }
    drop(oldest);
    memcpy(oldest->key, key, KEY);
    oldest->tick = ++cache->tick;
    return oldest;
}

static int was_seen(const qn_task_cache *cache, const uint8_t key[KEY])
{
    for (int i = 0; i < QN_TASK_CACHE; i++)
        if (cache->exact[i].tick && !memcmp(cache->exact[i].key, key, KEY))
            return 1;
    return 0;
}

/* Evicts the oldest plans, but not `keep`, while plans use too much memory in all. */
static void trim(qn_task_cache *cache, const entry *keep)
{
    for (;;) {
        entry *oldest = NULL;
        size_t bytes = 0;

        for (int i = 0; i < 2 * QN_TASK_CACHE; i++) {
            entry *e = i < QN_TASK_CACHE ? &cache->exact[i] : &cache->buckets[i - QN_TASK_CACHE];

            if (!e->plan)
                continue;
            bytes += e->plan->bytes;
            if (e != keep && (!oldest || e->tick < oldest->tick))
                oldest = e;
        }
        if (bytes <= cache->limit_bytes || !oldest)
            return;
        qn_task_plan_free(oldest->plan);
        oldest->plan = NULL;
    }
}

/* Choice. */

static int can_pad(const qn_task_spec *specs, int n)
{
    for (int k = 0; k < n; k++)
        if (specs[k].op->is_padded && qn_task_room(&specs[k], 1) != qn_task_room(&specs[k], 0))
            return 1;
    return 0;
}

/* Chooses the plan for a batch of new sizes: an untried kind first, then the faster one, and the
 * other one again from time to time. */
static int pick_way(const entry *e)
{
    const uint64_t all = e->tries[TIGHT] + e->tries[PADDED];
    /* Times vary because sizes differ between batches, so padding must be clearly faster. */
    const int faster = e->us[PADDED] <= 0.9 * e->us[TIGHT] ? PADDED : TIGHT;

    if (!e->plan && !e->tries[TIGHT])
        return TIGHT;
    if (e->tries[PADDED] < 2)
        return PADDED;
    if (e->tries[TIGHT] < 2)
        return TIGHT;
    return all % TRY_OTHER == TRY_OTHER - 1 ? !faster : faster;
}

void qn_task_cache_observe(qn_task_cache *cache, double us)
{
    entry *e = cache->watched;
    const int way = cache->way;

    cache->watched = NULL;
    if (!e)
        return;
    /* A faster time is taken at once, a slower one by half, so that a single slow run (one that
     * compiles, for example) counts little. */
    if (e->tries[way] && us > e->us[way])
        us = (us + e->us[way]) / 2;
    e->us[way] = us;
    e->tries[way]++;
}

static qn_status sort_specs(qn_task_cache *cache, const qn_task_list *list, qn_err *err)
{
    qn_status st = QN_OK;

    if (list->n > cache->cap) {
        free(cache->specs);
        free(cache->order);
        cache->specs = NULL;
        cache->order = NULL;
        cache->cap = 0;
        QN_TRY(QN_NEW(cache->specs, list->n, "a batch of tasks", err));
        QN_TRY(QN_NEW(cache->order, list->n, "a batch of tasks", err));
        cache->cap = list->n;
    }
    qn_group_sort(list, cache->order);
    for (int k = 0; k < list->n; k++)
        cache->specs[k] = list->specs[cache->order[k]];
out:
    return st;
}

/* The plan of an entry, made on first use. */
static qn_status plan_of(qn_task_cache *cache, entry *e, int n, int is_padded, qn_task_plan **out,
                         qn_task_found *found, qn_err *err)
{
    qn_status st = QN_OK;

    *found = !e->plan ? QN_FOUND_NEW : is_padded ? QN_FOUND_BUCKETS : QN_FOUND_SHAPE;
    if (!e->plan)
        st = qn_task_plan_new(cache->ctx, cache->specs, n, cache->options.chunk_elems, is_padded,
                              cache->n_shares, &e->plan, err);
    if (st == QN_OK && *found == QN_FOUND_NEW)
        trim(cache, e);
    *out = e->plan;
    return st;
}

static qn_status get_new_sizes(qn_task_cache *cache, const uint8_t exact[KEY], int n, int is_again,
                               qn_task_plan **out, qn_task_found *found, qn_err *err)
{
    entry *seen = find(cache, cache->exact, exact), *e;
    uint8_t key[KEY];
    int way;

    if (cache->options.no_bucket_cache || is_again || !can_pad(cache->specs, n))
        return plan_of(cache, seen, n, 0, out, found, err);
    make_key(cache->specs, n, 1, key);
    e = find(cache, cache->buckets, key);
    way = pick_way(e);
    if (way == TIGHT || e->plan) {
        cache->watched = e;
        cache->way = way;
    }
    return plan_of(cache, way == PADDED ? e : seen, n, way == PADDED, out, found, err);
}

qn_status qn_task_cache_get(qn_task_cache *cache, const qn_task_list *list, qn_task_plan **out,
                            qn_task_found *found, qn_err *err)
{
    uint8_t key[KEY];
    qn_status st = QN_OK;

    cache->watched = NULL;
    QN_TRY(sort_specs(cache, list, err));
    if (cache->options.no_plan_cache) {
        entry e = { .plan = NULL };

        qn_task_plan_free(cache->single);
        cache->single = NULL;
        QN_TRY(plan_of(cache, &e, list->n, 0, &cache->single, found, err));
        *out = cache->single;
    } else {
        make_key(cache->specs, list->n, 0, key);
        QN_TRY(get_new_sizes(cache, key, list->n, was_seen(cache, key), out, found, err));
    }
    qn_task_plan_load(*out, cache->specs, cache->order);
out:
    return st;
}

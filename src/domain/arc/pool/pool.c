/* pool.c - taking, holding and evicting what stays on the device.
 *
 * Content is handed in with offsets from its own start and hashed so; its copy in the pool has
 * offsets into the pool. To compare with a copy, what is asked for is moved to the same place.
 */
#include "domain/arc/pool/pool.h"

#include "domain/arc/pool/content_hash.h"
#include "domain/arc/pool/pool_impl.h"
#include "domain/arc/value/encode.h"
#include "kernel/arc/arc_code.h"
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES ((size_t)ARC_POOLED - QN_ARC_PLACE_ALIGN)
#define IS_NEW     0x80000000u /* in a batch's list */

enum { HOT_ACCESSES = 2, N_COUNTERS = 4096 };

/* How often a value that is not resident was asked for. Two values that meet in one counter forget
 * each other, which only makes them enter later. */
typedef struct counter {
    uint64_t hash;
    int accesses;
} counter;

struct qn_arc_pool {
    qn_arc_entries entries;
    qn_arc_places places;
    counter *counters;
    unsigned char *bytes; /* as the device has them, up to `room` */
    unsigned char *scratch;
    size_t room, scratch_room;
    size_t budget, held_bytes;
    int hot_accesses;
    uint64_t hits, misses, evictions;
    uint64_t stamps; /* given out */
    qn_arc_ticket last;
    qn_arc_resize *resize;
};

static void *resize_by_libc(void *old, size_t bytes)
{
    if (bytes > 0)
        return realloc(old, bytes);
    free(old);
    return NULL;
}

qn_status qn_arc_pool_new(const qn_arc_pool_options *options, qn_arc_pool **out, qn_err *err)
{
    qn_arc_resize *const resize = options->resize ? options->resize : resize_by_libc;
    qn_arc_pool *pool = resize(NULL, sizeof *pool);
    qn_status st = QN_OK;

    if (!pool)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a pool of values");
    memset(pool, 0, sizeof *pool);
    pool->resize = resize;
    pool->budget = options->budget_bytes < MOST_BYTES ? options->budget_bytes : MOST_BYTES;
    pool->budget -= pool->budget % QN_ARC_PLACE_ALIGN;
    pool->hot_accesses = options->hot_accesses ? options->hot_accesses : HOT_ACCESSES;
    qn_arc_entries_init(&pool->entries, resize);
    QN_TRY(qn_arc_places_init(&pool->places, pool->budget, resize, err));
    if (!(pool->counters = resize(NULL, N_COUNTERS * sizeof *pool->counters))) {
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for a pool of values");
        goto out;
    }
    memset(pool->counters, 0, N_COUNTERS * sizeof *pool->counters);
    *out = pool;
    pool = NULL;
out:
    qn_arc_pool_free(pool);
    return st;
}

void qn_arc_pool_free(qn_arc_pool *pool)
{
    if (!pool)
        return;
    qn_arc_entries_free(&pool->entries);
    qn_arc_places_free(&pool->places);
    if (pool->counters)
        pool->resize(pool->counters, 0);
    if (pool->bytes)
        pool->resize(pool->bytes, 0);
    if (pool->scratch)
        pool->resize(pool->scratch, 0);
    pool->resize(pool, 0);
}

/* Memory. */

/* Room for n elements of `size` bytes in *block, which has room for *room. */
static qn_status make_room(qn_arc_pool *pool, void **block, size_t *room, size_t n, size_t size,
                           qn_err *err)
{
    size_t want = *room ? *room : 64;
    void *more;

    if (n <= *room)
        return QN_OK;
    while (want < n)
        want *= 2;
    if (!(more = pool->resize(*block, want * size)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %zu bytes of the pool", want * size);
    *block = more;
    *room = want;
    return QN_OK;
}

static qn_status reserve_in_batch(qn_arc_pool *pool, qn_arc_batch *batch, qn_err *err)
{
    void *held = batch->held;
    void *uploads = batch->uploads;
    qn_status st = QN_OK;

    QN_TRY(make_room(pool, &held, &batch->held_room, batch->n_held + 1, sizeof *batch->held, err));
    batch->held = held;
    QN_TRY(make_room(pool, &uploads, &batch->uploads_room, batch->n_uploads + 1,
                     sizeof *batch->uploads, err));
    batch->uploads = uploads;
out:
    return st;
}

/* The copy on the host reaches up to `end`, which the budget allows; new bytes are 0. */
static qn_status extend_copy(qn_arc_pool *pool, size_t end, qn_err *err)
{
    const size_t had = pool->room;
    size_t room = had ? had : 4096;
    unsigned char *more;

    if (end <= had)
        return QN_OK;
    while (room < end)
        room *= 2;
    room = room < pool->budget ? room : pool->budget;
    if (!(more = pool->resize(pool->bytes, room)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %zu bytes of the pool", room);
    memset(more + had, 0, room - had);
    pool->bytes = more;
    pool->room = room;
    return QN_OK;
}

/* Evicting. */

static void drop(qn_arc_pool *pool, uint32_t i)
{
    const qn_arc_entry *const entry = &pool->entries.items[i];

    qn_arc_places_give(&pool->places, entry->at, entry->bytes);
    qn_arc_entries_remove(&pool->entries, i);
}

/* The least recently used entry that no batch holds, from `i` towards newer ones. */
static uint32_t oldest_idle(const qn_arc_pool *pool, uint32_t i)
{
    while (i != QN_ARC_NO_ENTRY && pool->entries.items[i].holds)
        i = pool->entries.items[i].newer;
    return i;
}

/* A place of `bytes`, for which others may have to go; 0 when that does not help. */
static int find_place(qn_arc_pool *pool, size_t bytes, size_t *at)
{
    uint32_t next = pool->entries.oldest;

    if (pool->budget - pool->held_bytes < bytes)
        return 0;
    while (!qn_arc_places_take(&pool->places, bytes, at)) {
        const uint32_t i = oldest_idle(pool, next);

        if (i == QN_ARC_NO_ENTRY)
            return 0;
        next = pool->entries.items[i].newer;
        drop(pool, i);
        pool->evictions++;
    }
    return 1;
}

void qn_arc_pool_clear(qn_arc_pool *pool)
{
    uint32_t i = oldest_idle(pool, pool->entries.oldest);

    while (i != QN_ARC_NO_ENTRY) {
        const uint32_t next = pool->entries.items[i].newer;

        drop(pool, i);
        pool->evictions++;
        i = oldest_idle(pool, next);
    }
}

void qn_arc_pool_shrink(qn_arc_pool *pool, size_t budget_bytes)
{
    const size_t budget = budget_bytes - budget_bytes % QN_ARC_PLACE_ALIGN;
    uint32_t i = pool->entries.oldest;

    if (budget >= pool->budget || pool->held_bytes)
        return;
    while (i != QN_ARC_NO_ENTRY) {
        const qn_arc_entry *const entry = &pool->entries.items[i];
        const uint32_t next = entry->newer;

        if (entry->at + entry->bytes > budget || pool->places.taken_bytes > budget / 2) {
            drop(pool, i);
            pool->evictions++;
        }
        i = next;
    }
    qn_arc_places_shrink(&pool->places, budget);
    pool->budget = budget;
}

size_t qn_arc_pool_budget(const qn_arc_pool *pool)
{
    return pool->budget;
}

/* Finding. */

/* Content as it was handed in: offsets are from its start. */
typedef struct content {
    uint64_t slot, hash;
    const unsigned char *bytes;
    size_t n;
} content;

/* Content without slots inside is the same wherever it lies. */
static int is_flat(uint64_t slot)
{
    return ARC_TAG(slot) != ARC_TUPLE && ARC_TAG(slot) != ARC_SET && ARC_TAG(slot) != ARC_CLOS;
}

/* Whether the entry's content is this one, once moved to the entry's place. */
static qn_status is_same(qn_arc_pool *pool, const qn_arc_entry *entry, const content *wanted,
                         int *same, qn_err *err)
{
    const uint32_t by = ARC_POOLED + (uint32_t)entry->at;
    uint64_t slot = wanted->slot;
    void *scratch = pool->scratch;
    qn_status st = QN_OK;

    *same = 0;
    if (entry->hash != wanted->hash || entry->n != wanted->n || entry->is_lost)
        return QN_OK;
    if (is_flat(slot)) {
        *same = slot + by == entry->slot &&
                memcmp(wanted->bytes, pool->bytes + entry->at, wanted->n) == 0;
        return QN_OK;
    }
    QN_TRY(make_room(pool, &scratch, &pool->scratch_room, wanted->n, 1, err));
    pool->scratch = scratch;
    memcpy(pool->scratch, wanted->bytes, wanted->n);
    QN_TRY(qn_arc_move(&slot, pool->scratch, wanted->n, 0, by, err));
    *same = slot == entry->slot && memcmp(pool->scratch, pool->bytes + entry->at, wanted->n) == 0;
out:
    return st;
}

static qn_status find(qn_arc_pool *pool, const content *wanted, uint32_t *found, qn_err *err)
{
    qn_status st = QN_OK;
    uint32_t i = qn_arc_entries_first(&pool->entries, wanted->hash);
    int same = 0;

    for (; i != QN_ARC_NO_ENTRY; i = pool->entries.items[i].next) {
        QN_TRY(is_same(pool, &pool->entries.items[i], wanted, &same, err));
        if (same)
            break;
    }
    *found = i;
out:
    return st;
}

static int is_hot(qn_arc_pool *pool, uint64_t hash)
{
    counter *const count = &pool->counters[hash % N_COUNTERS];

    if (count->hash != hash)
        *count = (counter){ .hash = hash };
    return ++count->accesses > pool->hot_accesses;
}

/* Taking. */

static void hold(qn_arc_pool *pool, qn_arc_batch *batch, uint32_t i, uint32_t mark)
{
    qn_arc_entry *const entry = &pool->entries.items[i];

    if (entry->holds++ == 0)
        pool->held_bytes += entry->bytes;
    batch->held[batch->n_held++] = i | mark;
}

/* Copies content to its place and moves its offsets there. */
static qn_status put(qn_arc_pool *pool, const content *wanted, size_t at, size_t bytes,
                     uint64_t *slot, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(extend_copy(pool, at + bytes, err));
    memcpy(pool->bytes + at, wanted->bytes, wanted->n);
    memset(pool->bytes + at + wanted->n, 0, bytes - wanted->n);
    *slot = wanted->slot;
    QN_TRY(qn_arc_move(slot, pool->bytes + at, wanted->n, 0, ARC_POOLED + (uint32_t)at, err));
out:
    return st;
}

static qn_status enter(qn_arc_pool *pool, qn_arc_batch *batch, const content *wanted,
                       uint64_t *slot, qn_arc_taken *taken, qn_err *err)
{
    const size_t align = QN_ARC_PLACE_ALIGN;
    const size_t bytes = wanted->n + (align - wanted->n % align) % align;
    qn_arc_entry entry = { .hash = wanted->hash, .bytes = bytes, .n = wanted->n };
    uint32_t i;
    qn_status st = QN_OK;

    if (bytes > pool->budget) {
        *taken = QN_ARC_TOO_LARGE;
        return QN_OK;
    }
    QN_TRY(qn_arc_entries_reserve(&pool->entries, err));
    QN_TRY(qn_arc_places_reserve(&pool->places, err));
    if (!find_place(pool, bytes, &entry.at)) {
        *taken = QN_ARC_FULL;
        return QN_OK;
    }
    if ((st = put(pool, wanted, entry.at, bytes, &entry.slot, err)) != QN_OK) {
        qn_arc_places_give(&pool->places, entry.at, bytes);
        goto out;
    }
    entry.stamp = ++pool->stamps;
    i = qn_arc_entries_add(&pool->entries, &entry);
    hold(pool, batch, i, IS_NEW);
    pool->last = (qn_arc_ticket){ .stamp = entry.stamp, .entry = i };
    batch->uploads[batch->n_uploads++] = (qn_arc_range){ .at = entry.at, .bytes = bytes };
    *slot = entry.slot;
    *taken = QN_ARC_RESIDENT;
out:
    return st;
}

qn_status qn_arc_pool_take(qn_arc_pool *pool, qn_arc_batch *batch, qn_arc_use use, uint64_t *slot,
                           const unsigned char *bytes, size_t n, qn_arc_taken *taken, qn_err *err)
{
    const content wanted = {
        .slot = *slot, .hash = qn_arc_content_hash(*slot, bytes, n), .bytes = bytes, .n = n
    };
    uint32_t found = QN_ARC_NO_ENTRY;
    qn_status st = QN_OK;

    pool->last = (qn_arc_ticket){ 0 };
    if (n == 0) {
        *taken = QN_ARC_RESIDENT;
        return QN_OK;
    }
    QN_TRY(reserve_in_batch(pool, batch, err));
    QN_TRY(find(pool, &wanted, &found, err));
    if (found != QN_ARC_NO_ENTRY) {
        pool->hits++;
        qn_arc_entries_touch(&pool->entries, found);
        hold(pool, batch, found, 0);
        *slot = pool->entries.items[found].slot;
        *taken = QN_ARC_RESIDENT;
        pool->last = (qn_arc_ticket){ .stamp = pool->entries.items[found].stamp, .entry = found };
        goto out;
    }
    if (use == QN_ARC_USE_SHARED && !is_hot(pool, wanted.hash)) {
        pool->misses++;
        *taken = QN_ARC_COLD;
        goto out;
    }
    QN_TRY(enter(pool, batch, &wanted, slot, taken, err));
    pool->misses++;
out:
    return st;
}

qn_arc_ticket qn_arc_pool_ticket(const qn_arc_pool *pool)
{
    return pool->last;
}

int qn_arc_pool_retake(qn_arc_pool *pool, qn_arc_batch *batch, qn_arc_ticket ticket)
{
    const qn_arc_entry *entry;
    qn_err ignored;

    if (!ticket.stamp || ticket.entry >= pool->entries.n_items)
        return 0;
    entry = &pool->entries.items[ticket.entry];
    if (entry->stamp != ticket.stamp || entry->is_lost ||
        reserve_in_batch(pool, batch, &ignored) != QN_OK)
        return 0;
    pool->hits++;
    qn_arc_entries_touch(&pool->entries, ticket.entry);
    hold(pool, batch, ticket.entry, 0);
    return 1;
}

qn_status qn_arc_pool_take_program(qn_arc_pool *pool, qn_arc_batch *batch,
                                   const unsigned char *bytes, size_t n, uint32_t *place,
                                   qn_arc_taken *taken, qn_err *err)
{
    arc_program head;
    size_t constants;
    uint64_t slot;
    qn_status st = QN_OK;

    if (n < sizeof head)
        return qn_fail(err, QN_ERR_INPUT, "a program of %zu bytes has no header", n);
    memcpy(&head, bytes, sizeof head);
    constants = sizeof head + head.n_ins * sizeof(arc_ins);
    if (constants > n || head.n_const > (n - constants) / sizeof slot)
        return qn_fail(err, QN_ERR_INPUT,
                       "a program of %zu bytes cannot have %d instructions and %d constants", n,
                       head.n_ins, head.n_const);
    /* Its constants are a tuple that starts behind the instructions. A tuple of none has no
     * content, and the program is found by its bytes alone. */
    slot = head.n_const ? ARC_SLOT(ARC_TUPLE, head.n_const, constants)
                        : ARC_SLOT(ARC_GRID, 0, constants);
    QN_TRY(qn_arc_pool_take(pool, batch, QN_ARC_USE_ALWAYS, &slot, bytes, n, taken, err));
    if (*taken == QN_ARC_RESIDENT)
        *place = ARC_PAYLOAD(slot) - ARC_POOLED - (uint32_t)constants;
out:
    return st;
}

/* Letting go. */

static void let_go(qn_arc_pool *pool, qn_arc_batch *batch, int is_failed)
{
    for (size_t k = 0; k < batch->n_held; k++) {
        const uint32_t i = batch->held[k] & ~IS_NEW;
        qn_arc_entry *const entry = &pool->entries.items[i];

        entry->is_lost |= is_failed && batch->held[k] & IS_NEW;
        if (--entry->holds > 0)
            continue;
        pool->held_bytes -= entry->bytes;
        if (entry->is_lost)
            drop(pool, i);
    }
    if (batch->held)
        pool->resize(batch->held, 0);
    if (batch->uploads)
        pool->resize(batch->uploads, 0);
    *batch = (qn_arc_batch){ 0 };
}

void qn_arc_pool_release(qn_arc_pool *pool, qn_arc_batch *batch)
{
    let_go(pool, batch, 0);
}

void qn_arc_pool_abandon(qn_arc_pool *pool, qn_arc_batch *batch)
{
    let_go(pool, batch, 1);
}

/* Looking. */

const unsigned char *qn_arc_pool_bytes(const qn_arc_pool *pool)
{
    return pool->bytes;
}

size_t qn_arc_pool_extent(const qn_arc_pool *pool)
{
    return qn_arc_places_extent(&pool->places);
}

qn_arc_pool_stats qn_arc_pool_get_stats(const qn_arc_pool *pool)
{
    return (qn_arc_pool_stats){ .cache_hits = pool->hits,
                                .cache_misses = pool->misses,
                                .cache_evictions = pool->evictions,
                                .cache_bytes = pool->places.taken_bytes,
                                .n_entries = pool->entries.n_used };
}

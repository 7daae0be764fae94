/* content_store.c - adds, finds, holds and evicts content. */
#include "util/content_parts.h"

#include "util/content_hash.h"
#include "util/list.h"

#include <stdlib.h>
#include <string.h>

#define IS_NEW 0x80000000u /* mark in a list of held entries */

struct qn_content_store {
    qn_content_index index;
    qn_content_ranges ranges;
    unsigned char *bytes; /* as on the device, up to `room` */
    unsigned char *scratch;
    size_t room, scratch_room;
    size_t budget, held_bytes;
    uint32_t base;
    uint64_t hits, misses, evictions;
    uint64_t stamps; /* stamps issued so far */
    qn_content_ticket last;
    qn_content_move *move;
};

static qn_status move_handle(uint64_t *handle, unsigned char *bytes, size_t n, uint32_t by,
                             qn_err *err)
{
    (void)bytes;
    (void)n;
    (void)err;
    *handle += by;
    return QN_OK;
}

qn_status qn_content_open(const qn_content_options *options, qn_content_store **out, qn_err *err)
{
    qn_content_store *store = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(store, 1, "a content store", err));
    store->move = options->move ? options->move : move_handle;
    store->base = options->base;
    store->budget = options->budget_bytes - options->budget_bytes % QN_CONTENT_ALIGN;
    qn_content_index_init(&store->index);
    QN_TRY(qn_content_ranges_init(&store->ranges, store->budget, err));
    *out = store;
    store = NULL;
out:
    qn_content_close(store);
    return st;
}

void qn_content_close(qn_content_store *store)
{
    if (!store)
        return;
    qn_content_index_free(&store->index);
    qn_content_ranges_free(&store->ranges);
    free(store->bytes);
    free(store->scratch);
    free(store);
}

/* Memory. */

static qn_status reserve_in_hold(qn_content_hold *hold, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(QN_GROW(hold->held, hold->n_held, &hold->held_room, "content of a batch", err));
    QN_TRY(QN_GROW(hold->uploads, hold->n_uploads, &hold->uploads_room, "content of a batch", err));
out:
    return st;
}

/* Extends the host copy up to `end`, which is within the budget; new bytes are 0. */
static qn_status extend_copy(qn_content_store *store, size_t end, qn_err *err)
{
    const size_t had = store->room;
    size_t room = had ? had : 4096;
    unsigned char *more;

    if (end <= had)
        return QN_OK;
    while (room < end)
        room *= 2;
    room = room < store->budget ? room : store->budget;
    if (!(more = realloc(store->bytes, room)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %zu bytes of a content store", room);
    memset(more + had, 0, room - had);
    store->bytes = more;
    store->room = room;
    return QN_OK;
}

/* Evicting. */

static void drop(qn_content_store *store, uint32_t i)
{
    const qn_content_entry *const entry = &store->index.items[i];

    qn_content_ranges_give(&store->ranges, entry->at, entry->bytes);
    qn_content_index_remove(&store->index, i);
}

/* The least recently used entry without holds, searching from `i` towards newer entries. */
static uint32_t oldest_idle(const qn_content_store *store, uint32_t i)
{
    while (i != QN_NO_CONTENT && store->index.items[i].holds)
        i = store->index.items[i].newer;
    return i;
}

/* Finds space for `bytes`, evicting other entries if needed; returns 0 if there is still not
 * enough. */
static int find_room(qn_content_store *store, size_t bytes, size_t *at)
{
    uint32_t next = store->index.oldest;

    if (store->budget - store->held_bytes < bytes)
        return 0;
    while (!qn_content_ranges_take(&store->ranges, bytes, at)) {
        const uint32_t i = oldest_idle(store, next);

        if (i == QN_NO_CONTENT)
            return 0;
        next = store->index.items[i].newer;
        drop(store, i);
        store->evictions++;
    }
    return 1;
}

void qn_content_clear(qn_content_store *store)
{
    uint32_t i = oldest_idle(store, store->index.oldest);

    while (i != QN_NO_CONTENT) {
        const uint32_t next = store->index.items[i].newer;

        drop(store, i);
        store->evictions++;
        i = oldest_idle(store, next);
    }
}

void qn_content_shrink(qn_content_store *store, size_t budget_bytes)
{
    const size_t budget = budget_bytes - budget_bytes % QN_CONTENT_ALIGN;
    uint32_t i = store->index.oldest;

    if (budget >= store->budget || store->held_bytes)
        return;
    while (i != QN_NO_CONTENT) {
        const qn_content_entry *const entry = &store->index.items[i];
        const uint32_t next = entry->newer;

        if (entry->at + entry->bytes > budget || store->ranges.taken_bytes > budget / 2) {
            drop(store, i);
            store->evictions++;
        }
        i = next;
    }
    qn_content_ranges_shrink(&store->ranges, budget);
    store->budget = budget;
}

/* Finding. */

static qn_status make_scratch(qn_content_store *store, size_t n, qn_err *err)
{
    qn_status st = QN_OK;

    if (n <= store->scratch_room)
        return QN_OK;
    free(store->scratch);
    store->scratch = NULL;
    store->scratch_room = 0;
    QN_TRY(QN_NEW(store->scratch, 2 * n, "a comparison of content", err));
    store->scratch_room = 2 * n;
out:
    return st;
}

/* Whether the entry has the wanted content, after moving its handles to the entry's place. */
static qn_status is_same(qn_content_store *store, const qn_content_entry *entry,
                         const qn_content *wanted, uint64_t hash, int *same, qn_err *err)
{
    const uint32_t by = store->base + (uint32_t)entry->at;
    uint64_t handle = wanted->handle;
    qn_status st = QN_OK;

    *same = 0;
    if (entry->hash != hash || entry->n != wanted->n || entry->is_lost)
        return QN_OK;
    if (!wanted->has_handles) {
        *same = handle + by == entry->handle &&
                memcmp(wanted->bytes, store->bytes + entry->at, wanted->n) == 0;
        return QN_OK;
    }
    QN_TRY(make_scratch(store, wanted->n, err));
    memcpy(store->scratch, wanted->bytes, wanted->n);
    QN_TRY(store->move(&handle, store->scratch, wanted->n, by, err));
    *same =
        handle == entry->handle && memcmp(store->scratch, store->bytes + entry->at, wanted->n) == 0;
out:
    return st;
}

static qn_status find(qn_content_store *store, const qn_content *wanted, uint64_t hash,
                      uint32_t *found, qn_err *err)
{
    qn_status st = QN_OK;
    uint32_t i = qn_content_index_first(&store->index, hash);
    int same = 0;

    for (; i != QN_NO_CONTENT; i = store->index.items[i].next) {
        QN_TRY(is_same(store, &store->index.items[i], wanted, hash, &same, err));
        if (same)
            break;
    }
    *found = i;
out:
    return st;
}

/* Taking. */

static void hold_entry(qn_content_store *store, qn_content_hold *hold, uint32_t i, uint32_t mark)
{
    qn_content_entry *const entry = &store->index.items[i];

    if (entry->holds++ == 0)
        store->held_bytes += entry->bytes;
    hold->held[hold->n_held++] = i | mark;
    store->last = (qn_content_ticket){ .stamp = entry->stamp, .entry = i };
}

/* Copies content to its place and moves its handles there. */
static qn_status copy_in(qn_content_store *store, const qn_content *wanted, size_t at, size_t bytes,
                         uint64_t *handle, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(extend_copy(store, at + bytes, err));
    memcpy(store->bytes + at, wanted->bytes, wanted->n);
    memset(store->bytes + at + wanted->n, 0, bytes - wanted->n);
    *handle = wanted->handle;
    QN_TRY(store->move(handle, store->bytes + at, wanted->n, store->base + (uint32_t)at, err));
out:
    return st;
}

static qn_status enter(qn_content_store *store, qn_content_hold *hold, const qn_content *wanted,
                       uint64_t hash, uint64_t *handle, qn_content_taken *taken, qn_err *err)
{
    const size_t align = QN_CONTENT_ALIGN;
    const size_t bytes = wanted->n + (align - wanted->n % align) % align;
    qn_content_entry entry = { .hash = hash, .bytes = bytes, .n = wanted->n };
    qn_status st = QN_OK;

    if (bytes > store->budget) {
        *taken = QN_CONTENT_TOO_LARGE;
        return QN_OK;
    }
    QN_TRY(qn_content_index_reserve(&store->index, err));
    QN_TRY(qn_content_ranges_reserve(&store->ranges, err));
    if (!find_room(store, bytes, &entry.at)) {
        *taken = QN_CONTENT_FULL;
        return QN_OK;
    }
    if ((st = copy_in(store, wanted, entry.at, bytes, &entry.handle, err)) != QN_OK) {
        qn_content_ranges_give(&store->ranges, entry.at, bytes);
        goto out;
    }
    entry.stamp = ++store->stamps;
    hold_entry(store, hold, qn_content_index_add(&store->index, &entry), IS_NEW);
    hold->uploads[hold->n_uploads++] = (qn_content_range){ .at = entry.at, .bytes = bytes };
    *handle = entry.handle;
    *taken = QN_CONTENT_RESIDENT;
out:
    return st;
}

qn_status qn_content_take(qn_content_store *store, qn_content_hold *hold, const qn_content *content,
                          uint64_t *handle, qn_content_taken *taken, qn_err *err)
{
    const uint64_t hash = qn_content_hash(content->handle, content->bytes, content->n);
    uint32_t found = QN_NO_CONTENT;
    qn_status st = QN_OK;

    store->last = (qn_content_ticket){ 0 };
    if (content->n == 0) {
        *handle = content->handle;
        *taken = QN_CONTENT_RESIDENT;
        return QN_OK;
    }
    QN_TRY(reserve_in_hold(hold, err));
    QN_TRY(find(store, content, hash, &found, err));
    if (found == QN_NO_CONTENT) {
        QN_TRY(enter(store, hold, content, hash, handle, taken, err));
        store->misses++;
        goto out;
    }
    store->hits++;
    qn_content_index_touch(&store->index, found);
    hold_entry(store, hold, found, 0);
    *handle = store->index.items[found].handle;
    *taken = QN_CONTENT_RESIDENT;
out:
    return st;
}

qn_content_ticket qn_content_last(const qn_content_store *store)
{
    return store->last;
}

int qn_content_retake(qn_content_store *store, qn_content_hold *hold, qn_content_ticket ticket)
{
    const qn_content_entry *entry;
    qn_err ignored;

    if (!ticket.stamp || ticket.entry >= store->index.n_items)
        return 0;
    entry = &store->index.items[ticket.entry];
    if (entry->stamp != ticket.stamp || entry->is_lost || reserve_in_hold(hold, &ignored) != QN_OK)
        return 0;
    store->hits++;
    qn_content_index_touch(&store->index, ticket.entry);
    hold_entry(store, hold, ticket.entry, 0);
    return 1;
}

/* Uploads. */

static int by_address(const void *a, const void *b)
{
    const qn_content_range *const one = a;
    const qn_content_range *const other = b;

    return (one->at > other->at) - (one->at < other->at);
}

size_t qn_content_uploads(qn_content_hold *hold, size_t gap, const qn_content_range **ranges)
{
    size_t n = 0;

    if (hold->n_uploads > 1)
        qsort(hold->uploads, hold->n_uploads, sizeof *hold->uploads, by_address);
    for (size_t i = 0; i < hold->n_uploads; i++) {
        const qn_content_range next = hold->uploads[i];
        qn_content_range *const last = n ? &hold->uploads[n - 1] : NULL;

        if (last && next.at - (last->at + last->bytes) <= gap)
            last->bytes = next.at + next.bytes - last->at;
        else
            hold->uploads[n++] = next;
    }
    hold->n_uploads = n;
    *ranges = hold->uploads;
    return n;
}

/* Releasing. */

static void end_hold(qn_content_store *store, qn_content_hold *hold, int is_failed)
{
    for (size_t k = 0; k < hold->n_held; k++) {
        const uint32_t i = hold->held[k] & ~IS_NEW;
        qn_content_entry *const entry = &store->index.items[i];

        entry->is_lost |= is_failed && hold->held[k] & IS_NEW;
        if (--entry->holds > 0)
            continue;
        store->held_bytes -= entry->bytes;
        if (entry->is_lost)
            drop(store, i);
    }
    free(hold->held);
    free(hold->uploads);
    *hold = (qn_content_hold){ 0 };
}

void qn_content_release(qn_content_store *store, qn_content_hold *hold)
{
    end_hold(store, hold, 0);
}

void qn_content_abandon(qn_content_store *store, qn_content_hold *hold)
{
    end_hold(store, hold, 1);
}

/* Reading. */

size_t qn_content_budget(const qn_content_store *store)
{
    return store->budget;
}

const unsigned char *qn_content_bytes(const qn_content_store *store)
{
    return store->bytes;
}

size_t qn_content_extent(const qn_content_store *store)
{
    return qn_content_ranges_extent(&store->ranges);
}

qn_content_stats qn_content_get_stats(const qn_content_store *store)
{
    return (qn_content_stats){ .hits = store->hits,
                               .misses = store->misses,
                               .evictions = store->evictions,
                               .bytes = store->ranges.taken_bytes,
                               .n_entries = store->index.n_used };
}

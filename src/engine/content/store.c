/* store.c - content comes in, is found again, is held, and is evicted. */
#include "engine/content/content_impl.h"

#include "engine/content/hash.h"
#include "util/list.h"
#include "util/status.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Stamps and holds of a store begin after its number times this: no two stores give out the same,
 * so that tickets need not say which one they are of. */
#define STAMPS_EACH (UINT64_C(1) << 40)

static qn_status move_handle(uint64_t *handle, QN_UNUSED unsigned char *bytes, QN_UNUSED size_t n,
                             uint32_t by, QN_UNUSED qn_err *err)
{
    *handle += by;
    return QN_OK;
}

static void open_metrics(qn_content_store *store)
{
    qn_metrics *const m = qn_ctx_metrics(store->ctx);
    const char *const *const labels = QN_LABELS("store", store->name);

    store->hits = qn_metric_of(m, "content_hits", labels);
    store->misses = qn_metric_of(m, "content_misses", labels);
    store->evictions = qn_metric_of(m, "content_evictions", labels);
    store->peak = qn_metric_of(m, "content_peak_bytes", labels);
}

/* Brings the metrics up to date: takes are too many to count each. */
static void count(qn_content_store *store)
{
    const qn_content_stats now = qn_content_get_stats(store), had = store->counted;

    qn_metric_add(store->hits, (double)(now.hits - had.hits));
    qn_metric_add(store->misses, (double)(now.misses - had.misses));
    qn_metric_add(store->evictions, (double)(now.evictions - had.evictions));
    qn_metric_max(store->peak, (double)now.bytes);
    store->counted = now;
}

qn_status qn_content_open(qn_ctx *ctx, const qn_content_options *options, qn_content_store **out,
                          qn_err *err)
{
    static _Atomic uint64_t n_stores;
    qn_content_store *store = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(store, 1, "a content store", err));
    store->ctx = ctx;
    snprintf(store->name, sizeof store->name, "%s", options->name ? options->name : "content");
    snprintf(store->what, sizeof store->what, "%s", options->what ? options->what : "content");
    store->move = options->move ? options->move : move_handle;
    store->base = options->base;
    store->budget = options->budget_bytes - options->budget_bytes % QN_CONTENT_ALIGN;
    store->stamps = store->holds = STAMPS_EACH * atomic_fetch_add(&n_stores, 1);
    if (ctx)
        open_metrics(store);
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
    qn_content_free_copies(store);
    qn_content_index_free(&store->index);
    qn_content_ranges_free(&store->ranges);
    free(store->bytes);
    free(store->scratch);
    free(store->missing);
    free(store);
}

/* Memory. */

/* Extends the host's copy up to `end`, which the budget allows; new bytes are 0. */
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
    store->stats.evictions++;
}

/* The least recently used entry without holds, searching from `i` towards newer entries. */
static uint32_t oldest_idle(const qn_content_store *store, uint32_t i)
{
    while (i != QN_NO_CONTENT && store->index.items[i].holds)
        i = store->index.items[i].links[QN_BY_USE].newer;
    return i;
}

/* Finds space for `bytes`, evicting other entries if needed; returns 0 if there is still not
 * enough. */
static int find_room(qn_content_store *store, size_t bytes, size_t *at)
{
    uint32_t next = store->index.ends[QN_BY_USE].older;

    if (store->budget - store->held_bytes < bytes)
        return 0;
    while (!qn_content_ranges_take(&store->ranges, bytes, at)) {
        const uint32_t i = oldest_idle(store, next);

        if (i == QN_NO_CONTENT)
            return 0;
        next = store->index.items[i].links[QN_BY_USE].newer;
        drop(store, i);
    }
    return 1;
}

void qn_content_clear(qn_content_store *store)
{
    uint32_t i = oldest_idle(store, store->index.ends[QN_BY_USE].older);

    while (i != QN_NO_CONTENT) {
        const uint32_t next = store->index.items[i].links[QN_BY_USE].newer;

        drop(store, i);
        i = oldest_idle(store, next);
    }
    count(store);
}

int qn_content_shrink(qn_content_store *store, size_t budget_bytes)
{
    const size_t budget = budget_bytes - budget_bytes % QN_CONTENT_ALIGN;
    uint32_t i = store->index.ends[QN_BY_USE].older;

    if (budget >= store->budget || store->held_bytes)
        return 0;
    while (i != QN_NO_CONTENT) {
        const qn_content_entry *const entry = &store->index.items[i];
        const uint32_t next = entry->links[QN_BY_USE].newer;

        if (entry->at + entry->bytes > budget || store->ranges.taken_bytes > budget / 2)
            drop(store, i);
        i = next;
    }
    qn_content_ranges_shrink(&store->ranges, budget);
    store->budget = budget;
    count(store);
    return 1;
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
    if (entry->hash != hash || entry->n != wanted->n)
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

static qn_status begin_take(qn_content_store *store, qn_content_hold *hold, qn_err *err)
{
    if (!hold->id)
        hold->id = ++store->holds;
    return QN_GROW(hold->held, hold->n_held, &hold->held_room, "content of a batch", err);
}

static void hold_entry(qn_content_store *store, qn_content_hold *hold, uint32_t i,
                       qn_content_ticket *ticket)
{
    qn_content_entry *const entry = &store->index.items[i];

    if (entry->holds++ == 0)
        store->held_bytes += entry->bytes;
    hold->held[hold->n_held++] = i;
    *ticket = (qn_content_ticket){ .stamp = entry->stamp, .hold = hold->id, .entry = i };
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

static qn_status enter(qn_content_store *store, const qn_content *wanted, uint64_t hash,
                       uint32_t *entered, qn_content_taken *taken, qn_err *err)
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
    *entered = qn_content_index_add(&store->index, &entry);
out:
    return st;
}

qn_status qn_content_take(qn_content_store *store, qn_content_hold *hold, const qn_content *content,
                          qn_content_ticket *ticket, uint64_t *handle, qn_content_taken *taken,
                          qn_err *err)
{
    const uint64_t hash = qn_content_hash(content->handle, content->bytes, content->n);
    qn_content_ticket unwanted;
    uint32_t i = QN_NO_CONTENT;
    qn_status st = QN_OK;

    ticket = ticket ? ticket : &unwanted;
    *ticket = (qn_content_ticket){ 0 };
    QN_TRY(begin_take(store, hold, err));
    *taken = QN_CONTENT_RESIDENT;
    if (content->n == 0) {
        *handle = content->handle;
        ticket->hold = hold->id;
        return QN_OK;
    }
    QN_TRY(find(store, content, hash, &i, err));
    if (i != QN_NO_CONTENT) {
        store->stats.hits++;
        qn_content_index_touch(&store->index, i);
    } else {
        QN_TRY(enter(store, content, hash, &i, taken, err));
        store->stats.misses++;
    }
    if (i == QN_NO_CONTENT)
        return QN_OK;
    hold_entry(store, hold, i, ticket);
    *handle = store->index.items[i].handle;
out:
    return st;
}

int qn_content_retake(qn_content_store *store, qn_content_hold *hold, qn_content_ticket *ticket)
{
    qn_err ignored;

    if (qn_content_is_held(hold, ticket))
        return 1;
    if (!ticket->stamp || ticket->entry >= store->index.n_items ||
        store->index.items[ticket->entry].stamp != ticket->stamp ||
        begin_take(store, hold, &ignored) != QN_OK)
        return 0;
    store->stats.hits++;
    qn_content_index_touch(&store->index, ticket->entry);
    hold_entry(store, hold, ticket->entry, ticket);
    return 1;
}

void qn_content_release(qn_content_store *store, qn_content_hold *hold)
{
    for (size_t k = 0; k < hold->n_held; k++) {
        qn_content_entry *const entry = &store->index.items[hold->held[k]];

        if (--entry->holds == 0)
            store->held_bytes -= entry->bytes;
    }
    free(hold->held);
    *hold = (qn_content_hold){ 0 };
    count(store);
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
    qn_content_stats stats = store->stats;

    stats.bytes = store->ranges.taken_bytes;
    stats.n_entries = store->index.n_used;
    return stats;
}

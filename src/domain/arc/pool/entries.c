/* entries.c - the pool's entries: an index by hash and a list by last use.
 *
 * Entries are named by number, since the array moves when it grows.
 */
#include "domain/arc/pool/pool_impl.h"

#include <string.h>

void qn_arc_entries_init(qn_arc_entries *entries, qn_arc_resize *resize)
{
    *entries = (qn_arc_entries){ .unused = QN_ARC_NO_ENTRY,
                                 .oldest = QN_ARC_NO_ENTRY,
                                 .newest = QN_ARC_NO_ENTRY,
                                 .resize = resize };
}

void qn_arc_entries_free(qn_arc_entries *entries)
{
    if (entries->items)
        entries->resize(entries->items, 0);
    if (entries->buckets)
        entries->resize(entries->buckets, 0);
    qn_arc_entries_init(entries, entries->resize);
}

/* Index. */

static uint32_t *bucket_of(const qn_arc_entries *entries, uint64_t hash)
{
    return &entries->buckets[(hash ^ hash >> 32) & (entries->n_buckets - 1)];
}

uint32_t qn_arc_entries_first(const qn_arc_entries *entries, uint64_t hash)
{
    return entries->n_buckets ? *bucket_of(entries, hash) : QN_ARC_NO_ENTRY;
}

static void fill_buckets(qn_arc_entries *entries)
{
    memset(entries->buckets, 0xff, entries->n_buckets * sizeof *entries->buckets);
    for (uint32_t i = entries->oldest; i != QN_ARC_NO_ENTRY; i = entries->items[i].newer) {
        uint32_t *const bucket = bucket_of(entries, entries->items[i].hash);

        entries->items[i].next = *bucket;
        *bucket = i;
    }
}

qn_status qn_arc_entries_reserve(qn_arc_entries *entries, qn_err *err)
{
    if (entries->unused == QN_ARC_NO_ENTRY && entries->n_items == entries->room) {
        const size_t room = entries->room ? entries->room * 2 : 64;
        qn_arc_entry *const more =
            room < QN_ARC_NO_ENTRY ? entries->resize(entries->items, room * sizeof *more) : NULL;

        if (!more)
            return qn_fail(err, QN_ERR_NOMEM, "no memory for %zu entries of the pool", room);
        entries->items = more;
        entries->room = room;
    }
    if (entries->n_used >= entries->n_buckets) {
        const size_t n = entries->n_buckets ? entries->n_buckets * 2 : 128;
        uint32_t *const more = entries->resize(entries->buckets, n * sizeof *more);

        if (!more)
            return qn_fail(err, QN_ERR_NOMEM, "no memory for an index of %zu entries", n);
        entries->buckets = more;
        entries->n_buckets = n;
        fill_buckets(entries);
    }
    return QN_OK;
}

/* Order of last use. */

static void unlink_entry(qn_arc_entries *entries, uint32_t i)
{
    const qn_arc_entry *const entry = &entries->items[i];

    if (entry->older != QN_ARC_NO_ENTRY)
        entries->items[entry->older].newer = entry->newer;
    else
        entries->oldest = entry->newer;
    if (entry->newer != QN_ARC_NO_ENTRY)
        entries->items[entry->newer].older = entry->older;
    else
        entries->newest = entry->older;
}

static void link_newest(qn_arc_entries *entries, uint32_t i)
{
    entries->items[i].older = entries->newest;
    entries->items[i].newer = QN_ARC_NO_ENTRY;
    if (entries->newest != QN_ARC_NO_ENTRY)
        entries->items[entries->newest].newer = i;
    else
        entries->oldest = i;
    entries->newest = i;
}

void qn_arc_entries_touch(qn_arc_entries *entries, uint32_t i)
{
    if (entries->newest == i)
        return;
    unlink_entry(entries, i);
    link_newest(entries, i);
}

/* Adding and removing. */

uint32_t qn_arc_entries_add(qn_arc_entries *entries, const qn_arc_entry *entry)
{
    uint32_t *const bucket = bucket_of(entries, entry->hash);
    uint32_t i = entries->unused;

    if (i != QN_ARC_NO_ENTRY)
        entries->unused = entries->items[i].next;
    else
        i = (uint32_t)entries->n_items++;
    entries->items[i] = *entry;
    entries->items[i].next = *bucket;
    *bucket = i;
    link_newest(entries, i);
    entries->n_used++;
    return i;
}

void qn_arc_entries_remove(qn_arc_entries *entries, uint32_t i)
{
    uint32_t *at = bucket_of(entries, entries->items[i].hash);

    while (*at != i)
        at = &entries->items[*at].next;
    *at = entries->items[i].next;
    unlink_entry(entries, i);
    entries->items[i].stamp = 0;
    entries->items[i].next = entries->unused;
    entries->unused = i;
    entries->n_used--;
}

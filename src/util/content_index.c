/* content_index.c - the entries of a content store: a hash index and a list by last use.
 *
 * Entries are identified by index, since the array moves when it grows.
 */
#include "util/content_parts.h"

#include "util/list.h"

#include <stdlib.h>
#include <string.h>

void qn_content_index_init(qn_content_index *index)
{
    *index = (qn_content_index){ .unused = QN_NO_CONTENT,
                                 .oldest = QN_NO_CONTENT,
                                 .newest = QN_NO_CONTENT };
}

void qn_content_index_free(qn_content_index *index)
{
    free(index->items);
    free(index->buckets);
    qn_content_index_init(index);
}

static uint32_t *bucket_of(const qn_content_index *index, uint64_t hash)
{
    return &index->buckets[(hash ^ hash >> 32) & (index->n_buckets - 1)];
}

uint32_t qn_content_index_first(const qn_content_index *index, uint64_t hash)
{
    return index->n_buckets ? *bucket_of(index, hash) : QN_NO_CONTENT;
}

static void fill_buckets(qn_content_index *index)
{
    memset(index->buckets, 0xff, index->n_buckets * sizeof *index->buckets);
    for (uint32_t i = index->oldest; i != QN_NO_CONTENT; i = index->items[i].newer) {
        uint32_t *const bucket = bucket_of(index, index->items[i].hash);

        index->items[i].next = *bucket;
        *bucket = i;
    }
}

qn_status qn_content_index_reserve(qn_content_index *index, qn_err *err)
{
    const size_t n = index->n_buckets ? index->n_buckets * 2 : 128;
    uint32_t *more;
    qn_status st = QN_OK;

    if (index->n_items + 1 >= QN_NO_CONTENT)
        return qn_fail(err, QN_ERR_NOMEM, "a content store of more than %zu entries",
                       index->n_items);
    if (index->unused == QN_NO_CONTENT)
        QN_TRY(QN_GROW(index->items, index->n_items, &index->room, "content", err));
    if (index->n_used >= index->n_buckets) {
        QN_TRY(QN_NEW(more, n, "an index of content", err));
        free(index->buckets);
        index->buckets = more;
        index->n_buckets = n;
        fill_buckets(index);
    }
out:
    return st;
}

/* Order of last use. */

static void unlink_entry(qn_content_index *index, uint32_t i)
{
    const qn_content_entry *const entry = &index->items[i];

    if (entry->older != QN_NO_CONTENT)
        index->items[entry->older].newer = entry->newer;
    else
        index->oldest = entry->newer;
    if (entry->newer != QN_NO_CONTENT)
        index->items[entry->newer].older = entry->older;
    else
        index->newest = entry->older;
}

static void link_newest(qn_content_index *index, uint32_t i)
{
    index->items[i].older = index->newest;
    index->items[i].newer = QN_NO_CONTENT;
    if (index->newest != QN_NO_CONTENT)
        index->items[index->newest].newer = i;
    else
        index->oldest = i;
    index->newest = i;
}

void qn_content_index_touch(qn_content_index *index, uint32_t i)
{
    if (index->newest == i)
        return;
    unlink_entry(index, i);
    link_newest(index, i);
}

/* Adding and removing. */

uint32_t qn_content_index_add(qn_content_index *index, const qn_content_entry *entry)
{
    uint32_t *const bucket = bucket_of(index, entry->hash);
    uint32_t i = index->unused;

    if (i != QN_NO_CONTENT)
        index->unused = index->items[i].next;
    else
        i = (uint32_t)index->n_items++;
    index->items[i] = *entry;
    index->items[i].next = *bucket;
    *bucket = i;
    link_newest(index, i);
    index->n_used++;
    return i;
}

void qn_content_index_remove(qn_content_index *index, uint32_t i)
{
    uint32_t *at = bucket_of(index, index->items[i].hash);

    while (*at != i)
        at = &index->items[*at].next;
    *at = index->items[i].next;
    unlink_entry(index, i);
    index->items[i].stamp = 0;
    index->items[i].next = index->unused;
    index->unused = i;
    index->n_used--;
}

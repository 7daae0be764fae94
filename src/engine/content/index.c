/* index.c - the entries of a content store: a hash index, and lists in two orders.
 *
 * Entries are identified by index, since the array moves when it grows.
 */
#include "engine/content/content_impl.h"

#include "util/list.h"

#include <stdlib.h>
#include <string.h>

void qn_content_index_init(qn_content_index *index)
{
    *index = (qn_content_index){ .unused = QN_NO_CONTENT };
    memset(index->ends, 0xff, sizeof index->ends);
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
    for (uint32_t i = index->ends[QN_BY_USE].older; i != QN_NO_CONTENT;
         i = index->items[i].links[QN_BY_USE].newer) {
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

/* Orders. */

static void unlink_entry(qn_content_index *index, qn_content_order order, uint32_t i)
{
    const qn_content_link link = index->items[i].links[order];
    qn_content_link *const ends = &index->ends[order];

    *(link.older == QN_NO_CONTENT ? &ends->older : &index->items[link.older].links[order].newer) =
        link.newer;
    *(link.newer == QN_NO_CONTENT ? &ends->newer : &index->items[link.newer].links[order].older) =
        link.older;
}

static void link_newest(qn_content_index *index, qn_content_order order, uint32_t i)
{
    qn_content_link *const ends = &index->ends[order];

    index->items[i].links[order] =
        (qn_content_link){ .older = ends->newer, .newer = QN_NO_CONTENT };
    *(ends->newer == QN_NO_CONTENT ? &ends->older : &index->items[ends->newer].links[order].newer) =
        i;
    ends->newer = i;
}

void qn_content_index_touch(qn_content_index *index, uint32_t i)
{
    if (index->ends[QN_BY_USE].newer == i)
        return;
    unlink_entry(index, QN_BY_USE, i);
    link_newest(index, QN_BY_USE, i);
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
    for (int order = 0; order < QN_N_ORDERS; order++)
        link_newest(index, (qn_content_order)order, i);
    index->n_used++;
    return i;
}

void qn_content_index_remove(qn_content_index *index, uint32_t i)
{
    uint32_t *at = bucket_of(index, index->items[i].hash);

    while (*at != i)
        at = &index->items[*at].next;
    *at = index->items[i].next;
    for (int order = 0; order < QN_N_ORDERS; order++)
        unlink_entry(index, (qn_content_order)order, i);
    index->items[i].stamp = 0;
    index->items[i].next = index->unused;
    index->unused = i;
    index->n_used--;
}

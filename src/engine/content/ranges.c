/* ranges.c - the free ranges of a content store, joined when they touch. */
#include "engine/content/content_impl.h"

#include "util/list.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Free ranges alternate with taken ones, so there is at most one more free range than taken
 * ranges. */
qn_status qn_content_ranges_reserve(qn_content_ranges *ranges, qn_err *err)
{
    return QN_GROW(ranges->free, ranges->n_taken + 1, &ranges->room, "ranges of a content store",
                   err);
}

qn_status qn_content_ranges_init(qn_content_ranges *ranges, size_t limit, qn_err *err)
{
    qn_status st;

    *ranges = (qn_content_ranges){ .limit = limit };
    if ((st = qn_content_ranges_reserve(ranges, err)) != QN_OK)
        return st;
    if (limit > 0)
        ranges->free[ranges->n++] = (qn_content_range){ .at = 0, .bytes = limit };
    return QN_OK;
}

void qn_content_ranges_free(qn_content_ranges *ranges)
{
    free(ranges->free);
    *ranges = (qn_content_ranges){ 0 };
}

static void remove_range(qn_content_ranges *ranges, size_t i)
{
    ranges->n--;
    memmove(ranges->free + i, ranges->free + i + 1, (ranges->n - i) * sizeof *ranges->free);
}

int qn_content_ranges_take(qn_content_ranges *ranges, size_t bytes, size_t *at)
{
    assert(bytes > 0 && bytes % QN_CONTENT_ALIGN == 0);
    for (size_t i = 0; i < ranges->n; i++) {
        qn_content_range *const range = &ranges->free[i];

        if (range->bytes < bytes)
            continue;
        *at = range->at;
        range->at += bytes;
        range->bytes -= bytes;
        if (range->bytes == 0)
            remove_range(ranges, i);
        ranges->n_taken++;
        ranges->taken_bytes += bytes;
        return 1;
    }
    return 0;
}

/* The first free range after `at`. */
static size_t range_after(const qn_content_ranges *ranges, size_t at)
{
    size_t low = 0;
    size_t high = ranges->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (ranges->free[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void qn_content_ranges_give(qn_content_ranges *ranges, size_t at, size_t bytes)
{
    const size_t i = range_after(ranges, at);
    qn_content_range *const after = i < ranges->n ? &ranges->free[i] : NULL;
    qn_content_range *const before = i > 0 ? &ranges->free[i - 1] : NULL;
    const int touches_before = before && before->at + before->bytes == at;
    const int touches_after = after && at + bytes == after->at;

    assert(ranges->n_taken > 0);
    ranges->n_taken--;
    ranges->taken_bytes -= bytes;
    if (touches_before) {
        before->bytes += bytes;
        if (touches_after) {
            before->bytes += after->bytes;
            remove_range(ranges, i);
        }
    } else if (touches_after) {
        after->at = at;
        after->bytes += bytes;
    } else {
        assert(ranges->n < ranges->room);
        memmove(ranges->free + i + 1, ranges->free + i, (ranges->n - i) * sizeof *ranges->free);
        ranges->free[i] = (qn_content_range){ .at = at, .bytes = bytes };
        ranges->n++;
    }
}

void qn_content_ranges_shrink(qn_content_ranges *ranges, size_t limit)
{
    qn_content_range *const last = ranges->n ? &ranges->free[ranges->n - 1] : NULL;

    assert(qn_content_ranges_extent(ranges) <= limit && limit <= ranges->limit);
    if (limit == ranges->limit)
        return;
    assert(last != NULL && last->at <= limit);
    last->bytes = limit - last->at;
    if (last->bytes == 0)
        ranges->n--;
    ranges->limit = limit;
}

size_t qn_content_ranges_extent(const qn_content_ranges *ranges)
{
    const qn_content_range *const last = ranges->n ? &ranges->free[ranges->n - 1] : NULL;

    return last && last->at + last->bytes == ranges->limit ? last->at : ranges->limit;
}

/* places.c - free ranges of the pool, joined when they touch. */
#include "domain/arc/pool/places.h"

#include <assert.h>
#include <string.h>

/* Places taken lie between free ranges, so there is at most one free range more than places. */
qn_status qn_arc_places_reserve(qn_arc_places *places, qn_err *err)
{
    const size_t want = places->n_taken + 2;
    size_t room = places->room ? places->room : 16;
    qn_arc_range *more;

    if (want <= places->room)
        return QN_OK;
    while (room < want)
        room *= 2;
    if (!(more = places->resize(places->free, room * sizeof *more)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %zu ranges of the pool", room);
    places->free = more;
    places->room = room;
    return QN_OK;
}

qn_status qn_arc_places_init(qn_arc_places *places, size_t limit, qn_arc_resize *resize,
                             qn_err *err)
{
    qn_status st;

    *places = (qn_arc_places){ .limit = limit, .resize = resize };
    if ((st = qn_arc_places_reserve(places, err)) != QN_OK)
        return st;
    if (limit > 0)
        places->free[places->n++] = (qn_arc_range){ .at = 0, .bytes = limit };
    return QN_OK;
}

void qn_arc_places_free(qn_arc_places *places)
{
    if (places->free)
        places->resize(places->free, 0);
    *places = (qn_arc_places){ 0 };
}

static void remove_range(qn_arc_places *places, size_t i)
{
    places->n--;
    memmove(places->free + i, places->free + i + 1, (places->n - i) * sizeof *places->free);
}

int qn_arc_places_take(qn_arc_places *places, size_t bytes, size_t *at)
{
    assert(bytes > 0 && bytes % QN_ARC_PLACE_ALIGN == 0);
    for (size_t i = 0; i < places->n; i++) {
        qn_arc_range *const range = &places->free[i];

        if (range->bytes < bytes)
            continue;
        *at = range->at;
        range->at += bytes;
        range->bytes -= bytes;
        if (range->bytes == 0)
            remove_range(places, i);
        places->n_taken++;
        places->taken_bytes += bytes;
        return 1;
    }
    return 0;
}

/* The first free range behind `at`. */
static size_t range_behind(const qn_arc_places *places, size_t at)
{
    size_t low = 0;
    size_t high = places->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (places->free[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void qn_arc_places_give(qn_arc_places *places, size_t at, size_t bytes)
{
    const size_t i = range_behind(places, at);
    qn_arc_range *const after = i < places->n ? &places->free[i] : NULL;
    qn_arc_range *const before = i > 0 ? &places->free[i - 1] : NULL;
    const int touches_before = before && before->at + before->bytes == at;
    const int touches_after = after && at + bytes == after->at;

    assert(places->n_taken > 0);
    places->n_taken--;
    places->taken_bytes -= bytes;
    if (touches_before) {
        before->bytes += bytes;
        if (touches_after) {
            before->bytes += after->bytes;
            remove_range(places, i);
        }
    } else if (touches_after) {
        after->at = at;
        after->bytes += bytes;
    } else {
        assert(places->n < places->room);
        memmove(places->free + i + 1, places->free + i, (places->n - i) * sizeof *places->free);
        places->free[i] = (qn_arc_range){ .at = at, .bytes = bytes };
        places->n++;
    }
}

void qn_arc_places_shrink(qn_arc_places *places, size_t limit)
{
    qn_arc_range *const last = places->n ? &places->free[places->n - 1] : NULL;

    assert(qn_arc_places_extent(places) <= limit && limit <= places->limit);
    if (limit == places->limit)
        return;
    assert(last != NULL && last->at <= limit);
    last->bytes = limit - last->at;
    if (last->bytes == 0)
        places->n--;
    places->limit = limit;
}

size_t qn_arc_places_extent(const qn_arc_places *places)
{
    const qn_arc_range *const last = places->n ? &places->free[places->n - 1] : NULL;

    return last && last->at + last->bytes == places->limit ? last->at : places->limit;
}

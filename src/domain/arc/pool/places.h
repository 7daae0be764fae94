/* places.h - which bytes of the pool are free.
 *
 * Free ranges are kept by address and joined with their neighbours. A place is taken at the lowest
 * address that has room, so that the used part stays short.
 */
#ifndef QN_ARC_PLACES_H
#define QN_ARC_PLACES_H

#include "util/status.h"

enum { QN_ARC_PLACE_ALIGN = 16 };

typedef struct qn_arc_range {
    size_t at, bytes;
} qn_arc_range;

typedef void *qn_arc_resize(void *old, size_t bytes); /* as realloc; frees for 0 bytes */

typedef struct qn_arc_places {
    qn_arc_range *free; /* by address, none touching the next */
    size_t n, room;
    size_t limit;
    size_t n_taken, taken_bytes;
    qn_arc_resize *resize;
} qn_arc_places;

qn_status qn_arc_places_init(qn_arc_places *places, size_t limit, qn_arc_resize *resize,
                             qn_err *err);
void qn_arc_places_free(qn_arc_places *places);

/* Makes sure that the next take, and every give after it, needs no memory. */
qn_status qn_arc_places_reserve(qn_arc_places *places, qn_err *err);

/* A place of `bytes`, a multiple of QN_ARC_PLACE_ALIGN; 0 when no free range has room. */
int qn_arc_places_take(qn_arc_places *places, size_t bytes, size_t *at);
void qn_arc_places_give(qn_arc_places *places, size_t at, size_t bytes);

/* Ends at `limit` from now on, beyond which nothing is taken. */
void qn_arc_places_shrink(qn_arc_places *places, size_t limit);

/* The end of the last place taken. */
size_t qn_arc_places_extent(const qn_arc_places *places);

#endif

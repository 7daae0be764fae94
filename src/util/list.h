/* list.h - arrays on the heap: new ones, and lists that grow by one. */
#ifndef QN_UTIL_LIST_H
#define QN_UTIL_LIST_H

#include "util/status.h"

#include <stddef.h>

/* QN_TRY(QN_NEW(rays, n, "rays", err)): allocates n zeroed elements, at least one. If memory runs
 * out, `rays` is NULL and the error says what it was for. */
#define QN_NEW(array, n, what, err)                                                                \
    qn_new_array((void *)&(array), (size_t)(n), sizeof *(array), what, err)

/* Stores the new array in *array; use QN_NEW. */
qn_status qn_new_array(void *array, size_t n, size_t size, const char *what, qn_err *err);

/* Returns `list`, moved if necessary, with room for at least n + 1 elements of `size` bytes; *room
 * is the capacity. NULL if memory runs out, with `list` unchanged. The capacity doubles, so adding
 * elements one by one takes linear time. */
void *qn_grown(void *list, size_t n, size_t *room, size_t size);

/* QN_TRY(QN_ROOM(list, n, &room, "points", err)): makes room for at least n elements, or
 * fails with an error. New elements are not zeroed. */
#define QN_ROOM(list, n, room, what, err)                                                          \
    qn_make_room((void *)&(list), (size_t)(n), room, sizeof *(list), what, err)

/* Like QN_ROOM, for one element after the first n. */
#define QN_GROW(list, n, room, what, err) QN_ROOM(list, (size_t)(n) + 1, room, what, err)

qn_status qn_make_room(void *list, size_t n, size_t *room, size_t size, const char *what,
                       qn_err *err);

#endif

/* list.c - memory for arrays. */
#include "util/list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 16 };

qn_status qn_new_array(void *array, size_t n, size_t size, const char *what, qn_err *err)
{
    void *made = calloc(n ? n : 1, size);

    memcpy(array, &made, sizeof made); /* as bytes: *array may be a pointer of any type */
    if (!made)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %s: %zu of %zu bytes each", what, n, size);
    return QN_OK;
}

void *qn_grown(void *list, size_t n, size_t *room, size_t size)
{
    const size_t wanted = *room ? 2 * *room : FIRST_ROOM;
    void *grown;

    if (n < *room)
        return list;
    if (*room > SIZE_MAX / 2 || wanted > SIZE_MAX / size)
        return NULL;
    if ((grown = realloc(list, wanted * size)))
        *room = wanted;
    return grown;
}

qn_status qn_make_room(void *list, size_t n, size_t *room, size_t size, const char *what,
                       qn_err *err)
{
    size_t wanted = *room ? *room : FIRST_ROOM;
    void *grown = NULL;

    if (n <= *room)
        return QN_OK;
    while (wanted < n && wanted <= SIZE_MAX / 2)
        wanted *= 2;
    memcpy(&grown, list, sizeof grown);
    if (wanted < n || wanted > SIZE_MAX / size || !(grown = realloc(grown, wanted * size)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %s: %zu of %zu bytes each", what, n, size);
    memcpy(list, &grown, sizeof grown);
    *room = wanted;
    return QN_OK;
}

/* list.c - lists that grow by one. */
#include "util/list.h"

#include <stdint.h>
#include <stdlib.h>

enum { FIRST_ROOM = 16 };

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

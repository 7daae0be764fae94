/* attic.c - blocks that are filled one after the other. */
#include "domain/arc/run/attic.h"

#include <stdlib.h>

enum { BLOCK = 1 << 18, ALIGN = 16 };

typedef struct qn_arc_attic_block {
    struct qn_arc_attic_block *older;
    _Alignas(ALIGN) unsigned char bytes[];
} block;

void *qn_arc_attic_take(qn_arc_attic *attic, size_t bytes)
{
    const size_t need = (bytes + ALIGN - 1) / ALIGN * ALIGN;

    if (!attic->newest || attic->room - attic->used < need) {
        const size_t room = need > BLOCK ? need : BLOCK;
        block *added = malloc(sizeof *added + room);

        if (!added)
            return NULL;
        added->older = attic->newest;
        attic->newest = added;
        attic->used = 0;
        attic->room = room;
    }
    attic->used += need;
    return attic->newest->bytes + attic->used - need;
}

void qn_arc_attic_drop(qn_arc_attic *attic)
{
    while (attic->newest) {
        block *const older = attic->newest->older;

        free(attic->newest);
        attic->newest = older;
    }
    *attic = (qn_arc_attic){ 0 };
}

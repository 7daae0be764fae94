/* arena.c - allocates small objects from large blocks. */
#include "util/arena.h"

#include <stdint.h>
#include <stdlib.h>

enum { BLOCK = 1 << 18, ALIGN = 16 };

typedef struct qn_arena_block {
    struct qn_arena_block *older;
    _Alignas(ALIGN) unsigned char bytes[];
} block;

void *qn_arena_take(qn_arena *arena, size_t bytes)
{
    const size_t need = (bytes + ALIGN - 1) / ALIGN * ALIGN;

    if (!arena->newest || arena->room - arena->used < need) {
        const size_t room = need > BLOCK ? need : BLOCK;
        block *added = malloc(sizeof *added + room);

        if (!added)
            return NULL;
        added->older = arena->newest;
        arena->newest = added;
        arena->used = 0;
        arena->room = room;
    }
    arena->used += need;
    return arena->newest->bytes + arena->used - need;
}

/* Large objects get their own blocks, linked behind the newest block, which still has space. */
void *qn_arena_zeros(qn_arena *arena, size_t n, size_t size)
{
    block *added = NULL;

    if (n <= (SIZE_MAX - sizeof *added) / size)
        added = calloc(1, sizeof *added + n * size);
    if (!added) {
        arena->failed = 1;
        return NULL;
    }
    if (arena->newest) {
        added->older = arena->newest->older;
        arena->newest->older = added;
    } else {
        arena->newest = added;
    }
    return added->bytes;
}

void qn_arena_clear(qn_arena *arena)
{
    while (arena->newest) {
        block *const older = arena->newest->older;

        free(arena->newest);
        arena->newest = older;
    }
    *arena = (qn_arena){ 0 };
}

/* arena.h - memory for many small objects that are all freed together. */
#ifndef QN_UTIL_ARENA_H
#define QN_UTIL_ARENA_H

#include <stddef.h>

/* All zero: empty. */
typedef struct qn_arena {
    struct qn_arena_block *newest;
    size_t used, room; /* of the newest block */
    int failed;        /* set by qn_arena_zeros */
} qn_arena;

/* Allocates `bytes`, aligned for any type; NULL if out of memory. */
void *qn_arena_take(qn_arena *arena, size_t bytes);
/* Allocates zeroed memory for `n` objects of `size` bytes; NULL if out of memory. Then `failed` is
 * set too, so it can be checked once after several calls. */
void *qn_arena_zeros(qn_arena *arena, size_t n, size_t size);
void qn_arena_clear(qn_arena *arena); /* frees everything; the arena can be used again */

#endif

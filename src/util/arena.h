/* arena.h - memory for many small things that are all freed at the same time. */
#ifndef QN_UTIL_ARENA_H
#define QN_UTIL_ARENA_H

#include <stddef.h>

/* Zeroed is empty. */
typedef struct qn_arena {
    struct qn_arena_block *newest;
    size_t used, room; /* of the newest block */
    int failed;        /* set by qn_arena_zeros */
} qn_arena;

/* Memory of `bytes`, aligned for anything; NULL without memory. */
void *qn_arena_take(qn_arena *arena, size_t bytes);
/* Zeroed memory for `n` things of `size` bytes. NULL without memory; `failed` says so as well, and
 * is enough to look at after several calls. */
void *qn_arena_zeros(qn_arena *arena, size_t n, size_t size);
void qn_arena_clear(qn_arena *arena); /* frees everything; the arena can be used again */

#endif

/* arena.h - memory for many small things that are all freed at the same time. */
#ifndef QN_UTIL_ARENA_H
#define QN_UTIL_ARENA_H

#include <stddef.h>

/* Zeroed is empty. */
typedef struct qn_arena {
    struct qn_arena_block *newest;
    size_t used, room; /* of the newest block */
} qn_arena;

/* Memory of `bytes`, aligned for anything; NULL without memory. */
void *qn_arena_take(qn_arena *arena, size_t bytes);
void qn_arena_clear(qn_arena *arena); /* frees everything; the arena can be used again */

#endif

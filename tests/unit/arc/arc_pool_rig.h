/* arc_pool_rig.h - a pool of resident values with an allocator that counts and fails on demand. */
#ifndef QN_TESTS_ARC_POOL_RIG_H
#define QN_TESTS_ARC_POOL_RIG_H

#include "arc_values.h"

#include <stdlib.h>

#include "domain/arc/pool/pool.h"
#include "kernel/arc/arc_code.h"

static long n_blocks;       /* allocated and not freed */
static long allocs_to_fail; /* this allocation fails, counted from 1; 0: none */
static long n_allocs;

static inline void *counted_resize(void *old, size_t bytes)
{
    void *made;

    if (bytes == 0) {
        n_blocks -= old != NULL;
        free(old);
        return NULL;
    }
    if (++n_allocs == allocs_to_fail)
        return NULL;
    made = realloc(old, bytes);
    n_blocks += !old && made;
    return made;
}

static inline qn_arc_pool *open_pool(size_t budget)
{
    const qn_arc_pool_options options = { .budget_bytes = budget, .resize = counted_resize };
    qn_arc_pool *pool = NULL;
    qn_err err = { .text = "" };

    if (qn_arc_pool_new(&options, &pool, &err) != QN_OK)
        fail_msg("%s", err.text);
    return pool;
}

/* A grid of one row whose packed form has `bytes` bytes and begins with `id`. */
static inline uint64_t packed_grid(int id, size_t bytes, unsigned char *out)
{
    const uint16_t size[2] = { 1, (uint16_t)(bytes - ARC_GRID_HEAD) };

    memset(out, 0, bytes);
    memcpy(out, size, sizeof size);
    memcpy(out + ARC_GRID_HEAD, &id, sizeof id);
    return ARC_SLOT(ARC_GRID, 0, 0);
}

enum { MOST_GRID = 4096 };

static inline qn_arc_taken take_grid(qn_arc_pool *pool, qn_arc_batch *batch, qn_arc_use use, int id,
                                     size_t bytes, size_t *at)
{
    unsigned char packed[MOST_GRID];
    uint64_t slot = packed_grid(id, bytes, packed);
    qn_arc_taken taken = QN_ARC_FULL;
    qn_err err = { .text = "" };

    if (qn_arc_pool_take(pool, batch, use, &slot, packed, bytes, &taken, &err) != QN_OK)
        fail_msg("%s", err.text);
    if (taken == QN_ARC_RESIDENT) {
        const size_t place = ARC_PAYLOAD(slot) - ARC_POOLED;

        assert_memory_equal(qn_arc_pool_bytes(pool) + place, packed, bytes);
        if (at)
            *at = place;
    }
    return taken;
}

#endif

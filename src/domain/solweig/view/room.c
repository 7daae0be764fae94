/* room.c - memory that is asked for in blocks, and given back. */
#include "room.h"

#include "engine/context.h"
#include "engine/memory/residency.h"

/* Blocks are powers of two, which pools do not round. */
enum { LEAST_BLOCK = 1 << 20, BLOCKS = 64 };

static size_t block_bytes(double bytes)
{
    size_t block = LEAST_BLOCK;

    while ((double)block * BLOCKS < bytes)
        block *= 2;
    return block;
}

static int gives(qn_device *device, double bytes)
{
    const size_t each = block_bytes(bytes);
    qn_block *blocks[BLOCKS];
    qn_err ignored;
    int n = 0, has_all = 1;

    qn_pool_trim(device->pool, SIZE_MAX);
    while ((double)(n + 1) * (double)each <= bytes && has_all) {
        has_all = qn_evict_acquire(device, each, "tile", "room for a tile", &blocks[n], &ignored) ==
                  QN_OK;
        n += has_all;
    }
    for (int i = 0; i < n; i++)
        qn_pool_release(device->pool, blocks[i]);
    qn_pool_trim(device->pool, (size_t)n * each);
    return has_all;
}

int qn_sw_has_room(qn_ctx *ctx, double bytes)
{
    for (int d = 0; d < ctx->n_devices; d++) {
        qn_device *device = &ctx->devices[d];

        if ((ctx->candidates >> d & 1u) && d != QN_CPU_SLOT && !device->lost &&
            !device->info.unified_memory && !gives(device, bytes))
            return 0;
    }
    return 1;
}

void qn_sw_pack(qn_ctx *ctx)
{
    for (int d = 0; d < ctx->n_devices; d++)
        if (d != QN_CPU_SLOT)
            qn_pool_set_exact_above(ctx->devices[d].pool, LEAST_BLOCK);
}

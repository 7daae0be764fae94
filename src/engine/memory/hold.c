/* hold.c - checks how much devices can hold now, and gives access to pools. */
#include "engine/memory/residency.h"

#include <string.h>

/* Blocks are powers of two, which pools do not round. */
enum { LEAST_BLOCK = 1 << 20, BLOCKS = 64 };
enum { DEVICE_USES = QN_USE_READ | QN_USE_WRITE | QN_USE_COPY_SRC | QN_USE_COPY_DST };
enum { HOST_USES = QN_USE_MAP_READ | QN_USE_MAP_WRITE };

static size_t block_bytes(double bytes)
{
    size_t block = LEAST_BLOCK;

    while ((double)block * BLOCKS < bytes)
        block *= 2;
    return block;
}

static int can_hold(qn_device *device, double bytes)
{
    const size_t each = block_bytes(bytes);
    qn_block *blocks[BLOCKS];
    qn_err ignored;
    int n = 0, has_all = 1;

    qn_pool_trim(device->pool, SIZE_MAX);
    while ((double)(n + 1) * (double)each <= bytes && has_all) {
        has_all = qn_evict_acquire(device, each, "tile", "room for a tile", 1, &blocks[n],
                                   &ignored) == QN_OK;
        n += has_all;
    }
    for (int i = 0; i < n; i++)
        qn_pool_release(device->pool, blocks[i]);
    qn_pool_trim(device->pool, (size_t)n * each);
    return has_all;
}

int qn_devices_can_hold(qn_ctx *ctx, double bytes)
{
    for (int d = 1; d < ctx->n_devices; d++) {
        qn_device *device = &ctx->devices[d];

        if (qn_device_is_candidate(ctx, d) && !device->lost && device->pool &&
            !can_hold(device, bytes))
            return 0;
    }
    return 1;
}

void qn_ctx_trim(qn_ctx *ctx, unsigned which)
{
    if (which & QN_TRIM_HOST)
        qn_pool_trim(ctx->host_pool, SIZE_MAX);
    for (int d = 1; which & QN_TRIM_DEVICES && d < ctx->n_devices; d++)
        if (ctx->devices[d].pool)
            qn_pool_trim(ctx->devices[d].pool, SIZE_MAX);
}

void qn_ctx_pack_memory(qn_ctx *ctx)
{
    for (int d = 1; d < ctx->n_devices; d++)
        if (ctx->devices[d].pool)
            qn_pool_set_exact_above(ctx->devices[d].pool, LEAST_BLOCK);
}

qn_pool *qn_ctx_host_pool(const qn_ctx *ctx)
{
    return ctx->host_pool;
}

int qn_ctx_host_is_pinned(const qn_ctx *ctx)
{
    return ctx->pinner != NULL;
}

qn_pool *qn_device_pool(const qn_ctx *ctx, int device)
{
    return ctx->devices[device].pool;
}

qn_status qn_pool_cycle(qn_pool *pool, size_t bytes, int is_host, int is_touched, qn_err *err)
{
    qn_block *block;
    const qn_status st =
        qn_pool_acquire(pool, bytes, is_host ? HOST_USES : DEVICE_USES, &block, err);

    if (st != QN_OK)
        return st;
    if (is_touched && block->host)
        memset(block->host, 1, bytes);
    qn_pool_release(pool, block);
    return QN_OK;
}

/* Tiles. */

static uint64_t min2(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

qn_tile_limits qn_tile_limits_of(const qn_device_info *info, uint64_t budget_bytes)
{
    qn_tile_limits l = { .usable_bytes = info->unified_memory ? info->mem_free : budget_bytes };

    l.tile_bytes = l.usable_bytes / 2;
    /* 0 means that the device has no limit of its own. */
    l.array_bytes = info->max_alloc ? min2(info->max_alloc, l.tile_bytes) : l.tile_bytes;
    return l;
}

qn_tile_limits qn_device_tiles(const qn_ctx *ctx, int device)
{
    return qn_tile_limits_of(&ctx->devices[device].info, ctx->devices[device].budget_bytes);
}

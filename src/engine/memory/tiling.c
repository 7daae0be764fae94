/* tiling.c - how large a tile may be on a device. */
#include "engine/memory/tiling.h"

static uint64_t min2(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

qn_tile_limits qn_tile_limits_of(const qn_device_info *info, uint64_t budget_bytes)
{
    qn_tile_limits l = { .usable_bytes = info->unified_memory ? info->mem_free : budget_bytes };

    l.tile_bytes = l.usable_bytes / 2;
    /* A device that states no limit has none of its own. */
    l.array_bytes = info->max_alloc ? min2(info->max_alloc, l.tile_bytes) : l.tile_bytes;
    return l;
}

qn_tile_limits qn_device_tiles(const qn_ctx *ctx, int device)
{
    return qn_tile_limits_of(&ctx->devices[device].info, ctx->devices[device].budget_bytes);
}

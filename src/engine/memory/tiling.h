/* tiling.h - how large a tile may be on a device.
 *
 * The working set of a tile, all its arrays together, is at most half of the memory budget: pools
 * round a block up to a power of two, so it may take up to twice its bytes. Each array of the tile
 * must be one allocation of the device.
 */
#ifndef QN_ENGINE_TILING_H
#define QN_ENGINE_TILING_H

#include "engine/context.h"

typedef struct qn_tile_limits {
    uint64_t usable_bytes; /* the budget, or what is free of the host memory a device works in */
    uint64_t tile_bytes;   /* of the working set */
    uint64_t array_bytes;  /* of one array */
} qn_tile_limits;

/* `budget_bytes` counts on devices with memory of their own. */
qn_tile_limits qn_tile_limits_of(const qn_device_info *info, uint64_t budget_bytes);
qn_tile_limits qn_device_tiles(const qn_ctx *ctx, int device);

/* The most items a tile may have that needs `item_bytes` per item in all its arrays together and
 * `widest_bytes` in the widest one; 0 when not one fits. Zero bytes cost nothing. */
uint64_t qn_tile_items(const qn_tile_limits *limits, uint64_t item_bytes, uint64_t widest_bytes);

#endif

/* tiling.h - tile limits as numbers in, numbers out. */
#ifndef QN_ENGINE_TILING_H
#define QN_ENGINE_TILING_H

#include "engine/context.h"

/* `budget_bytes` counts on devices with memory of their own. */
qn_tile_limits qn_tile_limits_of(const qn_device_info *info, uint64_t budget_bytes);

/* The most items a tile may have that needs `item_bytes` per item in all its arrays together and
 * `widest_bytes` in the widest one; 0 when not one fits. Zero bytes cost nothing. */
uint64_t qn_tile_items(const qn_tile_limits *limits, uint64_t item_bytes, uint64_t widest_bytes);

#endif

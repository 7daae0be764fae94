/* tiling.h - tile limits as numbers in, numbers out. */
#ifndef QN_ENGINE_TILING_H
#define QN_ENGINE_TILING_H

#include "engine/device/context.h"

/* `budget_bytes` counts on devices with memory of their own. */
qn_tile_limits qn_tile_limits_of(const qn_device_info *info, uint64_t budget_bytes);

#endif

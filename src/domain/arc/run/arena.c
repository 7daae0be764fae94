/* arena.c - how much memory a run has on a device. */
#include "domain/arc/run/arena.h"

enum { HOST_ARENA = 64 << 10, GPU_ARENA = 512 << 10, FRAME_BYTES = 48 };

int qn_arc_is_host(const qn_device_info *info)
{
    return info->kind == QN_KIND_CPU || info->kind == QN_KIND_SIM;
}

uint32_t qn_arc_arena_bytes(const qn_device_info *info, uint32_t asked, uint32_t frames, int lanes)
{
    if (qn_arc_is_host(info))
        return asked ? asked : HOST_ARENA;
    return (asked ? asked : GPU_ARENA) + frames * FRAME_BYTES * (uint32_t)lanes;
}

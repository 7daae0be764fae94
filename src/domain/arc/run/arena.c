/* arena.c - how much memory a run has on a device. */
#include "domain/arc/run/arena.h"

/* A run touches only as much of it as it needs, so that room costs nothing but addresses. */
enum { USUAL_ARENA = 512 << 10, FRAME_BYTES = 48 };

int qn_arc_is_host(const qn_device_info *info)
{
    return info->kind == QN_KIND_CPU || info->kind == QN_KIND_SIM;
}

uint32_t qn_arc_arena_bytes(const qn_device_info *info, uint32_t asked, uint32_t frames, int lanes)
{
    const uint32_t bytes = asked ? asked : USUAL_ARENA;

    return qn_arc_is_host(info) ? bytes : bytes + frames * FRAME_BYTES * (uint32_t)lanes;
}

/* arena.h - how much memory a run has on a device. */
#ifndef QN_ARC_ARENA_H
#define QN_ARC_ARENA_H

#include <quern/quern.h>

/* Whether the device computes on cores of the host: a team is one lane there. */
int qn_arc_is_host(const qn_device_info *info);

/* Bytes of an arena: what was asked for, or else what most runs need. The lanes of a GPU also have
 * frames of their own in it, and take elements of loops for themselves in parts of it. */
uint32_t qn_arc_arena_bytes(const qn_device_info *info, uint32_t asked, uint32_t frames, int lanes);

#endif

/* room.h - whether devices have the memory that a tile is about to ask for. */
#ifndef QN_SOLWEIG_VIEW_ROOM_H
#define QN_SOLWEIG_VIEW_ROOM_H

#include <quern/quern.h>

/* 1 when every device that may be chosen, and has memory of its own, gives `bytes` now. Limits tell
 * what a device should have; others may use it too. A smaller tile is cheaper than what the engine
 * does later for lack of memory: copies to and fro, and the CPU. */
int qn_sw_has_room(qn_ctx *ctx, double bytes);

/* Arrays of a city lie close in devices' memory from now on: their sizes are not rounded to powers
 * of two. */
void qn_sw_pack(qn_ctx *ctx);

#endif

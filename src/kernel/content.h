/* content.h - how new content is brought to its places; engine/content launches it. */
#ifndef QN_KERNEL_CONTENT_H
#define QN_KERNEL_CONTENT_H

#include "kernel/types.h"

#define CONTENT_PIECE 128 /* units of the longest piece */

/* A piece of what is new. Places and lengths are in units of 8 bytes. */
typedef struct content_piece {
    u32 from, to, n, zero;
} content_piece;
QN_PAR_SIZE(content_piece, 16);

#endif

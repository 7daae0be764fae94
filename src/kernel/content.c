/* content.c - new content goes to its place in a content store.
 *
 * One array brings everything that a batch adds: first the list of pieces, then their content. So a
 * store of any size is updated by one upload of what has changed.
 */
#include "dialect.h"
#include "content.h"

/* x: units of 8 bytes, up to the longest piece; y: pieces. */
MAP(content_load, IN(u64, fresh), INOUT(u64, pool))
{
    const content_piece piece = ((GLOBAL const content_piece *)fresh)[gy];

    if ((u32)gx < piece.n)
        pool[piece.to + (u32)gx] = fresh[piece.from + (u32)gx];
}

/* arc_load.c - puts new content in its place in the pool.
 *
 * One array holds everything that a batch adds: first the list of pieces, then their content. A
 * pool of any size is thus updated by one upload of the changes.
 */
#include "dialect.h"
#include "arc_code.h"

/* x: units of 8 bytes, up to the longest piece; y: pieces. */
MAP(arc_load, IN(u64, fresh), INOUT(u64, pool))
{
    const arc_piece piece = ((GLOBAL const arc_piece *)fresh)[gy];

    if ((u32)gx < piece.n)
        pool[piece.to + (u32)gx] = fresh[piece.from + (u32)gx];
}

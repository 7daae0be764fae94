/* segment.c - sums many items per cell in a fixed order.
 *
 * Cell c is the sum of value[code[k]] for k in [start[c], start[c + 1]), the list of its items,
 * which the host sorts by target once (engine/ops/segment.c). One work item sums a short list in
 * order. Long lists are cut into chunks of SEGMENT_CHUNK, whose partial sums are computed by lanes
 * and a tree of fixed shape, and joined the same way. The order of additions depends only on the
 * lists, so results are bit-identical on every device; float atomics would not be, and would be
 * slow if many items go to one cell.
 */
#include "dialect.h"
#include "fold.h"
#include "segment.h"

/* x: cells. Cells with long lists get 0 here and their sum from segment_join. */
MAP(segment_short, IN(i64, start), IN(i32, code), IN(float, value), OUT(float, cell))
{
    const i64 from = start[gx], to = start[gx + 1];
    float t = 0.0f;

    if (to - from <= SEGMENT_SHORT)
        for (i64 k = from; k < to; k++)
            t += value[code[k]];
    cell[gx] = t;
}

/* x: chunks of long lists; chunk i is code[first[i]] .. code[last[i] - 1]. */
GROUP(segment_part, IN(i64, first), IN(i64, last), IN(i32, code), IN(float, value),
      OUT(float, part))
{
    LOCAL(float, tile, LANES);
    const i64 from = first[GROUP_X];
    const i32 n = (i32)(last[GROUP_X] - from);

    EACH_LANE
    {
        float t = 0.0f;

        for (i32 j = LANE; j < n; j += LANES)
            t += value[code[from + j]];
        tile[LANE] = t;
    }
    SYNC;
    FOLD_LANES(tile, folded_sum)
    EACH_LANE if (LANE == 0) part[GROUP_X] = tile[0];
}

/* x: cells with long lists; number i is cell[target[i]], its partial sums part[begin[i]] .. */
GROUP(segment_join, IN(i32, target), IN(i64, begin), IN(float, part), INOUT(float, cell))
{
    LOCAL(float, tile, LANES);
    const i64 from = begin[GROUP_X];
    const i64 n = begin[GROUP_X + 1] - from;

    EACH_LANE
    {
        float t = 0.0f;

        for (i64 j = LANE; j < n; j += LANES)
            t += part[from + j];
        tile[LANE] = t;
    }
    SYNC;
    FOLD_LANES(tile, folded_sum)
    EACH_LANE if (LANE == 0) cell[target[GROUP_X]] = tile[0];
}

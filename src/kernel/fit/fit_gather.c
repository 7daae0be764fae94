/* fit_gather.c - sums the contributions of instances for each block, in the order of its list.
 *
 * Entry k of a block's list is place[k], a slot of a group, and instance[k]. Its contribution to a
 * cell is factor * part[at + instance], where `at` and factor belong to the place and the cell;
 * `at` -1 means a constant, the factor itself, and a place without this cell has factor 0. One item
 * sums a list of up to 32 entries. Longer lists are summed in chunks by 32 lanes and a tree, and so
 * are the sums of chunks: the order of additions depends only on the lists. Long loops load several
 * numbers before they add the first, so that a lane waits once for all of them.
 */
PRECISIONS
#define LANES 32
#include "dialect.h"
#include "fit_gather.h"
#include "fold.h"

/* Leaves sums that lane 0 computed alone unchanged. */
#define FOLD_LONG(tile) FOLD_TREE(if (!is_short) tile[LANE] += tile[LANE + w];)

FN real contribution(fit_gather_par p, i32 cell, i64 k, GLOBAL const u32 *place,
                     GLOBAL const u32 *instance, GLOBAL const i64 *at, GLOBAL const real *factor,
                     GLOBAL const real *part)
{
    const i64 slot = (i64)place[k] * p.stride + cell;

    return at[slot] < 0 ? factor[slot] : factor[slot] * part[at[slot] + instance[k]];
}

/* x: blocks * cells. Cells of long lists become 0 here; fit_gather_join adds their sum. */
MAP(fit_gather_short, VAL(fit_gather_par, p), IN(i64, start), IN(u32, place), IN(u32, instance),
    IN(i64, at), IN(real, factor), IN(real, part), IN(u8, is_off), INOUT(real, out))
{
    const i64 block = GI / p.cells;
    const i32 cell = (i32)(GI - block * p.cells);
    const i64 from = start[p.first_block + block], to = start[p.first_block + block + 1];
    real t = R(0);

    if (to - from <= FIT_LANES && !is_off[p.first + GI])
        for (i64 k = from; k < to; k++)
            t += contribution(p, cell, k, place, instance, at, factor, part);
    out[p.first + GI] = t;
}

/* x: chunks of long lists, y: cells. */
GROUP(fit_gather_part, VAL(fit_gather_par, p), IN(i64, first), IN(i64, last), IN(u32, place),
      IN(u32, instance), IN(i64, at), IN(real, factor), IN(real, part), OUT(real, sums))
{
    LOCAL(real, tile, LANES);
    const i64 from = first[GROUP_X];
    const i32 n = (i32)(last[GROUP_X] - from);
    const i32 is_short = n <= FIT_LANES;

    EACH_LANE
    {
        real t = R(0);
        i32 j = is_short ? 0 : LANE;

        for (; !is_short && j + 3 * LANES < n; j += 4 * LANES) {
            const real c0 = contribution(p, GROUP_Y, from + j, place, instance, at, factor, part);
            const real c1 =
                contribution(p, GROUP_Y, from + j + LANES, place, instance, at, factor, part);
            const real c2 =
                contribution(p, GROUP_Y, from + j + 2 * LANES, place, instance, at, factor, part);
            const real c3 =
                contribution(p, GROUP_Y, from + j + 3 * LANES, place, instance, at, factor, part);

            t += c0;
            t += c1;
            t += c2;
            t += c3;
        }
        for (; j < (is_short && LANE > 0 ? 0 : n); j += is_short ? 1 : LANES)
            t += contribution(p, GROUP_Y, from + j, place, instance, at, factor, part);
        tile[LANE] = t;
    }
    SYNC;
    FOLD_LONG(tile)
    EACH_LANE if (LANE == 0) sums[(i64)GROUP_Y * p.n_chunks + GROUP_X] = tile[0];
}

/* x: long lists, y: cells. List i belongs to block target[i]; its chunks start at begin[i]. */
GROUP(fit_gather_join, VAL(fit_gather_par, p), IN(i64, target), IN(i64, begin), IN(real, sums),
      IN(u8, is_off), INOUT(real, out))
{
    LOCAL(real, tile, LANES);
    const i64 from = (i64)GROUP_Y * p.n_chunks + begin[GROUP_X];
    const i64 n = begin[GROUP_X + 1] - begin[GROUP_X];
    const i64 cell = p.first + target[GROUP_X] * p.cells + GROUP_Y;
    const i32 is_short = n <= FIT_LANES;

    EACH_LANE
    {
        real t = R(0);

        for (i64 j = is_short ? 0 : LANE; j < (is_short && LANE > 0 ? 0 : n);
             j += is_short ? 1 : LANES)
            t += sums[from + j];
        tile[LANE] = t;
    }
    SYNC;
    FOLD_LONG(tile)
    EACH_LANE if (LANE == 0) out[cell] = is_off[cell] ? R(0) : tile[0];
}

/* Costs, always in double. */

/* x: chunks of all costs. */
GROUP(fit_cost_part, IN(i64, first), IN(i64, last), IN(real, cost), OUT(double, sums))
{
    LOCAL(double, tile, LANES);
    const i64 from = first[GROUP_X];
    const i32 n = (i32)(last[GROUP_X] - from);
    const i32 is_short = n <= FIT_LANES;

    EACH_LANE
    {
        double t = 0;
        i32 j = is_short ? 0 : LANE;

        for (; !is_short && j + 7 * LANES < n; j += 8 * LANES) {
            const real c0 = cost[from + j], c1 = cost[from + j + LANES],
                       c2 = cost[from + j + 2 * LANES], c3 = cost[from + j + 3 * LANES],
                       c4 = cost[from + j + 4 * LANES], c5 = cost[from + j + 5 * LANES],
                       c6 = cost[from + j + 6 * LANES], c7 = cost[from + j + 7 * LANES];

            t += (double)c0;
            t += (double)c1;
            t += (double)c2;
            t += (double)c3;
            t += (double)c4;
            t += (double)c5;
            t += (double)c6;
            t += (double)c7;
        }
        for (; j < (is_short && LANE > 0 ? 0 : n); j += is_short ? 1 : LANES)
            t += (double)cost[from + j];
        tile[LANE] = t;
    }
    SYNC;
    FOLD_LONG(tile)
    EACH_LANE if (LANE == 0) sums[GROUP_X] = tile[0];
}

/* One lane's part of the total of n sums; lane 0 adds a few sums alone. */
FN double lane_sum(GLOBAL const double *sums, i64 n, i32 lane, i32 is_short)
{
    double t = 0;

    for (i64 j = is_short ? 0 : lane; j < (is_short && lane > 0 ? 0 : n); j += is_short ? 1 : LANES)
        t += sums[j];
    return t;
}

/* x: rows of costs; row i has the chunks begin[i] .. begin[i + 1] - 1. */
GROUP(fit_cost_join, IN(i64, begin), IN(double, sums), OUT(double, rows))
{
    LOCAL(double, tile, LANES);
    const i64 from = begin[GROUP_X], n = begin[GROUP_X + 1] - begin[GROUP_X];
    const i32 is_short = n <= FIT_LANES;

    EACH_LANE tile[LANE] = lane_sum(sums + from, n, LANE, is_short);
    SYNC;
    FOLD_LONG(tile)
    EACH_LANE if (LANE == 0) rows[GROUP_X] = tile[0];
}

/* One group: fit_cost_join and fit_cost_total in one kernel, for few rows. */
GROUP(fit_cost_finish, VAL(i32, n_rows), VAL(i32, n_groups), IN(i64, begin), IN(i64, row),
      IN(double, sums), OUT(double, rows), INOUT(double, total))
{
    LOCAL(double, tile, LANES);

    for (i32 r = 0; r < n_rows; r++) {
        const i64 from = begin[r], n = begin[r + 1] - begin[r];
        const i32 is_short = n <= FIT_LANES;

        EACH_LANE tile[LANE] = lane_sum(sums + from, n, LANE, is_short);
        SYNC;
        FOLD_LONG(tile)
        EACH_LANE if (LANE == 0) rows[r] = tile[0];
        SYNC;
    }
    EACH_LANE if (LANE == 0)
    {
        double all = 0;

        for (i32 g = 0; g < n_groups; g++) {
            double t = 0;

            for (i64 r = row[g]; r < row[g + 1]; r++)
                t += rows[r];
            total[1 + g] = t;
            all += t;
        }
        total[0] = all;
    }
}

/* One item: total[0] is the sum of all rows, total[1 + g] that of the rows row[g] .. row[g + 1] - 1
 * of group g. */
MAP(fit_cost_total, VAL(i64, n_groups), IN(i64, row), IN(double, rows), INOUT(double, total))
{
    double all = 0;

    for (i64 g = 0; g < n_groups; g++) {
        double t = 0;

        for (i64 r = row[g]; r < row[g + 1]; r++)
            t += rows[r];
        total[1 + g] = t;
        all += t;
    }
    total[gx] = all;
}

/* Costs that are not finite. */

/* x: groups. bad[2 g] is the count, bad[2 g + 1] the lowest instance. */
MAP(fit_bad_clear, OUT(u32, bad))
{
    bad[2 * (i64)gx] = 0;
    bad[2 * (i64)gx + 1] = 0xffffffffu;
}

/* x: instances of a group with `rows` costs each. The order does not matter, since these are
 * integers. */
MAP(fit_bad_count, VAL(i64, first), VAL(i64, ld), VAL(i32, rows), VAL(i32, group), IN(real, cost),
    INOUT(u32, bad))
{
    i32 is_bad = 0;

    for (i32 r = 0; r < rows; r++) {
        const real v = cost[first + r * ld + GI];

        is_bad |= !(v - v == R(0));
    }
    if (is_bad) {
        ATOMIC_ADD(&bad[2 * group], 1u);
        ATOMIC_MIN(&bad[2 * group + 1], (u32)GI);
    }
}

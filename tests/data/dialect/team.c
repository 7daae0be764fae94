/* team.c - text for the tests of the expander: TEAMs, and a MAP beside them. */
#include "dialect.h"

/* How many cells of each grid have the colour. */
TEAM(count_colour, VAL(i32, colour), IN(i32, start), IN(i8, cell), OUT(i32, count))
{
    i32 n = 0;

    for (i32 k = start[TEAM_X] + LANE; k < start[TEAM_X + 1]; k += LANES)
        n += cell[k] == colour;
    n = TEAM_ADD(n);
    if (LANE == 0)
        count[TEAM_X] = n;
}

FN i32 place_of_first(TEAM_PARAM, GLOBAL const i8 *cell, i32 from, i32 to, i32 colour)
{
    i32 best = to;

    for (i32 k = from + LANE; k < to; k += LANES)
        if (cell[k] == colour && k < best)
            best = k;
    return TEAM_MIN(best);
}

/* Ten numbers about each grid by every word that lanes cooperate with. */
TEAM(survey, VAL(i32, colour), IN(i32, start), IN(i8, cell), INOUT(i32, scratch), OUT(i64, facts))
{
    const i32 from = start[TEAM_X], to = start[TEAM_X + 1];
    const i32 first = place_of_first(TEAM_PASS, cell, from, to, colour);
    i32 most = -128, any = 0, all = 1, rank = 0;
    i64 squares = 0;

    for (i32 k = from + LANE; k < to; k += LANES) {
        most = MAX(most, cell[k]);
        any |= cell[k] == colour;
        all &= cell[k] != -1;
        squares += (i64)cell[k] * cell[k] * 1000000000;
        scratch[k] = cell[k] + 1;
    }
    SYNC;
    /* Compaction: the place of each hit among the hits, in order. */
    for (i32 k0 = from; k0 < to; k0 += LANES) {
        const i32 k = k0 + LANE;
        const i32 hit = k < to && cell[k] == colour;
        const i32 below = TEAM_SCAN(hit);
        if (hit)
            scratch[k] = rank + below;
        rank += TEAM_ADD(hit);
    }
    SYNC;
    most = TEAM_MAX(most);
    any = TEAM_ANY(any);
    all = TEAM_ALL(all);
    squares = TEAM_ADD64(squares);
    const i64 low = TEAM_MIN64((i64)from + LANE), high = TEAM_MAX64((i64)from - LANE);
    const i64 lead = TEAM_FIRST64(LANE == 0 ? (i64)from << 33 : -1);
    const i32 lead32 = TEAM_FIRST(LANE == 0 ? from : -1);
    const i64 before = TEAM_SCAN64(1) - LANE;
    if (LANE == 0) {
        facts[10 * TEAM_X] = first;
        facts[10 * TEAM_X + 1] = most;
        facts[10 * TEAM_X + 2] = any;
        facts[10 * TEAM_X + 3] = all;
        facts[10 * TEAM_X + 4] = squares;
        facts[10 * TEAM_X + 5] = rank;
        facts[10 * TEAM_X + 6] = low + high;
        facts[10 * TEAM_X + 7] = lead + before;
        facts[10 * TEAM_X + 8] = lead32;
        /* Read what another lane wrote, where there is another lane. */
        facts[10 * TEAM_X + 9] = from < to ? scratch[to - 1] : -7;
    }
}

MAP(negate, IN(i32, x), OUT(i32, y))
{
    y[gx] = -x[gx];
}

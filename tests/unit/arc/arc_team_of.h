/* arc_team_of.h - a team of TEAM_OF lanes as coroutines of one thread, for kernel text whose lanes
 * meet.
 *
 * A lane runs until it meets the others, and then yields to the next, so that each does as much as
 * possible between two meetings: a lane that reads too early or writes too late is detected. A lane
 * that comes to another meeting than the rest, or ends while others wait, is reported.
 */
#ifndef QN_TESTS_ARC_TEAM_OF_H
#define QN_TESTS_ARC_TEAM_OF_H

#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { TEAM_STACK = 1 << 20 };

typedef struct team_of {
    ucontext_t lanes[TEAM_OF], home;
    char *stacks;
    int lane;           /* the running lane */
    int place[TEAM_OF]; /* line at which each waits; 0: it has ended */
    int n_waiting;
    int64_t value[TEAM_OF];
} team_of;

static team_of *team_now; /* of the current test: makecontext passes no pointers */

#undef LANES
#undef LANE
#undef SYNC
#undef TEAM_PARAM
#undef TEAM_ADD
#undef TEAM_MIN
#undef TEAM_MAX
#undef TEAM_FIRST
#undef TEAM_SCAN
#undef TEAM_ANY
#undef TEAM_ALL
#undef TEAM_ADD64
#define LANES         TEAM_OF
#define LANE          (team_now->lane)
#define SYNC          team_meet(__LINE__)
#define TEAM_PARAM    team_of *qn_team __attribute__((unused))
#define TEAM_ADD(v)   ((i32)team_fold(v, __LINE__, 0, TEAM_OF, 0))
#define TEAM_MIN(v)   ((i32)team_fold(v, __LINE__, 0, TEAM_OF, -1))
#define TEAM_MAX(v)   ((i32)team_fold(v, __LINE__, 0, TEAM_OF, 1))
#define TEAM_FIRST(v) ((i32)team_fold(v, __LINE__, 0, 1, 0))
#define TEAM_SCAN(v)  ((i32)team_fold(v, __LINE__, 0, LANE, 0))
#define TEAM_ANY(v)   ((i32)(team_fold((v) != 0, __LINE__, 0, TEAM_OF, 0) != 0))
#define TEAM_ADD64(v) ((i64)team_fold(v, __LINE__, 0, TEAM_OF, 0))

/* The next lane in turn that has not ended; home when there is none. */
static inline void team_switch(ucontext_t *from)
{
    for (int step = 1; step <= TEAM_OF; step++) {
        const int next = (team_now->lane + step) % TEAM_OF;

        if (team_now->place[next]) {
            team_now->lane = next;
            if (from != &team_now->lanes[next])
                swapcontext(from, &team_now->lanes[next]);
            return;
        }
    }
    swapcontext(from, &team_now->home);
}

static inline void team_meet(int line)
{
    const int lane = team_now->lane;

    team_now->place[lane] = line;
    team_switch(&team_now->lanes[lane]);
    for (int k = 0; k < TEAM_OF; k++) /* the last lane to arrive checks first: all are here */
        if (team_now->place[k] != line && lane == 0) {
            fprintf(stderr, "lane 0 waits in line %d, lane %d in line %d\n", line, k,
                    team_now->place[k]);
            abort();
        }
}

/* Combines the values of lanes from .. to - 1: their sum, with sign -1 the least, with 1 the
 * greatest. */
static inline int64_t team_fold(int64_t v, int line, int from, int to, int sign)
{
    int64_t r = sign ? v : 0;

    team_now->value[team_now->lane] = v;
    team_meet(line);
    for (int k = from; k < to; k++) {
        const int64_t o = team_now->value[k];

        r = !sign ? r + o : (sign < 0 ? o < r : o > r) ? o : r;
    }
    team_meet(line);
    return r;
}

static void team_lane(void);

static inline void team_begin(team_of *team, int lane)
{
    getcontext(&team->lanes[lane]);
    team->lanes[lane].uc_stack.ss_sp = team->stacks + (size_t)lane * TEAM_STACK;
    team->lanes[lane].uc_stack.ss_size = TEAM_STACK;
    team->lanes[lane].uc_link = NULL;
    team->place[lane] = -1;
    makecontext(&team->lanes[lane], team_lane, 0);
}

/* Runs team_lane, which the test defines, in every lane. */
static inline void team_run(void)
{
    team_of team = { .stacks = malloc((size_t)TEAM_OF * TEAM_STACK) };

    if (!team.stacks)
        abort();
    team_now = &team;
    for (int k = 0; k < TEAM_OF; k++)
        team_begin(&team, k);
    team.lane = TEAM_OF - 1;
    team_switch(&team.home);
    team_now = NULL;
    free(team.stacks);
}

/* The end of team_lane. */
static inline void team_leave(void)
{
    team_now->place[team_now->lane] = 0;
    team_switch(&team_now->lanes[team_now->lane]);
}

#endif

/* arc_wide.c - the virtual machine with the widest limits, for runs that exceed those of others:
 * integers of 64 bits and deep nesting. Only the CPU runs it.
 */
#define ARC_WIDE  1
#define ARC_DEPTH 256

#include "dialect.h"
#include "arc_code.h"
#include "arc_team.h"

/* x: teams, as many as there are arenas. */
TEAM(arc_run_wide, VAL(arc_par, par), IN(u64, pool), IN(arc_instance, todo), OUT(u64, arenas),
     INOUT(arc_result, results), OUT(u64, out), OUT(u64, trace))
{
    arc_arrays in;

    in.pool = (GLOBAL const u8 *)pool;
    in.todo = todo;
    in.arena = (GLOBAL u8 *)arenas + (u64)TEAM_X * par.arena_bytes;
    in.results = results;
    in.out = (GLOBAL u8 *)out;
    in.trace = trace;
    arc_take_all(TEAM_PASS, &par, &in);
}

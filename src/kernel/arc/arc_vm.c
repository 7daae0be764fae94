/* arc_vm.c - the virtual machine of grid programs: one kernel, whole programs, many instances.
 *
 * pool: programs, and values that constants and arguments point to
 * arenas: one per team: slots of the program, frames, then values, allocated upwards
 * results: the first ARC_HEAD_RESULTS hold counters; then one per instance, by its number
 */
#include "dialect.h"
#include "arc_code.h"
#include "arc_team.h"

/* x: teams, as many as there are arenas. */
TEAM(arc_run, VAL(arc_par, par), IN(u64, pool), IN(arc_instance, todo), OUT(u64, arenas),
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

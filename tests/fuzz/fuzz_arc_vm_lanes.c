/* fuzz_arc_vm_lanes.c - like fuzz_arc_vm.c, with blocks run like those of a team, last lane
 * first. */
#define FUZZ_VM fuzz_arc_vm_lanes
#define WIDTH   8
#define LANES_BACKWARDS
#include "fuzz_arc_vm.c"

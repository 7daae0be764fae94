/* fuzz_arc_vm_lanes.c - as fuzz_arc_vm.c, blocks going the way of a team, its last lane first. */
#define FUZZ_VM fuzz_arc_vm_lanes
#define WIDTH   8
#define LANES_BACKWARDS
#include "fuzz_arc_vm.c"

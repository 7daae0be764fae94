/* fuzz_arc_vm_lanes_16.c - as fuzz_arc_vm.c, blocks going the way of a team of 16. */
#define FUZZ_VM fuzz_arc_vm_lanes_16
#define WIDTH   16
#include "fuzz_arc_vm.c"

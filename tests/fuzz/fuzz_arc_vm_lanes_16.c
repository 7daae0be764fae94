/* fuzz_arc_vm_lanes_16.c - like fuzz_arc_vm.c, with blocks run like those of a team of 16. */
#define FUZZ_VM fuzz_arc_vm_lanes_16
#define WIDTH   16
#include "fuzz_arc_vm.c"

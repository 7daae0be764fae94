/* fuzz_arc_vm_lanes_32.c - like fuzz_arc_vm.c, with blocks run like those of a team of 32. */
#define FUZZ_VM fuzz_arc_vm_lanes_32
#define WIDTH   32
#include "fuzz_arc_vm.c"

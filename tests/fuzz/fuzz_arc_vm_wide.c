/* fuzz_arc_vm_wide.c - like fuzz_arc_vm.c, with the widest limits. */
#define FUZZ_VM   fuzz_arc_vm_wide
#define ARC_WIDE  1
#define ARC_DEPTH 256
#include "fuzz_arc_vm.c"

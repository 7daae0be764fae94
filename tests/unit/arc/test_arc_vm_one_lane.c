/* test_arc_vm_one_lane.c - the virtual machine on one lane, as in the library, for sanitizers. */
/* test: long */
#include "arc_lanes_cases.h"

/* test_arc_vm_one_lane.c - the virtual machine on one lane, as sanitizers and the library see it.
 */
/* test: long */
#include "arc_lanes_cases.h"

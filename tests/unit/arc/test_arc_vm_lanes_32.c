/* test_arc_vm_lanes_32.c - the virtual machine run like a team of 32, lane after lane. */
/* test: long */
#define WIDTH 32
#include "arc_lanes_cases.h"

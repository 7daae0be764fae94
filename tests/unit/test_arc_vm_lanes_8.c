/* test_arc_vm_lanes_8.c - the virtual machine the way of a team of 8, lane after lane. */
#define WIDTH 8
#include "arc_lanes_cases.h"

/* test_arc_vm_lanes_16.c - the virtual machine the way of a team of 16, lane after lane. */
#define WIDTH 16
#include "arc_lanes_cases.h"

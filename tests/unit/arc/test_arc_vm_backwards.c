/* test_arc_vm_backwards.c - the virtual machine the way of a team of 32, the last lane first. */
/* test: long */
#define WIDTH 32
#define LANES_BACKWARDS
#include "arc_lanes_cases.h"

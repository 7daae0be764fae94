/* test_arc_vm_backwards.c - the virtual machine run like a team of 32, last lane first. */
/* test: long */
#define WIDTH 32
#define LANES_BACKWARDS
#include "arc_lanes_cases.h"

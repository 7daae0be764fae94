/* test_arc_loose_lanes.c - grids that are no bytes, the last lane first. */
/* test: long */
#define WIDTH 8
#define LANES_BACKWARDS
#include "arc_loose_cases.h"

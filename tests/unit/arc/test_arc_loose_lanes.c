/* test_arc_loose_lanes.c - grids whose cells are not bytes, last lane first. */
/* test: long */
#define WIDTH 8
#define LANES_BACKWARDS
#include "arc_loose_cases.h"

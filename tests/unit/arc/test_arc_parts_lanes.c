/* test_arc_parts_lanes.c - objects and occurrences in random grids, last lane first. */
/* test: long */
#define WIDTH 8
#define LANES_BACKWARDS
#include "arc_parts_cases.h"

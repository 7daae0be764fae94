/* test_arc_grid_backwards.c - golden cases of the primitives on grids, last lane first. */
/* test: long */
#define WIDTH 8
#define LANES_BACKWARDS
#define OPS_HEADER "arc_grid_ops.h"
#include "arc_op_cases.h"

/* test_arc_grid_lanes.c - golden cases of the primitives on grids, lane after lane. */
/* test: long */
#define WIDTH      8
#define OPS_HEADER "arc_grid_ops.h"
#include "arc_op_cases.h"

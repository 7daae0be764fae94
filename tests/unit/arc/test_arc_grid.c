/* test_arc_grid.c - golden cases of the primitives on grids, with blocks as plain loops. */
#define OPS_HEADER "arc_grid_ops.h"
#include "arc_op_cases.h"

/* test_arc_patch_lanes.c - golden cases of the primitives on patches, lane after lane. */
/* test: long */
#define WIDTH      8
#define OPS_HEADER "arc_patch_ops.h"
#include "arc_op_cases.h"

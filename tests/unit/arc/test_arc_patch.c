/* test_arc_patch.c - golden cases of the primitives on patches, with blocks as plain loops. */
#define OPS_HEADER "arc_patch_ops.h"
#include "arc_op_cases.h"

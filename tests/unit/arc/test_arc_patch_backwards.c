/* test_arc_patch_backwards.c - golden cases of the primitives on patches, last lane first. */
/* test: long */
#define WIDTH 8
#define LANES_BACKWARDS
#define OPS_HEADER "arc_patch_ops.h"
#include "arc_op_cases.h"

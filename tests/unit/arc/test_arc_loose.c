/* test_arc_loose.c - grids that are no bytes, blocks as plain loops. */
#include "arc_loose_cases.h"

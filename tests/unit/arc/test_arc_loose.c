/* test_arc_loose.c - grids whose cells are not bytes, with blocks as plain loops. */
#include "arc_loose_cases.h"

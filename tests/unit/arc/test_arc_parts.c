/* test_arc_parts.c - objects and occurrences in random grids, with blocks as plain loops. */
#include "arc_parts_cases.h"

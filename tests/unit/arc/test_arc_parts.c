/* test_arc_parts.c - objects and occurrences in random grids, blocks as plain loops. */
#include "arc_parts_cases.h"

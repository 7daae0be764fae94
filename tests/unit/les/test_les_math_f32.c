/* test_les_math_f32.c - the same in single precision. */
#define REAL float
#include "test_les_math.c"

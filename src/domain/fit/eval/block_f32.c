/* block_f32.c - the interpreter's loops in float. */
#define REAL  float
#define BLOCK qn_fit_block_f32
#define CHECK qn_fit_check_f32
#include "block.h"

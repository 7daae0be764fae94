/* block_f64.c - the interpreter's loops in double. */
#define REAL  double
#define BLOCK qn_fit_block_f64
#define CHECK qn_fit_check_f64
#include "block.h"

/* wgsl_library.h - the mathematical functions a WGSL module brings along. */
#ifndef QN_FIT_CODE_WGSL_LIBRARY_H
#define QN_FIT_CODE_WGSL_LIBRARY_H

#include "domain/fit/code/print.h"

/* Prints the functions of support.def and wgsl_math.def that `body` needs, callees first. */
void qn_fit_wgsl_library(const char *body, qn_str *out);

#endif

/* mgh.h - the problems of More, Garbow and Hillstrom as programs. */
#ifndef QN_LAB_FIT_CHECK_MGH_H
#define QN_LAB_FIT_CHECK_MGH_H

#include "util/str.h"

/* Tables and residuals of problem `id` with n parameters and m rows, in x1 .. xn, which are the
 * numbers of a parameter `x`. 0: unknown problem. */
int qn_fit_mgh_print(int id, int n, int m, qn_str *out);

#endif

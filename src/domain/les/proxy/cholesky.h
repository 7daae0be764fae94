/* cholesky.h - symmetric positive definite systems with many right-hand sides. */
#ifndef QN_LES_CHOLESKY_H
#define QN_LES_CHOLESKY_H

#include "util/status.h"

/* Solves a x = b for n x n matrices by rows. Reads the upper triangle of `a` and replaces it by its
 * factor; replaces `b` by x. A matrix that is not positive definite is QN_ERR_FAILED. */
qn_status qn_cholesky_solve(int n, double *a, double *b, qn_err *err);

#endif

/* dense.h - Cholesky of dense symmetric matrices, by rows, lower triangle. */
#ifndef QN_FIT_LINEAR_DENSE_H
#define QN_FIT_LINEAR_DENSE_H

#include <stddef.h>

/* A = L L' in place, for blocks of some ten rows. 0: not positive definite. */
int qn_fit_chol_small(int n, double *a);
void qn_fit_chol_small_solve(int n, const double *l, double *b); /* in place */

/* The same for large matrices, by panels; `panel` has QN_FIT_PANEL * n numbers. Bits do not depend
 * on the threads. */
enum { QN_FIT_PANEL = 64 };
int qn_fit_chol(int n, double *a, double *panel, int n_threads);
void qn_fit_chol_solve(int n, const double *l, double *b);

#endif

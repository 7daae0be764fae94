/* dense.h - Cholesky and QR of dense matrices. */
#ifndef QN_FIT_LINEAR_DENSE_H
#define QN_FIT_LINEAR_DENSE_H

/* A = L L' in place, the lower triangle by rows, for blocks of about ten rows. Returns 0 if A is
 * not positive definite. */
int qn_fit_chol_small(int n, double *a);
void qn_fit_chol_small_solve(int n, const double *l, double *b); /* in place */

/* A = L L' for large matrices, by panels; `panel` has QN_FIT_PANEL * n numbers. The bits do not
 * depend on the number of threads. */
enum { QN_FIT_PANEL = 64 };
int qn_fit_chol(int n, double *a, double *panel, int n_threads);
void qn_fit_chol_solve(int n, const double *l, double *b);

/* Householder QR of small dense matrices, by columns. */

/* Adds `m` rows to a triangle: R'R grows by A'A. R is n by n, column k at r + k * ldr, upper
 * triangle; A is m by n, column k at a + k * lda, and is overwritten. The last `n_rhs` columns of
 * both are right-hand sides, which are transformed but not eliminated. */
void qn_fit_qr_append(int n, int n_rhs, double *r, int ldr, int m, double *a, int lda);

/* Least squares |A y - b| by QR with column pivoting; A is m by n with m >= n, by columns, and is
 * overwritten like b. Columns whose remaining norm is below n eps times the largest are left at 0.
 * Returns the rank. `pivot` and `norms` have n numbers. */
int qn_fit_qr_solve(int m, int n, double *a, int lda, double *b, double *y, int *pivot,
                    double *norms);

#endif

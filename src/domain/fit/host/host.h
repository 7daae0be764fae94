/* host.h - evaluates a problem on the CPU: the reference for every device.
 *
 * Tapes are made when first needed and run by the interpreter, or compiled where that pays. Sums
 * follow problem/sum_order.h, so results have the same bits for any number of threads and any width
 * of blocks.
 *
 * Vectors are indexed like the problem's x; entries of fixed scalars are 0. Row vectors hold
 * residuals: row k of instance i of group g is at qn_fit_host_row(host, g) + k * ld + i, and
 * padding is 0; their length is qn_fit_host_n_rows.
 */
#ifndef QN_FIT_HOST_HOST_H
#define QN_FIT_HOST_HOST_H

#include "domain/fit/code/tape.h"
#include "domain/fit/problem/problem.h"

typedef struct qn_fit_host qn_fit_host;

/* Whether groups are compiled by the system's compiler. AUTO compiles large ones, once the
 * interpreter has worked on them for as long as compiling takes; this depends on the number of
 * evaluations, not on the clock. Without a compiler the interpreter is used throughout. */
typedef enum { QN_FIT_JIT_AUTO, QN_FIT_JIT_NEVER, QN_FIT_JIT_ALWAYS } qn_fit_jit_mode;

typedef struct qn_fit_host_options {
    int threads; /* 0: as many as OpenMP has */
    int width;   /* instances of a block of the interpreter; 0: automatic */
    qn_fit_jit_mode jit;
} qn_fit_host_options;

/* The problem must be finished and outlive the host. */
qn_status qn_fit_host_new(const qn_fit_problem *problem, qn_fit_host_options options,
                          qn_fit_host **out, qn_err *err);
void qn_fit_host_free(qn_fit_host *host);

/* Whether the compiler may contract a * b + c in code compiled from now on; off at first. The
 * interpreter never contracts. */
void qn_fit_host_set_contraction(qn_fit_host *host, int may_contract);

/* How many passes of groups are compiled by now. */
int qn_fit_host_n_compiled(const qn_fit_host *host);

/* The objective at x: residuals with their losses and energies. `bad` may be NULL. */
qn_status qn_fit_host_cost(qn_fit_host *host, const double *x, double *cost, qn_fit_bad *bad,
                           qn_err *err);
/* The cost of one group in the last call of cost, gradient or linearize. */
double qn_fit_host_group_cost(const qn_fit_host *host, int group);

qn_status qn_fit_host_gradient(qn_fit_host *host, const double *x, double *cost, double *gradient,
                               qn_fit_bad *bad, qn_err *err);

/* Stores the residuals and the Jacobian at x, both scaled for the loss, for the calls below. Fails
 * with QN_ERR_UNSUPPORTED on a problem with energies. */
qn_status qn_fit_host_linearize(qn_fit_host *host, const double *x, double *cost, qn_fit_bad *bad,
                                qn_err *err);

/* After linearize. */

qn_i64 qn_fit_host_n_rows(const qn_fit_host *host);
qn_i64 qn_fit_host_row(const qn_fit_host *host, int group);
const double *qn_fit_host_residuals(const qn_fit_host *host);

void qn_fit_host_jv(qn_fit_host *host, const double *v, double *rows);
void qn_fit_host_jtu(qn_fit_host *host, const double *rows, double *out);

/* J'J of each block, dim * dim numbers by rows, block after block: block b begins at
 * sum of dim^2 of the blocks before it. Rows and columns of fixed scalars are 0. */
void qn_fit_host_diagonal(qn_fit_host *host, double *out);
qn_i64 qn_fit_diagonal_size(const qn_fit_problem *problem);

/* J by columns of free scalars, and r: rows in the caller's order, group after group. `jacobian`
 * has n_rows(problem) * n_free numbers, `residuals` n_rows(problem). */
void qn_fit_host_dense(qn_fit_host *host, double *jacobian, double *residuals);

#endif

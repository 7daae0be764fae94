/* host.h - evaluates a problem on the CPU: the reference for every device.
 *
 * Tapes are made when first needed and run by the interpreter, or compiled where that is worth it.
 * Sums follow problem/sum_order.h, so results have the same bits for any number of threads and any
 * width of blocks.
 *
 * Vectors are indexed like the problem's x; entries of fixed scalars are 0. Row vectors hold
 * residuals: those of row k of a group's instances follow those of row k - 1, and padding is 0.
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

/* The objective at x: residuals with their losses and energies. `bad` may be NULL. */
qn_status qn_fit_host_cost(qn_fit_host *host, const double *x, double *cost, qn_fit_bad *bad,
                           qn_err *err);
/* The cost of one group in the last call of cost, gradient or linearize. */
double qn_fit_host_group_cost(const qn_fit_host *host, int group);

qn_status qn_fit_host_gradient(qn_fit_host *host, const double *x, double *cost, double *gradient,
                               qn_fit_bad *bad, qn_err *err);

/* Evaluates the residuals and the Jacobian at x, both scaled for the loss. Fails on a
 * problem with energies. */
qn_status qn_fit_host_linearize(qn_fit_host *host, const double *x, double *cost, qn_fit_bad *bad,
                                qn_err *err);

qn_i64 qn_fit_host_n_rows(const qn_fit_host *host); /* with padding */

#endif

/* sums.h - objectives with squared sums of energies, in two passes. */
#ifndef QN_FIT_SOLVE_SUMS_H
#define QN_FIT_SOLVE_SUMS_H

#include "domain/fit/batch/host.h"

typedef struct qn_fit_sums qn_fit_sums;

/* *out is NULL when the problem has none. */
qn_status qn_fit_sums_new(const qn_fit_problem *problem, qn_fit_sums **out, qn_err *err);
void qn_fit_sums_free(qn_fit_sums *sums);

/* As those of the host. After a point that is not finite the gradient is left alone. */
qn_status qn_fit_sums_cost(qn_fit_sums *sums, qn_fit_host *host, const double *x, double *cost,
                           qn_fit_bad *bad, qn_err *err);
qn_status qn_fit_sums_gradient(qn_fit_sums *sums, qn_fit_host *host, const double *x, double *cost,
                               double *gradient, qn_fit_bad *bad, qn_err *err);

/* 1 when the group belongs to a sum: the first of its groups has the whole cost. */
int qn_fit_sums_group_cost(const qn_fit_sums *sums, int group, double *cost);

#endif

/* check.h - compares folders of reference values with the results of parser, derivatives, kernels
 * and solvers on the devices of a context.
 */
#ifndef QN_LAB_FIT_CHECK_CHECK_H
#define QN_LAB_FIT_CHECK_CHECK_H

#include "domain/fit/eval/eval.h"
#include "domain/fit/problem/problem.h"
#include "lab/golden.h"

/* Ended by a NULL name. */
extern const qn_check qn_fit_checks[];

/* The checks of a comma list ("ops,nist"; "all") on the data in `folder`. */
qn_status qn_fit_check_golden(qn_ctx *ctx, const char *folder, const char *list,
                              qn_findings *findings, qn_err *err);

/* Derivatives of a program (grad.c). */

typedef struct qn_fit_grad {
    qn_i64 n_differences; /* parameters whose derivative was compared with differences */
    double worst_difference, difference_limit;
    uint32_t worst_scalar;
    double derivative, by_difference;  /* of that scalar */
    double worst_device, device_limit; /* gradient of the device against the CPU's */
    char device[24];                   /* "" for the CPU */
} qn_fit_grad;

/* Checks at the start values, for at most `most` parameters spread evenly over all. */
qn_status qn_fit_check_grad(qn_ctx *ctx, const qn_fit_problem *problem, int most, qn_fit_grad *out,
                            qn_err *err);

#endif

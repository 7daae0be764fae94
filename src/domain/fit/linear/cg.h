/* cg.h - preconditioned conjugate gradients for A y = b, A known by its products. */
#ifndef QN_FIT_LINEAR_CG_H
#define QN_FIT_LINEAR_CG_H

#include "domain/fit/linear/linear.h"

typedef struct qn_fit_cg {
    uint32_t n;
    double *r, *z, *p, *q;
    void (*apply)(void *self, const double *p, double *out);
    void (*precondition)(void *self, const double *r, double *out);
    void *self;
} qn_fit_cg;

qn_status qn_fit_cg_open(uint32_t n, qn_fit_cg *out, qn_err *err);
void qn_fit_cg_close(qn_fit_cg *cg);

/* From y = 0. Stops when the quadratic model gains less than eta of itself per iteration, or by
 * the residual. */
qn_fit_outcome qn_fit_cg_solve(qn_fit_cg *cg, const qn_fit_linear_options *options, const double *b,
                               double *y);

#endif

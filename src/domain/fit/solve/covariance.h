/* covariance.h - how well a solve determines its parameters. */
#ifndef QN_FIT_SOLVE_COVARIANCE_H
#define QN_FIT_SOLVE_COVARIANCE_H

#include "domain/fit/solve/model.h"

enum { QN_FIT_MAX_COVARIANCE = 2000 };

typedef struct qn_fit_covariance {
    int n;             /* free parameters */
    int rank;          /* of the Jacobian; below n nothing else is known */
    double sigma;      /* sqrt(2 cost / (rows - n)) */
    double *deviation; /* per scalar of x; 0 where fixed */
    double *matrix;    /* n by n over free parameters: sigma^2 (J'J)^-1 */
} qn_fit_covariance;

/* At problem->x. Fails when there are not more rows than free parameters, or more than
 * QN_FIT_MAX_COVARIANCE of these. */
qn_status qn_fit_covariance_new(const qn_fit_problem *problem, qn_fit_covariance *out, qn_err *err);
void qn_fit_covariance_free(qn_fit_covariance *covariance);

#endif

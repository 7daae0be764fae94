/* traffic.h - what an evaluation costs before it is run: bytes to move, operations, launches.
 *
 * Bytes are those that must move when every parameter that instances share is read once: what a
 * perfect cache would leave. Time is never less than bytes over bandwidth.
 */
#ifndef QN_FIT_BATCH_TRAFFIC_H
#define QN_FIT_BATCH_TRAFFIC_H

#include "domain/fit/eval/eval.h"
#include "domain/fit/problem/problem.h"

typedef enum {
    QN_FIT_DO_RESIDUALS,
    QN_FIT_DO_LINEARIZE, /* residuals and the stored values of J */
    QN_FIT_DO_GRADIENT,  /* contributions written, and gathered by block */
    QN_FIT_DO_OWNER,     /* the gradient, each block evaluating its terms anew */
    QN_FIT_DO_ATOMIC     /* the gradient, contributions added where they belong */
} qn_fit_work;

typedef struct qn_fit_traffic {
    double bytes;
    double stored; /* numbers of J among them */
    double ops;    /* weighted: a division is 8, a transcendental function 20 */
    int launches;
} qn_fit_traffic;

qn_status qn_fit_traffic_of(const qn_fit_problem *problem, qn_fit_work work,
                            qn_fit_precision precision, qn_fit_traffic *out, qn_err *err);

/* The gradient in its two ways, for who chooses between them. */
qn_status qn_fit_traffic_of_gradients(const qn_fit_problem *problem, qn_fit_precision precision,
                                      qn_fit_traffic *gather, qn_fit_traffic *owner, qn_err *err);

#endif

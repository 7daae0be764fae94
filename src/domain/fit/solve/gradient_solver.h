/* gradient_solver.h - solvers that use only a cost and its gradient.
 *
 * All are state machines like Levenberg-Marquardt: each step makes one evaluation. Vectors are
 * allocated beforehand.
 */
#ifndef QN_FIT_SOLVE_GRADIENT_SOLVER_H
#define QN_FIT_SOLVE_GRADIENT_SOLVER_H

#include "domain/fit/solve/solver.h"

/* The cost at x and its gradient; NaN when a term is not finite. */
typedef struct qn_fit_objective {
    uint32_t n;
    double (*evaluate)(void *self, const double *x, double *gradient);
    void (*describe)(void *self, char *text, size_t size);
    const double *lower, *upper; /* NULL: no bounds */
    void *self;
} qn_fit_objective;

/* L-BFGS (lbfgs.c).
 *
 * The solver sees scalars. The point, the gradient, the direction d and the pairs belong to its
 * driver: host memory (lbfgs_host.c) or a device (resident/lbfgs.c). */

typedef struct qn_fit_lbfgs_scalars {
    double cost, slope, gradient_max; /* slope: along d */
    double length;                    /* of d */
    int n_pairs;
} qn_fit_lbfgs_scalars;

typedef struct qn_fit_lbfgs_driver {
    /* cost, slope, gradient_max at x + share d; d is 0 before the first set_direction. */
    void (*try_step)(void *self, double share, qn_fit_lbfgs_scalars *out);
    /* x becomes the trial point; the pair is stored if its curvature is positive. */
    void (*accept)(void *self);
    /* d = -H g from the pairs, or without them after forgetting; slope, length, n_pairs. The slope
     * is negative unless g is 0. */
    void (*set_direction)(void *self, int is_forgetting, qn_fit_lbfgs_scalars *out);
    void (*describe)(void *self, char *text, size_t size);
    void *self;
} qn_fit_lbfgs_driver;

typedef struct qn_fit_lbfgs qn_fit_lbfgs;

/* The driver and the report outlive the solver. */
qn_status qn_fit_lbfgs_new(const qn_fit_lbfgs_driver *driver, const qn_fit_solve_options *options,
                           qn_fit_report *report, qn_fit_lbfgs **out, qn_err *err);
qn_fit_state qn_fit_lbfgs_step(qn_fit_lbfgs *solver);
void qn_fit_lbfgs_free(qn_fit_lbfgs *solver);

/* A step whose relative curvature is below this is not stored as a pair. */
#define QN_FIT_CURVED 1e-10

typedef struct qn_fit_lbfgs_host qn_fit_lbfgs_host;

/* `x` holds the start and receives the result; it and the objective outlive the vectors. */
qn_status qn_fit_lbfgs_host_new(const qn_fit_objective *objective,
                                const qn_fit_solve_options *options, double *x,
                                qn_fit_lbfgs_host **out, qn_err *err);
void qn_fit_lbfgs_host_free(qn_fit_lbfgs_host *host);
qn_fit_lbfgs_driver qn_fit_lbfgs_host_table(qn_fit_lbfgs_host *host);

/* First order (descent.c). */

typedef struct qn_fit_descent qn_fit_descent;

qn_status qn_fit_descent_new(const qn_fit_objective *objective, qn_fit_first_order method,
                             const qn_fit_solve_options *options, double *x, qn_fit_report *report,
                             qn_fit_descent **out, qn_err *err);
qn_fit_state qn_fit_descent_step(qn_fit_descent *solver);
void qn_fit_descent_free(qn_fit_descent *solver);

/* Line search (wolfe.c). */

/* Finds a point with the strong Wolfe conditions by bracketing and cubic interpolation, one trial
 * at a time. */
typedef struct qn_fit_point {
    double at, cost, slope;
} qn_fit_point;

typedef struct qn_fit_search {
    qn_fit_point start, before, low, high;
    double trial, widest; /* shares of the direction; from `widest` on the cost is not finite */
    int n_trials, is_bracketed;
} qn_fit_search;

typedef enum { QN_FIT_SEARCH_ON, QN_FIT_SEARCH_FOUND, QN_FIT_SEARCH_FAILED } qn_fit_search_state;

void qn_fit_search_begin(qn_fit_search *search, double cost, double slope, double first);

/* Takes the cost and slope of the trial; search->trial becomes the next one. */
qn_fit_search_state qn_fit_search_step(qn_fit_search *search, double cost, double slope);

#endif

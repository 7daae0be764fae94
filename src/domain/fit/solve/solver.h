/* solver.h - options and reports of the solvers, and the interface of their drivers.
 *
 * A solver is a state machine over scalars. The vectors belong to a driver, which does what the
 * solver asks for (linearise here, solve with this damping, try that step) and answers with one
 * small struct. A driver may answer later: the solver waits until is_ready returns 1. The same
 * solver therefore works with host memory, with devices, and where reading is asynchronous.
 *
 * Between the first and the last step nothing here allocates or calls the operating system; time
 * comes from a clock that the caller may supply.
 */
#ifndef QN_FIT_SOLVE_SOLVER_H
#define QN_FIT_SOLVE_SOLVER_H

#include "domain/fit/device/choose.h"
#include "domain/fit/eval/eval.h"
#include "domain/fit/linear/linear.h"
#include "domain/fit/model/model.h"

typedef enum {
    QN_FIT_CONVERGED_GRADIENT,
    QN_FIT_CONVERGED_COST,
    QN_FIT_CONVERGED_PARAMETERS,
    QN_FIT_MAX_ITERATIONS,
    QN_FIT_MAX_TIME,
    QN_FIT_STALLED_RADIUS,
    QN_FIT_LINEAR_FAILURE,
    QN_FIT_NON_FINITE,
    QN_FIT_USER_STOP
} qn_fit_end;

const char *qn_fit_end_name(qn_fit_end end); /* "converged_gradient", ... */
int qn_fit_end_is_converged(qn_fit_end end);

typedef enum { QN_FIT_RUNNING, QN_FIT_WAITING, QN_FIT_DONE } qn_fit_state;

typedef enum { QN_FIT_SCALE_AUTO, QN_FIT_SCALE_DIAGONAL, QN_FIT_SCALE_IDENTITY } qn_fit_scale;

/* TRUST is the default. LAMBDA adds lambda to the diagonal and changes it by factors of ten. GAUSS
 * is undamped and halves its steps. */
typedef enum { QN_FIT_DAMP_TRUST, QN_FIT_DAMP_LAMBDA, QN_FIT_DAMP_GAUSS } qn_fit_damp;

typedef struct qn_fit_iteration {
    double cost, change, gradient_max, step_norm, rho, radius, seconds;
    int linear_iterations, is_accepted;
} qn_fit_iteration;

/* Filled by qn_fit_solve_options_default: for many members 0 is not a useful value. */
typedef struct qn_fit_solve_options {
#define NUMBER(member, name, fallback, low, high) double member;
#define COUNT(member, name, fallback, low, high)  int member;
#define SWITCH(member, name, fallback, low)       int member;
#define WORDS(type, member, name, ...)            type member;
#define LINEAR(kind, member, name)
#include "domain/fit/solve/options.def"
    int window; /* costs that a nonmonotonic step is compared with */
    qn_fit_linear_kind linear_solver;
    qn_fit_linear_options linear;

    int n_threads;
    double (*now)(void *user); /* seconds; NULL: times are 0 and max_seconds has no effect */
    /* Called after each iteration; a result other than 0 ends the solve. */
    int (*watch)(void *user, const qn_fit_iteration *record, int iteration);
    void *user;
} qn_fit_solve_options;

void qn_fit_solve_options_default(qn_fit_solve_options *options); /* of Levenberg-Marquardt */
void qn_fit_solve_options_lbfgs(qn_fit_solve_options *options);
void qn_fit_solve_options_first_order(qn_fit_solve_options *options);
qn_status qn_fit_solve_options_check(const qn_fit_solve_options *options, qn_err *err);
/* Whether the options need pcg, the only linear solver that computes J or reads it in another
 * precision: then `auto` means pcg. */
int qn_fit_solve_options_need_pcg(const qn_fit_solve_options *options);

typedef struct qn_fit_report {
    qn_fit_end end;
    char text[256];
    int n_accepted, n_rejected;
    qn_i64 n_costs, n_jacobians, n_gradients, n_products;
    qn_i64 n_speculated, n_dropped; /* Jacobians evaluated before their step was judged; those of
                                     * them wasted */
    qn_i64 n_waits;                 /* waits for a device */
    int batch_size;                 /* on a device: most instances of a dispatch; 0: all */
    int is_renumbered;              /* whether blocks were reordered */
    double initial_cost, final_cost, gradient_max;
    double *group_costs; /* at the result */
    int n_groups;
    qn_fit_iteration *history; /* [0] is the start */
    int n_history, history_room;
    double total_seconds;
    double evaluate_seconds, linear_seconds; /* NaN: not measured */
    char solver[32], linear[32], note[200];
    char accumulation[16]; /* of gradients: "gather", "owner", "atomic" */
    char jacobian[8];      /* "stored"; "free"; "mixed": J'u reads a stored J, J v computes it;
                              "none": the solver uses only the gradient */
    char storage[4];       /* of a stored Jacobian: "f64", "f32" */
    size_t jacobian_bytes;
    int may_contract;       /* strict_fp = 0 */
    int is_underdetermined; /* fewer rows than free parameters */
    int rank;               /* of the Jacobian, or -1 */
    int n_free;
    qn_i64 n_rows;
} qn_fit_report;

qn_status qn_fit_report_open(const qn_fit_problem *problem, int max_iterations, qn_fit_report *out,
                             qn_err *err);
void qn_fit_report_free(qn_fit_report *report);

/* Common to all solvers. */
typedef struct qn_fit_solver {
    qn_fit_solve_options opt;
    qn_fit_report *report;
    double start_seconds;
    int iteration, is_ended;
} qn_fit_solver;

/* Checks the options. The report must outlive the solver. */
qn_status qn_fit_solver_begin(qn_fit_solver *solver, const qn_fit_solve_options *options,
                              qn_fit_report *report, qn_err *err);
double qn_fit_solver_seconds(const qn_fit_solver *solver);
__attribute__((format(printf, 3, 4))) void qn_fit_solver_end(qn_fit_solver *solver, qn_fit_end end,
                                                             const char *format, ...);

/* Adds an iteration to the history. After the start the caller's watch function may end the
 * solve. */
void qn_fit_solver_add(qn_fit_solver *solver, const qn_fit_iteration *record);

/* These end the solve at their limit; they return whether it has ended. */
int qn_fit_solver_is_flat(qn_fit_solver *solver, double gradient_max);
int qn_fit_solver_is_last(qn_fit_solver *solver, double cost);
int qn_fit_solver_is_late(qn_fit_solver *solver);

/* The driver of Levenberg-Marquardt. */

typedef struct qn_fit_scalars {
    double cost;         /* at the requested point; NaN or infinite when a term is */
    double gradient_max; /* |P(x - g) - x|, largest entry */
    double x_norm;
    double model;     /* decrease predicted by the linear model for the projected step */
    double slope;     /* g . (x' - x), of try_gradient */
    double step_norm; /* |x' - x| */
    int is_solved, linear_iterations;
} qn_fit_scalars;

typedef enum { QN_FIT_D_DIAGONAL, QN_FIT_D_IDENTITY, QN_FIT_D_NONE } qn_fit_d_kind;

typedef struct qn_fit_driver {
    /* Each call starts work; is_ready returns the scalars. */
    void (*linearise)(void *self);                              /* cost, gradient_max, x_norm */
    void (*solve)(void *self, qn_fit_d_kind kind, double by);   /* is_solved, linear_iterations */
    void (*try_step)(void *self, double share, double longest); /* cost, model, step_norm */
    void (*try_gradient)(void *self, double share);             /* cost, slope, step_norm */
    void (*accept)(void *self);                                 /* x = x' */
    void (*undo)(void *self);                                   /* the last accept */
    void (*keep)(void *self, int is_back); /* remembers x as the best point, or returns to it */
    int (*is_ready)(void *self, qn_fit_scalars *out);
    /* Describes the term that was not finite. */
    void (*describe)(void *self, char *text, size_t size);
    int has_bounds;
    void *self;
} qn_fit_driver;

/* Levenberg-Marquardt (lm.c). */

typedef struct qn_fit_lm qn_fit_lm;

/* The driver and the report must outlive it. */
qn_status qn_fit_lm_new(const qn_fit_driver *driver, const qn_fit_solve_options *options,
                        qn_fit_report *report, qn_fit_lm **out, qn_err *err);
qn_fit_state qn_fit_lm_step(qn_fit_lm *lm);
void qn_fit_lm_free(qn_fit_lm *lm);

/* The driver in host memory (host_driver.c). */

typedef struct qn_fit_host_driver qn_fit_host_driver;

qn_status qn_fit_host_driver_new(qn_fit_model *model, const qn_fit_solve_options *options,
                                 qn_fit_host_driver **out, qn_err *err);
void qn_fit_host_driver_free(qn_fit_host_driver *driver);
qn_fit_driver qn_fit_host_driver_table(qn_fit_host_driver *driver);
/* Copies the current point, and notes times and the linear solver; also the rank of the Jacobian at
 * this point, if that solver knows it (dense_qr). */
void qn_fit_host_driver_results(qn_fit_host_driver *driver, double *x, qn_fit_report *report);

/* Solvers that use only a cost and its gradient. Each step makes one evaluation. */

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
 * driver: host memory (below) or a device (resident/lbfgs.c). */

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

/* The driver and the report must outlive the solver. */
qn_status qn_fit_lbfgs_new(const qn_fit_lbfgs_driver *driver, const qn_fit_solve_options *options,
                           qn_fit_report *report, qn_fit_lbfgs **out, qn_err *err);
qn_fit_state qn_fit_lbfgs_step(qn_fit_lbfgs *solver);
void qn_fit_lbfgs_free(qn_fit_lbfgs *solver);

/* A step whose relative curvature is below this is not stored as a pair. */
#define QN_FIT_CURVED 1e-10

typedef struct qn_fit_lbfgs_host qn_fit_lbfgs_host;

/* `x` holds the start and receives the result; it and the objective must outlive the vectors. */
qn_status qn_fit_lbfgs_host_new(const qn_fit_objective *objective,
                                const qn_fit_solve_options *options, double *x,
                                qn_fit_lbfgs_host **out, qn_err *err);
void qn_fit_lbfgs_host_free(qn_fit_lbfgs_host *host);
qn_fit_lbfgs_driver qn_fit_lbfgs_host_table(qn_fit_lbfgs_host *host);

/* First order (descent.c). */

typedef enum { QN_FIT_SGD, QN_FIT_ADAM, QN_FIT_ADAMW } qn_fit_first_order;

typedef struct qn_fit_descent qn_fit_descent;

qn_status qn_fit_descent_new(const qn_fit_objective *objective, qn_fit_first_order method,
                             const qn_fit_solve_options *options, double *x, qn_fit_report *report,
                             qn_fit_descent **out, qn_err *err);
qn_fit_state qn_fit_descent_step(qn_fit_descent *solver);
void qn_fit_descent_free(qn_fit_descent *solver);

/* Line search (lbfgs.c). */

/* Finds a point with the strong Wolfe conditions by bracketing and cubic interpolation, one trial
 * at a time. */
typedef struct qn_fit_point {
    double at, cost, slope;
} qn_fit_point;

typedef struct qn_fit_search {
    qn_fit_point start, before, low, high;
    double trial, widest; /* fractions of the direction; from `widest` on the cost is not finite */
    int n_trials, is_bracketed;
} qn_fit_search;

typedef enum { QN_FIT_SEARCH_ON, QN_FIT_SEARCH_FOUND, QN_FIT_SEARCH_FAILED } qn_fit_search_state;

void qn_fit_search_begin(qn_fit_search *search, double cost, double slope, double first);

/* Takes the cost and slope of the trial; search->trial becomes the next one. */
qn_fit_search_state qn_fit_search_step(qn_fit_search *search, double cost, double slope);

/* Whole solves (solve.c). */

/* Starts at problem->x, which receives the result. A status other than QN_OK means that nothing was
 * solved (bad options, out of memory); the report says how a solve ended. */
qn_status qn_fit_solve_lm(qn_fit_problem *problem, const qn_fit_solve_options *options,
                          qn_fit_report *report, qn_err *err);
qn_status qn_fit_solve_lbfgs(qn_fit_problem *problem, const qn_fit_solve_options *options,
                             qn_fit_report *report, qn_err *err);

qn_status qn_fit_solve_first_order(qn_fit_problem *problem, qn_fit_first_order method,
                                   const qn_fit_solve_options *options, qn_fit_report *report,
                                   qn_err *err);

/* How well a solve determines its parameters. */

enum { QN_FIT_MAX_COVARIANCE = 2000 };

typedef struct qn_fit_covariance {
    int n;             /* free parameters */
    int rank;          /* of the Jacobian; below n the members below are not set */
    double sigma;      /* sqrt(2 cost / (rows - n)) */
    double *deviation; /* per scalar of x; 0 where fixed */
    double *matrix;    /* n by n over free parameters: sigma^2 (J'J)^-1 */
} qn_fit_covariance;

/* Evaluated at problem->x. Fails unless there are more rows than free parameters, and at most
 * QN_FIT_MAX_COVARIANCE free parameters. */
qn_status qn_fit_covariance_new(const qn_fit_problem *problem, qn_fit_covariance *out, qn_err *err);
void qn_fit_covariance_free(qn_fit_covariance *covariance);

#endif

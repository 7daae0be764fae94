/* solver.h - options and reports of the solvers, and how a solver is driven.
 *
 * A solver is a state machine over scalars. The vectors belong to a driver, which does what the
 * solver asks for (linearise here, solve with this damping, try that step) and answers with one
 * small struct. A driver need not answer at once: until is_ready says so, the solver waits. So one
 * solver serves host memory, devices and places where reading is a promise.
 *
 * Nothing here allocates between the first step and the last, or calls the operating system; time
 * comes from a clock the caller may give.
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
    QN_FIT_USER_STOP,
    QN_FIT_INVALID_PROBLEM
} qn_fit_end;

const char *qn_fit_end_name(qn_fit_end end); /* "converged_gradient", ... */
int qn_fit_end_is_converged(qn_fit_end end);

typedef enum { QN_FIT_RUNNING, QN_FIT_WAITING, QN_FIT_DONE } qn_fit_state;

typedef enum { QN_FIT_SCALE_AUTO, QN_FIT_SCALE_DIAGONAL, QN_FIT_SCALE_IDENTITY } qn_fit_scale;

/* TRUST is the default. LAMBDA adds lambda to the diagonal, ten times more or less of it; GAUSS is
 * undamped with halved steps. */
typedef enum { QN_FIT_DAMP_TRUST, QN_FIT_DAMP_LAMBDA, QN_FIT_DAMP_GAUSS } qn_fit_damp;

typedef struct qn_fit_iteration {
    double cost, change, gradient_max, step_norm, rho, radius, seconds;
    int linear_iterations, is_accepted;
} qn_fit_iteration;

/* qn_fit_options_default fills it; nothing here may be left at 0 by chance. */
typedef struct qn_fit_solve_options {
    int max_iterations;
    double function_tolerance, gradient_tolerance, parameter_tolerance;
    double initial_radius, max_radius, min_radius;
    double min_lm_diagonal, max_lm_diagonal;
    double min_relative_decrease;
    int max_consecutive_invalid;
    int jacobi_scaling, nonmonotonic, window;
    double max_seconds;
    double trust_region_radius; /* longest step; 0: no limit */
    qn_fit_damp damping;
    qn_fit_scale damping_scale;
    qn_fit_linear_kind linear_solver;
    qn_fit_linear_options linear;
    qn_fit_jacobian jacobian;     /* of pcg */
    qn_fit_precision storage;     /* of a stored Jacobian; F32 implies that it is stored */
    qn_fit_accumulate accumulate; /* on a device */
    int strict_fp;                /* 0: compilers may contract a * b + c in kernels of terms */
    int speculate;  /* on a device: evaluate where a step ends before it is judged; -1: on a GPU */
    int batch_size; /* on a device: most instances of a dispatch; 0: all */
    int renumber;   /* blocks, for locality; -1: where it is expected to pay */
    int fallback_threshold; /* instances; with fewer, `auto` means the CPU */

    /* L-BFGS and first-order methods. */
    int history;
    double learning_rate, beta1, beta2, epsilon, weight_decay;
    double clip_norm; /* longest gradient; 0: no limit */

    int n_threads;
    double (*now)(void *user); /* seconds; NULL: times are 0 and max_seconds is not kept */
    /* After each iteration; not 0 ends the solve. */
    int (*watch)(void *user, const qn_fit_iteration *record, int iteration);
    void *user;
} qn_fit_solve_options;

void qn_fit_options_default(qn_fit_solve_options *options); /* of Levenberg-Marquardt */
void qn_fit_options_lbfgs(qn_fit_solve_options *options);
void qn_fit_options_first_order(qn_fit_solve_options *options);
qn_status qn_fit_options_check(const qn_fit_solve_options *options, qn_err *err);
/* Of the linear solvers only pcg computes J anew, or reads it in another precision: `auto` is it
 * then. */
int qn_fit_options_need_pcg(const qn_fit_solve_options *options);

typedef struct qn_fit_report {
    qn_fit_end end;
    char text[256];
    int n_accepted, n_rejected;
    qn_i64 n_costs, n_jacobians, n_gradients, n_products;
    qn_i64 n_speculated, n_dropped; /* of the Jacobians: before their step was judged; in vain */
    qn_i64 n_waits;                 /* for a device to answer */
    int batch_size;                 /* on a device: most instances of a dispatch; 0: all */
    int is_renumbered;              /* blocks, for the solve */
    double initial_cost, final_cost, gradient_max;
    double *group_costs; /* of the final point */
    int n_groups;
    qn_fit_iteration *history; /* [0] is the start */
    int n_history, history_room;
    double total_seconds, evaluate_seconds, linear_seconds;
    char solver[32], linear[32], note[200];
    char accumulation[16]; /* how gradients are summed: "gather", "owner", "atomic" */
    char jacobian[8];      /* "stored", "free", "mixed": J'u reads what is kept, J v computes;
                              "none": a solver by the gradient */
    char storage[4];       /* of a stored one: "f64", "f32" */
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
void qn_fit_report_add(qn_fit_report *report, const qn_fit_iteration *record);
__attribute__((format(printf, 3, 4))) void qn_fit_report_end(qn_fit_report *report, qn_fit_end end,
                                                             const char *format, ...);

/* What drives Levenberg-Marquardt. */

typedef struct qn_fit_scalars {
    double cost;         /* at the point asked for; NaN or infinite when a term is */
    double gradient_max; /* |P(x - g) - x|, largest entry */
    double x_norm;
    double model;     /* decrease that the linear model predicts for the projected step */
    double slope;     /* g . (x' - x), of try_gradient */
    double step_norm; /* |x' - x| */
    int is_solved, linear_iterations;
} qn_fit_scalars;

typedef enum { QN_FIT_D_DIAGONAL, QN_FIT_D_IDENTITY, QN_FIT_D_NONE } qn_fit_d_kind;

typedef struct qn_fit_driver {
    /* Each starts work; scalars come by is_ready. */
    void (*linearise)(void *self);                              /* cost, gradient_max, x_norm */
    void (*solve)(void *self, qn_fit_d_kind kind, double by);   /* is_solved, linear_iterations */
    void (*try_step)(void *self, double share, double longest); /* cost, model, step_norm */
    void (*try_gradient)(void *self, double share);             /* cost, slope, step_norm */
    void (*accept)(void *self);                                 /* x = x' */
    void (*undo)(void *self);                                   /* the last accept */
    void (*keep)(void *self, int is_back); /* remembers x as the best; or goes back to it */
    int (*is_ready)(void *self, qn_fit_scalars *out);
    /* The term that was not finite, as words. */
    void (*describe)(void *self, char *text, size_t size);
    int has_bounds;
    void *self;
} qn_fit_driver;

/* Levenberg-Marquardt (lm.c). */

typedef struct qn_fit_lm qn_fit_lm;

/* The driver and the report outlive it. */
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
double *qn_fit_host_driver_x(qn_fit_host_driver *driver); /* the current point */
const qn_fit_linear *qn_fit_host_driver_linear(const qn_fit_host_driver *driver);
/* Of the Jacobian at the current point, by a solver that can tell (dense_qr); else -1. */
int qn_fit_host_driver_rank(qn_fit_host_driver *driver);
void qn_fit_host_driver_times(const qn_fit_host_driver *driver, qn_fit_report *report);

/* Whole solves (solve.c). */

/* From problem->x, which gets the result. A status other than QN_OK means that nothing was solved
 * (bad options, no memory); how a solve ended is in the report. */
qn_status qn_fit_solve_lm(qn_fit_problem *problem, const qn_fit_solve_options *options,
                          qn_fit_report *report, qn_err *err);
qn_status qn_fit_solve_lbfgs(qn_fit_problem *problem, const qn_fit_solve_options *options,
                             qn_fit_report *report, qn_err *err);

typedef enum { QN_FIT_SGD, QN_FIT_ADAM, QN_FIT_ADAMW } qn_fit_first_order;
qn_status qn_fit_solve_first_order(qn_fit_problem *problem, qn_fit_first_order method,
                                   const qn_fit_solve_options *options, qn_fit_report *report,
                                   qn_err *err);

/* How well a solve determines its parameters. */

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

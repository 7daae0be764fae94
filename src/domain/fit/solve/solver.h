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
    QN_FIT_USER_STOP,
    QN_FIT_INVALID_PROBLEM
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
    qn_fit_precision storage;     /* of a stored Jacobian; F32 implies STORED */
    qn_fit_accumulate accumulate; /* on a device */
    int strict_fp;                /* 0: compilers may contract a * b + c in kernels of terms */
    int speculate;  /* on a device: evaluate the end of a step before it is judged; -1: on a GPU */
    int batch_size; /* on a device: the most instances of a dispatch; 0: all */
    int renumber;   /* reorder blocks, for locality; -1: where it is expected to pay */
    int fallback_threshold; /* with fewer instances, `auto` means the CPU */

    /* L-BFGS and first-order methods. */
    int history;
    double learning_rate, beta1, beta2, epsilon, weight_decay;
    double clip_norm; /* longest gradient; 0: no limit */

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
void qn_fit_report_add(qn_fit_report *report, const qn_fit_iteration *record);
__attribute__((format(printf, 3, 4))) void qn_fit_report_end(qn_fit_report *report, qn_fit_end end,
                                                             const char *format, ...);

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
/* The rank of the Jacobian at the current point, if the linear solver knows it (dense_qr); else
 * -1. */
int qn_fit_host_driver_rank(qn_fit_host_driver *driver);
void qn_fit_host_driver_times(const qn_fit_host_driver *driver, qn_fit_report *report);

/* Whole solves (solve.c). */

/* Starts at problem->x, which receives the result. A status other than QN_OK means that nothing was
 * solved (bad options, no memory); the report says how a solve ended. */
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
    int rank;          /* of the Jacobian; below n the members below are not set */
    double sigma;      /* sqrt(2 cost / (rows - n)) */
    double *deviation; /* per scalar of x; 0 where fixed */
    double *matrix;    /* n by n over free parameters: sigma^2 (J'J)^-1 */
} qn_fit_covariance;

/* At problem->x. Fails unless there are more rows than free parameters, and at most
 * QN_FIT_MAX_COVARIANCE of these. */
qn_status qn_fit_covariance_new(const qn_fit_problem *problem, qn_fit_covariance *out, qn_err *err);
void qn_fit_covariance_free(qn_fit_covariance *covariance);

#endif

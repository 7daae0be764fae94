/* device_graphs.h - inside of the resident driver: its buffers and its graphs. */
#ifndef QN_FIT_SOLVE_DEVICE_GRAPHS_H
#define QN_FIT_SOLVE_DEVICE_GRAPHS_H

#include "domain/fit/solve/device_driver.h"
#include "domain/fit/solve/device_reduced.h"
#include "domain/fit/solve/device_schur.h"
#include "domain/fit/solve/device_spare.h"

#include "kernel/fit/fit_solve.h"

enum { QN_FIT_CG_AT_ONCE = 8 };

/* Vectors over parameters, and after them those of other lengths. */
enum {
    QN_FIT_X,
    QN_FIT_TRIAL,
    QN_FIT_BEST,
    QN_FIT_GRADIENT,
    QN_FIT_SCALE,
    QN_FIT_ACTIVE,
    QN_FIT_DAMPING,
    QN_FIT_LOWER,
    QN_FIT_UPPER,
    QN_FIT_B,
    QN_FIT_Y,
    QN_FIT_R,
    QN_FIT_Z,
    QN_FIT_P,
    QN_FIT_Q,
    QN_FIT_V,
    QN_FIT_DELTA,
    QN_FIT_N_PLAIN,
    QN_FIT_BLOCKS = QN_FIT_N_PLAIN,
    QN_FIT_FACTOR,
    QN_FIT_RESIDUALS,
    QN_FIT_ROWS,
    QN_FIT_COST_HERE,
    QN_FIT_COST_THERE,
    QN_FIT_N_VECTORS
};

enum {
    QN_FIT_CONTROL,
    QN_FIT_SCALARS,
    QN_FIT_SUMS,     /* of chunks */
    QN_FIT_ROW_SUMS, /* the same over rows */
    QN_FIT_JOINED,
    QN_FIT_ROW_JOINED,
    QN_FIT_IS_FIXED,
    QN_FIT_N_SMALL
};

enum {
    QN_FIT_G_POINT,
    QN_FIT_G_SCALE,
    QN_FIT_G_SYSTEM,
    QN_FIT_G_CG,
    QN_FIT_G_RESET,
    QN_FIT_G_SUBSTITUTE, /* of eliminated blocks */
    QN_FIT_G_TRIAL,
    QN_FIT_G_AHEAD, /* the trial point, before it is asked for */
    QN_FIT_G_FILL,  /* the room for it */
    QN_FIT_G_SWAP,
    QN_FIT_G_KEEP,
    QN_FIT_G_BACK,
    QN_FIT_N_GRAPHS
};

/* What was asked of the device, and is answered by its scalars. */
typedef enum { QN_FIT_ASKED_POINT, QN_FIT_ASKED_SOLUTION, QN_FIT_ASKED_TRIAL } qn_fit_asked;

/* Scalars of a point that was evaluated. */
typedef struct qn_fit_known {
    double cost, gradient_max, x_norm;
    int is_known, is_ahead; /* is_ahead: before it was asked for */
} qn_fit_known;

struct qn_fit_device_driver {
    qn_ctx *ctx;
    const qn_fit_problem *problem;
    qn_fit_precision precision;
    qn_fit_solve_options opt;
    qn_fit_device *device;
    qn_buf *vectors[QN_FIT_N_VECTORS];
    qn_buf *cg[QN_FIT_N_PLAIN]; /* what conjugate gradients see of them: views of kept scalars */
    qn_i64 n_cg;
    qn_fit_device_schur *schur;     /* NULL: nothing is eliminated */
    qn_fit_device_reduced *reduced; /* NULL: the reduced system is not stored */
    qn_fit_device_spare *spare;     /* NULL: points are evaluated when they have been taken */
    qn_fit_known here, there;       /* there: the trial point, evaluated in advance */
    int n_before_spare, n_taken;    /* steps to take before that begins, and taken */
    int is_ahead;                   /* whether the last trial was */
    qn_buf *jacobian;               /* of the current point; NULL: products compute it */
    char note[200];
    qn_buf *small[QN_FIT_N_SMALL];
    qn_graph *graphs[QN_FIT_N_GRAPHS];
    qn_graph *last; /* that was sent */
    double control[FIT_N_CONTROL], scalars[FIT_N_SCALARS];
    qn_fit_asked asked;
    int has_scale, n_sent; /* n_sent: iterations of conjugate gradients */
    int is_read;           /* scalars are those that the last graph left */
    qn_i64 n_points, n_trials, n_products, n_speculated, n_used, n_waits;
    qn_status st; /* the first fault of the device */
    qn_err err;
};

/* device_jacobian.c: whether J is kept, and how; makes its buffer. */
qn_status qn_fit_driver_jacobian(qn_fit_device_driver *driver, qn_err *err);
void qn_fit_driver_report_jacobian(const qn_fit_device_driver *driver, qn_fit_report *report);
/* J v at the current point, for what a solve is judged by. */
qn_status qn_fit_driver_jv(qn_fit_device_driver *driver, qn_graph *graph, qn_buf *v, qn_buf *rows,
                           qn_err *err);
/* J'J v, for conjugate gradients. */
qn_status qn_fit_driver_jtjv(qn_fit_device_driver *driver, qn_graph *graph, qn_buf *v, qn_buf *out,
                             qn_err *err);

qn_status qn_fit_driver_buffers(qn_fit_device_driver *driver, qn_err *err);
qn_status qn_fit_driver_graphs(qn_fit_device_driver *driver, qn_err *err);

#endif

/* device_graphs.h - inside of the resident driver: its buffers and its graphs. */
#ifndef QN_FIT_SOLVE_DEVICE_GRAPHS_H
#define QN_FIT_SOLVE_DEVICE_GRAPHS_H

#include "domain/fit/solve/device_driver.h"
#include "domain/fit/solve/device_reduced.h"
#include "domain/fit/solve/device_schur.h"

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
    QN_FIT_G_SWAP,
    QN_FIT_G_KEEP,
    QN_FIT_G_BACK,
    QN_FIT_N_GRAPHS
};

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
    char note[200];
    qn_buf *small[QN_FIT_N_SMALL];
    qn_graph *graphs[QN_FIT_N_GRAPHS];
    qn_graph *last; /* that was sent */
    double control[FIT_N_CONTROL], scalars[FIT_N_SCALARS];
    int has_scale, is_solving, n_sent; /* iterations of conjugate gradients sent */
    qn_i64 n_points, n_trials, n_products;
    qn_status st; /* the first fault of the device */
    qn_err err;
};

qn_status qn_fit_driver_buffers(qn_fit_device_driver *driver, qn_err *err);
qn_status qn_fit_driver_graphs(qn_fit_device_driver *driver, qn_err *err);

#endif

/* fit_lbfgs.h - scalars of L-BFGS on devices; domain/fit/resident launches its kernels. */
#ifndef QN_KERNEL_FIT_LBFGS_H
#define QN_KERNEL_FIT_LBFGS_H

#include "kernel/types.h"

#define FIT_LBFGS_CHUNK 4096 /* numbers per partial sum */

/* Rows of the basis: `m` steps, `m` changes of the gradient, the gradient. */
typedef struct {
    i64 n, n_chunks;
    i32 m, n_rows;
} fit_lbfgs_par;

QN_PAR_SIZE(fit_lbfgs_par, 24);

/* Written by the host. */
enum { FIT_L_SHARE, FIT_L_IS_NEW, FIT_L_IS_FORGETTING, FIT_L_N_CONTROL };

/* Written by the device; the host reads them together. */
enum {
    FIT_L_COST,
    FIT_L_SLOPE,
    FIT_L_GRADIENT,
    FIT_L_LENGTH, /* of the direction */
    FIT_L_PAIRS,
    FIT_L_NEWEST,
    FIT_L_N_SCALARS
};

#endif

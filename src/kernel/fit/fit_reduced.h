/* fit_reduced.h - parameters of the kernels of a stored reduced system; domain/fit/resident
 * launches them. */
#ifndef QN_KERNEL_FIT_REDUCED_H
#define QN_KERNEL_FIT_REDUCED_H

#include "kernel/types.h"

#define FIT_REDUCED_LANES 128
#define FIT_REDUCED_CHUNK 256 /* pairs per partial sum */
#define FIT_REDUCED_DOTS  4   /* r.z, r.r, y.b, y.r of a part */

/* A block row of the matrix is entries start[a] .. start[a + 1] - 1: column[k] is a block, and
 * number (k * dim + j) * dim + i of the matrix is row i, column j. A part of a vector is the
 * FIT_REDUCED_LANES / dim blocks that one group updates. */
typedef struct {
    i64 n;               /* entries of the kept set's lists */
    i64 first, first_at; /* where the set's scalars and its square matrices begin */
    i32 n_blocks, n_parts;
    i32 dim, rows, stride;
    i32 point_dim;
} fit_reduced_par;

QN_PAR_SIZE(fit_reduced_par, 48);

/* The state of conjugate gradients; one array is read while the other is written. */
enum {
    FIT_R_RHO,
    FIT_R_Q,
    FIT_R_GOAL,
    FIT_R_BETA,
    FIT_R_ITERATIONS,
    FIT_R_DONE,
    FIT_R_FAILED,
    FIT_N_STATE
};

#endif

/* fit_solve.h - parameters of the resident solver's kernels; domain/fit/resident launches them. */
#ifndef QN_KERNEL_FIT_SOLVE_H
#define QN_KERNEL_FIT_SOLVE_H

#include "kernel/types.h"

#define FIT_DOT_CHUNK 1024 /* numbers per partial sum: four per lane, loaded together */
#define FIT_MAX_DIM   32   /* scalars of a block */

/* A set of blocks: scalar c of block b is number first + b * dim + c of a vector, its square
 * matrix begins at first_at + b * dim * dim. */
typedef struct {
    i64 first, first_at;
    double low, high; /* limits of the damping's diagonal */
    i32 dim, kind;    /* kind: for fit_lm_scale, 1 scales by columns; else unused */
} fit_set_par;

QN_PAR_SIZE(fit_set_par, 40);

/* The rows of a group in a row vector: `total` numbers from `at` on, `n` of every `ld`; the gaps
 * are unset. The group's chunks begin at first_chunk; n_chunks counts those of all groups. */
typedef struct {
    i64 at, n, ld, total, first_chunk, n_chunks;
} fit_rows_par;

QN_PAR_SIZE(fit_rows_par, 48);

/* Written by the host before a step. */
enum { FIT_C_KIND, FIT_C_BY, FIT_C_SHARE, FIT_C_ETA, FIT_C_SMALL, FIT_N_CONTROL };

/* Written by the device; the host reads them together. */
enum {
    FIT_S_COST, /* these three belong to the point evaluated last */
    FIT_S_GRADIENT,
    FIT_S_X,
    FIT_S_TRIAL, /* and these to the last step: the cost at its end */
    FIT_S_MODEL,
    FIT_S_STEP,
    FIT_S_RHO,
    FIT_S_BETA,
    FIT_S_ALPHA,
    FIT_S_Q,
    FIT_S_GOAL,
    FIT_S_ITERATIONS,
    FIT_S_DONE, /* 1: solved, 2: failed */
    FIT_N_SCALARS
};

#endif

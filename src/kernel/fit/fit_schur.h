/* fit_schur.h - parameters of the reduced system's kernels; domain/fit/resident launches them. */
#ifndef QN_KERNEL_FIT_SCHUR_H
#define QN_KERNEL_FIT_SCHUR_H

#include "kernel/types.h"

#define FIT_SCHUR_LANES 32
#define FIT_SCHUR_CHUNK 256 /* entries per partial sum */
#define FIT_SCHUR_DIM   8   /* the most scalars of an eliminated block */
#define FIT_SCHUR_ROWS  8   /* the most rows of a term */

/* Entry k of a set's lists is place[k], a slot of a group, and instance[k]. In the tables a place
 * has rows * stride numbers of J and rows numbers of a row vector. */
typedef struct {
    i64 n;               /* entries */
    i64 first, first_at; /* where the set's scalars and its square matrices begin */
    i64 n_chunks;
    double sign; /* of the result of fit_schur_points */
    i32 dim, rows, stride;
    i32 kind;            /* of the kernel */
    i32 is_scaled, none; /* with the scale once more; unused */
} fit_schur_par;

QN_PAR_SIZE(fit_schur_par, 64);

/* kind of fit_schur_points: only the gradient, or with J' rows. */
enum { FIT_SCHUR_GRADIENT, FIT_SCHUR_BOTH };

#endif

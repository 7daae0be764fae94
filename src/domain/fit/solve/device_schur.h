/* device_schur.h - inside of the resident driver: elimination of blocks on the device.
 *
 * Unless it is stored (device_reduced.h), a product is one of J, what eliminated blocks take off
 * it, and one of J'. Conjugate gradients run on the kept scalars alone, which lie side by side.
 */
#ifndef QN_FIT_SOLVE_DEVICE_SCHUR_H
#define QN_FIT_SOLVE_DEVICE_SCHUR_H

#include "domain/fit/solve/device_driver.h"

typedef struct qn_fit_schur_set {
    qn_i64 first_at;           /* of its square matrices */
    qn_i64 n;                  /* entries of its blocks' lists */
    qn_buf *place, *instance;  /* of each */
    qn_buf *start;             /* eliminated: of each block, first entry */
    qn_buf *begin, *from, *to; /* kept: first chunk of each block, entries of each chunk */
    qn_buf *point, *point_at;  /* kept: what each entry's instance has of an eliminated block: */
    qn_buf *point_place;       /* first scalar, matrix, place */
    qn_buf *packed, *u, *weights, *sums;
    qn_i64 n_chunks;
} qn_fit_schur_set;

typedef struct qn_fit_device_schur {
    qn_fit_schur_set *sets;
    qn_buf *at, *factor, *row_at; /* of each place: J and rows */
    qn_buf *jacobian, *rows;      /* rows: for the right side */
    qn_buf *w, *blocks;           /* a vector that is 0 at kept scalars; diagonal blocks of S */
    qn_i64 first, n_kept;         /* kept scalars */
    int n_rows, stride, point_dim;
} qn_fit_device_schur;

/* Whether this problem can be solved so; else *why says what is in the way. */
int qn_fit_schur_fits(const qn_fit_problem *problem, const char **why);

struct qn_fit_device_driver;
qn_status qn_fit_schur_new(struct qn_fit_device_driver *driver, qn_err *err);
void qn_fit_schur_free(struct qn_fit_device_driver *driver);

/* Cost, residuals, J, gradient and diagonal blocks of J'J. */
qn_status qn_fit_schur_point(struct qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);
/* The right side, and the preconditioner's blocks; those of eliminated sets are factored. */
qn_status qn_fit_schur_system(struct qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);
/* q = J_c' (I - J_p C^-1 J_p') J_c v, without scale and damping. */
qn_status qn_fit_schur_product(struct qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);
/* y of eliminated blocks from that of kept ones. */
qn_status qn_fit_schur_substitute(struct qn_fit_device_driver *driver, qn_graph *graph,
                                  qn_err *err);

#endif

/* device_reduced.h - inside of the resident driver: the reduced system as a matrix.
 *
 * Where kept blocks meet few others, the matrix is far smaller than what it is made of: a product
 * reads it instead of every entry, and conjugate gradients are two launches an iteration.
 */
#ifndef QN_FIT_SOLVE_DEVICE_REDUCED_H
#define QN_FIT_SOLVE_DEVICE_REDUCED_H

#include "domain/fit/solve/device_driver.h"
#include "domain/fit/solve/reduced_pattern.h"

/* Iterations that are sent at once; even, since vectors change places in each. */
enum { QN_FIT_REDUCED_AT_ONCE = 16 };

typedef struct qn_fit_device_reduced {
    int set;
    qn_i64 n_lower, n_chunks, n_stored; /* blocks of a triangle, chunks of pairs, blocks of all */
    int n_parts;
    qn_buf *from, *to, *left, *right;         /* chunks and their pairs */
    qn_buf *begin, *row, *of, *where, *cross; /* of blocks of the triangle */
    qn_buf *start, *column;                   /* of rows */
    qn_buf *half, *sums, *matrix, *inverse;
    qn_buf *dots, *curvature, *state[2];
} qn_fit_device_reduced;

/* Makes driver->reduced where it pays; else leaves NULL. */
qn_status qn_fit_reduced_new(qn_fit_device_driver *driver, qn_err *err);
void qn_fit_reduced_free(qn_fit_device_driver *driver);

/* The matrix and its diagonal blocks, from the factors of eliminated blocks. */
qn_status qn_fit_reduced_matrix(qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);
/* The preconditioner from factored diagonal blocks, and the start of an iteration. */
qn_status qn_fit_reduced_begin(qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);
qn_status qn_fit_reduced_iterate(qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);
/* The residual made anew. */
qn_status qn_fit_reduced_reset(qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);

#endif

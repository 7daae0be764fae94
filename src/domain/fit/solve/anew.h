/* anew.h - least squares in host memory without a Jacobian in f64.
 *
 * For conjugate gradients alone. Contributions to the gradient and to the diagonal blocks of J'J
 * come from the programs of a point, J v from a program along v. Products J'J v either come from a
 * program too, which evaluates the terms again, or read a Jacobian in f32; all else is the same.
 * What two slots of an instance bound to one block have in common is left out of the diagonal, as
 * on a device: it damps and preconditions.
 */
#ifndef QN_FIT_SOLVE_ANEW_H
#define QN_FIT_SOLVE_ANEW_H

#include "domain/fit/solve/model.h"

/* What place p adds to a block: cells [first[p], first[p + 1]). */
typedef struct qn_fit_anew_cells {
    struct {
        const double *at; /* [i]; NULL: the factor alone */
        double factor;
        int to; /* number of the block's sums */
    } * cells;
    int *first;
} qn_fit_anew_cells;

typedef struct qn_fit_anew {
    int is_rounded;  /* products read J in f32 */
    const double *x; /* where the last point was */
    qn_fit_anew_cells slopes, squares, products;
    double *diagonals;    /* diagonal blocks of J'J, at[p] where block p begins */
    qn_i64 *diagonals_at; /* dim^2 numbers each */
    double *rows;         /* of products with a rounded J */
} qn_fit_anew;

/* After the model's sums are there; fails on blocks of more than QN_FIT_MAX_BLOCK numbers. */
qn_status qn_fit_anew_new(qn_fit_model *model, int is_rounded, qn_err *err);
void qn_fit_anew_free(qn_fit_anew *anew);

double qn_fit_anew_linearise(qn_fit_model *model, const double *x, double *gradient);
void qn_fit_anew_jv(qn_fit_model *model, const double *v, double *rows);
void qn_fit_anew_jtjv(qn_fit_model *model, const double *v, double *out);
void qn_fit_anew_diagonal(const qn_fit_model *model, double *out);
void qn_fit_anew_blocks(const qn_fit_model *model, double *out);

#endif

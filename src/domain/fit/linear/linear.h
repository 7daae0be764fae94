/* linear.h - solvers of the damped normal equations of one step.
 *
 *     (S J'J S + D^2) y = -S g
 *
 * S scales columns; a scalar with scale 0 does not move (it is fixed, or held at a bound). y is in
 * scaled variables, and 0 where the scale is 0. Vectors are indexed like the problem's x.
 */
#ifndef QN_FIT_LINEAR_LINEAR_H
#define QN_FIT_LINEAR_LINEAR_H

#include "domain/fit/model/model.h"
#include "util/arena.h"

typedef enum {
    QN_FIT_LINEAR_AUTO,
    QN_FIT_DENSE_QR,
    QN_FIT_DENSE_CHOLESKY,
    QN_FIT_SPARSE_CHOLESKY,
    QN_FIT_PCG,
    QN_FIT_SCHUR,
    QN_FIT_SCHUR_PCG
} qn_fit_linear_kind;

/* If a step takes more iterations, AUTO switches from conjugate gradients to a factorisation. On
 * meshes of 1 600 to 31 000 parameters a factorisation costs as much as 65 to 250 iterations. */
enum { QN_FIT_AUTO_ITERATIONS = 150 };

/* Free scalars up to which the dense solvers are chosen, and up to which they are allowed. */
enum {
    QN_FIT_AUTO_QR = 128,
    QN_FIT_AUTO_DENSE = 500,
    QN_FIT_MAX_QR = 2000,
    QN_FIT_MAX_DENSE = 2400
};

typedef struct qn_fit_linear_options {
    double eta;         /* tolerance of PCG on the quadratic model; 0 means 0.1 */
    double tolerance;   /* or on the relative residual; 0 means 1e-12 */
    int max_iterations; /* 0 means 500 */
    int is_factored;    /* 1: never store a reduced system */
} qn_fit_linear_options;

typedef struct qn_fit_system {
    const double *gradient, *scale, *damping; /* g, S, D^2 */
} qn_fit_system;

typedef struct qn_fit_outcome {
    int is_solved;  /* y is finite and usable */
    int iterations; /* of PCG */
    int rank;       /* of S J'J S; -1: unknown */
} qn_fit_outcome;

typedef struct qn_fit_linear_class {
    const char *name;
    size_t bytes; /* of `self`, which is zeroed before open */
    /* May leave it to the caller to check memory->failed. */
    qn_status (*open)(void *self, qn_fit_model *model, const qn_fit_linear_options *options,
                      qn_arena *memory, qn_err *err);
    void (*close)(void *self); /* NULL: nothing to free but memory */
    void (*renew)(void *self); /* the model has a new Jacobian; NULL: it is read in place */
    qn_fit_outcome (*solve)(void *self, const qn_fit_system *system, double *y);
} qn_fit_linear_class;

typedef struct qn_fit_linear {
    const qn_fit_linear_class *of;
    void *self;
    qn_arena memory;
    char note[200]; /* why this solver is used instead of the requested one; or "" */
    qn_fit_model *model;
    qn_fit_linear_options options;
    int is_auto, most_iterations; /* the most of any step so far */
} qn_fit_linear;

/* Opens a solver of that class. Clear `memory` in the end, even after a failure. */
qn_status qn_fit_class_open(const qn_fit_linear_class *of, qn_fit_model *model,
                            const qn_fit_linear_options *options, qn_arena *memory, void **self,
                            qn_err *err);

/* Chooses a solver for AUTO, and a replacement where the requested one cannot be used. */
qn_status qn_fit_linear_open(qn_fit_model *model, qn_fit_linear_kind kind,
                             const qn_fit_linear_options *options, qn_fit_linear *out, qn_err *err);
void qn_fit_linear_close(qn_fit_linear *linear);

/* One step. Large problems without elimination begin with conjugate gradients, which often need
 * only a few iterations. After one step that takes many, AUTO switches to sparse_cholesky for the
 * following steps; the note says which solver is used, and why. */
qn_fit_outcome qn_fit_linear_solve(qn_fit_linear *linear, const qn_fit_system *system, double *y);

const char *qn_fit_linear_name(qn_fit_linear_kind kind);
int qn_fit_linear_find(const char *name); /* a qn_fit_linear_kind, or -1 */

extern const qn_fit_linear_class qn_fit_class_dense_qr, qn_fit_class_dense_cholesky,
    qn_fit_class_sparse, qn_fit_class_pcg, qn_fit_class_schur, qn_fit_class_schur_pcg;

/* The triangle R of J, n by n by columns, from a renewed dense_qr. */
void qn_fit_dense_qr_triangle(const void *self, double *r);

/* Whether sparse_cholesky is available; if not, *why names what is missing. */
int qn_fit_has_sparse(const char **why);

#endif

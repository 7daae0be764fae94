/* model.h - costs, gradients and the Jacobian of a problem, for solvers in host memory.
 *
 * host/host.h evaluates; the model adds direct access to Jacobians, for solvers that build matrices
 * from them, and products that read them once. Sums follow problem/sum_order.h, so that bits depend
 * neither on the number of threads nor on the kind of product.
 *
 * Vectors over parameters are indexed like the problem's x; entries of fixed scalars are 0. Vectors
 * over rows are one table after the other, [row][instance] with the group's leading dimension;
 * qn_fit_model_group.first_row says where a group begins.
 */
#ifndef QN_FIT_MODEL_MODEL_H
#define QN_FIT_MODEL_MODEL_H

#include "domain/fit/host/host.h"
#include "domain/fit/problem/problem.h"
#include "util/arena.h"

/* The purpose of a model: least squares need residuals and Jacobians, L-BFGS and first-order
 * methods only the gradient. FREE and ROUNDED are least squares by conjugate gradients, with
 * products that compute J or read it in f32 (matrix_free.c): then groups hold no Jacobian. */
enum {
    QN_FIT_MODEL_JACOBIAN = 1,
    QN_FIT_MODEL_GRADIENT = 2,
    QN_FIT_MODEL_FREE = 4,
    QN_FIT_MODEL_ROUNDED = 8
};

enum { QN_FIT_MAX_BLOCK = 32 }; /* scalars of a block whose whole normal matrix is stored */

typedef struct qn_fit_model_group {
    const qn_fit_group *group;
    const double *res;    /* [row][i] */
    const double *stored; /* [value][i]: distinct entries of the Jacobian */
    /* [i][row][k]: the whole Jacobian of an instance in one piece, for sums by block; k counts
     * variables by slot, then component. */
    double *packed;
    float *rounded; /* the packed Jacobian in f32, or NULL */
    qn_i64 first_row;
    const qn_fit_variable *variables;
    const qn_fit_entry *entries;
    int n_variables;
    int *slot_start, *slot_variable; /* variables of each slot, by component */
    int *slot_comp;                  /* component of each of these */
} qn_fit_model_group;

/* An instance that uses a block twice: its two Jacobians add up. */
typedef struct qn_fit_double_use {
    int group, slot_a, slot_b;
    qn_i64 instance;
} qn_fit_double_use;

/* A slot of a group, with everything that a sum over its instances needs. */
typedef struct qn_fit_model_place {
    const double *j;      /* of instance 0; NULL: not stored */
    const float *rounded; /* likewise */
    const double *res;
    const int *comp;
    qn_i64 stride, ld, first_row;    /* stride: from instance to instance */
    int n_rows, n_variables, n, dim; /* n: variables of the slot */
    int is_whole;                    /* the slot uses all components of its block */
} qn_fit_model_place;

typedef struct qn_fit_model {
    const qn_fit_problem *problem;
    qn_arena memory; /* of all tables */
    qn_fit_host *host;
    struct qn_fit_matrix_free *matrix_free; /* NULL: J is stored in f64 */
    struct qn_fit_sums *sums;               /* NULL: none */
    qn_fit_model_group *groups;
    qn_fit_model_place *places;
    double *both; /* of each block: its gradient, then its diagonal of J' J */
    qn_i64 *both_at;
    qn_i64 n_rows; /* of a vector over rows, padding included */
    int n_threads;
    double *lanes;    /* of each thread: partial sums of a list, by lane */
    size_t n_lanes;   /* numbers per thread */
    double *partials; /* sums of the chunks of a long list */
    qn_fit_double_use *doubles;
    int n_doubles;
    qn_fit_bad bad;                                       /* of the last evaluation */
    qn_i64 n_costs, n_jacobians, n_products, n_gradients; /* evaluations so far */
} qn_fit_model;

/* With `n_threads` 0 there is one thread per processor. The problem must be finished and outlive
 * the model. Later calls allocate nothing. */
qn_status qn_fit_model_new(const qn_fit_problem *problem, unsigned uses, int n_threads,
                           qn_fit_model **out, qn_err *err);
void qn_fit_model_free(qn_fit_model *model);

/* The cost at x; NaN when a term is not finite, which `bad` then names. */
double qn_fit_model_cost(qn_fit_model *model, const double *x);

/* The cost at x; stores residuals and Jacobians in the groups, and the diagonal of J' J. */
double qn_fit_model_linearise(qn_fit_model *model, const double *x, double *gradient);

/* Cost and gradient without a Jacobian; energies are included. */
double qn_fit_model_gradient(qn_fit_model *model, const double *x, double *gradient);

/* Cost of one group in the last evaluation. */
double qn_fit_model_group_cost(const qn_fit_model *model, int group);

/* Describes the term that was not finite. */
void qn_fit_model_describe(const qn_fit_model *model, char *text, size_t size);

/* Bytes of the Jacobian that products read; 0 if they compute it. */
size_t qn_fit_model_jacobian_bytes(const qn_fit_model *model);

/* Fills `packed`; called by qn_fit_model_linearise. */
void qn_fit_model_pack(qn_fit_model *model);

/* Products with the stored Jacobian (products.c). */

void qn_fit_model_jv(qn_fit_model *model, const double *v, double *rows);
void qn_fit_model_jtu(qn_fit_model *model, const double *rows, double *out); /* NULL: residuals */
/* J'J v; `rows` receives J v. */
void qn_fit_model_jtjv(qn_fit_model *model, const double *v, double *rows, double *out);
void qn_fit_model_slopes(qn_fit_model *model, double *gradient); /* and the diagonal */
void qn_fit_model_diagonal(qn_fit_model *model, double *out);    /* of J' J */

/* Diagonal blocks of J' J, dim x dim each by rows, at[p] where block p begins. No set may have
 * more than QN_FIT_MAX_BLOCK scalars per block. */
void qn_fit_model_blocks(qn_fit_model *model, const qn_i64 *at, double *out);

/* The sum of a[i] b[i], in pieces of one size. */
double qn_fit_inner(const double *a, const double *b, qn_i64 n);

static inline double qn_fit_jac_at(const qn_fit_model_group *g, int row, int variable, qn_i64 i)
{
    const qn_fit_entry *e = &g->entries[row * g->n_variables + variable];

    return e->stored < 0 ? e->factor : e->factor * g->stored[e->stored * g->group->ld + i];
}

/* Row `row` of instance i, by slots. */
static inline const double *qn_fit_packed_row(const qn_fit_model_group *g, int row, qn_i64 i)
{
    return g->packed + (i * g->group->n_rows + row) * g->n_variables;
}

#endif

/* model.h - what solvers in host memory see of a problem: costs, gradients, the kept Jacobian.
 *
 * Evaluation is that of batch/host.h; this adds direct access to Jacobians, for solvers that build
 * matrices from them, and products that pass over them once. Sums follow batch/order.h, so that
 * bits depend neither on threads nor on the way.
 *
 * Vectors over parameters are indexed like the problem's x; entries of fixed scalars are 0.
 * Vectors over rows are one table after the other, [row][instance] with the group's leading
 * dimension; qn_fit_model_group.first_row says where a group begins.
 */
#ifndef QN_FIT_MODEL_MODEL_H
#define QN_FIT_MODEL_MODEL_H

#include "domain/fit/host/host.h"
#include "domain/fit/problem/problem.h"

/* What qn_fit_model_new prepares for: least squares need residuals and Jacobians, L-BFGS and
 * first-order methods the gradient alone. FREE and ROUNDED are least squares for conjugate
 * gradients, with products that compute J anew or read it in f32 (anew.h): no Jacobian is in the
 * groups then. */
enum {
    QN_FIT_MODEL_JACOBIAN = 1,
    QN_FIT_MODEL_GRADIENT = 2,
    QN_FIT_MODEL_FREE = 4,
    QN_FIT_MODEL_ROUNDED = 8
};

enum { QN_FIT_MAX_BLOCK = 32 }; /* scalars of a block whose normal matrix is kept whole */

typedef struct qn_fit_model_group {
    const qn_fit_group *group;
    const double *res;    /* [row][i] */
    const double *stored; /* [value][i]: distinct entries of the Jacobian */
    /* [i][row][k]: the whole Jacobian of an instance side by side, for those who go by blocks;
     * k counts variables by slot, then component. */
    double *packed;
    float *rounded; /* the same in f32; NULL: there is none */
    qn_i64 first_row;
    const qn_fit_variable *variables;
    const qn_fit_entry *entries;
    int n_variables;
    int *slot_start, *slot_variable; /* variables of each slot, by component */
    int *slot_comp;                  /* component of each of these */
} qn_fit_model_group;

/* One instance that uses a block twice: its two Jacobians add up. */
typedef struct qn_fit_double_use {
    int group, slot_a, slot_b;
    qn_i64 instance;
} qn_fit_double_use;

/* A slot of a group, with all that a sum over its instances needs in one place. */
typedef struct qn_fit_model_place {
    const double *j;      /* of instance 0; NULL: not kept */
    const float *rounded; /* likewise */
    const double *res;
    const int *comp;
    qn_i64 stride, ld, first_row;    /* stride: from instance to instance */
    int n_rows, n_variables, n, dim; /* n: variables of the slot */
    int is_whole;                    /* all components are */
} qn_fit_model_place;

typedef struct qn_fit_model {
    const qn_fit_problem *problem;
    qn_fit_host *host;
    struct qn_fit_matrix_free *matrix_free; /* NULL: J is kept in f64 */
    struct qn_fit_sums *sums;               /* NULL: none */
    qn_fit_model_group *groups;
    qn_fit_model_place *places;
    double *both; /* of each block: its gradient, then its diagonal of J' J */
    qn_i64 *both_at;
    qn_i64 n_rows; /* of a vector over rows, padding included */
    int n_threads;
    double *lanes;    /* of each thread: sums of a list by lanes */
    size_t n_lanes;   /* numbers of one thread's */
    double *partials; /* of the chunks of a long list */
    qn_fit_double_use *doubles;
    int n_doubles;
    qn_fit_bad bad;                                       /* of the last evaluation */
    qn_i64 n_costs, n_jacobians, n_products, n_gradients; /* evaluations so far */
} qn_fit_model;

/* `n_threads` 0 is one for each processor. The problem is finished and outlives the model.
 * Nothing is allocated afterwards. */
qn_status qn_fit_model_new(const qn_fit_problem *problem, unsigned uses, int n_threads,
                           qn_fit_model **out, qn_err *err);
void qn_fit_model_free(qn_fit_model *model);

/* The cost at x; NaN when a term is not finite, and `bad` says which. */
double qn_fit_model_cost(qn_fit_model *model, const double *x);

/* The cost at x, with residuals and Jacobians kept in the groups, and the diagonal of J' J. */
double qn_fit_model_linearise(qn_fit_model *model, const double *x, double *gradient);

/* Cost and gradient without a Jacobian; energies count as well. */
double qn_fit_model_gradient(qn_fit_model *model, const double *x, double *gradient);

/* Cost of one group in the last evaluation. */
double qn_fit_model_group_cost(const qn_fit_model *model, int group);

/* The term that was not finite, as words. */
void qn_fit_model_describe(const qn_fit_model *model, char *text, size_t size);

/* Of the Jacobian that products read; 0: they compute it. */
size_t qn_fit_model_jacobian_bytes(const qn_fit_model *model);

/* Fills `packed`, by qn_fit_model_linearise. */
void qn_fit_model_pack(qn_fit_model *model);

/* Products with the kept Jacobian (products.c). */

void qn_fit_model_jv(qn_fit_model *model, const double *v, double *rows);
void qn_fit_model_jtu(qn_fit_model *model, const double *rows, double *out); /* NULL: residuals */
/* J'J v; `rows` is room for J v. */
void qn_fit_model_jtjv(qn_fit_model *model, const double *v, double *rows, double *out);
void qn_fit_model_slopes(qn_fit_model *model, double *gradient); /* and the diagonal */
void qn_fit_model_diagonal(qn_fit_model *model, double *out);    /* of J' J */

/* Diagonal blocks of J' J, dim x dim each by rows, at[p] where block p begins. No set may have
 * more than QN_FIT_MAX_BLOCK scalars per block. */
void qn_fit_model_blocks(qn_fit_model *model, const qn_i64 *at, double *out);

/* Sum of a[i] b[i] by pieces of one size. */
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

/* host_impl.h - inside of the host evaluation. */
#ifndef QN_FIT_HOST_HOST_IMPL_H
#define QN_FIT_HOST_HOST_IMPL_H

#include "domain/fit/host/host.h"
#include "domain/fit/problem/sum_order.h"
#include "domain/fit/eval/eval.h"

enum { QN_FIT_ALONE = 4096 }; /* scalars or instances that one thread does sooner than several */

typedef enum {
    QN_FIT_PASS_COST,
    QN_FIT_PASS_GRADIENT,
    QN_FIT_PASS_LINEARIZE,
    QN_FIT_PASS_POINT,         /* cost, residuals, contributions to the gradient and the diagonal */
    QN_FIT_PASS_STORING_POINT, /* the same and the Jacobian */
    QN_FIT_PASS_JV,            /* these two along a tangent */
    QN_FIT_PASS_JTJV,
    QN_FIT_N_PASSES
} qn_fit_pass;

typedef struct qn_fit_jit qn_fit_jit;

typedef struct qn_fit_host_group {
    qn_fit_program *programs[QN_FIT_N_PASSES];
    qn_fit_plan *plans[QN_FIT_N_PASSES];
    qn_fit_jit *jits[QN_FIT_N_PASSES];   /* NULL: interpreted */
    double interpreted[QN_FIT_N_PASSES]; /* operations so far; infinite: there is no compiler */
    double *cost;                        /* [i]; energies: [row][i] */
    double *gradient;                    /* [stored][i] */
    double *jacobian;                    /* [stored][i] */
    double *slopes, *squares;            /* of a point: [stored][i] */
    double *products;                    /* of JTJV: [stored][i] */
    double *ones;                        /* energies: the seed of their gradient */
    int *variable; /* [slot * max_dim + comp]: number among variables, or -1 */
    qn_i64 row;    /* of the row vectors */
    double total;  /* cost in the last run */
} qn_fit_host_group;

/* What a component of a place contributes: factor * at[i], or the factor alone. */
typedef struct qn_fit_cell {
    const double *at;
    double factor;
} qn_fit_cell;

struct qn_fit_host {
    qn_ctx *ctx; /* of compiled groups; NULL before the first */
    const qn_fit_problem *problem;
    qn_fit_host_options options;
    int may_contract;
    qn_fit_host_group *groups;
    int max_dim;
    void **workspaces; /* of each thread */
    size_t workspace_bytes;
    double *residuals, *partials;
    const double *tangent; /* of the run, where it goes along one */
    double *rows;          /* where its J v goes */
    qn_i64 n_rows, max_partials;
    qn_fit_cell *cells; /* of the gradient: [place * max_dim + comp] */
};

/* Programs and tables of a run, made once. */
qn_status qn_fit_host_prepare(qn_fit_host *host, qn_fit_pass run, qn_err *err);

/* host_jit.c: makes compiled code for a group once that pays; a failure leaves the interpreter. */
void qn_fit_host_compile(qn_fit_host *host, int group, qn_fit_pass run);
void qn_fit_jit_run(const qn_fit_jit *jit, const qn_fit_tables *tables, qn_i64 i0, qn_i64 i1);
void qn_fit_jit_free(qn_fit_host *host, qn_fit_jit *jit);

/* All instances of all groups. */
void qn_fit_host_run(qn_fit_host *host, qn_fit_pass run, const double *x, qn_fit_bad *bad);

/* The same along `tangent`, which is 0 at fixed scalars: JV into `rows`, JTJV into `products`. */
void qn_fit_host_run_along(qn_fit_host *host, qn_fit_pass run, const double *x,
                           const double *tangent, double *rows);

/* Contributions of a list, in its order: value(user, entry) for entries [from, to). `buffer` has
 * room for QN_FIT_CHUNK numbers and one for each chunk. */
typedef double (*qn_fit_contribution)(const void *user, qn_i64 entry);
double qn_fit_sum_list(qn_fit_contribution value, const void *user, qn_i64 from, qn_i64 to,
                       double *buffer);

static inline double qn_fit_entry_value(const qn_fit_entry *e, const double *stored, qn_i64 ld,
                                        qn_i64 i)
{
    return e->stored < 0 ? e->factor : e->factor * stored[e->stored * ld + i];
}

#endif

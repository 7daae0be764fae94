/* host_impl.h - internals of the host evaluation. */
#ifndef QN_FIT_HOST_HOST_IMPL_H
#define QN_FIT_HOST_HOST_IMPL_H

#include "domain/fit/host/host.h"
#include "domain/fit/problem/sum_order.h"
#include "domain/fit/eval/eval.h"
#include "util/arena.h"

/* Up to this many scalars or instances, one thread is faster than several. */
enum { QN_FIT_ALONE = 4096 };

typedef enum {
    QN_FIT_PASS_COST,
    QN_FIT_PASS_GRADIENT,
    QN_FIT_PASS_LINEARIZE,
    QN_FIT_PASS_POINT,         /* cost, residuals, contributions to gradient and diagonal */
    QN_FIT_PASS_STORING_POINT, /* the pass POINT, and the Jacobian */
    QN_FIT_PASS_JV,            /* these two along a tangent */
    QN_FIT_PASS_JTJV,
    QN_FIT_N_PASSES
} qn_fit_pass;

typedef struct qn_fit_jit qn_fit_jit;

typedef struct qn_fit_host_group {
    qn_fit_tape *tapes[QN_FIT_N_PASSES];
    qn_fit_plan *plans[QN_FIT_N_PASSES];
    qn_fit_jit *jits[QN_FIT_N_PASSES];   /* NULL: interpreted */
    double interpreted[QN_FIT_N_PASSES]; /* operations so far; infinite: there is no compiler */
    double *cost;                        /* [i]; energies: [row][i] */
    double *gradient;                    /* [stored][i] */
    double *jacobian;                    /* [stored][i] */
    double *slopes, *squares;            /* of a point: [stored][i] */
    double *products;                    /* of JTJV: [stored][i] */
    double *ones;                        /* for energies: the seed of their gradient */
    qn_i64 row;                          /* of the row vectors */
    double total;                        /* cost in the last pass */
} qn_fit_host_group;

/* The contribution of a component of a place: factor * at[i], or only the factor. */
typedef struct qn_fit_cell {
    const double *at;
    double factor;
} qn_fit_cell;

struct qn_fit_host {
    qn_ctx *ctx;     /* of compiled groups; NULL until the first */
    qn_arena memory; /* of all tables but the workspaces */
    const qn_fit_problem *problem;
    qn_fit_host_options options;
    int may_contract;
    qn_fit_host_group *groups;
    int max_dim;
    void **workspaces; /* of each thread */
    size_t workspace_bytes;
    double *residuals, *partials;
    const double *tangent; /* of the passes along a direction */
    double *rows;          /* receives its J v */
    qn_i64 n_rows, max_partials;
    qn_fit_cell *cells; /* of the gradient: [place * max_dim + comp] */
};

/* Makes the tapes and tables of a pass, once. */
qn_status qn_fit_host_prepare(qn_fit_host *host, qn_fit_pass run, qn_err *err);

/* Runs a pass over all instances of all groups. */
void qn_fit_host_run(qn_fit_host *host, qn_fit_pass run, const double *x, qn_fit_bad *bad);

/* Runs a pass along `tangent`, which is 0 at fixed scalars: JV writes `rows`, JTJV `products`. */
void qn_fit_host_run_along(qn_fit_host *host, qn_fit_pass run, const double *x,
                           const double *tangent, double *rows);

/* The sum of value(user, entry) for entries [from, to) of a list, in its order. `buffer` holds
 * QN_FIT_CHUNK numbers and one more for each chunk. */
typedef double (*qn_fit_contribution)(const void *user, qn_i64 entry);
double qn_fit_sum_list(qn_fit_contribution value, const void *user, qn_i64 from, qn_i64 to,
                       double *buffer);

static inline double qn_fit_entry_value(const qn_fit_entry *e, const double *stored, qn_i64 ld,
                                        qn_i64 i)
{
    return e->stored < 0 ? e->factor : e->factor * stored[e->stored * ld + i];
}

#endif

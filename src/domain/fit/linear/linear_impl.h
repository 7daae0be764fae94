/* linear_impl.h - parts that several linear solvers share. */
#ifndef QN_FIT_LINEAR_LINEAR_IMPL_H
#define QN_FIT_LINEAR_LINEAR_IMPL_H

#include "domain/fit/linear/linear.h"

/* Factored diagonal blocks of the normal equations: the preconditioner of CG and the inverses of
 * eliminated blocks. */

typedef struct qn_fit_blocks {
    qn_fit_model *model;
    qn_i64 *at;      /* where a block begins; [n_blocks] is the end */
    double *normal;  /* J'J */
    double *factor;  /* L of S J'J S + D^2, by rows */
    int is_diagonal; /* blocks are too large: only their diagonal is stored */
} qn_fit_blocks;

/* Check memory->failed afterwards. */
void qn_fit_blocks_open(qn_fit_model *model, qn_arena *memory, qn_fit_blocks *out);
void qn_fit_blocks_renew(qn_fit_blocks *blocks);

/* S J'J S + D^2 of block `b`, not factored. */
void qn_fit_blocks_damped(const qn_fit_blocks *blocks, const qn_fit_system *system, uint32_t b,
                          double *out);

/* Factors all blocks. One that is not positive definite is replaced by its diagonal. */
void qn_fit_blocks_factor(qn_fit_blocks *blocks, const qn_fit_system *system);

/* Solves with the factor of block `b`, in place. */
void qn_fit_blocks_apply(const qn_fit_blocks *blocks, uint32_t b, double *v);

static inline int qn_fit_block_dim(const qn_fit_problem *p, uint32_t b)
{
    return (int)(p->block_first[b + 1] - p->block_first[b]);
}

/* Preconditioned conjugate gradients for A y = b, with A given by its products. */

typedef struct qn_fit_cg {
    uint32_t n;
    double *r, *z, *p, *q;
    void (*apply)(void *self, const double *p, double *out);
    void (*precondition)(void *self, const double *r, double *out);
    void *self;
} qn_fit_cg;

/* Makes the vectors of `n` numbers. */
void qn_fit_cg_open(qn_fit_cg *cg, uint32_t n, qn_arena *memory);

/* Starts at y = 0. Stops when an iteration improves the quadratic model by less than eta of its
 * value, or by the residual. */
qn_fit_outcome qn_fit_cg_solve(qn_fit_cg *cg, const qn_fit_linear_options *options, const double *b,
                               double *y);

/* J'J as a sparse matrix: its pattern, and where each term adds. */

/* The lower triangle by columns, rows in order; every column has its diagonal entry. */
typedef struct qn_fit_pattern {
    qn_fit_model *model;
    int n;
    int *start, *row; /* n + 1; of each entry */
    double *value;
    uint32_t **place; /* of each group, [pair][i]: the entry it adds to, or QN_FIT_NO_COLUMN */
} qn_fit_pattern;

qn_status qn_fit_pattern_open(qn_fit_model *model, qn_arena *memory, qn_fit_pattern *out,
                              qn_err *err);
void qn_fit_pattern_renew(qn_fit_pattern *pattern); /* values of J'J */

/* Elimination of blocks. */

static inline uint32_t qn_fit_scalar_of(const qn_fit_model_group *g, int variable, qn_i64 i)
{
    const qn_fit_variable *v = &g->variables[variable];

    return g->group->idx[v->slot * g->group->ld + i] + v->comp;
}

/* The number of scalars of kept sets. */
uint32_t qn_fit_n_kept(const qn_fit_problem *problem);

/* 0 if elimination cannot be used as requested; *why says why. */
int qn_fit_can_eliminate(const qn_fit_model *model, const char **why);

#endif

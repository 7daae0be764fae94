/* blocks.h - diagonal blocks of the normal equations, factored: the preconditioner of CG and the
 * inverses of eliminated blocks. */
#ifndef QN_FIT_LINEAR_BLOCKS_H
#define QN_FIT_LINEAR_BLOCKS_H

#include "domain/fit/linear/linear.h"

typedef struct qn_fit_blocks {
    qn_fit_model *model;
    qn_i64 *at;      /* where a block begins; [n_blocks] is the end */
    double *normal;  /* J'J */
    double *factor;  /* L of S J'J S + D^2, by rows */
    int is_diagonal; /* blocks are too large to be kept whole: their diagonal alone */
} qn_fit_blocks;

qn_status qn_fit_blocks_open(qn_fit_model *model, qn_fit_blocks *out, qn_err *err);
void qn_fit_blocks_close(qn_fit_blocks *blocks);
void qn_fit_blocks_renew(qn_fit_blocks *blocks);

/* S J'J S + D^2 of block `b`, not factored. */
void qn_fit_blocks_damped(const qn_fit_blocks *blocks, const qn_fit_system *system, uint32_t b,
                          double *out);

/* Factors all. A block that is not positive definite becomes its diagonal. */
void qn_fit_blocks_factor(qn_fit_blocks *blocks, const qn_fit_system *system);

/* v of block `b`, in place, by the factor. */
void qn_fit_blocks_apply(const qn_fit_blocks *blocks, uint32_t b, double *v);

static inline int qn_fit_block_dim(const qn_fit_problem *p, uint32_t b)
{
    return (int)(p->block_first[b + 1] - p->block_first[b]);
}

#endif

/* blocks.c - diagonal blocks of the normal equations. */
#include "domain/fit/linear/linear_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "domain/fit/linear/dense.h"

qn_status qn_fit_blocks_open(qn_fit_model *model, qn_fit_blocks *out, qn_err *err)
{
    const qn_fit_problem *p = model->problem;
    qn_fit_blocks b = { .model = model };

    for (int k = 0; k < p->n_sets; k++)
        b.is_diagonal |= p->sets[k].dim > QN_FIT_MAX_BLOCK;
    if ((b.at = calloc((size_t)p->n_blocks + 1, sizeof *b.at))) {
        for (uint32_t k = 0; k < p->n_blocks; k++) {
            const qn_i64 dim = qn_fit_block_dim(p, k);

            b.at[k + 1] = b.at[k] + (b.is_diagonal ? dim : dim * dim);
        }
        b.normal = calloc((size_t)b.at[p->n_blocks] + 1, sizeof *b.normal);
        b.factor = calloc((size_t)b.at[p->n_blocks] + 1, sizeof *b.factor);
    }
    *out = b;
    if (b.at && b.normal && b.factor)
        return QN_OK;
    qn_fit_blocks_close(out);
    return qn_fail(err, QN_ERR_NOMEM, "blocks of %u parameters", p->n_scalars);
}

void qn_fit_blocks_close(qn_fit_blocks *blocks)
{
    free(blocks->at);
    free(blocks->normal);
    free(blocks->factor);
    *blocks = (qn_fit_blocks){ 0 };
}

void qn_fit_blocks_renew(qn_fit_blocks *blocks)
{
    if (blocks->is_diagonal)
        qn_fit_model_diagonal(blocks->model, blocks->normal);
    else
        qn_fit_model_blocks(blocks->model, blocks->at, blocks->normal);
}

void qn_fit_blocks_damped(const qn_fit_blocks *blocks, const qn_fit_system *system, uint32_t b,
                          double *out)
{
    const qn_fit_problem *p = blocks->model->problem;
    const int dim = qn_fit_block_dim(p, b);
    const double *s = system->scale + p->block_first[b];
    const double *d = system->damping + p->block_first[b];
    const double *a = blocks->normal + blocks->at[b];

    for (int i = 0; blocks->is_diagonal && i < dim; i++)
        out[i] = a[i] * s[i] * s[i] + d[i];
    for (int i = 0; !blocks->is_diagonal && i < dim; i++)
        for (int j = 0; j < dim; j++)
            out[i * dim + j] = a[i * dim + j] * s[i] * s[j] + (i == j ? d[i] : 0);
}

static void factor_block(qn_fit_blocks *blocks, const qn_fit_system *system, uint32_t b)
{
    const int dim = qn_fit_block_dim(blocks->model->problem, b);
    double *l = blocks->factor + blocks->at[b];

    qn_fit_blocks_damped(blocks, system, b, l);
    if (blocks->is_diagonal) {
        for (int i = 0; i < dim; i++)
            l[i] = l[i] > 0 ? l[i] : 1;
        return;
    }
    if (qn_fit_chol_small(dim, l))
        return;
    qn_fit_blocks_damped(blocks, system, b, l);
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++)
            l[i * dim + j] = i != j ? 0 : l[i * dim + i] > 0 ? sqrt(l[i * dim + i]) : 1;
}

void qn_fit_blocks_factor(qn_fit_blocks *blocks, const qn_fit_system *system)
{
    const qn_fit_problem *p = blocks->model->problem;

#pragma omp parallel for num_threads(blocks->model->n_threads)                                     \
    schedule(static) if (p->n_blocks > 8192)
    for (uint32_t b = 0; b < p->n_blocks; b++)
        factor_block(blocks, system, b);
}

void qn_fit_blocks_apply(const qn_fit_blocks *blocks, uint32_t b, double *v)
{
    const int dim = qn_fit_block_dim(blocks->model->problem, b);
    const double *l = blocks->factor + blocks->at[b];

    if (!blocks->is_diagonal) {
        qn_fit_chol_small_solve(dim, l, v);
        return;
    }
    for (int i = 0; i < dim; i++)
        v[i] /= l[i];
}

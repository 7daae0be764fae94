/* dense_cholesky.c - solves the normal equations as one dense matrix. */
#include "domain/fit/linear/dense.h"
#include "domain/fit/linear/linear.h"

#include <math.h>
#include <string.h>

typedef struct dense_cholesky {
    qn_fit_model *model;
    int n;
    double *normal; /* J'J, lower triangle by rows */
    double *a, *panel, *b;
} dense_cholesky;

static qn_status open_dense(void *self, qn_fit_model *model,
                            QN_UNUSED const qn_fit_linear_options *options, qn_arena *memory,
                            qn_err *err)
{
    const size_t n = model->problem->n_free;
    dense_cholesky *d = self;

    if (n > QN_FIT_MAX_DENSE)
        return qn_fail(err, QN_ERR_LIMIT, "dense_cholesky: %zu free parameters, limit %d", n,
                       QN_FIT_MAX_DENSE);
    d->model = model;
    d->n = (int)n;
    d->normal = qn_arena_zeros(memory, n * n, sizeof *d->normal);
    d->a = qn_arena_zeros(memory, n * n, sizeof *d->a);
    d->panel = qn_arena_zeros(memory, n * QN_FIT_PANEL, sizeof *d->panel);
    d->b = qn_arena_zeros(memory, n, sizeof *d->b);
    return QN_OK;
}

static void add_instance(dense_cholesky *d, const qn_fit_model_group *g, qn_i64 i)
{
    const qn_fit_problem *p = d->model->problem;

    for (int a = 0; a < g->n_variables; a++) {
        const uint32_t ca = p->column[g->group->idx[g->variables[a].slot * g->group->ld + i] +
                                      g->variables[a].comp];

        for (int b = 0; ca != QN_FIT_NO_COLUMN && b < g->n_variables; b++) {
            const uint32_t cb = p->column[g->group->idx[g->variables[b].slot * g->group->ld + i] +
                                          g->variables[b].comp];
            double dot = 0;

            /* The loop meets both orders of a pair; a scalar used twice is paired with itself in
             * both. */
            if (cb == QN_FIT_NO_COLUMN || cb > ca)
                continue;
            for (int r = 0; r < g->group->n_rows; r++)
                dot += qn_fit_jac_at(g, r, a, i) * qn_fit_jac_at(g, r, b, i);
            d->normal[(size_t)ca * d->n + cb] += dot;
        }
    }
}

static void renew_dense(void *self)
{
    dense_cholesky *d = self;

    memset(d->normal, 0, (size_t)d->n * d->n * sizeof *d->normal);
    for (int k = 0; k < d->model->problem->n_groups; k++)
        for (qn_i64 i = 0; i < d->model->problem->groups[k].n; i++)
            add_instance(d, &d->model->groups[k], i);
}

static qn_fit_outcome solve_dense(void *self, const qn_fit_system *s, double *y)
{
    dense_cholesky *d = self;
    const uint32_t *of = d->model->problem->scalar;
    qn_fit_outcome o = { .rank = -1 };

    memset(y, 0, d->model->problem->n_scalars * sizeof *y);
    for (int i = 0; i < d->n; i++) {
        const uint32_t scalar = of[i];

        for (int j = 0; j <= i; j++)
            d->a[(size_t)i * d->n + j] =
                d->normal[(size_t)i * d->n + j] * s->scale[scalar] * s->scale[of[j]];
        d->a[(size_t)i * d->n + i] += s->damping[scalar];
        d->b[i] = -s->gradient[scalar] * s->scale[scalar];
    }
    o.is_solved = qn_fit_chol(d->n, d->a, d->panel, d->model->n_threads);
    if (!o.is_solved)
        return o;
    qn_fit_chol_solve(d->n, d->a, d->b);
    for (int i = 0; i < d->n; i++) {
        y[of[i]] = d->b[i];
        o.is_solved &= isfinite(d->b[i]) != 0;
    }
    return o;
}

const qn_fit_linear_class qn_fit_class_dense_cholesky = { .name = "dense_cholesky",
                                                          .bytes = sizeof(dense_cholesky),
                                                          .open = open_dense,
                                                          .renew = renew_dense,
                                                          .solve = solve_dense };

/* pcg.c - solves the whole system by conjugate gradients, preconditioned by the inverse of its
 * block diagonal. */
#include "domain/fit/linear/linear_impl.h"

#include <stdlib.h>
#include <string.h>

typedef struct pcg {
    qn_fit_model *model;
    qn_fit_linear_options opt;
    qn_fit_blocks blocks;
    qn_fit_cg cg;
    double *v, *b, *rows;
    const qn_fit_system *system;
} pcg;

static void close_pcg(void *self)
{
    pcg *s = self;

    if (!s)
        return;
    qn_fit_blocks_close(&s->blocks);
    qn_fit_cg_close(&s->cg);
    free(s->v);
    free(s->b);
    free(s->rows);
    free(s);
}

/* S (J'J) S v + D^2 v */
static void apply(void *self, const double *v, double *out)
{
    pcg *s = self;
    const double *scale = s->system->scale;

    for (uint32_t k = 0; k < s->cg.n; k++)
        s->v[k] = scale[k] * v[k];
    qn_fit_model_jtjv(s->model, s->v, s->rows, out);
    for (uint32_t k = 0; k < s->cg.n; k++)
        out[k] = scale[k] * out[k] + s->system->damping[k] * v[k];
}

static void precondition(void *self, const double *r, double *out)
{
    pcg *s = self;
    const qn_fit_problem *p = s->model->problem;

    memcpy(out, r, s->cg.n * sizeof *out);
#pragma omp parallel for num_threads(s->model->n_threads) schedule(static) if (p->n_blocks > 8192)
    for (uint32_t b = 0; b < p->n_blocks; b++)
        qn_fit_blocks_apply(&s->blocks, b, out + p->block_first[b]);
}

static qn_status open_pcg(qn_fit_model *model, const qn_fit_linear_options *options, void **self,
                          qn_err *err)
{
    const uint32_t n = model->problem->n_scalars;
    pcg *s = calloc(1, sizeof *s);
    qn_status st = QN_OK;

    if (!s || !(s->v = calloc((size_t)n + 1, sizeof *s->v)) ||
        !(s->b = calloc((size_t)n + 1, sizeof *s->b)) ||
        !(s->rows = calloc((size_t)model->n_rows + 1, sizeof *s->rows))) {
        st = qn_fail(err, QN_ERR_NOMEM, "pcg of %u parameters", n);
        goto out;
    }
    s->model = model;
    s->opt = *options;
    QN_TRY(qn_fit_blocks_open(model, &s->blocks, err));
    QN_TRY(qn_fit_cg_open(n, &s->cg, err));
    s->cg.apply = apply;
    s->cg.precondition = precondition;
    s->cg.self = s;
    *self = s;
    s = NULL;
out:
    close_pcg(s);
    return st;
}

static void renew_pcg(void *self)
{
    qn_fit_blocks_renew(&((pcg *)self)->blocks);
}

static qn_fit_outcome solve_pcg(void *self, const qn_fit_system *system, double *y)
{
    pcg *s = self;

    s->system = system;
    qn_fit_blocks_factor(&s->blocks, system);
    for (uint32_t k = 0; k < s->cg.n; k++)
        s->b[k] = -system->scale[k] * system->gradient[k];
    return qn_fit_cg_solve(&s->cg, &s->opt, s->b, y);
}

const qn_fit_linear_class qn_fit_class_pcg = {
    .name = "pcg", .open = open_pcg, .close = close_pcg, .renew = renew_pcg, .solve = solve_pcg
};

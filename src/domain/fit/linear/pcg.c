/* pcg.c - conjugate gradients: the iteration, its preconditioner, and the solver of whole systems.
 *
 * The preconditioner is the inverse of the block diagonal. */
#include "domain/fit/linear/linear_impl.h"
#include "domain/fit/linear/dense.h"

#include <math.h>
#include <string.h>

/* Preconditioned conjugate gradients. */

enum { RESET = 50 }; /* iterations between residuals computed from scratch */

void qn_fit_cg_open(qn_fit_cg *cg, uint32_t n, qn_arena *memory)
{
    double **const vectors[] = { &cg->r, &cg->z, &cg->p, &cg->q };

    cg->n = n;
    for (int k = 0; k < 4; k++)
        *vectors[k] = qn_arena_zeros(memory, n, sizeof **vectors[k]);
}

static void residual(qn_fit_cg *cg, const double *b, const double *y)
{
    cg->apply(cg->self, y, cg->q);
    for (uint32_t k = 0; k < cg->n; k++)
        cg->r[k] = b[k] - cg->q[k];
}

static double quadratic(const qn_fit_cg *cg, const double *b, const double *y)
{
    return -0.5 * (qn_fit_inner(y, b, cg->n) + qn_fit_inner(y, cg->r, cg->n));
}

qn_fit_outcome qn_fit_cg_solve(qn_fit_cg *cg, const qn_fit_linear_options *options, const double *b,
                               double *y)
{
    const double eta = options->eta > 0 ? options->eta : 0.1;
    const double small = options->tolerance > 0 ? options->tolerance : 1e-12;
    const int most = options->max_iterations > 0 ? options->max_iterations : 500;
    const double goal = small * sqrt(qn_fit_inner(b, b, cg->n));
    qn_fit_outcome o = { .is_solved = 1, .rank = -1 };
    double rho = 0, last = 0;

    memset(y, 0, cg->n * sizeof *y);
    memcpy(cg->r, b, cg->n * sizeof *b);
    while (o.iterations < most && !(sqrt(qn_fit_inner(cg->r, cg->r, cg->n)) <= goal)) {
        const double before = rho;
        double alpha, curvature, now;

        cg->precondition(cg->self, cg->r, cg->z);
        rho = qn_fit_inner(cg->r, cg->z, cg->n);
        for (uint32_t k = 0; k < cg->n; k++)
            cg->p[k] = cg->z[k] + (o.iterations ? rho / before * cg->p[k] : 0);
        cg->apply(cg->self, cg->p, cg->q);
        curvature = qn_fit_inner(cg->p, cg->q, cg->n);
        /* Rounding made A indefinite; the solution so far is still a descent direction. */
        if (!(curvature > 0) || !isfinite(rho)) {
            o.is_solved = o.iterations > 0 && isfinite(rho);
            break;
        }
        alpha = rho / curvature;
        for (uint32_t k = 0; k < cg->n; k++) {
            y[k] += alpha * cg->p[k];
            cg->r[k] -= alpha * cg->q[k];
        }
        if (++o.iterations % RESET == 0)
            residual(cg, b, y);
        now = quadratic(cg, b, y);
        if (o.iterations * (now - last) / now < eta)
            break;
        last = now;
    }
    return o;
}

/* Diagonal blocks of the normal equations. */

void qn_fit_blocks_open(qn_fit_model *model, qn_arena *memory, qn_fit_blocks *out)
{
    const qn_fit_problem *p = model->problem;

    *out = (qn_fit_blocks){ .model = model };
    for (int k = 0; k < p->n_sets; k++)
        out->is_diagonal |= p->sets[k].dim > QN_FIT_MAX_BLOCK;
    if (!(out->at = qn_arena_zeros(memory, (size_t)p->n_blocks + 1, sizeof *out->at)))
        return;
    for (uint32_t k = 0; k < p->n_blocks; k++) {
        const qn_i64 dim = qn_fit_block_dim(p, k);

        out->at[k + 1] = out->at[k] + (out->is_diagonal ? dim : dim * dim);
    }
    out->normal = qn_arena_zeros(memory, (size_t)out->at[p->n_blocks], sizeof *out->normal);
    out->factor = qn_arena_zeros(memory, (size_t)out->at[p->n_blocks], sizeof *out->factor);
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

/* The whole system. */

typedef struct pcg {
    qn_fit_model *model;
    qn_fit_linear_options opt;
    qn_fit_blocks blocks;
    qn_fit_cg cg;
    double *v, *b, *rows;
    const qn_fit_system *system;
} pcg;

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

static qn_status open_pcg(void *self, qn_fit_model *model, const qn_fit_linear_options *options,
                          qn_arena *memory, QN_UNUSED qn_err *err)
{
    const uint32_t n = model->problem->n_scalars;
    pcg *s = self;

    s->model = model;
    s->opt = *options;
    s->v = qn_arena_zeros(memory, n, sizeof *s->v);
    s->b = qn_arena_zeros(memory, n, sizeof *s->b);
    s->rows = qn_arena_zeros(memory, (size_t)model->n_rows, sizeof *s->rows);
    s->cg = (qn_fit_cg){ .apply = apply, .precondition = precondition, .self = s };
    qn_fit_cg_open(&s->cg, n, memory);
    qn_fit_blocks_open(model, memory, &s->blocks);
    return QN_OK;
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
    .name = "pcg", .bytes = sizeof(pcg), .open = open_pcg, .renew = renew_pcg, .solve = solve_pcg
};

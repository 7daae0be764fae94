/* schur_pcg.c - eliminates points and solves the reduced system by conjugate gradients.
 *
 * S x = J_c' (J_c x - J_p C^-1 J_p' J_c x) + D^2 x needs two products with J and two with J'; the
 * matrix of cameras by cameras is never formed. The preconditioner is the block diagonal of S.
 */
#include "domain/fit/linear/linear_impl.h"

#include <string.h>

#include "domain/fit/linear/dense.h"

typedef struct schur_pcg {
    qn_fit_model *model;
    qn_fit_linear_options opt;
    qn_fit_blocks blocks; /* C of eliminated blocks, the preconditioner of kept ones */
    uint8_t *is_point;    /* per block */
    qn_fit_cg cg;
    double *v, *w, *b, *rows;
    const qn_fit_system *system;
} schur_pcg;

/* Applies the factors of all blocks of one kind (C^-1, or the preconditioner); blocks of the other
 * kind become 0. */
static void on_blocks(const schur_pcg *s, int points, double *v)
{
    const qn_fit_problem *p = s->model->problem;

#pragma omp parallel for num_threads(s->model->n_threads) schedule(static) if (p->n_blocks > 8192)
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        if (s->is_point[b] == points)
            qn_fit_blocks_apply(&s->blocks, b, v + p->block_first[b]);
        else
            memset(v + p->block_first[b], 0, (size_t)qn_fit_block_dim(p, b) * sizeof *v);
    }
}

/* out = S J' rows */
static void transposed(schur_pcg *s, double *out)
{
    qn_fit_model_jtu(s->model, s->rows, out);
    for (uint32_t k = 0; k < s->cg.n; k++)
        out[k] *= s->system->scale[k];
}

static void forward(schur_pcg *s, const double *v)
{
    for (uint32_t k = 0; k < s->cg.n; k++)
        s->v[k] = s->system->scale[k] * v[k];
    qn_fit_model_jv(s->model, s->v, s->rows);
}

/* `v` is 0 at points, and so is `out`. */
static void apply(void *self, const double *v, double *out)
{
    schur_pcg *s = self;
    const qn_fit_problem *p = s->model->problem;

    forward(s, v);
    transposed(s, s->w);
    on_blocks(s, 1, s->w);
    for (uint32_t k = 0; k < s->cg.n; k++)
        s->w[k] = v[k] - s->w[k];
    forward(s, s->w);
    transposed(s, out);
    for (uint32_t b = 0; b < p->n_blocks; b++)
        for (uint32_t k = p->block_first[b]; k < p->block_first[b + 1]; k++)
            out[k] = s->is_point[b] ? 0 : out[k] + s->system->damping[k] * v[k];
}

static void precondition(void *self, const double *r, double *out)
{
    schur_pcg *s = self;

    memcpy(out, r, s->cg.n * sizeof *out);
    on_blocks(s, 0, out);
}

static qn_status open_schur(void *self, qn_fit_model *model, const qn_fit_linear_options *options,
                            qn_arena *memory, QN_UNUSED qn_err *err)
{
    const qn_fit_problem *p = model->problem;
    schur_pcg *s = self;

    s->model = model;
    s->opt = *options;
    s->v = qn_arena_zeros(memory, p->n_scalars, sizeof *s->v);
    s->w = qn_arena_zeros(memory, p->n_scalars, sizeof *s->w);
    s->b = qn_arena_zeros(memory, p->n_scalars, sizeof *s->b);
    s->rows = qn_arena_zeros(memory, (size_t)model->n_rows, sizeof *s->rows);
    s->is_point = qn_arena_zeros(memory, p->n_blocks, 1);
    for (int k = 0; s->is_point && k < p->n_sets; k++)
        memset(s->is_point + p->sets[k].first_block, p->sets[k].is_eliminated, p->sets[k].count);
    s->cg = (qn_fit_cg){ .apply = apply, .precondition = precondition, .self = s };
    qn_fit_cg_open(&s->cg, p->n_scalars, memory);
    qn_fit_blocks_open(model, memory, &s->blocks);
    return QN_OK;
}

static void renew_schur(void *self)
{
    qn_fit_blocks_renew(&((schur_pcg *)self)->blocks);
}

/* The preconditioner. */

/* m -= E C^-1 E' for one term, E = J_c' J_p. */
static void subtract_term(const schur_pcg *s, const qn_fit_model_group *g, int slot, qn_i64 i,
                          int dc, double *m)
{
    const qn_fit_problem *p = s->model->problem;
    const int point = qn_fit_eliminated_slot(p, g->group);
    double e[QN_FIT_MAX_BLOCK][QN_FIT_MAX_BLOCK] = { { 0 } };
    double f[QN_FIT_MAX_BLOCK];
    uint32_t block;
    int dp;

    if (point < 0)
        return;
    block = qn_fit_block_of(p, g->group, point, i);
    dp = qn_fit_block_dim(p, block);
    for (int a = 0; a < g->n_variables; a++)
        for (int b = 0; (int)g->variables[a].slot == slot && b < g->n_variables; b++) {
            double dot = 0;

            if ((int)g->variables[b].slot != point)
                continue;
            for (int r = 0; r < g->group->n_rows; r++)
                dot += qn_fit_jac_at(g, r, a, i) * qn_fit_jac_at(g, r, b, i);
            e[g->variables[a].comp][g->variables[b].comp] =
                dot * s->system->scale[qn_fit_scalar_of(g, a, i)] *
                s->system->scale[qn_fit_scalar_of(g, b, i)];
        }
    for (int a = 0; a < dc; a++) {
        memcpy(f, e[a], sizeof f);
        qn_fit_blocks_apply(&s->blocks, block, f);
        for (int b = 0; b < dc; b++)
            for (int k = 0; k < dp; k++)
                m[a * dc + b] -= f[k] * e[b][k];
    }
}

/* The diagonal block of S; B + D^2 is used instead where rounding, or a camera that sees a point
 * twice, makes it indefinite. */
static void precondition_block(schur_pcg *s, uint32_t block)
{
    const qn_fit_problem *p = s->model->problem;
    const int dc = qn_fit_block_dim(p, block);
    double m[QN_FIT_MAX_BLOCK * QN_FIT_MAX_BLOCK];

    qn_fit_blocks_damped(&s->blocks, s->system, block, m);
    for (qn_i64 k = p->inverse.start[block]; k < p->inverse.start[block + 1]; k++) {
        const qn_fit_place place = p->places[p->inverse.place[k]];

        subtract_term(s, &s->model->groups[place.group], place.slot, p->inverse.instance[k], dc, m);
    }
    if (qn_fit_chol_small(dc, m))
        memcpy(s->blocks.factor + s->blocks.at[block], m, (size_t)(dc * dc) * sizeof *m);
}

/* Solving. */

/* b_c = -(g_c - sum J_c' J_p C^-1 g_p) */
static void reduced_right_side(schur_pcg *s)
{
    for (uint32_t k = 0; k < s->cg.n; k++)
        s->w[k] = s->system->gradient[k] * s->system->scale[k];
    on_blocks(s, 1, s->w);
    forward(s, s->w);
    transposed(s, s->b);
    for (uint32_t k = 0; k < s->cg.n; k++)
        s->b[k] -= s->system->gradient[k] * s->system->scale[k];
    for (uint32_t b = 0; b < s->model->problem->n_blocks; b++)
        if (s->is_point[b])
            memset(s->b + s->model->problem->block_first[b], 0,
                   (size_t)qn_fit_block_dim(s->model->problem, b) * sizeof *s->b);
}

static qn_fit_outcome solve_schur(void *self, const qn_fit_system *system, double *y)
{
    schur_pcg *s = self;
    const qn_fit_problem *p = s->model->problem;
    qn_fit_outcome o;

    s->system = system;
    qn_fit_blocks_factor(&s->blocks, system);
#pragma omp parallel for num_threads(s->model->n_threads) schedule(dynamic, 4)
    for (uint32_t b = 0; b < p->n_blocks; b++)
        if (!s->is_point[b])
            precondition_block(s, b);
    reduced_right_side(s);
    o = qn_fit_cg_solve(&s->cg, &s->opt, s->b, y);

    /* y_p = -C^-1 (g_p + J_p' J_c y_c) */
    forward(s, y);
    transposed(s, s->w);
    for (uint32_t k = 0; k < s->cg.n; k++)
        s->w[k] = -(s->w[k] + system->gradient[k] * system->scale[k]);
    on_blocks(s, 1, s->w);
    for (uint32_t k = 0; k < s->cg.n; k++)
        y[k] += s->w[k];
    return o;
}

const qn_fit_linear_class qn_fit_class_schur_pcg = { .name = "schur_pcg",
                                                     .bytes = sizeof(schur_pcg),
                                                     .open = open_schur,
                                                     .renew = renew_schur,
                                                     .solve = solve_schur };

/* products.c - products with the stored Jacobian, and sums over the terms of a block.
 *
 * Sums are made block by block, in the order of problem/sum_order.h, and read the Jacobians of a
 * block's instances from the packed form: writing the contributions of each instance and gathering
 * them took twice as long.
 */
#include "domain/fit/host/host_impl.h"
#include "domain/fit/model/model_impl.h"
#include "kernel/dialect.h"

enum { PIECE = 256 };
enum { PACK = 64 }; /* instances for which both forms of J stay in the first-level cache */

double qn_fit_inner(const double *a, const double *b, qn_i64 n)
{
    double sum = 0;

    for (qn_i64 c = 0; c < n; c += PIECE) {
        double lane[8] = { 0 };
        const qn_i64 end = c + PIECE < n ? c + PIECE : n;
        qn_i64 i = c;

        for (; i + 8 <= end; i += 8)
            for (int l = 0; l < 8; l++)
                lane[l] += a[i + l] * b[i + l];
        for (int l = 0; i < end; i++, l++)
            lane[l] += a[i] * b[i];
        sum += ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
               ((lane[1] + lane[5]) + (lane[3] + lane[7]));
    }
    return sum;
}

/* Packing. */

static void pack_group(const qn_fit_model_group *g, qn_i64 from, qn_i64 to)
{
    const int n = g->n_variables, n_rows = g->group->n_rows;

    for (int r = 0; r < n_rows; r++)
        for (int k = 0; k < n; k++) {
            const qn_fit_entry *e = &g->entries[r * n + g->slot_variable[k]];
            const double *stored = g->stored + (e->stored < 0 ? 0 : e->stored) * g->group->ld;
            double *out = g->packed + r * n + k;

            for (qn_i64 i = from; e->stored < 0 && i < to; i++)
                out[i * n_rows * n] = e->factor;
            for (qn_i64 i = from; e->stored >= 0 && i < to; i++)
                out[i * n_rows * n] = e->factor * stored[i];
        }
}

void qn_fit_model_pack(qn_fit_model *model)
{
    for (int k = 0; k < model->problem->n_groups; k++) {
        const qn_i64 n = model->problem->groups[k].n, n_pieces = (n + PACK - 1) / PACK;

#pragma omp parallel for num_threads(model->n_threads) schedule(static) if (n > QN_FIT_MANY)
        for (qn_i64 c = 0; c < n_pieces; c++)
            pack_group(&model->groups[k], c * PACK, c * PACK + PACK < n ? c * PACK + PACK : n);
    }
}

/* J v. */

static void group_jv(const qn_fit_model_group *hg, const double *v, double *rows, qn_i64 from,
                     qn_i64 to)
{
    const qn_fit_group *g = hg->group;

    for (int r = 0; r < g->n_rows; r++) {
        double *out = rows + hg->first_row + r * g->ld;

        for (qn_i64 i = from; i < to; i++)
            out[i] = 0;
        for (int k = 0; k < hg->n_variables; k++) {
            const qn_fit_entry *e = &hg->entries[r * hg->n_variables + k];
            const uint32_t *idx = g->idx + hg->variables[k].slot * g->ld;
            const double *x = v + hg->variables[k].comp;

            if (e->stored < 0 && e->factor == 0)
                continue;
            if (e->stored < 0) {
                for (qn_i64 i = from; i < to; i++)
                    out[i] += e->factor * x[idx[i]];
                continue;
            }
            for (qn_i64 i = from; i < to; i++)
                out[i] += e->factor * hg->stored[e->stored * g->ld + i] * x[idx[i]];
        }
    }
}

void qn_fit_model_jv(qn_fit_model *model, const double *v, double *rows)
{
    model->n_products++;
    if (model->matrix_free) {
        qn_fit_host_run_along(model->host, QN_FIT_PASS_JV, model->matrix_free->x, v, rows);
        return;
    }
    for (int k = 0; k < model->problem->n_groups; k++) {
        const qn_i64 n = model->problem->groups[k].n, n_pieces = (n + PIECE - 1) / PIECE;

#pragma omp parallel for num_threads(model->n_threads) schedule(static) if (n > QN_FIT_MANY)
        for (qn_i64 c = 0; c < n_pieces; c++)
            group_jv(&model->groups[k], v, rows, c * PIECE,
                     c * PIECE + PIECE < n ? c * PIECE + PIECE : n);
    }
}

/* J' u. */

static inline void add_some(const qn_fit_model_place *at, const double *j, const double *u,
                            double *sum)
{
    for (int k = 0; k < at->n; k++) {
        double t = 0;

        for (int r = 0; r < at->n_rows; r++)
            t += j[r * at->n_variables + k] * u[r * at->ld];
        sum[at->comp[k]] += t;
    }
}

/* All `n` components of a block: no table is needed to place them. */
static inline __attribute__((always_inline)) void add_all(const qn_fit_model_place *at, int n,
                                                          const double *j, const double *u,
                                                          double *sum)
{
    if (at->n_rows == 1) {
        for (int k = 0; k < n; k++)
            sum[k] += j[k] * u[0];
        return;
    }
    if (at->n_rows == 2) {
        const double *second = j + at->n_variables, v = u[at->ld];

#pragma omp simd
        for (int k = 0; k < n; k++)
            sum[k] += j[k] * u[0] + second[k] * v;
        return;
    }
    for (int k = 0; k < n; k++) {
        double t = 0;

        for (int r = 0; r < at->n_rows; r++)
            t += j[r * at->n_variables + k] * u[r * at->ld];
        sum[k] += t;
    }
}

static inline __attribute__((always_inline)) void add_products(const qn_fit_model *m,
                                                               uint32_t place, qn_i64 i,
                                                               const double *rows, double *sum)
{
    const qn_fit_model_place *at = &m->places[place];
    const double *u = (rows ? rows + at->first_row : at->res) + i;
    const double *j = at->j + i * at->stride;

    if (!at->is_whole)
        add_some(at, j, u, sum);
    else if (at->n == 3)
        add_all(at, 3, j, u, sum);
    else if (at->n == 9)
        add_all(at, 9, j, u, sum);
    else
        add_all(at, at->n, j, u, sum);
}

QN_CLONES static void products_of(const qn_fit_model *m, const double *rows, uint32_t from,
                                  double *out)
{
    const uint32_t end = qn_fit_last_block(m, from);

    for (uint32_t b = from; b < end; b++)
        qn_fit_short_list(m, add_products, rows, NULL, b, out);
}

void qn_fit_model_jtu(qn_fit_model *model, const double *rows, double *out)
{
    model->n_products++;
#pragma omp parallel for num_threads(model->n_threads) schedule(static) if (qn_fit_is_many(model))
    for (uint32_t b = 0; b < model->problem->n_blocks; b += QN_FIT_BLOCKS_AT_ONCE)
        products_of(model, rows, b, out);
    qn_fit_long_lists(model, add_products, rows, NULL, out);
    for (uint32_t k = 0; k < model->problem->n_scalars; k++)
        out[k] = model->problem->is_fixed[k] ? 0 : out[k];
}

void qn_fit_model_jtjv(qn_fit_model *model, const double *v, double *rows, double *out)
{
    if (model->matrix_free) {
        qn_fit_matrix_free_jtjv(model, v, out);
        return;
    }
    qn_fit_model_jv(model, v, rows);
    qn_fit_model_jtu(model, rows, out);
}

/* Diagonal and diagonal blocks of J' J. */

static inline __attribute__((always_inline)) void add_squares(const qn_fit_model *m, uint32_t place,
                                                              qn_i64 i,
                                                              QN_UNUSED const double *rows,
                                                              double *sum)
{
    const qn_fit_model_place *at = &m->places[place];
    const double *j = at->j + i * at->stride;

    for (int r = 0; r < at->n_rows; r++)
        for (int k = 0; k < at->n; k++)
            sum[at->comp[k]] += j[r * at->n_variables + k] * j[r * at->n_variables + k];
}

static inline __attribute__((always_inline)) void add_whole_squares(const qn_fit_model_place *at,
                                                                    int n, const double *j,
                                                                    double *sum)
{
    for (int r = 0; r < at->n_rows; r++)
#pragma omp simd
        for (int k = 0; k < n; k++)
            sum[k] += j[r * at->n_variables + k] * j[r * at->n_variables + k];
}

/* Adds the product of two slots of an instance that are bound to the same block, row by row. */
static inline void add_pairs(const qn_fit_model_group *g, int slot_a, int slot_b, qn_i64 i,
                             uint32_t dim, double *sum)
{
    const double *j = qn_fit_packed_row(g, 0, i);

    for (int ka = g->slot_start[slot_a]; ka < g->slot_start[slot_a + 1]; ka++)
        for (int kb = g->slot_start[slot_b]; kb < g->slot_start[slot_b + 1]; kb++) {
            double dot = 0;

            for (int r = 0; r < g->group->n_rows; r++)
                dot += j[r * g->n_variables + ka] * j[r * g->n_variables + kb];
            sum[g->slot_comp[ka] * (int)dim + g->slot_comp[kb]] += dot;
        }
}

/* J' J of a slot that uses all `n` components of its block. */
static inline __attribute__((always_inline)) void add_square(const qn_fit_model_place *at, int n,
                                                             const double *j, double *sum)
{
    for (int r = 0; r < at->n_rows; r++)
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++)
                sum[a * n + b] += j[r * at->n_variables + a] * j[r * at->n_variables + b];
}

static inline __attribute__((always_inline)) void add_blocks(const qn_fit_model *m, uint32_t place,
                                                             qn_i64 i, QN_UNUSED const double *rows,
                                                             double *sum)
{
    const qn_fit_model_place *at = &m->places[place];
    const qn_fit_place of = m->problem->places[place];
    const qn_fit_model_group *g = &m->groups[of.group];
    const double *j = at->j + i * at->stride;

    if (!at->is_whole)
        add_pairs(g, of.slot, of.slot, i, m->problem->sets[g->group->slot_set[of.slot]].dim, sum);
    else if (at->n == 3)
        add_square(at, 3, j, sum);
    else if (at->n == 9)
        add_square(at, 9, j, sum);
    else
        add_square(at, at->n, j, sum);
}

/* The gradient goes into sum, followed by the squares. */
static inline __attribute__((always_inline)) void add_both(const qn_fit_model *m, uint32_t place,
                                                           qn_i64 i, const double *rows,
                                                           double *sum)
{
    const qn_fit_model_place *at = &m->places[place];

    add_products(m, place, i, rows, sum);
    if (at->is_whole && at->n == 9)
        add_whole_squares(at, 9, at->j + i * at->stride, sum + 9);
    else if (at->is_whole)
        add_whole_squares(at, at->n, at->j + i * at->stride, sum + at->n);
    else
        add_squares(m, place, i, rows, sum + at->dim);
}

QN_CLONES static void slopes_of(const qn_fit_model *m, uint32_t from)
{
    const uint32_t end = qn_fit_last_block(m, from);

    for (uint32_t b = from; b < end; b++)
        qn_fit_short_list(m, add_both, NULL, m->both_at, b, m->both);
}

void qn_fit_model_slopes(qn_fit_model *model, double *gradient)
{
    const qn_fit_problem *p = model->problem;

    model->n_products++;
#pragma omp parallel for num_threads(model->n_threads) schedule(static) if (qn_fit_is_many(model))
    for (uint32_t b = 0; b < p->n_blocks; b += QN_FIT_BLOCKS_AT_ONCE)
        slopes_of(model, b);
    qn_fit_long_lists(model, add_both, NULL, model->both_at, model->both);
    for (uint32_t b = 0; b < p->n_blocks; b++)
        for (uint32_t k = p->block_first[b]; k < p->block_first[b + 1]; k++)
            gradient[k] = p->is_fixed[k] ? 0 : model->both[k + p->block_first[b]];
}

void qn_fit_model_diagonal(qn_fit_model *model, double *out)
{
    const qn_fit_problem *p = model->problem;

    if (model->matrix_free) {
        qn_fit_matrix_free_diagonal(model, out);
        return;
    }
    for (uint32_t b = 0; b < p->n_blocks; b++)
        for (uint32_t k = p->block_first[b]; k < p->block_first[b + 1]; k++)
            out[k] = model->both[k + p->block_first[b + 1]];
    for (int k = 0; k < model->n_doubles; k++) {
        const qn_fit_double_use *d = &model->doubles[k];
        const qn_fit_model_group *g = &model->groups[d->group];
        double *sum = out + g->group->idx[d->slot_a * g->group->ld + d->instance];

        for (int a = 0; a < g->n_variables; a++)
            for (int b = 0; b < g->n_variables; b++) {
                if ((int)g->variables[a].slot != d->slot_a ||
                    (int)g->variables[b].slot != d->slot_b ||
                    g->variables[a].comp != g->variables[b].comp)
                    continue;
                for (int r = 0; r < g->group->n_rows; r++)
                    sum[g->variables[a].comp] += 2 * qn_fit_jac_at(g, r, a, d->instance) *
                                                 qn_fit_jac_at(g, r, b, d->instance);
            }
    }
    for (uint32_t k = 0; k < model->problem->n_scalars; k++)
        out[k] = model->problem->is_fixed[k] ? 0 : out[k];
}

void qn_fit_model_blocks(qn_fit_model *model, const qn_i64 *at, double *out)
{
    if (model->matrix_free) {
        memcpy(out, model->matrix_free->diagonals,
               (size_t)model->matrix_free->diagonals_at[model->problem->n_blocks] * sizeof *out);
        return;
    }
#pragma omp parallel for num_threads(model->n_threads) schedule(static) if (qn_fit_is_many(model))
    for (uint32_t b = 0; b < model->problem->n_blocks; b++)
        qn_fit_short_list(model, add_blocks, NULL, at, b, out);
    qn_fit_long_lists(model, add_blocks, NULL, at, out);
    for (int k = 0; k < model->n_doubles; k++) {
        const qn_fit_double_use *d = &model->doubles[k];
        const qn_fit_model_group *g = &model->groups[d->group];
        const uint32_t block = qn_fit_block_of(model->problem, g->group, d->slot_a, d->instance);
        const uint32_t dim = model->problem->sets[g->group->slot_set[d->slot_a]].dim;

        add_pairs(g, d->slot_a, d->slot_b, d->instance, dim, out + at[block]);
        add_pairs(g, d->slot_b, d->slot_a, d->instance, dim, out + at[block]);
    }
}

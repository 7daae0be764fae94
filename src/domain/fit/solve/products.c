/* products.c - products with the kept Jacobian, and sums over the terms of a block.
 *
 * J' u in two passes: what each instance gives, along the tables, then a gather by block in the
 * order of batch/order.h. Threads come in from MANY entries on: for less, waking them costs more.
 */
#include "domain/fit/solve/model.h"

#include <omp.h>
#include <string.h>

#include "domain/fit/batch/order.h"

enum { PIECE = 256, MANY = 32768 };

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

/* ---- gather ---------------------------------------------------------------------------------- */

static void add_entry(const qn_fit_model *m, qn_fit_adder *add, qn_i64 k, double *sum)
{
    const qn_fit_inverse *inv = &m->problem->inverse;
    const qn_fit_place place = m->problem->places[inv->place[k]];

    add(m, &m->groups[place.group], place.slot, inv->instance[k], sum);
}

/* Entries [from, to), at most a chunk of them, into `sum`, which is 0. */
static void sum_chunk(const qn_fit_model *m, qn_fit_adder *add, qn_i64 from, qn_i64 to,
                      size_t width, double *sum)
{
    double *lanes = m->lanes + m->n_lanes * (size_t)omp_get_thread_num();

    if (to - from <= QN_FIT_SHORT) {
        for (qn_i64 k = from; k < to; k++)
            add_entry(m, add, k, sum);
        return;
    }
    memset(lanes, 0, width * QN_FIT_SHORT * sizeof *lanes);
    for (qn_i64 k = from; k < to; k++)
        add_entry(m, add, k, lanes + (size_t)((k - from) % QN_FIT_SHORT) * width);
    for (size_t w = QN_FIT_SHORT / 2; w > 0; w /= 2)
        for (size_t c = 0; c < w * width; c++)
            lanes[c] += lanes[c + w * width];
    memcpy(sum, lanes, width * sizeof *sum);
}

static void sum_long_list(qn_fit_model *m, qn_fit_adder *add, uint32_t block, size_t width,
                          double *out)
{
    const qn_i64 from = m->problem->inverse.start[block], to = m->problem->inverse.start[block + 1];
    const qn_i64 n_chunks = (to - from + QN_FIT_CHUNK - 1) / QN_FIT_CHUNK;
    double *parts = m->partials; /* [component][chunk] once they are all there */
    double one[QN_FIT_MAX_DIM];

#pragma omp parallel for num_threads(m->n_threads) schedule(static) private(one)
    for (qn_i64 c = 0; c < n_chunks; c++) {
        const qn_i64 at = from + c * QN_FIT_CHUNK;

        memset(one, 0, width * sizeof *one);
        sum_chunk(m, add, at, at + QN_FIT_CHUNK < to ? at + QN_FIT_CHUNK : to, width, one);
        for (size_t k = 0; k < width; k++)
            parts[(qn_i64)k * n_chunks + c] = one[k];
    }
    for (size_t k = 0; k < width; k++)
        out[k] = qn_fit_sum_lanes(parts + (qn_i64)k * n_chunks, n_chunks);
}

void qn_fit_model_gather(qn_fit_model *model, qn_fit_adder *add, const qn_i64 *at, double *out)
{
    const qn_fit_problem *p = model->problem;
    const qn_fit_inverse *inv = &p->inverse;
    const qn_i64 n = at ? at[p->n_blocks] : p->n_scalars;

    memset(out, 0, (size_t)n * sizeof *out);
#pragma omp parallel for num_threads(model->n_threads) schedule(static) if (inv->n_entries > MANY)
    for (uint32_t b = 0; b < p->n_blocks; b++)
        if (inv->start[b + 1] - inv->start[b] <= QN_FIT_CHUNK)
            sum_chunk(model, add, inv->start[b], inv->start[b + 1],
                      (size_t)(at ? at[b + 1] - at[b] : p->block_first[b + 1] - p->block_first[b]),
                      out + (at ? at[b] : p->block_first[b]));
    for (uint32_t b = 0; inv->max_degree > QN_FIT_CHUNK && b < p->n_blocks; b++)
        if (inv->start[b + 1] - inv->start[b] > QN_FIT_CHUNK)
            sum_long_list(
                model, add, b,
                (size_t)(at ? at[b + 1] - at[b] : p->block_first[b + 1] - p->block_first[b]),
                out + (at ? at[b] : p->block_first[b]));
}

/* ---- J v ------------------------------------------------------------------------------------- */

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
    for (int k = 0; k < model->problem->n_groups; k++) {
        const qn_i64 n = model->problem->groups[k].n, n_pieces = (n + PIECE - 1) / PIECE;

#pragma omp parallel for num_threads(model->n_threads) schedule(static) if (n > MANY)
        for (qn_i64 c = 0; c < n_pieces; c++)
            group_jv(&model->groups[k], v, rows, c * PIECE,
                     c * PIECE + PIECE < n ? c * PIECE + PIECE : n);
    }
}

/* ---- J' u ------------------------------------------------------------------------------------ */

static void group_parts(const qn_fit_model_group *hg, const double *u, qn_i64 from, qn_i64 to)
{
    const qn_fit_group *g = hg->group;

    for (int k = 0; k < hg->n_variables; k++) {
        double *out = hg->parts + k * g->ld;

        for (qn_i64 i = from; i < to; i++)
            out[i] = 0;
        for (int r = 0; r < g->n_rows; r++) {
            const qn_fit_entry *e = &hg->entries[r * hg->n_variables + k];
            const double *w = u + r * g->ld;

            if (e->stored < 0 && e->factor == 0)
                continue;
            if (e->stored < 0) {
                for (qn_i64 i = from; i < to; i++)
                    out[i] += e->factor * w[i];
                continue;
            }
            for (qn_i64 i = from; i < to; i++)
                out[i] += e->factor * hg->stored[e->stored * g->ld + i] * w[i];
        }
    }
}

static void add_parts(const qn_fit_model *h, const qn_fit_model_group *g, int slot, qn_i64 i,
                      double *sum)
{
    (void)h;
    for (int k = g->slot_start[slot]; k < g->slot_start[slot + 1]; k++) {
        const int var = g->slot_variable[k];

        sum[g->variables[var].comp] += g->parts[var * g->group->ld + i];
    }
}

void qn_fit_model_jtu(qn_fit_model *model, const double *rows, double *out)
{
    model->n_products++;
    for (int k = 0; k < model->problem->n_groups; k++) {
        const qn_fit_model_group *g = &model->groups[k];
        const double *u = rows ? rows + g->first_row : g->res;
        const qn_i64 n = g->group->n, n_pieces = (n + PIECE - 1) / PIECE;

#pragma omp parallel for num_threads(model->n_threads) schedule(static) if (n > MANY)
        for (qn_i64 c = 0; c < n_pieces; c++)
            group_parts(g, u, c * PIECE, c * PIECE + PIECE < n ? c * PIECE + PIECE : n);
    }
    qn_fit_model_gather(model, add_parts, NULL, out);
    for (uint32_t k = 0; k < model->problem->n_scalars; k++)
        out[k] = model->problem->is_fixed[k] ? 0 : out[k];
}

/* ---- diagonal and diagonal blocks of J' J ------------------------------------------------------
 */

static void add_squares(const qn_fit_model *h, const qn_fit_model_group *g, int slot, qn_i64 i,
                        double *sum)
{
    (void)h;
    for (int k = g->slot_start[slot]; k < g->slot_start[slot + 1]; k++)
        for (int r = 0; r < g->group->n_rows; r++) {
            const double j = qn_fit_jac_at(g, r, g->slot_variable[k], i);

            sum[g->variables[g->slot_variable[k]].comp] += j * j;
        }
}

/* Jacobians of two slots of one instance, row by row into the block they both are. */
static void add_pairs(const qn_fit_model_group *g, int slot_a, int slot_b, qn_i64 i, uint32_t dim,
                      double *sum)
{
    for (int ka = g->slot_start[slot_a]; ka < g->slot_start[slot_a + 1]; ka++)
        for (int kb = g->slot_start[slot_b]; kb < g->slot_start[slot_b + 1]; kb++) {
            const int a = g->slot_variable[ka], b = g->slot_variable[kb];
            double dot = 0;

            for (int r = 0; r < g->group->n_rows; r++)
                dot += qn_fit_jac_at(g, r, a, i) * qn_fit_jac_at(g, r, b, i);
            sum[g->variables[a].comp * dim + g->variables[b].comp] += dot;
        }
}

static void add_blocks(const qn_fit_model *h, const qn_fit_model_group *g, int slot, qn_i64 i,
                       double *sum)
{
    add_pairs(g, slot, slot, i, h->problem->sets[g->group->slot_set[slot]].dim, sum);
}

void qn_fit_model_diagonal(qn_fit_model *model, double *out)
{
    qn_fit_model_gather(model, add_squares, NULL, out);
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
    qn_fit_model_gather(model, add_blocks, at, out);
    for (int k = 0; k < model->n_doubles; k++) {
        const qn_fit_double_use *d = &model->doubles[k];
        const qn_fit_model_group *g = &model->groups[d->group];
        const uint32_t block = qn_fit_block_of(model->problem, g->group, d->slot_a, d->instance);
        const uint32_t dim = model->problem->sets[g->group->slot_set[d->slot_a]].dim;

        add_pairs(g, d->slot_a, d->slot_b, d->instance, dim, out + at[block]);
        add_pairs(g, d->slot_b, d->slot_a, d->instance, dim, out + at[block]);
    }
}

/* matrix_free.c - points and products, from tapes or from a Jacobian in f32. */
#include "domain/fit/model/model_impl.h"

#include "domain/fit/host/host_impl.h"
#include "kernel/dialect.h"

#include <math.h>

static qn_fit_pass point_run(const qn_fit_matrix_free *a)
{
    return a->is_rounded ? QN_FIT_PASS_STORING_POINT : QN_FIT_PASS_POINT;
}

/* Tables. */

/* Lists the entries of a section that belong to a slot, as cells; zero entries add nothing. A pair
 * of different components adds to two numbers of its block. With `out` NULL the cells are only
 * counted. */
static int list_cells(const qn_fit_model *m, qn_fit_pass run, int section, const double *table,
                      int place, qn_fit_cells *out, int n)
{
    const int group = m->problem->places[place].group, slot = m->problem->places[place].slot;
    const qn_fit_group *g = &m->problem->groups[group];
    const qn_fit_tape *p = m->host->groups[group].tapes[run];
    const qn_fit_section *s = &p->sections[section];
    const int dim = (int)m->problem->sets[g->slot_set[slot]].dim, is_pair = section == QN_FIT_DIAG;

    for (int e = 0; e < s->n_entries; e++) {
        const qn_fit_variable *a = &p->variables[is_pair ? p->pairs[e].i : e];
        const qn_fit_variable *b = &p->variables[is_pair ? p->pairs[e].j : e];
        const int ca = (int)a->comp, cb = (int)b->comp;

        if ((int)a->slot != slot || s->entries[e].factor == 0)
            continue;
        for (int side = 0; side < (is_pair && ca != cb ? 2 : 1); side++, n++) {
            if (!out)
                continue;
            out->cells[n].at =
                s->entries[e].stored < 0 ? NULL : table + s->entries[e].stored * g->ld;
            out->cells[n].factor = s->entries[e].factor;
            out->cells[n].to = !is_pair ? ca : side ? cb * dim + ca : ca * dim + cb;
        }
    }
    return n;
}

static const double *table_of(const qn_fit_host_group *g, int section)
{
    return section == QN_FIT_GRAD ? g->slopes : section == QN_FIT_DIAG ? g->squares : g->products;
}

static qn_status make_cells(qn_fit_model *m, qn_fit_pass run, int section, qn_fit_cells *out,
                            qn_err *err)
{
    const int n_places = m->problem->n_places;
    int n = 0;

    for (int p = 0; p < n_places; p++)
        n = list_cells(m, run, section, NULL, p, NULL, n);
    out->cells = qn_arena_zeros(&m->memory, (size_t)n, sizeof *out->cells);
    out->first = qn_arena_zeros(&m->memory, (size_t)n_places + 1, sizeof *out->first);
    if (m->memory.failed)
        return qn_fail(err, QN_ERR_NOMEM, "%d contributions of %d slots", n, n_places);
    n = 0;
    for (int p = 0; p < n_places; p++) {
        out->first[p] = n;
        n = list_cells(m, run, section,
                       table_of(&m->host->groups[m->problem->places[p].group], section), p, out, n);
    }
    out->first[n_places] = n;
    return QN_OK;
}

static qn_status make_diagonals(qn_fit_model *m, qn_fit_matrix_free *a, qn_err *err)
{
    const qn_fit_problem *p = m->problem;

    for (int k = 0; k < p->n_sets; k++)
        if (p->sets[k].dim > QN_FIT_MAX_BLOCK)
            return qn_fail(err, QN_ERR_UNSUPPORTED,
                           "%s: blocks of %u numbers, limit %d with jacobian = free and storage = "
                           "f32",
                           p->sets[k].name, p->sets[k].dim, QN_FIT_MAX_BLOCK);
    if (!(a->diagonals_at =
              qn_arena_zeros(&m->memory, (size_t)p->n_blocks + 1, sizeof *a->diagonals_at)))
        return qn_fail(err, QN_ERR_NOMEM, "%u blocks", p->n_blocks);
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        const qn_i64 dim = (qn_i64)p->block_first[b + 1] - p->block_first[b];

        a->diagonals_at[b + 1] = a->diagonals_at[b] + dim * dim;
    }
    a->diagonals =
        qn_arena_zeros(&m->memory, (size_t)a->diagonals_at[p->n_blocks], sizeof *a->diagonals);
    a->rows = qn_arena_zeros(&m->memory, (size_t)(a->is_rounded ? m->n_rows : 0), sizeof *a->rows);
    return m->memory.failed ? qn_fail(err, QN_ERR_NOMEM, "%u diagonal blocks", p->n_blocks) : QN_OK;
}

qn_status qn_fit_matrix_free_new(qn_fit_model *model, int is_rounded, qn_err *err)
{
    qn_fit_matrix_free *a = qn_arena_zeros(&model->memory, 1, sizeof *a);
    qn_status st = QN_OK;

    if (!a)
        return qn_fail(err, QN_ERR_NOMEM, "products");
    model->matrix_free = a;
    a->is_rounded = is_rounded;
    QN_TRY(make_diagonals(model, a, err));
    QN_TRY(make_cells(model, point_run(a), QN_FIT_GRAD, &a->slopes, err));
    QN_TRY(make_cells(model, point_run(a), QN_FIT_DIAG, &a->squares, err));
    QN_TRY(qn_fit_host_prepare(model->host, QN_FIT_PASS_JV, err));
    if (is_rounded)
        goto out;
    QN_TRY(qn_fit_host_prepare(model->host, QN_FIT_PASS_JTJV, err));
    QN_TRY(make_cells(model, QN_FIT_PASS_JTJV, QN_FIT_JTJV, &a->products, err));
out:
    return st;
}

/* Sums. */

static inline __attribute__((always_inline)) void add_cells(const qn_fit_cells *of, uint32_t place,
                                                            qn_i64 i, double *sum)
{
    for (int c = of->first[place]; c < of->first[place + 1]; c++)
        sum[of->cells[c].to] +=
            of->cells[c].at ? of->cells[c].factor * of->cells[c].at[i] : of->cells[c].factor;
}

static inline __attribute__((always_inline)) void add_slopes(const qn_fit_model *m, uint32_t place,
                                                             qn_i64 i, QN_UNUSED const double *rows,
                                                             double *sum)
{
    add_cells(&m->matrix_free->slopes, place, i, sum);
}

static inline __attribute__((always_inline)) void add_squares(const qn_fit_model *m, uint32_t place,
                                                              qn_i64 i,
                                                              QN_UNUSED const double *rows,
                                                              double *sum)
{
    add_cells(&m->matrix_free->squares, place, i, sum);
}

static inline __attribute__((always_inline)) void add_products(const qn_fit_model *m,
                                                               uint32_t place, qn_i64 i,
                                                               QN_UNUSED const double *rows,
                                                               double *sum)
{
    add_cells(&m->matrix_free->products, place, i, sum);
}

/* Adds J' rows of one instance, J in f32, to all `n` components of a block. */
static inline __attribute__((always_inline)) void add_whole(const qn_fit_model_place *at, int n,
                                                            const float *j, const double *u,
                                                            double *sum)
{
    if (at->n_rows == 2) {
        const float *second = j + at->n_variables;
        const double v = u[at->ld];

#pragma omp simd
        for (int k = 0; k < n; k++)
            sum[k] += (double)j[k] * u[0] + (double)second[k] * v;
        return;
    }
    for (int k = 0; k < n; k++) {
        double t = 0;

        for (int r = 0; r < at->n_rows; r++)
            t += (double)j[r * at->n_variables + k] * u[r * at->ld];
        sum[k] += t;
    }
}

static inline __attribute__((always_inline)) void add_rounded(const qn_fit_model *m, uint32_t place,
                                                              qn_i64 i, const double *rows,
                                                              double *sum)
{
    const qn_fit_model_place *at = &m->places[place];
    const float *j = at->rounded + i * at->stride;
    const double *u = rows + at->first_row + i;

    if (at->is_whole && at->n == 3)
        add_whole(at, 3, j, u, sum);
    else if (at->is_whole && at->n == 9)
        add_whole(at, 9, j, u, sum);
    else if (at->is_whole)
        add_whole(at, at->n, j, u, sum);
    for (int k = 0; !at->is_whole && k < at->n; k++)
        for (int r = 0; r < at->n_rows; r++)
            sum[at->comp[k]] += (double)j[r * at->n_variables + k] * u[r * at->ld];
}

typedef enum { SLOPES, SQUARES, PRODUCTS, ROUNDED } sum_kind;

QN_CLONES static void sum_short(const qn_fit_model *m, sum_kind kind, const double *rows,
                                const qn_i64 *at, uint32_t b, double *out)
{
    switch (kind) {
    case SLOPES:
        qn_fit_short_list(m, add_slopes, rows, at, b, out);
        break;
    case SQUARES:
        qn_fit_short_list(m, add_squares, rows, at, b, out);
        break;
    case PRODUCTS:
        qn_fit_short_list(m, add_products, rows, at, b, out);
        break;
    default:
        qn_fit_short_list(m, add_rounded, rows, at, b, out);
    }
}

static void sum_lists(qn_fit_model *m, sum_kind kind, const double *rows, const qn_i64 *at,
                      double *out)
{
    qn_fit_adder *const adders[] = { add_slopes, add_squares, add_products, add_rounded };

#pragma omp parallel for num_threads(m->n_threads) schedule(static) if (qn_fit_is_many(m))
    for (uint32_t b = 0; b < m->problem->n_blocks; b++)
        sum_short(m, kind, rows, at, b, out);
    qn_fit_long_lists(m, adders[kind], rows, at, out);
}

static void clear_fixed(const qn_fit_model *m, double *out)
{
    for (uint32_t k = 0; k < m->problem->n_scalars; k++)
        out[k] = m->problem->is_fixed[k] ? 0 : out[k];
}

/* J in f32. */

enum { PIECE = 64 }; /* instances for which both forms of J stay in the first-level cache */

static void round_group(const qn_fit_model_group *g, qn_i64 from, qn_i64 to)
{
    const int n = g->n_variables, n_rows = g->group->n_rows;

    for (int r = 0; r < n_rows; r++)
        for (int k = 0; k < n; k++) {
            const qn_fit_entry *e = &g->entries[r * n + g->slot_variable[k]];

            for (qn_i64 i = from; i < to; i++)
                g->rounded[(i * n_rows + r) * n + k] =
                    (float)qn_fit_entry_value(e, g->stored, g->group->ld, i);
        }
}

/* Adds one slot's part of J v to the rows of an instance. */
static inline void add_slot(const qn_fit_model_group *g, int slot, const double *v, qn_i64 i,
                            double *rows)
{
    const int n = g->n_variables, from = g->slot_start[slot], to = g->slot_start[slot + 1];
    const double *x = v + g->group->idx[slot * g->group->ld + i];

    for (int r = 0; r < g->group->n_rows; r++) {
        const float *j = g->rounded + (i * g->group->n_rows + r) * n;
        double t = 0;

        for (int k = from; k < to; k++)
            t += (double)j[k] * x[g->slot_comp[k]];
        rows[r * g->group->ld] += t;
    }
}

QN_CLONES static void rounded_jv(const qn_fit_model_group *g, const double *v, double *rows,
                                 qn_i64 from, qn_i64 to)
{
    for (int r = 0; r < g->group->n_rows; r++)
        memset(rows + g->first_row + r * g->group->ld + from, 0,
               (size_t)(to - from) * sizeof *rows);
    for (qn_i64 i = from; i < to; i++)
        for (int slot = 0; slot < g->group->n_slots; slot++)
            add_slot(g, slot, v, i, rows + g->first_row + i);
}

/* The calls of the model. */

double qn_fit_matrix_free_linearise(qn_fit_model *model, const double *x, double *gradient)
{
    const qn_fit_problem *p = model->problem;
    qn_fit_matrix_free *a = model->matrix_free;
    double cost = 0;

    a->x = x;
    qn_fit_host_run(model->host, point_run(a), x, &model->bad);
    for (int k = 0; k < p->n_groups; k++) {
        const qn_i64 n = p->groups[k].n, n_pieces = a->is_rounded ? (n + PIECE - 1) / PIECE : 0;

        cost += model->host->groups[k].total;
#pragma omp parallel for num_threads(model->n_threads) schedule(static) if (n > QN_FIT_MANY)
        for (qn_i64 c = 0; c < n_pieces; c++)
            round_group(&model->groups[k], c * PIECE,
                        c * PIECE + PIECE < n ? c * PIECE + PIECE : n);
    }
    sum_lists(model, SLOPES, NULL, NULL, gradient);
    clear_fixed(model, gradient);
    sum_lists(model, SQUARES, NULL, a->diagonals_at, a->diagonals);
    return model->bad.group < 0 ? cost : NAN;
}

void qn_fit_matrix_free_jtjv(qn_fit_model *model, const double *v, double *out)
{
    const qn_fit_problem *p = model->problem;
    qn_fit_matrix_free *a = model->matrix_free;

    model->n_products += 2;
    if (!a->is_rounded)
        qn_fit_host_run_along(model->host, QN_FIT_PASS_JTJV, a->x, v, NULL);
    for (int k = 0; a->is_rounded && k < p->n_groups; k++) {
        const qn_i64 n = p->groups[k].n, n_pieces = (n + PIECE - 1) / PIECE;

#pragma omp parallel for num_threads(model->n_threads) schedule(static) if (n > QN_FIT_MANY)
        for (qn_i64 c = 0; c < n_pieces; c++)
            rounded_jv(&model->groups[k], v, a->rows, c * PIECE,
                       c * PIECE + PIECE < n ? c * PIECE + PIECE : n);
    }
    sum_lists(model, a->is_rounded ? ROUNDED : PRODUCTS, a->rows, NULL, out);
    clear_fixed(model, out);
}

void qn_fit_matrix_free_diagonal(const qn_fit_model *model, double *out)
{
    const qn_fit_problem *p = model->problem;

    for (uint32_t b = 0; b < p->n_blocks; b++) {
        const qn_i64 dim = (qn_i64)p->block_first[b + 1] - p->block_first[b];

        for (qn_i64 k = 0; k < dim; k++)
            out[p->block_first[b] + k] =
                p->is_fixed[p->block_first[b] + k]
                    ? 0
                    : model->matrix_free
                          ->diagonals[model->matrix_free->diagonals_at[b] + k * dim + k];
    }
}

/* schur.c - the reduced system: its lists and buffers, and its stages. */

#include "domain/fit/resident/resident_impl.h"
#include "util/list.h"
#include "kernel/fit/fit_schur.h"
#include "kernel/fit_schur.gen.h"
#include "kernel/fit_solve.gen.h"
#include "domain/fit/device/device.h"

#include <stdlib.h>

/* Whether the problem fits. */

static const char *check_sets(const qn_fit_problem *p)
{
    int dim = 0, n_runs = 0, was_kept = 0;

    for (int k = 0; k < p->n_sets; k++) {
        const qn_fit_set *set = &p->sets[k];

        n_runs += !set->is_eliminated && !was_kept;
        was_kept = !set->is_eliminated;
        if (!set->is_eliminated)
            continue;
        if (set->dim > FIT_SCHUR_DIM)
            return "an eliminated block has more than 8 numbers";
        if (dim && dim != (int)set->dim)
            return "eliminated blocks differ in size";
        dim = (int)set->dim;
    }
    return !dim         ? "the program eliminates no set"
           : !n_runs    ? "no set is kept"
           : n_runs > 1 ? "eliminated sets lie between kept ones"
                        : NULL;
}

static const char *check_group(const qn_fit_problem *p, const qn_fit_group *g)
{
    if (g->n_rows > FIT_SCHUR_ROWS)
        return "a term has more than 8 rows";
    for (int a = 0; a < g->n_slots; a++)
        for (int b = a + 1; b < g->n_slots; b++) {
            if (p->sets[g->slot_set[a]].is_eliminated && p->sets[g->slot_set[b]].is_eliminated)
                return "a term uses two eliminated blocks";
            for (qn_i64 i = 0; g->slot_set[a] == g->slot_set[b] && i < g->n; i++)
                if (g->idx[a * g->ld + i] == g->idx[b * g->ld + i])
                    return "a term uses one block twice";
        }
    return NULL;
}

int qn_fit_schur_fits(const qn_fit_problem *problem, const char **why)
{
    const char *fault = check_sets(problem);

    for (int k = 0; !fault && k < problem->n_groups; k++)
        fault = check_group(problem, &problem->groups[k]);
    *why = fault ? fault : "";
    return !fault;
}

/* Tables. */

/* Where each place finds its part of J and its rows. */
static qn_status make_places(qn_fit_device_driver *d, qn_err *err)
{
    const qn_fit_problem *p = d->problem;
    qn_fit_device_schur *s = d->schur;
    const size_t n_rows = (size_t)(p->n_places * s->n_rows), n = n_rows * (size_t)s->stride;
    qn_arena scratch = { 0 };
    qn_i64 *at = qn_arena_zeros(&scratch, n, sizeof *at);
    qn_i64 *row_at = qn_arena_zeros(&scratch, n_rows, sizeof *row_at);
    double *factor = qn_arena_zeros(&scratch, n, sizeof *factor);
    qn_status st = QN_OK;
    qn_i64 first_row = 0;

    if (scratch.failed)
        QN_FAIL(err, QN_ERR_NOMEM, "%zu places of a Jacobian", n);
    for (size_t k = 0; k < n; k++)
        at[k] = -1;
    for (size_t k = 0; k < n_rows; k++)
        row_at[k] = -1;
    for (int k = 0; k < p->n_groups; k++) {
        const qn_fit_group *g = &p->groups[k];
        qn_i64 jacobian_at;
        const qn_fit_tape *of = qn_fit_device_tape(d->device, k, &jacobian_at);

        for (int r = 0; r < g->n_rows; r++)
            for (int slot = 0; slot < g->n_slots; slot++)
                row_at[(g->first_place + slot) * s->n_rows + r] = first_row + r * g->ld;
        for (int e = 0; e < of->sections[QN_FIT_JAC].n_entries; e++) {
            const qn_fit_entry *entry = &of->sections[QN_FIT_JAC].entries[e];
            const qn_fit_variable *v = &of->variables[e % of->n_variables];
            const int row = e / of->n_variables;
            const qn_i64 cell =
                ((g->first_place + (qn_i64)v->slot) * s->n_rows + row) * s->stride + v->comp;

            factor[cell] = entry->factor;
            if (entry->stored >= 0)
                at[cell] = jacobian_at + entry->stored * g->ld;
        }
        first_row += g->n_rows * g->ld;
    }
    QN_TRY(qn_fit_device_table(d->device, "fit.schur.at", at, n * sizeof *at, &s->at, err));
    QN_TRY(qn_fit_device_table(d->device, "fit.schur.row_at", row_at, n_rows * sizeof *row_at,
                               &s->row_at, err));
    QN_TRY(
        qn_fit_device_numbers(d->device, "fit.schur.factor", factor, (qn_i64)n, &s->factor, err));
out:
    qn_arena_clear(&scratch);
    return st;
}

static qn_status eliminated_set(qn_fit_device_driver *d, int set, qn_err *err)
{
    const qn_fit_set *of = &d->problem->sets[set];
    const qn_i64 *start = d->problem->inverse.start + of->first_block;
    qn_i64 *own = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(own, (size_t)of->count + 1, "lists", err));
    for (uint32_t b = 0; b <= of->count; b++)
        own[b] = start[b] - start[0];
    QN_TRY(qn_fit_device_table(d->device, "fit.schur.start", own,
                               ((size_t)of->count + 1) * sizeof *own, &d->schur->sets[set].start,
                               err));
    QN_TRY(qn_fit_device_numbers(d->device, "fit.schur.packed", NULL,
                                 d->schur->sets[set].n * d->schur->n_rows * of->dim,
                                 &d->schur->sets[set].packed, err));
out:
    free(own);
    return st;
}

/* The eliminated block of each entry's instance. */
static qn_status make_points(qn_fit_device_driver *d, int set, qn_err *err)
{
    const qn_fit_problem *p = d->problem;
    const qn_i64 first = p->inverse.start[p->sets[set].first_block];
    qn_fit_schur_set *s = &d->schur->sets[set];
    const size_t n = (size_t)s->n + 1;
    qn_status st = QN_OK;
    qn_i64 *at;
    uint32_t *point, *place;
    void *rooms[3];

    QN_TRY(qn_fit_device_room(d->device, "fit.schur.point", n * 4, &s->point, &rooms[0], err));
    QN_TRY(qn_fit_device_room(d->device, "fit.schur.point_place", n * 4, &s->point_place, &rooms[1],
                              err));
    QN_TRY(
        qn_fit_device_room(d->device, "fit.schur.point_at", n * 8, &s->point_at, &rooms[2], err));
    point = rooms[0];
    place = rooms[1];
    at = rooms[2];
#pragma omp parallel for schedule(static)
    for (qn_i64 k = 0; k < s->n; k++) {
        const qn_fit_group *g = &p->groups[p->places[p->inverse.place[first + k]].group];
        const int slot = qn_fit_eliminated_slot(p, g);
        const qn_fit_set *of = slot < 0 ? NULL : &p->sets[g->slot_set[slot]];

        point[k] = of ? g->idx[slot * g->ld + p->inverse.instance[first + k]] : UINT32_MAX;
        place[k] = of ? (uint32_t)(g->first_place + slot) : 0;
        at[k] = of ? d->schur->sets[g->slot_set[slot]].first_at +
                         (qn_i64)(point[k] - of->first) * of->dim
                   : 0;
    }
out:
    return st;
}

static qn_status kept_set(qn_fit_device_driver *d, int set, qn_err *err)
{
    static const char *const names[] = { "fit.schur.from", "fit.schur.to", "fit.schur.begin" };
    const qn_i64 *start = d->problem->inverse.start + d->problem->sets[set].first_block;
    const qn_i64 dim = d->problem->sets[set].dim, rows = d->schur->n_rows;
    qn_fit_schur_set *s = &d->schur->sets[set];
    qn_status st = QN_OK;

    QN_TRY(qn_fit_device_chunks(d->device, names, start, start + 1, d->problem->sets[set].count,
                                start[0], FIT_SCHUR_CHUNK, &s->chunks, err));
    QN_TRY(make_points(d, set, err));
    QN_TRY(qn_fit_device_numbers(d->device, "fit.schur.packed", NULL, s->n * rows * dim, &s->packed,
                                 err));
    QN_TRY(qn_fit_device_numbers(d->device, "fit.schur.u", NULL, dim == 9 ? 0 : s->n * rows, &s->u,
                                 err));
    QN_TRY(qn_fit_device_numbers(d->device, "fit.schur.weights", NULL,
                                 d->reduced ? 0 : s->n * rows * rows, &s->weights, err));
    QN_TRY(qn_fit_device_numbers(d->device, "fit.schur.sums", NULL,
                                 s->chunks.n * dim * (dim + 1) / 2, &s->sums, err));
out:
    return st;
}

static qn_status make_set(qn_fit_device_driver *d, int set, qn_err *err)
{
    const qn_fit_problem *p = d->problem;
    const qn_fit_set *of = &p->sets[set];
    const qn_i64 first = p->inverse.start[of->first_block];
    qn_fit_schur_set *s = &d->schur->sets[set];
    qn_status st = QN_OK;

    s->n = p->inverse.start[of->first_block + of->count] - first;
    QN_TRY(qn_fit_device_table(d->device, "fit.schur.place", p->inverse.place + first,
                               (size_t)s->n * 4, &s->place, err));
    QN_TRY(qn_fit_device_table(d->device, "fit.schur.instance", p->inverse.instance + first,
                               (size_t)s->n * 4, &s->instance, err));
    st = of->is_eliminated ? eliminated_set(d, set, err) : kept_set(d, set, err);
out:
    return st;
}

/* Building. */

static void measure(qn_fit_device_driver *d)
{
    const qn_fit_problem *p = d->problem;
    qn_fit_device_schur *s = d->schur;
    qn_i64 at = 0;

    s->n_rows = s->stride = 1;
    for (int k = 0; k < p->n_groups; k++)
        s->n_rows = p->groups[k].n_rows > s->n_rows ? p->groups[k].n_rows : s->n_rows;
    for (int k = 0; k < p->n_sets; k++) {
        const qn_fit_set *set = &p->sets[k];

        s->stride = (int)set->dim > s->stride ? (int)set->dim : s->stride;
        s->sets[k].first_at = at;
        at += (qn_i64)set->count * set->dim * set->dim;
        if (set->is_eliminated)
            s->point_dim = (int)set->dim;
        else {
            s->first = s->n_kept ? s->first : set->first;
            s->n_kept = (qn_i64)set->first + set->count * set->dim - s->first;
        }
    }
}

qn_status qn_fit_schur_new(qn_fit_device_driver *d, qn_err *err)
{
    qn_status st = QN_OK;

    if (!(d->schur = qn_arena_zeros(&d->memory, 1, sizeof *d->schur)) ||
        !(d->schur->sets =
              qn_arena_zeros(&d->memory, (size_t)d->problem->n_sets, sizeof *d->schur->sets)))
        return qn_fail(err, QN_ERR_NOMEM, "a reduced system");
    measure(d);
    QN_TRY(qn_fit_device_make(d->device, qn_fit_device_jacobian, "fit.jacobian",
                              &d->schur->jacobian, err));
    QN_TRY(
        qn_fit_device_make(d->device, qn_fit_device_rows, "fit.schur.rows", &d->schur->rows, err));
    QN_TRY(qn_fit_device_make(d->device, qn_fit_device_blocks, "fit.schur.blocks",
                              &d->schur->blocks, err));
    QN_TRY(qn_fit_device_numbers(d->device, "fit.schur.w", NULL, d->problem->n_scalars,
                                 &d->schur->w, err));
    QN_TRY(make_places(d, err));
    QN_TRY(qn_fit_reduced_new(d, err));
    for (int k = 0; k < d->problem->n_sets; k++)
        QN_TRY(make_set(d, k, err));
out:
    return st;
}

/* Stages. */

static fit_schur_par par_of(const qn_fit_device_driver *d, int set)
{
    const qn_fit_schur_set *s = &d->schur->sets[set];

    return (fit_schur_par){ .n = s->n,
                            .first = d->problem->sets[set].first,
                            .first_at = s->first_at,
                            .n_chunks = s->chunks.n,
                            .sign = 1,
                            .dim = (i32)d->problem->sets[set].dim,
                            .rows = d->schur->n_rows,
                            .stride = d->schur->stride };
}

/* Pieces, for one kept set. */

/* Writes J' rows into `out`. */
static qn_status transposed(qn_fit_device_driver *d, qn_graph *g, int set, qn_buf *rows,
                            qn_buf *out, qn_err *err)
{
    const qn_fit_schur_set *s = &d->schur->sets[set];
    const qn_i64 count = d->problem->sets[set].count;
    const fit_schur_par par = par_of(d, set);
    qn_status st = QN_OK;

    if (s->n && par.dim == 9)
        QN_TRY(STAGE(fit_schur_sum_9)(g, "fit.schur.sum", qn_range_1d(s->chunks.n), par,
                                      s->chunks.from, s->chunks.to, s->place, s->instance,
                                      d->schur->row_at, s->packed, rows, s->sums, err));
    if (s->n && par.dim != 9) {
        QN_TRY(STAGE(fit_schur_rows)(g, "fit.schur.rows", qn_range_1d(s->n), par, s->place,
                                     s->instance, d->schur->row_at, rows, s->u, err));
        QN_TRY(STAGE(fit_schur_sum)(g, "fit.schur.sum", qn_range_2d(s->chunks.n, par.dim), par,
                                    s->chunks.from, s->chunks.to, s->packed, s->u, s->sums, err));
    }
    QN_TRY(STAGE(fit_schur_join)(g, "fit.schur.join", qn_range_2d(count, par.dim), par,
                                 s->chunks.begin, s->sums, d->small[QN_FIT_IS_FIXED], out, err));
out:
    return st;
}

static qn_status squares(qn_fit_device_driver *d, qn_graph *g, int set, int is_plain, qn_buf *out,
                         qn_err *err)
{
    const qn_fit_schur_set *s = &d->schur->sets[set];
    const qn_i64 count = d->problem->sets[set].count;
    fit_schur_par par = par_of(d, set);
    const qn_i64 pairs = (qn_i64)par.dim * (par.dim + 1) / 2;
    qn_status st = QN_OK;

    par.kind = is_plain;
    if (s->n)
        QN_TRY(STAGE(fit_schur_square)(g, "fit.schur.square", qn_range_2d(s->chunks.n, pairs), par,
                                       s->chunks.from, s->chunks.to, s->packed, s->weights, s->sums,
                                       err));
    QN_TRY(STAGE(fit_schur_join_square)(g, "fit.schur.join_square", qn_range_2d(count, pairs), par,
                                        s->chunks.begin, s->sums, d->small[QN_FIT_IS_FIXED], out,
                                        err));
out:
    return st;
}

/* Pieces, for one eliminated set. */

static qn_status points(qn_fit_device_driver *d, qn_graph *g, int kind, double sign, int is_scaled,
                        qn_buf *rows, qn_buf *out, qn_err *err)
{
    qn_buf **v = d->vectors;
    qn_status st = QN_OK;

    for (int k = 0; st == QN_OK && k < d->problem->n_sets; k++) {
        const qn_fit_schur_set *s = &d->schur->sets[k];
        fit_schur_par par = par_of(d, k);

        par.kind = kind;
        par.sign = sign;
        par.is_scaled = is_scaled;
        if (d->problem->sets[k].is_eliminated && d->problem->sets[k].count)
            st = STAGE(fit_schur_points)(
                g, "fit.schur.points", qn_range_1d(d->problem->sets[k].count), par, s->start,
                s->place, s->instance, d->schur->row_at, s->packed, rows, v[QN_FIT_GRADIENT],
                v[QN_FIT_ACTIVE], v[QN_FIT_FACTOR], out, err);
    }
    return st;
}

/* Subtracts the part of the eliminated blocks from a row vector. */
static qn_status reduce(qn_fit_device_driver *d, qn_graph *g, qn_buf *rows, qn_err *err)
{
    qn_status st = QN_OK;

    for (int k = 0; st == QN_OK && k < d->problem->n_sets; k++) {
        const qn_fit_schur_set *s = &d->schur->sets[k];

        if (d->problem->sets[k].is_eliminated && d->problem->sets[k].count)
            st = STAGE(fit_schur_reduce)(
                g, "fit.schur.reduce", qn_range_1d(d->problem->sets[k].count), par_of(d, k),
                s->start, s->place, s->instance, d->schur->row_at, s->packed,
                d->vectors[QN_FIT_ACTIVE], d->vectors[QN_FIT_FACTOR], rows, err);
    }
    return st;
}

/* Stages. */

static qn_status point_of_set(qn_fit_device_driver *d, qn_graph *g, int set, qn_err *err)
{
    const qn_fit_set *of = &d->problem->sets[set];
    const qn_fit_schur_set *s = &d->schur->sets[set];
    const fit_schur_par par = par_of(d, set);
    qn_buf **v = d->vectors, *res = v[QN_FIT_RESIDUALS];
    qn_status st = QN_OK;

    if (!of->count)
        return QN_OK;
    if (of->is_eliminated && s->n)
        QN_TRY(STAGE(fit_schur_pack_points)(g, "fit.schur.pack", qn_range_1d(s->n), par, s->place,
                                            s->instance, d->schur->at, d->schur->factor,
                                            d->schur->jacobian, s->packed, err));
    if (of->is_eliminated)
        return STAGE(fit_schur_point)(g, "fit.schur.point", qn_range_1d(of->count), par, s->start,
                                      s->place, s->instance, d->schur->row_at, s->packed, res,
                                      d->small[QN_FIT_IS_FIXED], v[QN_FIT_BLOCKS],
                                      v[QN_FIT_GRADIENT], err);
    if (s->n)
        QN_TRY(STAGE(fit_schur_pack)(g, "fit.schur.pack", qn_range_1d(s->n), par, s->place,
                                     s->instance, d->schur->at, d->schur->factor,
                                     d->schur->jacobian, s->packed, err));
    QN_TRY(transposed(d, g, set, res, v[QN_FIT_GRADIENT], err));
    QN_TRY(squares(d, g, set, 1, v[QN_FIT_BLOCKS], err));
out:
    return st;
}

qn_status qn_fit_schur_point(qn_fit_device_driver *d, qn_graph *graph, qn_err *err)
{
    qn_buf **v = d->vectors;
    qn_status st = qn_fit_stage_linearize(d->device, graph, v[QN_FIT_X], v[QN_FIT_COST_HERE],
                                          v[QN_FIT_RESIDUALS], d->schur->jacobian, err);

    for (int k = 0; st == QN_OK && k < d->problem->n_sets; k++)
        st = point_of_set(d, graph, k, err);
    return st;
}

/* Diagonal blocks of S: J_c' (I - J_p C^-1 J_p') J_c. */
static qn_status preconditioner(qn_fit_device_driver *d, qn_graph *g, int set, qn_err *err)
{
    const qn_fit_schur_set *s = &d->schur->sets[set];
    qn_buf **v = d->vectors;
    fit_schur_par par = par_of(d, set);
    qn_status st = QN_OK;

    if (d->reduced)
        return qn_fit_reduced_matrix(d, g, err);
    par.dim = d->schur->point_dim;
    if (s->n)
        QN_TRY(STAGE(fit_schur_weights)(g, "fit.schur.weights", qn_range_1d(s->n), par, s->point,
                                        s->point_at, s->point_place, s->instance, d->schur->at,
                                        d->schur->factor, d->schur->jacobian, v[QN_FIT_ACTIVE],
                                        v[QN_FIT_FACTOR], s->weights, err));
    QN_TRY(squares(d, g, set, 0, d->schur->blocks, err));
out:
    return st;
}

qn_status qn_fit_schur_system(qn_fit_device_driver *d, qn_graph *graph, qn_err *err)
{
    qn_buf **v = d->vectors;
    qn_status st = QN_OK;

    QN_TRY(points(d, graph, FIT_SCHUR_GRADIENT, 1, 1, d->schur->rows, d->schur->w, err));
    QN_TRY(qn_fit_driver_jv(d, graph, d->schur->w, d->schur->rows, err));
    for (int k = 0; k < d->problem->n_sets; k++) {
        if (d->problem->sets[k].is_eliminated || !d->problem->sets[k].count)
            continue;
        QN_TRY(transposed(d, graph, k, d->schur->rows, v[QN_FIT_Q], err));
        QN_TRY(preconditioner(d, graph, k, err));
    }
    QN_TRY(STAGE(fit_schur_right)(graph, "fit.schur.right", qn_range_1d(d->schur->n_kept),
                                  d->cg[QN_FIT_ACTIVE], d->cg[QN_FIT_Q], d->cg[QN_FIT_B], err));
out:
    return st;
}

qn_status qn_fit_schur_product(qn_fit_device_driver *d, qn_graph *graph, qn_err *err)
{
    qn_buf **v = d->vectors;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_driver_jv(d, graph, v[QN_FIT_V], v[QN_FIT_ROWS], err));
    QN_TRY(reduce(d, graph, v[QN_FIT_ROWS], err));
    for (int k = 0; k < d->problem->n_sets; k++)
        if (!d->problem->sets[k].is_eliminated && d->problem->sets[k].count)
            QN_TRY(transposed(d, graph, k, v[QN_FIT_ROWS], v[QN_FIT_Q], err));
out:
    return st;
}

qn_status qn_fit_schur_substitute(qn_fit_device_driver *d, qn_graph *graph, qn_err *err)
{
    qn_buf **v = d->vectors;
    qn_status st = QN_OK;

    QN_TRY(STAGE(fit_scaled)(graph, "fit.scaled", qn_range_1d(d->schur->n_kept),
                             d->cg[QN_FIT_ACTIVE], d->cg[QN_FIT_Y], d->cg[QN_FIT_V], err));
    QN_TRY(qn_fit_driver_jv(d, graph, v[QN_FIT_V], v[QN_FIT_ROWS], err));
    QN_TRY(points(d, graph, FIT_SCHUR_BOTH, -1, 0, v[QN_FIT_ROWS], v[QN_FIT_Y], err));
out:
    return st;
}

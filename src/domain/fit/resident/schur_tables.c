/* schur_tables.c - lists, places and buffers of the reduced system. */

#include <stdlib.h>

#include "domain/fit/device/device.h"
#include "domain/fit/resident/resident_impl.h"
#include "kernel/fit/fit_schur.h"

/* Whether the problem fits. */

static int eliminated_slot(const qn_fit_problem *p, const qn_fit_group *g)
{
    for (int s = 0; s < g->n_slots; s++)
        if (p->sets[g->slot_set[s]].is_eliminated)
            return s;
    return -1;
}

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

static qn_status numbers(qn_fit_device_driver *d, const char *name, const double *values, qn_i64 n,
                         qn_buf **out, qn_err *err)
{
    const size_t size = d->precision == QN_FIT_F64 ? sizeof(double) : sizeof(float);
    qn_status st;
    void *host;

    if (!values)
        return qn_buf_new(d->ctx, name, (size_t)(n + 1) * size, out, err);
    st = qn_fit_upload_room(d->ctx, name, (size_t)(n + 1) * size, out, &host, err);
    if (st == QN_OK)
        qn_fit_copy_numbers(host, values, n, d->precision);
    return st;
}

static qn_status table(qn_fit_device_driver *d, const char *name, const void *bytes, size_t n,
                       qn_buf **out, qn_err *err)
{
    return qn_fit_upload(d->ctx, name, bytes, n, 8, out, err);
}

/* Where each place finds its part of J and its rows. */
static qn_status make_places(qn_fit_device_driver *d, qn_err *err)
{
    const qn_fit_problem *p = d->problem;
    qn_fit_device_schur *s = d->schur;
    const size_t n_rows = (size_t)(p->n_places * s->n_rows), n = n_rows * (size_t)s->stride;
    qn_i64 *at = malloc((n + 1) * sizeof *at), *row_at = malloc((n_rows + 1) * sizeof *row_at);
    double *factor = calloc(n + 1, sizeof *factor);
    qn_status st = QN_OK;
    qn_i64 first_row = 0;

    if (!at || !row_at || !factor) {
        st = qn_fail(err, QN_ERR_NOMEM, "%zu places of a Jacobian", n);
        goto out;
    }
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
    QN_TRY(table(d, "fit.schur.at", at, n * sizeof *at, &s->at, err));
    QN_TRY(table(d, "fit.schur.row_at", row_at, n_rows * sizeof *row_at, &s->row_at, err));
    QN_TRY(numbers(d, "fit.schur.factor", factor, (qn_i64)n, &s->factor, err));
out:
    free(at);
    free(row_at);
    free(factor);
    return st;
}

static qn_status eliminated_set(qn_fit_device_driver *d, int set, qn_err *err)
{
    const qn_fit_set *of = &d->problem->sets[set];
    const qn_i64 *start = d->problem->inverse.start + of->first_block;
    qn_i64 *own = malloc(((size_t)of->count + 1) * sizeof *own);
    qn_status st;

    if (!own)
        return qn_fail(err, QN_ERR_NOMEM, "%s: lists", of->name);
    for (uint32_t b = 0; b <= of->count; b++)
        own[b] = start[b] - start[0];
    st = table(d, "fit.schur.start", own, ((size_t)of->count + 1) * sizeof *own,
               &d->schur->sets[set].start, err);
    if (st == QN_OK)
        st =
            numbers(d, "fit.schur.packed", NULL, d->schur->sets[set].n * d->schur->n_rows * of->dim,
                    &d->schur->sets[set].packed, err);
    free(own);
    return st;
}

/* Chunks of the lists of a kept set. */
static qn_status make_chunks(qn_fit_device_driver *d, int set, qn_err *err)
{
    const qn_fit_set *of = &d->problem->sets[set];
    const qn_i64 *start = d->problem->inverse.start + of->first_block;
    qn_fit_schur_set *s = &d->schur->sets[set];
    const size_t room = (size_t)(s->n / FIT_SCHUR_CHUNK) + of->count + 2;
    qn_i64 *all = calloc(2 * room + of->count + 2, sizeof *all);
    qn_i64 *from = all, *to = all + room, *begin = all + 2 * room;
    qn_status st = QN_OK;

    if (!all)
        return qn_fail(err, QN_ERR_NOMEM, "%s: chunks", of->name);
    for (uint32_t b = 0; b < of->count; b++) {
        begin[b] = s->n_chunks;
        for (qn_i64 k = start[b]; k < start[b + 1]; k += FIT_SCHUR_CHUNK) {
            from[s->n_chunks] = k - start[0];
            to[s->n_chunks++] =
                (k + FIT_SCHUR_CHUNK < start[b + 1] ? k + FIT_SCHUR_CHUNK : start[b + 1]) -
                start[0];
        }
    }
    begin[of->count] = s->n_chunks;
    QN_TRY(table(d, "fit.schur.from", from, (size_t)s->n_chunks * 8, &s->from, err));
    QN_TRY(table(d, "fit.schur.to", to, (size_t)s->n_chunks * 8, &s->to, err));
    QN_TRY(table(d, "fit.schur.begin", begin, ((size_t)of->count + 1) * 8, &s->begin, err));
out:
    free(all);
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

    QN_TRY(qn_fit_upload_room(d->ctx, "fit.schur.point", n * 4, &s->point, &rooms[0], err));
    QN_TRY(qn_fit_upload_room(d->ctx, "fit.schur.point_place", n * 4, &s->point_place, &rooms[1],
                              err));
    QN_TRY(qn_fit_upload_room(d->ctx, "fit.schur.point_at", n * 8, &s->point_at, &rooms[2], err));
    point = rooms[0];
    place = rooms[1];
    at = rooms[2];
#pragma omp parallel for schedule(static)
    for (qn_i64 k = 0; k < s->n; k++) {
        const qn_fit_group *g = &p->groups[p->places[p->inverse.place[first + k]].group];
        const int slot = eliminated_slot(p, g);
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
    const qn_i64 dim = d->problem->sets[set].dim, rows = d->schur->n_rows;
    qn_fit_schur_set *s = &d->schur->sets[set];
    qn_status st = QN_OK;

    QN_TRY(make_chunks(d, set, err));
    QN_TRY(make_points(d, set, err));
    QN_TRY(numbers(d, "fit.schur.packed", NULL, s->n * rows * dim, &s->packed, err));
    QN_TRY(numbers(d, "fit.schur.u", NULL, dim == 9 ? 0 : s->n * rows, &s->u, err));
    QN_TRY(numbers(d, "fit.schur.weights", NULL, d->reduced ? 0 : s->n * rows * rows, &s->weights,
                   err));
    QN_TRY(numbers(d, "fit.schur.sums", NULL, s->n_chunks * dim * (dim + 1) / 2, &s->sums, err));
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
    QN_TRY(table(d, "fit.schur.place", p->inverse.place + first, (size_t)s->n * 4, &s->place, err));
    QN_TRY(table(d, "fit.schur.instance", p->inverse.instance + first, (size_t)s->n * 4,
                 &s->instance, err));
    st = of->is_eliminated ? eliminated_set(d, set, err) : kept_set(d, set, err);
out:
    return st;
}

/* Building and freeing. */

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

qn_status qn_fit_schur_new(struct qn_fit_device_driver *driver, qn_err *err)
{
    qn_fit_device_driver *d = driver;
    qn_status st = QN_OK;

    if (!(d->schur = calloc(1, sizeof *d->schur)) ||
        !(d->schur->sets = calloc((size_t)d->problem->n_sets + 1, sizeof *d->schur->sets)))
        return qn_fail(err, QN_ERR_NOMEM, "a reduced system");
    measure(d);
    QN_TRY(qn_fit_device_jacobian(d->device, "fit.jacobian", &d->schur->jacobian, err));
    QN_TRY(qn_fit_device_rows(d->device, "fit.schur.rows", &d->schur->rows, err));
    QN_TRY(qn_fit_device_vector(d->device, "fit.schur.w", NULL, &d->schur->w, err));
    QN_TRY(qn_fit_device_blocks(d->device, "fit.schur.blocks", &d->schur->blocks, err));
    QN_TRY(make_places(d, err));
    QN_TRY(qn_fit_reduced_new(d, err));
    for (int k = 0; k < d->problem->n_sets; k++)
        QN_TRY(make_set(d, k, err));
out:
    return st;
}

void qn_fit_schur_free(struct qn_fit_device_driver *driver)
{
    qn_fit_device_schur *s = driver->schur;

    if (!s)
        return;
    for (int k = 0; s->sets && k < driver->problem->n_sets; k++) {
        qn_fit_schur_set *of = &s->sets[k];
        qn_buf *const all[] = { of->place, of->instance, of->start,       of->begin,  of->from,
                                of->to,    of->point,    of->point_place, of->packed, of->point_at,
                                of->u,     of->weights,  of->sums };

        for (size_t j = 0; j < sizeof all / sizeof *all; j++)
            qn_buf_free(all[j]);
    }
    qn_buf_free(s->at);
    qn_buf_free(s->factor);
    qn_buf_free(s->row_at);
    qn_buf_free(s->jacobian);
    qn_buf_free(s->rows);
    qn_buf_free(s->w);
    qn_buf_free(s->blocks);
    free(s->sets);
    free(s);
    driver->schur = NULL;
}

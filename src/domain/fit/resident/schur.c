/* schur.c - the reduced system as stages. */

#include "domain/fit/resident/resident_impl.h"
#include "kernel/fit/fit_schur.h"
#include "kernel/fit_schur.gen.h"
#include "kernel/fit_solve.gen.h"

#define STAGE(name) (d->precision == QN_FIT_F64 ? stage_##name##_f64 : stage_##name##_f32)

static fit_schur_par par_of(const qn_fit_device_driver *d, int set)
{
    const qn_fit_schur_set *s = &d->schur->sets[set];

    return (fit_schur_par){ .n = s->n,
                            .first = d->problem->sets[set].first,
                            .first_at = s->first_at,
                            .n_chunks = s->n_chunks,
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
        QN_TRY(STAGE(fit_schur_sum_9)(g, "fit.schur.sum", qn_range_1d(s->n_chunks), par, s->from,
                                      s->to, s->place, s->instance, d->schur->row_at, s->packed,
                                      rows, s->sums, err));
    if (s->n && par.dim != 9) {
        QN_TRY(STAGE(fit_schur_rows)(g, "fit.schur.rows", qn_range_1d(s->n), par, s->place,
                                     s->instance, d->schur->row_at, rows, s->u, err));
        QN_TRY(STAGE(fit_schur_sum)(g, "fit.schur.sum", qn_range_2d(s->n_chunks, par.dim), par,
                                    s->from, s->to, s->packed, s->u, s->sums, err));
    }
    QN_TRY(STAGE(fit_schur_join)(g, "fit.schur.join", qn_range_2d(count, par.dim), par, s->begin,
                                 s->sums, d->small[QN_FIT_IS_FIXED], out, err));
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
        QN_TRY(STAGE(fit_schur_square)(g, "fit.schur.square", qn_range_2d(s->n_chunks, pairs), par,
                                       s->from, s->to, s->packed, s->weights, s->sums, err));
    QN_TRY(STAGE(fit_schur_join_square)(g, "fit.schur.join_square", qn_range_2d(count, pairs), par,
                                        s->begin, s->sums, d->small[QN_FIT_IS_FIXED], out, err));
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

qn_status qn_fit_schur_point(struct qn_fit_device_driver *driver, qn_graph *graph, qn_err *err)
{
    qn_fit_device_driver *d = driver;
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

qn_status qn_fit_schur_system(struct qn_fit_device_driver *driver, qn_graph *graph, qn_err *err)
{
    qn_fit_device_driver *d = driver;
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

qn_status qn_fit_schur_product(struct qn_fit_device_driver *driver, qn_graph *graph, qn_err *err)
{
    qn_fit_device_driver *d = driver;
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

qn_status qn_fit_schur_substitute(struct qn_fit_device_driver *driver, qn_graph *graph, qn_err *err)
{
    qn_fit_device_driver *d = driver;
    qn_buf **v = d->vectors;
    qn_status st = QN_OK;

    QN_TRY(STAGE(fit_scaled)(graph, "fit.scaled", qn_range_1d(d->schur->n_kept),
                             d->cg[QN_FIT_ACTIVE], d->cg[QN_FIT_Y], d->cg[QN_FIT_V], err));
    QN_TRY(qn_fit_driver_jv(d, graph, v[QN_FIT_V], v[QN_FIT_ROWS], err));
    QN_TRY(points(d, graph, FIT_SCHUR_BOTH, -1, 0, v[QN_FIT_ROWS], v[QN_FIT_Y], err));
out:
    return st;
}

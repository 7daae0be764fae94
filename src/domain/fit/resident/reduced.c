/* reduced.c - buffers and stages of the stored reduced system. */

#include "domain/fit/device/device.h"
#include "domain/fit/resident/resident_impl.h"
#include "kernel/fit/fit_reduced.h"
#include "kernel/fit_reduced.gen.h"

/* Buffers. */

/* The largest tables, written straight into the buffers that are uploaded. */
static qn_status fill_pairs(qn_fit_device_driver *d, const qn_fit_reduced_pattern *t, qn_err *err)
{
    const size_t bytes = (size_t)t->pairs[t->n_lower] * sizeof(uint32_t);
    void *left, *right;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_device_room(d->device, "fit.reduced.left", bytes, &d->reduced->left, &left, err));
    QN_TRY(
        qn_fit_device_room(d->device, "fit.reduced.right", bytes, &d->reduced->right, &right, err));
    if (!qn_fit_reduced_pattern_pairs(d->problem, t, left, right))
        st = qn_fail(err, QN_ERR_NOMEM, "out of host memory");
out:
    return st;
}

static qn_status make_tables(qn_fit_device_driver *d, const qn_fit_reduced_pattern *t, qn_err *err)
{
    static const char *const names[] = { "fit.reduced.from", "fit.reduced.to",
                                         "fit.reduced.begin" };
    qn_fit_device_reduced *r = d->reduced;
    const size_t n = (size_t)t->n_lower * 4;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_device_chunks(d->device, names, t->pairs, t->pairs + 1, t->n_lower, 0,
                                FIT_REDUCED_CHUNK, &r->chunks, err));
    QN_TRY(fill_pairs(d, t, err));
    QN_TRY(qn_fit_device_table(d->device, "fit.reduced.row", t->row, n, &r->row, err));
    QN_TRY(qn_fit_device_table(d->device, "fit.reduced.of", t->of, n, &r->of, err));
    QN_TRY(qn_fit_device_table(d->device, "fit.reduced.where", t->where, n, &r->where, err));
    QN_TRY(qn_fit_device_table(d->device, "fit.reduced.cross", t->cross, n, &r->cross, err));
    QN_TRY(qn_fit_device_table(d->device, "fit.reduced.start", t->start,
                               ((size_t)t->n_blocks + 1) * 8, &r->start, err));
    QN_TRY(qn_fit_device_table(d->device, "fit.reduced.column", t->column, (size_t)r->n_stored * 4,
                               &r->column, err));
out:
    return st;
}

static qn_status make_vectors(qn_fit_device_driver *d, const qn_fit_reduced_pattern *t, qn_err *err)
{
    qn_fit_device_reduced *r = d->reduced;
    const qn_i64 dim = d->problem->sets[t->set].dim, all = dim * dim;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_device_numbers(d->device, "fit.reduced.half", NULL,
                                 t->n * dim * d->schur->point_dim, &r->half, err));
    QN_TRY(qn_fit_device_numbers(d->device, "fit.reduced.sums", NULL, r->chunks.n * all, &r->sums,
                                 err));
    QN_TRY(qn_fit_device_numbers(d->device, "fit.reduced.matrix", NULL, r->n_stored * all,
                                 &r->matrix, err));
    QN_TRY(qn_fit_device_numbers(d->device, "fit.reduced.inverse", NULL, t->n_blocks * all,
                                 &r->inverse, err));
    QN_TRY(qn_fit_device_bytes(d->device, "fit.reduced.dots",
                               (size_t)r->n_parts * FIT_REDUCED_DOTS * sizeof(double), &r->dots,
                               err));
    QN_TRY(qn_fit_device_bytes(d->device, "fit.reduced.curvature", t->n_blocks * sizeof(double),
                               &r->curvature, err));
    for (int k = 0; k < 2; k++)
        QN_TRY(qn_fit_device_bytes(d->device, "fit.reduced.state", FIT_N_STATE * sizeof(double),
                                   &r->state[k], err));
out:
    return st;
}

qn_status qn_fit_reduced_new(qn_fit_device_driver *d, qn_err *err)
{
    qn_fit_reduced_pattern t = { 0 };
    const char *why = NULL;
    qn_status st = QN_OK;
    int per;

    if (d->opt.linear.is_factored)
        return QN_OK;
    QN_TRY(qn_fit_reduced_pattern_new(d->problem, &t, &why, err));
    if (why)
        goto out;
    if (!(d->reduced = qn_arena_zeros(&d->memory, 1, sizeof *d->reduced)))
        QN_FAIL(err, QN_ERR_NOMEM, "a reduced system");
    per = FIT_REDUCED_LANES / (int)d->problem->sets[t.set].dim;
    d->reduced->set = t.set;
    d->reduced->n_lower = t.n_lower;
    d->reduced->n_stored = t.start[t.n_blocks];
    d->reduced->n_parts = ((int)t.n_blocks + per - 1) / per;
    if ((st = make_tables(d, &t, err)) != QN_OK || (st = make_vectors(d, &t, err)) != QN_OK)
        qn_prefix(err, "a reduced system of %lld blocks", (long long)t.n_lower);
out:
    qn_fit_reduced_pattern_free(&t);
    return st;
}

/* Stages. */

static fit_reduced_par par_of(const qn_fit_device_driver *d)
{
    const qn_fit_set *set = &d->problem->sets[d->reduced->set];
    const qn_fit_schur_set *s = &d->schur->sets[d->reduced->set];

    return (fit_reduced_par){ .n = s->n,
                              .first = set->first,
                              .first_at = s->first_at,
                              .n_blocks = (i32)set->count,
                              .n_parts = d->reduced->n_parts,
                              .dim = (i32)set->dim,
                              .rows = d->schur->n_rows,
                              .stride = d->schur->stride,
                              .point_dim = d->schur->point_dim };
}

qn_status qn_fit_reduced_matrix(qn_fit_device_driver *d, qn_graph *graph, qn_err *err)
{
    const qn_fit_device_reduced *r = d->reduced;
    const qn_fit_schur_set *s = &d->schur->sets[r->set];
    const fit_reduced_par par = par_of(d);
    qn_buf **v = d->vectors;
    qn_status st = QN_OK;

    if (s->n)
        QN_TRY(STAGE(fit_reduced_half)(graph, "fit.reduced.half", qn_range_1d(s->n), par, s->point,
                                       s->point_at, s->point_place, s->instance, d->schur->at,
                                       d->schur->factor, d->schur->jacobian, s->packed,
                                       v[QN_FIT_ACTIVE], v[QN_FIT_FACTOR], r->half, err));
    if (r->chunks.n)
        QN_TRY((par.dim == 9 && par.point_dim == 3 ? STAGE(fit_reduced_pairs_9)
                                                   : STAGE(fit_reduced_pairs))(
            graph, "fit.reduced.pairs", qn_range_1d(r->chunks.n), par, r->chunks.from, r->chunks.to,
            r->left, r->right, r->half, r->sums, err));
    QN_TRY(STAGE(fit_reduced_join)(
        graph, "fit.reduced.join", qn_range_2d(r->n_lower, (qn_i64)par.dim * par.dim), par,
        r->chunks.begin, r->sums, r->row, r->of, r->where, r->cross, v[QN_FIT_BLOCKS],
        v[QN_FIT_ACTIVE], v[QN_FIT_DAMPING], d->schur->blocks, r->matrix, err));
out:
    return st;
}

static qn_status parts(qn_fit_device_driver *d, qn_graph *g, int is_first, qn_err *err)
{
    const qn_fit_device_reduced *r = d->reduced;
    qn_buf **v = d->cg;

    return STAGE(fit_reduced_begin)(g, "fit.reduced.begin", qn_range_1d(r->n_parts), par_of(d),
                                    is_first, r->inverse, v[QN_FIT_B], v[QN_FIT_Y], v[QN_FIT_R],
                                    v[QN_FIT_Z], v[QN_FIT_P], r->dots, r->state[0], err);
}

qn_status qn_fit_reduced_begin(qn_fit_device_driver *d, qn_graph *graph, qn_err *err)
{
    const fit_reduced_par par = par_of(d);
    const qn_status st =
        STAGE(fit_reduced_inverse)(graph, "fit.reduced.inverse", qn_range_2d(par.n_blocks, par.dim),
                                   par, d->vectors[QN_FIT_FACTOR], d->reduced->inverse, err);

    return st == QN_OK ? parts(d, graph, 1, err) : st;
}

qn_status qn_fit_reduced_iterate(qn_fit_device_driver *d, qn_graph *graph, qn_err *err)
{
    const qn_fit_device_reduced *r = d->reduced;
    const fit_reduced_par par = par_of(d);
    qn_buf **v = d->cg, *const p[] = { v[QN_FIT_P], v[QN_FIT_V] };
    qn_buf *control = d->small[QN_FIT_CONTROL];
    qn_status st = QN_OK;

    for (int k = 0; k < QN_FIT_REDUCED_AT_ONCE; k++) {
        QN_TRY(STAGE(fit_reduced_product)(graph, "fit.reduced.product", qn_range_1d(par.n_blocks),
                                          par, control, r->state[0], r->dots, r->start, r->column,
                                          r->matrix, v[QN_FIT_Z], p[k % 2], p[(k + 1) % 2],
                                          v[QN_FIT_Q], r->curvature, r->state[1], err));
        QN_TRY(STAGE(fit_reduced_step)(graph, "fit.reduced.step", qn_range_1d(r->n_parts), par,
                                       r->state[1], r->curvature, r->inverse, v[QN_FIT_B],
                                       p[(k + 1) % 2], v[QN_FIT_Q], v[QN_FIT_Y], v[QN_FIT_R],
                                       v[QN_FIT_Z], r->dots, r->state[0], err));
    }
    QN_TRY(STAGE(fit_reduced_show)(graph, "fit.reduced.show", qn_range_1d(1), par, control,
                                   r->state[0], r->dots, d->small[QN_FIT_SCALARS], err));
out:
    return st;
}

qn_status qn_fit_reduced_reset(qn_fit_device_driver *d, qn_graph *graph, qn_err *err)
{
    const qn_fit_device_reduced *r = d->reduced;
    const fit_reduced_par par = par_of(d);
    qn_buf **v = d->cg;
    const qn_status st = STAGE(fit_reduced_residual)(
        graph, "fit.reduced.residual", qn_range_1d(par.n_blocks), par, r->start, r->column,
        r->matrix, v[QN_FIT_B], v[QN_FIT_Y], v[QN_FIT_R], err);

    return st == QN_OK ? parts(d, graph, 0, err) : st;
}

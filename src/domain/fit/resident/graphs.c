/* graphs.c - buffers and graphs of the resident solver. */
#include "domain/fit/resident/resident_impl.h"

#include "kernel/fit_solve.gen.h"

static qn_i64 chunks_of(qn_i64 n)
{
    return n > FIT_DOT_CHUNK ? (n + FIT_DOT_CHUNK - 1) / FIT_DOT_CHUNK : 1;
}

static qn_i64 row_chunks(const qn_fit_problem *p)
{
    qn_i64 n = 0;

    for (int k = 0; k < p->n_groups; k++)
        if (p->groups[k].n)
            n += chunks_of(p->groups[k].n * p->groups[k].n_rows);
    return n;
}

/* Buffers. */

static qn_status small_buffers(qn_fit_device_driver *d, qn_err *err)
{
    const struct {
        const char *name;
        qn_i64 n;
    } sizes[] = {
        [QN_FIT_CONTROL] = { "fit.control", FIT_N_CONTROL },
        [QN_FIT_SCALARS] = { "fit.scalars", FIT_N_SCALARS },
        [QN_FIT_SUMS] = { "fit.sums", 2 * chunks_of(d->problem->n_scalars) },
        [QN_FIT_ROW_SUMS] = { "fit.row_sums", 2 * row_chunks(d->problem) + 2 },
        [QN_FIT_JOINED] = { "fit.joined", 2 },
        [QN_FIT_ROW_JOINED] = { "fit.row_joined", 2 },
        [QN_FIT_IS_FIXED] = { "fit.is_fixed", d->problem->n_scalars / 8 + 1 },
    };
    qn_status st = QN_OK;

    for (int k = 0; st == QN_OK && k < QN_FIT_N_SMALL; k++)
        st = qn_fit_device_bytes(d->device, sizes[k].name, (size_t)sizes[k].n * sizeof(double),
                                 &d->small[k], err);
    if (st == QN_OK && d->problem->n_scalars)
        st = qn_buf_write(d->small[QN_FIT_IS_FIXED], 0, d->problem->is_fixed, d->problem->n_scalars,
                          err);
    return st;
}

static qn_status view_kept(qn_fit_device_driver *d, qn_err *err)
{
    const size_t size = d->precision == QN_FIT_F64 ? sizeof(double) : sizeof(float);
    const size_t first = d->schur ? (size_t)d->schur->first : 0;
    qn_status st = QN_OK;

    d->n_cg = d->schur ? d->schur->n_kept : d->problem->n_scalars;
    for (int k = 0; st == QN_OK && k < QN_FIT_N_PLAIN; k++)
        st = qn_fit_device_own(d->device,
                               qn_buf_view(d->vectors[k], qn_buf_name(d->vectors[k]), first * size,
                                           (size_t)d->n_cg * size, &d->cg[k], err),
                               &d->cg[k], err);
    return st;
}

qn_status qn_fit_driver_buffers(qn_fit_device_driver *d, qn_err *err)
{
    static const char *const names[QN_FIT_N_PLAIN] = {
        "fit.x",       "fit.trial", "fit.best",  "fit.gradient", "fit.scale", "fit.active",
        "fit.damping", "fit.lower", "fit.upper", "fit.b",        "fit.y",     "fit.r",
        "fit.z",       "fit.p",     "fit.q",     "fit.v",        "fit.delta"
    };
    static const struct {
        qn_fit_maker *make;
        const char *name;
    } others[QN_FIT_N_VECTORS - QN_FIT_N_PLAIN] = {
        { qn_fit_device_blocks, "fit.blocks" },  { qn_fit_device_blocks, "fit.factor" },
        { qn_fit_device_rows, "fit.residuals" }, { qn_fit_device_rows, "fit.rows" },
        { qn_fit_device_cost, "fit.cost" },      { qn_fit_device_cost, "fit.cost_there" },
    };
    qn_status st = QN_OK;

    for (int k = 0; k < QN_FIT_N_PLAIN; k++) {
        const double *values = k == QN_FIT_X       ? d->problem->x
                               : k == QN_FIT_LOWER ? d->problem->lower
                               : k == QN_FIT_UPPER ? d->problem->upper
                                                   : NULL;

        QN_TRY(qn_fit_device_numbers(d->device, names[k], values, d->problem->n_scalars,
                                     &d->vectors[k], err));
    }
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        QN_TRY(qn_fit_device_make(d->device, others[k].make, others[k].name,
                                  &d->vectors[QN_FIT_N_PLAIN + k], err));
    QN_TRY(small_buffers(d, err));
    QN_TRY(view_kept(d, err));
out:
    return st;
}

/* Pieces. */

/* Writes chunks of a.b and c.d, for vectors of `n` numbers, to SUMS. */
static qn_status dots_of(qn_fit_device_driver *d, qn_graph *g, qn_buf **v, qn_i64 n, int a, int b,
                         int c, int e, qn_err *err)
{
    return STAGE(fit_dots)(g, "fit.dots", qn_range_1d(chunks_of(n)), n, chunks_of(n), v[a], v[b],
                           v[c], v[e], d->small[QN_FIT_SUMS], err);
}

static qn_status dots(qn_fit_device_driver *d, qn_graph *g, int a, int b, int c, int e, qn_err *err)
{
    return dots_of(d, g, d->cg, d->n_cg, a, b, c, e, err);
}

/* Joins SUMS of vectors of `n` numbers into JOINED. */
static qn_status join(qn_fit_device_driver *d, qn_graph *g, qn_i64 n, qn_err *err)
{
    return STAGE(fit_join)(g, "fit.join", qn_range_1d(1), chunks_of(n), d->small[QN_FIT_SUMS],
                           d->small[QN_FIT_JOINED], err);
}

/* Writes residuals.rows and rows.rows to ROW_JOINED. */
static qn_status row_dots(qn_fit_device_driver *d, qn_graph *g, qn_err *err)
{
    fit_rows_par par = { .n_chunks = row_chunks(d->problem) };
    qn_status st = QN_OK;

    for (int k = 0; st == QN_OK && k < d->problem->n_groups; k++) {
        const qn_fit_group *group = &d->problem->groups[k];

        par.n = group->n;
        par.ld = group->ld;
        par.total = group->n * group->n_rows;
        if (par.total)
            st = STAGE(fit_row_dots)(g, "fit.row_dots", qn_range_1d(chunks_of(par.total)), par,
                                     d->vectors[QN_FIT_RESIDUALS], d->vectors[QN_FIT_ROWS],
                                     d->small[QN_FIT_ROW_SUMS], err);
        par.at += group->n_rows * group->ld;
        par.first_chunk += par.total ? chunks_of(par.total) : 0;
    }
    return st != QN_OK
               ? st
               : STAGE(fit_join)(g, "fit.row_join", qn_range_1d(1), par.n_chunks,
                                 d->small[QN_FIT_ROW_SUMS], d->small[QN_FIT_ROW_JOINED], err);
}

typedef enum { SCALE, SYSTEM, FACTOR, FACTOR_ELIMINATED, FACTOR_KEPT, APPLY } on_sets;

static qn_status stage_set(qn_fit_device_driver *d, qn_graph *g, on_sets what, fit_set_par par,
                           const qn_fit_set *set, qn_err *err)
{
    const qn_range blocks = qn_range_1d(set->count);
    const qn_range scalars = qn_range_1d((qn_i64)set->count * set->dim);
    qn_buf **v = d->vectors;

    switch (what) {
    case SCALE:
        return STAGE(fit_lm_scale)(g, "fit.scale", scalars, par, v[QN_FIT_BLOCKS],
                                   d->small[QN_FIT_IS_FIXED], v[QN_FIT_SCALE], err);
    case SYSTEM:
        return STAGE(fit_lm_system)(g, "fit.system", scalars, par, d->small[QN_FIT_CONTROL],
                                    v[QN_FIT_BLOCKS], v[QN_FIT_X], v[QN_FIT_GRADIENT],
                                    v[QN_FIT_LOWER], v[QN_FIT_UPPER], v[QN_FIT_SCALE],
                                    v[QN_FIT_ACTIVE], v[QN_FIT_DAMPING], v[QN_FIT_B], err);
    case FACTOR:
        return STAGE(fit_block_factor)(g, "fit.factor", blocks, par, v[QN_FIT_BLOCKS],
                                       v[QN_FIT_ACTIVE], v[QN_FIT_DAMPING], v[QN_FIT_FACTOR], err);
    case FACTOR_ELIMINATED:
        return !set->is_eliminated ? QN_OK : stage_set(d, g, FACTOR, par, set, err);
    case FACTOR_KEPT:
        return set->is_eliminated
                   ? QN_OK
                   : STAGE(fit_block_factor)(g, "fit.factor", blocks, par, d->schur->blocks,
                                             v[QN_FIT_ACTIVE], v[QN_FIT_DAMPING], v[QN_FIT_FACTOR],
                                             err);
    default:
        return d->schur && set->is_eliminated
                   ? QN_OK
                   : STAGE(fit_block_apply)(g, "fit.apply", blocks, par, v[QN_FIT_FACTOR],
                                            v[QN_FIT_R], v[QN_FIT_Z], err);
    }
}

static qn_status all_sets(qn_fit_device_driver *d, qn_graph *g, on_sets what, qn_err *err)
{
    qn_status st = QN_OK;
    qn_i64 at = 0;

    for (int k = 0; st == QN_OK && k < d->problem->n_sets; k++) {
        const qn_fit_set *set = &d->problem->sets[k];
        const fit_set_par par = { .first = set->first,
                                  .first_at = at,
                                  .low = d->opt.min_lm_diagonal,
                                  .high = d->opt.max_lm_diagonal,
                                  .dim = (i32)set->dim,
                                  .kind = d->opt.jacobi_scaling };

        if (set->count)
            st = stage_set(d, g, what, par, set, err);
        at += (qn_i64)set->count * set->dim * set->dim;
    }
    return st;
}

/* q = (S J'J S + D^2) p, where v already holds S p. Writes chunks of p.q to SUMS. */
static qn_status product(qn_fit_device_driver *d, qn_graph *g, int of, qn_err *err)
{
    const qn_i64 n_chunks = chunks_of(d->n_cg);
    qn_buf **v = d->vectors;
    qn_status st = QN_OK;

    QN_TRY(d->schur ? qn_fit_schur_product(d, g, err)
           : d->jacobian
               ? qn_fit_stage_stored_jtjv(d->device, g, d->jacobian, v[QN_FIT_V], v[QN_FIT_Q], err)
               : qn_fit_stage_jtjv(d->device, g, v[QN_FIT_X], v[QN_FIT_V], v[QN_FIT_Q], err));
    QN_TRY(STAGE(fit_cg_product)(g, "fit.product", qn_range_1d(n_chunks), d->n_cg, n_chunks,
                                 d->cg[QN_FIT_ACTIVE], d->cg[QN_FIT_DAMPING], d->cg[of],
                                 d->cg[QN_FIT_Q], d->small[QN_FIT_SUMS], err));
out:
    return st;
}

/* Graphs. */

static qn_status plain_point(qn_fit_device_driver *d, qn_graph *g, qn_err *err)
{
    qn_buf **v = d->vectors;

    if (d->jacobian)
        return qn_fit_stage_storing_point(d->device, g, v[QN_FIT_X], v[QN_FIT_COST_HERE],
                                          v[QN_FIT_RESIDUALS], v[QN_FIT_GRADIENT], v[QN_FIT_BLOCKS],
                                          d->jacobian, err);
    return qn_fit_stage_point(d->device, g, v[QN_FIT_X], v[QN_FIT_COST_HERE], v[QN_FIT_RESIDUALS],
                              v[QN_FIT_GRADIENT], v[QN_FIT_BLOCKS], err);
}

static qn_status point_graph(qn_fit_device_driver *d, qn_graph *g, qn_err *err)
{
    const qn_i64 n = d->problem->n_scalars, n_chunks = chunks_of(n);
    qn_buf **v = d->vectors;
    qn_status st = QN_OK;

    QN_TRY(d->schur ? qn_fit_schur_point(d, g, err) : plain_point(d, g, err));
    QN_TRY(STAGE(fit_lm_point)(g, "fit.point", qn_range_1d(n_chunks), n, n_chunks, v[QN_FIT_X],
                               v[QN_FIT_GRADIENT], v[QN_FIT_LOWER], v[QN_FIT_UPPER],
                               d->small[QN_FIT_IS_FIXED], d->small[QN_FIT_SUMS], err));
    QN_TRY(STAGE(fit_lm_point_join)(g, "fit.point_join", qn_range_1d(1), n_chunks,
                                    d->small[QN_FIT_SUMS], v[QN_FIT_COST_HERE],
                                    d->small[QN_FIT_SCALARS], err));
out:
    return st;
}

static qn_status system_graph(qn_fit_device_driver *d, qn_graph *g, qn_err *err)
{
    qn_buf **v = d->cg;
    qn_status st = QN_OK;

    QN_TRY(all_sets(d, g, SYSTEM, err));
    QN_TRY(all_sets(d, g, d->schur ? FACTOR_ELIMINATED : FACTOR, err));
    if (d->schur) {
        QN_TRY(qn_fit_schur_system(d, g, err));
        QN_TRY(all_sets(d, g, FACTOR_KEPT, err));
    }
    if (d->reduced)
        return qn_fit_reduced_begin(d, g, err);
    QN_TRY(STAGE(fit_cg_begin)(g, "fit.begin", qn_range_1d(d->n_cg), v[QN_FIT_B], v[QN_FIT_Y],
                               v[QN_FIT_R], v[QN_FIT_P], err));
    QN_TRY(dots(d, g, QN_FIT_B, QN_FIT_B, QN_FIT_B, QN_FIT_B, err));
    QN_TRY(join(d, g, d->n_cg, err));
    QN_TRY(STAGE(fit_cg_start)(g, "fit.start", qn_range_1d(1), d->small[QN_FIT_CONTROL],
                               d->small[QN_FIT_JOINED], d->small[QN_FIT_SCALARS], err));
out:
    return st;
}

/* The kernel that computes numbers also sums them in chunks; the kernel that needs the sum joins
 * the chunks. */
static qn_status one_iteration(qn_fit_device_driver *d, qn_graph *g, qn_err *err)
{
    const qn_i64 n_chunks = chunks_of(d->n_cg);
    const qn_range all = qn_range_1d(d->n_cg), chunks = qn_range_1d(n_chunks), one = qn_range_1d(1);
    qn_buf **v = d->cg, **s = d->small;
    qn_status st = QN_OK;

    QN_TRY(all_sets(d, g, APPLY, err));
    QN_TRY(dots(d, g, QN_FIT_R, QN_FIT_Z, QN_FIT_R, QN_FIT_R, err));
    QN_TRY(
        STAGE(fit_cg_beta)(g, "fit.beta", one, n_chunks, s[QN_FIT_SUMS], s[QN_FIT_SCALARS], err));
    QN_TRY(STAGE(fit_cg_direction)(g, "fit.direction", all, s[QN_FIT_SCALARS], v[QN_FIT_Z],
                                   v[QN_FIT_ACTIVE], v[QN_FIT_P], v[QN_FIT_V], err));
    QN_TRY(product(d, g, QN_FIT_P, err));
    QN_TRY(
        STAGE(fit_cg_alpha)(g, "fit.alpha", one, n_chunks, s[QN_FIT_SUMS], s[QN_FIT_SCALARS], err));
    QN_TRY(STAGE(fit_cg_step)(g, "fit.step", chunks, d->n_cg, n_chunks, s[QN_FIT_SCALARS],
                              v[QN_FIT_P], v[QN_FIT_Q], v[QN_FIT_B], v[QN_FIT_Y], v[QN_FIT_R],
                              s[QN_FIT_SUMS], err));
    QN_TRY(STAGE(fit_cg_stop)(g, "fit.stop", one, n_chunks, s[QN_FIT_CONTROL], s[QN_FIT_SUMS],
                              s[QN_FIT_SCALARS], err));
out:
    return st;
}

static qn_status reset_graph(qn_fit_device_driver *d, qn_graph *g, qn_err *err)
{
    const qn_range all = qn_range_1d(d->n_cg);
    qn_buf **v = d->cg;
    qn_status st = QN_OK;

    QN_TRY(
        STAGE(fit_scaled)(g, "fit.scaled", all, v[QN_FIT_ACTIVE], v[QN_FIT_Y], v[QN_FIT_V], err));
    QN_TRY(product(d, g, QN_FIT_Y, err));
    QN_TRY(
        STAGE(fit_cg_residual)(g, "fit.residual", all, v[QN_FIT_B], v[QN_FIT_Q], v[QN_FIT_R], err));
out:
    return st;
}

/* delta is the step after projection. */
static qn_status trial_graph(qn_fit_device_driver *d, qn_graph *g, qn_err *err)
{
    qn_buf **v = d->vectors, **s = d->small;
    qn_status st = QN_OK;

    QN_TRY(STAGE(fit_lm_trial)(g, "fit.trial", qn_range_1d(d->problem->n_scalars),
                               s[QN_FIT_CONTROL], v[QN_FIT_X], v[QN_FIT_ACTIVE], v[QN_FIT_Y],
                               v[QN_FIT_LOWER], v[QN_FIT_UPPER], v[QN_FIT_TRIAL], v[QN_FIT_DELTA],
                               err));
    QN_TRY(qn_fit_driver_jv(d, g, v[QN_FIT_DELTA], v[QN_FIT_ROWS], err));
    QN_TRY(row_dots(d, g, err));
    QN_TRY(dots_of(d, g, v, d->problem->n_scalars, QN_FIT_DELTA, QN_FIT_DELTA, QN_FIT_DELTA,
                   QN_FIT_DELTA, err));
    QN_TRY(join(d, g, d->problem->n_scalars, err));
    QN_TRY(qn_fit_stage_cost(d->device, g, v[QN_FIT_TRIAL], v[QN_FIT_COST_THERE], err));
    QN_TRY(STAGE(fit_lm_judge)(g, "fit.judge", qn_range_1d(1), s[QN_FIT_ROW_JOINED],
                               s[QN_FIT_JOINED], v[QN_FIT_COST_THERE], s[QN_FIT_SCALARS], err));
out:
    return st;
}

/* Evaluates the trial point into the buffers of the second point. */
static qn_status ahead_graph(qn_fit_device_driver *d, qn_graph *g, qn_err *err)
{
    qn_status st;

    if (!d->speculation)
        return QN_OK;
    qn_fit_speculation_visit(d);
    st = point_graph(d, g, err);
    qn_fit_speculation_visit(d);
    return st;
}

static qn_status fill(qn_fit_device_driver *d, int k, qn_graph *g, qn_err *err)
{
    const qn_range all = qn_range_1d(d->problem->n_scalars);
    qn_buf **v = d->vectors;
    qn_status st = QN_OK;

    switch (k) {
    case QN_FIT_G_POINT:
        return point_graph(d, g, err);
    case QN_FIT_G_SCALE:
        return all_sets(d, g, SCALE, err);
    case QN_FIT_G_SYSTEM:
        return system_graph(d, g, err);
    case QN_FIT_G_CG:
        if (d->reduced)
            return qn_fit_reduced_iterate(d, g, err);
        for (int i = 0; st == QN_OK && i < QN_FIT_CG_AT_ONCE; i++)
            st = one_iteration(d, g, err);
        return st;
    case QN_FIT_G_RESET:
        return d->reduced ? qn_fit_reduced_reset(d, g, err) : reset_graph(d, g, err);
    case QN_FIT_G_SUBSTITUTE:
        return d->schur ? qn_fit_schur_substitute(d, g, err) : QN_OK;
    case QN_FIT_G_TRIAL:
        return trial_graph(d, g, err);
    case QN_FIT_G_AHEAD:
        return ahead_graph(d, g, err);
    case QN_FIT_G_FILL:
        return qn_fit_speculation_fill(d, g, err);
    case QN_FIT_G_SWAP:
        st = STAGE(fit_swap)(g, "fit.swap", all, v[QN_FIT_X], v[QN_FIT_TRIAL], err);
        return st;
    case QN_FIT_G_KEEP:
        return STAGE(fit_copy)(g, "fit.keep", all, v[QN_FIT_X], v[QN_FIT_BEST], err);
    default:
        return STAGE(fit_copy)(g, "fit.back", all, v[QN_FIT_BEST], v[QN_FIT_X], err);
    }
}

/* Records the graphs that do not exist yet. */
static qn_status make_graphs(qn_fit_device_driver *driver, qn_err *err)
{
    static const char *const names[] = { "fit.point", "fit.scale",      "fit.system", "fit.cg",
                                         "fit.reset", "fit.substitute", "fit.trial",  "fit.ahead",
                                         "fit.fill",  "fit.swap",       "fit.keep",   "fit.back" };
    qn_status st = QN_OK;

    for (int k = 0; k < QN_FIT_N_GRAPHS; k++) {
        if (driver->graphs[k])
            continue;
        QN_TRY(qn_graph_new(driver->ctx, names[k], &driver->graphs[k], err));
        QN_TRY(fill(driver, k, driver->graphs[k], err));
    }
out:
    return st;
}

qn_status qn_fit_driver_graphs(qn_fit_device_driver *driver, qn_err *err)
{
    qn_status st = make_graphs(driver, err);

    if (st != QN_OK || !driver->speculation)
        return st;
    qn_fit_speculation_swap(driver);
    st = make_graphs(driver, err);
    qn_fit_speculation_swap(driver);
    return st;
}

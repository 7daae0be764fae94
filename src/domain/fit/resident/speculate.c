/* speculate.c - a second point, evaluated before the step to it is judged. */

#include "domain/fit/resident/resident_impl.h"
#include "kernel/fit_solve.gen.h"

/* Vectors that belong to a point. */
static const int of_point[QN_FIT_N_OF_POINT] = { QN_FIT_GRADIENT, QN_FIT_BLOCKS, QN_FIT_RESIDUALS };

/* The Jacobian that the driver stores, or NULL. */
static qn_buf *jacobian_of(const qn_fit_device_driver *d)
{
    return d->schur ? d->schur->jacobian : d->jacobian;
}

/* A buffer of the same size. */
static qn_status twin(qn_fit_device_driver *d, const qn_buf *of, qn_buf **out, qn_err *err)
{
    return qn_fit_device_bytes(d->device, qn_buf_name(of), qn_buf_bytes(of), out, err);
}

static qn_status twin_packed(qn_fit_device_driver *d, qn_err *err)
{
    qn_fit_speculation *speculation = d->speculation;
    qn_status st = QN_OK;

    if (!(speculation->packed =
              qn_arena_zeros(&d->memory, (size_t)d->problem->n_sets, sizeof *speculation->packed)))
        return qn_fail(err, QN_ERR_NOMEM, "%d parameter sets", d->problem->n_sets);
    for (int k = 0; k < d->problem->n_sets; k++)
        QN_TRY(twin(d, d->schur->sets[k].packed, &speculation->packed[k], err));
out:
    return st;
}

qn_status qn_fit_speculation_new(qn_fit_device_driver *d, qn_err *err)
{
    const size_t size = d->precision == QN_FIT_F64 ? sizeof(double) : sizeof(float);
    qn_status st = QN_OK;

    if (!(d->speculation = qn_arena_zeros(&d->memory, 1, sizeof *d->speculation)))
        return qn_fail(err, QN_ERR_NOMEM, "a second point");
    for (int k = 0; k < QN_FIT_N_OF_POINT; k++)
        QN_TRY(twin(d, d->vectors[of_point[k]], &d->speculation->vectors[k], err));
    QN_TRY(qn_fit_device_own(d->device,
                             qn_buf_view(d->speculation->vectors[0],
                                         qn_buf_name(d->speculation->vectors[0]),
                                         d->schur ? (size_t)d->schur->first * size : 0,
                                         (size_t)d->n_cg * size, &d->speculation->gradient, err),
                             &d->speculation->gradient, err));
    if (jacobian_of(d))
        QN_TRY(twin(d, jacobian_of(d), &d->speculation->jacobian, err));
    if (d->schur)
        QN_TRY(twin_packed(d, err));
out:
    return st;
}

static qn_status copy(qn_fit_device_driver *d, qn_graph *g, qn_buf *from, qn_buf *to, qn_err *err)
{
    const size_t size = d->precision == QN_FIT_F64 ? sizeof(double) : sizeof(float);

    return STAGE(fit_copy)(g, "fit.fill", qn_range_1d((qn_i64)(qn_buf_bytes(from) / size)), from,
                           to, err);
}

qn_status qn_fit_speculation_fill(qn_fit_device_driver *d, qn_graph *graph, qn_err *err)
{
    qn_fit_speculation *speculation = d->speculation;
    qn_status st = QN_OK;

    if (!speculation)
        return QN_OK;
    for (int k = 0; st == QN_OK && k < QN_FIT_N_OF_POINT; k++)
        st = copy(d, graph, d->vectors[of_point[k]], speculation->vectors[k], err);
    if (st == QN_OK && speculation->jacobian)
        st = copy(d, graph, jacobian_of(d), speculation->jacobian, err);
    for (int k = 0; st == QN_OK && d->schur && k < d->problem->n_sets; k++)
        st = copy(d, graph, d->schur->sets[k].packed, speculation->packed[k], err);
    return st;
}

size_t qn_fit_speculation_bytes(const qn_fit_device_driver *d)
{
    size_t bytes = 0;

    for (int k = 0; k < QN_FIT_N_OF_POINT; k++)
        bytes += qn_buf_bytes(d->vectors[of_point[k]]);
    if (jacobian_of(d))
        bytes += qn_buf_bytes(jacobian_of(d));
    for (int k = 0; d->schur && k < d->problem->n_sets; k++)
        bytes += qn_buf_bytes(d->schur->sets[k].packed);
    return bytes;
}

static void swap(qn_buf **a, qn_buf **b)
{
    qn_buf *const before = *a;

    *a = *b;
    *b = before;
}

/* Whether graph `k` reads data of a point, and therefore exists twice. */
static int speculation_has(const qn_fit_device_driver *driver, int k)
{
    switch (k) {
    case QN_FIT_G_POINT:
    case QN_FIT_G_SYSTEM:
    case QN_FIT_G_SUBSTITUTE:
    case QN_FIT_G_TRIAL:
    case QN_FIT_G_AHEAD:
        return 1;
    case QN_FIT_G_CG: /* a stored matrix is made from J, once per step */
    case QN_FIT_G_RESET:
        return jacobian_of(driver) && !driver->reduced;
    default:
        return 0;
    }
}

void qn_fit_speculation_swap(qn_fit_device_driver *d)
{
    qn_fit_speculation *speculation = d->speculation;
    const qn_fit_known here = d->here;

    for (int k = 0; k < QN_FIT_N_OF_POINT; k++)
        swap(&d->vectors[of_point[k]], &speculation->vectors[k]);
    swap(&d->cg[QN_FIT_GRADIENT], &speculation->gradient);
    if (speculation->jacobian)
        swap(d->schur ? &d->schur->jacobian : &d->jacobian, &speculation->jacobian);
    for (int k = 0; d->schur && k < d->problem->n_sets; k++)
        swap(&d->schur->sets[k].packed, &speculation->packed[k]);
    for (int k = 0; k < QN_FIT_N_GRAPHS; k++) {
        qn_graph *const before = d->graphs[k];

        if (!speculation_has(d, k))
            continue;
        d->graphs[k] = speculation->graphs[k];
        speculation->graphs[k] = before;
    }
    d->here = d->there;
    d->there = here;
}

void qn_fit_speculation_visit(qn_fit_device_driver *driver)
{
    qn_fit_speculation_swap(driver);
    swap(&driver->vectors[QN_FIT_X], &driver->vectors[QN_FIT_TRIAL]);
    swap(&driver->cg[QN_FIT_X], &driver->cg[QN_FIT_TRIAL]);
}

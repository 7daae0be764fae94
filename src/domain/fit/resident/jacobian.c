/* jacobian.c - whether the resident solver stores J or computes it.
 *
 * With elimination J is always stored, for J' and for blocks of J'J; J v is computed unless the
 * program asks to read it, which is slower for observations of cameras. Without elimination,
 * conjugate gradients read J or compute it, as the program asks or as estimated.
 */
#include "domain/fit/resident/resident_impl.h"

#include <stdio.h>

qn_status qn_fit_driver_jacobian(qn_fit_device_driver *driver, qn_err *err)
{
    qn_fit_device_driver *d = driver;
    int is_stored = d->opt.jacobian == QN_FIT_JACOBIAN_STORED || d->opt.storage == QN_FIT_F32;
    qn_status st = QN_OK;

    if (d->schur)
        return QN_OK;
    if (d->opt.storage == QN_FIT_F32)
        qn_fit_device_set_storage(d->device, QN_FIT_F32);
    if (!is_stored && d->opt.jacobian == QN_FIT_JACOBIAN_AUTO)
        QN_TRY(qn_fit_device_choose_stored(d->device, &is_stored, err));
    if (is_stored)
        QN_TRY(qn_fit_device_jacobian(d->device, "fit.jacobian", &d->jacobian, err));
out:
    return st;
}

/* The buffer that products read; NULL: they compute J. */
static qn_buf *kept(const qn_fit_device_driver *d)
{
    if (d->schur)
        return d->opt.jacobian == QN_FIT_JACOBIAN_STORED ? d->schur->jacobian : NULL;
    return d->jacobian;
}

static int is_rounded(const qn_fit_device_driver *d)
{
    return d->precision == QN_FIT_F64 && d->opt.storage == QN_FIT_F32;
}

/* Near the end of a solve the predicted decrease is a small difference: a rounded J would swamp it,
 * and good steps would be rejected. */
qn_status qn_fit_driver_jv(qn_fit_device_driver *driver, qn_graph *graph, qn_buf *v, qn_buf *rows,
                           qn_err *err)
{
    qn_fit_device_driver *d = driver;

    if (kept(d) && !is_rounded(d))
        return qn_fit_stage_stored_jv(d->device, graph, kept(d), v, rows, err);
    return qn_fit_stage_jv(d->device, graph, d->vectors[QN_FIT_X], v, rows, err);
}

qn_status qn_fit_driver_jtjv(qn_fit_device_driver *driver, qn_graph *graph, qn_buf *v, qn_buf *out,
                             qn_err *err)
{
    qn_fit_device_driver *d = driver;

    if (d->jacobian)
        return qn_fit_stage_stored_jtjv(d->device, graph, d->jacobian, v, out, err);
    return qn_fit_stage_jtjv(d->device, graph, d->vectors[QN_FIT_X], v, out, err);
}

void qn_fit_driver_report_jacobian(const qn_fit_device_driver *driver, qn_fit_report *report)
{
    const qn_fit_device_driver *d = driver;
    const int is_f32 = d->precision == QN_FIT_F32 || is_rounded(d);

    snprintf(report->jacobian, sizeof report->jacobian, "%s",
             kept(d)    ? "stored"
             : d->schur ? "mixed"
                        : "free");
    if (!kept(d) && !d->schur)
        return;
    snprintf(report->storage, sizeof report->storage, "%s", is_f32 ? "f32" : "f64");
    report->jacobian_bytes = qn_fit_device_jacobian_bytes(d->device);
}

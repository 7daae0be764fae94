/* grad.c - compares derivatives with differences, and a device's gradient with the CPU's.
 *
 * Differences are central and of fourth order. Their own error, from rounding of the cost and from
 * kinks, sets the limit: a wrong derivative is usually off by much more.
 */
#include "lab/fit/check/check_impl.h"

#include "domain/fit/model/model.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    qn_fit_model *model;
    double *x, *gradient, *other;
    qn_owned owned; /* these arrays */
} fixture;

static qn_status open_fixture(fixture *r, const qn_fit_problem *p, qn_err *err)
{
    const size_t bytes = p->n_scalars * sizeof *r->x;
    qn_status st = QN_OK;

    QN_TRY(qn_owned_memory(&r->owned, bytes, &r->x, err));
    QN_TRY(qn_owned_memory(&r->owned, bytes, &r->gradient, err));
    QN_TRY(qn_owned_memory(&r->owned, bytes, &r->other, err));
    memcpy(r->x, p->x, bytes);
    QN_TRY(qn_fit_model_new(p, QN_FIT_MODEL_GRADIENT, 0, &r->model, err));
out:
    return st;
}

/* A step that is small for this parameter but far above its rounding. */
static double step_of(const fixture *r, uint32_t k, double typical)
{
    return 2e-4 * (fabs(r->x[k]) > 0 ? fabs(r->x[k]) : typical > 0 ? typical : 1);
}

static double difference(fixture *r, uint32_t k, double h)
{
    static const double at[] = { -2, -1, 1, 2 }, weight[] = { 1, -8, 8, -1 };
    const double x = r->x[k];
    double sum = 0;

    for (int i = 0; i < 4; i++) {
        r->x[k] = x + at[i] * h;
        sum += weight[i] * qn_fit_model_cost(r->model, r->x);
    }
    r->x[k] = x;
    return sum / (12 * h);
}

static double largest(const double *list, uint32_t n)
{
    double most = 0;

    for (uint32_t k = 0; k < n; k++)
        most = fmax(most, fabs(list[k]));
    return most;
}

static void compare_differences(fixture *r, const qn_fit_problem *p, int most, double cost,
                                qn_fit_grad *out)
{
    const double size = largest(r->gradient, p->n_scalars), typical = largest(p->x, p->n_scalars);
    const uint32_t stride = p->n_scalars > (uint32_t)most ? p->n_scalars / (uint32_t)most : 1;
    double worst = 0;

    out->difference_limit = 1;
    for (uint32_t k = 0; k < p->n_scalars; k += stride) {
        const double h = step_of(r, k, typical);
        const double noise = 100 * DBL_EPSILON * fabs(cost) / h;
        double d, off;

        if (p->is_fixed[k])
            continue;
        d = difference(r, k, h);
        off = fabs(d - r->gradient[k]) / (1e-6 * fmax(fabs(r->gradient[k]), 1e-3 * size) + noise);
        out->n_differences++;
        if (off <= worst)
            continue;
        worst = isnan(off) ? INFINITY : off;
        out->worst_scalar = k;
        out->derivative = r->gradient[k];
        out->by_difference = d;
    }
    out->worst_difference = worst;
}

qn_status qn_fit_check_grad(qn_ctx *ctx, const qn_fit_problem *problem, int most, qn_fit_grad *out,
                            qn_err *err)
{
    const qn_fit_problem *p = problem;
    const int device = qn_fit_device_of(ctx);
    fixture r = { 0 };
    double cost, device_cost;
    qn_status st = QN_OK;

    *out = (qn_fit_grad){ .device_limit = 1e-10 };
    QN_TRY(open_fixture(&r, p, err));
    cost = qn_fit_model_gradient(r.model, r.x, r.gradient);
    if (!isfinite(cost)) {
        char what[200];

        qn_fit_model_describe(r.model, what, sizeof what);
        QN_FAIL(err, QN_ERR_INPUT, "at the start %s", what);
    }
    compare_differences(&r, p, most, cost, out);
    if (device != 0 && !p->n_sums) {
        snprintf(out->device, sizeof out->device, "%s", qn_device_id(ctx, device));
        QN_TRY(qn_fit_evaluate(ctx, p, p->x, &device_cost, r.other, err));
        const double size = fmax(1, largest(r.gradient, p->n_scalars));

        for (uint32_t k = 0; k < p->n_scalars; k++) {
            const double off = fabs(r.other[k] - r.gradient[k]) / size;

            out->worst_device = isnan(off) ? INFINITY : fmax(out->worst_device, off);
        }
    }
out:
    qn_fit_model_free(r.model);
    qn_owned_free(&r.owned, 0);
    return st;
}

/* covariance.c - sigma^2 (J'J)^-1 from the triangle of J, which preserves the digits that J'J
 * loses. */
#include "domain/fit/solve/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "domain/fit/linear/linear.h"
#include "domain/fit/linear/dense.h"

void qn_fit_covariance_free(qn_fit_covariance *covariance)
{
    free(covariance->deviation);
    free(covariance->matrix);
    *covariance = (qn_fit_covariance){ 0 };
}

/* Scales the columns of R to length 1 and stores their lengths in `scale`. A column of zeros has
 * length 0. */
static void scale_columns(int n, double *r, double *scale)
{
    for (int c = 0; c < n; c++) {
        double square = 0;

        for (int i = 0; i <= c; i++)
            square += r[(size_t)c * n + i] * r[(size_t)c * n + i];
        scale[c] = sqrt(square);
        for (int i = 0; i <= c && scale[c] > 0; i++)
            r[(size_t)c * n + i] /= scale[c];
    }
}

/* W = R^-1, upper triangles by columns: R w = e_c, from below. */
static void invert(int n, const double *r, double *w)
{
    for (int c = 0; c < n; c++) {
        double *column = w + (size_t)c * n;

        memset(column, 0, (size_t)n * sizeof *column);
        column[c] = 1 / r[(size_t)c * n + c];
        for (int i = c - 1; i >= 0; i--) {
            double sum = 0;

            for (int k = i + 1; k <= c; k++)
                sum += r[(size_t)k * n + i] * column[k];
            column[i] = -sum / r[(size_t)i * n + i];
        }
    }
}

/* (J'J)^-1 = S^-1 W W' S^-1 */
static void multiply(int n, const double *w, const double *scale, double sigma, double *out)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;

            for (int k = i; k < n; k++)
                sum += w[(size_t)k * n + i] * w[(size_t)k * n + j];
            out[(size_t)i * n + j] = out[(size_t)j * n + i] =
                sigma * sigma * sum / (scale[i] * scale[j]);
        }
}

static qn_status check(const qn_fit_problem *p, qn_err *err)
{
    const qn_i64 rows = qn_fit_problem_n_rows(p);

    if (p->n_free > QN_FIT_MAX_COVARIANCE)
        return qn_fail(err, QN_ERR_LIMIT, "covariance: %u free parameters, limit %d", p->n_free,
                       QN_FIT_MAX_COVARIANCE);
    if (rows <= (qn_i64)p->n_free)
        return qn_fail(err, QN_ERR_UNSUPPORTED,
                       "covariance: %lld rows do not say how well %u parameters are known",
                       (long long)rows, p->n_free);
    return QN_OK;
}

typedef struct scratch {
    double *r, *a, *w, *scale, *b, *y, *norms, *gradient;
    int *pivot;
} scratch;

static qn_status make_scratch(const qn_fit_problem *p, scratch *s, qn_fit_covariance *out,
                              qn_err *err)
{
    const size_t n = p->n_free;

    s->r = calloc(n * n + 1, sizeof *s->r);
    s->a = calloc(n * n + 1, sizeof *s->a);
    s->w = calloc(n * n + 1, sizeof *s->w);
    s->scale = calloc(4 * (n + 1), sizeof *s->scale);
    s->pivot = calloc(n + 1, sizeof *s->pivot);
    s->gradient = calloc((size_t)p->n_scalars + 1, sizeof *s->gradient);
    out->deviation = calloc((size_t)p->n_scalars + 1, sizeof *out->deviation);
    out->matrix = calloc(n * n + 1, sizeof *out->matrix);
    if (!s->r || !s->a || !s->w || !s->scale || !s->pivot || !s->gradient || !out->deviation ||
        !out->matrix)
        return qn_fail(err, QN_ERR_NOMEM, "covariance of %zu parameters", n);
    s->b = s->scale + (n + 1);
    s->y = s->b + (n + 1);
    s->norms = s->y + (n + 1);
    return QN_OK;
}

static void free_scratch(scratch *s)
{
    free(s->r);
    free(s->a);
    free(s->w);
    free(s->scale);
    free(s->pivot);
    free(s->gradient);
}

qn_status qn_fit_covariance_new(const qn_fit_problem *problem, qn_fit_covariance *out, qn_err *err)
{
    const int n = (int)problem->n_free;
    qn_fit_covariance c = { .n = n };
    qn_fit_model *model = NULL;
    void *qr = NULL;
    scratch s = { 0 };
    qn_status st = QN_OK;
    double cost;

    QN_TRY(check(problem, err));
    QN_TRY(make_scratch(problem, &s, &c, err));
    QN_TRY(qn_fit_model_new(problem, QN_FIT_MODEL_JACOBIAN, 0, &model, err));
    QN_TRY(qn_fit_class_dense_qr.open(model, &(qn_fit_linear_options){ 0 }, &qr, err));
    cost = qn_fit_model_linearise(model, problem->x, s.gradient);
    if (!isfinite(cost)) {
        st = qn_fail(err, QN_ERR_FAILED, "covariance: the cost is %g", cost);
        goto out;
    }
    qn_fit_class_dense_qr.renew(qr);
    qn_fit_dense_qr_triangle(qr, s.r);
    scale_columns(n, s.r, s.scale);
    memcpy(s.a, s.r, (size_t)n * n * sizeof *s.a);
    c.rank = n ? qn_fit_qr_solve(n, n, s.a, n, s.b, s.y, s.pivot, s.norms) : 0;
    c.sigma = sqrt(2 * cost / (double)(qn_fit_problem_n_rows(problem) - n));
    if (c.rank == n) {
        invert(n, s.r, s.w);
        multiply(n, s.w, s.scale, c.sigma, c.matrix);
    }
    for (uint32_t k = 0; c.rank == n && k < problem->n_scalars; k++)
        if (problem->column[k] != QN_FIT_NO_COLUMN)
            c.deviation[k] = sqrt(c.matrix[(size_t)problem->column[k] * ((size_t)n + 1)]);
    *out = c;
    c = (qn_fit_covariance){ 0 };
out:
    qn_fit_class_dense_qr.close(qr);
    qn_fit_model_free(model);
    free_scratch(&s);
    qn_fit_covariance_free(&c);
    return st;
}

/* covariance.c - sigma^2 (J'J)^-1 from the triangle of J, which preserves the digits that J'J
 * loses. */
#include "domain/fit/solve/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

qn_status qn_fit_covariance_new(const qn_fit_problem *problem, qn_fit_covariance *out, qn_err *err)
{
    const size_t n = problem->n_free;
    qn_fit_covariance c = { .n = (int)n };
    qn_fit_model *model = NULL;
    qn_arena memory = { 0 };
    void *qr = NULL;
    double *r, *a, *w, *scale, *b, *y, *norms, *gradient, cost;
    int *pivot;
    qn_status st = QN_OK;

    QN_TRY(check(problem, err));
    r = qn_arena_zeros(&memory, n * n, sizeof *r);
    a = qn_arena_zeros(&memory, n * n, sizeof *a);
    w = qn_arena_zeros(&memory, n * n, sizeof *w);
    scale = qn_arena_zeros(&memory, n, sizeof *scale);
    b = qn_arena_zeros(&memory, n, sizeof *b);
    y = qn_arena_zeros(&memory, n, sizeof *y);
    norms = qn_arena_zeros(&memory, n, sizeof *norms);
    pivot = qn_arena_zeros(&memory, n, sizeof *pivot);
    gradient = qn_arena_zeros(&memory, problem->n_scalars, sizeof *gradient);
    c.deviation = calloc((size_t)problem->n_scalars + 1, sizeof *c.deviation);
    c.matrix = calloc(n * n + 1, sizeof *c.matrix);
    if (memory.failed || !c.deviation || !c.matrix)
        QN_FAIL(err, QN_ERR_NOMEM, "covariance of %zu parameters", n);
    QN_TRY(qn_fit_model_new(problem, QN_FIT_MODEL_JACOBIAN, 0, &model, err));
    QN_TRY(qn_fit_class_open(&qn_fit_class_dense_qr, model, &(qn_fit_linear_options){ 0 }, &memory,
                             &qr, err));
    cost = qn_fit_model_linearise(model, problem->x, gradient);
    if (!isfinite(cost))
        QN_FAIL(err, QN_ERR_FAILED, "covariance: the cost is %g", cost);
    qn_fit_class_dense_qr.renew(qr);
    qn_fit_dense_qr_triangle(qr, r);
    scale_columns(c.n, r, scale);
    memcpy(a, r, n * n * sizeof *a);
    c.rank = n ? qn_fit_qr_solve(c.n, c.n, a, c.n, b, y, pivot, norms) : 0;
    c.sigma = sqrt(2 * cost / (double)(qn_fit_problem_n_rows(problem) - c.n));
    if (c.rank == c.n) {
        invert(c.n, r, w);
        multiply(c.n, w, scale, c.sigma, c.matrix);
    }
    for (size_t k = 0; c.rank == c.n && k < n; k++)
        c.deviation[problem->scalar[k]] = sqrt(c.matrix[k * (n + 1)]);
    *out = c;
    c = (qn_fit_covariance){ 0 };
out:
    qn_fit_model_free(model);
    qn_arena_clear(&memory);
    qn_fit_covariance_free(&c);
    return st;
}

/* cg.c - preconditioned conjugate gradients. */
#include "domain/fit/linear/linear_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RESET = 50 }; /* iterations between residuals computed from scratch */

qn_status qn_fit_cg_open(uint32_t n, qn_fit_cg *out, qn_err *err)
{
    double *all = calloc(4 * ((size_t)n + 8), sizeof *all);

    if (!all)
        return qn_fail(err, QN_ERR_NOMEM, "conjugate gradients of %u parameters", n);
    out->n = n;
    out->r = all;
    out->z = all + (n + 8);
    out->p = all + 2 * ((size_t)n + 8);
    out->q = all + 3 * ((size_t)n + 8);
    return QN_OK;
}

void qn_fit_cg_close(qn_fit_cg *cg)
{
    free(cg->r);
    *cg = (qn_fit_cg){ 0 };
}

static void residual(qn_fit_cg *cg, const double *b, const double *y)
{
    cg->apply(cg->self, y, cg->q);
    for (uint32_t k = 0; k < cg->n; k++)
        cg->r[k] = b[k] - cg->q[k];
}

static double model(const qn_fit_cg *cg, const double *b, const double *y)
{
    return -0.5 * (qn_fit_inner(y, b, cg->n) + qn_fit_inner(y, cg->r, cg->n));
}

qn_fit_outcome qn_fit_cg_solve(qn_fit_cg *cg, const qn_fit_linear_options *options, const double *b,
                               double *y)
{
    const double eta = options->eta > 0 ? options->eta : 0.1;
    const double small = options->tolerance > 0 ? options->tolerance : 1e-12;
    const int most = options->max_iterations > 0 ? options->max_iterations : 500;
    const double goal = small * sqrt(qn_fit_inner(b, b, cg->n));
    qn_fit_outcome o = { .is_solved = 1, .rank = -1 };
    double rho = 0, last = 0;

    memset(y, 0, cg->n * sizeof *y);
    memcpy(cg->r, b, cg->n * sizeof *b);
    while (o.iterations < most && !(sqrt(qn_fit_inner(cg->r, cg->r, cg->n)) <= goal)) {
        const double before = rho;
        double alpha, curvature, now;

        cg->precondition(cg->self, cg->r, cg->z);
        rho = qn_fit_inner(cg->r, cg->z, cg->n);
        for (uint32_t k = 0; k < cg->n; k++)
            cg->p[k] = cg->z[k] + (o.iterations ? rho / before * cg->p[k] : 0);
        cg->apply(cg->self, cg->p, cg->q);
        curvature = qn_fit_inner(cg->p, cg->q, cg->n);
        /* Rounding made A indefinite; the solution so far is still a descent direction. */
        if (!(curvature > 0) || !isfinite(rho)) {
            o.is_solved = o.iterations > 0 && isfinite(rho);
            break;
        }
        alpha = rho / curvature;
        for (uint32_t k = 0; k < cg->n; k++) {
            y[k] += alpha * cg->p[k];
            cg->r[k] -= alpha * cg->q[k];
        }
        if (++o.iterations % RESET == 0)
            residual(cg, b, y);
        now = model(cg, b, y);
        if (o.iterations * (now - last) / now < eta)
            break;
        last = now;
    }
    return o;
}

/* lbfgs_host.c - vectors of L-BFGS in host memory, the direction by two loops over the pairs. */
#include "domain/fit/solve/gradient_solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HISTORY = 64 };

struct qn_fit_lbfgs_host {
    qn_fit_objective of;
    uint32_t n;
    int history;
    double *x, *gradient;
    double *trial, *trial_gradient, *direction;
    double *s, *y; /* [history][n] */
    double rho[MAX_HISTORY], alpha[MAX_HISTORY];
    int n_pairs, newest; /* a ring */
};

qn_status qn_fit_lbfgs_host_new(const qn_fit_objective *objective,
                                const qn_fit_solve_options *options, double *x,
                                qn_fit_lbfgs_host **out, qn_err *err)
{
    const size_t n = objective->n, stride = n + 8;
    qn_fit_lbfgs_host *h = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_solve_options_check(options, err));
    if (objective->lower) {
        st = qn_fail(err, QN_ERR_UNSUPPORTED, "lbfgs takes no bounds; use lm, sgd or adam");
        goto out;
    }
    if (!(h = calloc(1, sizeof *h)) ||
        !(h->gradient = calloc((4 + 2 * (size_t)options->history) * stride, sizeof *h->gradient))) {
        st = qn_fail(err, QN_ERR_NOMEM, "lbfgs of %zu parameters, history %d", n, options->history);
        goto out;
    }
    h->of = *objective;
    h->n = objective->n;
    h->history = options->history;
    h->x = x;
    h->trial = h->gradient + stride;
    h->trial_gradient = h->trial + stride;
    h->direction = h->trial_gradient + stride;
    h->s = h->direction + stride;
    h->y = h->s + (size_t)options->history * stride;
    *out = h;
    h = NULL;
out:
    qn_fit_lbfgs_host_free(h);
    return st;
}

void qn_fit_lbfgs_host_free(qn_fit_lbfgs_host *host)
{
    if (host)
        free(host->gradient);
    free(host);
}

static double *pair(double *all, const qn_fit_lbfgs_host *h, int age)
{
    const int at = (h->newest - age + h->history) % h->history;

    return all + (size_t)at * (h->n + 8);
}

static void find_direction(qn_fit_lbfgs_host *h)
{
    double *d = h->direction;
    double scale = 1;

    for (uint32_t k = 0; k < h->n; k++)
        d[k] = -h->gradient[k];
    for (int age = 0; age < h->n_pairs; age++) {
        const double *s = pair(h->s, h, age), *y = pair(h->y, h, age);

        h->rho[age] = 1 / qn_fit_inner(s, y, h->n);
        h->alpha[age] = h->rho[age] * qn_fit_inner(s, d, h->n);
        for (uint32_t k = 0; k < h->n; k++)
            d[k] -= h->alpha[age] * y[k];
        if (age == 0)
            scale = 1 / (h->rho[0] * qn_fit_inner(y, y, h->n));
    }
    for (uint32_t k = 0; k < h->n; k++)
        d[k] *= scale;
    for (int age = h->n_pairs - 1; age >= 0; age--) {
        const double *s = pair(h->s, h, age), *y = pair(h->y, h, age);
        const double beta = h->rho[age] * qn_fit_inner(y, d, h->n);

        for (uint32_t k = 0; k < h->n; k++)
            d[k] += (h->alpha[age] - beta) * s[k];
    }
}

/* The table. */

static double largest(const double *v, uint32_t n)
{
    double most = 0;

    for (uint32_t k = 0; k < n; k++)
        most = fabs(v[k]) <= most ? most : fabs(v[k]);
    return most;
}

static void try_step(void *self, double share, qn_fit_lbfgs_scalars *out)
{
    qn_fit_lbfgs_host *h = self;

    for (uint32_t k = 0; k < h->n; k++)
        h->trial[k] = h->x[k] + share * h->direction[k];
    out->cost = h->of.evaluate(h->of.self, h->trial, h->trial_gradient);
    out->slope = qn_fit_inner(h->trial_gradient, h->direction, h->n);
    out->gradient_max = largest(h->trial_gradient, h->n);
}

static void accept(void *self)
{
    qn_fit_lbfgs_host *h = self;
    double *s, *y;

    h->newest = (h->newest + 1) % h->history;
    s = pair(h->s, h, 0);
    y = pair(h->y, h, 0);
    for (uint32_t k = 0; k < h->n; k++) {
        s[k] = h->trial[k] - h->x[k];
        y[k] = h->trial_gradient[k] - h->gradient[k];
    }
    if (qn_fit_inner(s, y, h->n) >
        QN_FIT_CURVED * sqrt(qn_fit_inner(s, s, h->n) * qn_fit_inner(y, y, h->n)))
        h->n_pairs += h->n_pairs < h->history;
    else { /* the pair that was stored there is lost in either case */
        h->newest = (h->newest + h->history - 1) % h->history;
        h->n_pairs -= h->n_pairs == h->history;
    }
    memcpy(h->x, h->trial, h->n * sizeof *h->x);
    memcpy(h->gradient, h->trial_gradient, h->n * sizeof *h->x);
}

static void set_direction(void *self, int is_forgetting, qn_fit_lbfgs_scalars *out)
{
    qn_fit_lbfgs_host *h = self;

    h->n_pairs = is_forgetting ? 0 : h->n_pairs;
    find_direction(h);
    out->slope = qn_fit_inner(h->gradient, h->direction, h->n);
    if (!(out->slope < 0) && h->n_pairs) {
        h->n_pairs = 0;
        find_direction(h);
        out->slope = qn_fit_inner(h->gradient, h->direction, h->n);
    }
    out->length = sqrt(qn_fit_inner(h->direction, h->direction, h->n));
    out->n_pairs = h->n_pairs;
}

static void describe(void *self, char *text, size_t size)
{
    const qn_fit_lbfgs_host *h = self;

    h->of.describe(h->of.self, text, size);
}

qn_fit_lbfgs_driver qn_fit_lbfgs_host_table(qn_fit_lbfgs_host *host)
{
    return (qn_fit_lbfgs_driver){ .try_step = try_step,
                                  .accept = accept,
                                  .set_direction = set_direction,
                                  .describe = describe,
                                  .self = host };
}

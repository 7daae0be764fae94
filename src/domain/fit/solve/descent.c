/* descent.c - first-order methods: plain descent, Adam, and Adam with decoupled weight decay. */
#include "domain/fit/solve/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct qn_fit_descent {
    qn_fit_solver base;
    qn_fit_objective of;
    qn_fit_first_order method;
    uint32_t n;
    double *x, *best, *gradient, *m, *v;
    double cost, best_cost;
};

qn_status qn_fit_descent_new(const qn_fit_objective *objective, qn_fit_first_order method,
                             const qn_fit_solve_options *options, double *x, qn_fit_report *report,
                             qn_fit_descent **out, qn_err *err)
{
    const size_t n = objective->n;
    qn_fit_descent *d = NULL;
    qn_status st = QN_OK;

    if (!(d = calloc(1, sizeof *d)) || !(d->gradient = calloc(4 * (n + 8), sizeof *d->gradient)))
        QN_FAIL(err, QN_ERR_NOMEM, "descent of %zu parameters", n);
    QN_TRY(qn_fit_solver_begin(&d->base, options, report, err));
    d->of = *objective;
    d->method = method;
    d->n = objective->n;
    d->x = x;
    d->m = d->gradient + (n + 8);
    d->v = d->m + (n + 8);
    d->best = d->v + (n + 8);
    *out = d;
    d = NULL;
out:
    qn_fit_descent_free(d);
    return st;
}

void qn_fit_descent_free(qn_fit_descent *solver)
{
    if (solver)
        free(solver->gradient);
    free(solver);
}

static void clip(qn_fit_descent *d)
{
    const double norm = sqrt(qn_fit_inner(d->gradient, d->gradient, d->n));

    for (uint32_t k = 0; d->base.opt.clip_norm > 0 && norm > d->base.opt.clip_norm && k < d->n; k++)
        d->gradient[k] *= d->base.opt.clip_norm / norm;
}

/* Moments are corrected for their start at 0. */
static void move(qn_fit_descent *d)
{
    const qn_fit_solve_options *o = &d->base.opt;
    const double c1 = 1 - pow(o->beta1, d->base.iteration + 1);
    const double c2 = 1 - pow(o->beta2, d->base.iteration + 1);

    clip(d);
    for (uint32_t k = 0; k < d->n; k++) {
        const double g = d->gradient[k];
        double step = g;

        if (d->method != QN_FIT_SGD) {
            d->m[k] = o->beta1 * d->m[k] + (1 - o->beta1) * g;
            d->v[k] = o->beta2 * d->v[k] + (1 - o->beta2) * g * g;
            step = d->m[k] / c1 / (sqrt(d->v[k] / c2) + o->epsilon);
        }
        if (d->method == QN_FIT_ADAMW && g != 0)
            step += o->weight_decay * d->x[k];
        d->x[k] -= o->learning_rate * step;
        if (d->of.lower && g != 0)
            d->x[k] = fmin(fmax(d->x[k], d->of.lower[k]), d->of.upper[k]);
    }
}

/* The largest entry of the gradient along moves that the bounds allow. */
static double projected_max(const qn_fit_descent *d)
{
    double most = 0;

    for (uint32_t k = 0; k < d->n; k++) {
        const double to = d->x[k] - d->gradient[k];
        const double move = d->of.lower && d->gradient[k] != 0
                                ? fabs(fmin(fmax(to, d->of.lower[k]), d->of.upper[k]) - d->x[k])
                                : fabs(d->gradient[k]);

        most = move <= most ? most : move;
    }
    return most;
}

static void note_cost(qn_fit_descent *d, double before)
{
    const double most = projected_max(d);
    const qn_fit_iteration r = { .cost = d->cost,
                                 .change = before - d->cost,
                                 .gradient_max = most,
                                 .seconds = qn_fit_solver_seconds(&d->base),
                                 .is_accepted = 1 };

    d->base.report->n_accepted = d->base.iteration;
    if (d->cost < d->best_cost || d->base.iteration == 0) {
        d->best_cost = d->cost;
        memcpy(d->best, d->x, d->n * sizeof *d->x);
    }
    qn_fit_solver_add(&d->base, &r);
    if (qn_fit_solver_is_flat(&d->base, most))
        return;
    if (d->base.iteration && fabs(before - d->cost) < d->base.opt.function_tolerance * fabs(before))
        qn_fit_solver_end(&d->base, QN_FIT_CONVERGED_COST, "the cost changed by %.3g",
                          fabs(before - d->cost));
    else if (!qn_fit_solver_is_last(&d->base, d->cost))
        qn_fit_solver_is_late(&d->base);
}

qn_fit_state qn_fit_descent_step(qn_fit_descent *d)
{
    const double before = d->cost;
    char where[160];

    if (d->base.is_ended)
        return QN_FIT_DONE;
    d->cost = d->of.evaluate(d->of.self, d->x, d->gradient);
    if (!d->base.iteration)
        d->base.report->initial_cost = d->best_cost = d->cost;
    if (!isfinite(d->cost) || !isfinite(projected_max(d))) {
        d->of.describe(d->of.self, where, sizeof where);
        qn_fit_solver_end(&d->base, QN_FIT_NON_FINITE, "%s %s",
                          d->base.iteration ? "after a step" : "at the start", where);
    } else
        note_cost(d, before);
    if (!d->base.is_ended) {
        move(d);
        d->base.iteration++;
        return QN_FIT_RUNNING;
    }
    /* The result is the best point visited: steps of fixed length may end next to it. */
    if (d->base.report->n_history)
        memcpy(d->x, d->best, d->n * sizeof *d->x);
    d->base.report->final_cost = d->best_cost;
    d->base.report->total_seconds = qn_fit_solver_seconds(&d->base);
    return QN_FIT_DONE;
}

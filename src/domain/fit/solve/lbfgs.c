/* lbfgs.c - L-BFGS with a strong Wolfe line search.
 *
 * A pair of step and change of gradient is kept only when its curvature is positive; else the
 * approximation would turn uphill. A failed search drops the history and tries the steepest way
 * once before giving up.
 */
#include "domain/fit/solve/gradient_solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HISTORY = 64 };
#define CURVED 1e-10

struct qn_fit_lbfgs {
    qn_fit_objective of;
    qn_fit_solve_options opt;
    qn_fit_report *report;
    uint32_t n;
    double *x, *gradient;
    double *trial, *trial_gradient, *direction;
    double *s, *y; /* [history][n] */
    double rho[MAX_HISTORY], alpha[MAX_HISTORY];
    int n_pairs, newest; /* a ring */
    double cost;
    qn_fit_search search;
    int is_started, is_ended, is_steepest, iteration;
    double start_seconds;
};

qn_status qn_fit_lbfgs_new(const qn_fit_objective *objective, const qn_fit_solve_options *options,
                           double *x, qn_fit_report *report, qn_fit_lbfgs **out, qn_err *err)
{
    const size_t n = objective->n;
    qn_fit_lbfgs *l = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_options_check(options, err));
    if (objective->lower) {
        st = qn_fail(err, QN_ERR_UNSUPPORTED, "lbfgs takes no bounds; use lm, sgd or adam");
        goto out;
    }
    if (!(l = calloc(1, sizeof *l)) ||
        !(l->gradient =
              calloc((4 + 2 * (size_t)options->history) * (n + 8), sizeof *l->gradient))) {
        st = qn_fail(err, QN_ERR_NOMEM, "lbfgs of %zu parameters, history %d", n, options->history);
        goto out;
    }
    l->of = *objective;
    l->opt = *options;
    l->report = report;
    l->n = objective->n;
    l->x = x;
    l->trial = l->gradient + (n + 8);
    l->trial_gradient = l->trial + (n + 8);
    l->direction = l->trial_gradient + (n + 8);
    l->s = l->direction + (n + 8);
    l->y = l->s + (size_t)options->history * (n + 8);
    l->start_seconds = options->now ? options->now(options->user) : 0;
    *out = l;
    l = NULL;
out:
    qn_fit_lbfgs_free(l);
    return st;
}

void qn_fit_lbfgs_free(qn_fit_lbfgs *solver)
{
    if (solver)
        free(solver->gradient);
    free(solver);
}

#define END(l, end, ...)                                                                           \
    do {                                                                                           \
        qn_fit_report_end((l)->report, end, __VA_ARGS__);                                          \
        (l)->is_ended = 1;                                                                         \
    } while (0)

static double largest(const double *v, uint32_t n)
{
    double most = 0;

    for (uint32_t k = 0; k < n; k++)
        most = fabs(v[k]) <= most ? most : fabs(v[k]);
    return most;
}

static double seconds(const qn_fit_lbfgs *l)
{
    return l->opt.now ? l->opt.now(l->opt.user) - l->start_seconds : 0;
}

/* ---- direction
 * ----------------------------------------------------------------------------------- */

static double *pair(double *all, const qn_fit_lbfgs *l, int age)
{
    const int at = (l->newest - age + l->opt.history) % l->opt.history;

    return all + (size_t)at * (l->n + 8);
}

/* direction = -H gradient, by two loops over the pairs. */
static void find_direction(qn_fit_lbfgs *l)
{
    double *d = l->direction;
    double scale = 1;

    for (uint32_t k = 0; k < l->n; k++)
        d[k] = -l->gradient[k];
    for (int age = 0; age < l->n_pairs; age++) {
        const double *s = pair(l->s, l, age), *y = pair(l->y, l, age);

        l->rho[age] = 1 / qn_fit_inner(s, y, l->n);
        l->alpha[age] = l->rho[age] * qn_fit_inner(s, d, l->n);
        for (uint32_t k = 0; k < l->n; k++)
            d[k] -= l->alpha[age] * y[k];
        if (age == 0)
            scale = 1 / (l->rho[0] * qn_fit_inner(y, y, l->n));
    }
    for (uint32_t k = 0; k < l->n; k++)
        d[k] *= scale;
    for (int age = l->n_pairs - 1; age >= 0; age--) {
        const double *s = pair(l->s, l, age), *y = pair(l->y, l, age);
        const double beta = l->rho[age] * qn_fit_inner(y, d, l->n);

        for (uint32_t k = 0; k < l->n; k++)
            d[k] += (l->alpha[age] - beta) * s[k];
    }
}

static void set_trial(qn_fit_lbfgs *l)
{
    for (uint32_t k = 0; k < l->n; k++)
        l->trial[k] = l->x[k] + l->search.trial * l->direction[k];
}

static void begin_search(qn_fit_lbfgs *l)
{
    double slope;

    find_direction(l);
    slope = qn_fit_inner(l->gradient, l->direction, l->n);
    if (!(slope < 0) && l->n_pairs) {
        l->n_pairs = 0;
        find_direction(l);
        slope = qn_fit_inner(l->gradient, l->direction, l->n);
    }
    l->is_steepest = !l->n_pairs;
    qn_fit_search_begin(&l->search, l->cost, slope, l->is_steepest ? 1 / sqrt(-slope) : 1);
    set_trial(l);
}

/* ---- steps
 * --------------------------------------------------------------------------------------- */

static void keep_pair(qn_fit_lbfgs *l)
{
    double *s, *y, sy;

    l->newest = (l->newest + 1) % l->opt.history;
    s = pair(l->s, l, 0);
    y = pair(l->y, l, 0);
    for (uint32_t k = 0; k < l->n; k++) {
        s[k] = l->trial[k] - l->x[k];
        y[k] = l->trial_gradient[k] - l->gradient[k];
    }
    sy = qn_fit_inner(s, y, l->n);
    if (sy > CURVED * sqrt(qn_fit_inner(s, s, l->n) * qn_fit_inner(y, y, l->n)))
        l->n_pairs += l->n_pairs < l->opt.history;
    else
        l->newest = (l->newest + l->opt.history - 1) % l->opt.history;
}

static void check_ends(qn_fit_lbfgs *l, double change)
{
    const double gradient_max = largest(l->gradient, l->n);

    l->report->gradient_max = gradient_max;
    if (gradient_max <= l->opt.gradient_tolerance)
        END(l, QN_FIT_CONVERGED_GRADIENT,
            "the largest entry of the gradient is %.3g, tolerance %.3g%s", gradient_max,
            l->opt.gradient_tolerance, l->report->n_free ? "" : "; no parameter is free");
    else if (l->iteration && change <= l->opt.function_tolerance * fabs(l->cost))
        END(l, QN_FIT_CONVERGED_COST, "the cost changed by %.3g, tolerance %.3g of itself", change,
            l->opt.function_tolerance);
    else if (l->iteration >= l->opt.max_iterations)
        END(l, QN_FIT_MAX_ITERATIONS, "%d iterations are the limit; the cost is %.10g",
            l->opt.max_iterations, l->cost);
    else if (seconds(l) > l->opt.max_seconds)
        END(l, QN_FIT_MAX_TIME, "%.3g s are over the limit of %.3g s", seconds(l),
            l->opt.max_seconds);
}

static void take_trial(qn_fit_lbfgs *l, double cost)
{
    const double change = l->cost - cost;
    qn_fit_record r = { .cost = cost,
                        .change = change,
                        .radius = l->search.trial,
                        .is_accepted = 1,
                        .linear_iterations = l->search.n_trials };

    keep_pair(l);
    r.step_norm = 0;
    for (uint32_t k = 0; k < l->n; k++)
        r.step_norm += (l->trial[k] - l->x[k]) * (l->trial[k] - l->x[k]);
    r.step_norm = sqrt(r.step_norm);
    memcpy(l->x, l->trial, l->n * sizeof *l->x);
    memcpy(l->gradient, l->trial_gradient, l->n * sizeof *l->x);
    l->cost = cost;
    l->iteration++;
    l->report->n_accepted++;
    r.gradient_max = largest(l->gradient, l->n);
    r.seconds = seconds(l);
    qn_fit_report_add(l->report, &r);
    if (l->opt.watch && l->opt.watch(l->opt.user, &r, l->iteration))
        END(l, QN_FIT_USER_STOP, "stopped by the caller after %d iterations", l->iteration);
    else
        check_ends(l, fabs(change));
    if (!l->is_ended)
        begin_search(l);
}

static void start(qn_fit_lbfgs *l)
{
    char where[160];

    l->cost = l->of.evaluate(l->of.self, l->x, l->gradient);
    l->report->initial_cost = l->cost;
    l->is_started = 1;
    if (!isfinite(l->cost) || !isfinite(largest(l->gradient, l->n))) {
        l->of.describe(l->of.self, where, sizeof where);
        END(l, QN_FIT_NON_FINITE, "at the start %s", where);
        return;
    }
    qn_fit_report_add(l->report, &(qn_fit_record){ .cost = l->cost,
                                                   .gradient_max = largest(l->gradient, l->n),
                                                   .is_accepted = 1 });
    check_ends(l, HUGE_VAL);
    if (!l->is_ended)
        begin_search(l);
}

static void search_once(qn_fit_lbfgs *l)
{
    const double cost = l->of.evaluate(l->of.self, l->trial, l->trial_gradient);
    const double slope = qn_fit_inner(l->trial_gradient, l->direction, l->n);
    const qn_fit_found found = qn_fit_search_see(&l->search, cost, slope);

    if (found == QN_FIT_SEARCH_FOUND)
        take_trial(l, cost);
    else if (found == QN_FIT_SEARCH_ON)
        set_trial(l);
    else if (isfinite(slope) && cost < l->cost)
        take_trial(l, cost); /* lower at least, if not flat */
    else if (!l->is_steepest) {
        l->n_pairs = 0;
        l->report->n_rejected++;
        begin_search(l);
    } else
        END(l, QN_FIT_STALLED_RADIUS, "no step along the gradient lowers the cost of %.10g",
            l->cost);
}

qn_fit_state qn_fit_lbfgs_step(qn_fit_lbfgs *solver)
{
    if (solver->is_ended)
        return QN_FIT_DONE;
    if (!solver->is_started)
        start(solver);
    else
        search_once(solver);
    solver->report->final_cost = solver->cost;
    solver->report->total_seconds = seconds(solver);
    return solver->is_ended ? QN_FIT_DONE : QN_FIT_RUNNING;
}

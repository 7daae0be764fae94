/* lbfgs.c - L-BFGS with a strong Wolfe line search, as a state machine over scalars.
 *
 * A pair (step, change of gradient) is stored only if its curvature is positive; otherwise the
 * approximation would point uphill. After a failed search the history is dropped and steepest
 * descent is tried once before the solve gives up.
 */
#include "domain/fit/solve/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The line search. */

enum { MAX_TRIALS = 20 };
#define DECREASE  1e-4
#define CURVATURE 0.9
#define EXPANSION 10

void qn_fit_search_begin(qn_fit_search *search, double cost, double slope, double first)
{
    *search = (qn_fit_search){ .start = { 0, cost, slope }, .trial = first, .widest = HUGE_VAL };
    search->before = search->low = search->start;
}

/* The minimum of the cubic through both points with their slopes; NaN where there is none. */
static double cubic(qn_fit_point a, qn_fit_point b)
{
    const double d = a.slope + b.slope - 3 * (a.cost - b.cost) / (a.at - b.at);
    const double e = copysign(sqrt(d * d - a.slope * b.slope), b.at - a.at);

    return b.at - (b.at - a.at) * (b.slope + e - d) / (b.slope - a.slope + 2 * e);
}

/* The next trial inside the bracket, but not within a tenth of its ends. */
static qn_fit_search_state narrow(qn_fit_search *s)
{
    const double width = s->high.at - s->low.at;
    const double lowest = cubic(s->low, s->high);
    const double share = (lowest - s->low.at) / width;

    s->trial = s->low.at + width * (isfinite(share) ? fmin(fmax(share, 0.1), 0.9) : 0.5);
    return fabs(width) > 1e-16 * fmax(fabs(s->low.at), fabs(s->high.at)) ? QN_FIT_SEARCH_ON
                                                                         : QN_FIT_SEARCH_FAILED;
}

static qn_fit_search_state bracket(qn_fit_search *s, qn_fit_point low, qn_fit_point high)
{
    s->is_bracketed = 1;
    s->low = low;
    s->high = high;
    return narrow(s);
}

static qn_fit_search_state widen(qn_fit_search *s, qn_fit_point now)
{
    const double lowest = cubic(s->before, now);
    const double least = now.at + 0.1 * (now.at - s->before.at);
    const double most = fmin(EXPANSION * now.at, 0.5 * (now.at + s->widest));

    s->before = now;
    s->trial = isfinite(lowest) ? fmin(fmax(lowest, least), most) : most;
    return QN_FIT_SEARCH_ON;
}

qn_fit_search_state qn_fit_search_step(qn_fit_search *s, double cost, double slope)
{
    const qn_fit_point now = { s->trial, cost, slope };
    const int is_low = cost <= s->start.cost + DECREASE * now.at * s->start.slope;
    const int is_flat = fabs(slope) <= -CURVATURE * s->start.slope;

    if (++s->n_trials >= MAX_TRIALS && !(is_low && is_flat))
        return QN_FIT_SEARCH_FAILED;
    if (!isfinite(cost) || !isfinite(slope)) {
        s->widest = now.at;
        s->is_bracketed = 0;
        s->trial = s->before.at + 0.1 * (now.at - s->before.at);
        return QN_FIT_SEARCH_ON;
    }
    if (is_low && is_flat && (!s->is_bracketed || cost < s->low.cost))
        return QN_FIT_SEARCH_FOUND;
    if (s->is_bracketed) {
        if (!is_low || cost >= s->low.cost)
            s->high = now;
        else {
            if (slope * (s->high.at - s->low.at) >= 0)
                s->high = s->low;
            s->low = now;
        }
        return narrow(s);
    }
    if (!is_low || (s->n_trials > 1 && cost >= s->before.cost))
        return bracket(s, s->before, now);
    return slope >= 0 ? bracket(s, now, s->before) : widen(s, now);
}

/* The solver. */

struct qn_fit_lbfgs {
    qn_fit_solver base;
    qn_fit_lbfgs_driver driver;
    qn_fit_lbfgs_scalars s;
    double cost, gradient_max;
    qn_fit_search search;
    int is_started, is_steepest;
};

qn_status qn_fit_lbfgs_new(const qn_fit_lbfgs_driver *driver, const qn_fit_solve_options *options,
                           qn_fit_report *report, qn_fit_lbfgs **out, qn_err *err)
{
    qn_fit_lbfgs *l = calloc(1, sizeof *l);
    qn_status st;

    if (!l)
        return qn_fail(err, QN_ERR_NOMEM, "a solver");
    l->driver = *driver;
    if ((st = qn_fit_solver_begin(&l->base, options, report, err)) == QN_OK)
        *out = l;
    else
        free(l);
    return st;
}

void qn_fit_lbfgs_free(qn_fit_lbfgs *solver)
{
    free(solver);
}

static void begin_search(qn_fit_lbfgs *l, int is_forgetting)
{
    l->driver.set_direction(l->driver.self, is_forgetting, &l->s);
    l->is_steepest = !l->s.n_pairs;
    qn_fit_search_begin(&l->search, l->cost, l->s.slope,
                        l->is_steepest ? 1 / sqrt(-l->s.slope) : 1);
}

/* Steps. */

static void check_ends(qn_fit_lbfgs *l, double change)
{
    if (qn_fit_solver_is_flat(&l->base, l->gradient_max))
        return;
    if (l->base.iteration && change <= l->base.opt.function_tolerance * fabs(l->cost))
        qn_fit_solver_end(&l->base, QN_FIT_CONVERGED_COST,
                          "the cost changed by %.3g, tolerance %.3g of itself", change,
                          l->base.opt.function_tolerance);
    else if (!qn_fit_solver_is_last(&l->base, l->cost))
        qn_fit_solver_is_late(&l->base);
}

static void take_trial(qn_fit_lbfgs *l)
{
    const double change = l->cost - l->s.cost;
    qn_fit_iteration r = { .cost = l->s.cost,
                           .change = change,
                           .gradient_max = l->s.gradient_max,
                           .step_norm = l->search.trial * l->s.length,
                           .radius = l->search.trial,
                           .is_accepted = 1,
                           .linear_iterations = l->search.n_trials };

    l->driver.accept(l->driver.self);
    l->cost = l->s.cost;
    l->gradient_max = l->s.gradient_max;
    l->base.iteration++;
    l->base.report->n_accepted++;
    r.seconds = qn_fit_solver_seconds(&l->base);
    qn_fit_solver_add(&l->base, &r);
    if (!l->base.is_ended)
        check_ends(l, fabs(change));
    if (!l->base.is_ended)
        begin_search(l, 0);
}

static void start(qn_fit_lbfgs *l)
{
    char where[160];

    l->driver.try_step(l->driver.self, 0, &l->s);
    l->cost = l->s.cost;
    l->gradient_max = l->s.gradient_max;
    l->base.report->initial_cost = l->cost;
    l->is_started = 1;
    if (!isfinite(l->cost) || !isfinite(l->gradient_max)) {
        l->driver.describe(l->driver.self, where, sizeof where);
        qn_fit_solver_end(&l->base, QN_FIT_NON_FINITE, "at the start %s", where);
        return;
    }
    l->driver.accept(l->driver.self);
    qn_fit_solver_add(
        &l->base,
        &(qn_fit_iteration){ .cost = l->cost, .gradient_max = l->gradient_max, .is_accepted = 1 });
    check_ends(l, HUGE_VAL);
    if (!l->base.is_ended)
        begin_search(l, 0);
}

static void search_once(qn_fit_lbfgs *l)
{
    qn_fit_search_state found;

    l->driver.try_step(l->driver.self, l->search.trial, &l->s);
    found = qn_fit_search_step(&l->search, l->s.cost, l->s.slope);
    if (found == QN_FIT_SEARCH_ON)
        return;
    /* A failed search may still have found a lower cost. */
    if (found == QN_FIT_SEARCH_FOUND || (isfinite(l->s.slope) && l->s.cost < l->cost))
        take_trial(l);
    else if (!l->is_steepest) {
        l->base.report->n_rejected++;
        begin_search(l, 1);
    } else
        qn_fit_solver_end(&l->base, QN_FIT_STALLED_RADIUS,
                          "no step along the gradient lowers the cost of %.10g", l->cost);
}

qn_fit_state qn_fit_lbfgs_step(qn_fit_lbfgs *solver)
{
    if (solver->base.is_ended)
        return QN_FIT_DONE;
    if (!solver->is_started)
        start(solver);
    else
        search_once(solver);
    solver->base.report->final_cost = solver->cost;
    solver->base.report->total_seconds = qn_fit_solver_seconds(&solver->base);
    return solver->base.is_ended ? QN_FIT_DONE : QN_FIT_RUNNING;
}

/* Vectors in host memory, the direction by two loops over the pairs. */

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
    if (objective->lower)
        QN_FAIL(err, QN_ERR_UNSUPPORTED, "lbfgs takes no bounds; use lm, sgd or adam");
    if (!(h = calloc(1, sizeof *h)) ||
        !(h->gradient = calloc((4 + 2 * (size_t)options->history) * stride, sizeof *h->gradient)))
        QN_FAIL(err, QN_ERR_NOMEM, "lbfgs of %zu parameters, history %d", n, options->history);
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

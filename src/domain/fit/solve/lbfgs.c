/* lbfgs.c - L-BFGS with a strong Wolfe line search, as a state machine over scalars.
 *
 * A pair (step, change of gradient) is stored only if its curvature is positive; otherwise the
 * approximation would point uphill. After a failed search the history is dropped and steepest
 * descent is tried once before the solve gives up.
 */
#include "domain/fit/solve/gradient_solver.h"

#include <math.h>
#include <stdlib.h>

struct qn_fit_lbfgs {
    qn_fit_lbfgs_driver driver;
    qn_fit_solve_options opt;
    qn_fit_report *report;
    qn_fit_lbfgs_scalars s;
    double cost, gradient_max;
    qn_fit_search search;
    int is_started, is_ended, is_steepest, iteration;
    double start_seconds;
};

qn_status qn_fit_lbfgs_new(const qn_fit_lbfgs_driver *driver, const qn_fit_solve_options *options,
                           qn_fit_report *report, qn_fit_lbfgs **out, qn_err *err)
{
    qn_fit_lbfgs *l;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_solve_options_check(options, err));
    if (!(l = calloc(1, sizeof *l))) {
        st = qn_fail(err, QN_ERR_NOMEM, "a solver");
        goto out;
    }
    l->driver = *driver;
    l->opt = *options;
    l->report = report;
    l->start_seconds = options->now ? options->now(options->user) : 0;
    *out = l;
out:
    return st;
}

void qn_fit_lbfgs_free(qn_fit_lbfgs *solver)
{
    free(solver);
}

#define END(l, end, ...)                                                                           \
    do {                                                                                           \
        qn_fit_report_end((l)->report, end, __VA_ARGS__);                                          \
        (l)->is_ended = 1;                                                                         \
    } while (0)

static double seconds(const qn_fit_lbfgs *l)
{
    return l->opt.now ? l->opt.now(l->opt.user) - l->start_seconds : 0;
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
    l->report->gradient_max = l->gradient_max;
    if (l->gradient_max <= l->opt.gradient_tolerance)
        END(l, QN_FIT_CONVERGED_GRADIENT,
            "the largest entry of the gradient is %.3g, tolerance %.3g%s", l->gradient_max,
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
    l->iteration++;
    l->report->n_accepted++;
    r.seconds = seconds(l);
    qn_fit_report_add(l->report, &r);
    if (l->opt.watch && l->opt.watch(l->opt.user, &r, l->iteration))
        END(l, QN_FIT_USER_STOP, "stopped by the caller after %d iterations", l->iteration);
    else
        check_ends(l, fabs(change));
    if (!l->is_ended)
        begin_search(l, 0);
}

static void start(qn_fit_lbfgs *l)
{
    char where[160];

    l->driver.try_step(l->driver.self, 0, &l->s);
    l->cost = l->s.cost;
    l->gradient_max = l->s.gradient_max;
    l->report->initial_cost = l->cost;
    l->is_started = 1;
    if (!isfinite(l->cost) || !isfinite(l->gradient_max)) {
        l->driver.describe(l->driver.self, where, sizeof where);
        END(l, QN_FIT_NON_FINITE, "at the start %s", where);
        return;
    }
    l->driver.accept(l->driver.self);
    qn_fit_report_add(
        l->report,
        &(qn_fit_iteration){ .cost = l->cost, .gradient_max = l->gradient_max, .is_accepted = 1 });
    check_ends(l, HUGE_VAL);
    if (!l->is_ended)
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
        l->report->n_rejected++;
        begin_search(l, 1);
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

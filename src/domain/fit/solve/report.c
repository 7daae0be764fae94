/* report.c - default options, names of the ways a solve ends, history. */
#include "domain/fit/device/choose.h"
#include "domain/fit/solve/solver.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const end_names[] = {
    "converged_gradient", "converged_cost", "converged_parameters", "max_iterations", "max_time",
    "stalled_radius",     "linear_failure", "non_finite",           "user_stop",
};

const char *qn_fit_end_name(qn_fit_end end)
{
    return end_names[end];
}

int qn_fit_end_is_converged(qn_fit_end end)
{
    return end <= QN_FIT_CONVERGED_PARAMETERS;
}

void qn_fit_solve_options_default(qn_fit_solve_options *options)
{
    *options = (qn_fit_solve_options){
        .window = 5,
#define NUMBER(member, name, fallback, low, high) .member = fallback,
#define COUNT(member, name, fallback, low, high)  .member = fallback,
#define SWITCH(member, name, fallback, low)       .member = fallback,
#define WORDS(type, member, name, ...)
#define LINEAR(kind, member, name)
#include "domain/fit/solve/options.def"
    };
}

void qn_fit_solve_options_lbfgs(qn_fit_solve_options *options)
{
    qn_fit_solve_options_default(options);
    options->gradient_tolerance = 1e-6;
    options->function_tolerance = 1e-9;
    options->max_iterations = 200;
}

void qn_fit_solve_options_first_order(qn_fit_solve_options *options)
{
    qn_fit_solve_options_default(options);
    options->gradient_tolerance = 1e-6;
    options->function_tolerance = 0;
    options->max_iterations = 1000;
}

int qn_fit_solve_options_need_pcg(const qn_fit_solve_options *options)
{
    return options->jacobian == QN_FIT_JACOBIAN_FREE || options->storage == QN_FIT_F32;
}

static qn_status check_jacobian(const qn_fit_solve_options *o, qn_err *err)
{
    const int is_free = o->jacobian == QN_FIT_JACOBIAN_FREE, is_f32 = o->storage == QN_FIT_F32;
    const int is_stored = o->jacobian == QN_FIT_JACOBIAN_STORED || is_f32;

    if (is_free && is_f32)
        return qn_fail(err, QN_ERR_USAGE,
                       "storage = f32 says how a Jacobian is stored, and jacobian = free stores "
                       "none");
    if (qn_fit_solve_options_need_pcg(o) && o->linear_solver != QN_FIT_LINEAR_AUTO &&
        o->linear_solver != QN_FIT_PCG)
        return qn_fail(err, QN_ERR_USAGE,
                       "%s is for linear_solver = pcg: %s makes matrices of a Jacobian that is "
                       "stored in f64",
                       is_f32 ? "storage = f32" : "jacobian = free",
                       qn_fit_linear_name(o->linear_solver));
    if (is_stored &&
        (o->accumulate == QN_FIT_ACCUMULATE_OWNER || o->accumulate == QN_FIT_ACCUMULATE_ATOMIC))
        return qn_fail(err, QN_ERR_USAGE,
                       "products with a stored Jacobian are gathered: accumulate = %s is for "
                       "jacobian = free",
                       o->accumulate == QN_FIT_ACCUMULATE_OWNER ? "owner" : "atomic");
    return QN_OK;
}

qn_status qn_fit_solve_options_check(const qn_fit_solve_options *o, qn_err *err)
{
    const struct {
        const char *name;
        double value, low, high;
    } limits[] = {
        { "window", o->window, 1, 16 },
#define NUMBER(member, name, fallback, low, high) { #member, o->member, low, high },
#define COUNT(member, name, fallback, low, high)  { #member, o->member, low, high },
#define SWITCH(member, name, fallback, low)       { #member, o->member, low, 1 },
#define WORDS(type, member, name, ...)
#define LINEAR(kind, member, name)
#include "domain/fit/solve/options.def"
    };

    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++)
        if (!(limits[k].value >= limits[k].low && limits[k].value <= limits[k].high))
            return qn_fail(err, QN_ERR_USAGE, "%s is %g; it must be from %g to %g", limits[k].name,
                           limits[k].value, limits[k].low, limits[k].high);
    return check_jacobian(o, err);
}

/* The history is allocated before the first step, since the loop must not allocate. */
qn_status qn_fit_report_open(const qn_fit_problem *problem, int max_iterations, qn_fit_report *out,
                             qn_err *err)
{
    *out = (qn_fit_report){ .n_groups = problem->n_groups,
                            .history_room = max_iterations < 100000 ? max_iterations + 2 : 100002,
                            .n_free = (int)problem->n_free,
                            .n_rows = qn_fit_problem_n_rows(problem),
                            .rank = -1,
                            .evaluate_seconds = NAN,
                            .linear_seconds = NAN,
                            .accumulation = "gather",
                            .jacobian = "none" };
    out->is_underdetermined = out->n_rows < out->n_free;
    out->history = calloc((size_t)out->history_room, sizeof *out->history);
    out->group_costs = calloc((size_t)problem->n_groups + 1, sizeof *out->group_costs);
    if (out->history && out->group_costs)
        return QN_OK;
    qn_fit_report_free(out);
    return qn_fail(err, QN_ERR_NOMEM, "a report of %d iterations", max_iterations);
}

void qn_fit_report_free(qn_fit_report *report)
{
    free(report->history);
    free(report->group_costs);
    *report = (qn_fit_report){ 0 };
}

/* Solvers. */

qn_status qn_fit_solver_begin(qn_fit_solver *solver, const qn_fit_solve_options *options,
                              qn_fit_report *report, qn_err *err)
{
    *solver = (qn_fit_solver){ .opt = *options,
                               .report = report,
                               .start_seconds = options->now ? options->now(options->user) : 0 };
    return qn_fit_solve_options_check(options, err);
}

double qn_fit_solver_seconds(const qn_fit_solver *solver)
{
    return solver->opt.now ? solver->opt.now(solver->opt.user) - solver->start_seconds : 0;
}

void qn_fit_solver_end(qn_fit_solver *solver, qn_fit_end end, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(solver->report->text, sizeof solver->report->text, format, args);
    va_end(args);
    solver->report->end = end;
    solver->is_ended = 1;
}

void qn_fit_solver_add(qn_fit_solver *solver, const qn_fit_iteration *record)
{
    qn_fit_report *const r = solver->report;

    if (r->n_history < r->history_room)
        r->history[r->n_history++] = *record;
    if (solver->iteration && solver->opt.watch &&
        solver->opt.watch(solver->opt.user, record, solver->iteration))
        qn_fit_solver_end(solver, QN_FIT_USER_STOP, "stopped by the caller after %d iterations",
                          solver->iteration);
}

int qn_fit_solver_is_flat(qn_fit_solver *solver, double gradient_max)
{
    solver->report->gradient_max = gradient_max;
    if (!solver->is_ended && gradient_max <= solver->opt.gradient_tolerance)
        qn_fit_solver_end(solver, QN_FIT_CONVERGED_GRADIENT,
                          "the largest entry of the gradient is %.3g, tolerance %.3g%s",
                          gradient_max, solver->opt.gradient_tolerance,
                          solver->report->n_free ? "" : "; no parameter is free");
    return solver->is_ended;
}

int qn_fit_solver_is_last(qn_fit_solver *solver, double cost)
{
    if (solver->iteration >= solver->opt.max_iterations)
        qn_fit_solver_end(solver, QN_FIT_MAX_ITERATIONS,
                          "%d iterations are the limit; the cost is %.10g",
                          solver->opt.max_iterations, cost);
    return solver->is_ended;
}

int qn_fit_solver_is_late(qn_fit_solver *solver)
{
    const double time = qn_fit_solver_seconds(solver);

    if (time > solver->opt.max_seconds)
        qn_fit_solver_end(solver, QN_FIT_MAX_TIME, "%.3g s exceed the limit of %.3g s", time,
                          solver->opt.max_seconds);
    return solver->is_ended;
}

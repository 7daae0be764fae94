/* report.c - default options, names of the ways a solve ends, history. */
#include "domain/fit/device/choose.h"
#include "domain/fit/solve/solver.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const end_names[] = {
    "converged_gradient", "converged_cost",  "converged_parameters", "max_iterations",
    "max_time",           "stalled_radius",  "linear_failure",       "non_finite",
    "user_stop",          "invalid_problem",
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
        .max_iterations = 50,
        .function_tolerance = 1e-6,
        .gradient_tolerance = 1e-10,
        .parameter_tolerance = 1e-8,
        .initial_radius = 1e4,
        .max_radius = 1e16,
        .min_radius = 1e-32,
        .min_lm_diagonal = 1e-6,
        .max_lm_diagonal = 1e32,
        .min_relative_decrease = 1e-3,
        .max_consecutive_invalid = 5,
        .fallback_threshold = QN_FIT_FEW_INSTANCES,
        .strict_fp = 1,
        .speculate = -1,
        .renumber = -1,
        .jacobi_scaling = 1,
        .window = 5,
        .max_seconds = HUGE_VAL,
        .history = 10,
        .learning_rate = 1e-3,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .epsilon = 1e-8,
        .weight_decay = 0.01,
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

qn_status qn_fit_solve_options_check(const qn_fit_solve_options *options, qn_err *err)
{
    const qn_fit_solve_options *o = options;
    const struct {
        const char *name;
        double value, low, high;
    } limits[] = {
        { "max_iterations", o->max_iterations, 0, 1e8 },
        { "function_tolerance", o->function_tolerance, 0, 1 },
        { "gradient_tolerance", o->gradient_tolerance, 0, HUGE_VAL },
        { "parameter_tolerance", o->parameter_tolerance, 0, 1 },
        { "min_radius", o->min_radius, 0, o->initial_radius },
        { "initial_radius", o->initial_radius, 1e-300, o->max_radius },
        { "max_radius", o->max_radius, 1e-300, 1e300 },
        { "min_lm_diagonal", o->min_lm_diagonal, 0, o->max_lm_diagonal },
        { "min_relative_decrease", o->min_relative_decrease, 0, 1 },
        { "max_consecutive_invalid", o->max_consecutive_invalid, 1, 1e6 },
        { "max_seconds", o->max_seconds, 0, HUGE_VAL },
        { "trust_region_radius", o->trust_region_radius, 0, HUGE_VAL },
        { "strict_fp", o->strict_fp, 0, 1 },
        { "window", o->window, 1, 16 },
        { "speculate", o->speculate, -1, 1 },
        { "batch_size", o->batch_size, 0, 1e9 },
        { "renumber", o->renumber, -1, 1 },
        { "history", o->history, 1, 64 },
        { "learning_rate", o->learning_rate, 0, 1e300 },
        { "beta1", o->beta1, 0, 1 },
        { "beta2", o->beta2, 0, 1 },
        { "clip_norm", o->clip_norm, 0, HUGE_VAL },
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

void qn_fit_report_add(qn_fit_report *report, const qn_fit_iteration *record)
{
    if (report->n_history < report->history_room)
        report->history[report->n_history++] = *record;
}

void qn_fit_report_end(qn_fit_report *report, qn_fit_end end, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(report->text, sizeof report->text, format, args);
    va_end(args);
    report->end = end;
}

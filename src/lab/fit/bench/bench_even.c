/* bench_even.c - finds the size from which a device is faster: times a step of Levenberg-Marquardt
 * on the CPU and on the context's device, with the same graphs, on spheres of rising level. */
#include "lab/fit/bench/bench_impl.h"

#include "domain/fit/device/choose.h"
#include "domain/fit/resident/resident.h"
#include "util/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOP_LEVEL = 7, STEPS = 8, TURNS = 3 };

typedef struct solving {
    qn_ctx *ctx;
    qn_fit_problem *p;
    qn_fit_precision precision;
    const double *start;
} solving;

/* Microseconds per step of a solve, from the end of the first step to the last: without set-up and
 * compilation. */
static qn_status solve(void *user, double *us, qn_err *err)
{
    solving *s = user;
    qn_fit_solve_options options;
    qn_fit_report report = { 0 };
    qn_status st = QN_OK;

    qn_fit_solve_options_default(&options);
    options.max_iterations = STEPS;
    options.function_tolerance = options.gradient_tolerance = options.parameter_tolerance = 0;
    options.now = qn_fit_bench_now;
    memcpy(s->p->x, s->start, (size_t)s->p->n_scalars * sizeof *s->start);
    QN_TRY(qn_fit_solve_lm_on(s->ctx, s->p, s->precision, &options, &report, err));
    const int last = report.n_history - 1;

    if (last < 2)
        QN_FAIL(err, QN_ERR_FAILED, "a solve of %d steps ended after %d: %s", STEPS, last,
                report.text);
    *us = 1e6 * (report.history[last].seconds - report.history[1].seconds) / (last - 1);
    us[1] = 1e6 * report.total_seconds;
out:
    qn_fit_report_free(&report);
    return st;
}

/* The best of several solves from the same start. */
static qn_status time_steps(qn_ctx *ctx, qn_fit_problem *p, qn_fit_precision precision,
                            qn_fit_bench_row *row, qn_err *err)
{
    const size_t bytes = (size_t)p->n_scalars * sizeof *p->x;
    double *start = malloc(bytes);
    qn_timing times[2];
    qn_status st = QN_OK;

    if (!start)
        return qn_fail(err, QN_ERR_NOMEM, "%u parameters", p->n_scalars);
    memcpy(start, p->x, bytes);
    QN_TRY(qn_time_figures(0, TURNS - 1, 2, solve,
                           &(solving){ .ctx = ctx, .p = p, .precision = precision, .start = start },
                           times, err));
    row->best_us = qn_time_best(&times[0]);
    row->median_us = times[0].samples.median;
    row->first_us = times[1].first_us;
out:
    memcpy(p->x, start, bytes);
    free(start);
    return st;
}

static qn_status add_row(qn_ctx *ctx, qn_fit_problem *p, int level, qn_fit_precision precision,
                         qn_fit_bench *bench, qn_err *err)
{
    qn_fit_bench_row row = { .bench = "B8", .precision = precision };
    qn_status st = QN_OK;

    row.n = qn_fit_problem_n_instances(p);
    snprintf(row.what, sizeof row.what, "sphere %d, %u vertices: LM step", level, p->sets[0].count);
    snprintf(row.device, sizeof row.device, "%s", qn_device_id(ctx, qn_device_count(ctx) - 1));
    QN_TRY(time_steps(ctx, p, precision, &row, err));
    QN_TRY(qn_fit_bench_add(bench, &row, err));
out:
    return st;
}

static qn_status run_level(qn_ctx *cpu, qn_ctx *ctx, int level, qn_fit_precision precision,
                           qn_fit_bench *bench, qn_err *err)
{
    qn_fit_problem *p = NULL;
    qn_fit_choice choice;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_case_icosphere(level, &p, err));
    if (qn_device_count(ctx) > 1)
        QN_TRY(add_row(cpu, p, level, precision, bench, err));
    QN_TRY(add_row(ctx, p, level, precision, bench, err));
    QN_TRY(qn_fit_choose(p, qn_device_get(ctx, qn_device_count(ctx) - 1), 0, QN_FIT_FEW_INSTANCES,
                         precision, &choice, err));
    snprintf(bench->rows[bench->n - 1].note, sizeof choice.text, "%s", choice.text);
out:
    qn_fit_problem_free(p);
    return st;
}

qn_status qn_fit_bench_even(qn_ctx *ctx, qn_i64 n, qn_fit_precision precision, qn_fit_bench *bench,
                            qn_err *err)
{
    const int top = n ? (int)(n < TOP_LEVEL ? n : TOP_LEVEL) : TOP_LEVEL;
    qn_ctx *cpu = NULL;
    qn_status st = qn_ctx_open(&QN_OPTIONS(.backend = "cpu"), &cpu, err);

    for (int level = 0; st == QN_OK && level <= top; level++)
        st = run_level(cpu, ctx, level, precision, bench, err);
    qn_ctx_close(cpu);
    return st;
}

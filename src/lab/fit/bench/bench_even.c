/* bench_even.c - finds the size from which a device pays: a step of Levenberg-Marquardt on the CPU
 * and on the context's device, by the same graphs, on spheres of rising level. */
#include "lab/fit/bench/bench_impl.h"

#include "domain/fit/device/choose.h"
#include "domain/fit/resident/resident.h"
#include "util/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOP_LEVEL = 7, STEPS = 8, TURNS = 3 };

static double seconds(void *user)
{
    (void)user;
    return qn_now_us() / 1e6;
}

/* Microseconds per step, the best of several solves from the same start. */
static qn_status time_steps(qn_ctx *ctx, qn_fit_problem *p, qn_fit_precision precision,
                            qn_fit_bench_row *row, qn_err *err)
{
    const size_t bytes = (size_t)p->n_scalars * sizeof *p->x;
    double *start = malloc(bytes);
    qn_fit_solve_options options;
    qn_fit_report report = { 0 };
    qn_status st = QN_OK;

    if (!start)
        return qn_fail(err, QN_ERR_NOMEM, "%u parameters", p->n_scalars);
    memcpy(start, p->x, bytes);
    qn_fit_solve_options_default(&options);
    options.max_iterations = STEPS;
    options.function_tolerance = options.gradient_tolerance = options.parameter_tolerance = 0;
    options.now = seconds;
    for (int turn = 0; turn < TURNS; turn++) {
        double us;

        memcpy(p->x, start, bytes);
        QN_TRY(qn_fit_solve_lm_on(ctx, p, precision, &options, &report, err));
        /* From the end of the first step to the last, without set-up and compilation. */
        if (report.n_history < 3) {
            st = qn_fail(err, QN_ERR_FAILED, "a solve of %d steps ended after %d: %s", STEPS,
                         report.n_history - 1, report.text);
            goto out;
        }
        us = 1e6 * (report.history[report.n_history - 1].seconds - report.history[1].seconds) /
             (report.n_history - 2);
        if (turn == 0)
            row->first_us = 1e6 * report.total_seconds;
        row->best_us = turn == 0 || us < row->best_us ? us : row->best_us;
        row->median_us = us;
        qn_fit_report_free(&report);
        report = (qn_fit_report){ 0 };
    }
out:
    qn_fit_report_free(&report);
    memcpy(p->x, start, bytes);
    free(start);
    return st;
}

static qn_status add_row(qn_ctx *ctx, qn_fit_problem *p, int level, qn_fit_precision precision,
                         qn_fit_bench *bench, qn_err *err)
{
    qn_fit_bench_row row = { .bench = "B8", .precision = precision }, *place;
    qn_status st = QN_OK;

    row.n = qn_fit_problem_n_instances(p);
    snprintf(row.what, sizeof row.what, "sphere %d, %u vertices: LM step", level, p->sets[0].count);
    snprintf(row.device, sizeof row.device, "%s", qn_device_id(ctx, qn_device_count(ctx) - 1));
    QN_TRY(time_steps(ctx, p, precision, &row, err));
    if (!(place = qn_fit_bench_add(bench)))
        st = qn_fail(err, QN_ERR_NOMEM, "%zu rows of a bench", bench->n);
    else
        *place = row;
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

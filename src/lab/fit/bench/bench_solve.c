/* bench_solve.c - measures whole solves. */
#include "lab/fit/bench/bench_solve.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lab/fit/bench/cases.h"
#include "lab/fit/bench/solve_cases.h"
#include "domain/fit/resident/resident.h"

enum { SPRING_LEVEL = 5, HINGE_LEVEL = 3, N_CAMERAS = 64, N_POINTS = 20000, REPEATS = 3 };
enum { HINGE_STEPS = 100, N_ROWS = 100000 };

static double now(void *user)
{
    struct timespec t;

    (void)user;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int is_reached(void *user, const qn_fit_iteration *record, int iteration)
{
    (void)iteration;
    return record->is_accepted && record->cost <= *(const double *)user;
}

static int linear_steps(const qn_fit_report *r)
{
    int n = 0;

    for (int k = 0; k < r->n_history; k++)
        n += r->history[k].linear_iterations;
    return n;
}

/* The times of one case: the first and the best of all runs. */
typedef struct {
    double first, best, loop;
    qn_fit_report report;
} times;

static json_t *row_of(const qn_fit_bench_solve_options *o, const char *what, qn_i64 n,
                      const times *t)
{
    const qn_fit_report *r = &t->report;

    return json_pack("{s:s, s:s, s:I, s:s, s:s, s:s, s:s, s:I, s:s, s:s, s:o, s:o, s:i, s:i, s:i, "
                     "s:I, s:I, s:I, s:o, s:o, s:o}",
                     "bench", o->name, "what", what, "n", (json_int_t)n, "solver", r->solver,
                     "linear", r->linear, "jacobian", r->jacobian, "storage", r->storage,
                     "jacobian_bytes", (json_int_t)r->jacobian_bytes, "note", r->note, "status",
                     qn_fit_end_name(r->end), "initial_cost", qn_json_number(r->initial_cost),
                     "final_cost", qn_json_number(r->final_cost), "accepted", r->n_accepted,
                     "rejected", r->n_rejected, "linear_iterations", linear_steps(r), "speculated",
                     (json_int_t)r->n_speculated, "dropped", (json_int_t)r->n_dropped, "waits",
                     (json_int_t)r->n_waits, "first_s", qn_json_number(t->first), "best_s",
                     qn_json_number(t->best), "loop_s", qn_json_number(t->loop));
}

static qn_status solve_once(qn_ctx *ctx, qn_fit_problem *p, const qn_fit_bench_solve_options *o,
                            const qn_fit_solve_options *how, qn_fit_report *report, qn_err *err)
{
    if (!strcmp(o->name, "B6"))
        return ctx ? qn_fit_solve_lbfgs_on(ctx, p, o->precision, how, report, err)
                   : qn_fit_solve_lbfgs(p, how, report, err);
    return ctx ? qn_fit_solve_lm_on(ctx, p, o->precision, how, report, err)
               : qn_fit_solve_lm(p, how, report, err);
}

/* Each run begins at the same start. */
static qn_status measure(qn_ctx *ctx, qn_fit_problem *p, const qn_fit_bench_solve_options *o,
                         const qn_fit_solve_options *how, times *t, qn_err *err)
{
    const size_t bytes = p->n_scalars * sizeof *p->x;
    double *start = malloc(bytes + 1);
    qn_status st = QN_OK;

    if (!start)
        return qn_fail(err, QN_ERR_NOMEM, "%u parameters", p->n_scalars);
    memcpy(start, p->x, bytes);
    for (int k = 0; st == QN_OK && k < (o->repeats > 0 ? o->repeats : REPEATS); k++) {
        const double begun = now(NULL);
        double took;

        memcpy(p->x, start, bytes);
        qn_fit_report_free(&t->report);
        t->report = (qn_fit_report){ 0 };
        st = solve_once(ctx, p, o, how, &t->report, err);
        took = now(NULL) - begun;
        t->first = k ? t->first : took;
        t->best = k && t->best < took ? t->best : took;
        t->loop = k && t->loop < t->report.total_seconds ? t->loop : t->report.total_seconds;
    }
    free(start);
    return st;
}

static qn_status run_case(qn_ctx *ctx, const qn_fit_bench_solve_options *o, const char *what,
                          qn_fit_problem *p, double goal, json_t *rows, qn_err *err)
{
    qn_fit_solve_options how;
    times t = { 0 };
    qn_status st = QN_OK;
    json_t *row;

    if (!strcmp(o->name, "B6")) {
        qn_fit_solve_options_lbfgs(&how);
        how.max_iterations = HINGE_STEPS;
        how.function_tolerance = how.gradient_tolerance = 0;
    } else {
        qn_fit_solve_options_default(&how);
        how.function_tolerance = goal > 0 ? 0 : 1e-6;
    }
    /* Springs use conjugate gradients, like the program that they are compared with: factorising a
     * mesh costs twenty times more. */
    how.linear_solver =
        o->linear != QN_FIT_LINEAR_AUTO || strcmp(what, "springs") != 0 ? o->linear : QN_FIT_PCG;
    how.speculate = o->speculate ? strcmp(o->speculate, "0") != 0 : -1;
    how.n_threads = o->n_threads;
    how.jacobian = o->jacobian;
    how.storage = o->storage;
    how.now = now;
    how.watch = goal > 0 ? is_reached : NULL;
    how.user = &goal;
    QN_TRY(measure(ctx, p, o, &how, &t, err));
    row = row_of(o, what, qn_fit_problem_n_instances(p), &t);
    if (!row || json_array_append_new(rows, row))
        st = qn_fail(err, QN_ERR_NOMEM, "a row of results");
out:
    qn_fit_report_free(&t.report);
    return st;
}

static int is_wanted(const qn_fit_bench_solve_options *o, const char *bench, const char *what)
{
    return !strcmp(o->name, bench) && (!o->only || !strcmp(o->only, what));
}

qn_status qn_fit_bench_solve(qn_ctx *ctx, const qn_fit_bench_solve_options *options, json_t *rows,
                             qn_err *err)
{
    const qn_fit_bench_solve_options *o = options;
    qn_fit_problem *p = NULL;
    qn_status st = QN_OK;

    if (strcmp(o->name, "B5") && strcmp(o->name, "B6"))
        return qn_fail(err, QN_ERR_USAGE, "%s is no bench of solves: B5, B6", o->name);
    if (is_wanted(o, "B5", "springs")) {
        QN_TRY(qn_fit_case_noisy_springs(o->level > 0 ? o->level : SPRING_LEVEL, &p, err));
        QN_TRY(run_case(ctx, o, "springs", p, o->goal > 0 ? o->goal : 1e-12, rows, err));
        qn_fit_problem_free(p);
        p = NULL;
    }
    if (is_wanted(o, "B5", "cameras")) {
        QN_TRY(qn_fit_case_arc_of_cameras(o->n_cameras > 0 ? o->n_cameras : N_CAMERAS,
                                          o->n_points > 0 ? o->n_points : N_POINTS, &p, err));
        QN_TRY(run_case(ctx, o, "cameras", p, o->goal, rows, err));
        qn_fit_problem_free(p);
        p = NULL;
    }
    if (o->only && is_wanted(o, "B5", "curve")) {
        QN_TRY(qn_fit_case_curve((uint32_t)(o->n_points > 0 ? o->n_points : N_ROWS), &p, err));
        QN_TRY(run_case(ctx, o, "curve", p, o->goal, rows, err));
        qn_fit_problem_free(p);
        p = NULL;
    }
    if (is_wanted(o, "B6", "hinge")) {
        QN_TRY(qn_fit_case_hinges(o->level > 0 ? o->level : HINGE_LEVEL, &p, err));
        QN_TRY(run_case(ctx, o, "hinge", p, o->goal, rows, err));
    }
out:
    qn_fit_problem_free(p);
    return st;
}

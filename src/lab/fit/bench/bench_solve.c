/* bench_solve.c - measures whole solves. */
#include "lab/fit/bench/bench_impl.h"

#include "domain/fit/resident/resident.h"
#include "util/clock.h"

#include <stdlib.h>
#include <string.h>

enum { SPRING_LEVEL = 5, HINGE_LEVEL = 3, N_CAMERAS = 64, N_POINTS = 20000, REPEATS = 3 };
enum { HINGE_STEPS = 100, N_ROWS = 100000 };

static int is_reached(void *user, const qn_fit_iteration *record, QN_UNUSED int iteration)
{
    return record->is_accepted && record->cost <= *(const double *)user;
}

static int linear_steps(const qn_fit_report *r)
{
    int n = 0;

    for (int k = 0; k < r->n_history; k++)
        n += r->history[k].linear_iterations;
    return n;
}

/* A case, and the report of its last run. */
typedef struct solving {
    qn_ctx *ctx;
    qn_fit_problem *p;
    const qn_fit_bench_solve_options *o;
    qn_fit_solve_options how;
    const double *start;
    qn_fit_report report;
} solving;

enum { WALL, LOOP, N_FIGURES };

static json_t *row_of(const solving *s, const char *what, const qn_timing *times)
{
    const qn_fit_report *r = &s->report;

    return json_pack("{s:s, s:s, s:I, s:s, s:s, s:s, s:s, s:I, s:s, s:s, s:o, s:o, s:i, s:i, s:i, "
                     "s:I, s:I, s:I, s:o, s:o, s:o}",
                     "bench", s->o->name, "what", what, "n",
                     (json_int_t)qn_fit_problem_n_instances(s->p), "solver", r->solver, "linear",
                     r->linear, "jacobian", r->jacobian, "storage", r->storage, "jacobian_bytes",
                     (json_int_t)r->jacobian_bytes, "note", r->note, "status",
                     qn_fit_end_name(r->end), "initial_cost", qn_json_number(r->initial_cost),
                     "final_cost", qn_json_number(r->final_cost), "accepted", r->n_accepted,
                     "rejected", r->n_rejected, "linear_iterations", linear_steps(r), "speculated",
                     (json_int_t)r->n_speculated, "dropped", (json_int_t)r->n_dropped, "waits",
                     (json_int_t)r->n_waits, "first_s", qn_json_number(times[WALL].first_us / 1e6),
                     "best_s", qn_json_number(qn_time_best(&times[WALL]) / 1e6), "loop_s",
                     qn_json_number(qn_time_best(&times[LOOP]) / 1e6));
}

static qn_status solve(const solving *s, qn_fit_report *report, qn_err *err)
{
    if (!strcmp(s->o->name, "B6"))
        return s->ctx ? qn_fit_solve_lbfgs_on(s->ctx, s->p, s->o->precision, &s->how, report, err)
                      : qn_fit_solve_lbfgs(s->p, &s->how, report, err);
    return s->ctx ? qn_fit_solve_lm_on(s->ctx, s->p, s->o->precision, &s->how, report, err)
                  : qn_fit_solve_lm(s->p, &s->how, report, err);
}

/* Each run begins at the same start. */
static qn_status solve_again(void *user, double *us, qn_err *err)
{
    solving *s = user;
    const double begun = qn_now_us();
    qn_status st;

    memcpy(s->p->x, s->start, s->p->n_scalars * sizeof *s->start);
    qn_fit_report_free(&s->report);
    s->report = (qn_fit_report){ 0 };
    st = solve(s, &s->report, err);
    us[WALL] = qn_now_us() - begun;
    us[LOOP] = 1e6 * s->report.total_seconds;
    return st;
}

static qn_status measure(solving *s, qn_timing times[N_FIGURES], qn_err *err)
{
    const int repeats = s->o->repeats > 0 ? s->o->repeats : REPEATS;
    const size_t bytes = s->p->n_scalars * sizeof *s->p->x;
    double *start = malloc(bytes + 1);
    qn_status st;

    if (!start)
        return qn_fail(err, QN_ERR_NOMEM, "%u parameters", s->p->n_scalars);
    s->start = memcpy(start, s->p->x, bytes);
    st = qn_time_figures(0, repeats - 1, N_FIGURES, solve_again, s, times, err);
    free(start);
    return st;
}

static qn_status run_case(qn_ctx *ctx, const qn_fit_bench_solve_options *o, const char *what,
                          qn_fit_problem *p, double goal, json_t *rows, qn_err *err)
{
    solving s = { .ctx = ctx, .p = p, .o = o };
    qn_fit_solve_options how;
    qn_timing times[N_FIGURES];
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
    how.now = qn_fit_bench_now;
    how.watch = goal > 0 ? is_reached : NULL;
    how.user = &goal;
    s.how = how;
    QN_TRY(measure(&s, times, err));
    row = row_of(&s, what, times);
    if (!row || json_array_append_new(rows, row))
        st = qn_fail(err, QN_ERR_NOMEM, "a row of results");
out:
    qn_fit_report_free(&s.report);
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
        return qn_fail(err, QN_ERR_USAGE, "there is no bench of solves %s (B5, B6)", o->name);
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

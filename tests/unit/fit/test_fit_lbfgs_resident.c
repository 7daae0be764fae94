/* test_fit_lbfgs_resident.c - L-BFGS on devices, compared with host memory. */
/* test: cost 44, quick-opencl */
#include "fit_backends.h"

#include "lab/fit/bench/cases.h"
#include "kernel/fit/fit_lbfgs.h"

#include <quern/metrics.h>

static qn_fit_problem *springs(void)
{
    return spring_problem(1);
}

static qn_fit_problem *hinges(void)
{
    qn_fit_problem *p = NULL;
    qn_err err = { .text = "" };

    must_ok(qn_fit_case_hinges(1, &p, &err), &err);
    return p;
}

static void goes_down(const qn_fit_report *r)
{
    for (int j = 1; j < r->n_history; j++)
        assert_true(r->history[j].cost < r->history[j - 1].cost && r->history[j].step_norm > 0);
}

/* After a few iterations, rounding has not yet separated the two. */
static void compare(qn_fit_problem *(*make)(void), qn_fit_precision precision, int iterations,
                    double tolerance)
{
    static const solvers lbfgs = { qn_fit_solve_lbfgs, qn_fit_solve_lbfgs_on, goes_down };
    qn_fit_solve_options o;

    qn_fit_solve_options_lbfgs(&o);
    o.max_iterations = iterations;
    compare_solves(&lbfgs, make, &o, precision, tolerance);
}

static void residuals_go_down_alike(void **state)
{
    (void)state;
    compare(springs, QN_FIT_F64, 30, 1e-6);
}

static void residuals_go_down_in_single_precision(void **state)
{
    (void)state;
    compare(springs, QN_FIT_F32, 30, 1e-3);
}

static void energies_go_down_alike(void **state)
{
    (void)state;
    compare(hinges, QN_FIT_F64, 8, 1e-6);
}

/* Fifty iterations fold the sphere, whatever the rounding. */
static void hinges_fold_on_every_backend(void **state)
{
    (void)state;
    for (int k = 0; k < N_BACKENDS; k++) {
        qn_ctx *ctx = open_backend(backends[k]);
        qn_fit_problem *p = ctx ? hinges() : NULL;
        qn_fit_solve_options o;
        qn_fit_report r;
        qn_err err = { .text = "" };

        if (!ctx)
            continue;
        qn_fit_solve_options_lbfgs(&o);
        o.max_iterations = 50;
        must_ok(qn_fit_solve_lbfgs_on(ctx, p, QN_FIT_F64, &o, &r, &err), &err);
        if (!(r.final_cost < 2.5))
            fail_msg("%s: %g after %d", backends[k], r.final_cost, r.n_accepted);
        qn_fit_report_free(&r);
        qn_fit_problem_free(p);
        qn_ctx_close(ctx);
    }
}

/* Transfers of a solve, counted at its last iteration. */
typedef struct {
    qn_ctx *ctx;
    qn_transfer_count first, last;
    double misses; /* of the pool, since the first */
    int trials;
} watched;

static int count(void *user, const qn_fit_iteration *record, int iteration)
{
    watched *w = user;

    w->last = qn_ctx_transfers(w->ctx);
    if (iteration == 3) {
        w->first = w->last;
        w->misses = qn_metric_value(qn_ctx_metrics(w->ctx), "pool_misses", NULL);
    }
    if (iteration > 3)
        w->trials += record->linear_iterations;
    return 0;
}

static void only_scalars_cross(void **state)
{
    (void)state;
    for (int k = 1; k < N_BACKENDS; k++) {
        qn_ctx *ctx = open_backend(backends[k]);
        qn_fit_problem *p = ctx ? hinges() : NULL;
        watched w = { .ctx = ctx };
        qn_fit_solve_options o;
        qn_fit_report r;
        qn_err err = { .text = "" };

        if (!ctx)
            continue;
        qn_fit_solve_options_lbfgs(&o);
        o.max_iterations = 12;
        o.gradient_tolerance = 0;
        o.function_tolerance = 0;
        o.watch = count;
        o.user = &w;
        must_ok(qn_fit_solve_lbfgs_on(ctx, p, QN_FIT_F64, &o, &r, &err), &err);
        assert_true(r.n_accepted >= 8 && w.trials >= 5);
        assert_true(qn_metric_value(qn_ctx_metrics(ctx), "pool_misses", NULL) == w.misses);
        /* For each trial, and for each direction. */
        assert_true(w.last.d2h_bytes - w.first.d2h_bytes <=
                    (uint64_t)(w.trials + r.n_accepted) * FIT_L_N_SCALARS * sizeof(double));
        assert_true(w.last.h2d_bytes - w.first.h2d_bytes <=
                    (uint64_t)(w.trials + r.n_accepted) * FIT_L_N_CONTROL * sizeof(double));
        qn_fit_report_free(&r);
        qn_fit_problem_free(p);
        qn_ctx_close(ctx);
    }
}

static void bounds_are_refused(void **state)
{
    static const double x[] = { 1, 2 }, lower[] = { 0, 0 };
    qn_ctx *ctx = open_backend("sim");
    qn_fit_problem *p;
    qn_fit_solve_options o;
    qn_fit_report r;
    qn_err err = { .text = "" };

    (void)state;
    begin("pair");
    row(sub(X(1), X(2)));
    p = one_group(2, x, 1, 0, NULL, (qn_fit_loss){ 0 }, lower, NULL);
    qn_fit_solve_options_lbfgs(&o);
    assert_int_equal(qn_fit_solve_lbfgs_on(ctx, p, QN_FIT_F64, &o, &r, &err), QN_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "lbfgs takes no bounds; use lm, sgd or adam");
    qn_fit_problem_free(p);
    qn_ctx_close(ctx);
}

static void a_start_that_is_not_finite_ends_with_a_sentence(void **state)
{
    qn_ctx *ctx = open_backend("sim");
    qn_fit_problem *p = logarithm_of_less_than_nothing();
    qn_fit_solve_options o;
    qn_fit_report r;
    qn_err err = { .text = "" };

    (void)state;
    qn_fit_solve_options_lbfgs(&o);
    must_ok(qn_fit_solve_lbfgs_on(ctx, p, QN_FIT_F64, &o, &r, &err), &err);
    check_not_finite(p, &r);
    qn_fit_problem_free(p);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residuals_go_down_alike),
        cmocka_unit_test(residuals_go_down_in_single_precision),
        cmocka_unit_test(energies_go_down_alike),
        cmocka_unit_test(hinges_fold_on_every_backend),
        cmocka_unit_test(only_scalars_cross),
        cmocka_unit_test(bounds_are_refused),
        cmocka_unit_test(a_start_that_is_not_finite_ends_with_a_sentence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_fit_resident.c - Levenberg-Marquardt on devices, compared with host memory. */
/* test: cost 47, quick-opencl */
#include "fit_backends.h"
#include "fit_mgh.h"

#include "kernel/fit/fit_solve.h"

#include <quern/metrics.h>

static void options_of(qn_fit_solve_options *o)
{
    qn_fit_solve_options_default(o);
    o->linear_solver = QN_FIT_PCG;
    o->function_tolerance = 1e-9;
    o->max_iterations = 100;
}

static void compare(qn_fit_problem *(*make)(void), qn_fit_precision precision, int most,
                    double tolerance)
{
    static const solvers lm = { qn_fit_solve_lm, qn_fit_solve_lm_on, NULL };
    qn_fit_solve_options o;

    options_of(&o);
    o.max_iterations = most;
    compare_solves(&lm, make, &o, precision, tolerance);
}

static qn_fit_problem *springs(void)
{
    return spring_problem(2);
}

static qn_fit_problem *box(void)
{
    static const double start[] = { -3, -1, -3, -1 }, lower[] = { -100, -100, -100, -100 },
                        upper[] = { 0, 10, 100, 100 };

    mgh_rows(14, 4, 6);
    return one_group(4, start, 1, 0, NULL, (qn_fit_loss){ 0 }, lower, upper);
}

static qn_fit_problem *bundle(void)
{
    return bal_problem("fit/bal/synth-6-80-outliers.txt", (qn_fit_loss){ QN_FIT_LOSS_HUBER, 1 });
}

static void springs_settle_on_every_backend(void **state)
{
    (void)state;
    compare(springs, QN_FIT_F64, 50, 1e-9);
}

static void springs_settle_in_single_precision(void **state)
{
    (void)state;
    compare(springs, QN_FIT_F32, 50, 1e-4);
}

static void boxes_are_kept(void **state)
{
    (void)state;
    compare(box, QN_FIT_F64, 100, 1e-6);
}

static void bundles_go_down_alike(void **state)
{
    (void)state;
    need_golden("fit/bal/synth-6-80-outliers.txt");
    compare(bundle, QN_FIT_F64, 6, 1e-6);
}

static void bits_are_those_of_the_run_before(void **state)
{
    (void)state;
    for (int k = 0; k < N_BACKENDS; k++) {
        double *want = NULL;
        qn_ctx *ctx = open_backend(backends[k]);

        for (int run = 0; ctx && run < 3; run++) {
            qn_fit_problem *p = spring_problem(1);
            qn_fit_solve_options o;
            qn_fit_report r;
            qn_err err = { .text = "" };

            options_of(&o);
            must_ok(qn_fit_solve_lm_on(ctx, p, QN_FIT_F64, &o, &r, &err), &err);
            if (!want) {
                want = malloc(p->n_scalars * sizeof *want);
                memcpy(want, p->x, p->n_scalars * sizeof *want);
            }
            assert_memory_equal(p->x, want, p->n_scalars * sizeof *want);
            qn_fit_report_free(&r);
            qn_fit_problem_free(p);
        }
        free(want);
        qn_ctx_close(ctx);
    }
}

/* Waits for an answer; returns the number of iterations of conjugate gradients. */
static int answer(const qn_fit_driver *table, qn_fit_scalars *s)
{
    while (!table->is_ready(table->self, s))
        ;
    return s->linear_iterations;
}

static void check_crossings(qn_fit_jacobian jacobian, qn_fit_precision storage)
{
    qn_ctx *ctx = open_backend("sim");
    qn_fit_problem *p = spring_problem(1);
    qn_fit_device_driver *driver = NULL;
    qn_fit_driver table;
    qn_fit_scalars s;
    qn_err err = { .text = "" };
    qn_fit_solve_options o;

    options_of(&o);
    o.jacobian = jacobian;
    o.storage = storage;
    must_ok(qn_fit_device_driver_new(ctx, p, QN_FIT_F64, &o, &driver, &err), &err);
    table = qn_fit_device_driver_table(driver);
    for (int step = 0; step < 4; step++) {
        const qn_transfer_count before = qn_ctx_transfers(ctx);
        const double misses = qn_metric_value(qn_ctx_metrics(ctx), "pool_misses", NULL);
        qn_transfer_count after;
        int iterations;

        table.linearise(table.self);
        answer(&table, &s);
        assert_true(isfinite(s.cost) && s.gradient_max > 0);
        table.solve(table.self, QN_FIT_D_DIAGONAL, 1e-4);
        iterations = answer(&table, &s);
        assert_true(s.is_solved && iterations > 0);
        table.try_step(table.self, 1, 0);
        answer(&table, &s);
        assert_true(s.step_norm > 0);
        table.accept(table.self);
        after = qn_ctx_transfers(ctx);
        if (step == 0)
            continue; /* tables are uploaded */
        /* One for the point, one for the trial, and one for every eight iterations. */
        assert_true(after.d2h_count - before.d2h_count <= 3 + (uint64_t)iterations / 8);
        assert_true(after.d2h_bytes - before.d2h_bytes <=
                    (3 + (uint64_t)iterations / 8) * FIT_N_SCALARS * sizeof(double));
        assert_true(after.h2d_bytes - before.h2d_bytes <= 2 * FIT_N_CONTROL * sizeof(double));
        assert_true(qn_metric_value(qn_ctx_metrics(ctx), "pool_misses", NULL) == misses);
    }
    assert_int_equal(qn_fit_device_driver_status(driver, &err), QN_OK);
    qn_fit_device_driver_free(driver);
    qn_fit_problem_free(p);
    qn_ctx_close(ctx);
}

static void only_scalars_cross(void **state)
{
    (void)state;
    check_crossings(QN_FIT_JACOBIAN_FREE, QN_FIT_F64);
    check_crossings(QN_FIT_JACOBIAN_STORED, QN_FIT_F64);
    check_crossings(QN_FIT_JACOBIAN_STORED, QN_FIT_F32);
}

static void a_start_that_is_not_finite_ends_with_a_sentence(void **state)
{
    qn_ctx *ctx = open_backend("sim");
    qn_fit_problem *p = logarithm_of_less_than_nothing();
    qn_fit_solve_options o;
    qn_fit_report r;
    qn_err err = { .text = "" };

    (void)state;
    options_of(&o);
    must_ok(qn_fit_solve_lm_on(ctx, p, QN_FIT_F64, &o, &r, &err), &err);
    check_not_finite(p, &r);
    qn_fit_problem_free(p);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(springs_settle_on_every_backend),
        cmocka_unit_test(springs_settle_in_single_precision),
        cmocka_unit_test(boxes_are_kept),
        cmocka_unit_test(bundles_go_down_alike),
        cmocka_unit_test(bits_are_those_of_the_run_before),
        cmocka_unit_test(only_scalars_cross),
        cmocka_unit_test(a_start_that_is_not_finite_ends_with_a_sentence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

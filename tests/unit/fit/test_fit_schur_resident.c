/* test_fit_schur_resident.c - elimination of points on devices, compared with host memory. */
/* test: cost 57, quick-opencl, no-cache */
#include "fit_backends.h"

#include "lab/fit/bench/cases.h"
#include "kernel/fit/fit_solve.h"

#include <quern/metrics.h>

static void options_of(qn_fit_solve_options *o)
{
    qn_fit_solve_options_default(o);
    o->linear_solver = QN_FIT_SCHUR_PCG;
    o->function_tolerance = 1e-9;
}

static qn_fit_problem *cameras(void)
{
    qn_fit_problem *p = NULL;
    qn_err err = { .text = "" };

    must_ok(qn_fit_case_arc_of_cameras(7, 50, &p, &err), &err);
    return p;
}

static qn_fit_problem *outliers(void)
{
    return bal_problem("fit/bal/synth-6-80-outliers.txt", (qn_fit_loss){ QN_FIT_LOSS_HUBER, 1 });
}

/* Three numbers in a row as a camera that sees points, some of them fixed and one bounded, one
 * camera entirely fixed, and terms of cameras only and of points only. */
static qn_fit_problem *held(void)
{
    enum { N_KEPT = 4, N_POINTS = 40 };
    static double kept[3 * N_KEPT], points[2 * N_POINTS], data[N_KEPT * N_POINTS];
    static uint32_t cam[N_KEPT * N_POINTS], pt[N_KEPT * N_POINTS];
    uint8_t fixed[3 * N_KEPT] = { 0 };
    double lower[3 * N_KEPT];
    const double *const columns[] = { data };
    const uint32_t *const blocks[] = { cam, pt };
    qn_fit_problem *p = NULL;
    qn_err err = { .text = "" };
    int sets[2];

    for (int k = 0; k < 3 * N_KEPT; k++) {
        kept[k] = 1 + 0.1 * k;
        lower[k] = k == 4 ? 1.35 : -HUGE_VAL;
    }
    fixed[0] = fixed[7] = 1;
    fixed[9] = fixed[10] = fixed[11] = 1; /* a whole camera: it has no entries */
    for (int k = 0; k < 2 * N_POINTS; k++)
        points[k] = 0.5 + 0.01 * (k * 7 % 31);
    for (uint32_t k = 0; k < N_KEPT * N_POINTS; k++) {
        cam[k] = k % N_KEPT;
        pt[k] = k / N_KEPT;
        data[k] = 1 + 0.03 * (k * 11 % 17);
    }
    must_ok(qn_fit_problem_new(&p, &err), &err);
    must_ok(qn_fit_problem_add_set(p, "cam", N_KEPT, 3, kept, &sets[0], &err), &err);
    must_ok(qn_fit_problem_add_set(p, "pt", N_POINTS, 2, points, &sets[1], &err), &err);
    must_ok(qn_fit_problem_fix(p, sets[0], fixed, &err), &err);
    must_ok(qn_fit_problem_bound(p, sets[0], lower, NULL, &err), &err);
    must_ok(qn_fit_problem_eliminate(p, sets[1], &err), &err);
    begin("seen");
    row(sub(add(mul(qn_fit_param(G, 0, 0), qn_fit_param(G, 1, 0)),
                mul(qn_fit_param(G, 0, 1), fun("sin", qn_fit_param(G, 1, 1)))),
            col(0)));
    must_ok(qn_fit_problem_add_group(p,
                                     &(qn_fit_group_spec){ .name = "seen",
                                                           .graph = G,
                                                           .n = N_KEPT * N_POINTS,
                                                           .n_slots = 2,
                                                           .n_columns = 1,
                                                           .slot_set = sets,
                                                           .slot_block = blocks,
                                                           .columns = columns },
                                     &err),
            &err);
    begin("alone");
    row(sub(qn_fit_param(G, 0, 2), lit(0.3)));
    row(sub(qn_fit_param(G, 0, 1), qn_fit_param(G, 0, 0)));
    must_ok(qn_fit_problem_add_group(p,
                                     &(qn_fit_group_spec){ .name = "alone",
                                                           .graph = G,
                                                           .n = N_KEPT,
                                                           .n_slots = 1,
                                                           .slot_set = sets,
                                                           .slot_block = blocks },
                                     &err),
            &err);
    begin("near");
    row(sub(qn_fit_param(G, 0, 0), lit(0.6)));
    row(sub(qn_fit_param(G, 0, 1), lit(0.7)));
    must_ok(qn_fit_problem_add_group(p,
                                     &(qn_fit_group_spec){ .name = "near",
                                                           .graph = G,
                                                           .n = N_KEPT * N_POINTS,
                                                           .n_slots = 1,
                                                           .slot_set = sets + 1,
                                                           .slot_block = blocks + 1 },
                                     &err),
            &err);
    must_ok(qn_fit_problem_finish(p, &err), &err);
    return p;
}

static void is_by_elimination(const qn_fit_report *r)
{
    assert_string_equal(r->linear, "schur_pcg");
    /* On a device J v is computed unless the options say to read it. */
    assert_string_equal(r->jacobian, strncmp(r->note, "on ", 3) ? "stored" : "mixed");
    assert_true(r->final_cost < 0.9 * r->initial_cost);
}

static void is_stored(const qn_fit_report *r)
{
    is_by_elimination(r);
    assert_true(!strncmp(r->note, "on ", 3) == (strstr(r->note, "matrix") != NULL));
}

static void is_factored(const qn_fit_report *r)
{
    is_by_elimination(r);
    assert_null(strstr(r->note, "matrix"));
}

static void compare(qn_fit_problem *(*make)(void), int by_factors, qn_fit_precision precision,
                    double tolerance)
{
    const solvers lm = { qn_fit_solve_lm, qn_fit_solve_lm_on,
                         by_factors ? is_factored : is_stored };
    qn_fit_solve_options o;

    options_of(&o);
    o.linear.is_factored = by_factors;
    compare_solves(&lm, make, &o, precision, tolerance);
}

static void cameras_agree_on_every_backend(void **state)
{
    (void)state;
    compare(cameras, 0, QN_FIT_F64, 1e-8);
}

static void cameras_agree_by_factors_alone(void **state)
{
    (void)state;
    compare(cameras, 1, QN_FIT_F64, 1e-8);
}

static void cameras_agree_in_single_precision(void **state)
{
    (void)state;
    compare(cameras, 0, QN_FIT_F32, 1e-3);
}

static void losses_are_kept(void **state)
{
    (void)state;
    need_golden("fit/bal/synth-6-80-outliers.txt");
    compare(outliers, 1, QN_FIT_F64, 1e-5);
}

static void what_is_fixed_or_bounded_is_kept(void **state)
{
    (void)state;
    compare(held, 0, QN_FIT_F64, 1e-6);
}

/* Waits for an answer; returns the number of iterations of conjugate gradients. */
static int answer(const qn_fit_driver *table, qn_fit_scalars *s)
{
    while (!table->is_ready(table->self, s))
        ;
    return s->linear_iterations;
}

static void step_once(const qn_fit_driver *table, int *iterations)
{
    qn_fit_scalars s;

    table->linearise(table->self);
    answer(table, &s);
    assert_true(isfinite(s.cost) && s.gradient_max > 0);
    table->solve(table->self, QN_FIT_D_DIAGONAL, 1e-4);
    *iterations = answer(table, &s);
    assert_true(s.is_solved && *iterations > 0);
    table->try_step(table->self, 1, 0);
    answer(table, &s);
    assert_true(s.step_norm > 0 && s.model > 0);
    table->accept(table->self);
}

static void only_scalars_cross(void **state)
{
    (void)state;
    for (int k = 1; k < N_BACKENDS; k++) {
        qn_ctx *ctx = open_backend(backends[k]);
        qn_fit_problem *p = ctx ? cameras() : NULL;
        qn_fit_device_driver *driver = NULL;
        qn_fit_solve_options o;
        qn_err err = { .text = "" };
        qn_fit_driver table;

        if (!ctx)
            continue;
        options_of(&o);
        must_ok(qn_fit_device_driver_new(ctx, p, QN_FIT_F64, &o, &driver, &err), &err);
        table = qn_fit_device_driver_table(driver);
        for (int step = 0; step < 3; step++) {
            const qn_transfer_count before = qn_ctx_transfers(ctx);
            const double misses = qn_metric_value(qn_ctx_metrics(ctx), "pool_misses", NULL);
            qn_transfer_count after;
            int iterations;

            step_once(&table, &iterations);
            after = qn_ctx_transfers(ctx);
            if (step == 0)
                continue; /* tables are uploaded */
            assert_true(qn_metric_value(qn_ctx_metrics(ctx), "pool_misses", NULL) == misses);
            assert_true(after.d2h_bytes - before.d2h_bytes <=
                        (3 + (uint64_t)iterations / 8) * FIT_N_SCALARS * sizeof(double));
            assert_true(after.h2d_bytes - before.h2d_bytes <= 2 * FIT_N_CONTROL * sizeof(double));
        }
        assert_int_equal(qn_fit_device_driver_status(driver, &err), QN_OK);
        qn_fit_device_driver_free(driver);
        qn_fit_problem_free(p);
        qn_ctx_close(ctx);
    }
}

static void where_nothing_is_kept_the_whole_is_solved(void **state)
{
    static const double start[] = { 1, 2, 3, 4 };
    const uint32_t a[] = { 0, 1, 2, 3 };
    qn_ctx *ctx = open_backend("sim");
    qn_fit_problem *p = NULL;
    qn_fit_solve_options o;
    qn_fit_report r;
    qn_err err = { .text = "" };
    int set;

    (void)state;
    must_ok(qn_fit_problem_new(&p, &err), &err);
    must_ok(qn_fit_problem_add_set(p, "pt", 4, 1, start, &set, &err), &err);
    must_ok(qn_fit_problem_eliminate(p, set, &err), &err);
    begin("far");
    row(sub(mul(qn_fit_param(G, 0, 0), qn_fit_param(G, 0, 0)), lit(2)));
    must_ok(qn_fit_problem_add_group(
                p,
                &(qn_fit_group_spec){ .name = "far",
                                      .graph = G,
                                      .n = 4,
                                      .n_slots = 1,
                                      .slot_set = &set,
                                      .slot_block = (const uint32_t *const[]){ a } },
                &err),
            &err);
    must_ok(qn_fit_problem_finish(p, &err), &err);
    options_of(&o);
    must_ok(qn_fit_solve_lm_on(ctx, p, QN_FIT_F64, &o, &r, &err), &err);
    assert_string_equal(r.linear, "pcg");
    assert_non_null(strstr(r.note, "pcg is used instead of schur_pcg: no set is kept"));
    assert_true(r.final_cost < 1e-12);
    qn_fit_report_free(&r);
    qn_fit_problem_free(p);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cameras_agree_on_every_backend),
        cmocka_unit_test(cameras_agree_by_factors_alone),
        cmocka_unit_test(cameras_agree_in_single_precision),
        cmocka_unit_test(losses_are_kept),
        cmocka_unit_test(what_is_fixed_or_bounded_is_kept),
        cmocka_unit_test(only_scalars_cross),
        cmocka_unit_test(where_nothing_is_kept_the_whole_is_solved),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

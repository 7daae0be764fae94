/* test_fit_lm.c - Levenberg-Marquardt: how solves end, faults, damping, losses, bits, memory. */
#include "alloc_count.h"
#include "fit_mgh.h"
#include "fit_scenes.h"

#include "domain/fit/run/run.h"

static qn_fit_problem *curve(const double *start, int n, qn_fit_loss loss)
{
    static double x[64], y[64];
    static const double *const cols[] = { x, y };

    for (int i = 0; i < 64; i++) {
        x[i] = i / 16.0;
        y[i] = 2 * exp(-0.7 * x[i]) + 0.01 * cos(40.0 * i) + (i == 20 ? 5 : 0);
    }
    begin("curve");
    row(sub(mul(X(1), ex(neg(mul(X(2), col(0))))), col(1)));
    return one_group(n, start, 64, 2, cols, loss, NULL, NULL);
}

/* A start that needs several steps. */
static qn_fit_problem *curve_from_afar(void)
{
    return curve((const double[]){ 1, 0.1 }, 2, (qn_fit_loss){ 0 });
}

static qn_fit_report solve_with(qn_fit_problem *p, qn_fit_solve_options *o)
{
    qn_fit_report r;
    qn_err err = { .text = "" };

    must_ok(qn_fit_solve_lm(p, o, &r, &err), &err);
    for (uint32_t k = 0; k < p->n_scalars; k++)
        assert_true(isfinite(p->x[k]));
    return r;
}

static qn_fit_report solve_plain(qn_fit_problem *p)
{
    qn_fit_solve_options o;

    qn_fit_solve_options_default(&o);
    return solve_with(p, &o);
}

/* How solves end. */

static void zero_residual_at_start_is_converged(void **state)
{
    qn_fit_problem *p;
    qn_fit_report r;

    (void)state;
    mgh_rows(1, 2, 2);
    p = one_group(2, (const double[]){ 1, 1 }, 1, 0, NULL, (qn_fit_loss){ 0 }, NULL, NULL);
    r = solve_plain(p);
    assert_int_equal(r.end, QN_FIT_CONVERGED_GRADIENT);
    assert_true(r.final_cost == 0 && r.n_accepted == 0);
    assert_true(p->x[0] == 1 && p->x[1] == 1);
    qn_fit_report_free(&r);
    qn_fit_problem_free(p);
}

static void all_parameters_fixed_is_converged_and_says_so(void **state)
{
    qn_fit_problem *p = NULL;
    qn_fit_report r;
    qn_err err = { .text = "" };
    const double start[] = { 3, 4 };
    const uint32_t block = 0;
    int set;

    (void)state;
    mgh_rows(1, 2, 2);
    must_ok(qn_fit_problem_new(&p, &err), &err);
    must_ok(qn_fit_problem_add_set(p, "b", 1, 2, start, &set, &err), &err);
    must_ok(qn_fit_problem_fix(p, set, (const uint8_t[]){ 1, 1 }, &err), &err);
    must_ok(qn_fit_problem_add_group(
                p,
                &(qn_fit_group_spec){ .name = "r",
                                      .graph = G,
                                      .n = 1,
                                      .n_slots = 1,
                                      .slot_set = &set,
                                      .slot_block = (const uint32_t *const[]){ &block } },
                &err),
            &err);
    must_ok(qn_fit_problem_finish(p, &err), &err);
    r = solve_plain(p);
    assert_int_equal(r.end, QN_FIT_CONVERGED_GRADIENT);
    assert_non_null(strstr(r.text, "no parameter is free"));
    assert_true(p->x[0] == 3 && p->x[1] == 4);
    qn_fit_report_free(&r);
    qn_fit_problem_free(p);
}

static double a_second_later(void *user)
{
    return ++*(double *)user;
}

static void limits_of_iterations_and_time_end_the_solve(void **state)
{
    qn_fit_problem *p = curve_from_afar();
    qn_fit_solve_options o;
    qn_fit_report r;
    double seconds = 0;

    (void)state;
    qn_fit_solve_options_default(&o);
    o.max_iterations = 2;
    r = solve_with(p, &o);
    assert_int_equal(r.end, QN_FIT_MAX_ITERATIONS);
    assert_int_equal(r.n_accepted + r.n_rejected, 2);
    assert_int_equal(r.n_history, 3);
    qn_fit_report_free(&r);
    o.max_iterations = 50;
    o.max_seconds = 30;
    o.now = a_second_later;
    o.user = &seconds;
    o.function_tolerance = 0;
    r = solve_with(p, &o);
    assert_int_equal(r.end, QN_FIT_MAX_TIME);
    assert_true(r.n_accepted + r.n_rejected > 1);
    qn_fit_report_free(&r);
    qn_fit_problem_free(p);
}

static int stop_at_three(void *user, const qn_fit_iteration *record, int iteration)
{
    (void)record;
    *(int *)user = iteration;
    return iteration == 3;
}

static void the_caller_may_stop(void **state)
{
    qn_fit_problem *p = curve_from_afar();
    qn_fit_solve_options o;
    qn_fit_report r;
    int seen = 0;

    (void)state;
    qn_fit_solve_options_default(&o);
    o.watch = stop_at_three;
    o.user = &seen;
    r = solve_with(p, &o);
    assert_int_equal(r.end, QN_FIT_USER_STOP);
    assert_int_equal(seen, 3);
    qn_fit_report_free(&r);
    qn_fit_problem_free(p);
}

static void bad_options_are_refused(void **state)
{
    qn_fit_problem *p = curve_from_afar();
    qn_fit_solve_options o;
    qn_fit_report r;
    qn_err err = { .text = "" };

    (void)state;
    qn_fit_solve_options_default(&o);
    o.function_tolerance = -1;
    assert_int_equal(qn_fit_solve_lm(p, &o, &r, &err), QN_ERR_USAGE);
    assert_string_equal(err.text, "function_tolerance is -1; it must be from 0 to 1");
    qn_fit_solve_options_default(&o);
    o.initial_radius = NAN;
    assert_int_equal(qn_fit_solve_lm(p, &o, &r, &err), QN_ERR_USAGE);
    qn_fit_problem_free(p);
}

/* Faults. */

static void a_start_that_is_not_finite_names_its_row(void **state)
{
    static const double x[] = { 1, -1, 2 };
    static const double *const cols[] = { x };
    qn_fit_problem *p;
    qn_fit_report r;

    (void)state;
    begin("log");
    row(sub(fun("log", mul(X(1), col(0))), lit(1)));
    p = one_group(1, (const double[]){ 1 }, 3, 1, cols, (qn_fit_loss){ 0 }, NULL, NULL);
    r = solve_plain(p);
    assert_int_equal(r.end, QN_FIT_NON_FINITE);
    assert_string_equal(r.text, "at the start row 1 of r is not finite (and 0 other rows)");
    assert_true(p->x[0] == 1);
    qn_fit_report_free(&r);
    qn_fit_problem_free(p);
}

/* The full step from 5 leads to a negative argument of the root. */
static void trial_points_that_are_not_finite_are_rejected(void **state)
{
    qn_fit_problem *p;
    qn_fit_report r;

    (void)state;
    begin("log");
    row(fun("log", X(1)));
    p = one_group(1, (const double[]){ 5 }, 1, 0, NULL, (qn_fit_loss){ 0 }, NULL, NULL);
    r = solve_plain(p);
    assert_true(qn_fit_end_is_converged(r.end));
    assert_true(r.n_rejected > 0);
    assert_true(fabs(p->x[0] - 1) < 1e-6);
    qn_fit_report_free(&r);
    qn_fit_problem_free(p);
}

static void singular_systems_are_solved_by_damping(void **state)
{
    static const qn_fit_linear_kind kinds[] = { QN_FIT_DENSE_QR, QN_FIT_DENSE_CHOLESKY,
                                                QN_FIT_PCG };

    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        qn_fit_solve_options o;
        qn_fit_problem *p;
        qn_fit_report r;

        begin("sum"); /* only the sum is determined, and the third not at all */
        row(plus(add(X(1), X(2)), -3));
        row(by(2, plus(add(X(1), X(2)), -3)));
        row(by(0, X(3)));
        p = one_group(3, (const double[]){ 0, 0, 7 }, 1, 0, NULL, (qn_fit_loss){ 0 }, NULL, NULL);
        qn_fit_solve_options_default(&o);
        o.linear_solver = kinds[k];
        r = solve_with(p, &o);
        assert_true(qn_fit_end_is_converged(r.end));
        assert_true(r.final_cost < 1e-12);
        assert_true(fabs(p->x[0] - 1.5) < 1e-5 && p->x[2] == 7);
        assert_int_equal(r.rank, kinds[k] == QN_FIT_DENSE_QR ? 1 : -1);
        qn_fit_report_free(&r);
        qn_fit_problem_free(p);
    }
}

static void an_undamped_singular_system_fails_with_a_sentence(void **state)
{
    qn_fit_solve_options o;
    qn_fit_problem *p;
    qn_fit_report r;

    (void)state;
    begin("sum");
    row(plus(add(X(1), X(2)), -3));
    p = one_group(2, (const double[]){ 0, 0 }, 1, 0, NULL, (qn_fit_loss){ 0 }, NULL, NULL);
    qn_fit_solve_options_default(&o);
    o.damping = QN_FIT_DAMP_GAUSS;
    o.jacobi_scaling = 0;
    o.linear_solver = QN_FIT_DENSE_CHOLESKY;
    r = solve_with(p, &o);
    assert_int_equal(r.end, QN_FIT_LINEAR_FAILURE);
    assert_true(strlen(r.text) > 10);
    qn_fit_report_free(&r);
    qn_fit_problem_free(p);
}

static void energies_are_refused_by_name(void **state)
{
    qn_fit_problem *p = NULL;
    qn_fit_solve_options o;
    qn_fit_report r;
    qn_err err = { .text = "" };
    const double start = 1;
    const uint32_t block = 0;
    int set;

    (void)state;
    begin("e");
    row(sq(X(1)));
    must_ok(qn_fit_problem_new(&p, &err), &err);
    must_ok(qn_fit_problem_add_set(p, "b", 1, 1, &start, &set, &err), &err);
    must_ok(qn_fit_problem_add_group(
                p,
                &(qn_fit_group_spec){ .name = "bend",
                                      .graph = G,
                                      .n = 1,
                                      .n_slots = 1,
                                      .slot_set = &set,
                                      .slot_block = (const uint32_t *const[]){ &block },
                                      .is_energy = 1 },
                &err),
            &err);
    must_ok(qn_fit_problem_finish(p, &err), &err);
    qn_fit_solve_options_default(&o);
    assert_int_equal(qn_fit_solve_lm(p, &o, &r, &err), QN_ERR_USAGE);
    assert_string_equal(err.text,
                        "bend is an energy: least squares need residuals; use lbfgs or adam");
    qn_fit_problem_free(p);
}

/* Presets and losses. */

static void other_dampings_reach_the_same_minimum(void **state)
{
    const double start[] = { 1, 0.1 };

    (void)state;
    for (int k = 0; k < 5; k++) {
        qn_fit_problem *p = curve(start, 2, (qn_fit_loss){ QN_FIT_LOSS_CAUCHY, 0.1 });
        qn_fit_solve_options o;
        qn_fit_report r;

        qn_fit_solve_options_default(&o);
        o.max_iterations = 200;
        o.damping = k == 1 ? QN_FIT_DAMP_LAMBDA : k == 2 ? QN_FIT_DAMP_GAUSS : QN_FIT_DAMP_TRUST;
        o.damping_scale = k == 3 ? QN_FIT_SCALE_IDENTITY : QN_FIT_SCALE_AUTO;
        o.nonmonotonic = k == 4;
        o.function_tolerance = 1e-14;
        r = solve_with(p, &o);
        if (!(fabs(p->x[0] - 2) < 0.01 && fabs(p->x[1] - 0.7) < 0.01))
            fail_msg("damping %d: %g %g, %s", k, p->x[0], p->x[1], r.text);
        qn_fit_report_free(&r);
        qn_fit_problem_free(p);
    }
}

static void robust_losses_resist_an_outlier(void **state)
{
    const double start[] = { 1.5, 0.5 };

    (void)state;
    for (int kind = QN_FIT_LOSS_NONE; kind <= QN_FIT_LOSS_GEMAN; kind++) {
        qn_fit_problem *p = curve(start, 2, (qn_fit_loss){ (qn_fit_loss_kind)kind, 0.5 });
        qn_fit_report r = solve_plain(p);
        const double off = fabs(p->x[0] - 2) + fabs(p->x[1] - 0.7);

        assert_true(qn_fit_end_is_converged(r.end));
        assert_true(kind == QN_FIT_LOSS_NONE ? off > 0.1 : off < 0.1);
        assert_true(r.group_costs[0] == r.final_cost);
        qn_fit_report_free(&r);
        qn_fit_problem_free(p);
    }
}

static void steps_are_not_longer_than_allowed(void **state)
{
    qn_fit_problem *p = curve_from_afar();
    qn_fit_solve_options o;
    qn_fit_report r;

    (void)state;
    qn_fit_solve_options_default(&o);
    o.trust_region_radius = 0.05;
    r = solve_with(p, &o);
    for (int k = 1; k < r.n_history; k++)
        assert_true(r.history[k].step_norm <= 0.05 * (1 + 1e-12));
    assert_true(r.n_accepted > 5);
    qn_fit_report_free(&r);
    qn_fit_problem_free(p);
}

static void reports_become_json(void **state)
{
    qn_fit_problem *p = curve_from_afar();
    qn_fit_report r = solve_plain(p);
    qn_err err = { .text = "" };
    json_t *root = NULL, *history;

    (void)state;
    must_ok(qn_fit_report_json(p, &r, &root, &err), &err);
    history = json_object_get(root, "history");
    assert_string_equal(json_string_value(json_object_get(root, "status")), qn_fit_end_name(r.end));
    assert_int_equal(json_array_size(history), r.n_accepted + r.n_rejected + 1);
    assert_true(json_number_value(json_object_get(json_array_get(history, 0), "cost")) ==
                r.initial_cost);
    assert_string_equal(json_string_value(json_object_get(
                            json_array_get(json_object_get(root, "groups"), 0), "name")),
                        "r");
    json_decref(root);
    qn_fit_report_free(&r);
    qn_fit_problem_free(p);
}

/* Bits, memory, waiting. */

static void bits_do_not_depend_on_threads_or_runs(void **state)
{
    static const int threads[] = { 1, 2, 7, 2 };
    static const qn_fit_linear_kind kinds[] = { QN_FIT_PCG, QN_FIT_SCHUR, QN_FIT_SCHUR_PCG };

    (void)state;
    need_golden("fit/bal/synth-6-80-outliers.txt");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        double *want = NULL;

        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
            qn_fit_problem *p = bal_problem("fit/bal/synth-6-80-outliers.txt",
                                            (qn_fit_loss){ QN_FIT_LOSS_HUBER, 1 });
            qn_fit_solve_options o;
            qn_fit_report r;

            qn_fit_solve_options_default(&o);
            o.linear_solver = kinds[k];
            o.max_iterations = 8;
            o.n_threads = threads[t];
            r = solve_with(p, &o);
            if (!want) {
                want = malloc(p->n_scalars * sizeof *want);
                memcpy(want, p->x, p->n_scalars * sizeof *want);
            }
            assert_memory_equal(p->x, want, p->n_scalars * sizeof *want);
            qn_fit_report_free(&r);
            qn_fit_problem_free(p);
        }
        free(want);
    }
}

typedef struct {
    qn_fit_driver inner;
    int n_asked; /* since work was last started */
} slow_driver;

/* Ready only at the third call. */
static int is_ready_late(void *self, qn_fit_scalars *out)
{
    slow_driver *s = self;

    return ++s->n_asked % 3 == 0 && s->inner.is_ready(s->inner.self, out);
}

static void slow_linearise(void *self)
{
    ((slow_driver *)self)->inner.linearise(((slow_driver *)self)->inner.self);
}

static void slow_solve(void *self, qn_fit_d_kind kind, double with)
{
    ((slow_driver *)self)->inner.solve(((slow_driver *)self)->inner.self, kind, with);
}

static void slow_try(void *self, double share, double longest)
{
    ((slow_driver *)self)->inner.try_step(((slow_driver *)self)->inner.self, share, longest);
}

static void slow_accept(void *self)
{
    ((slow_driver *)self)->inner.accept(((slow_driver *)self)->inner.self);
}

static void slow_keep(void *self, int is_back)
{
    ((slow_driver *)self)->inner.keep(((slow_driver *)self)->inner.self, is_back);
}

/* Runs the loop by hand; counts allocations and waits within it. */
static double loop(int is_slow, qn_fit_linear_kind kind, unsigned uses, long *n_allocated,
                   int *n_waits)
{
    qn_fit_problem *p = spring_problem(1);
    qn_fit_model *model = NULL;
    qn_fit_host_driver *driver = NULL;
    qn_fit_lm *lm = NULL;
    qn_fit_solve_options o;
    qn_fit_report r;
    qn_err err = { .text = "" };
    qn_fit_driver table;
    slow_driver slow;
    qn_fit_state at;
    long before;
    double cost;

    qn_fit_solve_options_default(&o);
    o.linear_solver = kind;
    o.n_threads = 1;
    o.function_tolerance = 1e-12;
    must_ok(qn_fit_report_open(p, o.max_iterations, &r, &err), &err);
    must_ok(qn_fit_model_new(p, uses, 1, &model, &err), &err);
    must_ok(qn_fit_host_driver_new(model, &o, &driver, &err), &err);
    table = qn_fit_host_driver_table(driver);
    if (is_slow) {
        slow = (slow_driver){ .inner = table };
        table.self = &slow;
        table.is_ready = is_ready_late;
        table.linearise = slow_linearise;
        table.solve = slow_solve;
        table.try_step = slow_try;
        table.accept = slow_accept;
        table.keep = slow_keep;
    }
    must_ok(qn_fit_lm_new(&table, &o, &r, &lm, &err), &err);
    before = count_allocs();
    while ((at = qn_fit_lm_step(lm)) != QN_FIT_DONE)
        *n_waits += at == QN_FIT_WAITING;
    *n_allocated = count_allocs() - before;
    cost = r.final_cost;
    assert_true(r.n_accepted > 3);
    qn_fit_lm_free(lm);
    qn_fit_host_driver_free(driver);
    qn_fit_model_free(model);
    qn_fit_report_free(&r);
    qn_fit_problem_free(p);
    return cost;
}

static void the_loop_asks_for_no_memory(void **state)
{
#ifdef __SANITIZE_ADDRESS__
    skip(); /* the sanitizer allocates memory itself */
#endif
    static const struct {
        qn_fit_linear_kind kind;
        unsigned uses;
    } ways[] = { { QN_FIT_DENSE_QR, QN_FIT_MODEL_JACOBIAN },
                 { QN_FIT_DENSE_CHOLESKY, QN_FIT_MODEL_JACOBIAN },
                 { QN_FIT_PCG, QN_FIT_MODEL_JACOBIAN },
                 { QN_FIT_PCG, QN_FIT_MODEL_FREE },
                 { QN_FIT_PCG, QN_FIT_MODEL_ROUNDED } };

    (void)state;
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        long n = 0;
        int waits = 0;

        loop(0, ways[k].kind, ways[k].uses, &n, &waits);
        assert_int_equal(n, 0);
        assert_int_equal(waits, 0);
    }
}

static void late_answers_change_nothing(void **state)
{
    long n;
    int waits = 0, none = 0;
    const double want = loop(0, QN_FIT_DENSE_QR, QN_FIT_MODEL_JACOBIAN, &n, &none);

    (void)state;
    assert_true(loop(1, QN_FIT_DENSE_QR, QN_FIT_MODEL_JACOBIAN, &n, &waits) == want);
    assert_true(waits > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_residual_at_start_is_converged),
        cmocka_unit_test(all_parameters_fixed_is_converged_and_says_so),
        cmocka_unit_test(limits_of_iterations_and_time_end_the_solve),
        cmocka_unit_test(the_caller_may_stop),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(a_start_that_is_not_finite_names_its_row),
        cmocka_unit_test(trial_points_that_are_not_finite_are_rejected),
        cmocka_unit_test(singular_systems_are_solved_by_damping),
        cmocka_unit_test(an_undamped_singular_system_fails_with_a_sentence),
        cmocka_unit_test(energies_are_refused_by_name),
        cmocka_unit_test(other_dampings_reach_the_same_minimum),
        cmocka_unit_test(robust_losses_resist_an_outlier),
        cmocka_unit_test(steps_are_not_longer_than_allowed),
        cmocka_unit_test(reports_become_json),
        cmocka_unit_test(bits_do_not_depend_on_threads_or_runs),
        cmocka_unit_test(counter_of_allocations_works),
        cmocka_unit_test(the_loop_asks_for_no_memory),
        cmocka_unit_test(late_answers_change_nothing),
    };

    return cmocka_run_group_tests(tests, watch_allocator, NULL);
}

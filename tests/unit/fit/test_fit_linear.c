/* test_fit_linear.c - compares linear solvers of a step with each other, and whole solves with
 * them. */
#include "fit_scenes.h"

#include "domain/fit/linear/dense.h"
#include "util/clock.h"

/* The step of `kind` at the start of a problem, in scaled variables, with fixed damping. */
static qn_fit_outcome step_of(qn_fit_problem *p, qn_fit_linear_kind kind, double *y)
{
    qn_fit_model *host = NULL;
    qn_fit_linear linear = { 0 };
    qn_err err = { .text = "" };
    const qn_fit_linear_options o = { .eta = 1e-14, .tolerance = 1e-14, .max_iterations = 5000 };
    double *g = calloc(p->n_scalars, sizeof *g), *s = calloc(p->n_scalars, sizeof *s);
    double *d = calloc(p->n_scalars, sizeof *d);
    qn_fit_outcome out;

    must_ok(qn_fit_model_new(p, QN_FIT_MODEL_JACOBIAN, 2, &host, &err), &err);
    must_ok(qn_fit_linear_open(host, kind, &o, &linear, &err), &err);
    assert_string_equal(linear.note, "");
    qn_fit_model_linearise(host, p->x, g);
    qn_fit_model_diagonal(host, d);
    for (uint32_t k = 0; k < p->n_scalars; k++) {
        s[k] = p->is_fixed[k] || k % 97 == 5 ? 0 : 1 / (1 + sqrt(d[k]));
        d[k] = s[k] == 0 ? 1 : 1e-2;
    }
    if (linear.of->renew)
        linear.of->renew(linear.self);
    out = linear.of->solve(linear.self, &(qn_fit_system){ g, s, d }, y);
    for (uint32_t k = 0; k < p->n_scalars; k++)
        if (s[k] == 0)
            assert_true(y[k] == 0);
    qn_fit_linear_close(&linear);
    qn_fit_model_free(host);
    free(g);
    free(s);
    free(d);
    return out;
}

static void same_step(qn_fit_problem *p, qn_fit_linear_kind kind, qn_fit_linear_kind reference)
{
    double *got = calloc(p->n_scalars, sizeof *got), *want = calloc(p->n_scalars, sizeof *want);
    double largest = 0;

    assert_true(step_of(p, reference, want).is_solved);
    assert_true(step_of(p, kind, got).is_solved);
    for (uint32_t k = 0; k < p->n_scalars; k++)
        largest = fmax(largest, fabs(want[k]));
    assert_true(largest > 0);
    for (uint32_t k = 0; k < p->n_scalars; k++)
        if (!(fabs(got[k] - want[k]) <= 1e-7 * largest))
            fail_msg("%s against %s: y[%u] is %.12g and %.12g", qn_fit_linear_name(kind),
                     qn_fit_linear_name(reference), k, got[k], want[k]);
    free(got);
    free(want);
}

static void steps_on_springs_agree(void **state)
{
    qn_fit_problem *p = spring_problem(1);
    const char *why;

    (void)state;
    same_step(p, QN_FIT_DENSE_CHOLESKY, QN_FIT_DENSE_QR);
    same_step(p, QN_FIT_PCG, QN_FIT_DENSE_QR);
    if (qn_fit_has_sparse(&why))
        same_step(p, QN_FIT_SPARSE_CHOLESKY, QN_FIT_DENSE_QR);
    else
        printf("skipped: sparse_cholesky, %s\n", why);
    qn_fit_problem_free(p);
}

static void steps_of_bundle_adjustment_agree(void **state)
{
    qn_fit_problem *p;
    const char *why;

    (void)state;
    need_golden("fit/bal/synth-6-80-outliers.txt");
    p = bal_problem("fit/bal/synth-6-80-outliers.txt", (qn_fit_loss){ QN_FIT_LOSS_HUBER, 1 });
    same_step(p, QN_FIT_DENSE_CHOLESKY, QN_FIT_DENSE_QR);
    same_step(p, QN_FIT_SCHUR, QN_FIT_DENSE_QR);
    same_step(p, QN_FIT_SCHUR_PCG, QN_FIT_DENSE_QR);
    if (qn_fit_has_sparse(&why))
        same_step(p, QN_FIT_SPARSE_CHOLESKY, QN_FIT_DENSE_QR);
    qn_fit_problem_free(p);
}

static void dense_cholesky_by_panels_is_that_of_small_blocks(void **state)
{
    enum { N = 150 };
    static double a[N * N], b[N * N], panel[N * 64];

    (void)state;
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++)
            a[i * N + j] = b[i * N + j] = (i == j ? N : 0) + cos(i * 7.0 + j * 3.0);
    assert_true(qn_fit_chol(N, a, panel, 2) && qn_fit_chol_small(N, b));
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++)
            assert_true(fabs(a[i * N + j] - b[i * N + j]) <= 1e-12);
    a[0] = -1;
    assert_false(qn_fit_chol(N, a, panel, 2));
}

/* Whole solves. */

static void solve_to(qn_fit_problem *p, qn_fit_linear_kind kind, double initial, double final,
                     double tolerance)
{
    qn_fit_solve_options o;
    qn_fit_report r;
    qn_err err = { .text = "" };

    qn_fit_solve_options_default(&o);
    o.linear_solver = kind;
    o.max_iterations = 300;
    o.function_tolerance = 1e-10;
    must_ok(qn_fit_solve_lm(p, &o, &r, &err), &err);
    assert_true(fabs(r.initial_cost - initial) <= 1e-9 * initial);
    if (!(r.final_cost <= final * (1 + tolerance)))
        fail_msg("%s: cost %.12g instead of %.12g (%s)", r.linear, r.final_cost, final, r.text);
    qn_fit_report_free(&r);
}

/* By conjugate gradients: a few iterations per step. */
static void springs_settle(void **state)
{
    qn_fit_problem *p = spring_problem(3);

    (void)state;
    solve_to(p, QN_FIT_LINEAR_AUTO, 0.05433171452809206, 0.006960249037677908, 1e-6);
    qn_fit_problem_free(p);
}

static void left_to_choose(qn_fit_problem *p, const char *linear, const char *note)
{
    qn_fit_solve_options o;
    qn_fit_report r;
    qn_err err = { .text = "" };

    qn_fit_solve_options_default(&o);
    must_ok(qn_fit_solve_lm(p, &o, &r, &err), &err);
    assert_string_equal(r.linear, linear);
    if (strncmp(r.note, note, strlen(note)) != 0)
        fail_msg("note: %s", r.note);
    assert_true(r.final_cost < 0.5 * r.initial_cost);
    qn_fit_report_free(&r);
    qn_fit_problem_free(p);
}

/* A chain that hangs from its first link: the pull on the last link passes through all. */
static qn_fit_problem *chain(void)
{
    enum { N = 700 };
    static double start[N];
    static uint32_t a[N], b[N];
    const uint32_t *const both[] = { a, b }, *const one[] = { a };
    qn_fit_problem *p = NULL;
    qn_err err = { .text = "" };
    const int sets[] = { 0, 0 };
    int set;

    for (uint32_t k = 0; k < N; k++) {
        a[k] = k;
        b[k] = k + 1;
    }
    must_ok(qn_fit_problem_new(&p, &err), &err);
    must_ok(qn_fit_problem_add_set(p, "x", N, 1, start, &set, &err), &err);
    begin("link");
    row(sub(sub(qn_fit_param(G, 1, 0), qn_fit_param(G, 0, 0)), lit(1)));
    must_ok(qn_fit_problem_add_group(p,
                                     &(qn_fit_group_spec){ .name = "link",
                                                           .graph = G,
                                                           .n = N - 1,
                                                           .n_slots = 2,
                                                           .slot_set = sets,
                                                           .slot_block = both },
                                     &err),
            &err);
    begin("first");
    row(mul(lit(1), sub(qn_fit_param(G, 0, 0), lit(0.5))));
    must_ok(qn_fit_problem_add_group(p,
                                     &(qn_fit_group_spec){ .name = "first",
                                                           .graph = G,
                                                           .n = 1,
                                                           .n_slots = 1,
                                                           .slot_set = sets,
                                                           .slot_block = one },
                                     &err),
            &err);
    must_ok(qn_fit_problem_finish(p, &err), &err);
    return p;
}

static void auto_stays_with_conjugate_gradients_where_few_do(void **state)
{
    (void)state;
    left_to_choose(spring_problem(3), "pcg", "pcg: no step took more than ");
}

static void auto_goes_over_to_a_factor_where_many_are_needed(void **state)
{
    const char *why;

    (void)state;
    if (qn_fit_has_sparse(&why))
        left_to_choose(chain(), "sparse_cholesky", "sparse_cholesky since a step took ");
    else
        left_to_choose(chain(), "pcg", "pcg: a step took ");
}

static void bundle_adjustment_reaches_its_costs(void **state)
{
    static const qn_fit_linear_kind kinds[] = { QN_FIT_LINEAR_AUTO, QN_FIT_SCHUR_PCG };
    const qn_fit_loss huber = { QN_FIT_LOSS_HUBER, 1 };

    (void)state;
    need_golden("fit/bal/bal.json");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        qn_fit_problem *p = bal_problem("fit/bal/synth-16-1500.txt.gz", (qn_fit_loss){ 0 });

        solve_to(p, kinds[k], 1075510.649502, 1432.450185073, 1e-8);
        qn_fit_problem_free(p);
        p = bal_problem("fit/bal/synth-16-1500.txt.gz", huber);
        solve_to(p, kinds[k], 109975.0704368, 1416.773900136, 1e-6);
        qn_fit_problem_free(p);
    }
}

static void outliers_need_a_loss_and_more_steps(void **state)
{
    qn_fit_problem *p;

    (void)state;
    need_golden("fit/bal/bal.json");
    p = bal_problem("fit/bal/synth-6-80-outliers.txt", (qn_fit_loss){ 0 });
    solve_to(p, QN_FIT_SCHUR, 79347.10746913, 17363.87585611, 1e-4);
    qn_fit_problem_free(p);
    p = bal_problem("fit/bal/synth-6-80-outliers.txt", (qn_fit_loss){ QN_FIT_LOSS_HUBER, 1 });
    solve_to(p, QN_FIT_SCHUR, 4056.54071488, 949.8559226234, 1e-3);
    qn_fit_problem_free(p);
}

/* 38 rows, 48 unknowns: damping chooses among the solutions. */
static void fewer_rows_than_parameters_reach_zero(void **state)
{
    qn_fit_problem *p;
    qn_fit_solve_options o;
    qn_fit_report r;
    qn_err err = { .text = "" };

    (void)state;
    need_golden("fit/bal/dubrovnik-3-7-pre.txt");
    p = bal_problem("fit/bal/dubrovnik-3-7-pre.txt", (qn_fit_loss){ 0 });
    qn_fit_solve_options_default(&o);
    o.max_iterations = 200;
    o.function_tolerance = 1e-16;
    o.gradient_tolerance = 1e-14;
    must_ok(qn_fit_solve_lm(p, &o, &r, &err), &err);
    assert_true(fabs(r.initial_cost - 2764.219984422) < 1e-6);
    assert_true(r.is_underdetermined);
    if (!(r.final_cost < 1e-18))
        fail_msg("cost %g: %s", r.final_cost, r.text);
    qn_fit_report_free(&r);
    qn_fit_problem_free(p);
}

static void a_solver_that_cannot_serve_is_replaced_with_a_note(void **state)
{
    qn_fit_problem *p = spring_problem(0);
    qn_fit_solve_options o;
    qn_fit_report r;
    qn_err err = { .text = "" };

    (void)state;
    qn_fit_solve_options_default(&o);
    o.linear_solver = QN_FIT_SCHUR;
    must_ok(qn_fit_solve_lm(p, &o, &r, &err), &err);
    assert_string_equal(r.linear, "pcg");
    assert_string_equal(r.note, "pcg is used instead of schur: the program eliminates no set");
    qn_fit_report_free(&r);
    qn_fit_problem_free(p);
}

static void too_many_parameters_for_a_dense_solver_are_refused(void **state)
{
    qn_fit_problem *p = spring_problem(4);
    qn_fit_solve_options o;
    qn_fit_report r;
    qn_err err = { .text = "" };

    (void)state;
    qn_fit_solve_options_default(&o);
    o.linear_solver = QN_FIT_DENSE_QR;
    assert_int_equal(qn_fit_solve_lm(p, &o, &r, &err), QN_ERR_LIMIT);
    assert_string_equal(err.text, "dense_qr: 7686 free parameters, limit 2000");
    qn_fit_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_on_springs_agree),
        cmocka_unit_test(steps_of_bundle_adjustment_agree),
        cmocka_unit_test(dense_cholesky_by_panels_is_that_of_small_blocks),
        cmocka_unit_test(springs_settle),
        cmocka_unit_test(auto_stays_with_conjugate_gradients_where_few_do),
        cmocka_unit_test(auto_goes_over_to_a_factor_where_many_are_needed),
        cmocka_unit_test(bundle_adjustment_reaches_its_costs),
        cmocka_unit_test(outliers_need_a_loss_and_more_steps),
        cmocka_unit_test(fewer_rows_than_parameters_reach_zero),
        cmocka_unit_test(a_solver_that_cannot_serve_is_replaced_with_a_note),
        cmocka_unit_test(too_many_parameters_for_a_dense_solver_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

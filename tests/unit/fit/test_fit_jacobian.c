/* test_fit_jacobian.c - solves with a Jacobian that is stored, in f64 or f32, or computed. */
/* test: cost 46, quick-opencl */
#include "fit_backends.h"
#include "fit_mgh.h"

/* Options, and what the report says about them. */
typedef struct {
    qn_fit_jacobian jacobian;
    qn_fit_precision storage;
    const char *said, *stored_as;
} way;

static const way ways[] = {
    { QN_FIT_JACOBIAN_FREE, QN_FIT_F64, "free", "" },
    { QN_FIT_JACOBIAN_STORED, QN_FIT_F64, "stored", "f64" },
    { QN_FIT_JACOBIAN_STORED, QN_FIT_F32, "stored", "f32" },
    { QN_FIT_JACOBIAN_AUTO, QN_FIT_F32, "stored", "f32" },
};
enum { FREE, STORED, ROUNDED, N_WAYS = sizeof ways / sizeof *ways };

static qn_fit_solve_options options_of(const way *w)
{
    qn_fit_solve_options o;

    qn_fit_solve_options_default(&o);
    o.linear_solver = QN_FIT_PCG;
    o.function_tolerance = 1e-9;
    o.max_iterations = 100;
    o.jacobian = w->jacobian;
    o.storage = w->storage;
    return o;
}

/* On a backend, or in host memory if `ctx` is NULL. */
static void solve(qn_ctx *ctx, qn_fit_problem *p, const qn_fit_solve_options *o, qn_fit_report *r)
{
    qn_err err = { .text = "" };

    if (ctx)
        must_ok(qn_fit_solve_lm_on(ctx, p, QN_FIT_F64, o, r, &err), &err);
    else
        must_ok(qn_fit_solve_lm(p, o, r, &err), &err);
}

static void assert_said(const qn_fit_report *r, const way *w)
{
    assert_string_equal(r->jacobian, w->said);
    assert_string_equal(r->storage, w->stored_as);
    assert_true((r->jacobian_bytes > 0) == !strcmp(w->said, "stored"));
    assert_string_equal(r->linear, "pcg");
}

/* The costs of all choices agree; with f32 up to the tolerance of the solver. */
static void compare_ways(qn_ctx *ctx, qn_fit_problem *(*make)(void), int most, double rounded)
{
    double want = 0;

    for (int k = 0; k < N_WAYS; k++) {
        qn_fit_solve_options o = options_of(&ways[k]);
        const double tolerance = k < ROUNDED ? 1e-12 : rounded;
        qn_fit_problem *p = make();
        qn_fit_report r;

        o.max_iterations = most;
        solve(ctx, p, &o, &r);
        assert_said(&r, &ways[k]);
        assert_true(r.n_accepted > 1);
        if (k == 0)
            want = r.final_cost;
        if (!(fabs(r.final_cost - want) <= tolerance * want))
            fail_msg("way %d: %.17g instead of %.17g", k, r.final_cost, want);
        qn_fit_report_free(&r);
        qn_fit_problem_free(p);
    }
}

static void on_every_backend(qn_fit_problem *(*make)(void), int most, double rounded)
{
    compare_ways(NULL, make, most, rounded);
    for (int k = 0; k < N_BACKENDS; k++) {
        qn_ctx *ctx = open_backend(backends[k]);

        if (ctx)
            compare_ways(ctx, make, most, rounded);
        qn_ctx_close(ctx);
    }
}

static qn_fit_problem *springs(void)
{
    return spring_problem(2);
}

/* a exp(b x) with more rows than a chunk, and no zero residual. */
static qn_fit_problem *curve(void)
{
    enum { N = 4500 };
    static double x[N], y[N];
    static const double *const cols[] = { x, y };

    for (int k = 0; k < N; k++) {
        x[k] = k * (1.0 / N);
        y[k] = 2 / (1 + 3 * x[k]) + 0.1 * ((k * 37) % 11 - 5);
    }
    begin("curve");
    row(sub(dvd(X(1), plus(mul(X(2), col(0)), 1)), col(1)));
    return one_group(2, (const double[]){ 1, 1 }, N, 2, cols, (qn_fit_loss){ 0 }, NULL, NULL);
}

static qn_fit_problem *bundle(void)
{
    return bal_problem("fit/bal/synth-6-80-outliers.txt", (qn_fit_loss){ QN_FIT_LOSS_HUBER, 1 });
}

static void springs_settle_at_one_cost(void **state)
{
    (void)state;
    on_every_backend(springs, 50, 1e-9);
}

static void a_curve_is_fitted_alike(void **state)
{
    qn_ctx *ctx = open_backend("sim");

    (void)state;
    compare_ways(NULL, curve, 50, 1e-9);
    compare_ways(ctx, curve, 50, 1e-9);
    qn_ctx_close(ctx);
}

/* Kernels of cameras take long to compile, so devices only store J. */
static void bundles_go_down_alike(void **state)
{
    qn_fit_problem *p;
    qn_fit_solve_options o = options_of(&ways[STORED]);
    qn_fit_report want, got;
    qn_ctx *ctx;

    (void)state;
    need_golden("fit/bal/synth-6-80-outliers.txt");
    compare_ways(NULL, bundle, 6, 1e-6);
    ctx = open_backend("sim");
    o.max_iterations = 6;
    p = bundle();
    solve(NULL, p, &o, &want);
    qn_fit_problem_free(p);
    p = bundle();
    solve(ctx, p, &o, &got);
    assert_said(&got, &ways[STORED]);
    assert_true(fabs(got.final_cost - want.final_cost) <= 1e-6 * want.final_cost);
    qn_fit_problem_free(p);
    /* With elimination J is always stored, and J v reads it if the options say so. */
    p = bundle();
    qn_fit_report_free(&got);
    qn_fit_report_free(&want);
    o.linear_solver = QN_FIT_SCHUR_PCG;
    solve(NULL, p, &o, &want);
    qn_fit_problem_free(p);
    p = bundle();
    solve(ctx, p, &o, &got);
    assert_string_equal(got.linear, "schur_pcg");
    assert_string_equal(got.jacobian, "stored");
    assert_true(got.jacobian_bytes > 0);
    assert_true(fabs(got.final_cost - want.final_cost) <= 1e-6 * want.final_cost);
    qn_fit_report_free(&got);
    qn_fit_report_free(&want);
    qn_fit_problem_free(p);
    qn_ctx_close(ctx);
}

/* With a gradient or a model of rounded values, the solve would end about 1e-7 away. */
static void rounding_does_not_move_where_a_solve_ends(void **state)
{
    (void)state;
    for (int b = 0; b < 2; b++) {
        qn_ctx *ctx = b ? open_backend("sim") : NULL;
        double want[2] = { 0 };

        for (int k = FREE; k <= ROUNDED; k++) {
            qn_fit_problem *p = curve();
            qn_fit_solve_options o = options_of(&ways[k]);
            qn_fit_report r;

            o.function_tolerance = 0;
            o.parameter_tolerance = 0;
            o.gradient_tolerance = 1e-9;
            solve(ctx, p, &o, &r);
            assert_int_equal(r.end, QN_FIT_CONVERGED_GRADIENT);
            for (int s = 0; s < 2; s++) {
                if (k == FREE)
                    want[s] = p->x[s];
                if (!(fabs(p->x[s] - want[s]) <= 1e-11))
                    fail_msg("%s: %.17g instead of %.17g", b ? "sim" : "host", p->x[s], want[s]);
            }
            qn_fit_report_free(&r);
            qn_fit_problem_free(p);
        }
        qn_ctx_close(ctx);
    }
}

static void assert_bits(double **want, const qn_fit_problem *p)
{
    if (!*want) {
        *want = malloc(p->n_scalars * sizeof **want);
        memcpy(*want, p->x, p->n_scalars * sizeof **want);
    }
    assert_memory_equal(p->x, *want, p->n_scalars * sizeof **want);
}

/* Levels with enough entries for threads to share the sums. */
static void bits_are_the_same_in_every_run_and_with_any_threads(void **state)
{
    (void)state;
    for (int k = 0; k <= ROUNDED; k++) {
        double *of_host = NULL, *of_devices = NULL;

        for (int threads = 1; threads <= 3; threads += 2) {
            qn_fit_problem *p = spring_problem(5);
            qn_fit_solve_options o = options_of(&ways[k]);
            qn_fit_report r;

            o.max_iterations = 2;
            o.n_threads = threads;
            solve(NULL, p, &o, &r);
            assert_bits(&of_host, p);
            qn_fit_report_free(&r);
            qn_fit_problem_free(p);
        }
        for (int b = 0; b < 2 * N_BACKENDS; b++) {
            qn_ctx *ctx = open_backend(backends[b / 2]);
            qn_fit_problem *p;
            qn_fit_solve_options o = options_of(&ways[k]);
            qn_fit_report r;

            if (!ctx)
                continue;
            p = spring_problem(1);
            solve(ctx, p, &o, &r);
            assert_bits(&of_devices, p);
            qn_fit_report_free(&r);
            qn_fit_problem_free(p);
            qn_ctx_close(ctx);
        }
        free(of_host);
        free(of_devices);
    }
}

/* Combination with other options. */

/* By default small problems would get a factorisation, and bundles elimination. */
static void auto_is_pcg_where_nothing_else_will_do(void **state)
{
    (void)state;
    for (int k = 0; k <= ROUNDED; k += ROUNDED) {
        qn_fit_problem *p = curve();
        qn_fit_solve_options o = options_of(&ways[k]);
        qn_fit_report r;

        o.linear_solver = QN_FIT_LINEAR_AUTO;
        solve(NULL, p, &o, &r);
        assert_said(&r, &ways[k]);
        qn_fit_report_free(&r);
        qn_fit_problem_free(p);
    }
}

static void solvers_of_matrices_store_it(void **state)
{
    static const way any = { QN_FIT_JACOBIAN_AUTO, QN_FIT_F64, "stored", "f64" };
    qn_fit_solve_options o = options_of(&any);
    qn_fit_problem *p = curve();
    qn_fit_report r;
    qn_err err = { .text = "" };

    (void)state;
    o.linear_solver = QN_FIT_DENSE_QR;
    solve(NULL, p, &o, &r);
    assert_string_equal(r.jacobian, "stored");
    assert_string_equal(r.storage, "f64");
    assert_true(r.jacobian_bytes > 0);
    qn_fit_report_free(&r);
    qn_fit_solve_options_lbfgs(&o);
    must_ok(qn_fit_solve_lbfgs(p, &o, &r, &err), &err);
    assert_string_equal(r.jacobian, "none");
    assert_string_equal(r.storage, "");
    qn_fit_report_free(&r);
    qn_fit_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(springs_settle_at_one_cost),
        cmocka_unit_test(a_curve_is_fitted_alike),
        cmocka_unit_test(bundles_go_down_alike),
        cmocka_unit_test(rounding_does_not_move_where_a_solve_ends),
        cmocka_unit_test(bits_are_the_same_in_every_run_and_with_any_threads),
        cmocka_unit_test(auto_is_pcg_where_nothing_else_will_do),
        cmocka_unit_test(solvers_of_matrices_store_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

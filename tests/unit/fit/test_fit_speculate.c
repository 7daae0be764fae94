/* test_fit_speculate.c - points evaluated before their step is judged: the same solves, bit for
 * bit, with fewer waits. */
/* test: quick-opencl */
#include "fit_backends.h"
#include "fit_mgh.h"

#include "lab/fit/bench/cases.h"
#include "domain/fit/resident/resident_impl.h"

#include <quern/metrics.h>

static void options_of(qn_fit_solve_options *o)
{
    qn_fit_solve_options_default(o);
    o->linear_solver = QN_FIT_PCG;
    o->function_tolerance = 1e-9;
}

/* Problems. */

static qn_fit_problem *springs(void)
{
    return spring_problem(1);
}

/* Rosenbrock's valley: a third of the steps are rejected. */
static qn_fit_problem *valley(void)
{
    begin("valley");
    mgh_small(1, 2);
    return one_group(2, (const double[]){ -1.2, 1 }, 1, 0, NULL, (qn_fit_loss){ 0 }, NULL, NULL);
}

static qn_fit_problem *box(void)
{
    static const double start[] = { -3, -1, -3, -1 }, lower[] = { -100, -100, -100, -100 },
                        upper[] = { 0, 10, 100, 100 };

    mgh_rows(14, 4, 6);
    return one_group(4, start, 1, 0, NULL, (qn_fit_loss){ 0 }, lower, upper);
}

/* A decay with three outliers, whose influence the loss limits. */
static qn_fit_problem *outliers(void)
{
    enum { N = 60 };
    static double x[N], y[N];
    static const double *const cols[] = { x, y };

    for (int k = 0; k < N; k++) {
        x[k] = 0.05 * k;
        y[k] = 3 * exp(-1.3 * x[k]) + 0.01 * (k * 7 % 11) + (k % 20 == 3 ? 40 : 0);
    }
    begin("decay");
    row(sub(mul(X(1), ex(neg(mul(X(2), col(0))))), col(1)));
    return one_group(2, (const double[]){ 1, 6 }, N, 2, cols,
                     (qn_fit_loss){ QN_FIT_LOSS_CAUCHY, 0.5 }, NULL, NULL);
}

static qn_fit_problem *cameras(void)
{
    enum { N = 7 };
    qn_fit_problem *p = NULL;
    qn_err err = { .text = "" };

    must_ok(qn_fit_case_arc_of_cameras(N, 50, &p, &err), &err);
    for (int k = 0; k < N; k++)
        p->x[9 * k + 1] += k % 2 ? 0.9 : -0.9; /* rotated, for a distant start */
    return p;
}

/* The whole step ends where the root has no derivative. */
static qn_fit_problem *root(void)
{
    begin("root");
    row(fun("sqrt", X(1)));
    row(sub(X(2), lit(3)));
    return one_group(2, (const double[]){ 1, 1 }, 1, 0, NULL, (qn_fit_loss){ 0 },
                     (const double[]){ 0, -10 }, (const double[]){ 10, 10 });
}

/* Bits. */

static qn_fit_report solve(qn_ctx *ctx, qn_fit_problem *p, qn_fit_solve_options o, int speculate)
{
    qn_fit_report r;
    qn_err err = { .text = "" };

    o.speculate = speculate;
    must_ok(qn_fit_solve_lm_on(ctx, p, QN_FIT_F64, &o, &r, &err), &err);
    return r;
}

/* Compares the two reports, except for wasted evaluations. */
static void same_solve(const qn_fit_report *a, const qn_fit_report *b)
{
    assert_int_equal(a->end, b->end);
    assert_string_equal(a->text, b->text);
    assert_int_equal(a->n_accepted, b->n_accepted);
    assert_int_equal(a->n_rejected, b->n_rejected);
    assert_int_equal(a->n_history, b->n_history);
    assert_memory_equal(a->history, b->history, (size_t)a->n_history * sizeof *a->history);
    assert_true(a->final_cost == b->final_cost && a->gradient_max == b->gradient_max);
}

typedef struct {
    int rejected, undone;
} turns;

/* Solves both ways on one backend: rejected steps, and steps undone because a value was not
 * finite. */
static turns compare(const char *backend, qn_fit_problem *(*make)(void),
                     const qn_fit_solve_options *o)
{
    qn_ctx *ctx = open_backend(backend);
    turns n = { 0 };

    if (ctx) {
        qn_fit_problem *p = make(), *q = make();
        qn_fit_report plain = solve(ctx, p, *o, 0), ahead = solve(ctx, q, *o, 1);

        same_solve(&plain, &ahead);
        assert_memory_equal(p->x, q->x, p->n_scalars * sizeof *p->x);
        assert_int_equal(plain.n_speculated, 0);
        assert_true(ahead.n_speculated > 0 && ahead.n_dropped >= ahead.n_rejected);
        assert_true(ahead.n_waits < plain.n_waits || ahead.n_accepted < 2);
        n.rejected = ahead.n_rejected;
        /* The previous point is evaluated again, or still stored. */
        n.undone = (int)(plain.n_jacobians - (ahead.n_jacobians - ahead.n_dropped));
        qn_fit_report_free(&plain);
        qn_fit_report_free(&ahead);
        qn_fit_problem_free(p);
        qn_fit_problem_free(q);
    }
    qn_ctx_close(ctx);
    return n;
}

static void springs_end_on_the_same_bits_everywhere(void **state)
{
    qn_fit_solve_options o;

    (void)state;
    options_of(&o);
    for (int k = 0; k < N_BACKENDS; k++)
        compare(backends[k], springs, &o);
}

static void rejected_steps_leave_the_point_unchanged(void **state)
{
    qn_fit_solve_options o;

    (void)state;
    options_of(&o);
    assert_true(compare("cpu", valley, &o).rejected >= 3);
    assert_true(compare("sim", valley, &o).rejected >= 3);
}

static void boxes_are_kept_alike(void **state)
{
    qn_fit_solve_options o;

    (void)state;
    options_of(&o);
    assert_true(compare("sim", box, &o).rejected >= 1);
}

static void losses_are_kept_alike(void **state)
{
    qn_fit_solve_options o;

    (void)state;
    options_of(&o);
    assert_true(compare("sim", outliers, &o).rejected >= 1);
}

static void eliminated_blocks_have_a_second_jacobian(void **state)
{
    qn_fit_solve_options o;

    (void)state;
    options_of(&o);
    o.linear_solver = QN_FIT_SCHUR_PCG;
    for (int by_factors = 0; by_factors < 2; by_factors++) {
        o.linear.is_factored = by_factors;
        assert_true(compare("sim", cameras, &o).rejected >= 1);
    }
}

static void a_stored_jacobian_has_a_second_one(void **state)
{
    qn_fit_solve_options o;

    (void)state;
    options_of(&o);
    o.jacobian = QN_FIT_JACOBIAN_STORED;
    assert_true(compare("sim", valley, &o).rejected >= 3);
    o.storage = QN_FIT_F32;
    assert_true(compare("sim", valley, &o).rejected >= 3);
    compare("cpu", springs, &o);
}

static void steps_to_where_nothing_is_finite_are_undone(void **state)
{
    qn_fit_solve_options o;

    (void)state;
    options_of(&o);
    assert_true(compare("sim", root, &o).undone >= 1);
}

static void halved_and_kept_steps_are_the_same_too(void **state)
{
    qn_fit_solve_options o;

    (void)state;
    options_of(&o);
    o.nonmonotonic = 1;
    assert_true(compare("sim", valley, &o).undone == 0);
    o.nonmonotonic = 0;
    o.damping = QN_FIT_DAMP_GAUSS;
    assert_true(compare("sim", valley, &o).undone == 0);
    o.damping = QN_FIT_DAMP_LAMBDA;
    assert_true(compare("sim", valley, &o).undone == 0);
}

/* Costs. */

/* At most eight iterations of conjugate gradients, which are polled once. */
static void a_step_is_one_wait_and_one_poll(void **state)
{
    qn_ctx *ctx = open_backend("sim");
    qn_i64 n_taken = 0;
    qn_fit_solve_options o;

    (void)state;
    options_of(&o);
    o.linear.max_iterations = 8;
    for (int speculate = 0; speculate < 2; speculate++) {
        qn_fit_problem *p = valley();
        const qn_fit_report r = solve(ctx, p, o, speculate);
        const int n_steps = r.n_accepted + r.n_rejected;

        assert_true(r.n_rejected > 0 && n_steps > 10);
        if (!speculate)
            n_taken = r.n_jacobians;
        assert_int_equal(r.n_waits, 1 + 2 * n_steps + (speculate ? 0 : n_taken - 1));
        assert_int_equal(r.n_speculated, speculate ? n_steps : 0);
        assert_int_equal(r.n_jacobians - r.n_dropped, n_taken);
        qn_fit_report_free((qn_fit_report *)&r);
        qn_fit_problem_free(p);
    }
    qn_ctx_close(ctx);
}

static void answer(const qn_fit_driver *table, qn_fit_scalars *s)
{
    while (!table->is_ready(table->self, s))
        ;
}

/* One step; every third is rejected. Returns the cost at its end. */
static double step_once(const qn_fit_driver *table, int step)
{
    qn_fit_scalars s;

    table->linearise(table->self);
    answer(table, &s);
    assert_true(isfinite(s.cost) && s.gradient_max > 0);
    table->solve(table->self, QN_FIT_D_DIAGONAL, 1e-4);
    answer(table, &s);
    assert_true(s.is_solved);
    table->try_step(table->self, 1, 0);
    answer(table, &s);
    assert_true(s.step_norm > 0);
    if (step % 3 != 2)
        table->accept(table->self);
    return s.cost;
}

/* A read for the step and one for its conjugate gradients, which are polled once; one write of the
 * control. */
static double check_only_scalars_cross(const char *backend, qn_fit_problem *p,
                                       qn_fit_linear_kind linear, int n_before)
{
    qn_ctx *ctx = open_backend(backend);
    qn_fit_device_driver *driver = NULL;
    qn_err err = { .text = "" };
    qn_fit_solve_options o;
    qn_fit_driver table;
    double cost = 0;

    if (!ctx) {
        qn_fit_problem_free(p);
        return 0;
    }
    options_of(&o);
    o.linear_solver = linear;
    o.linear.max_iterations = 8;
    o.speculate = 1;
    must_ok(qn_fit_device_driver_new(ctx, p, QN_FIT_F64, &o, &driver, &err), &err);
    driver->n_before_speculation = n_before;
    table = qn_fit_device_driver_table(driver);
    for (int step = 0; step < 8; step++) {
        /* Without speculation, an accepted point costs one more wait. */
        const int n_waits = 2 + (driver->n_taken <= n_before && !driver->here.is_known);
        const qn_transfer_count before = qn_ctx_transfers(ctx);
        const double misses = qn_metric_value(qn_ctx_metrics(ctx), "pool_misses", NULL);
        const qn_i64 waits = driver->n_waits;
        qn_transfer_count after;

        cost = step_once(&table, step);
        after = qn_ctx_transfers(ctx);
        if (step == 0)
            continue; /* tables are uploaded */
        assert_true(qn_metric_value(qn_ctx_metrics(ctx), "pool_misses", NULL) == misses);
        assert_int_equal(driver->n_waits - waits, n_waits);
        assert_int_equal(after.d2h_count - before.d2h_count, n_waits);
        assert_int_equal(after.d2h_bytes - before.d2h_bytes,
                         (size_t)n_waits * FIT_N_SCALARS * sizeof(double));
        assert_int_equal(after.h2d_bytes - before.h2d_bytes, FIT_N_CONTROL * sizeof(double));
        assert_true(n_waits > 2 ||
                    after.d2h_bytes - before.d2h_bytes + after.h2d_bytes - before.h2d_bytes <= 256);
    }
    assert_int_equal(qn_fit_device_driver_status(driver, &err), QN_OK);
    qn_fit_device_driver_free(driver);
    qn_fit_problem_free(p);
    qn_ctx_close(ctx);
    return cost;
}

static void only_scalars_cross(void **state)
{
    (void)state;
    check_only_scalars_cross("sim", springs(), QN_FIT_PCG, 0);
    check_only_scalars_cross("opencl", springs(), QN_FIT_PCG, 0);
    check_only_scalars_cross("sim", cameras(), QN_FIT_SCHUR_PCG, 0);
}

/* As on a GPU by default: short solves end before speculation begins. */
static void a_late_beginning_sends_nothing_either_and_ends_alike(void **state)
{
    (void)state;
    assert_true(check_only_scalars_cross("sim", springs(), QN_FIT_PCG, 3) ==
                check_only_scalars_cross("sim", springs(), QN_FIT_PCG, 0));
    assert_true(check_only_scalars_cross("sim", cameras(), QN_FIT_SCHUR_PCG, 3) ==
                check_only_scalars_cross("sim", cameras(), QN_FIT_SCHUR_PCG, 100));
}

static void only_a_gpu_speculates_unasked(void **state)
{
    qn_ctx *ctx = open_backend("sim");
    qn_fit_problem *p = springs();
    qn_fit_solve_options o;
    qn_fit_report r;

    (void)state;
    options_of(&o);
    r = solve(ctx, p, o, -1);
    assert_int_equal(r.n_speculated, 0);
    assert_true(r.n_waits > 0);
    qn_fit_report_free(&r);
    qn_fit_problem_free(p);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(springs_end_on_the_same_bits_everywhere),
        cmocka_unit_test(rejected_steps_leave_the_point_unchanged),
        cmocka_unit_test(boxes_are_kept_alike),
        cmocka_unit_test(losses_are_kept_alike),
        cmocka_unit_test(eliminated_blocks_have_a_second_jacobian),
        cmocka_unit_test(a_stored_jacobian_has_a_second_one),
        cmocka_unit_test(steps_to_where_nothing_is_finite_are_undone),
        cmocka_unit_test(halved_and_kept_steps_are_the_same_too),
        cmocka_unit_test(a_step_is_one_wait_and_one_poll),
        cmocka_unit_test(only_scalars_cross),
        cmocka_unit_test(a_late_beginning_sends_nothing_either_and_ends_alike),
        cmocka_unit_test(only_a_gpu_speculates_unasked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

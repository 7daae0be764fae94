/* test_fit_renumber.c - blocks are reordered for the solver only.
 */
#include "fit_backends.h"

#include "domain/fit/host/host.h"
#include "domain/fit/problem/problem.h"
#include "domain/fit/run/run.h"

/* A chain with links numbered in a scattered order. */

enum { N = 400, STEP = 37 }; /* 37 and 400 have no common divisor */

/* The position of link `b` in the chain. */
static uint32_t place_of(uint32_t b)
{
    return b * STEP % N;
}

/* Links of two numbers with springs between neighbours, the first link held, one bounded; and one
 * parameter, in its own set, that all springs share. */
static qn_fit_problem *chain(void)
{
    static double start[2 * N], lower[2 * N], length[N - 1];
    static uint32_t block[N], left[N - 1], right[N - 1], zero[N - 1];
    static const uint32_t *const slots[] = { left, right, zero };
    static const double *const columns[] = { length };
    uint8_t fixed[2 * N] = { 0 };
    qn_fit_problem *p = NULL;
    qn_err err = { .text = "" };
    int sets[3], stiff;

    for (uint32_t b = 0; b < N; b++) {
        block[place_of(b)] = b;
        start[2 * b] = 0.9 * place_of(b);
        start[2 * b + 1] = 0.1 * (place_of(b) % 7);
        lower[2 * b] = -HUGE_VAL;
        lower[2 * b + 1] = place_of(b) == 5 ? 0.45 : -HUGE_VAL;
    }
    fixed[2 * block[0]] = fixed[2 * block[0] + 1] = 1;
    for (uint32_t k = 0; k + 1 < N; k++) {
        left[k] = block[(k * 11 + 3) % (N - 1)];
        right[k] = block[(k * 11 + 3) % (N - 1) + 1];
        length[k] = 1 + 0.01 * (k % 5);
    }
    must_ok(qn_fit_problem_new(&p, &err), &err);
    must_ok(qn_fit_problem_add_set(p, "link", N, 2, start, &sets[0], &err), &err);
    must_ok(qn_fit_problem_add_set(p, "stiff", 1, 1, (const double[]){ 2 }, &stiff, &err), &err);
    sets[1] = sets[0];
    sets[2] = stiff;
    must_ok(qn_fit_problem_fix(p, sets[0], fixed, &err), &err);
    must_ok(qn_fit_problem_bound(p, sets[0], lower, NULL, &err), &err);
    begin("spring");
    row(mul(qn_fit_param(G, 2, 0), sub(add(sq(sub(qn_fit_param(G, 0, 0), qn_fit_param(G, 1, 0))),
                                           sq(sub(qn_fit_param(G, 0, 1), qn_fit_param(G, 1, 1)))),
                                       col(0))));
    row(sub(qn_fit_param(G, 2, 0), lit(1)));
    must_ok(qn_fit_problem_add_group(p,
                                     &(qn_fit_group_spec){ .name = "spring",
                                                           .graph = G,
                                                           .n = N - 1,
                                                           .n_slots = 3,
                                                           .n_columns = 1,
                                                           .slot_set = sets,
                                                           .slot_block = slots,
                                                           .columns = columns },
                                     &err),
            &err);
    must_ok(qn_fit_problem_finish(p, &err), &err);
    return p;
}

static double cost_of(const qn_fit_problem *p, const double *x, double *gradient)
{
    qn_fit_host *host = NULL;
    qn_err err = { .text = "" };
    double cost;

    must_ok(qn_fit_host_new(p, (qn_fit_host_options){ 0 }, &host, &err), &err);
    must_ok(qn_fit_host_gradient(host, x, &cost, gradient, NULL, &err), &err);
    qn_fit_host_free(host);
    return cost;
}

/* Numbers. */

static void neighbours_come_to_lie_side_by_side(void **state)
{
    qn_fit_problem *p = chain();
    qn_fit_renumbered *r = NULL;
    qn_err err = { .text = "" };

    (void)state;
    must_ok(qn_fit_renumbered_new(p, &r, &err), &err);
    assert_true(qn_fit_problem_span(p) > 30 * 2 * sizeof(double));
    /* Breadth-first from a link in the middle, in both directions. */
    assert_true(qn_fit_problem_span(&r->problem) <= 2 * 2 * sizeof(double));
    qn_fit_renumbered_free(r);
    qn_fit_problem_free(p);
}

static void every_block_keeps_its_numbers(void **state)
{
    qn_fit_problem *p = chain();
    double x[2 * N + 1];
    qn_fit_renumbered *r = NULL;
    qn_err err = { .text = "" };

    (void)state;
    must_ok(qn_fit_renumbered_new(p, &r, &err), &err);
    qn_fit_renumbered_x(r, x);
    assert_memory_equal(x, p->x, sizeof x);
    assert_int_equal(r->problem.n_free, p->n_free);
    assert_int_equal(r->was[N], N); /* the only block of its set */
    for (uint32_t b = 0; b < N; b++)
        for (uint32_t c = 0; c < 2; c++) {
            assert_int_equal(r->problem.is_fixed[2 * b + c], p->is_fixed[2 * r->was[b] + c]);
            assert_true(r->problem.lower[2 * b + c] == p->lower[2 * r->was[b] + c]);
        }
    qn_fit_renumbered_free(r);
    qn_fit_problem_free(p);
}

static void terms_and_their_rows_are_the_same(void **state)
{
    qn_fit_problem *p = chain();
    double g[2 * N + 1], h[2 * N + 1];
    qn_fit_renumbered *r = NULL;
    qn_err err = { .text = "" };

    (void)state;
    must_ok(qn_fit_renumbered_new(p, &r, &err), &err);
    assert_true(fabs(cost_of(p, p->x, g) - cost_of(&r->problem, r->problem.x, h)) < 1e-10);
    for (uint32_t b = 0; b < N; b++)
        for (uint32_t c = 0; c < 2; c++)
            assert_true(fabs(h[2 * b + c] - g[2 * r->was[b] + c]) < 1e-12);
    for (qn_i64 i = 0; i < N - 1; i++) {
        const qn_fit_group *a = &p->groups[0], *b = &r->problem.groups[0];
        qn_i64 k = 0;

        while (a->rows[k] != b->rows[i])
            k++;
        for (int s = 0; s < 2; s++)
            assert_int_equal(qn_fit_block_of(p, a, s, k),
                             r->was[qn_fit_block_of(&r->problem, b, s, i)]);
        assert_true(a->data[k] == b->data[i]);
    }
    qn_fit_renumbered_free(r);
    qn_fit_problem_free(p);
}

/* Solves. */

static void solve(qn_ctx *ctx, qn_fit_problem *p, const char *solver, int renumber,
                  qn_fit_solved *out)
{
    qn_fit_solve_options o;
    qn_err err = { .text = "" };

    qn_fit_solve_options_default(&o);
    o.linear_solver = QN_FIT_PCG;
    o.function_tolerance = 1e-13;
    o.renumber = renumber;
    must_ok(qn_fit_solve_routed(ctx, p, solver, QN_FIT_F64, &o, out, &err), &err);
}

static void results_are_in_the_order_of_the_caller(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        qn_ctx *ctx = open_backend(backends[k]);
        qn_fit_problem *p = chain(), *q = chain();
        qn_fit_solved plain, near;

        solve(ctx, p, "lm", 0, &plain);
        solve(ctx, q, "lm", 1, &near);
        assert_false(plain.report.is_renumbered);
        assert_true(near.report.is_renumbered);
        assert_true(plain.report.final_cost < 0.1 * plain.report.initial_cost);
        assert_true(fabs(near.report.final_cost - plain.report.final_cost) <
                    1e-6 * plain.report.final_cost);
        assert_true(fabs(near.report.group_costs[0] - near.report.final_cost) <
                    1e-9 * near.report.final_cost);
        for (uint32_t s = 0; s < p->n_scalars; s++)
            assert_true(fabs(p->x[s] - q->x[s]) < 1e-3);
        qn_fit_report_free(&plain.report);
        qn_fit_report_free(&near.report);
        qn_fit_problem_free(p);
        qn_fit_problem_free(q);
        qn_ctx_close(ctx);
    }
}

static void what_is_near_stays_as_it_is(void **state)
{
    qn_ctx *ctx = open_backend("cpu");
    qn_fit_problem *p = chain();
    qn_fit_solved solved;

    (void)state;
    solve(ctx, p, "lm", -1, &solved); /* 400 links fit into any cache */
    assert_false(solved.report.is_renumbered);
    qn_fit_report_free(&solved.report);
    qn_fit_problem_free(p);
    qn_ctx_close(ctx);
}

/* `n` numbers in a ring, each tied to the one `step` further on. */
static qn_fit_problem *ring(uint32_t n, uint32_t step)
{
    double *start = calloc(n, sizeof *start);
    uint32_t *left = calloc(n, sizeof *left), *right = calloc(n, sizeof *right);
    qn_fit_problem *p = NULL;
    qn_err err = { .text = "" };
    int sets[2];

    for (uint32_t k = 0; k < n; k++) {
        start[k] = k % 5;
        left[k] = k;
        right[k] = (k + step) % n;
    }
    must_ok(qn_fit_problem_new(&p, &err), &err);
    must_ok(qn_fit_problem_add_set(p, "x", n, 1, start, &sets[0], &err), &err);
    sets[1] = sets[0];
    begin("tie");
    row(sub(sub(qn_fit_param(G, 0, 0), qn_fit_param(G, 1, 0)), lit(0.5)));
    must_ok(qn_fit_problem_add_group(
                p,
                &(qn_fit_group_spec){ .name = "tie",
                                      .graph = G,
                                      .n = n,
                                      .n_slots = 2,
                                      .slot_set = sets,
                                      .slot_block = (const uint32_t *const[]){ left, right } },
                &err),
            &err);
    must_ok(qn_fit_problem_finish(p, &err), &err);
    free(start);
    free(left);
    free(right);
    return p;
}

static void what_is_far_apart_is_renumbered_unasked(void **state)
{
    qn_ctx *ctx = open_backend("cpu");
    qn_fit_problem *p = ring(150000, 74999); /* half a ring away, 600 kB */
    qn_fit_solve_options o;
    qn_fit_solved solved;
    qn_err err = { .text = "" };

    (void)state;
    qn_fit_solve_options_default(&o);
    o.linear_solver = QN_FIT_PCG;
    o.max_iterations = 1;
    must_ok(qn_fit_solve_routed(ctx, p, "lm", QN_FIT_F64, &o, &solved, &err), &err);
    assert_true(solved.report.is_renumbered);
    qn_fit_report_free(&solved.report);
    qn_fit_problem_free(p);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_come_to_lie_side_by_side),
        cmocka_unit_test(every_block_keeps_its_numbers),
        cmocka_unit_test(terms_and_their_rows_are_the_same),
        cmocka_unit_test(results_are_in_the_order_of_the_caller),
        cmocka_unit_test(what_is_near_stays_as_it_is),
        cmocka_unit_test(what_is_far_apart_is_renumbered_unasked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

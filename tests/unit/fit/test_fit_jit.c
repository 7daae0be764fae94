/* test_fit_jit.c - groups compiled by the system's compiler, compared with the interpreter. */
#include "engine_fixture.h"
#include "fit_products.h"
#include "fit_problems.h"

#include "domain/fit/device/device.h"
#include "lab/fit/bench/cases.h"

#include <math.h>

enum { N = 6000 };

/* One evaluation each of cost, gradient and J; the cost follows the gradient. */
typedef struct {
    double *gradient, *residuals;
    qn_i64 n_rows;
    int n_compiled;
} outcome;

static outcome evaluate(const qn_fit_problem *p, int threads, qn_fit_jit_mode mode, int times)
{
    const qn_fit_host_options options = { .threads = threads, .jit = mode };
    qn_fit_host *h = NULL;
    qn_err err = { .text = "" };
    outcome o = { 0 };
    double cost;

    must_ok(qn_fit_host_new(p, options, &h, &err), &err);
    o.gradient = calloc((size_t)p->n_scalars + 1, sizeof *o.gradient);
    for (int k = 0; k < times; k++)
        must_ok(qn_fit_host_gradient(h, p->x, &o.gradient[p->n_scalars], o.gradient, NULL, &err),
                &err);
    must_ok(qn_fit_host_linearize(h, p->x, &cost, NULL, &err), &err);
    assert_true(cost == o.gradient[p->n_scalars]);
    o.n_rows = qn_fit_host_n_rows(h);
    o.residuals = malloc((size_t)o.n_rows * sizeof *o.residuals);
    memcpy(o.residuals, h->residuals, (size_t)o.n_rows * sizeof *o.residuals);
    o.n_compiled = fit_host_n_compiled(h);
    qn_fit_host_free(h);
    return o;
}

static void outcome_free(outcome *o)
{
    free(o->gradient);
    free(o->residuals);
}

static void assert_same(const qn_fit_problem *p, const outcome *a, const outcome *b)
{
    assert_memory_equal(a->gradient, b->gradient, (p->n_scalars + 1) * sizeof *a->gradient);
    assert_memory_equal(a->residuals, b->residuals, (size_t)a->n_rows * sizeof *a->residuals);
}

static void compiled_groups_have_the_interpreters_bits(void **state)
{
    qn_fit_text *t = fit_load(FIT_MIXED, NULL);
    outcome interpreted = evaluate(t->problem, 1, QN_FIT_JIT_NEVER, 1);
    outcome compiled = evaluate(t->problem, 1, QN_FIT_JIT_ALWAYS, 1);

    (void)state;
    assert_int_equal(interpreted.n_compiled, 0);
    assert_true(compiled.n_compiled >= 2 * 4); /* four groups, two purposes */
    assert_same(t->problem, &compiled, &interpreted);
    outcome_free(&interpreted);
    outcome_free(&compiled);
    qn_fit_text_free(t);
}

static void threads_change_no_bit(void **state)
{
    qn_fit_problem *p = NULL;
    qn_err err = { .text = "" };
    outcome first;

    (void)state;
    must_ok(qn_fit_case_springs(N, &p, &err), &err);
    first = evaluate(p, 1, QN_FIT_JIT_NEVER, 1);
    for (int mode = QN_FIT_JIT_NEVER; mode <= QN_FIT_JIT_ALWAYS; mode++)
        for (int k = 0; k < 3; k++) {
            outcome o = evaluate(p, (const int[]){ 1, 2, 7 }[k], (qn_fit_jit_mode)mode, 20);

            assert_same(p, &o, &first);
            outcome_free(&o);
        }
    outcome_free(&first);
    qn_fit_problem_free(p);
}

/* Cameras use quern's own sine: the same text, so nearly the same numbers. */
static void cameras_are_compiled_too(void **state)
{
    qn_fit_problem *p = NULL;
    qn_err err = { .text = "" };
    outcome a, b;

    (void)state;
    must_ok(qn_fit_case_cameras(N, &p, &err), &err);
    a = evaluate(p, 2, QN_FIT_JIT_NEVER, 1);
    b = evaluate(p, 2, QN_FIT_JIT_ALWAYS, 1);
    for (uint32_t k = 0; k < p->n_scalars; k++)
        assert_true(fabs(a.gradient[k] - b.gradient[k]) <= 1e-11 * fmax(1, fabs(a.gradient[k])));
    outcome_free(&a);
    outcome_free(&b);
    qn_fit_problem_free(p);
}

/* The gradient of springs, compiled with and without contraction. */
static double *gradient_of(const qn_fit_problem *p, int may_contract)
{
    const qn_fit_host_options options = { .threads = 2, .jit = QN_FIT_JIT_ALWAYS };
    double *gradient = calloc(p->n_scalars, sizeof *gradient), cost;
    qn_fit_host *h = NULL;
    qn_err err = { .text = "" };

    must_ok(qn_fit_host_new(p, options, &h, &err), &err);
    qn_fit_host_set_contraction(h, may_contract);
    must_ok(qn_fit_host_gradient(h, p->x, &cost, gradient, NULL, &err), &err);
    assert_int_equal(fit_host_n_compiled(h), 1);
    qn_fit_host_free(h);
    return gradient;
}

static void contraction_changes_the_last_digits_at_most(void **state)
{
    qn_fit_problem *p = NULL;
    qn_err err = { .text = "" };
    double *strict, *loose;

    (void)state;
    must_ok(qn_fit_case_springs(N, &p, &err), &err);
    strict = gradient_of(p, 0);
    loose = gradient_of(p, 1);
    for (uint32_t k = 0; k < p->n_scalars; k++)
        assert_true(fabs(strict[k] - loose[k]) <= 1e-12 * fmax(1, fabs(strict[k])));
#ifdef __FMA__
    assert_true(memcmp(strict, loose, p->n_scalars * sizeof *strict) != 0);
#endif
    free(strict);
    free(loose);
    qn_fit_problem_free(p);
}

static void only_what_is_worked_on_for_long_is_compiled(void **state)
{
    qn_fit_problem *p = NULL;
    qn_err err = { .text = "" };
    outcome brief, lengthy;

    (void)state;
    must_ok(qn_fit_case_springs(200000, &p, &err), &err);
    brief = evaluate(p, 2, QN_FIT_JIT_AUTO, 1);
    lengthy = evaluate(p, 2, QN_FIT_JIT_AUTO, 150);
    assert_int_equal(brief.n_compiled, 0);
    assert_int_equal(lengthy.n_compiled, 1); /* the gradient, but not passes that ran only once */
    assert_same(p, &brief, &lengthy);
    outcome_free(&brief);
    outcome_free(&lengthy);
    qn_fit_problem_free(p);
}

static void without_a_compiler_the_interpreter_goes_on(void **state)
{
    qn_fit_problem *p = NULL;
    qn_err err = { .text = "" };
    outcome o, plain;

    (void)state;
    must_ok(qn_fit_case_springs(N, &p, &err), &err);
    plain = evaluate(p, 1, QN_FIT_JIT_NEVER, 1);
    setenv("QUERN_CC", "/nowhere/cc", 1);
    o = evaluate(p, 1, QN_FIT_JIT_ALWAYS, 2);
    unsetenv("QUERN_CC");
    assert_int_equal(o.n_compiled, 0);
    assert_same(p, &o, &plain);
    outcome_free(&o);
    outcome_free(&plain);
    qn_fit_problem_free(p);
}

/* The slope of a root at 0 is infinite. */
static void compiled_code_counts_what_is_not_finite(void **state)
{
    qn_fit_text *t = fit_load("fit 1;\ntable T(y) = { 1; 4; 0; 9 };\nparam a = 0;\n"
                              "residual r over i in T { yield sqrt(a * i.y) - 1; }\n",
                              NULL);
    const qn_fit_host_options options = { .jit = QN_FIT_JIT_ALWAYS };
    qn_fit_host *h = NULL;
    qn_fit_bad bad;
    qn_err err = { .text = "" };
    double cost;

    (void)state;
    must_ok(qn_fit_host_new(t->problem, options, &h, &err), &err);
    must_ok(qn_fit_host_linearize(h, t->problem->x, &cost, &bad, &err), &err);
    assert_int_equal(fit_host_n_compiled(h), 1);
    assert_int_equal(bad.count, 4);
    assert_int_equal(bad.row, 0);
    qn_fit_host_free(h);
    qn_fit_text_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiled_groups_have_the_interpreters_bits),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(cameras_are_compiled_too),
        cmocka_unit_test(contraction_changes_the_last_digits_at_most),
        cmocka_unit_test(only_what_is_worked_on_for_long_is_compiled),
        cmocka_unit_test(without_a_compiler_the_interpreter_goes_on),
        cmocka_unit_test(compiled_code_counts_what_is_not_finite),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

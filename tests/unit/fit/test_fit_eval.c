/* test_fit_eval.c - the interpreter: block sizes, ranges, registers, faults. */
#include "fit_golden.h"

enum { N = 1000 };

static qn_fit_tape *bal_program(void)
{
    qn_fit_graph *g = fit_golden_graph("bal_reproj", 14);
    qn_fit_tape *p = NULL;
    qn_err err = { .text = "" };

    must_ok(qn_fit_tape_new(g, QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_JAC),
                            (qn_fit_loss){ 0 }, QN_FIT_SWEEP_AUTO, &p, &err),
            &err);
    qn_fit_graph_free(g);
    return p;
}

/* The camera looks along -z at points between 2 and 8 away. */
static void camera_inputs(double *x, uint32_t *idx)
{
    for (int k = 0; k < 14 * N; k++)
        x[k] = 0.5 * (double)qn_random_float(7, (uint64_t)k) - (k % 14 == 11 ? 5 : 0);
    for (int i = 0; i < N; i++)
        idx[i] = (uint32_t)(14 * i);
}

static void bits_do_not_depend_on_the_block_size(void **state)
{
    static const int widths[] = { 8, 16, 40, 64, 128, 256, 1000 };
    qn_fit_tape *p = bal_program();
    double *x = calloc(14 * N, sizeof *x);
    uint32_t *idx = calloc(N, sizeof *idx);

    (void)state;
    camera_inputs(x, idx);
    for (int precision = 0; precision < 2; precision++) {
        double *want = fit_run(p, (qn_fit_precision)precision, 0, x, 14 * N, idx, N, NULL);

        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            double *got =
                fit_run(p, (qn_fit_precision)precision, widths[w], x, 14 * N, idx, N, NULL);

            assert_memory_equal(got, want, (size_t)p->n_outputs * N * sizeof *got);
            free(got);
        }
        free(want);
    }
    free(x);
    free(idx);
    qn_fit_tape_free(p);
}

static void ranges_write_their_own_instances_only(void **state)
{
    qn_fit_tape *p = bal_program();
    double *x = calloc(14 * N, sizeof *x), *want;
    double *out = calloc((size_t)p->n_outputs * N, sizeof *out);
    uint32_t *idx = calloc(N, sizeof *idx);
    qn_fit_tables t = { .params = x, .idx = idx, .ld = N };
    qn_fit_plan *plan = NULL;
    qn_err err = { .text = "" };

    (void)state;
    camera_inputs(x, idx);
    want = fit_run(p, QN_FIT_F64, 0, x, 14 * N, idx, N, NULL);
    must_ok(qn_fit_plan_new(p, QN_FIT_F64, 0, &plan, &err), &err);
    void *work = fit_aligned(qn_fit_plan_bytes(plan));

    for (int s = 0; s < QN_FIT_N_SECTIONS; s++)
        t.out[s] = out + (size_t)p->sections[s].first * N;
    qn_fit_eval(plan, &t, 700, 703, work, NULL);
    for (int o = 0; o < p->n_outputs; o++)
        for (int i = 0; i < N; i++)
            assert_true(out[o * N + i] == (i >= 700 && i < 703 ? want[o * N + i] : 0));
    qn_fit_eval(plan, &t, 703, N, work, NULL);
    qn_fit_eval(plan, &t, 0, 700, work, NULL);
    assert_memory_equal(out, want, (size_t)p->n_outputs * N * sizeof *out);
    free(work);
    free(out);
    free(want);
    free(x);
    free(idx);
    qn_fit_plan_free(plan);
    qn_fit_tape_free(p);
}

static void instances_that_are_not_finite_are_counted(void **state)
{
    qn_fit_graph *g = fit_golden_graph("log", 1);
    qn_fit_tape *p = NULL;
    double *x = calloc(N, sizeof *x), *out;
    uint32_t *idx = calloc(N, sizeof *idx);
    qn_fit_fault fault;
    qn_err err = { .text = "" };

    (void)state;
    must_ok(qn_fit_tape_new(g, QN_FIT_WANT(QN_FIT_RES), (qn_fit_loss){ 0 }, 0, &p, &err), &err);
    for (int i = 0; i < N; i++) {
        x[i] = i == 611 ? -1 : i == 999 ? 0 : 1 + i;
        idx[i] = (uint32_t)i;
    }
    for (int precision = 0; precision < 2; precision++) {
        out = fit_run(p, (qn_fit_precision)precision, 64, x, N, idx, N, &fault);
        assert_int_equal(fault.count, 2);
        assert_int_equal(fault.first, 611);
        free(out);
    }
    x[611] = x[999] = 1;
    out = fit_run(p, QN_FIT_F64, 0, x, N, idx, N, &fault);
    free(out);
    assert_int_equal(fault.count, 0);
    assert_int_equal(fault.first, -1);
    free(x);
    free(idx);
    qn_fit_tape_free(p);
    qn_fit_graph_free(g);
}

/* Two slots bound to one block, an output that is a leaf, one that is a literal, one twice. */
static void odd_bindings_and_outputs_work(void **state)
{
    qn_fit_graph *g = NULL;
    qn_fit_tape *p = NULL;
    const double x[2] = { 3, 4 };
    const uint32_t idx[2] = { 1, 1 };
    qn_err err = { .text = "" };
    double *out;

    (void)state;
    assert_int_equal(qn_fit_graph_new("odd", QN_FIT_TEMPLATE, &g, &err), QN_OK);
    const qn_fit_v a = qn_fit_param(g, 0, 0), b = qn_fit_param(g, 1, 0), ab = qn_fit_mul(g, a, b);

    qn_fit_output(g, ab);
    qn_fit_output(g, a);
    qn_fit_output(g, qn_fit_lit(g, 2.5));
    qn_fit_output(g, ab);
    qn_fit_output(g, a);
    qn_fit_output(g, qn_fit_add(g, qn_fit_mul(g, a, a), b)); /* one pass, and two outputs */
    qn_fit_output(g, qn_fit_add(g, qn_fit_mul(g, a, a), b));
    must_ok(qn_fit_graph_finish(g, &err), &err);
    must_ok(qn_fit_tape_new(g, QN_FIT_WANT(QN_FIT_RES), (qn_fit_loss){ 0 }, 0, &p, &err), &err);
    out = fit_run(p, QN_FIT_F64, 0, x, 2, idx, 1, NULL);
    assert_true(out[0] == 16 && out[1] == 4 && out[2] == 2.5 && out[3] == 16 && out[4] == 4 &&
                out[5] == 20 && out[6] == 20);
    free(out);
    qn_fit_tape_free(p);
    qn_fit_graph_free(g);
}

static void integer_powers_are_chains(void **state)
{
    static const int exponents[] = { 4, 5, 7, 16, 64, -2, -5 };
    const double x = 1.0625; /* powers are exact as long as they fit */
    const uint32_t idx = 0;

    (void)state;
    for (size_t k = 0; k < sizeof exponents / sizeof *exponents; k++) {
        qn_fit_graph *g = NULL;
        qn_fit_tape *p = NULL;
        qn_err err = { .text = "" };
        double *out;

        assert_int_equal(qn_fit_graph_new("power", QN_FIT_TEMPLATE, &g, &err), QN_OK);
        const qn_fit_v args[] = { qn_fit_param(g, 0, 0), qn_fit_lit(g, exponents[k]) };

        qn_fit_output(g, qn_fit_op(g, "pow", args, 2));
        must_ok(qn_fit_graph_finish(g, &err), &err);
        must_ok(qn_fit_tape_new(g, QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_JAC),
                                (qn_fit_loss){ 0 }, 0, &p, &err),
                &err);
        out = fit_run(p, QN_FIT_F64, 0, &x, 1, &idx, 1, NULL);
        assert_true(fabs(out[0] / pow(x, exponents[k]) - 1) < 4e-15);
        assert_true(
            fabs(fit_jac(p, out, 1, 0, 0, 0, 0) / (exponents[k] * pow(x, exponents[k] - 1)) - 1) <
            4e-15);
        for (int v = 0; v < p->n_values; v++)
            assert_int_not_equal(p->values[v].op, QN_FIT_OP_powi);
        free(out);
        qn_fit_tape_free(p);
        qn_fit_graph_free(g);
    }
}

static void a_block_of_odd_size_is_refused(void **state)
{
    qn_fit_tape *p = bal_program();
    qn_fit_plan *plan = NULL;
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_fit_plan_new(p, QN_FIT_F64, 12, &plan, &err), QN_ERR_USAGE);
    assert_non_null(strstr(err.text, "12"));
    qn_fit_tape_free(p);
}

static void few_values_are_alive_at_once(void **state)
{
    qn_fit_tape *p = bal_program();

    (void)state;
    assert_true(p->peak_live <= 50); /* 96 registers of a GPU that takes 255 */
    assert_true(p->n_ops <= 360);
    qn_fit_tape_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_do_not_depend_on_the_block_size),
        cmocka_unit_test(ranges_write_their_own_instances_only),
        cmocka_unit_test(instances_that_are_not_finite_are_counted),
        cmocka_unit_test(odd_bindings_and_outputs_work),
        cmocka_unit_test(integer_powers_are_chains),
        cmocka_unit_test(a_block_of_odd_size_is_refused),
        cmocka_unit_test(few_values_are_alive_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

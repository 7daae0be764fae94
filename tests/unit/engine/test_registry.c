/* test_registry.c - lookup, costs, CPU-only ops, and the comparison by exactness. */
#include "engine_fixture.h"

#include "engine/ops/registry.h"
#include "kernel/matmul.gen.h"

#include <math.h>

/* The table. */

static void names_are_sorted_and_found(void **state)
{
    (void)state;
    assert_true(qn_op_count() > 30);
    for (int i = 0; i < qn_op_count(); i++)
        assert_ptr_equal(qn_op_find(qn_op_at(i)->name), qn_op_at(i));
    for (int t = 0; qn_tools[t]; t++)
        for (size_t i = 1; i < qn_tools[t]->n_ops; i++)
            assert_true(strcmp(qn_tools[t]->ops[i - 1].name, qn_tools[t]->ops[i].name) < 0);
    assert_null(qn_op_find("no such op"));
    assert_null(qn_op_find(NULL));
    assert_null(qn_op_at(-1));
    assert_null(qn_op_at(qn_op_count()));
}

static void every_op_has_a_body_a_cost_and_a_priority(void **state)
{
    (void)state;
    for (int i = 0; i < qn_op_count(); i++) {
        const qn_op *op = qn_op_at(i);
        const qn_kernel_info *kernel = qn_op_kernel(op);

        assert_non_null(kernel);
        assert_non_null(kernel->cpu);
        assert_non_null(op->cost);
        if (op->kernel) {
            assert_non_null(kernel->module);
            assert_true(op->priority >= QN_PRIORITY_HOT && op->priority <= QN_PRIORITY_WARM);
            assert_ptr_equal(qn_op_of_kernel(kernel), op);
        } else {
            assert_int_equal(op->priority, QN_PRIORITY_CPU);
            assert_null(kernel->module);
        }
        assert_true(op->exactness == QN_EXACT_BITS || op->tolerance > 0);
    }
}

static void kernel_outside_the_table_gets_the_default_op(void **state)
{
    const qn_kernel_info mine = { .name = "vadd" }; /* same name, other kernel */
    const qn_op *op = qn_op_of_kernel(&mine);

    (void)state;
    assert_ptr_not_equal(op, qn_op_find("vadd"));
    assert_int_equal(op->exactness, QN_EXACT_BITS);
    assert_int_equal(op->priority, QN_PRIORITY_HOT);
    assert_int_equal(qn_op_of_kernel(NULL)->priority, QN_PRIORITY_CPU);
}

static void unknown_op_is_an_error_when_the_graph_is_built(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_graph *g;

    (void)state;
    must(qn_graph_new(ctx, "g", &g, &failure));
    assert_int_not_equal(qn_graph_op(g, "s", "frobnicate", qn_range_1d(1), NULL, 0, &failure),
                         QN_OK);
    assert_non_null(strstr(failure.text, "frobnicate"));
    qn_graph_free(g);
    qn_ctx_close(ctx);
}

/* Costs. */

static void saxpy_reads_two_arrays_and_writes_one(void **state)
{
    const qn_op *op = qn_op_find("saxpy");
    const float a = 2;
    const size_t bytes[] = { 0, 4000, 4000 };
    const void *const values[] = { &a, NULL, NULL };
    const qn_op_use use = { qn_op_kernel(op), qn_range_1d(1000), bytes, values };
    const qn_cost cost = op->cost(op, &use);

    (void)state;
    assert_true(cost.read_bytes == 8000);
    assert_true(cost.write_bytes == 4000);
    assert_true(cost.flops == 2000);
}

static void matmul_costs_two_flops_per_term(void **state)
{
    const qn_op *op = qn_op_find("matmul");
    const matmul_par p = { .rows = 10, .cols = 20, .depth = 30 };
    const size_t bytes[] = { 0, 1200, 2400, 800 };
    const void *const values[] = { &p, NULL, NULL, NULL };
    const qn_op_use use = { qn_op_kernel(op), qn_range_3d(1, 1, 3), bytes, values };
    const qn_cost cost = op->cost(op, &use);

    (void)state;
    assert_true(cost.flops == 3 * 2 * 10 * 20 * 30);
    assert_true(cost.read_bytes == 3 * (1200 + 2400));
    assert_true(cost.write_bytes == 3 * 800);
}

/* Costs rank devices: they may be rough, but never absurd. */
static void costs_are_finite_and_grow_with_the_data(void **state)
{
    const unsigned char zeros[256] = { 0 };

    (void)state;
    for (int i = 0; i < qn_op_count(); i++) {
        const qn_op *op = qn_op_at(i);
        const qn_kernel_info *kernel = qn_op_kernel(op);
        size_t small[QN_MAX_ARGS] = { 0 }, large[QN_MAX_ARGS] = { 0 };
        const void *values[QN_MAX_ARGS] = { NULL };
        qn_op_use use = { kernel, qn_range_1d(100), small, values };
        qn_cost first, second;

        for (int k = 0; k < kernel->n_args; k++) {
            if (kernel->args[k].mode == QN_ARG_VAL) {
                assert_true(kernel->args[k].size <= sizeof zeros);
                values[k] = zeros;
                continue;
            }
            small[k] = 1 << 12;
            large[k] = 1 << 20;
        }
        first = op->cost(op, &use);
        use.bytes = large;
        use.range = qn_range_1d(100000);
        second = op->cost(op, &use);
        assert_true(isfinite(first.flops) && isfinite(first.read_bytes + first.write_bytes));
        assert_true(second.flops >= first.flops && second.read_bytes >= first.read_bytes);
    }
}

/* CPU-only ops. */

static void mixed_graph_runs_the_cpu_only_op_on_the_cpu(void **state)
{
    enum { N = 1000 };
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *x = ramp(ctx, "x", N, 1000, -1), *y = ramp(ctx, "y", N, 0.5f, 0);
    qn_buf *sum = array_of(ctx, "sum", N), *sorted = array_of(ctx, "sorted", N);
    const qn_i64 n = N;
    const qn_arg args[] = { qn_arg_val(&n, sizeof n), qn_arg_buf(sum), qn_arg_buf(sorted) };
    qn_graph *g;

    (void)state;
    must(qn_graph_new(ctx, "mixed", &g, &failure));
    must(stage_vadd(g, "add", qn_range_1d(N), x, y, sum, &failure));
    must(qn_graph_op(g, "sort", "sort", qn_range_1d(1), args, 3, &failure));
    must(stage_saxpy(g, "saxpy", qn_range_1d(N), 2, sorted, y, &failure));
    must(qn_graph_output(g, y, &failure));
    must(qn_graph_run(g, &failure));
    must(qn_graph_wait(g, &failure));
    for (int i = 0; i < N; i += 37)
        assert_true(value_at(y, i) == 2 * (1.5f + (float)i) + 0.5f);
    assert_true(qn_metric_value(qn_ctx_metrics(ctx), "cpu_ops", NULL) == 1);
    assert_true(qn_metric_value(qn_ctx_metrics(ctx), "gpu_ops", NULL) == 2);
    assert_true(qn_metric_value(qn_ctx_metrics(ctx), "gpu_fallback_count", NULL) == 0);
    assert_true(qn_graph_get_stats(g).crossings > 0);
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_buf_free(sum);
    qn_buf_free(sorted);
    qn_ctx_close(ctx);
}

static void sort_puts_nan_last_and_minus_zero_first(void **state)
{
    const float in[] = { 3, NAN, 0.0f, -INFINITY, -0.0f, -2, INFINITY, -NAN };
    const float *x = in;
    float sorted[8], *out = sorted;
    const qn_i64 n = 8;
    const void *args[] = { &n, &x, &out };
    const qn_span one = { 0, 1, 0, 1, 0, 1 };

    (void)state;
    qn_op_kernel(qn_op_find("sort"))->cpu(&one, (void *const *)args);
    assert_true(sorted[0] == -INFINITY && sorted[1] == -2);
    assert_true(sorted[2] == 0 && signbit(sorted[2]) && sorted[3] == 0 && !signbit(sorted[3]));
    assert_true(sorted[4] == 3 && sorted[5] == INFINITY && isnan(sorted[6]) && isnan(sorted[7]));
}

static void op_beyond_the_allowed_priority_stays_on_the_cpu(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .op_priority = 1));
    qn_buf *x = ramp(ctx, "x", 100, 0, 1), *y = array_of(ctx, "y", 100);
    qn_buf *z = array_of(ctx, "z", 100);
    const float k = 3;
    const qn_arg args[] = { qn_arg_val(&k, sizeof k), qn_arg_buf(x), qn_arg_buf(y) };
    qn_graph *g;

    (void)state;
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(qn_graph_op(g, "mul", "map_mul", qn_range_1d(100), args, 3, &failure)); /* priority 2 */
    must(stage_vadd(g, "add", qn_range_1d(100), x, y, z, &failure));             /* priority 1 */
    must(qn_graph_run(g, &failure));
    assert_true(value_at(z, 7) == 28);
    assert_true(qn_metric_value(qn_ctx_metrics(ctx), "cpu_ops", NULL) == 1);
    assert_true(qn_metric_value(qn_ctx_metrics(ctx), "gpu_ops", NULL) == 1);
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_buf_free(z);
    qn_ctx_close(ctx);
}

/* Exactness. */

static void bits_differ_by_one_ulp_but_nan_equals_nan(void **state)
{
    const qn_op op = { .exactness = QN_EXACT_BITS };
    const float want[] = { 1, NAN, 0.0f, 5 };
    const float got[] = { nextafterf(1, 2), -NAN, -0.0f, 5 };
    const qn_diff diff = qn_op_compare(&op, "float", want, got, sizeof want);

    (void)state;
    assert_int_equal(diff.checked, 4);
    assert_int_equal(diff.mismatched, 2); /* the neighbour, and the sign of zero */
    assert_int_equal(diff.first, 0);
    assert_true(diff.finite_pct == 75);
}

static void tolerances_are_relative_or_in_ulps(void **state)
{
    const qn_op rel = { .exactness = QN_EXACT_REL, .tolerance = 1e-5 };
    const qn_op ulp = { .exactness = QN_EXACT_ULP, .tolerance = 2 };
    const float want[] = { 1000, 1, INFINITY, 1 };
    const float near[] = { 1000.005f, 1 + 2.4e-7f, INFINITY, 1 };
    const float far[] = { 1000.02f, 1 + 3.6e-7f, -INFINITY, NAN };

    (void)state;
    assert_int_equal(qn_op_compare(&rel, "float", want, near, sizeof want).mismatched, 0);
    assert_int_equal(qn_op_compare(&rel, "float", want, far, sizeof want).mismatched, 3);
    assert_int_equal(qn_op_compare(&ulp, "float", want + 1, near + 1, 12).mismatched, 0);
    assert_int_equal(qn_op_compare(&ulp, "float", want + 1, far + 1, 12).mismatched, 3);
}

/* Where a transform should give zero, it leaves noise as large as the rounding of its largest
 * result. */
static void a_norm_forgives_small_numbers_among_large_ones(void **state)
{
    const qn_op norm = { .exactness = QN_EXACT_NORM, .tolerance = 1e-6 };
    const double want[] = { -1000, 1e-9, 3, NAN }, near[] = { -1000.0009, -1e-4, 3.0009, NAN };
    const double far[] = { -1000.0011, 0.0011, 2.99, 1 };

    (void)state;
    assert_int_equal(qn_op_compare(&norm, "double", want, near, sizeof want).mismatched, 0);
    assert_int_equal(qn_op_compare(&norm, "double", want, far, sizeof want).mismatched, 4);
}

static void doubles_and_integers_are_compared_by_their_size(void **state)
{
    const qn_op op = { .exactness = QN_EXACT_BITS };
    const double a[] = { 1, 2 }, b[] = { 1, 2.5 };
    const uint32_t u[] = { 1, 2, 3 }, v[] = { 1, 9, 9 };
    qn_diff diff = qn_op_compare(&op, "double", a, b, sizeof a);

    (void)state;
    assert_int_equal(diff.first, 1);
    assert_true(diff.max_abs == 0.5 && diff.max_rel == 0.2 && diff.mean_abs == 0.25);
    diff = qn_op_compare(&op, "u32", u, v, sizeof u);
    assert_int_equal(diff.checked, 3);
    assert_int_equal(diff.mismatched, 2);
    assert_int_equal(qn_op_compare(&op, "some_struct", u, v, sizeof u).checked, sizeof u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_sorted_and_found),
        cmocka_unit_test(every_op_has_a_body_a_cost_and_a_priority),
        cmocka_unit_test(kernel_outside_the_table_gets_the_default_op),
        cmocka_unit_test(unknown_op_is_an_error_when_the_graph_is_built),
        cmocka_unit_test(saxpy_reads_two_arrays_and_writes_one),
        cmocka_unit_test(matmul_costs_two_flops_per_term),
        cmocka_unit_test(costs_are_finite_and_grow_with_the_data),
        cmocka_unit_test(mixed_graph_runs_the_cpu_only_op_on_the_cpu),
        cmocka_unit_test(sort_puts_nan_last_and_minus_zero_first),
        cmocka_unit_test(op_beyond_the_allowed_priority_stays_on_the_cpu),
        cmocka_unit_test(bits_differ_by_one_ulp_but_nan_equals_nan),
        cmocka_unit_test(tolerances_are_relative_or_in_ulps),
        cmocka_unit_test(a_norm_forgives_small_numbers_among_large_ones),
        cmocka_unit_test(doubles_and_integers_are_compared_by_their_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

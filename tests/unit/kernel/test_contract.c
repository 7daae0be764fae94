/* test_contract.c - CONTRACT=1 in the constants of a module: one rounding instead of two if the
 * machine can, in separate kernels. */
#include "engine_fixture.h"

#include "kernel/contract.h"
#include "kernel/expand.h"

#include <math.h>

static const char *const backends[] = { "cpu", "sim", "opencl", "cuda" };

enum { N_BACKENDS = sizeof backends / sizeof *backends, N = 64 };

static const char text[] = "MAP(rest, IN(double, a), IN(double, b), OUT(double, out))\n"
                           "{\n"
                           "    const double left = a[gx] * a[gx];\n"
                           "    out[gx] = left - b[gx];\n"
                           "}\n";

static qn_buf *doubles(qn_ctx *ctx, const char *name, const double *values)
{
    qn_buf *buf = NULL;

    must(qn_buf_new(ctx, name, N * sizeof *values, &buf, &failure));
    if (values)
        must(qn_buf_write(buf, 0, values, N * sizeof *values, &failure));
    return buf;
}

/* a a - b where b is the rounded a a: 0 with two roundings, the rounding error with one. */
static void run_rest(qn_ctx *ctx, const qn_kernel_module *module, double *out)
{
    double a[N], b[N];
    qn_buf *bufs[3];
    qn_graph *graph = NULL;

    for (int k = 0; k < N; k++) {
        volatile double square;

        a[k] = 1 + (k + 1) / 4194301.0;
        square = a[k] * a[k];
        b[k] = square;
    }
    bufs[0] = doubles(ctx, "a", a);
    bufs[1] = doubles(ctx, "b", b);
    bufs[2] = doubles(ctx, "out", NULL);
    must(qn_graph_new(ctx, "rest", &graph, &failure));
    must(qn_graph_stage(
        graph, "rest", qn_kernels_find(module, "rest"), qn_range_1d(N),
        (const qn_arg[]){ qn_arg_buf(bufs[0]), qn_arg_buf(bufs[1]), qn_arg_buf(bufs[2]) },
        &failure));
    must(qn_graph_run(graph, &failure));
    must(qn_buf_read(bufs[2], 0, out, N * sizeof *out, &failure));
    qn_graph_free(graph);
    for (int k = 0; k < 3; k++)
        qn_buf_free(bufs[k]);
}

static double compiles(qn_ctx *ctx)
{
    return qn_metric_value(qn_ctx_metrics(ctx), "kernel_compiles", NULL) +
           qn_metric_value(qn_ctx_metrics(ctx), "kernel_cache_disk_hits", NULL);
}

static void only_the_word_itself_allows_contraction(void **state)
{
    (void)state;
    assert_true(qn_may_contract("CONTRACT=1"));
    assert_true(qn_may_contract("REAL=double CONTRACT=1"));
    assert_true(qn_may_contract("CONTRACT=1 LANES=32"));
    assert_false(qn_may_contract(NULL));
    assert_false(qn_may_contract(""));
    assert_false(qn_may_contract("CONTRACT=0"));
    assert_false(qn_may_contract("CONTRACT=10"));
    assert_false(qn_may_contract("NO_CONTRACT=1"));
}

static void a_module_that_allows_it_is_compiled_apart(void **state)
{
    (void)state;
    for (int b = 0; b < N_BACKENDS; b++) {
        qn_ctx *ctx = open_if_present(backends[b]);
        qn_kernel_module *strict = NULL, *loose = NULL, *again = NULL;
        double out[N], before;

        if (!ctx)
            continue;
        must(qn_kernels_new("rest", text, &strict, &failure));
        must(qn_kernels_with(strict, "CONTRACT=1", &loose, &failure));
        must(qn_kernels_with(strict, "CONTRACT=1", &again, &failure));
        run_rest(ctx, strict, out);
        for (int k = 0; k < N; k++)
            assert_true(out[k] == 0);
        before = compiles(ctx);
        run_rest(ctx, loose, out);
        for (int k = 0; k < N; k++)
            assert_true(fabs(out[k]) < 0x1p-51);
        assert_true(compiles(ctx) == before + 1);
        run_rest(ctx, again, out);
        assert_true(compiles(ctx) == before + 1);
        run_rest(ctx, strict, out);
        assert_true(out[7] == 0);
        assert_true(compiles(ctx) == before + 1);
        qn_kernels_free(again);
        qn_kernels_free(loose);
        qn_kernels_free(strict);
        qn_ctx_close(ctx);
    }
}

static void opencl_says_it_behind_the_prelude(void **state)
{
    static const char on[] = "#pragma OPENCL FP_CONTRACT ON",
                      off[] = "#pragma OPENCL FP_CONTRACT OFF";
    static const struct {
        const char *defines;
        qn_expand_for target;
        int is_on;
    } cases[] = { { "CONTRACT=1", QN_EXPAND_OPENCL, 1 },
                  { "", QN_EXPAND_OPENCL, 0 },
                  { "CONTRACT=1", QN_EXPAND_CUDA, 0 },
                  { "CONTRACT=1", QN_EXPAND_C, 0 } };

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        qn_str unit = { 0 };
        qn_err err = { .text = "" };
        const char *at;

        assert_int_equal(
            qn_expand_unit("rest", text, cases[k].defines, cases[k].target, &unit, &err), QN_OK);
        at = strstr(qn_str_get(&unit), on);
        assert_int_equal(at != NULL, cases[k].is_on);
        assert_true(!at || (at > strstr(qn_str_get(&unit), off) && at < strstr(at, "qnk_rest")));
        qn_str_free(&unit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_word_itself_allows_contraction),
        cmocka_unit_test(a_module_that_allows_it_is_compiled_apart),
        cmocka_unit_test(opencl_says_it_behind_the_prelude),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

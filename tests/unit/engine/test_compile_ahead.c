/* test_compile_ahead.c - modules of a graph made side by side: each once, and failures in the order
 * of the stages. On OpenCL, whose compilers are called from several threads. */
/* test: cost 8, quick-opencl */
#include "engine_fixture.h"

#include "engine/engine.h"

enum { N = 1000, MODULES = 6 };

static const char good[] = "MAP(step_%d, IN(float, x), OUT(float, y))\n"
                           "{\n"
                           "    y[gx] = x[gx] + %d.0f;\n"
                           "}\n";
static const char broken[] = "MAP(step_%d, IN(float, x), OUT(float, y))\n"
                             "{\n"
                             "    y[gx] = x[gx] + nothing_here_%d;\n"
                             "}\n";

typedef struct chain {
    qn_ctx *ctx;
    qn_kernel_module *modules[MODULES];
    qn_buf *bufs[MODULES + 1];
    qn_graph *graph;
} chain;

static int setup(void **state)
{
    (void)state;
    setenv("QUERN_COMPILE_THREADS", "3", 1);
    setenv("QUERN_CACHE", "0", 1);
    return 0;
}

/* A graph of a stage for each module; those with a bit in `bad` do not compile. */
static void make_chain(chain *c, unsigned bad, qn_fallback_policy fallback)
{
    *c = (chain){ .ctx = open_with(QN_OPTIONS(.backend = "opencl", .fallback = fallback)) };
    must(qn_graph_new(c->ctx, "g", &c->graph, &failure));
    c->bufs[0] = ramp(c->ctx, "x", N, 0, 1);
    for (int i = 0; i < MODULES; i++) {
        char name[16], text[200];

        c->bufs[i + 1] = array_of(c->ctx, "y", N);
        const qn_arg args[] = { qn_arg_buf(c->bufs[i]), qn_arg_buf(c->bufs[i + 1]) };

        snprintf(text, sizeof text, bad >> i & 1 ? broken : good, i, i + 1);
        snprintf(name, sizeof name, "step_%d", i);
        must(qn_kernels_new(name, text, &c->modules[i], &failure));
        must(qn_graph_stage(c->graph, name, qn_kernels_find(c->modules[i], name), qn_range_1d(N),
                            args, &failure));
    }
}

static void free_chain(chain *c)
{
    qn_graph_free(c->graph);
    for (int i = 0; i < MODULES; i++)
        qn_kernels_free(c->modules[i]);
    for (int i = 0; i <= MODULES; i++)
        qn_buf_free(c->bufs[i]);
    qn_ctx_close(c->ctx);
}

static void need_opencl(void)
{
    if (!has_backend("opencl"))
        skip();
}

static void every_module_is_compiled_once(void **state)
{
    chain c;

    (void)state;
    need_opencl();
    make_chain(&c, 0, QN_FALLBACK_ERROR);
    must(qn_graph_run(c.graph, &failure));
    must(qn_graph_wait(c.graph, &failure));
    assert_true(value_at(c.bufs[MODULES], 7) == 7 + MODULES * (MODULES + 1) / 2);
    assert_true(metric(c.ctx, "kernel_compiles", NULL) == MODULES);
    assert_true(metric(c.ctx, "kernel_cache_misses", NULL) == MODULES);
    assert_true(
        qn_metric_summary(qn_metric_of(qn_ctx_metrics(c.ctx), "kernel_compile_time_ms", NULL))
            .count == MODULES);
    free_chain(&c);
}

/* Two of them fail: the error is that of the first stage, each time. */
static void the_first_stage_that_fails_gives_the_error(void **state)
{
    chain c;
    qn_err err;

    (void)state;
    need_opencl();
    make_chain(&c, 1u << 2 | 1u << 4, QN_FALLBACK_ERROR);
    for (int run = 0; run < 2; run++) {
        assert_int_not_equal(qn_graph_run(c.graph, &err), QN_OK);
        assert_non_null(strstr(err.text, "step_2"));
        assert_null(strstr(err.text, "step_4"));
    }
    free_chain(&c);
}

/* A graph may be freed, and with it its modules, while threads still compile for it. */
static void a_graph_that_failed_takes_its_modules_along(void **state)
{
    (void)state;
    need_opencl();
    for (int i = 0; i < 3; i++) {
        chain c;
        qn_err err;

        make_chain(&c, 1u, QN_FALLBACK_ERROR);
        assert_int_not_equal(qn_graph_run(c.graph, &err), QN_OK);
        free_chain(&c);
    }
}

/* What was begun is what the graph gets, and is not compiled twice. */
static void a_module_that_was_begun_is_waited_for(void **state)
{
    chain c;
    int d;

    (void)state;
    need_opencl();
    make_chain(&c, 0, QN_FALLBACK_ERROR);
    d = qn_ctx_likely_device(c.ctx);
    assert_int_equal(d, qn_ctx_pinned(c.ctx));
    assert_int_equal(qn_compile_is_ready(c.ctx, d, c.modules[3]), 0);
    for (int i = MODULES - 1; i >= 0; i--)
        qn_compile_begin(c.ctx, d, c.modules[i]);
    must(qn_graph_run(c.graph, &failure));
    assert_int_equal(qn_compile_is_ready(c.ctx, d, c.modules[3]), 1);
    assert_true(metric(c.ctx, "kernel_compiles", NULL) == MODULES);
    free_chain(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_module_is_compiled_once, setup),
        cmocka_unit_test_setup(the_first_stage_that_fails_gives_the_error, setup),
        cmocka_unit_test_setup(a_graph_that_failed_takes_its_modules_along, setup),
        cmocka_unit_test_setup(a_module_that_was_begun_is_waited_for, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_fence.c - checking for the end of a run, and runs that leave failures to their caller. */
#include "engine_fixture.h"

#include "engine/plan/graph_impl.h"

static void graph_can_be_asked_whether_it_is_done(void **state)
{
    qn_ctx *ctx = open_sim("sim.ns_per_item=1000");
    qn_buf *a = ramp(ctx, "a", 100, 0, 1), *b = ramp(ctx, "b", 100, 1, 0);
    qn_graph *g;
    int n_polls = 0;

    (void)state;
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_saxpy(g, "s", qn_range_1d(100), 2.0f, a, b, &failure));
    assert_true(qn_graph_is_done(g));
    must(qn_graph_run(g, &failure));
    while (!qn_graph_is_done(g))
        n_polls++;
    assert_in_range(n_polls, 1000, 10000); /* 100 us at 0.05 us per check */
    assert_true(value_at(b, 7) == 15);
    qn_graph_free(g);
    qn_buf_free(a);
    qn_buf_free(b);
    qn_ctx_close(ctx);
}

static void end_of_a_fenced_run_does_not_wait_for_the_next_graph(void **state)
{
    qn_ctx *ctx = open_sim("sim.ns_per_item=1000");
    qn_buf *a[2], *b[2];
    qn_graph *g[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        a[i] = ramp(ctx, "a", 100, 0, 1);
        b[i] = ramp(ctx, "b", 100, 1, 0);
        must(qn_graph_new(ctx, "g", &g[i], &failure));
        g[i]->stream = QN_COMPUTE + i;
        g[i]->is_fenced = 1;
        must(stage_saxpy(g[i], "s", qn_range_1d(100), 2.0f, a[i], b[i], &failure));
        must(qn_graph_output(g[i], b[i], &failure));
        must(qn_graph_run(g[i], &failure));
    }
    must(qn_graph_wait(g[0], &failure));
    assert_true(qn_graph_is_done(g[0]));
    assert_false(qn_graph_is_done(g[1]));
    for (int i = 0; i < 2; i++) {
        qn_graph_free(g[i]);
        qn_buf_free(a[i]);
        qn_buf_free(b[i]);
    }
    qn_ctx_close(ctx);
}

static void graph_that_refuses_fallback_returns_the_failure(void **state)
{
    qn_ctx *ctx = open_sim("launch:s@1*1");
    qn_buf *a = ramp(ctx, "a", 100, 0, 1), *b = ramp(ctx, "b", 100, 1, 0);
    qn_graph *g;
    char text[512];

    (void)state;
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_saxpy(g, "s", qn_range_1d(100), 2.0f, a, b, &failure));
    qn_graph_set_fallback(g, QN_FALLBACK_ERROR);
    CAPTURE_STDERR(text, sizeof text, assert_int_equal(qn_graph_run(g, &failure), QN_ERR_INJECTED));
    assert_string_equal(text, "");
    assert_string_equal(failure.text, "stage s: injected launch fault");
    assert_true(qn_metric_value(qn_ctx_metrics(ctx), "gpu_fallback_count", NULL) == 0);
    must(qn_graph_run(g, &failure));
    assert_true(value_at(b, 7) == 15);
    qn_graph_free(g);
    qn_buf_free(a);
    qn_buf_free(b);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graph_can_be_asked_whether_it_is_done),
        cmocka_unit_test(end_of_a_fenced_run_does_not_wait_for_the_next_graph),
        cmocka_unit_test(graph_that_refuses_fallback_returns_the_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

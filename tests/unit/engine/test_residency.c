/* test_residency.c - data moves once, and only when it is needed. */
#include "engine_fixture.h"

enum { N = 20000 };

/* z = x + y, then k times z = 0.5 * x + z, with z as output. */
static qn_graph *chain(qn_ctx *ctx, qn_buf *x, qn_buf *y, qn_buf *z, int k)
{
    qn_graph *g;

    must(qn_graph_new(ctx, "chain", &g, &failure));
    must(stage_vadd(g, "vadd", qn_range_1d(N), x, y, z, &failure));
    for (int i = 0; i < k; i++)
        must(stage_saxpy(g, "saxpy", qn_range_1d(N), 0.5f, x, z, &failure));
    must(qn_graph_output(g, z, &failure));
    return g;
}

static void first_run_uploads_inputs_and_later_runs_nothing(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *y = ramp(ctx, "y", N, 1, 0), *z = array_of(ctx, "z", N);
    qn_graph *g = chain(ctx, x, y, z, 3);

    (void)state;
    for (int run = 1; run <= 4; run++) {
        must(qn_graph_run(g, &failure));
        must(qn_graph_wait(g, &failure));
        assert_int_equal(qn_ctx_transfers(ctx).h2d_count, 2);
        assert_int_equal(qn_ctx_transfers(ctx).d2h_count, run);
        assert_int_equal(qn_ctx_transfers(ctx).h2d_bytes, 2 * N * sizeof(float));
        assert_true(value_at(z, 77) == 77 + 1 + 3 * 38.5f);
    }
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_buf_free(z);
    qn_ctx_close(ctx);
}

static void chain_of_650_stages_moves_only_its_ends(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *x = ramp(ctx, "x", N, 0, 0), *y = ramp(ctx, "y", N, 1, 1), *z = array_of(ctx, "z", N);
    qn_graph *g = chain(ctx, x, y, z, 649);

    (void)state;
    must(qn_graph_run(g, &failure));
    must(qn_graph_run(g, &failure));
    must(qn_graph_wait(g, &failure));
    assert_int_equal(qn_ctx_transfers(ctx).h2d_count, 2);
    assert_int_equal(qn_ctx_transfers(ctx).d2h_count, 2);
    assert_int_equal(qn_graph_get_stats(g).crossings, 0);
    assert_true(qn_metric_value(qn_ctx_metrics(ctx), "gpu_ops", NULL) == 1300);
    assert_true(qn_metric_value(qn_ctx_metrics(ctx), "cpu_ops", NULL) == 0);
    assert_true(value_at(z, 5) == 6);
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_buf_free(z);
    qn_ctx_close(ctx);
}

static void host_write_makes_only_that_array_stale(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *y = ramp(ctx, "y", N, 1, 0), *z = array_of(ctx, "z", N);
    qn_graph *g = chain(ctx, x, y, z, 0);
    const float nine = 9;

    (void)state;
    must(qn_graph_run(g, &failure));
    must(qn_buf_write(y, 4 * sizeof nine, &nine, sizeof nine, &failure));
    must(qn_graph_run(g, &failure));
    assert_int_equal(qn_ctx_transfers(ctx).h2d_count, 3);
    assert_int_equal(qn_buf_transfers(y).h2d_count, 2);
    assert_int_equal(qn_buf_transfers(x).h2d_count, 1);
    assert_true(value_at(z, 4) == 4 + 9);
    assert_true(value_at(z, 5) == 5 + 1);
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_buf_free(z);
    qn_ctx_close(ctx);
}

static void partial_read_downloads_only_its_bytes(void **state)
{
    enum { COLS = 100 };
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *y = ramp(ctx, "y", N, 0, 0), *z = array_of(ctx, "z", N);
    float core[4 * 3];
    qn_graph *g;

    (void)state;
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_vadd(g, "vadd", qn_range_1d(N), x, y, z, &failure));
    must(qn_graph_run(g, &failure));
    /* rows 2..4, columns 10..13 of a grid of 100 columns */
    must(qn_buf_read_rect(z, (2 * COLS + 10) * sizeof(float), 4 * sizeof(float), 3,
                          COLS * sizeof(float), core, &failure));
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            assert_true(core[r * 4 + c] == (float)((2 + r) * COLS + 10 + c));
    assert_int_equal(qn_buf_transfers(z).d2h_bytes, sizeof core);
    assert_true(value_at(z, 19999) == 19999);
    assert_int_equal(qn_buf_transfers(z).d2h_bytes, sizeof core + sizeof(float));
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_buf_free(z);
    qn_ctx_close(ctx);
}

static void view_shares_its_parent(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *y = ramp(ctx, "y", N, 1, 0), *half;
    qn_graph *g;

    (void)state;
    must(qn_buf_view(y, "half", N / 2 * sizeof(float), N / 2 * sizeof(float), &half, &failure));
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_saxpy(g, "saxpy", qn_range_1d(N / 2), 1.0f, x, half, &failure));
    must(qn_graph_run(g, &failure));
    assert_true(value_at(y, 3) == 1);             /* outside the view: untouched */
    assert_true(value_at(y, N / 2 + 3) == 1 + 3); /* inside */
    assert_true(value_at(half, 3) == 1 + 3);
    qn_graph_free(g);
    qn_buf_free(half);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_ctx_close(ctx);
}

static void wrapped_memory_is_the_host_copy(void **state)
{
    static float mine[N], result[N];
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *x, *y;
    qn_graph *g;
    void *host;

    (void)state;
    for (int i = 0; i < N; i++)
        mine[i] = (float)i;
    must(qn_buf_wrap(ctx, "x", mine, sizeof mine, &x, &failure));
    must(qn_buf_wrap(ctx, "y", result, sizeof result, &y, &failure));
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_saxpy(g, "saxpy", qn_range_1d(N), 2.0f, x, y, &failure));
    must(qn_graph_output(g, y, &failure));
    must(qn_graph_run(g, &failure));
    must(qn_graph_wait(g, &failure));
    must(qn_buf_host(y, QN_HOST_READ, &host, &failure));
    assert_ptr_equal(host, result);
    assert_true(result[9] == 18);
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_ctx_close(ctx);
}

static void unwritten_array_reads_as_zero(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *x = array_of(ctx, "x", N), *y = array_of(ctx, "y", N);
    qn_graph *g;

    (void)state;
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_saxpy(g, "saxpy", qn_range_1d(N), 2.0f, x, y, &failure));
    must(qn_graph_run(g, &failure));
    assert_true(value_at(y, 12) == 0);
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_ctx_close(ctx);
}

static qn_status negate(void *user, void *const *data, qn_err *err)
{
    float *v = data[0];

    (void)user;
    (void)err;
    for (int i = 0; i < N; i++)
        v[i] = -v[i];
    return QN_OK;
}

static void host_stage_in_the_middle_is_a_crossing(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *y = ramp(ctx, "y", N, 1, 0), *z = array_of(ctx, "z", N);
    const qn_arg_mode modes[] = { QN_ARG_INOUT };
    qn_graph *g;

    (void)state;
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_vadd(g, "vadd", qn_range_1d(N), x, y, z, &failure));
    must(qn_graph_host(g, "negate", negate, NULL, &z, modes, 1, &failure));
    must(stage_saxpy(g, "saxpy", qn_range_1d(N), 1.0f, x, z, &failure));
    must(qn_graph_output(g, z, &failure));
    must(qn_graph_run(g, &failure));
    must(qn_graph_wait(g, &failure));
    assert_true(value_at(z, 10) == -1);
    assert_int_equal(qn_graph_get_stats(g).crossings, 1);
    assert_int_equal(qn_ctx_transfers(ctx).h2d_count, 3);
    assert_int_equal(qn_ctx_transfers(ctx).d2h_count, 2);
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_buf_free(z);
    qn_ctx_close(ctx);
}

static void bad_spans_are_refused_with_numbers(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *x = ramp(ctx, "x", 10, 0, 1), *view;
    float v;

    (void)state;
    assert_int_equal(qn_buf_read(x, 40, &v, 4, &failure), QN_ERR_USAGE);
    assert_string_equal(failure.text, "buffer x: [40, 44) lies outside its 40 bytes");
    assert_int_equal(qn_buf_view(x, "v", 8, SIZE_MAX - 4, &view, &failure), QN_ERR_USAGE);
    assert_int_equal(qn_buf_new(ctx, "nothing", 0, &view, &failure), QN_ERR_USAGE);
    assert_string_equal(failure.text, "buffer nothing: size 0");
    qn_buf_free(x);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_run_uploads_inputs_and_later_runs_nothing),
        cmocka_unit_test(chain_of_650_stages_moves_only_its_ends),
        cmocka_unit_test(host_write_makes_only_that_array_stale),
        cmocka_unit_test(partial_read_downloads_only_its_bytes),
        cmocka_unit_test(view_shares_its_parent),
        cmocka_unit_test(wrapped_memory_is_the_host_copy),
        cmocka_unit_test(unwritten_array_reads_as_zero),
        cmocka_unit_test(host_stage_in_the_middle_is_a_crossing),
        cmocka_unit_test(bad_spans_are_refused_with_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_graph.c - hazards, order, temporaries, one submission, recorded runs. */
#include "engine_fixture.h"

#include "engine/plan/graph_impl.h"

enum { N = 5000 };

static int depends(const qn_graph *g, int stage, int before)
{
    for (int i = 0; i < g->stages[stage].n_deps; i++)
        if (g->stages[stage].deps[i] == before)
            return 1;
    return 0;
}

static void dependencies_follow_from_buffers(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *a = ramp(ctx, "a", N, 0, 1), *b = ramp(ctx, "b", N, 1, 0);
    qn_buf *c = array_of(ctx, "c", N), *d = array_of(ctx, "d", N);
    qn_graph *g;

    (void)state;
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_vadd(g, "s0", qn_range_1d(N), a, b, c, &failure)); /* writes c */
    must(stage_vadd(g, "s1", qn_range_1d(N), a, c, d, &failure)); /* reads c */
    must(stage_vadd(g, "s2", qn_range_1d(N), b, b, c, &failure)); /* overwrites c */
    must(stage_vadd(g, "s3", qn_range_1d(N), a, a, b, &failure)); /* overwrites b */
    must(qn_graph_compile(g, &failure));
    assert_true(depends(g, 1, 0)); /* read after write */
    assert_true(depends(g, 2, 1)); /* write after read */
    assert_true(depends(g, 2, 0)); /* write after write */
    assert_true(depends(g, 3, 0) && depends(g, 3, 2));
    assert_false(depends(g, 3, 1)); /* s1 does not touch b */
    qn_graph_free(g);
    qn_buf_free(a);
    qn_buf_free(b);
    qn_buf_free(c);
    qn_buf_free(d);
    qn_ctx_close(ctx);
}

/* sim overwrites what an OUT argument does not write in full. */
static void a_range_that_begins_late_keeps_what_is_before_it(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *a = ramp(ctx, "a", N, 0, 1), *b = ramp(ctx, "b", N, 1, 0), *c = array_of(ctx, "c", N);
    qn_graph *g;

    (void)state;
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_vadd(g, "first", qn_range_1d(1000), a, b, c, &failure));
    must(stage_vadd(g, "rest", (qn_range){ 1000, N, 0, 1, 0, 1 }, a, b, c, &failure));
    must(qn_graph_run(g, &failure));
    must(qn_graph_wait(g, &failure));
    for (int i = 0; i < N; i += 333)
        assert_true(value_at(c, i) == (float)(i + 1));
    qn_graph_free(g);
    qn_buf_free(a);
    qn_buf_free(b);
    qn_buf_free(c);
    qn_ctx_close(ctx);
}

static void edge_against_program_order_is_a_cycle(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *a = ramp(ctx, "a", N, 0, 1), *b = ramp(ctx, "b", N, 0, 1);
    qn_graph *g;

    (void)state;
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_saxpy(g, "first", qn_range_1d(N), 1.0f, a, b, &failure));
    must(stage_saxpy(g, "second", qn_range_1d(N), 1.0f, a, b, &failure));
    must(qn_graph_edge(g, 0, 1, &failure));
    must(qn_graph_compile(g, &failure));
    must(qn_graph_edge(g, 1, 0, &failure));
    assert_int_equal(qn_graph_run(g, &failure), QN_ERR_CYCLE);
    assert_string_equal(failure.text, "stages second and first wait for each other");
    qn_graph_free(g);
    qn_buf_free(a);
    qn_buf_free(b);
    qn_ctx_close(ctx);
}

static void temporaries_share_memory_when_lifetimes_do_not_meet(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *out = array_of(ctx, "out", N), *t[6];
    qn_graph *g;

    (void)state;
    must(qn_graph_new(ctx, "g", &g, &failure));
    for (int i = 0; i < 6; i++)
        must(qn_graph_temp(g, "t", N * sizeof(float), &t[i], &failure));
    must(stage_vadd(g, "s", qn_range_1d(N), x, x, t[0], &failure));
    for (int i = 1; i < 6; i++)
        must(stage_vadd(g, "s", qn_range_1d(N), t[i - 1], x, t[i], &failure));
    must(stage_vadd(g, "s", qn_range_1d(N), t[5], x, out, &failure));
    for (int run = 0; run < 3; run++) {
        must(qn_graph_run(g, &failure));
        assert_true(value_at(out, 3) == 3 * 8);
    }
    assert_int_equal(qn_graph_get_stats(g).temp_bytes, 6 * N * sizeof(float));
    assert_int_equal(qn_graph_get_stats(g).temp_bytes_shared, 2 * N * sizeof(float));
    assert_int_equal(qn_ctx_transfers(ctx).h2d_count, 1);
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(out);
    qn_ctx_close(ctx);
}

static void temporary_read_before_written_is_refused(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *t;
    qn_graph *g;

    (void)state;
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(qn_graph_temp(g, "t", N * sizeof(float), &t, &failure));
    must(stage_saxpy(g, "use", qn_range_1d(N), 1.0f, x, t, &failure));
    assert_int_equal(qn_graph_run(g, &failure), QN_ERR_USAGE);
    assert_string_equal(failure.text, "stage use reads the temporary t before anything wrote it");
    qn_graph_free(g);
    qn_buf_free(x);
    qn_ctx_close(ctx);
}

static void batch_of_24_tasks_is_one_submission(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *a[24], *b[24], *c[24];
    qn_graph *g;

    (void)state;
    must(qn_graph_new(ctx, "g", &g, &failure));
    for (int i = 0; i < 24; i++) {
        a[i] = ramp(ctx, "a", N, (float)i, 1);
        b[i] = ramp(ctx, "b", N, 0, 1);
        c[i] = array_of(ctx, "c", N);
        must(stage_vadd(g, "vadd", qn_range_1d(N), a[i], b[i], c[i], &failure));
        must(qn_graph_output(g, c[i], &failure));
    }
    must(qn_graph_run(g, &failure));
    must(qn_graph_wait(g, &failure));
    assert_int_equal(qn_graph_get_stats(g).submissions, 1);
    assert_int_equal(qn_ctx_transfers(ctx).h2d_count, 48);
    assert_int_equal(qn_ctx_transfers(ctx).d2h_count, 24);
    for (int i = 0; i < 24; i++)
        assert_true(value_at(c[i], 10) == (float)i + 20);
    qn_graph_free(g);
    for (int i = 0; i < 24; i++) {
        qn_buf_free(a[i]);
        qn_buf_free(b[i]);
        qn_buf_free(c[i]);
    }
    qn_ctx_close(ctx);
}

static void queue_holds_what_was_submitted_until_the_wait(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *y = ramp(ctx, "y", N, 1, 0);
    qn_metrics *m = qn_ctx_metrics(ctx);
    qn_graph *g;

    (void)state;
    must(qn_graph_new(ctx, "g", &g, &failure));
    for (int s = 0; s < 3; s++)
        must(stage_saxpy(g, "saxpy", qn_range_1d(N), 1.0f, x, y, &failure));
    must(qn_graph_run(g, &failure));
    must(qn_graph_run(g, &failure));
    assert_true(qn_metric_value(m, "gpu_queue_depth", NULL) == 6);
    must(qn_graph_wait(g, &failure));
    assert_true(qn_metric_value(m, "gpu_queue_depth", NULL) == 0);
    assert_true(qn_metric_value(m, "queue_depth_peak", NULL) == 6);
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_ctx_close(ctx);
}

static void second_run_is_recorded_and_replayed(void **state)
{
    static const char *const backends[] = { "cpu", "sim", "opencl" };

    (void)state;
    for (int k = 0; k < 3; k++) {
        qn_ctx *ctx = open_if_present(backends[k]);
        qn_buf *x, *y;
        const float three = 3;
        qn_graph *g;

        if (!ctx)
            continue;
        x = ramp(ctx, "x", N, 0, 1);
        y = ramp(ctx, "y", N, 1, 0);
        must(qn_graph_new(ctx, "g", &g, &failure));
        must(stage_saxpy(g, "saxpy", qn_range_1d(N), 2.0f, x, y, &failure));
        must(stage_saxpy(g, "saxpy", qn_range_1d(N), 1.0f, x, y, &failure));
        for (int run = 0; run < 5; run++)
            must(qn_graph_run(g, &failure));
        assert_true(value_at(y, 4) == 1 + 5 * 12);
        assert_true(qn_graph_get_stats(g).replays >= 3);

        /* A changed value reaches the recording, without a new one. */
        const uint64_t captures = qn_graph_get_stats(g).captures;

        must(qn_graph_set(g, 1, 0, &three, &failure));
        must(qn_graph_run(g, &failure));
        assert_true(value_at(y, 4) == 1 + 5 * 12 + 20);
        assert_int_equal(qn_graph_get_stats(g).captures, captures);
        qn_graph_free(g);
        qn_buf_free(x);
        qn_buf_free(y);
        qn_ctx_close(ctx);
    }
}

static void changed_residency_is_not_replayed_blindly(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *y = ramp(ctx, "y", N, 0, 0), *z = array_of(ctx, "z", N);
    qn_graph *g;

    (void)state;
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_vadd(g, "vadd", qn_range_1d(N), x, y, z, &failure));
    for (int run = 0; run < 12; run++) {
        const float v = (float)run;

        if (run % 3 == 0)
            must(qn_buf_write(y, 0, &v, sizeof v, &failure));
        must(qn_graph_run(g, &failure));
        assert_true(value_at(z, 0) == (float)(run / 3 * 3));
    }
    assert_int_equal(qn_buf_transfers(y).h2d_count, 4);
    assert_int_equal(qn_buf_transfers(x).h2d_count, 1);
    assert_true(qn_graph_get_stats(g).captures <= 2); /* with and without the upload of y */
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_buf_free(z);
    qn_ctx_close(ctx);
}

static void wrong_arguments_are_named(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *x = ramp(ctx, "x", N, 0, 1);
    const double wide = 1;
    const qn_kernel_info *saxpy = qn_kernel_builtin("saxpy");
    qn_graph *g;

    (void)state;
    must(qn_graph_new(ctx, "g", &g, &failure));
    assert_int_equal(qn_graph_stage(g, "s", saxpy, qn_range_1d(N),
                                    (const qn_arg[]){ qn_arg_val(&wide, sizeof wide), qn_arg_buf(x),
                                                      qn_arg_buf(x) },
                                    &failure),
                     QN_ERR_USAGE);
    assert_string_equal(failure.text, "stage s: argument 0 (a) has 8 bytes, wants 4");
    assert_int_equal(qn_graph_op(g, "s", "no_such_op", qn_range_1d(N), NULL, 0, &failure),
                     QN_ERR_USAGE);
    assert_string_equal(failure.text, "stage s: unknown op 'no_such_op'");
    assert_int_equal(qn_graph_set(g, 7, 0, &wide, &failure), QN_ERR_USAGE);
    assert_int_equal(qn_graph_pin(g, 0, "cuda:9", &failure), QN_ERR_USAGE);
    assert_int_equal(stage_saxpy(g, "s", qn_range_2d((qn_i64)1 << 31, 2), 1.0f, x, x, &failure),
                     QN_ERR_LIMIT);
    qn_graph_free(g);
    qn_buf_free(x);
    qn_ctx_close(ctx);
}

static void text_given_at_run_time_runs_everywhere(void **state)
{
    static const char text[] = "MAP(twice, IN(float, x), OUT(float, y))\n"
                               "{\n    y[gx] = 2.0f * x[gx];\n}\n";
    static const char *const backends[] = { "cpu", "sim", "opencl" };

    (void)state;
    for (int k = 0; k < 3; k++) {
        qn_ctx *ctx = open_if_present(backends[k]);
        qn_buf *x, *y;
        qn_kernel_module *module;
        qn_graph *g;

        if (!ctx)
            continue;
        x = ramp(ctx, "x", N, 0, 1);
        y = array_of(ctx, "y", N);
        must(qn_kernels_new("mine", text, &module, &failure));
        must(qn_graph_new(ctx, "g", &g, &failure));
        must(qn_graph_stage(g, "twice", qn_kernels_find(module, "twice"), qn_range_1d(N),
                            (const qn_arg[]){ qn_arg_buf(x), qn_arg_buf(y) }, &failure));
        must(qn_graph_run(g, &failure));
        assert_true(value_at(y, 21) == 42);
        qn_graph_free(g);
        qn_kernels_free(module);
        qn_buf_free(x);
        qn_buf_free(y);
        qn_ctx_close(ctx);
    }
}

static void memory_map_lists_buffers_and_reasons(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *y = ramp(ctx, "y", N, 0, 0);
    char path[] = "/tmp/quern-map-XXXXXX", text[4096] = "";
    qn_graph *g;
    FILE *file;

    (void)state;
    close(mkstemp(path));
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_saxpy(g, "saxpy", qn_range_1d(N), 2.0f, x, y, &failure));
    must(qn_graph_output(g, y, &failure));
    must(qn_graph_run(g, &failure));
    must(qn_graph_memory_map(g, path, &failure));
    file = fopen(path, "r");
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    unlink(path);
    assert_non_null(strstr(text, "| x | 20000 | saxpy | saxpy | sim:0 | 1 | 0 |"));
    assert_non_null(strstr(text, "- y: 1 download(s), 20000 bytes: output of the graph"));
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dependencies_follow_from_buffers),
        cmocka_unit_test(a_range_that_begins_late_keeps_what_is_before_it),
        cmocka_unit_test(edge_against_program_order_is_a_cycle),
        cmocka_unit_test(temporaries_share_memory_when_lifetimes_do_not_meet),
        cmocka_unit_test(temporary_read_before_written_is_refused),
        cmocka_unit_test(batch_of_24_tasks_is_one_submission),
        cmocka_unit_test(queue_holds_what_was_submitted_until_the_wait),
        cmocka_unit_test(second_run_is_recorded_and_replayed),
        cmocka_unit_test(changed_residency_is_not_replayed_blindly),
        cmocka_unit_test(wrong_arguments_are_named),
        cmocka_unit_test(text_given_at_run_time_runs_everywhere),
        cmocka_unit_test(memory_map_lists_buffers_and_reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_pipe.c - batches in flight: the same results for every depth, bounded, and clean after
 * errors.
 */
#include "engine_fixture.h"

#include <quern/pipe.h>

#include "engine/device/context.h"

enum { N = 3000, N_BATCHES = 24, NEVER = -1 };

/* y = 3 x + b for batch b, where x depends on the batch too. */
typedef struct {
    qn_ctx *ctx;
    int n; /* elements of a batch */
    qn_buf *x[QN_PIPE_MAX_DEPTH], *y[QN_PIPE_MAX_DEPTH];
    int n_built, n_prepared, n_delivered, most_in_flight;
    float *results;                                /* of all batches, in order */
    int build_fails, prepare_fails, deliver_fails; /* at this slot or batch */
    int is_silent;                                 /* fails without a sentence */
} work;

static qn_status refuse(const work *w, const char *what, int at, qn_err *err)
{
    if (w->is_silent)
        return QN_ERR_INPUT;
    return qn_fail(err, QN_ERR_INPUT, "%s refuses number %d", what, at);
}

static qn_status build(void *user, int slot, qn_graph *graph, qn_err *err)
{
    work *w = user;

    w->n_built++;
    if (slot == w->build_fails)
        return refuse(w, "build", slot, err);
    w->x[slot] = array_of(w->ctx, "x", w->n);
    w->y[slot] = array_of(w->ctx, "y", w->n);
    must(stage_vadd(graph, "double", qn_range_1d(w->n), w->x[slot], w->x[slot], w->y[slot], err));
    must(stage_saxpy(graph, "add", qn_range_1d(w->n), 1.0f, w->x[slot], w->y[slot], err));
    must(qn_graph_output(graph, w->y[slot], err));
    return QN_OK;
}

static qn_status prepare(void *user, int slot, qn_i64 batch, qn_err *err)
{
    work *w = user;
    void *data;

    assert_int_equal(batch, w->n_prepared);
    if (batch == w->prepare_fails)
        return refuse(w, "prepare", (int)batch, err);
    must(qn_buf_host(w->x[slot], QN_HOST_DISCARD, &data, err));
    for (int i = 0; i < w->n; i++)
        ((float *)data)[i] = (float)(i + 7 * batch);
    w->n_prepared++;
    if (w->n_prepared - w->n_delivered > w->most_in_flight)
        w->most_in_flight = w->n_prepared - w->n_delivered;
    return QN_OK;
}

static qn_status deliver(void *user, int slot, qn_i64 batch, qn_err *err)
{
    work *w = user;

    assert_int_equal(batch, w->n_delivered); /* in order, once */
    if (batch == w->deliver_fails)
        return refuse(w, "deliver", (int)batch, err);
    must(qn_buf_read(w->y[slot], 0, w->results + batch * w->n, (size_t)w->n * sizeof(float), err));
    w->n_delivered++;
    return QN_OK;
}

static work work_on(qn_ctx *ctx, int n)
{
    work w = {
        .ctx = ctx, .n = n, .build_fails = NEVER, .prepare_fails = NEVER, .deliver_fails = NEVER
    };

    w.results = calloc((size_t)(n * N_BATCHES), sizeof *w.results);
    assert_non_null(w.results);
    return w;
}

static qn_pipe_work calls(work *w)
{
    return (qn_pipe_work){ .user = w, .build = build, .prepare = prepare, .deliver = deliver };
}

static qn_status open_pipe(work *w, int depth, qn_pipe **out, qn_err *err)
{
    const qn_pipe_work three = calls(w);

    return qn_pipe_open(w->ctx, "test", depth, &three, out, err);
}

static void check_results(const work *w)
{
    assert_int_equal(w->n_delivered, N_BATCHES);
    for (int b = 0; b < N_BATCHES; b++)
        for (int i = 0; i < w->n; i++)
            if (w->results[b * w->n + i] != (float)(3 * (i + 7 * b)))
                fail_msg("batch %d, element %d: %g, not %d", b, i, w->results[b * w->n + i],
                         3 * (i + 7 * b));
}

/* Frees the arrays; after that nothing of the pipe may be in use. */
static void finish(work *w)
{
    for (int s = 0; s < QN_PIPE_MAX_DEPTH; s++) {
        qn_buf_free(w->x[s]);
        qn_buf_free(w->y[s]);
    }
    free(w->results);
    assert_null(w->ctx->bufs);
    assert_int_equal(qn_pool_get_stats(w->ctx->host_pool).n_live, 0);
    for (int d = 1; d < w->ctx->n_devices; d++)
        if (w->ctx->devices[d].pool)
            assert_int_equal(qn_pool_get_stats(w->ctx->devices[d].pool).n_live, 0);
}

static void run_on(const char *backend, int depth)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = backend, .fallback = QN_FALLBACK_ERROR));
    work w = work_on(ctx, N);
    qn_pipe *pipe;
    qn_pipe_stats s;

    must(open_pipe(&w, depth, &pipe, &failure));
    must(qn_pipe_run(pipe, N_BATCHES, &failure));
    s = qn_pipe_get_stats(pipe);
    check_results(&w);
    assert_int_equal(w.n_built, depth);
    assert_int_equal(s.batches, N_BATCHES);
    assert_int_equal(s.queue_depth_peak, depth); /* all slots are used, and no more */
    assert_int_equal(w.most_in_flight, depth);
    qn_pipe_close(pipe);
    finish(&w);
    qn_ctx_close(ctx);
}

static void results_are_the_same_and_in_order_for_every_depth(void **state)
{
    static const char *const backends[] = { "sim", "cpu", "opencl" };
    static const int depths[] = { 1, 2, 4, 8 };

    (void)state;
    for (int b = 0; b < 3; b++) {
        if (!has_backend(backends[b]))
            continue;
        for (int d = 0; d < 4; d++)
            run_on(backends[b], depths[d]);
    }
}

static void few_batches_leave_slots_empty(void **state)
{
    (void)state;
    for (int n = 0; n < 4; n++) {
        qn_ctx *ctx = open_sim(NULL);
        work w = work_on(ctx, N);
        qn_pipe *pipe;

        must(open_pipe(&w, 4, &pipe, &failure));
        must(qn_pipe_run(pipe, n, &failure));
        assert_int_equal(w.n_delivered, n);
        assert_int_equal(qn_pipe_get_stats(pipe).queue_depth_peak, n);
        qn_pipe_close(pipe);
        finish(&w);
        qn_ctx_close(ctx);
    }
}

static void a_pipe_can_run_again(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    work w = work_on(ctx, N);
    qn_pipe *pipe;

    (void)state;
    must(open_pipe(&w, 2, &pipe, &failure));
    for (int run = 0; run < 3; run++) {
        w.n_prepared = w.n_delivered = 0;
        memset(w.results, 0, sizeof(float) * N * N_BATCHES);
        must(qn_pipe_run(pipe, N_BATCHES, &failure));
        check_results(&w);
    }
    assert_int_equal(qn_pipe_get_stats(pipe).batches, 3 * N_BATCHES);
    qn_pipe_close(pipe);
    finish(&w);
    qn_ctx_close(ctx);
}

/* Four slots of two arrays of 64 KiB do not fit into 256 KiB. */
static void a_small_budget_changes_nothing_but_the_time(void **state)
{
    enum { ELEMS = 16384 };
    char text[4096];

    (void)state;
    for (int depth = 1; depth <= 8; depth *= 2) {
        qn_ctx *ctx =
            open_with(QN_OPTIONS(.backend = "sim", .mem_budget = "256K", .fault = "sim.mem=1M"));
        work w = work_on(ctx, ELEMS);
        qn_pipe *pipe;

        CAPTURE_STDERR(text, sizeof text, {
            must(open_pipe(&w, depth, &pipe, &failure));
            must(qn_pipe_run(pipe, N_BATCHES, &failure));
        });
        check_results(&w);
        assert_string_equal(text, ""); /* nothing fell back */
        assert_true(qn_pool_get_stats(ctx->devices[1].pool).bytes_peak <= 256 << 10);
        assert_int_equal(qn_pipe_get_stats(pipe).queue_depth_peak, depth);
        qn_pipe_close(pipe);
        finish(&w);
        qn_ctx_close(ctx);
    }
}

/* Errors. */

static void an_error_while_building_opens_nothing(void **state)
{
    (void)state;
    for (int slot = 0; slot < 3; slot++) {
        qn_ctx *ctx = open_sim(NULL);
        work w = work_on(ctx, N);
        qn_pipe *pipe = NULL;
        char want[64];

        w.build_fails = slot;
        snprintf(want, sizeof want, "build refuses number %d", slot);
        assert_int_equal(open_pipe(&w, 3, &pipe, &failure), QN_ERR_INPUT);
        assert_string_equal(failure.text, want);
        assert_null(pipe);
        assert_int_equal(w.n_built, slot + 1);
        finish(&w);
        qn_ctx_close(ctx);
    }
}

/* Runs into the error of `w`, then again without it. */
static void expect_error(work *w, int depth, qn_status status, const char *want)
{
    qn_ctx *ctx = w->ctx;
    qn_pipe *pipe;

    must(open_pipe(w, depth, &pipe, &failure));
    assert_int_equal(qn_pipe_run(pipe, N_BATCHES, &failure), status);
    assert_string_equal(failure.text, want);
    w->prepare_fails = w->deliver_fails = NEVER;
    w->n_prepared = w->n_delivered = w->most_in_flight = 0;
    must(qn_pipe_run(pipe, N_BATCHES, &failure));
    check_results(w);
    assert_int_equal(w->most_in_flight, depth);
    qn_pipe_close(pipe);
    finish(w);
    qn_ctx_close(ctx);
}

static void an_error_while_preparing_ends_the_run_with_its_sentence(void **state)
{
    static const int at[] = { 0, 1, 5, N_BATCHES - 1 };

    (void)state;
    for (int i = 0; i < 4; i++) {
        work w = work_on(open_sim(NULL), N);
        char want[64];

        w.prepare_fails = at[i];
        snprintf(want, sizeof want, "prepare refuses number %d", at[i]);
        expect_error(&w, 2, QN_ERR_INPUT, want);
    }
}

static void an_error_while_delivering_ends_the_run_with_its_sentence(void **state)
{
    static const int at[] = { 0, 1, 5, N_BATCHES - 1 };

    (void)state;
    for (int i = 0; i < 4; i++) {
        work w = work_on(open_sim(NULL), N);
        char want[64];

        w.deliver_fails = at[i];
        snprintf(want, sizeof want, "deliver refuses number %d", at[i]);
        expect_error(&w, 4, QN_ERR_INPUT, want);
    }
}

static void an_error_without_a_sentence_gets_one(void **state)
{
    work w = work_on(open_sim(NULL), N);

    (void)state;
    w.prepare_fails = 3;
    w.is_silent = 1;
    expect_error(&w, 2, QN_ERR_INPUT, "pipe test: prepare failed");
}

static void a_failing_device_is_replaced_and_says_so(void **state)
{
    char text[8192];

    (void)state;
    for (int depth = 1; depth <= 4; depth *= 2) {
        qn_ctx *ctx = open_sim("sim.fail_at=11");
        work w = work_on(ctx, N);
        qn_pipe *pipe;

        CAPTURE_STDERR(text, sizeof text, {
            must(open_pipe(&w, depth, &pipe, &failure));
            must(qn_pipe_run(pipe, N_BATCHES, &failure));
        });
        check_results(&w);
        assert_non_null(strstr(text, "CPU fallback.\n"));
        qn_pipe_close(pipe);
        finish(&w);
        qn_ctx_close(ctx);
    }
}

static void with_fallback_forbidden_the_run_fails_with_the_stage(void **state)
{
    qn_ctx *ctx = open_with(
        QN_OPTIONS(.backend = "sim", .fault = "launch:add@5", .fallback = QN_FALLBACK_ERROR));
    work w = work_on(ctx, N);
    qn_pipe *pipe;

    (void)state;
    must(open_pipe(&w, 2, &pipe, &failure));
    assert_int_equal(qn_pipe_run(pipe, N_BATCHES, &failure), QN_ERR_FALLBACK);
    assert_non_null(strstr(failure.text, "stage add"));
    assert_in_range(w.n_delivered, 0, 4);
    qn_pipe_close(pipe);
    finish(&w);
    qn_ctx_close(ctx);
}

/* The depth. */

static void a_depth_beyond_1_to_8_is_refused(void **state)
{
    static const int bad[] = { -1, 9, 1000 };
    qn_ctx *ctx = open_sim(NULL);
    work w = work_on(ctx, N);
    qn_pipe *pipe = NULL;
    char want[80];

    (void)state;
    for (int i = 0; i < 3; i++) {
        snprintf(want, sizeof want, "pipeline depth %d is not between 1 and 8", bad[i]);
        assert_int_equal(open_pipe(&w, bad[i], &pipe, &failure), QN_ERR_LIMIT);
        assert_string_equal(failure.text, want);
    }
    assert_null(pipe);
    assert_int_equal(w.n_built, 0);
    finish(&w);
    qn_ctx_close(ctx);
}

/* The number of slots of a pipe opened with depth 0; -1 if it is refused. */
static int default_depth(qn_ctx *ctx)
{
    work w = work_on(ctx, N);
    qn_pipe *pipe = NULL;
    const qn_status st = open_pipe(&w, 0, &pipe, &failure);

    qn_pipe_close(pipe);
    assert_true(st == QN_OK || (st == QN_ERR_LIMIT && !w.n_built));
    finish(&w);
    return st == QN_OK ? w.n_built : -1;
}

static void depth_zero_asks_the_environment_then_means_two(void **state)
{
    qn_ctx *ctx = open_sim(NULL);

    (void)state;
    unsetenv("QUERN_PIPELINE");
    assert_int_equal(default_depth(ctx), 2);
    setenv("QUERN_PIPELINE", "5", 1);
    assert_int_equal(default_depth(ctx), 5);
    unsetenv("QUERN_PIPELINE");
    qn_ctx_close(ctx);
}

/* Figures. */

static void the_metrics_are_those_of_the_pipe(void **state)
{
    qn_ctx *ctx = open_sim("sim.ns_per_item=20");
    const qn_metrics *m = qn_ctx_metrics(ctx);
    work w = work_on(ctx, N);
    qn_pipe *pipe;
    qn_pipe_stats s;

    (void)state;
    must(open_pipe(&w, 2, &pipe, &failure));
    must(qn_pipe_run(pipe, N_BATCHES, &failure));
    s = qn_pipe_get_stats(pipe);
    assert_true(s.wall_us > 0 && s.h2d_us > 0 && s.compute_us > 0 && s.d2h_us > 0);
    /* Two launches of 2 + 5 + 60 us and one copy of 8 + 1 us each way, per batch. */
    assert_true(s.compute_us > 0.99 * 134 * N_BATCHES && s.compute_us < 1.01 * 134 * N_BATCHES);
    assert_true(s.h2d_us > 0.99 * 9 * N_BATCHES && s.h2d_us < 1.01 * 9 * N_BATCHES);
    assert_true(s.d2h_us > 0.99 * 9 * N_BATCHES && s.d2h_us < 1.01 * 9 * N_BATCHES);
    assert_true(qn_metric_value(m, "pipe_wall_us", NULL) == s.wall_us);
    assert_true(qn_metric_value(m, "pipe_prepare_us", NULL) == s.prepare_us);
    assert_true(qn_metric_value(m, "pipe_h2d_us", NULL) == s.h2d_us);
    assert_true(qn_metric_value(m, "pipe_compute_us", NULL) == s.compute_us);
    assert_true(qn_metric_value(m, "pipe_d2h_us", NULL) == s.d2h_us);
    assert_true(qn_metric_value(m, "overlap_ratio", NULL) == s.overlap_ratio);
    assert_true(s.overlap_ratio ==
                1 - s.wall_us / (s.prepare_us + s.h2d_us + s.compute_us + s.d2h_us));
    assert_true(s.overlap_ratio > 0);
    qn_pipe_close(pipe);
    finish(&w);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_the_same_and_in_order_for_every_depth),
        cmocka_unit_test(few_batches_leave_slots_empty),
        cmocka_unit_test(a_pipe_can_run_again),
        cmocka_unit_test(a_small_budget_changes_nothing_but_the_time),
        cmocka_unit_test(an_error_while_building_opens_nothing),
        cmocka_unit_test(an_error_while_preparing_ends_the_run_with_its_sentence),
        cmocka_unit_test(an_error_while_delivering_ends_the_run_with_its_sentence),
        cmocka_unit_test(an_error_without_a_sentence_gets_one),
        cmocka_unit_test(a_failing_device_is_replaced_and_says_so),
        cmocka_unit_test(with_fallback_forbidden_the_run_fails_with_the_stage),
        cmocka_unit_test(a_depth_beyond_1_to_8_is_refused),
        cmocka_unit_test(depth_zero_asks_the_environment_then_means_two),
        cmocka_unit_test(the_metrics_are_those_of_the_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

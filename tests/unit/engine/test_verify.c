/* test_verify.c - the cross-check finds wrong results of a device, and corrects them. */
#include "engine_counters.h"

enum { N = 3000 };

typedef struct {
    qn_ctx *ctx;
    qn_buf *x, *y, *z;
    qn_graph *graph;
} work;

/* z = x + y, y = 2 x + y */
static work open_work(qn_options options)
{
    work w;

    options.backend = options.backend ? options.backend : "sim";
    w.ctx = open_with(options);
    w.x = ramp(w.ctx, "x", N, 0, 1);
    w.y = ramp(w.ctx, "y", N, 1, 0);
    w.z = array_of(w.ctx, "z", N);
    must(qn_graph_new(w.ctx, "work", &w.graph, &failure));
    must(stage_vadd(w.graph, "vadd", qn_range_1d(N), w.x, w.y, w.z, &failure));
    must(stage_saxpy(w.graph, "saxpy", qn_range_1d(N), 2.0f, w.x, w.y, &failure));
    return w;
}

static void close_work(work *w)
{
    qn_graph_free(w->graph);
    qn_buf_free(w->x);
    qn_buf_free(w->y);
    qn_buf_free(w->z);
    assert_nothing_is_held(w->ctx);
    qn_ctx_close(w->ctx);
}

static void check_results(const work *w, int runs)
{
    float z[N], y[N];

    must(qn_buf_read(w->z, 0, z, sizeof z, &failure));
    must(qn_buf_read(w->y, 0, y, sizeof y, &failure));
    for (int i = 0; i < N; i++) {
        const float before = 1 + 2 * (float)i * (float)(runs - 1);

        if (z[i] != (float)i + before || y[i] != before + 2 * (float)i)
            fail_msg("element %d: %g %g", i, z[i], y[i]);
    }
}

static double checked(const work *w, const char *op)
{
    return qn_metric_value(qn_ctx_metrics(w->ctx), "verify_checked", QN_LABELS("op", op));
}

static double mismatched(const work *w, const char *op)
{
    return qn_metric_value(qn_ctx_metrics(w->ctx), "verify_mismatched", QN_LABELS("op", op));
}

static void without_check_a_flipped_bit_goes_unnoticed(void **state)
{
    work w = open_work(QN_OPTIONS(.fault = "corrupt:vadd*1"));
    char text[1000];

    (void)state;
    CAPTURE_STDERR(text, sizeof text, qn_graph_run(w.graph, &failure));
    assert_string_equal(text, "");
    assert_true(value_at(w.z, 0) != 1);
    assert_true(value_at(w.z, 1) == 2);
    close_work(&w);
}

static void flipped_bit_is_found_and_mended(void **state)
{
    static const char *const backends[] = { "sim", "opencl" };
    static const char *const stages[] = { "vadd", "saxpy" };

    (void)state;
    for (int i = 0; i < 4; i++) {
        char text[1000], rule[40], want[160];
        work w;

        if (!has_backend(backends[i / 2]))
            continue;
        snprintf(rule, sizeof rule, "corrupt:%s*1", stages[i % 2]);
        w = open_work(QN_OPTIONS(.backend = backends[i / 2], .fault = rule, .verify_pct = 100));
        CAPTURE_STDERR(text, sizeof text, qn_graph_run(w.graph, &failure));
        assert_int_equal(fallback_lines(text), 1);
        snprintf(want, sizeof want,
                 "^\\[GPU\\] %s failed: 1 of 3000 values of %s differ from the CPU, worst by "
                 "[0-9.e-]+\\. CPU",
                 stages[i % 2], i % 2 ? "y" : "z");
        assert_true(matches(text, want));
        assert_true(fallbacks(w.ctx, stages[i % 2], "mismatch") == 1);
        assert_true(checked(&w, "vadd") == 1 && checked(&w, "saxpy") == 1);
        assert_true(mismatched(&w, stages[i % 2]) == 1);
        assert_true(count_of(w.ctx, "verify_mismatched") == 1);
        check_results(&w, 1);
        must(qn_graph_run(w.graph, &failure)); /* continues from the corrected data */
        check_results(&w, 2);
        close_work(&w);
    }
}

static void two_mismatches_in_a_row_trip_the_breaker(void **state)
{
    work w = open_work(QN_OPTIONS(.fault = "corrupt*2", .verify_pct = 100, .log = "error"));
    char text[2000];

    (void)state;
    CAPTURE_STDERR(text, sizeof text, {
        qn_graph_run(w.graph, &failure); /* vadd and saxpy are wrong */
        qn_graph_run(w.graph, &failure); /* so this one stays away from the device */
    });
    assert_int_equal(fallback_lines(text), 4);
    assert_true(mismatched(&w, "vadd") == 1 && mismatched(&w, "saxpy") == 1);
    assert_true(count_of(w.ctx, "gpu_ops") == 2 && count_of(w.ctx, "cpu_ops") == 2);
    assert_non_null(strstr(text, "[GPU] vadd failed: device sim:0 is unhealthy. CPU fallback.\n"));
    check_results(&w, 2);

    /* A probe that is wrong again doubles the pause; a right one ends it. */
    w.ctx->clock.host_us += 5e6;
    CAPTURE_STDERR(text, sizeof text, qn_graph_run(w.graph, &failure));
    assert_string_equal(text, "");
    assert_true(w.ctx->devices[1].health.bad == 0);
    check_results(&w, 3);
    close_work(&w);
}

static void wrong_probe_doubles_the_pause(void **state)
{
    work w = open_work(QN_OPTIONS(.fault = "corrupt*3", .verify_pct = 100, .log = "none"));

    (void)state;
    must(qn_graph_run(w.graph, &failure));
    assert_true(w.ctx->devices[1].health.pause_us == 5e6);
    w.ctx->clock.host_us += 5e6;
    must(qn_graph_run(w.graph, &failure));
    assert_true(w.ctx->devices[1].health.pause_us == 10e6);
    check_results(&w, 2);
    close_work(&w);
}

static void lone_mismatches_do_not_trip_it(void **state)
{
    work w = open_work(QN_OPTIONS(.fault = "corrupt:vadd", .verify_pct = 100, .log = "none"));

    (void)state;
    for (int run = 1; run <= 4; run++) { /* vadd wrong, saxpy right, four times */
        must(qn_graph_run(w.graph, &failure));
        check_results(&w, run);
    }
    assert_true(w.ctx->devices[1].health.bad == 0);
    assert_true(mismatched(&w, "vadd") == 4);
    close_work(&w);
}

static void share_of_stages_is_checked_evenly(void **state)
{
    static const struct {
        double pct;
        int checked; /* of 40 stages */
    } table[] = { { 50, 20 }, { 25, 10 }, { 10, 4 }, { 2.5, 1 }, { 99, 39 }, { 100, 40 } };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        work w = open_work(QN_OPTIONS(.verify_pct = table[i].pct));

        for (int run = 0; run < 20; run++)
            must(qn_graph_run(w.graph, &failure));
        assert_int_equal((int)count_of(w.ctx, "verify_checked"), table[i].checked);
        assert_true(count_of(w.ctx, "verify_mismatched") == 0);
        check_results(&w, 20);
        close_work(&w);
    }
}

static void share_outside_0_to_100_is_refused(void **state)
{
    static const double bad[] = { -1, 100.5, 0.0 / 0.0 };
    qn_ctx *ctx = NULL;
    qn_err err;

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(
            qn_ctx_open(&QN_OPTIONS(.backend = "sim", .verify_pct = bad[i]), &ctx, &err),
            QN_ERR_USAGE);
    assert_non_null(strstr(err.text, "is not between 0 and 100"));
}

/* The output is larger than what the stage writes: the unwritten rest is not a mismatch. */
static void unwritten_rest_of_an_output_is_not_compared(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .verify_pct = 100));
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *z = array_of(ctx, "z", 2 * N);
    qn_graph *g;
    char text[1000];

    (void)state;
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_vadd(g, "vadd", qn_range_1d(N), x, x, z, &failure));
    CAPTURE_STDERR(text, sizeof text, qn_graph_run(g, &failure));
    assert_string_equal(text, "");
    assert_true(value_at(z, 7) == 14);
    assert_true(count_of(ctx, "verify_checked") == 1 && count_of(ctx, "verify_mismatched") == 0);
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(z);
    qn_ctx_close(ctx);
}

/* Both arguments are the same array: the CPU's copy must be one array too. */
static void array_used_twice_is_checked_as_one(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .verify_pct = 100));
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *half;
    qn_graph *g;
    char text[1000];

    (void)state;
    must(qn_buf_view(x, "half", N / 2 * sizeof(float), N / 2 * sizeof(float), &half, &failure));
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_saxpy(g, "saxpy", qn_range_1d(N / 2), 1.0f, x, half, &failure));
    CAPTURE_STDERR(text, sizeof text, qn_graph_run(g, &failure));
    assert_string_equal(text, "");
    assert_true(value_at(x, N / 2 + 1) == N / 2 + 2);
    assert_true(value_at(x, 1) == 1);
    qn_graph_free(g);
    qn_buf_free(half);
    qn_buf_free(x);
    qn_ctx_close(ctx);
}

/* A check that fails after the stage has run must not run it a second time. */
static void failed_check_does_not_apply_a_stage_twice(void **state)
{
    work w = open_work(QN_OPTIONS(.fault = "copy_d2h:y*1", .verify_pct = 100));
    char text[1000];

    (void)state;
    CAPTURE_STDERR(text, sizeof text, {
        must(qn_graph_run(w.graph, &failure));
        must(qn_graph_wait(w.graph, &failure));
    });
    assert_int_equal(fallback_lines(text), 1);
    check_results(&w, 1);
    close_work(&w);
}

static void forbidden_fallback_makes_a_mismatch_an_error(void **state)
{
    work w = open_work(
        QN_OPTIONS(.fault = "corrupt:saxpy*1", .verify_pct = 100, .fallback = QN_FALLBACK_ERROR));
    char text[1000];
    qn_status st;

    (void)state;
    CAPTURE_STDERR(text, sizeof text, st = qn_graph_run(w.graph, &failure));
    assert_int_equal(st, QN_ERR_FALLBACK);
    assert_string_equal(text, "");
    assert_true(
        matches(failure.text,
                "^stage saxpy failed \\(1 of 3000 values of y .+\\) and fallback is forbidden$"));
    close_work(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_check_a_flipped_bit_goes_unnoticed),
        cmocka_unit_test(flipped_bit_is_found_and_mended),
        cmocka_unit_test(two_mismatches_in_a_row_trip_the_breaker),
        cmocka_unit_test(wrong_probe_doubles_the_pause),
        cmocka_unit_test(lone_mismatches_do_not_trip_it),
        cmocka_unit_test(share_of_stages_is_checked_evenly),
        cmocka_unit_test(share_outside_0_to_100_is_refused),
        cmocka_unit_test(unwritten_rest_of_an_output_is_not_compared),
        cmocka_unit_test(array_used_twice_is_checked_as_one),
        cmocka_unit_test(failed_check_does_not_apply_a_stage_twice),
        cmocka_unit_test(forbidden_fallback_makes_a_mismatch_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

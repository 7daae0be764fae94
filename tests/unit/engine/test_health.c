/* test_health.c - when a device is refused, for how long, and how it is accepted again. */
#include "engine_counters.h"

#include "engine/device/context.h"

enum { N = 1000 };

static const double second = 1e6;

static qn_device *open_device(qn_ctx **ctx)
{
    *ctx = open_with(QN_OPTIONS(.backend = "sim", .log = "none"));
    return &(*ctx)->devices[1];
}

static void pass_time(qn_ctx *ctx, double us)
{
    ctx->clock.host_us += us;
}

static void three_failures_in_a_row_refuse_the_device(void **state)
{
    qn_ctx *ctx;
    qn_device *device = open_device(&ctx);

    (void)state;
    for (int round = 0; round < 5; round++) {
        qn_health_note(device, 1);
        qn_health_note(device, 1);
        assert_true(qn_health_ok(device));
        for (int i = 0; i < 20; i++)
            qn_health_note(device, 0);
    }
    for (int i = 0; i < 3; i++) {
        assert_true(qn_health_ok(device));
        qn_health_note(device, 1);
    }
    assert_false(qn_health_ok(device));
    qn_ctx_close(ctx);
}

/* `n_failed` failures among 50 stages, no two of them in a row, the last one at the end. */
static void spread_failures(qn_device *device, int n_failed)
{
    for (int i = 0; i < 50; i++)
        qn_health_note(device, (49 - i) % 4 == 0 && (49 - i) / 4 < n_failed);
}

static void more_than_a_fifth_of_the_last_fifty_refuses_the_device(void **state)
{
    qn_ctx *ctx;
    qn_device *device = open_device(&ctx);

    (void)state;
    spread_failures(device, 10);
    assert_true(qn_health_ok(device));
    spread_failures(device, 10);
    assert_true(qn_health_ok(device));
    for (int i = 0; i < 50; i++)
        qn_health_note(device, 0);
    spread_failures(device, 11);
    assert_false(qn_health_ok(device));
    qn_ctx_close(ctx);
}

static void share_counts_only_once_fifty_stages_have_run(void **state)
{
    qn_ctx *ctx;
    qn_device *device = open_device(&ctx);

    (void)state;
    for (int i = 0; i < 49; i++) {
        qn_health_note(device, i % 2);
        assert_true(qn_health_ok(device));
    }
    qn_health_note(device, 1);
    assert_false(qn_health_ok(device));
    qn_ctx_close(ctx);
}

static void pause_doubles_from_five_seconds_to_five_minutes(void **state)
{
    static const double pauses[] = { 5, 10, 20, 40, 80, 160, 300, 300, 300 };
    qn_ctx *ctx;
    qn_device *device = open_device(&ctx);

    (void)state;
    for (int i = 0; i < 3; i++)
        qn_health_note(device, 1);
    for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++) {
        assert_false(qn_health_ok(device));
        pass_time(ctx, pauses[i] * second - 1000);
        assert_false(qn_health_ok(device));
        pass_time(ctx, 1000);
        assert_true(qn_health_ok(device));
        qn_health_note(device, 1); /* the probe fails */
    }
    qn_ctx_close(ctx);
}

static void probe_that_works_brings_the_device_back(void **state)
{
    qn_ctx *ctx;
    qn_device *device = open_device(&ctx);

    (void)state;
    for (int i = 0; i < 3; i++)
        qn_health_note(device, 1);
    pass_time(ctx, 5 * second);
    qn_health_note(device, 1);
    pass_time(ctx, 10 * second);
    qn_health_note(device, 0);
    assert_true(qn_health_ok(device));
    /* Earlier failures are forgotten: three more are needed, and the pause is short again. */
    qn_health_note(device, 1);
    qn_health_note(device, 1);
    assert_true(qn_health_ok(device));
    qn_health_note(device, 1);
    assert_false(qn_health_ok(device));
    pass_time(ctx, 5 * second);
    assert_true(qn_health_ok(device));
    qn_ctx_close(ctx);
}

static void two_mismatches_in_a_row_refuse_the_device(void **state)
{
    qn_ctx *ctx;
    qn_device *device = open_device(&ctx);

    (void)state;
    qn_health_mismatch(device, 1);
    qn_health_mismatch(device, 0);
    qn_health_mismatch(device, 1);
    assert_true(qn_health_ok(device));
    qn_health_mismatch(device, 1);
    assert_false(qn_health_ok(device));
    qn_ctx_close(ctx);
}

/* In graphs. */

/* `n` stages y = x + y. */
static qn_graph *chain(qn_ctx *ctx, qn_buf *x, qn_buf *y, int n)
{
    qn_graph *g;

    must(qn_graph_new(ctx, "chain", &g, &failure));
    for (int i = 0; i < n; i++) {
        char name[16];

        snprintf(name, sizeof name, "s%d", i);
        must(stage_saxpy(g, name, qn_range_1d(N), 1.0f, x, y, &failure));
    }
    return g;
}

static void refused_device_is_left_alone_until_the_probe(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .log = "error", .fault = "launch*3"));
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *y = ramp(ctx, "y", N, 0, 0);
    qn_graph *g = chain(ctx, x, y, 1);
    char text[4096];

    (void)state;
    CAPTURE_STDERR(text, sizeof text, {
        for (int run = 0; run < 5; run++)
            qn_graph_run(g, &failure);
    });
    assert_int_equal(fallback_lines(text), 5);
    assert_non_null(strstr(text, "[GPU] s0 failed: device sim:0 is unhealthy. CPU fallback.\n"));
    assert_true(fallbacks(ctx, "s0", "injected") == 3 && fallbacks(ctx, "s0", "launch") == 2);
    assert_true(count_of(ctx, "gpu_total_failures") == 3);
    assert_true(count_of(ctx, "gpu_ops") == 0);
    pass_time(ctx, 5 * second);
    CAPTURE_STDERR(text, sizeof text, must(qn_graph_run(g, &failure)));
    assert_string_equal(text, "");
    assert_true(count_of(ctx, "gpu_ops") == 1);
    assert_true(value_at(y, 3) == 18);
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
}

/* One run must not extend the pause: after the third failure the other stages do not try. */
static void one_run_refuses_the_device_once(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .log = "error", .fault = "launch"));
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *y = ramp(ctx, "y", N, 0, 0);
    qn_graph *g = chain(ctx, x, y, 8);
    char text[4096];

    (void)state;
    CAPTURE_STDERR(text, sizeof text, qn_graph_run(g, &failure));
    assert_int_equal(fallback_lines(text), 8);
    assert_true(count_of(ctx, "gpu_total_failures") == 3);
    assert_true(fallbacks(ctx, "s2", "injected") == 1 && fallbacks(ctx, "s3", "launch") == 1);
    assert_true(ctx->devices[1].health.pause_us == 5 * second);
    assert_true(value_at(y, 3) == 24);

    /* The probe is one stage too. */
    pass_time(ctx, 5 * second);
    CAPTURE_STDERR(text, sizeof text, qn_graph_run(g, &failure));
    assert_true(count_of(ctx, "gpu_total_failures") == 4);
    assert_true(ctx->devices[1].health.pause_us == 10 * second);
    assert_true(value_at(y, 3) == 48);
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
}

static void health_is_shown_as_a_metric(void **state)
{
    qn_ctx *ctx;
    qn_device *device = open_device(&ctx);
    char path[] = "/tmp/quern-health-XXXXXX.json";

    (void)state;
    close(mkstemps(path, 5));
    for (int i = 0; i < 3; i++)
        qn_health_note(device, 1);
    must(qn_metrics_write(ctx, "test", path, &failure));
    unlink(path);
    assert_true(
        qn_metric_value(qn_ctx_metrics(ctx), "gpu_available", QN_LABELS("device", "sim:0")) == 0);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_failures_in_a_row_refuse_the_device),
        cmocka_unit_test(more_than_a_fifth_of_the_last_fifty_refuses_the_device),
        cmocka_unit_test(share_counts_only_once_fifty_stages_have_run),
        cmocka_unit_test(pause_doubles_from_five_seconds_to_five_minutes),
        cmocka_unit_test(probe_that_works_brings_the_device_back),
        cmocka_unit_test(two_mismatches_in_a_row_refuse_the_device),
        cmocka_unit_test(refused_device_is_left_alone_until_the_probe),
        cmocka_unit_test(one_run_refuses_the_device_once),
        cmocka_unit_test(health_is_shown_as_a_metric),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

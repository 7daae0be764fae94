/* test_split.c - batches over several simulated devices: results, parts, speed, failures. */
#include "split_fixture.h"

#include <math.h>

/* Launches of the fixture take 25 us, so devices and not the host limit the speed. */
#define SLOW_KERNELS "sim.ns_per_item=100"

/* Batches. */

static void results_are_the_same_for_any_number_of_devices(void **state)
{
    static const char *const devices[] = { "sim:0", "sim:0,sim:1", "sim:0,sim:1,sim:2", "sim" };

    (void)state;
    for (int k = 0; k < 4; k++)
        for (int mode = 0; mode < 3; mode++)
            for (int depth = 1; depth <= 3; depth++) {
                const qn_split_options options =
                    QN_SPLIT_OPTIONS(.mode = (qn_split_mode)mode, .devices = devices[k],
                                     .depth = depth);
                fixture r;

                fixture_open(&r, "sim.devices=4," SLOW_KERNELS ",sim.rate.1=0.5", &options, 37, 3);
                assert_int_equal(qn_split_count(r.split), k + 1);
                assert_int_equal(r.n_built, (k + 1) * depth);
                fixture_run(&r);
                fixture_run(&r);
                for (int i = 0; i <= k; i++)
                    assert_true(qn_split_get(r.split, i).items > 0);
                fixture_close(&r);
            }
}

static void no_items_are_no_work(void **state)
{
    fixture r;

    (void)state;
    fixture_open(&r, "sim.devices=3", NULL, 0, 4);
    fixture_run(&r);
    assert_int_equal(r.n_prepared, 0);
    assert_int_equal(qn_split_get_stats(r.split).chunks, 0);
    assert_int_equal(qn_split_run(r.split, -1, &failure), QN_ERR_USAGE);
    assert_string_equal(failure.text, "split fixture: -1 items");
    fixture_close(&r);
}

static void more_devices_than_items_leave_some_idle(void **state)
{
    (void)state;
    for (int mode = 0; mode < 3; mode++) {
        const qn_split_options options = QN_SPLIT_OPTIONS(.mode = (qn_split_mode)mode);
        fixture r;

        fixture_open(&r, "sim.devices=4", &options, 2, 8);
        fixture_run(&r);
        for (int i = 0; i < 4; i++)
            assert_int_equal(qn_split_get(r.split, i).items, i < 2);
        fixture_close(&r);
    }
}

static void equal_blocks_of_ten_over_three_are_4_3_3(void **state)
{
    const qn_split_options options = QN_SPLIT_OPTIONS(.mode = QN_SPLIT_EQUAL);
    fixture r;

    (void)state;
    fixture_open(&r, "sim.devices=3", &options, 10, 2);
    fixture_run(&r);
    assert_int_equal(qn_split_get(r.split, 0).items, 4);
    assert_int_equal(qn_split_get(r.split, 1).items, 3);
    assert_int_equal(qn_split_get(r.split, 2).items, 3);
    assert_int_equal(qn_split_get(r.split, 1).chunks, 2);
    fixture_close(&r);
}

static void blocks_by_rates_95_to_80_of_1000_are_543_and_457(void **state)
{
    const double rates[2] = { 95, 80 };
    const qn_split_options options =
        QN_SPLIT_OPTIONS(.mode = QN_SPLIT_PROPORTIONAL, .rates = rates);
    fixture r;

    (void)state;
    fixture_open(&r, "sim.devices=2", &options, 1000, 100);
    fixture_run(&r);
    assert_int_equal(qn_split_get(r.split, 0).items, 543);
    assert_int_equal(qn_split_get(r.split, 1).items, 457);
    fixture_close(&r);
}

static void measured_rates_decide_the_blocks_of_the_next_split(void **state)
{
    const qn_split_options blocks = QN_SPLIT_OPTIONS(.mode = QN_SPLIT_PROPORTIONAL);
    qn_ctx *ctx = open_with(
        QN_OPTIONS(.backend = "sim", .fault = "sim.devices=2," SLOW_KERNELS ",sim.rate.1=0.5"));
    fixture first, second;

    (void)state;
    fixture_open_in(&first, ctx, NULL, 200, 4);
    fixture_run(&first);
    fixture_open_in(&second, ctx, &blocks, 300, 4);
    fixture_run(&second);
    assert_in_range(qn_split_get(second.split, 0).items, 190, 210);
    fixture_free_keeping_context(&first);
    fixture_close(&second);
}

/* Speed. */

static double wall_of(const char *fault, const qn_split_options *options, qn_i64 n, int runs)
{
    double wall_us;
    fixture r;

    fixture_open(&r, fault, options, n, 4);
    for (int i = 0; i < runs; i++)
        fixture_run(&r);
    wall_us = qn_split_get_stats(r.split).wall_us;
    fixture_close(&r);
    return wall_us;
}

static void shared_queue_uses_a_slower_device_for_what_it_can(void **state)
{
    const double alone = wall_of("sim.devices=1," SLOW_KERNELS, NULL, 400, 3);
    const double with_half = wall_of("sim.devices=2," SLOW_KERNELS ",sim.rate.1=0.5", NULL, 400, 3);

    (void)state;
    assert_true(alone / with_half > 1.4); /* 1.5 at most */
}

static void slow_device_does_not_hold_up_the_end(void **state)
{
    /* One chunk of the slow device takes as long as 40 of the fast one. */
    const char *fault = "sim.devices=2," SLOW_KERNELS ",sim.rate.1=0.025";
    const double alone = wall_of("sim.devices=1," SLOW_KERNELS, NULL, 100, 3);
    const double together = wall_of(fault, NULL, 100, 3);

    (void)state;
    assert_true(together < alone * 1.02);
}

/* Submitted step by step, the copies of all slots share two streams: the end of one chunk must not
 * be noticed only with the end of the next. */
static void second_slot_hides_the_copies(void **state)
{
    static const char *const faults[] = {
        "sim.devices=2," SLOW_KERNELS ",sim.h2d_us=20,sim.d2h_us=20",
        "sim.devices=2," SLOW_KERNELS ",sim.h2d_us=20,sim.d2h_us=20,sim.replay=0",
    };

    (void)state;
    for (int i = 0; i < 2; i++) {
        const double one = wall_of(faults[i], &QN_SPLIT_OPTIONS(.depth = 1), 200, 3);
        const double two = wall_of(faults[i], NULL, 200, 3);

        assert_true(one / two > 1.5);
    }
}

static void blocks_are_corrected_once_and_then_left_alone(void **state)
{
    const qn_split_options options = QN_SPLIT_OPTIONS(.mode = QN_SPLIT_EQUAL);
    fixture r;

    (void)state;
    fixture_open(&r, "sim.devices=2," SLOW_KERNELS ",sim.rate.1=0.5", &options, 300, 2);
    fixture_run(&r);
    assert_int_equal(qn_split_get(r.split, 0).items, 150);
    assert_true(qn_split_get_stats(r.split).spread_pct > 30);
    assert_int_equal(qn_split_get_stats(r.split).rebalances, 1);
    fixture_run(&r);
    assert_in_range(qn_split_get(r.split, 0).items, 190, 210);
    assert_true(qn_split_get_stats(r.split).spread_pct < 10);
    for (int i = 0; i < 3; i++)
        fixture_run(&r);
    assert_int_equal(qn_split_get_stats(r.split).rebalances, 1);
    fixture_close(&r);
}

static void small_differences_are_not_corrected(void **state)
{
    const qn_split_options options = QN_SPLIT_OPTIONS(.mode = QN_SPLIT_EQUAL);
    fixture r;

    (void)state;
    fixture_open(&r, "sim.devices=2," SLOW_KERNELS ",sim.rate.1=0.8", &options, 300, 2);
    for (int i = 0; i < 3; i++)
        fixture_run(&r);
    assert_true(qn_split_get_stats(r.split).spread_pct > 15);
    assert_int_equal(qn_split_get_stats(r.split).rebalances, 0);
    assert_int_equal(qn_split_get(r.split, 0).items, 150);
    fixture_close(&r);
}

/* Faults. */

static int count_failed(const fixture *r)
{
    int n = 0;

    for (int i = 0; i < qn_split_count(r->split); i++)
        n += qn_split_get(r->split, i).has_failed;
    return n;
}

static void lost_device_gives_its_chunks_to_the_others(void **state)
{
    (void)state;
    for (int mode = 0; mode < 3; mode++) {
        const qn_split_options options = QN_SPLIT_OPTIONS(.mode = (qn_split_mode)mode);
        char text[4096];
        fixture r;

        fixture_open(&r, "sim.devices=3," SLOW_KERNELS ",device_lost@17*1", &options, 60, 2);
        CAPTURE_STDERR(text, sizeof text, fixture_run(&r));
        assert_string_equal(text, ""); /* nothing went to the CPU */
        assert_int_equal(count_failed(&r), 1);
        assert_int_equal(qn_split_count(r.split), 3);
        assert_true(qn_split_get_stats(r.split).requeued >= 1);
        for (int i = 0; i < 3; i++)
            if (qn_split_get(r.split, i).has_failed)
                assert_non_null(strstr(qn_split_get(r.split, i).reason, "lost (injected)"));
        assert_true(qn_metric_value(qn_ctx_metrics(r.ctx), "gpu_total_failures", NULL) == 1);
        assert_true(qn_metric_value(qn_ctx_metrics(r.ctx), "gpu_fallback_count", NULL) == 0);

        /* It stays out, and is named again. */
        fixture_run(&r);
        assert_int_equal(count_failed(&r), 1);
        fixture_close(&r);
    }
}

static void cpu_takes_the_rest_when_no_device_is_left(void **state)
{
    (void)state;
    for (int mode = 0; mode < 3; mode++) {
        const qn_split_options options = QN_SPLIT_OPTIONS(.mode = (qn_split_mode)mode);
        qn_ctx *ctx = open_with(
            QN_OPTIONS(.backend = "sim", .log = "error",
                       .fault = "sim.devices=3," SLOW_KERNELS ",device_lost:fixture.mul@17"));
        char text[4096];
        fixture r;

        fixture_open_in(&r, ctx, &options, 60, 2);
        CAPTURE_STDERR(text, sizeof text, fixture_run(&r));
        assert_int_equal(strncmp(text, "[GPU] fixture.mul failed: device sim:", 33), 0);
        assert_string_equal(strrchr(text, ':') + 2, " lost (injected). CPU fallback.\n");
        assert_int_equal(count_failed(&r), 3);
        assert_int_equal(qn_split_count(r.split), 4);
        assert_int_equal(qn_split_get(r.split, 3).device, 0);
        assert_true(qn_split_get(r.split, 3).items > 30);
        assert_true(qn_metric_value(qn_ctx_metrics(ctx), "gpu_fallback_count",
                                    QN_LABELS("stage", "fixture.mul", "reason", "device_lost")) ==
                    1);

        /* All are lost for good: the next batch goes to the CPU from the start. */
        CAPTURE_STDERR(text, sizeof text, fixture_run(&r));
        assert_non_null(strstr(text, "was lost. CPU fallback.\n"));
        assert_int_equal(qn_split_get(r.split, 3).items, 60);
        fixture_close(&r);
    }
}

static void forbidden_fallback_ends_the_run(void **state)
{
    qn_ctx *ctx =
        open_with(QN_OPTIONS(.backend = "sim", .log = "none", .fallback = QN_FALLBACK_ERROR,
                             .fault = "sim.devices=2,device_lost@5"));
    fixture r;

    (void)state;
    fixture_open_in(&r, ctx, NULL, 60, 2);
    assert_int_equal(qn_split_run(r.split, 60, &failure), QN_ERR_FALLBACK);
    assert_non_null(strstr(failure.text, "fallback is forbidden"));
    fixture_close(&r);
}

static void forbidden_fallback_does_not_mind_a_device_among_others(void **state)
{
    qn_ctx *ctx =
        open_with(QN_OPTIONS(.backend = "sim", .log = "none", .fallback = QN_FALLBACK_ERROR,
                             .fault = "sim.devices=2,device_lost@5*1"));
    fixture r;

    (void)state;
    fixture_open_in(&r, ctx, NULL, 60, 2);
    fixture_run(&r);
    assert_int_equal(count_failed(&r), 1);
    fixture_close(&r);
}

/* Every class of fault in the processing of a chunk. */
static void device_that_failed_once_is_tried_again_in_the_next_batch(void **state)
{
    static const char *const faults[] = { "launch:fixture.mul@9*1", "timeout@9*1", "copy_h2d@9*1",
                                          "copy_d2h@5*1", "compile:fixture.mul@2*1" };

    (void)state;
    for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
        char fault[128];
        fixture r;

        snprintf(fault, sizeof fault, "sim.devices=3," SLOW_KERNELS ",%s", faults[f]);
        fixture_open(&r, fault, NULL, 60, 2);
        fixture_run(&r);
        if (count_failed(&r) != 1)
            fail_msg("%s: %d devices failed", faults[f], count_failed(&r));
        fixture_run(&r);
        assert_int_equal(count_failed(&r), 0);
        for (int i = 0; i < 3; i++)
            assert_true(qn_split_get(r.split, i).items > 0);
        fixture_close(&r);
    }
}

static void want_of_memory_does_not_change_the_result(void **state)
{
    static const char *const faults[] = { "alloc@9*1", "alloc@9*30", "alloc@9", "alloc" };

    (void)state;
    for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
        char fault[128];
        fixture r;

        snprintf(fault, sizeof fault, "sim.devices=3," SLOW_KERNELS ",%s", faults[f]);
        fixture_open(&r, fault, NULL, 60, 2);
        fixture_run(&r);
        assert_int_equal(count_failed(&r) > 0, f > 0); /* one refusal is tolerated */
        fixture_close(&r);
    }
}

static void error_of_the_work_ends_the_run_and_not_the_split(void **state)
{
    fixture r;

    (void)state;
    fixture_open(&r, "sim.devices=2," SLOW_KERNELS, NULL, 40, 2);
    r.fail_prepare = 21;
    assert_int_equal(qn_split_run(r.split, 40, &failure), QN_ERR_INPUT);
    assert_string_equal(failure.text, "item is no good");
    r.fail_prepare = -1;
    r.fail_deliver = 13;
    assert_int_equal(qn_split_run(r.split, 40, &failure), QN_ERR_IO);
    assert_string_equal(failure.text, "disk full");
    r.fail_deliver = -1;
    assert_true(qn_metric_value(qn_ctx_metrics(r.ctx), "device_active_tasks", NULL) == 0);
    fixture_run(&r);
    assert_int_equal(count_failed(&r), 0);
    fixture_close(&r);
}

/* Sets, limits, counters. */

static void cpu_may_be_one_of_the_devices(void **state)
{
    qn_ctx *ctx =
        open_with(QN_OPTIONS(.backend = "cpu,sim", .route = "balance", .fault = "sim.devices=2"));
    fixture r;

    (void)state;
    for (int mode = 0; mode < 3; mode++) {
        const qn_split_options options = QN_SPLIT_OPTIONS(.mode = (qn_split_mode)mode);

        fixture_open_in(&r, ctx, &options, 60, 2);
        assert_int_equal(qn_split_count(r.split), 3);
        assert_int_equal(qn_split_get(r.split, 0).device, 0);
        fixture_run(&r);
        for (int i = 0; i < 3; i++)
            assert_true(qn_split_get(r.split, i).items > 0);
        fixture_free_keeping_context(&r);
    }
    fixture_open_in(&r, ctx, &QN_SPLIT_OPTIONS(.devices = "cpu"), 60, 2);
    fixture_run(&r);
    fixture_close(&r);
}

static void cpu_in_the_set_does_not_hide_that_all_devices_failed(void **state)
{
    qn_ctx *ctx = open_with(
        QN_OPTIONS(.backend = "cpu,sim", .log = "error", .fault = "sim.devices=2,device_lost@5"));
    char text[4096];
    fixture r;

    (void)state;
    fixture_open_in(&r, ctx, &QN_SPLIT_OPTIONS(.devices = "cpu,sim"), 60, 2);
    CAPTURE_STDERR(text, sizeof text, fixture_run(&r));
    assert_non_null(strstr(text, "lost (injected). CPU fallback.\n"));
    assert_int_equal(qn_split_count(r.split), 3);
    fixture_close(&r);
}

static void impossible_settings_are_refused(void **state)
{
    qn_ctx *ctx = open_sim("sim.devices=2");
    qn_split_work work = { .build = fixture_build,
                           .prepare = fixture_prepare,
                           .deliver = fixture_deliver };
    qn_split *split = NULL;
    qn_split_mode mode;

    (void)state;
    assert_int_equal(qn_split_open(ctx, "s", NULL, &work, &split, &failure), QN_ERR_USAGE);
    work.chunk_items = 1;
    assert_int_equal(
        qn_split_open(ctx, "s", &QN_SPLIT_OPTIONS(.depth = 9), &work, &split, &failure),
        QN_ERR_LIMIT);
    assert_string_equal(failure.text, "split s: depth 9 is not between 1 and 8");
    assert_null(split);
    assert_int_equal(qn_split_mode_find("proportional", &mode), 0);
    assert_int_equal(mode, QN_SPLIT_PROPORTIONAL);
    assert_int_equal(qn_split_mode_find("even", &mode), -1);
    qn_ctx_close(ctx);
}

static void tasks_and_times_are_counted_by_device(void **state)
{
    qn_metrics *m;
    fixture r;

    (void)state;
    fixture_open(&r, "sim.devices=2," SLOW_KERNELS, NULL, 60, 2);
    m = qn_ctx_metrics(r.ctx);
    fixture_run(&r);
    assert_true(qn_metric_value(m, "device_total_tasks", NULL) == 60);
    assert_true(qn_metric_value(m, "device_active_tasks", NULL) == 0);
    for (int i = 0; i < 2; i++) {
        const qn_split_device did = qn_split_get(r.split, i);
        const char *const *by_device = QN_LABELS("device", qn_device_id(r.ctx, did.device));

        assert_true(qn_metric_value(m, "device_total_tasks", by_device) == (double)did.items);
        assert_true(fabs(qn_metric_value(m, "device_total_execution_ms", by_device) -
                         did.busy_us / 1000) < 1e-9);
        assert_true(qn_metric_value(m, "device_avg_task_ms", by_device) > 0);
        assert_true(did.busy_us <= did.finish_us + 1e-9);
        assert_true(did.finish_us <= qn_split_get_stats(r.split).wall_us + 1e-9);
    }
    fixture_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_the_same_for_any_number_of_devices),
        cmocka_unit_test(no_items_are_no_work),
        cmocka_unit_test(more_devices_than_items_leave_some_idle),
        cmocka_unit_test(equal_blocks_of_ten_over_three_are_4_3_3),
        cmocka_unit_test(blocks_by_rates_95_to_80_of_1000_are_543_and_457),
        cmocka_unit_test(measured_rates_decide_the_blocks_of_the_next_split),
        cmocka_unit_test(shared_queue_uses_a_slower_device_for_what_it_can),
        cmocka_unit_test(slow_device_does_not_hold_up_the_end),
        cmocka_unit_test(second_slot_hides_the_copies),
        cmocka_unit_test(blocks_are_corrected_once_and_then_left_alone),
        cmocka_unit_test(small_differences_are_not_corrected),
        cmocka_unit_test(lost_device_gives_its_chunks_to_the_others),
        cmocka_unit_test(cpu_takes_the_rest_when_no_device_is_left),
        cmocka_unit_test(forbidden_fallback_ends_the_run),
        cmocka_unit_test(forbidden_fallback_does_not_mind_a_device_among_others),
        cmocka_unit_test(device_that_failed_once_is_tried_again_in_the_next_batch),
        cmocka_unit_test(want_of_memory_does_not_change_the_result),
        cmocka_unit_test(error_of_the_work_ends_the_run_and_not_the_split),
        cmocka_unit_test(cpu_may_be_one_of_the_devices),
        cmocka_unit_test(cpu_in_the_set_does_not_hide_that_all_devices_failed),
        cmocka_unit_test(impossible_settings_are_refused),
        cmocka_unit_test(tasks_and_times_are_counted_by_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

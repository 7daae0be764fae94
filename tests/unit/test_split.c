/* test_split.c - shares, chunks, and batches over several simulated devices. */
#include "split_rig.h"

#include "engine/cluster.h"
#include "engine/graph_impl.h"
#include "engine/share.h"

#include <math.h>

/* Launches of the rig take 25 us, so devices and not the host limit the speed. */
#define SLOW_KERNELS "sim.ns_per_item=100"

/* ---- shares ---------------------------------------------------------------------- */

static void assert_shares(const qn_i64 *got, const qn_i64 *want, int k)
{
    for (int i = 0; i < k; i++)
        if (got[i] != want[i])
            fail_msg("share %d is %lld, not %lld", i, (long long)got[i], (long long)want[i]);
}

static void equal_shares_give_the_remainder_to_the_first(void **state)
{
    static const struct {
        qn_i64 n;
        int k;
        qn_i64 want[5];
    } table[] = {
        { 10, 3, { 4, 3, 3 } },       { 9, 3, { 3, 3, 3 } }, { 0, 3, { 0, 0, 0 } },
        { 2, 5, { 1, 1, 0, 0, 0 } },  { 7, 1, { 7 } },       { 11, 4, { 3, 3, 3, 2 } },
    };
    qn_i64 got[5];

    (void)state;
    for (size_t t = 0; t < sizeof table / sizeof *table; t++) {
        qn_share_equal(table[t].n, table[t].k, got);
        assert_shares(got, table[t].want, table[t].k);
    }
}

static void shares_by_rate_are_rounded_to_the_sum(void **state)
{
    static const struct {
        qn_i64 n;
        int k;
        double rates[4];
        qn_i64 want[4];
    } table[] = {
        { 1000, 2, { 95, 80 }, { 543, 457 } },
        { 10, 3, { 1, 1, 1 }, { 4, 3, 3 } },
        { 0, 2, { 3, 1 }, { 0, 0 } },
        { 100, 3, { 1, 0, 3 }, { 25, 0, 75 } },
        { 100, 2, { 0, 0 }, { 50, 50 } },
        { 7, 2, { NAN, 2 }, { 0, 7 } },
        { 3, 4, { 1, 1, 1, 1 }, { 1, 1, 1, 0 } },
        { 1, 4, { 1, 1, 5, 1 }, { 0, 0, 1, 0 } },
        { 5, 2, { 1e-300, 1e300 }, { 0, 5 } },
    };
    qn_i64 got[4];

    (void)state;
    for (size_t t = 0; t < sizeof table / sizeof *table; t++) {
        qn_share_by_rate(table[t].n, table[t].rates, table[t].k, got);
        assert_shares(got, table[t].want, table[t].k);
    }
}

static void shares_by_rate_always_add_up(void **state)
{
    (void)state;
    for (qn_i64 n = 0; n < 2000; n += 7)
        for (int k = 1; k <= 4; k++) {
            const double rates[4] = { 1.0 / 3, 0.1 * (double)(n % 11), 7.77, 1e-3 };
            qn_i64 got[4], sum = 0;

            qn_share_by_rate(n, rates, k, got);
            for (int i = 0; i < k; i++) {
                assert_true(got[i] >= 0);
                sum += got[i];
            }
            assert_int_equal(sum, n);
        }
}

static void correction_starts_above_30_percent_and_ends_below_10(void **state)
{
    const qn_i64 items[2] = { 100, 100 };
    const double near_us[2] = { 100, 71 }, far_us[2] = { 100, 69 };
    const double closer_us[2] = { 100, 85 }, close_us[2] = { 100, 91 };
    double rates[2] = { 1, 1 };
    qn_rebalance r = { 0 };

    (void)state;
    assert_int_equal(qn_share_rebalance(&r, items, near_us, 2, rates), 0);
    assert_true(rates[0] == 1 && rates[1] == 1);
    assert_int_equal(qn_share_rebalance(&r, items, far_us, 2, rates), 1);
    assert_true(fabs(rates[1] / rates[0] - 100.0 / 69) < 1e-9);
    assert_int_equal(qn_share_rebalance(&r, items, closer_us, 2, rates), 1);
    assert_int_equal(qn_share_rebalance(&r, items, close_us, 2, rates), 0);
    assert_int_equal(qn_share_rebalance(&r, items, closer_us, 2, rates), 0);
}

static void correction_keeps_devices_that_did_not_work_in_proportion(void **state)
{
    const qn_i64 items[3] = { 100, 50, 0 };
    const double us[3] = { 10, 20, 0 };
    double rates[3] = { 2, 2, 1 };
    qn_rebalance r = { 0 };

    (void)state;
    assert_int_equal(qn_share_rebalance(&r, items, us, 3, rates), 1);
    assert_true(rates[0] == 10 && rates[1] == 2.5);
    assert_true(fabs(rates[2] - 12.5 / 4) < 1e-12); /* a quarter of the two others, as before */
}

/* ---- chunks ---------------------------------------------------------------------- */

static void chunks_that_come_back_are_for_anybody(void **state)
{
    const qn_i64 blocks[2] = { 5, 4 };
    qn_chunks *chunks;
    qn_chunk_source s;
    qn_chunk a, b, c;
    qn_err err;

    (void)state;
    assert_int_equal(qn_chunks_new(9, 3, blocks, 2, 4, &chunks, &err), QN_OK);
    s = qn_chunks_source(chunks);
    assert_true(s.take(s.state, 0, &a) && a.first == 0 && a.count == 3);
    assert_true(s.take(s.state, 0, &b) && b.first == 3 && b.count == 2);
    assert_false(s.take(s.state, 0, &c)); /* the rest is worker 1's */
    assert_int_equal(s.left(s.state), 4);
    s.give_back(s.state, 1, b);
    assert_true(s.take(s.state, 0, &c) && c.first == 3 && c.count == 2);
    s.leave(s.state, 1);
    assert_true(s.take(s.state, 0, &c) && c.first == 5 && c.count == 3);
    assert_true(s.take(s.state, 2, &c) && c.first == 8 && c.count == 1);
    assert_int_equal(s.left(s.state), 0);
    assert_false(s.is_over(s.state));
    s.finish(s.state, 0, (qn_chunk){ 0, 9 });
    assert_true(s.is_over(s.state));
    qn_chunks_free(chunks);
}

/* ---- batches --------------------------------------------------------------------- */

static void results_are_the_same_for_any_number_of_devices(void **state)
{
    static const char *const devices[] = { "sim:0", "sim:0,sim:1", "sim:0,sim:1,sim:2", "sim" };

    (void)state;
    for (int k = 0; k < 4; k++)
        for (int mode = 0; mode < 3; mode++)
            for (int depth = 1; depth <= 3; depth++) {
                const qn_split_options options = { .mode = (qn_split_mode)mode,
                                                   .devices = devices[k], .depth = depth };
                rig r;

                rig_open(&r, "sim.devices=4," SLOW_KERNELS ",sim.rate.1=0.5", &options, 37, 3);
                assert_int_equal(qn_split_count(r.split), k + 1);
                assert_int_equal(r.n_built, (k + 1) * depth);
                rig_run(&r);
                rig_run(&r);
                for (int i = 0; i <= k; i++)
                    assert_true(qn_split_get(r.split, i).items > 0);
                rig_close(&r);
            }
}

static void no_items_are_no_work(void **state)
{
    rig r;

    (void)state;
    rig_open(&r, "sim.devices=3", NULL, 0, 4);
    rig_run(&r);
    assert_int_equal(r.n_prepared, 0);
    assert_int_equal(qn_split_get_stats(r.split).chunks, 0);
    assert_int_equal(qn_split_run(r.split, -1), QN_ERR_USAGE);
    assert_string_equal(qn_error(r.ctx), "split rig: -1 items");
    rig_close(&r);
}

static void more_devices_than_items_leave_some_idle(void **state)
{
    (void)state;
    for (int mode = 0; mode < 3; mode++) {
        const qn_split_options options = { .mode = (qn_split_mode)mode };
        rig r;

        rig_open(&r, "sim.devices=4", &options, 2, 8);
        rig_run(&r);
        for (int i = 0; i < 4; i++)
            assert_int_equal(qn_split_get(r.split, i).items, i < 2);
        rig_close(&r);
    }
}

static void equal_blocks_of_ten_over_three_are_4_3_3(void **state)
{
    const qn_split_options options = { .mode = QN_SPLIT_EQUAL };
    rig r;

    (void)state;
    rig_open(&r, "sim.devices=3", &options, 10, 2);
    rig_run(&r);
    assert_int_equal(qn_split_get(r.split, 0).items, 4);
    assert_int_equal(qn_split_get(r.split, 1).items, 3);
    assert_int_equal(qn_split_get(r.split, 2).items, 3);
    assert_int_equal(qn_split_get(r.split, 1).chunks, 2);
    rig_close(&r);
}

static void blocks_by_rates_95_to_80_of_1000_are_543_and_457(void **state)
{
    const double rates[2] = { 95, 80 };
    const qn_split_options options = { .mode = QN_SPLIT_PROPORTIONAL, .rates = rates };
    rig r;

    (void)state;
    rig_open(&r, "sim.devices=2", &options, 1000, 100);
    rig_run(&r);
    assert_int_equal(qn_split_get(r.split, 0).items, 543);
    assert_int_equal(qn_split_get(r.split, 1).items, 457);
    rig_close(&r);
}

static void measured_rates_decide_the_blocks_of_the_next_split(void **state)
{
    const qn_split_options blocks = { .mode = QN_SPLIT_PROPORTIONAL };
    qn_ctx *ctx = open_with((qn_options){
        .backend = "sim", .fault = "sim.devices=2," SLOW_KERNELS ",sim.rate.1=0.5" });
    rig first, second;

    (void)state;
    rig_open_in(&first, ctx, NULL, 200, 4);
    rig_run(&first);
    rig_open_in(&second, ctx, &blocks, 300, 4);
    rig_run(&second);
    assert_in_range(qn_split_get(second.split, 0).items, 190, 210);
    rig_free_keeping_context(&first);
    rig_close(&second);
}

/* ---- speed ----------------------------------------------------------------------- */

static double wall_of(const char *fault, const qn_split_options *options, qn_i64 n, int runs)
{
    double wall_us;
    rig r;

    rig_open(&r, fault, options, n, 4);
    for (int i = 0; i < runs; i++)
        rig_run(&r);
    wall_us = qn_split_get_stats(r.split).wall_us;
    rig_close(&r);
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

static void second_slot_hides_the_copies(void **state)
{
    const char *fault = "sim.devices=2," SLOW_KERNELS ",sim.h2d_us=20,sim.d2h_us=20";
    const double one = wall_of(fault, &(qn_split_options){ .depth = 1 }, 200, 3);
    const double two = wall_of(fault, NULL, 200, 3);

    (void)state;
    assert_true(one / two > 1.5);
}

static void blocks_are_corrected_once_and_then_left_alone(void **state)
{
    const qn_split_options options = { .mode = QN_SPLIT_EQUAL };
    rig r;

    (void)state;
    rig_open(&r, "sim.devices=2," SLOW_KERNELS ",sim.rate.1=0.5", &options, 300, 2);
    rig_run(&r);
    assert_int_equal(qn_split_get(r.split, 0).items, 150);
    assert_true(qn_split_get_stats(r.split).spread_pct > 30);
    assert_int_equal(qn_split_get_stats(r.split).rebalances, 1);
    rig_run(&r);
    assert_in_range(qn_split_get(r.split, 0).items, 190, 210);
    assert_true(qn_split_get_stats(r.split).spread_pct < 10);
    for (int i = 0; i < 3; i++)
        rig_run(&r);
    assert_int_equal(qn_split_get_stats(r.split).rebalances, 1);
    rig_close(&r);
}

static void small_differences_are_not_corrected(void **state)
{
    const qn_split_options options = { .mode = QN_SPLIT_EQUAL };
    rig r;

    (void)state;
    rig_open(&r, "sim.devices=2," SLOW_KERNELS ",sim.rate.1=0.8", &options, 300, 2);
    for (int i = 0; i < 3; i++)
        rig_run(&r);
    assert_true(qn_split_get_stats(r.split).spread_pct > 15);
    assert_int_equal(qn_split_get_stats(r.split).rebalances, 0);
    assert_int_equal(qn_split_get(r.split, 0).items, 150);
    rig_close(&r);
}

/* ---- faults ---------------------------------------------------------------------- */

static int count_failed(const rig *r)
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
        const qn_split_options options = { .mode = (qn_split_mode)mode };
        char text[4096];
        rig r;

        rig_open(&r, "sim.devices=3," SLOW_KERNELS ",device_lost@17*1", &options, 60, 2);
        CAPTURE_STDERR(text, sizeof text, rig_run(&r));
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
        rig_run(&r);
        assert_int_equal(count_failed(&r), 1);
        rig_close(&r);
    }
}

static void cpu_takes_the_rest_when_no_device_is_left(void **state)
{
    (void)state;
    for (int mode = 0; mode < 3; mode++) {
        const qn_split_options options = { .mode = (qn_split_mode)mode };
        qn_ctx *ctx = open_with((qn_options){
            .backend = "sim", .log = "error",
            .fault = "sim.devices=3," SLOW_KERNELS ",device_lost:rig.mul@17" });
        char text[4096];
        rig r;

        rig_open_in(&r, ctx, &options, 60, 2);
        CAPTURE_STDERR(text, sizeof text, rig_run(&r));
        assert_int_equal(strncmp(text, "[GPU] rig.mul failed: device sim:", 33), 0);
        assert_string_equal(strrchr(text, ':') + 2, " lost (injected). CPU fallback.\n");
        assert_int_equal(count_failed(&r), 3);
        assert_int_equal(qn_split_count(r.split), 4);
        assert_int_equal(qn_split_get(r.split, 3).device, 0);
        assert_true(qn_split_get(r.split, 3).items > 30);
        assert_true(qn_metric_value(qn_ctx_metrics(ctx), "gpu_fallback_count",
                                    QN_LABELS("stage", "rig.mul", "reason", "device_lost")) == 1);

        /* All are lost for good: the next batch is the CPU's from the start. */
        CAPTURE_STDERR(text, sizeof text, rig_run(&r));
        assert_non_null(strstr(text, "was lost. CPU fallback.\n"));
        assert_int_equal(qn_split_get(r.split, 3).items, 60);
        rig_close(&r);
    }
}

static void forbidden_fallback_ends_the_run(void **state)
{
    qn_ctx *ctx = open_with((qn_options){ .backend = "sim", .log = "none",
                                          .fallback = QN_FALLBACK_ERROR,
                                          .fault = "sim.devices=2,device_lost@5" });
    rig r;

    (void)state;
    rig_open_in(&r, ctx, NULL, 60, 2);
    assert_int_equal(qn_split_run(r.split, 60), QN_ERR_FALLBACK);
    assert_non_null(strstr(qn_error(ctx), "fallback is forbidden"));
    rig_close(&r);
}

static void forbidden_fallback_does_not_mind_a_device_among_others(void **state)
{
    qn_ctx *ctx = open_with((qn_options){ .backend = "sim", .log = "none",
                                          .fallback = QN_FALLBACK_ERROR,
                                          .fault = "sim.devices=2,device_lost@5*1" });
    rig r;

    (void)state;
    rig_open_in(&r, ctx, NULL, 60, 2);
    rig_run(&r);
    assert_int_equal(count_failed(&r), 1);
    rig_close(&r);
}

/* Every class of fault on the way of a chunk. */
static void device_that_failed_once_is_tried_again_in_the_next_batch(void **state)
{
    static const char *const faults[] = { "launch:rig.mul@9*1", "timeout@9*1", "copy_h2d@9*1",
                                          "copy_d2h@5*1", "compile:rig.mul@2*1" };

    (void)state;
    for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
        char fault[128];
        rig r;

        snprintf(fault, sizeof fault, "sim.devices=3," SLOW_KERNELS ",%s", faults[f]);
        rig_open(&r, fault, NULL, 60, 2);
        rig_run(&r);
        if (count_failed(&r) != 1)
            fail_msg("%s: %d devices failed", faults[f], count_failed(&r));
        rig_run(&r);
        assert_int_equal(count_failed(&r), 0);
        for (int i = 0; i < 3; i++)
            assert_true(qn_split_get(r.split, i).items > 0);
        rig_close(&r);
    }
}

static void want_of_memory_does_not_change_the_result(void **state)
{
    static const char *const faults[] = { "alloc@9*1", "alloc@9*30", "alloc@9", "alloc" };

    (void)state;
    for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
        char fault[128];
        rig r;

        snprintf(fault, sizeof fault, "sim.devices=3," SLOW_KERNELS ",%s", faults[f]);
        rig_open(&r, fault, NULL, 60, 2);
        rig_run(&r);
        assert_int_equal(count_failed(&r) > 0, f > 0); /* one refusal is overcome */
        rig_close(&r);
    }
}

static void error_of_the_work_ends_the_run_and_not_the_split(void **state)
{
    rig r;

    (void)state;
    rig_open(&r, "sim.devices=2," SLOW_KERNELS, NULL, 40, 2);
    r.fail_prepare = 21;
    assert_int_equal(qn_split_run(r.split, 40), QN_ERR_INPUT);
    assert_string_equal(qn_error(r.ctx), "item is no good");
    r.fail_prepare = -1;
    r.fail_deliver = 13;
    assert_int_equal(qn_split_run(r.split, 40), QN_ERR_IO);
    assert_string_equal(qn_error(r.ctx), "disk full");
    r.fail_deliver = -1;
    assert_true(qn_metric_value(qn_ctx_metrics(r.ctx), "device_active_tasks", NULL) == 0);
    rig_run(&r);
    assert_int_equal(count_failed(&r), 0);
    rig_close(&r);
}

/* ---- sets, limits, books ------------------------------------------------------------ */

static void cpu_may_be_one_of_the_devices(void **state)
{
    qn_ctx *ctx = open_with((qn_options){ .backend = "cpu,sim", .route = "balance",
                                          .fault = "sim.devices=2" });
    rig r;

    (void)state;
    for (int mode = 0; mode < 3; mode++) {
        const qn_split_options options = { .mode = (qn_split_mode)mode };

        rig_open_in(&r, ctx, &options, 60, 2);
        assert_int_equal(qn_split_count(r.split), 3);
        assert_int_equal(qn_split_get(r.split, 0).device, 0);
        rig_run(&r);
        for (int i = 0; i < 3; i++)
            assert_true(qn_split_get(r.split, i).items > 0);
        rig_free_keeping_context(&r);
    }
    rig_open_in(&r, ctx, &(qn_split_options){ .devices = "cpu" }, 60, 2);
    rig_run(&r);
    rig_close(&r);
}

static void cpu_in_the_set_does_not_hide_that_all_devices_failed(void **state)
{
    qn_ctx *ctx = open_with((qn_options){ .backend = "cpu,sim", .log = "error",
                                          .fault = "sim.devices=2,device_lost@5" });
    char text[4096];
    rig r;

    (void)state;
    rig_open_in(&r, ctx, &(qn_split_options){ .devices = "cpu,sim" }, 60, 2);
    CAPTURE_STDERR(text, sizeof text, rig_run(&r));
    assert_non_null(strstr(text, "lost (injected). CPU fallback.\n"));
    assert_int_equal(qn_split_count(r.split), 3);
    rig_close(&r);
}

static void impossible_settings_are_refused(void **state)
{
    qn_ctx *ctx = open_sim("sim.devices=2");
    qn_split_work work = { NULL, 0, rig_build, rig_prepare, rig_deliver };
    qn_split *split = NULL;
    qn_split_mode mode;

    (void)state;
    assert_int_equal(qn_split_open(ctx, "s", NULL, &work, &split), QN_ERR_USAGE);
    work.chunk_items = 1;
    assert_int_equal(qn_split_open(ctx, "s", &(qn_split_options){ .depth = 9 }, &work, &split),
                     QN_ERR_LIMIT);
    assert_string_equal(qn_error(ctx), "split s: depth 9 is not between 1 and 8");
    assert_null(split);
    assert_int_equal(qn_split_mode_find("proportional", &mode), 0);
    assert_int_equal(mode, QN_SPLIT_PROPORTIONAL);
    assert_int_equal(qn_split_mode_find("even", &mode), -1);
    qn_ctx_close(ctx);
}

static void tasks_and_times_are_counted_by_device(void **state)
{
    qn_metrics *m;
    rig r;

    (void)state;
    rig_open(&r, "sim.devices=2," SLOW_KERNELS, NULL, 60, 2);
    m = qn_ctx_metrics(r.ctx);
    rig_run(&r);
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
    rig_close(&r);
}

/* ---- what graphs offer for this ------------------------------------------------------ */

static void graph_can_be_asked_whether_it_is_done(void **state)
{
    qn_ctx *ctx = open_sim("sim.ns_per_item=1000");
    qn_buf *a = ramp(ctx, "a", 100, 0, 1), *b = ramp(ctx, "b", 100, 1, 0);
    qn_graph *g;
    int n_polls = 0;

    (void)state;
    must(ctx, qn_graph_new(ctx, "g", &g));
    must(ctx, stage_saxpy(g, "s", qn_range_1d(100), 2.0f, a, b));
    assert_true(qn_graph_is_done(g));
    must(ctx, qn_graph_run(g));
    while (!qn_graph_is_done(g))
        n_polls++;
    assert_in_range(n_polls, 1000, 10000); /* 100 us at 0.05 us per question */
    assert_true(value_at(ctx, b, 7) == 15);
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
        must(ctx, qn_graph_new(ctx, "g", &g[i]));
        g[i]->stream = QN_COMPUTE + i;
        g[i]->is_fenced = 1;
        must(ctx, stage_saxpy(g[i], "s", qn_range_1d(100), 2.0f, a[i], b[i]));
        must(ctx, qn_graph_output(g[i], b[i]));
        must(ctx, qn_graph_run(g[i]));
    }
    must(ctx, qn_graph_wait(g[0]));
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
    must(ctx, qn_graph_new(ctx, "g", &g));
    must(ctx, stage_saxpy(g, "s", qn_range_1d(100), 2.0f, a, b));
    qn_graph_set_fallback(g, QN_FALLBACK_ERROR);
    CAPTURE_STDERR(text, sizeof text, assert_int_equal(qn_graph_run(g), QN_ERR_INJECTED));
    assert_string_equal(text, "");
    assert_string_equal(qn_error(ctx), "stage s: injected launch fault");
    assert_true(qn_metric_value(qn_ctx_metrics(ctx), "gpu_fallback_count", NULL) == 0);
    must(ctx, qn_graph_run(g));
    assert_true(value_at(ctx, b, 7) == 15);
    qn_graph_free(g);
    qn_buf_free(a);
    qn_buf_free(b);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_shares_give_the_remainder_to_the_first),
        cmocka_unit_test(shares_by_rate_are_rounded_to_the_sum),
        cmocka_unit_test(shares_by_rate_always_add_up),
        cmocka_unit_test(correction_starts_above_30_percent_and_ends_below_10),
        cmocka_unit_test(correction_keeps_devices_that_did_not_work_in_proportion),
        cmocka_unit_test(chunks_that_come_back_are_for_anybody),
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
        cmocka_unit_test(graph_can_be_asked_whether_it_is_done),
        cmocka_unit_test(end_of_a_fenced_run_does_not_wait_for_the_next_graph),
        cmocka_unit_test(graph_that_refuses_fallback_returns_the_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

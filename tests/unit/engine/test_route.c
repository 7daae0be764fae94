/* test_route.c - which device a stage gets, and what changes the router's choice.
 *
 * Devices are simulated. If the CPU takes part, its times are set, not measured, so that nothing
 * depends on the machine.
 */
#include "addition.h"

#include <math.h>

#include "engine/place/place.h"
#include "hal/sim/sim.h"
#include "util/csv.h"

enum { N = 4096 };

static const char *device_of(const addition *a)
{
    return qn_device_id(a->ctx, a->graph->stages[0].device);
}

/* Teaches the router that vadd takes a + b * n on the device, at sizes from 2^8 to 2^24. */
static void teach(qn_ctx *ctx, const char *device, double a_us, double b_us)
{
    qn_route_op *op = qn_router_op(ctx, "vadd");
    const int d = qn_device_find(ctx, device);

    for (int i = 0; i < 4; i++) /* the first counts as a cold start */
        for (double n = 256; n <= 1 << 24; n *= 2)
            qn_route_observe(op, d, n, a_us + b_us * n);
}

static qn_ctx *open_two(const char *mode, const char *fault)
{
    return open_with(QN_OPTIONS(.backend = "cpu,sim", .route = mode, .fault = fault));
}

/* Candidates. */

static void one_name_pins_and_a_list_does_not(void **state)
{
    qn_ctx *one = open_sim(NULL), *list = open_with(QN_OPTIONS(.backend = "sim:0,cpu"));

    (void)state;
    assert_int_equal(one->pinned, 1);
    assert_int_equal(list->pinned, -1);
    assert_int_equal(list->candidates, 3);
    qn_ctx_close(one);
    qn_ctx_close(list);
}

static void list_leaves_the_cpu_out_unless_it_is_named(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim:0,sim:1", .fault = "sim.devices=3"));
    addition a = add_up(ctx, N);

    (void)state;
    assert_int_equal(ctx->candidates, 6);
    teach(ctx, "cpu", 0.001, 0);
    run(&a, 30);
    assert_int_equal(metric(ctx, "cpu_ops", NULL), 0);
    addition_free(&a);
    qn_ctx_close(ctx);
}

static void absent_device_of_a_list_is_reported_and_left_out(void **state)
{
    char text[512];
    qn_ctx *ctx;

    (void)state;
    CAPTURE_STDERR(text, sizeof text, ctx = open_with(QN_OPTIONS(.backend = "sim:0,sim:7")));
    assert_string_equal(text, "[GPU] init failed: no device sim:7 (sim has 1). CPU fallback.\n");
    assert_int_equal(ctx->candidates, 2);
    qn_ctx_close(ctx);
}

static void pinned_stage_stays_where_it_is(void **state)
{
    qn_ctx *ctx = open_two("auto", NULL);
    addition a = add_up(ctx, N);

    (void)state;
    teach(ctx, "cpu", 0.001, 0);
    must(qn_graph_pin(a.graph, 0, "sim", &failure));
    run(&a, 3);
    assert_string_equal(device_of(&a), "sim:0");
    assert_string_equal(qn_route_reason(a.graph, 0), "pinned");
    addition_free(&a);
    qn_ctx_close(ctx);
}

static void op_beyond_the_priority_stays_on_the_cpu(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu,sim", .op_priority = 1));
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *out = array_of(ctx, "out", N);
    qn_graph *graph = NULL;

    (void)state;
    must(qn_graph_new(ctx, "warm", &graph, &failure));
    must(stage_map_mul(graph, "mul", qn_range_1d(N), 2.0f, x, out, &failure)); /* priority 2 */
    must(qn_graph_run(graph, &failure));
    assert_int_equal(graph->stages[0].device, QN_CPU_SLOT);
    assert_string_equal(qn_route_reason(graph, 0), "cpu-only");
    qn_graph_free(graph);
    qn_buf_free(x);
    qn_buf_free(out);
    qn_ctx_close(ctx);
}

/* Modes. */

static const char *device_under(const char *mode, int n, char *reason)
{
    qn_ctx *ctx = open_two(mode, NULL);
    addition a = add_up(ctx, n);
    static char id[24];

    teach(ctx, "cpu", 1, 1e-2); /* equal at about 2000 elements, without copies */
    teach(ctx, "sim:0", 20, 1e-4);
    qn_router_op(ctx, "vadd")->crossover[1][QN_COLD] = 10000;
    ctx->router->links[1] = (qn_link){ 1, 1000, 1, 1000, 0 };
    run(&a, 1);
    snprintf(id, sizeof id, "%s", device_of(&a));
    strcpy(reason, qn_route_reason(a.graph, 0));
    addition_free(&a);
    qn_ctx_close(ctx);
    return id;
}

static void each_mode_has_its_way(void **state)
{
    const struct {
        const char *mode;
        int n;
        const char *device, *reason;
    } cases[] = {
        { "auto", 256, "cpu:0", "best" },         { "auto", 65536, "sim:0", "best" },
        { "cpu", 65536, "cpu:0", "mode" },        { "gpu", 256, "sim:0", "mode" },
        { "static", 9999, "cpu:0", "threshold" }, { "static", 10000, "sim:0", "threshold" },
        { "balance", 65536, "sim:0", "balance" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char reason[32];

        assert_string_equal(device_under(cases[i].mode, cases[i].n, reason), cases[i].device);
        assert_string_equal(reason, cases[i].reason);
    }
}

static void mode_can_change_between_runs(void **state)
{
    qn_ctx *ctx = open_two("cpu", NULL);
    addition a = add_up(ctx, N);

    (void)state;
    run(&a, 2);
    assert_string_equal(device_of(&a), "cpu:0");
    qn_route_set_mode(ctx, QN_ROUTE_GPU);
    run(&a, 2);
    assert_string_equal(device_of(&a), "sim:0");
    assert_int_equal(qn_route_get_mode(ctx), QN_ROUTE_GPU);
    assert_int_equal(value_at(a.sum, 10), 31);
    addition_free(&a);
    qn_ctx_close(ctx);
}

/* Devices at 1 and 1/3 of the speed get 6 and 2 of 8 equal tasks. */
static void balance_shares_tasks_by_rate(void **state)
{
    qn_ctx *ctx = open_with(
        QN_OPTIONS(.backend = "sim:0,sim:1", .route = "balance", .fault = "sim.devices=2"));
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *out[8];
    qn_graph *graph = NULL;
    int n[3] = { 0 };

    (void)state;
    teach(ctx, "sim:0", 0, 1);
    teach(ctx, "sim:1", 0, 3);
    must(qn_graph_new(ctx, "batch", &graph, &failure));
    for (int i = 0; i < 8; i++) {
        out[i] = array_of(ctx, "out", N);
        must(stage_vadd(graph, "task", qn_range_1d(N), x, x, out[i], &failure));
        must(qn_graph_output(graph, out[i], &failure));
    }
    must(qn_graph_run(graph, &failure));
    must(qn_graph_wait(graph, &failure));
    for (int i = 0; i < 8; i++) {
        n[graph->stages[i].device]++;
        assert_true(value_at(out[i], 100) == 200.0f);
    }
    assert_int_equal(n[1], 6);
    assert_int_equal(n[2], 2);
    qn_graph_free(graph);
    for (int i = 0; i < 8; i++)
        qn_buf_free(out[i]);
    qn_buf_free(x);
    qn_ctx_close(ctx);
}

/* Chains. */

/* mul, exp, mul: the middle one is a little faster on the CPU, but not by two copies. */
static void cheap_stage_does_not_cause_two_copies(void **state)
{
    qn_ctx *ctx = open_two("auto", NULL);
    qn_buf *x = ramp(ctx, "x", N, 0, 0), *a, *b, *out = array_of(ctx, "out", N);
    qn_graph *graph = NULL;
    const char *const ops[] = { "map_mul", "map_neg" };

    (void)state;
    ctx->settings.fuse = 0; /* this is about three separate stages */
    for (int o = 0; o < 2; o++)
        for (int i = 0; i < 5; i++) {
            qn_route_op *op = qn_router_op(ctx, ops[o]);

            qn_route_observe(op, 0, N, o ? 10 : 500);
            qn_route_observe(op, 1, N, o ? 15 : 50);
        }
    must(qn_graph_new(ctx, "chain", &graph, &failure));
    must(qn_graph_temp(graph, "a", N * sizeof(float), &a, &failure));
    must(qn_graph_temp(graph, "b", N * sizeof(float), &b, &failure));
    must(stage_map_mul(graph, "first", qn_range_1d(N), 2.0f, x, a, &failure));
    must(stage_map_neg(graph, "middle", qn_range_1d(N), a, b, &failure));
    must(stage_map_mul(graph, "last", qn_range_1d(N), 2.0f, b, out, &failure));
    must(qn_graph_output(graph, out, &failure));
    must(qn_graph_compile(graph, &failure));
    for (int s = 0; s < 3; s++)
        assert_int_equal(graph->stages[s].device, 1);
    must(qn_graph_run(graph, &failure));
    must(qn_graph_wait(graph, &failure));
    assert_int_equal(qn_graph_get_stats(graph).transfers.h2d_count, 1);
    assert_int_equal(qn_graph_get_stats(graph).transfers.d2h_count, 1);
    qn_graph_free(graph);
    qn_buf_free(x);
    qn_buf_free(out);
    qn_ctx_close(ctx);
}

/* Leaving the CPU is worth it only if many runs share the copy. */
static void upload_of_hot_data_is_spread_over_its_uses(void **state)
{
    qn_ctx *ctx = open_two("auto", NULL);
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *y = ramp(ctx, "y", N, 0, 1),
           *sum = array_of(ctx, "sum", N);
    qn_graph *graph = NULL;

    (void)state;
    teach(ctx, "cpu", 50, 0);
    teach(ctx, "sim:0", 10, 0);
    ctx->router->has_link = 2;
    ctx->router->links[1] = (qn_link){ 60, 1000, 0.1, 1000, 0 };
    must(qn_graph_new(ctx, "hot", &graph, &failure));
    must(stage_vadd(graph, "add", qn_range_1d(N), x, y, sum, &failure));
    must(qn_graph_run(graph, &failure));
    assert_int_equal(graph->stages[0].device, 0);
    for (int i = 0; i < 20; i++)
        must(qn_graph_run(graph, &failure));
    assert_int_equal(graph->stages[0].device, 1);
    must(qn_graph_wait(graph, &failure));
    qn_graph_free(graph);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_buf_free(sum);
    qn_ctx_close(ctx);
}

static void data_on_a_device_keeps_its_stage_there(void **state)
{
    qn_ctx *ctx = open_two("auto", NULL);
    addition a = add_up(ctx, N);
    qn_graph *graph = NULL;
    qn_buf *out = array_of(ctx, "out", N);

    (void)state;
    teach(ctx, "cpu", 20, 0);
    teach(ctx, "sim:0", 15, 0);
    must(qn_graph_pin(a.graph, 0, "sim", &failure));
    a.graph->bufs[2].is_output = 0;
    run(&a, 1); /* the sum is on the device only */
    must(qn_graph_new(ctx, "next", &graph, &failure));
    must(stage_vadd(graph, "next", qn_range_1d(N), a.sum, a.sum, out, &failure));
    must(qn_graph_compile(graph, &failure));
    assert_int_equal(graph->stages[0].device, 1);
    qn_graph_free(graph);
    qn_buf_free(out);
    addition_free(&a);
    qn_ctx_close(ctx);
}

static void path_pays_for_waiting_once(void **state)
{
    unsigned masks[QN_MAX_DEVICES], next[QN_MAX_DEVICES];
    int back[2 * QN_MAX_DEVICES];
    const qn_path_use uses[] = { { 0, 1, 1 } };
    qn_path_stage stages[] = { { uses, 1, -1, { 100, 10 } }, { uses, 1, -1, { 100, 10 } } };
    qn_path_buf buf = { 1000, 1, 1, 1 };
    qn_path path = { .stages = stages,
                     .n_stages = 2,
                     .bufs = &buf,
                     .n_bufs = 1,
                     .candidates = 3,
                     .unified = 1,
                     .links = { { 0 }, { 5, 1, 5, 1 } },
                     .wait_us = { 0, 30 },
                     .masks = masks,
                     .next = next,
                     .back = back };
    const int there[] = { 1, 1 };
    int devices[2];

    (void)state;
    /* up 5 + 1, wait 30, 10 + 10, down 5 + 1 */
    assert_true(fabs(qn_path_cost(&path, there) - 62) < 1e-9);
    assert_true(fabs(qn_path_find(&path, devices) - 62) < 1e-9);
    assert_int_equal(devices[0], 1);
    path.wait_us[1] = 200;
    assert_true(fabs(qn_path_find(&path, devices) - 200) < 1e-9);
    assert_int_equal(devices[0], 0);
    assert_int_equal(devices[1], 0);
}

/* Changing the choice. */

static void gain_below_a_tenth_changes_nothing(void **state)
{
    const qn_route_view view = { .devices = 3, .cost_us = { 100, 91 } };
    qn_why why;

    (void)state;
    assert_int_equal(qn_route_settle(&view, 0, &why), 0);
    assert_int_equal(why, QN_WHY_KEPT);
    assert_int_equal(qn_route_settle(&view, -1, &why), 1);
    assert_int_equal(
        qn_route_settle(&(qn_route_view){ .devices = 3, .cost_us = { 100, 89 } }, 0, &why), 1);
    assert_int_equal(why, QN_WHY_BEST);
    /* a device that is gone is not a reason to stay */
    assert_int_equal(
        qn_route_settle(&(qn_route_view){ .devices = 2, .cost_us = { 100, 99 } }, 0, &why), 1);
}

static void threshold_follows_a_cost_change(void **state)
{
    qn_ctx *ctx = open_two("auto", NULL);

    (void)state;
    assert_int_equal(qn_route_threshold(ctx, "vadd", 1, QN_RESIDENT), -1);
    teach(ctx, "cpu", 1, 1e-2);
    teach(ctx, "sim:0", 90, 1e-4);
    assert_int_equal(qn_route_threshold(ctx, "vadd", 1, QN_RESIDENT), 20000);
    teach(ctx, "sim:0", 900, 1e-4); /* ten times the start-up time from here on */
    assert_int_equal(qn_route_threshold(ctx, "vadd", 1, QN_RESIDENT), 200000);
    teach(ctx, "sim:0", 9000, 1);
    assert_int_equal(qn_route_threshold(ctx, "vadd", 1, QN_RESIDENT), 0);
    qn_ctx_close(ctx);
}

static void busy_device_has_a_higher_threshold_for_a_while(void **state)
{
    qn_ctx *ctx = open_two("auto", NULL);
    addition a = add_up(ctx, 32768);

    (void)state;
    teach(ctx, "cpu", 1, 1e-2);
    teach(ctx, "sim:0", 90, 1e-4);
    ctx->router->links[1] = (qn_link){ 1, 1000, 1, 1000, 0 };
    run(&a, 1);
    assert_string_equal(device_of(&a), "sim:0");
    for (int i = 0; i < 3; i++)
        qn_router_failed(ctx, NULL, 1, QN_ERR_BUSY);
    assert_int_equal(qn_route_threshold(ctx, "vadd", 1, QN_RESIDENT), 100000);
    run(&a, 1);
    assert_string_equal(device_of(&a), "cpu:0");
    ctx->clock.host_us += 20e6;
    assert_int_equal(qn_route_threshold(ctx, "vadd", 1, QN_RESIDENT), 20000);
    addition_free(&a);
    qn_ctx_close(ctx);
}

static void lost_device_is_not_chosen(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim:0,sim:1", .fault = "sim.devices=2"));
    addition a = add_up(ctx, N);

    (void)state;
    teach(ctx, "sim:0", 10, 0);
    teach(ctx, "sim:1", 20, 0);
    run(&a, 1);
    assert_string_equal(device_of(&a), "sim:0");
    ctx->devices[1].lost = 1;
    run(&a, 1);
    assert_string_equal(device_of(&a), "sim:1");
    assert_int_equal(metric(ctx, "gpu_fallback_count", NULL), 0);
    addition_free(&a);
    qn_ctx_close(ctx);
}

static void device_that_cannot_run_an_op_is_not_asked_again(void **state)
{
    char text[512];
    qn_ctx *ctx = open_two("auto", "compile:add*1");
    addition a = add_up(ctx, N);

    (void)state;
    teach(ctx, "cpu", 100, 0);
    teach(ctx, "sim:0", 1, 0);
    qn_router_failed(ctx, qn_router_op(ctx, "vadd"), 1, QN_ERR_UNSUPPORTED);
    CAPTURE_STDERR(text, sizeof text, run(&a, 5));
    assert_string_equal(text, "");
    assert_string_equal(device_of(&a), "cpu:0");
    addition_free(&a);
    qn_ctx_close(ctx);
}

static void queue_of_other_work_is_a_cost(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim:0,sim:1", .fault = "sim.devices=2"));
    addition first = add_up(ctx, N), second = add_up(ctx, N);

    (void)state;
    teach(ctx, "sim:0", 1000, 0);
    teach(ctx, "sim:1", 1200, 0);
    must(qn_graph_run(first.graph, &failure)); /* not waited for */
    must(qn_graph_run(second.graph, &failure));
    assert_string_equal(device_of(&first), "sim:0");
    assert_string_equal(device_of(&second), "sim:1");
    must(qn_graph_wait(first.graph, &failure));
    must(qn_graph_wait(second.graph, &failure));
    addition_free(&first);
    addition_free(&second);
    qn_ctx_close(ctx);
}

/* Probes. */

static qn_route_op *op_with(uint64_t decisions)
{
    static qn_route_op op;

    op = (qn_route_op){ .decisions = decisions, .total_us = (double)decisions * 100 };
    return &op;
}

static void unmeasured_choice_is_probed_once_in_twenty(void **state)
{
    const qn_route_view view = {
        .devices = 3, .cost_us = { 100, 110 }, .hope_us = { 100, 110 }, .support = { 9, 0 }
    };
    qn_route_op *op = op_with(19);

    (void)state;
    assert_int_equal(qn_route_probe(op, &view, 100, 1, 1), -1);
    op = op_with(20);
    assert_int_equal(qn_route_probe(op, &view, 100, 1, 1), 1);
    qn_route_note_probe(op, 1);
    assert_int_equal(qn_route_probe(op, &view, 100, 1, 1), -1);
}

static void nothing_three_times_worse_is_probed(void **state)
{
    const qn_route_view bad = { .devices = 3, .cost_us = { 100, 310 }, .hope_us = { 100, 301 } };
    const qn_route_view fair = { .devices = 3, .cost_us = { 100, 310 }, .hope_us = { 100, 299 } };

    (void)state;
    assert_int_equal(qn_route_probe(op_with(900), &bad, 100, 1, 1), -1);
    assert_int_equal(qn_route_probe(op_with(900), &fair, 100, 1, 1), 1);
}

static void known_choice_is_probed_again_after_1000_decisions(void **state)
{
    const qn_route_view view = {
        .devices = 3, .cost_us = { 100, 290 }, .hope_us = { 100, 280 }, .support = { 32, 32 }
    };
    qn_route_op *op = op_with(5000);

    (void)state;
    op->sampled_at[1] = 4950;
    assert_int_equal(qn_route_probe(op, &view, 100, 1, 1), -1);
    op->sampled_at[1] = 4000;
    assert_int_equal(qn_route_probe(op, &view, 100, 1, 1), 1);
}

static void device_that_seems_hopeless_is_looked_at_after_1000_decisions(void **state)
{
    const qn_route_view view = {
        .devices = 3, .cost_us = { 100, 1500 }, .hope_us = { 100, 1500 }, .support = { 32, 32 }
    };
    qn_route_op *op = op_with(5000);

    (void)state;
    op->sampled_at[1] = 4001;
    assert_int_equal(qn_route_probe(op, &view, 100, 1, 1), -1);
    op->sampled_at[1] = 4000;
    assert_int_equal(qn_route_probe(op, &view, 100, 1, 1), 1);
    qn_route_spend(op, 4000); /* but not when 1 % of the time is spent */
    assert_int_equal(qn_route_probe(op, &view, 100, 1, 1), -1);
}

static void one_bad_sample_does_not_banish_a_device(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim:0,sim:1",
                                       .fault = "sim.devices=2,sim.rate.1=4,sim.launch_us=100"));
    qn_route_op *op = qn_router_op(ctx, "vadd");
    addition a = add_up(ctx, N);

    (void)state;
    for (int i = 0; i < 2; i++) /* one for the cold start */
        qn_route_observe(op, 2, N, 1e6);
    for (int i = 0; i < 8; i++)
        qn_route_observe(op, 1, N, 100);
    run(&a, 300);
    assert_string_equal(device_of(&a), "sim:1");
    addition_free(&a);
    qn_ctx_close(ctx);
}

/* A model that is constantly taught wrong times, as by stages that overlap in whole runs. */
static void whole_runs_overrule_a_model_that_is_wrong(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim:0,sim:1",
                                       .fault = "sim.devices=2,sim.rate.1=4,sim.launch_us=100"));
    qn_route_op *op = qn_router_op(ctx, "vadd");
    addition a = add_up(ctx, N);

    (void)state;
    for (int i = 0; i < 400; i++) {
        qn_route_observe(op, 1, N, 100);
        qn_route_observe(op, 2, N, 140);
        run(&a, 1);
    }
    assert_true(a.graph->route->trials.seen_us[2] > 0);
    assert_int_equal(a.graph->route->trials.held, 2);
    assert_string_equal(device_of(&a), "sim:1");
    addition_free(&a);
    qn_ctx_close(ctx);
}

/* Runs that take milliseconds are rarely repeated hundreds of times. */
static void long_runs_are_tried_soon(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim:0,sim:1",
                                       .fault = "sim.devices=2,sim.rate.1=4,sim.launch_us=2000"));
    qn_route_op *op = qn_router_op(ctx, "vadd");
    addition a = add_up(ctx, N);

    (void)state;
    qn_route_note_decisions(op, 200, 200 * 2000.0); /* other graphs have earned the trial */
    for (int i = 0; i < 20; i++) {
        qn_route_observe(op, 1, N, 100);
        qn_route_observe(op, 2, N, 104);
        run(&a, 1);
    }
    assert_int_equal(a.graph->route->trials.held, 2);
    assert_string_equal(device_of(&a), "sim:1");
    addition_free(&a);
    qn_ctx_close(ctx);
}

static void probes_are_counted_and_bounded(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim:0,sim:1",
                                       .fault = "sim.devices=2,sim.rate.1=0.9,sim.noise_pct=5"));
    addition a = add_up(ctx, N);
    double all, probes;

    (void)state;
    run(&a, 500);
    all = metric(ctx, "hybrid_routing_decisions_total", NULL);
    probes = metric(ctx, "route_probe_total", NULL);
    assert_int_equal(all, 500);
    assert_true(probes >= 3 && probes <= all / 20);
    assert_int_equal(metric(ctx, "hybrid_routing_decisions_total", QN_LABELS("reason", "probe")),
                     probes);
    assert_int_equal(metric(ctx, "recent_gpu_batches", NULL), 128);
    assert_true(metric(ctx, "recent_gpu_time_us", NULL) > 0);
    assert_true(metric(ctx, "route_mispredict_pct", NULL) > 0);
    addition_free(&a);
    qn_ctx_close(ctx);
}

/* Samples. */

static void warm_graph_is_replayed_and_seldom_timed(void **state)
{
    qn_ctx *ctx =
        open_with(QN_OPTIONS(.backend = "sim:0,sim:1", .fault = "sim.devices=2,sim.rate.1=0.1"));
    addition a = add_up(ctx, N);
    uint64_t before;

    (void)state;
    run(&a, 100);
    before = qn_graph_get_stats(a.graph).replays;
    run(&a, 1000);
    assert_true(qn_graph_get_stats(a.graph).replays - before >= 950);
    addition_free(&a);
    qn_ctx_close(ctx);
}

static void samples_are_device_times(void **state)
{
    qn_ctx *ctx = open_with(
        QN_OPTIONS(.backend = "sim:0,sim:1",
                   .fault = "sim.devices=2,sim.submit_us=0,sim.launch_us=50,sim.gbps=1000000,"
                            "sim.rate.1=0.01"));
    addition a = add_up(ctx, N);
    const qn_model *model = &qn_router_op(ctx, "vadd")->models[1];

    (void)state;
    run(&a, 10);
    assert_true(model->n_buckets == 1 && model->buckets[0]->n >= 3);
    assert_true(fabs(model->buckets[0]->median_us - 50) < 0.1);
    addition_free(&a);
    qn_ctx_close(ctx);
}

static void results_are_right_wherever_they_were_made(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu,sim:0,sim:1", .fault = "sim.devices=2"));
    addition a = add_up(ctx, N);

    (void)state;
    for (int i = 0; i < 60; i++) {
        float v = (float)i;

        must(qn_buf_write(a.x, 0, &v, sizeof v, &failure));
        must(qn_graph_run(a.graph, &failure));
        assert_true(value_at(a.sum, 0) == v + 1);
        assert_true(value_at(a.sum, N - 1) == 3 * (float)(N - 1) + 1);
    }
    must(qn_graph_wait(a.graph, &failure));
    addition_free(&a);
    qn_ctx_close(ctx);
}

static void failing_timed_stage_leaves_nothing_behind(void **state)
{
    char text[1024];
    qn_ctx *ctx = open_two("auto", "launch:add*1");
    addition a = add_up(ctx, N);
    int live;

    (void)state;
    teach(ctx, "cpu", 100, 0);
    qn_route_observe(qn_router_op(ctx, "vadd"), 1, N, 1);
    qn_route_observe(qn_router_op(ctx, "vadd"), 1, N, 1);
    CAPTURE_STDERR(text, sizeof text, run(&a, 1)); /* one sample is too few: this run is timed */
    assert_non_null(strstr(text, "[GPU] add failed: "));
    assert_true(value_at(a.sum, 10) == 31.0f);
    addition_free(&a);
    live = qn_sim_live(ctx->devices[1].dev);
    assert_true(live <=
                12); /* pooled blocks and the module; an event would be one more each time */
    qn_ctx_close(ctx);
}

/* Explanations. */

static void options_of_a_stage_are_priced(void **state)
{
    qn_ctx *ctx = open_two("auto", NULL);
    addition a = add_up(ctx, N);
    qn_route_option o[4];

    (void)state;
    teach(ctx, "cpu", 30, 0);
    teach(ctx, "sim:0", 10, 0);
    ctx->router->links[1] = (qn_link){ 2, 4.096, 3, 4.096, 0 }; /* 4 us per array besides latency */
    must(qn_graph_compile(a.graph, &failure));
    assert_int_equal(qn_route_options(a.graph, 0, o, 4), 2);
    assert_int_equal(o[0].device, 0);
    assert_true(fabs(o[0].predicted_us - 30) < 0.1 &&
                !o[0].is_chosen == (a.graph->stages[0].device != 0));
    assert_true(fabs(o[1].predicted_us - (6 + 6 + 10 + 7)) < 0.1 && o[1].n_samples >= 3);
    assert_true(o[1].is_chosen == (a.graph->stages[0].device == 1));
    addition_free(&a);
    qn_ctx_close(ctx);
}

static void every_decision_is_in_the_explanation_file(void **state)
{
    char path[] = "/tmp/quern-explain-XXXXXX";
    const int file = mkstemp(path);
    qn_csv csv;
    qn_err err;
    qn_ctx *ctx;
    addition a;
    int n_chosen = 0, n_actual = 0;

    (void)state;
    close(file);
    ctx = open_with(
        QN_OPTIONS(.backend = "sim:0,sim:1", .fault = "sim.devices=2", .explain_route = path));
    a = add_up(ctx, N);
    run(&a, 30);
    addition_free(&a);
    qn_ctx_close(ctx);
    assert_int_equal(qn_csv_read(path, &csv, &err), QN_OK);
    assert_int_equal(csv.n_rows, 60);
    assert_string_equal(csv.header[0], "seq");
    assert_string_equal(csv.header[5], "predicted_us");
    for (size_t r = 0; r < csv.n_rows; r++) {
        assert_string_equal(qn_csv_get(&csv, r, 1), "add");
        assert_string_equal(qn_csv_get(&csv, r, 2), "vadd");
        assert_string_equal(qn_csv_get(&csv, r, 3), "4096");
        assert_true(atof(qn_csv_get(&csv, r, 5)) > 0);
        n_chosen += !strcmp(qn_csv_get(&csv, r, 6), "1");
        n_actual += *qn_csv_get(&csv, r, 7) != 0;
    }
    assert_int_equal(n_chosen, 30);
    assert_true(n_actual >= 3 && n_actual < 30);
    qn_csv_free(&csv);
    unlink(path);
}

static void unwritable_explanation_is_refused_at_once(void **state)
{
    qn_ctx *ctx = NULL;
    qn_err err;

    (void)state;
    assert_int_equal(
        qn_ctx_open(&QN_OPTIONS(.backend = "cpu", .explain_route = "/dev/null/x.csv"), &ctx, &err),
        QN_ERR_IO);
    assert_null(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_name_pins_and_a_list_does_not),
        cmocka_unit_test(list_leaves_the_cpu_out_unless_it_is_named),
        cmocka_unit_test(absent_device_of_a_list_is_reported_and_left_out),
        cmocka_unit_test(pinned_stage_stays_where_it_is),
        cmocka_unit_test(op_beyond_the_priority_stays_on_the_cpu),
        cmocka_unit_test(each_mode_has_its_way),
        cmocka_unit_test(mode_can_change_between_runs),
        cmocka_unit_test(balance_shares_tasks_by_rate),
        cmocka_unit_test(cheap_stage_does_not_cause_two_copies),
        cmocka_unit_test(upload_of_hot_data_is_spread_over_its_uses),
        cmocka_unit_test(data_on_a_device_keeps_its_stage_there),
        cmocka_unit_test(path_pays_for_waiting_once),
        cmocka_unit_test(gain_below_a_tenth_changes_nothing),
        cmocka_unit_test(threshold_follows_a_cost_change),
        cmocka_unit_test(busy_device_has_a_higher_threshold_for_a_while),
        cmocka_unit_test(lost_device_is_not_chosen),
        cmocka_unit_test(device_that_cannot_run_an_op_is_not_asked_again),
        cmocka_unit_test(queue_of_other_work_is_a_cost),
        cmocka_unit_test(unmeasured_choice_is_probed_once_in_twenty),
        cmocka_unit_test(nothing_three_times_worse_is_probed),
        cmocka_unit_test(known_choice_is_probed_again_after_1000_decisions),
        cmocka_unit_test(device_that_seems_hopeless_is_looked_at_after_1000_decisions),
        cmocka_unit_test(one_bad_sample_does_not_banish_a_device),
        cmocka_unit_test(whole_runs_overrule_a_model_that_is_wrong),
        cmocka_unit_test(long_runs_are_tried_soon),
        cmocka_unit_test(probes_are_counted_and_bounded),
        cmocka_unit_test(warm_graph_is_replayed_and_seldom_timed),
        cmocka_unit_test(samples_are_device_times),
        cmocka_unit_test(results_are_right_wherever_they_were_made),
        cmocka_unit_test(failing_timed_stage_leaves_nothing_behind),
        cmocka_unit_test(options_of_a_stage_are_priced),
        cmocka_unit_test(every_decision_is_in_the_explanation_file),
        cmocka_unit_test(unwritable_explanation_is_refused_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

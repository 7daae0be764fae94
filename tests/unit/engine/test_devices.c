/* test_devices.c - choosing devices, with four of them simulated. */
#include "split_fixture.h"

#include "engine/device/context.h"
#include "engine/route/route.h"
#include "engine/split/split_impl.h"
#include "util/temp_dir.h"

/* Profiles that other tests left in the cache must not matter; the one test of profiles uses its
 * own. */
static int ignore_profiles(void **state)
{
    (void)state;
    return setenv("QUERN_PROFILE", "0", 1);
}

static qn_ctx *open_four(void)
{
    return open_with(QN_OPTIONS(.backend = "sim", .fault = "sim.devices=4", .log = "none"));
}

static void assert_order(qn_ctx *ctx, int k, const int *want, int n)
{
    int got[QN_MAX_DEVICES];

    assert_int_equal(qn_devices_select(ctx, k, got), n);
    for (int i = 0; i < n; i++)
        if (got[i] != want[i])
            fail_msg("place %d has %s, not %s", i, qn_device_id(ctx, got[i]),
                     qn_device_id(ctx, want[i]));
}

static void all_devices_are_listed(void **state)
{
    static const char *const ids[] = { "cpu:0", "sim:0", "sim:1", "sim:2", "sim:3" };
    qn_ctx *ctx = open_four();

    (void)state;
    assert_int_equal(qn_device_count(ctx), 5);
    for (int d = 0; d < 5; d++)
        assert_string_equal(qn_device_id(ctx, d), ids[d]);
    assert_int_equal(qn_device_get(ctx, 3)->kind, QN_KIND_SIM);
    qn_ctx_close(ctx);
}

static void equal_devices_keep_their_order(void **state)
{
    qn_ctx *ctx = open_four();

    (void)state;
    assert_order(ctx, 4, (int[]){ 1, 2, 3, 4 }, 4);
    assert_order(ctx, 2, (int[]){ 1, 2 }, 2);
    assert_order(ctx, 9, (int[]){ 1, 2, 3, 4 }, 4);
    assert_order(ctx, 0, NULL, 0);
    qn_ctx_close(ctx);
}

static void kind_then_memory_then_units_decide_without_measurements(void **state)
{
    qn_ctx *ctx = open_four();

    (void)state;
    ctx->devices[1].info.kind = QN_KIND_CPU;
    ctx->devices[1].info.mem_total = (uint64_t)1 << 40;
    ctx->devices[2].info.kind = QN_KIND_INTEGRATED;
    ctx->devices[3].info.kind = QN_KIND_DISCRETE;
    ctx->devices[4].info.kind = QN_KIND_DISCRETE;
    ctx->devices[4].info.units = 8;
    assert_order(ctx, 4, (int[]){ 4, 3, 2, 1 }, 4);
    ctx->devices[3].info.mem_total *= 2;
    assert_order(ctx, 4, (int[]){ 3, 4, 2, 1 }, 4);
    qn_ctx_close(ctx);
}

static void profiled_speed_beats_size(void **state)
{
    static const double gbps[] = { 0, 500, 100, 2000, 900 };
    qn_ctx *ctx = open_four();

    (void)state;
    ctx->devices[2].info.mem_total *= 4;
    for (int d = 1; d <= 3; d++)
        ctx->router->speeds[d] = (qn_speed){ 5, gbps[d], 10 * gbps[d], 1 };
    assert_order(ctx, 4, (int[]){ 2, 1, 3, 4 }, 4); /* one is not measured */
    ctx->router->speeds[4] = (qn_speed){ 5, gbps[4], 10 * gbps[4], 1 };
    assert_order(ctx, 4, (int[]){ 3, 4, 1, 2 }, 4);
    qn_ctx_close(ctx);
}

static void stored_profiles_decide_from_the_first_choice_on(void **state)
{
    qn_options options = QN_OPTIONS(.backend = "sim", .fault = "sim.devices=4", .log = "none");
    qn_temp_dir folder = { .path = "" };
    qn_ctx *ctx;
    qn_err err;

    (void)state;
    if (qn_temp_dir_make(&folder, &err) != QN_OK)
        fail_msg("%s", err.text);
    options.cache_dir = folder.path;
    unsetenv("QUERN_PROFILE");
    ctx = open_with(options);
    for (int d = 1; d <= 4; d++) {
        snprintf(ctx->devices[d].info.name, sizeof ctx->devices[d].info.name, "card %d", d);
        ctx->router->speeds[d] = (qn_speed){ 5, d == 3 ? 300 : 100 + d, 1000, 1 };
        if (qn_profile_write(ctx, d, &err) != QN_OK)
            fail_msg("%s", err.text);
    }
    qn_ctx_close(ctx);

    ctx = open_with(options);
    for (int d = 1; d <= 4; d++)
        snprintf(ctx->devices[d].info.name, sizeof ctx->devices[d].info.name, "card %d", d);
    assert_order(ctx, 4, (int[]){ 3, 4, 2, 1 }, 4);
    qn_ctx_close(ctx);
    qn_temp_dir_remove(&folder);
    ignore_profiles(state);
}

static void busy_device_is_worth_less(void **state)
{
    qn_ctx *ctx = open_four();

    (void)state;
    for (int d = 1; d <= 4; d++)
        ctx->router->speeds[d] = (qn_speed){ 5, d == 2 ? 300 : 100, 1000, 1 };
    assert_order(ctx, 1, (int[]){ 2 }, 1);
    /* Busy for nearly all of the context's lifetime. */
    qn_metric_set(qn_metric_of(ctx->metrics, "wall_time_s", NULL), 10);
    qn_metric_add(ctx->devices[2].m.exec_seconds, 9.5);
    assert_order(ctx, 4, (int[]){ 1, 3, 4, 2 }, 4);
    qn_ctx_close(ctx);
}

static void rates_of_earlier_batches_count_without_a_profile(void **state)
{
    qn_ctx *ctx = open_with(
        QN_OPTIONS(.backend = "sim",
                   .fault = "sim.devices=4,sim.ns_per_item=100,sim.rate.1=2,sim.rate.3=4"));
    fixture r;

    (void)state;
    fixture_open_in(&r, ctx, NULL, 200, 2);
    fixture_run(&r);
    assert_order(ctx, 2, (int[]){ 4, 2 }, 2);
    fixture_close(&r);
}

static void lost_and_unhealthy_devices_are_left_out(void **state)
{
    qn_ctx *ctx = open_four();

    (void)state;
    ctx->devices[1].lost = 1;
    ctx->devices[3].health.bad = 1;
    ctx->devices[3].health.until_us = 1e12;
    assert_order(ctx, 4, (int[]){ 2, 4 }, 2);
    qn_ctx_close(ctx);
}

static void only_devices_that_were_asked_for_are_chosen(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim:1,sim:3", .fault = "sim.devices=4"));
    int got[QN_MAX_DEVICES];

    (void)state;
    assert_int_equal(qn_devices_select(ctx, 4, got), 2);
    assert_string_equal(qn_device_id(ctx, got[0]), "sim:1");
    assert_string_equal(qn_device_id(ctx, got[1]), "sim:3");
    qn_ctx_close(ctx);
}

/* Sets for a split. */

static void assert_set(qn_ctx *ctx, const char *text, const char *want)
{
    int set[QN_MAX_DEVICES];
    const int n = qn_devices_set(ctx, text, set);
    char got[256] = "";

    for (int i = 0; i < n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? " " : "",
                 qn_device_id(ctx, set[i]));
    assert_string_equal(got, want);
}

static void lists_name_devices_and_backends(void **state)
{
    qn_ctx *ctx = open_four();

    (void)state;
    assert_set(ctx, "sim:2,sim:0", "sim:0 sim:2");
    assert_set(ctx, "sim:1,cpu", "cpu:0 sim:1");
    assert_set(ctx, "sim", "sim:0 sim:1 sim:2 sim:3");
    assert_set(ctx, "all", "sim:0 sim:1 sim:2 sim:3");
    assert_set(ctx, "sim:1,cuda:0,sim:9", "sim:1");
    assert_set(ctx, "cuda:0", "cpu:0");
    assert_set(ctx, NULL, "sim:0 sim:1 sim:2 sim:3");
    qn_route_set_mode(ctx, QN_ROUTE_BALANCE);
    assert_set(ctx, NULL, "cpu:0 sim:0 sim:1 sim:2 sim:3");
    assert_set(ctx, "sim:1", "cpu:0 sim:1");
    qn_route_set_mode(ctx, QN_ROUTE_CPU);
    assert_set(ctx, NULL, "cpu:0");
    assert_set(ctx, "sim:1", "cpu:0");
    qn_route_set_mode(ctx, QN_ROUTE_AUTO);
    setenv("QUERN_DEVICES", "sim:3,sim:2", 1);
    assert_set(ctx, NULL, "sim:2 sim:3");
    assert_set(ctx, "sim:1", "sim:1");
    unsetenv("QUERN_DEVICES");
    qn_ctx_close(ctx);
}

static void a_list_of_backends_is_a_set(void **state)
{
    qn_ctx *ctx = open_with(
        QN_OPTIONS(.backend = "cpu,sim:1,sim:3", .fault = "sim.devices=4", .log = "none"));

    (void)state;
    assert_set(ctx, NULL, "sim:1 sim:3");
    assert_int_equal(qn_devices_shared(ctx, NULL), 2);
    assert_int_equal(qn_devices_shared(ctx, "sim:1"), 1);
    assert_int_equal(qn_devices_shared(ctx, "sim:1,cpu"), 2);
    qn_ctx_close(ctx);
    ctx = open_with(QN_OPTIONS(.backend = "cpu,sim", .log = "none"));
    assert_int_equal(qn_devices_shared(ctx, NULL), 0); /* the router chooses */
    assert_int_equal(qn_devices_shared(ctx, "cpu,sim"), 2);
    qn_ctx_close(ctx);
}

static void work_is_shared_only_when_several_are_asked_for(void **state)
{
    qn_ctx *ctx = open_four();

    (void)state;
    assert_int_equal(qn_devices_shared(ctx, NULL), 0);
    assert_int_equal(qn_devices_shared(ctx, "sim:0"), 0); /* everything goes there anyway */
    assert_int_equal(qn_devices_shared(ctx, "sim:1"), 1);
    assert_int_equal(qn_devices_shared(ctx, "sim"), 4);
    qn_route_set_mode(ctx, QN_ROUTE_BALANCE);
    assert_int_equal(qn_devices_shared(ctx, NULL), 5);
    qn_route_set_mode(ctx, QN_ROUTE_CPU);
    assert_int_equal(qn_devices_shared(ctx, "sim"), 0);
    qn_ctx_close(ctx);
}

static void context_for_the_cpu_splits_over_the_cpu(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    fixture r;

    (void)state;
    assert_set(ctx, NULL, "cpu:0");
    fixture_open_in(&r, ctx, NULL, 20, 3);
    fixture_run(&r);
    fixture_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_devices_are_listed),
        cmocka_unit_test(equal_devices_keep_their_order),
        cmocka_unit_test(kind_then_memory_then_units_decide_without_measurements),
        cmocka_unit_test(profiled_speed_beats_size),
        cmocka_unit_test(stored_profiles_decide_from_the_first_choice_on),
        cmocka_unit_test(busy_device_is_worth_less),
        cmocka_unit_test(rates_of_earlier_batches_count_without_a_profile),
        cmocka_unit_test(lost_and_unhealthy_devices_are_left_out),
        cmocka_unit_test(only_devices_that_were_asked_for_are_chosen),
        cmocka_unit_test(lists_name_devices_and_backends),
        cmocka_unit_test(a_list_of_backends_is_a_set),
        cmocka_unit_test(work_is_shared_only_when_several_are_asked_for),
        cmocka_unit_test(context_for_the_cpu_splits_over_the_cpu),
    };
    return cmocka_run_group_tests(tests, ignore_profiles, NULL);
}

/* test_arc_vm_devices.c - a batch over several devices gives the results of one device. */
#include "arc_session_fixture.h"

enum { INSTANCES = 1200 };

static fixture open_devices(const char *backend, const char *fault, qn_arc_session_options options)
{
    return fixture_in(open_with(QN_OPTIONS(.backend = backend, .fault = fault, .log = "none")),
                      options);
}

static fixture open_reference(void)
{
    fixture ref = open_devices("cpu", NULL, (qn_arc_session_options){ 0 });

    add_made(&ref, 700, INSTANCES);
    fixture_run(&ref);
    return ref;
}

static double tasks_on(const fixture *r, const char *device)
{
    return qn_metric_value(qn_ctx_metrics(r->ctx), "device_total_tasks",
                           QN_LABELS("device", device));
}

/* Sim. */

static void four_devices_give_the_results_of_one_in_every_mode(void **state)
{
    static const qn_split_mode modes[] = { QN_SPLIT_DYNAMIC, QN_SPLIT_EQUAL,
                                           QN_SPLIT_PROPORTIONAL };
    fixture ref = open_reference();

    (void)state;
    for (int m = 0; m < 3; m++) {
        fixture r = open_devices("sim:0,sim:1,sim:2,sim:3", "sim.devices=4",
                                 (qn_arc_session_options){ .split = { .mode = modes[m] } });

        add_made(&r, 700, INSTANCES);
        for (int round = 0; round < 2; round++) {
            fixture_run(&r);
            assert_same(&ref, &r, "four devices");
        }
        assert_string_equal(qn_arc_session_device(r.s), "sim:0+sim:1+sim:2+sim:3");
        for (int d = 0; d < 4; d++) {
            char id[8];

            snprintf(id, sizeof id, "sim:%d", d);
            if (tasks_on(&r, id) < INSTANCES / 40.0)
                fail_msg("mode %d: %s had %g of %d runs", m, id, tasks_on(&r, id), 2 * INSTANCES);
        }
        assert_true(tasks_on(&r, "cpu") == 0);
        fixture_close(&r);
    }
    fixture_close(&ref);
}

/* New content of a batch reaches every device, even one that was idle in the last batch. */
static void new_programs_and_grids_reach_all_devices(void **state)
{
    fixture ref = open_devices("cpu", NULL, (qn_arc_session_options){ 0 });
    fixture r =
        open_devices("sim:0,sim:1,sim:2,sim:3", "sim.devices=4", (qn_arc_session_options){ 0 });

    (void)state;
    for (uint64_t round = 0; round < 5; round++) {
        const uint32_t n = round % 2 ? 2 : 900;

        add_made(&ref, 10 * round, n);
        add_made(&r, 10 * round, n);
        fixture_run(&ref);
        fixture_run(&r);
        assert_same(&ref, &r, "growing");
        ref.n = r.n = round == 2 ? 0 : r.n;
    }
    fixture_close(&ref);
    fixture_close(&r);
}

static void small_pool_serves_several_devices(void **state)
{
    fixture ref = open_reference();
    fixture r = open_devices("sim:0,sim:1", "sim.devices=2",
                             (qn_arc_session_options){ .pool_bytes = 64 << 10 });

    (void)state;
    add_made(&r, 700, INSTANCES);
    fixture_run(&r);
    assert_same(&ref, &r, "small pool");
    assert_true(qn_arc_session_stats(r.s)->pool_pieces > 0);
    fixture_close(&r);
    fixture_close(&ref);
}

static void traces_of_several_devices_are_those_of_one(void **state)
{
    enum { STRIDE = 100 };
    fixture ref = open_devices("sim", NULL, (qn_arc_session_options){ 0 });
    fixture r = open_devices("sim:0,sim:1", "sim.devices=2", (qn_arc_session_options){ 0 });

    (void)state;
    add_made(&ref, 700, 900);
    add_made(&r, 700, 900);
    fixture_run_with(&ref, ARC_WANT_OUTPUT | ARC_WANT_TRACE, STRIDE);
    fixture_run_with(&r, ARC_WANT_OUTPUT | ARC_WANT_TRACE, STRIDE);
    for (uint32_t k = 0; k < r.n; k++)
        if (qn_arc_session_result(ref.s, k)->code == ARC_OK)
            assert_memory_equal(qn_arc_session_trace(ref.s, k), qn_arc_session_trace(r.s, k),
                                STRIDE * sizeof(uint64_t));
    fixture_close(&r);
    fixture_close(&ref);
}

/* Faults. */

static void device_that_fails_gives_its_pieces_to_the_others(void **state)
{
    static const char *const faults[] = { "sim.devices=4,device_lost@3*1",
                                          "sim.devices=4,device_lost@9*1",
                                          "sim.devices=4,launch:arc.vm@2*1",
                                          "sim.devices=4,copy_d2h@5*1",
                                          "sim.devices=4,copy_h2d@7*1" };
    fixture ref = open_reference();

    (void)state;
    for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
        fixture r =
            open_devices("sim:0,sim:1,sim:2,sim:3", faults[f], (qn_arc_session_options){ 0 });

        add_made(&r, 700, INSTANCES);
        for (int round = 0; round < 2; round++) {
            fixture_run(&r);
            assert_same(&ref, &r, faults[f]);
        }
        assert_true(tasks_on(&r, "cpu") == 0);
        fixture_close(&r);
    }
    fixture_close(&ref);
}

static void cpu_takes_over_when_no_device_is_left(void **state)
{
    fixture ref = open_reference();
    fixture r = fixture_in(
        open_with(QN_OPTIONS(.backend = "sim:0,sim:1", .fault = "sim.devices=2,device_lost@3")),
        (qn_arc_session_options){ 0 });
    char text[16384];

    (void)state;
    add_made(&r, 700, INSTANCES);
    CAPTURE_STDERR(text, sizeof text, fixture_run(&r));
    assert_same(&ref, &r, "all lost");
    assert_non_null(strstr(text, "CPU fallback."));
    assert_true(qn_arc_session_stats(r.s)->cpu_ops > 0);
    fixture_close(&r);
    fixture_close(&ref);
}

/* OpenCL. */

static void two_parts_of_an_opencl_device_give_the_results_of_one(void **state)
{
    fixture ref = open_devices("cpu", NULL, (qn_arc_session_options){ 0 }), r;
    qn_ctx *ctx;

    (void)state;
    setenv("QUERN_OPENCL_SUBDEVICES", "2", 1);
    ctx = open_if_present("opencl:0,opencl:1");
    if (ctx && qn_device_count(ctx) == 3) {
        r = fixture_in(ctx, (qn_arc_session_options){ 0 });
        add_made(&ref, 700, 800);
        add_made(&r, 700, 800);
        fixture_run(&ref);
        fixture_run(&r);
        assert_same(&ref, &r, "two parts");
        assert_string_equal(qn_arc_session_device(r.s), "opencl:0+opencl:1");
        assert_true(tasks_on(&r, "opencl:0") > 0);
        assert_true(tasks_on(&r, "opencl:1") > 0);
        qn_arc_session_free(r.s);
        free(r.jobs);
    }
    qn_ctx_close(ctx);
    unsetenv("QUERN_OPENCL_SUBDEVICES");
    fixture_close(&ref);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_devices_give_the_results_of_one_in_every_mode),
        cmocka_unit_test(new_programs_and_grids_reach_all_devices),
        cmocka_unit_test(small_pool_serves_several_devices),
        cmocka_unit_test(traces_of_several_devices_are_those_of_one),
        cmocka_unit_test(device_that_fails_gives_its_pieces_to_the_others),
        cmocka_unit_test(cpu_takes_over_when_no_device_is_left),
        cmocka_unit_test(two_parts_of_an_opencl_device_give_the_results_of_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_arc_vm_route.c - which batches go to the device, and which stay on the CPU. */
#include "arc_session_fixture.h"

#include "util/file.h"
#include "util/temp_dir.h"

/* Launches of the slow device take 20 ms each. */
static const char slow[] = "sim.launch_us=20000";

static fixture open_route(const char *backend, const char *route, const char *fault)
{
    setenv("QUERN_PROFILE", "0", 1);
    return fixture_in(
        open_with(QN_OPTIONS(.backend = backend, .route = route, .fault = fault, .log = "none")),
        (qn_arc_session_options){ 0 });
}

static void add_batch(fixture *r, uint32_t n)
{
    r->n = 0;
    add_made(r, 40, n);
}

static uint64_t device_ops_of_a_run(fixture *r)
{
    const uint64_t before = qn_arc_session_stats(r->s)->gpu_ops;

    fixture_run_with(r, 0, 0);
    return qn_arc_session_stats(r->s)->gpu_ops - before;
}

static void route_cpu_keeps_everything_on_the_cpu(void **state)
{
    fixture ref = open_route("cpu", NULL, NULL), r = open_route("cpu,sim:0", "cpu", NULL);

    (void)state;
    add_batch(&ref, 300);
    add_batch(&r, 300);
    fixture_run(&ref);
    fixture_run(&r);
    assert_same(&ref, &r, "route cpu");
    assert_int_equal(qn_arc_session_stats(r.s)->gpu_ops, 0);
    assert_int_equal(qn_ctx_transfers(r.ctx).h2d_count, 0);
    assert_string_equal(qn_arc_session_device(r.s), "cpu:0");
    fixture_close(&r);
    fixture_close(&ref);
}

static void route_gpu_sends_everything_to_the_device(void **state)
{
    fixture r = open_route("cpu,sim:0", "gpu", slow);

    (void)state;
    add_batch(&r, 2);
    for (int round = 0; round < 4; round++)
        assert_true(device_ops_of_a_run(&r) > 0);
    assert_int_equal(qn_arc_session_stats(r.s)->cpu_ops, 0);
    fixture_close(&r);
}

static void device_that_is_named_gets_everything(void **state)
{
    fixture r = open_route("sim", NULL, slow);

    (void)state;
    add_batch(&r, 2);
    for (int round = 0; round < 4; round++)
        assert_true(device_ops_of_a_run(&r) > 0);
    fixture_close(&r);
}

/* Both places are tried; then the batch stays where it is faster. */
static void small_batches_stay_on_the_cpu_where_launches_are_slow(void **state)
{
    fixture ref = open_route("cpu", NULL, NULL), r = open_route("cpu,sim:0", "auto", slow);
    int on_device = 0;

    (void)state;
    add_batch(&ref, 20);
    add_batch(&r, 20);
    fixture_run(&ref);
    for (int round = 0; round < 40; round++) {
        on_device += device_ops_of_a_run(&r) > 0;
        fixture_run(&r);
        assert_same(&ref, &r, "either");
    }
    assert_true(on_device < 10);
    assert_true(device_ops_of_a_run(&r) == 0);
    assert_string_equal(qn_arc_session_device(r.s), "cpu:0");
    fixture_close(&r);
    fixture_close(&ref);
}

static void decisions_are_explained(void **state)
{
    qn_temp_dir dir;
    char path[1100], *text = NULL;
    size_t bytes;
    qn_err err = { .text = "" };
    fixture r;

    (void)state;
    assert_int_equal(qn_temp_dir_make(&dir, &err), QN_OK);
    snprintf(path, sizeof path, "%s/route.csv", dir.path);
    r = fixture_in(open_with(QN_OPTIONS(.backend = "cpu,sim:0", .route = "auto",
                                        .explain_route = path, .log = "none")),
                   (qn_arc_session_options){ 0 });
    add_batch(&r, 50);
    fixture_run(&r);
    fixture_run(&r);
    fixture_close(&r);
    if (qn_file_read(path, &text, &bytes, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_non_null(strstr(text, ",arc.vm,arc.batch,"));
    assert_non_null(strstr(text, ",cpu:0,"));
    assert_non_null(strstr(text, ",sim:0,"));
    free(text);
    qn_temp_dir_remove(&dir);
}

/* A process starts with the measurements of the last one. */
static void pace_of_a_place_outlives_the_session(void **state)
{
    qn_temp_dir dir;
    qn_err err = { .text = "" };
    const qn_options options =
        QN_OPTIONS(.backend = "cpu,sim:0", .route = "auto", .fault = slow, .log = "none");
    int first_on_device = 0;

    (void)state;
    unsetenv("QUERN_PROFILE");
    assert_int_equal(qn_temp_dir_make(&dir, &err), QN_OK);
    for (int process = 0; process < 3; process++) {
        qn_options own = options;
        fixture r;

        own.cache_dir = dir.path;
        r = fixture_in(open_with(own), (qn_arc_session_options){ 0 });
        add_batch(&r, 20);
        for (int round = 0; round < 30; round++) {
            const int is_there = device_ops_of_a_run(&r) > 0;

            first_on_device = round ? first_on_device : is_there;
        }
        fixture_close(&r);
    }
    assert_false(first_on_device);
    qn_temp_dir_remove(&dir);
}

/* A process that runs a single batch pays for loading the module each time, and the next one knows
 * that. */
static void first_batch_of_a_process_is_priced_as_first_ones_were(void **state)
{
    qn_temp_dir dir;
    qn_err err = { .text = "" };
    int on_device = 0;

    (void)state;
    unsetenv("QUERN_PROFILE");
    assert_int_equal(qn_temp_dir_make(&dir, &err), QN_OK);
    for (int process = 0; process < 6; process++) {
        fixture r =
            fixture_in(open_with(QN_OPTIONS(.backend = "cpu,sim:0", .route = "auto", .fault = slow,
                                            .cache_dir = dir.path, .log = "none")),
                       (qn_arc_session_options){ 0 });

        add_batch(&r, 20);
        on_device = device_ops_of_a_run(&r) > 0;
        fixture_close(&r);
    }
    assert_false(on_device);
    qn_temp_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(route_cpu_keeps_everything_on_the_cpu),
        cmocka_unit_test(route_gpu_sends_everything_to_the_device),
        cmocka_unit_test(device_that_is_named_gets_everything),
        cmocka_unit_test(small_batches_stay_on_the_cpu_where_launches_are_slow),
        cmocka_unit_test(decisions_are_explained),
        cmocka_unit_test(pace_of_a_place_outlives_the_session),
        cmocka_unit_test(first_batch_of_a_process_is_priced_as_first_ones_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

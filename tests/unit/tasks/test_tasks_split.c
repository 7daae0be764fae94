/* test_tasks_split.c - batches of tasks over several simulated devices: which device did what, with
 * what result.
 *
 * Checksums of a run on the CPU are the reference, so every result is compared to the last bit.
 */
#include "engine_fixture.h"

#include <quern/tasks.h>

/* Launches take longer than submitting them, so that devices and not the host limit the speed. */
#define FOUR "sim.devices=4,sim.ns_per_item=1"

static const qn_task batch[] = {
    { 1, "vadd", 20000, 7, NULL },    { 2, "chain", 70000, 8, NULL },
    { 3, "merkle", 1024, 9, NULL },   { 4, "saxpy", 150000, 3, "0.5" },
    { 5, "sum", 9000, 4, NULL },      { 6, "dot", 5000, 4, NULL },
    { 7, "max", 1, 1, NULL },         { 8, "matmul", 64, 2, NULL },
    { 9, "matmul", 64, 3, NULL },     { 10, "sha256", 1000, 3, "0-130" },
    { 11, "keccak256", 70, 3, NULL }, { 12, "merkle", 1025, 19, "rfc6962" },
    { 13, "merkle", 1024, 10, NULL },
};

enum { N = sizeof batch / sizeof *batch };

static char want[N][QN_TASK_CHECKSUM_SIZE];

typedef struct {
    qn_ctx *ctx;
    qn_tasks *tasks;
} fixture;

static fixture open_fixture(qn_options options, const qn_split_options *split)
{
    fixture r = { .ctx = NULL };

    options.log = options.log ? options.log : "none";
    options.threads = 1;
    r.ctx = open_with(options);
    must(
        qn_tasks_new(r.ctx,
                     &(qn_tasks_options){ .size = sizeof(qn_tasks_options),
                                          .split = split ? QN_TASKS_SPLIT_DYNAMIC + (int)split->mode
                                                         : QN_TASKS_SPLIT_NONE,
                                          .devices = split ? split->devices : NULL },
                     &r.tasks, &failure));
    return r;
}

static fixture open_four(const char *fault, qn_split_mode mode)
{
    return open_fixture(QN_OPTIONS(.backend = "sim:0,sim:1,sim:2,sim:3", .fault = fault),
                        &QN_SPLIT_OPTIONS(.mode = mode));
}

static void close_fixture(fixture *r)
{
    qn_tasks_free(r->tasks);
    qn_ctx_close(r->ctx);
}

static int find_reference(void **state)
{
    fixture r = open_fixture(QN_OPTIONS(.backend = "cpu"), NULL);

    (void)state;
    must(qn_tasks_run(r.tasks, batch, N, &failure));
    must(qn_tasks_verify(r.tasks, &failure));
    for (int i = 0; i < N; i++)
        must(qn_tasks_checksum(r.tasks, i, want[i], &failure));
    close_fixture(&r);
    return 0;
}

/* Runs the batch; every result must be in its place and right to the last bit. */
static void run(fixture *r)
{
    must(qn_tasks_run(r->tasks, batch, N, &failure));
    for (int i = 0; i < N; i++) {
        char got[QN_TASK_CHECKSUM_SIZE];

        must(qn_tasks_checksum(r->tasks, i, got, &failure));
        if (strcmp(got, want[i]))
            fail_msg("task %d: %s, not %s", i + 1, got, want[i]);
        assert_int_equal(qn_tasks_results(r->tasks)[i].id, batch[i].id);
    }
}

static int count_state(const fixture *r, qn_task_state state)
{
    int n = 0;

    for (int i = 0; i < N; i++)
        n += qn_tasks_results(r->tasks)[i].state == state;
    return n;
}

/* Results. */

static void results_are_the_same_for_any_number_of_devices_and_any_split(void **state)
{
    static const char *const devices[] = { "sim:2", "sim:0,sim:1", "sim" };

    (void)state;
    for (int k = 0; k < 3; k++)
        for (int mode = 0; mode < 3; mode++)
            for (int depth = 1; depth <= 3; depth++) {
                const qn_split_options split =
                    QN_SPLIT_OPTIONS(.mode = (qn_split_mode)mode, .devices = devices[k],
                                     .depth = depth);
                fixture r = open_fixture(QN_OPTIONS(.backend = "sim", .fault = FOUR), &split);

                for (int again = 0; again < 3; again++)
                    run(&r);
                assert_string_equal(qn_tasks_get_stats(r.tasks).devices,
                                    k == 0   ? "sim:2"
                                    : k == 1 ? "sim:0+sim:1"
                                             : "sim:0+sim:1+sim:2+sim:3");
                assert_int_equal(count_state(&r, QN_TASK_OK), N);
                close_fixture(&r);
            }
}

static void only_a_large_task_is_cut_and_names_all_its_devices(void **state)
{
    fixture r = open_four(FOUR, QN_SPLIT_EQUAL);
    const qn_task_result *results;

    (void)state;
    run(&r);
    results = qn_tasks_results(r.tasks);
    for (int i = 0; i < N; i++)
        if (batch[i].id != 2 && batch[i].id != 4)
            assert_null(strchr(results[i].device, '+'));
    assert_non_null(strchr(results[3].device, '+'));
    close_fixture(&r);
}

static void more_devices_than_tasks_leave_some_idle(void **state)
{
    (void)state;
    for (int mode = 0; mode < 3; mode++) {
        fixture r = open_four(FOUR, (qn_split_mode)mode);
        const qn_task two[] = { { 1, "sum", 5000, 1, NULL }, { 2, "sum", 5000, 2, NULL } };

        must(qn_tasks_run(r.tasks, two, 2, &failure));
        must(qn_tasks_verify(r.tasks, &failure));
        assert_string_equal(qn_tasks_get_stats(r.tasks).devices, "sim:0+sim:1");
        assert_int_equal(qn_tasks_run(r.tasks, two, 0, &failure), QN_ERR_USAGE);
        close_fixture(&r);
    }
}

static void four_devices_are_faster_than_one(void **state)
{
    qn_task large[8];
    double us[2];

    (void)state;
    for (int i = 0; i < 8; i++)
        large[i] = (qn_task){ i, "vadd", 500000, (uint64_t)i, NULL };
    for (int k = 0; k < 2; k++) {
        const qn_split_options split = QN_SPLIT_OPTIONS(.devices = k ? "sim" : "sim:0");
        fixture r = open_fixture(QN_OPTIONS(.backend = "sim", .fault = "sim.devices=4"), &split);

        for (int again = 0; again < 4; again++) {
            must(qn_tasks_touch(r.tasks, &failure));
            must(qn_tasks_run(r.tasks, large, 8, &failure));
        }
        us[k] = qn_tasks_get_stats(r.tasks).wall_us;
        close_fixture(&r);
    }
    assert_true(us[0] / us[1] > 3);
}

static void the_second_batch_of_a_shape_finds_its_plan_and_recordings(void **state)
{
    fixture r = open_four(FOUR, QN_SPLIT_EQUAL);

    (void)state;
    run(&r);
    assert_int_equal(qn_tasks_get_stats(r.tasks).was_planned, 1);
    for (int again = 0; again < 3; again++)
        run(&r);
    assert_int_equal(qn_tasks_get_stats(r.tasks).was_planned, 0);
    assert_true(metric(r.ctx, "graph_replays", NULL) > 0);
    close_fixture(&r);
}

/* Which device did what. */

static void tasks_are_counted_by_device_and_cut_ones_by_share(void **state)
{
    fixture r = open_four(FOUR, QN_SPLIT_EQUAL);
    double sum = 0;

    (void)state;
    run(&r);
    for (int d = 1; d <= 4; d++) {
        const char *const *by_device = QN_LABELS("device", qn_device_id(r.ctx, d));

        assert_true(metric(r.ctx, "device_total_tasks", by_device) > 0);
        assert_true(metric(r.ctx, "device_total_execution_ms", by_device) > 0);
        sum += metric(r.ctx, "device_total_tasks", by_device);
    }
    assert_float_equal(sum, N, 1e-9);
    assert_true(metric(r.ctx, "device_active_tasks", NULL) == 0);
    close_fixture(&r);
}

static void without_a_set_nothing_is_shared(void **state)
{
    static const char *const backends[] = { "sim", "sim:1", "cpu" };
    const qn_split_options split = QN_SPLIT_OPTIONS();

    (void)state;
    for (int k = 0; k < 3; k++) {
        fixture r = open_fixture(QN_OPTIONS(.backend = backends[k], .fault = FOUR), &split);

        run(&r);
        assert_int_equal(qn_tasks_get_stats(r.tasks).submissions, 1);
        assert_true(metric(r.ctx, "device_total_tasks", NULL) == 0);
        close_fixture(&r);
    }
}

static void cpu_that_was_asked_for_is_no_fallback(void **state)
{
    static const char *const routes[] = { "balance", "auto" }, *const devices[] = { NULL,
                                                                                    "cpu,sim" };

    (void)state;
    for (int k = 0; k < 2; k++) {
        const qn_split_options split =
            QN_SPLIT_OPTIONS(.mode = QN_SPLIT_EQUAL, .devices = devices[k]);
        fixture r =
            open_fixture(QN_OPTIONS(.backend = "sim", .fault = FOUR, .route = routes[k]), &split);

        run(&r);
        assert_string_equal(qn_tasks_get_stats(r.tasks).devices, "cpu:0+sim:0+sim:1+sim:2+sim:3");
        assert_int_equal(count_state(&r, QN_TASK_OK), N);
        assert_true(metric(r.ctx, "gpu_fallback_count", NULL) == 0);
        close_fixture(&r);
    }
}

/* Faults. */

/* The metrics file as text. */
static void read_report(const fixture *r, char *out, size_t size)
{
    char path[] = "/tmp/quern-split-XXXXXX.json";
    const int fd = mkstemps(path, 5);
    FILE *file;
    size_t n;

    assert_true(fd >= 0);
    close(fd);
    must(qn_metrics_write(r->ctx, "tasks run", path, &failure));
    assert_non_null(file = fopen(path, "r"));
    n = fread(out, 1, size - 1, file);
    out[n] = 0;
    fclose(file);
    unlink(path);
}

static int count_text(const char *text, const char *piece)
{
    int n = 0;

    while ((text = strstr(text, piece))) {
        text++;
        n++;
    }
    return n;
}

/* Every class of fault in the processing of a part. */
static void a_device_that_fails_changes_no_result_and_is_named(void **state)
{
    static const struct {
        const char *fault, *reason;
    } cases[] = {
        { "device_lost@7*1", "lost (injected)" },
        { "device_lost:merkle@2*1", "\"reason\": \"merkle: device sim:" },
        { "device_lost:saxpy@2*1", "\"reason\": \"saxpy: device sim:" },
        { "launch:saxpy@2*1", "saxpy: injected launch fault" },
        { "timeout@5*1", "timeout (injected)" },
        { "copy_h2d@9*1", "injected copy_h2d fault" },
        { "copy_d2h@3*1", "injected copy_d2h fault" },
    };
    static char text[1 << 17];

    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int mode = 0; mode < 3; mode++) {
            char fault[128];
            fixture r;

            snprintf(fault, sizeof fault, "%s,%s", FOUR, cases[c].fault);
            r = open_four(fault, (qn_split_mode)mode);
            for (int again = 0; again < 3; again++)
                run(&r);
            assert_int_equal(count_state(&r, QN_TASK_OK), N);
            assert_true(metric(r.ctx, "gpu_fallback_count", NULL) == 0);
            assert_float_equal(metric(r.ctx, "device_total_tasks", NULL), 3 * N, 1e-6);
            assert_true(metric(r.ctx, "device_active_tasks", NULL) == 0);
            read_report(&r, text, sizeof text);
            if (count_text(text, "\"state\": \"failed\"") != 1 || !strstr(text, cases[c].reason))
                fail_msg("%s: not named in the report", cases[c].fault);
            close_fixture(&r);
        }
}

static void the_cpu_does_the_rest_when_no_device_is_left(void **state)
{
    (void)state;
    for (int mode = 0; mode < 3; mode++) {
        const qn_split_options split = QN_SPLIT_OPTIONS(.mode = (qn_split_mode)mode);
        fixture r = open_fixture(QN_OPTIONS(.backend = "sim:0,sim:1", .log = "error",
                                            .fault = "sim.devices=2,device_lost:saxpy"),
                                 &split);
        char text[4096];

        CAPTURE_STDERR(text, sizeof text, run(&r));
        assert_int_equal(strncmp(text, "[GPU] saxpy failed: device sim:", 31), 0);
        assert_int_equal(count_text(text, "\n"), 1);
        assert_non_null(strstr(qn_tasks_get_stats(r.tasks).devices, "cpu:0"));
        assert_int_equal(qn_tasks_results(r.tasks)[3].state, QN_TASK_FALLBACK);
        assert_true(metric(r.ctx, "gpu_fallback_count", NULL) == 1);
        close_fixture(&r);
    }
}

static void a_forbidden_fallback_ends_the_batch_and_not_the_tasks(void **state)
{
    const qn_split_options split = QN_SPLIT_OPTIONS();
    fixture r = open_fixture(QN_OPTIONS(.backend = "sim:0,sim:1", .fallback = QN_FALLBACK_ERROR,
                                        .fault = "sim.devices=2,launch@5*2"),
                             &split);

    (void)state;
    assert_int_equal(qn_tasks_run(r.tasks, batch, N, &failure), QN_ERR_FALLBACK);
    assert_non_null(strstr(failure.text, "fallback is forbidden"));
    run(&r); /* the devices are tried again */
    close_fixture(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_the_same_for_any_number_of_devices_and_any_split),
        cmocka_unit_test(only_a_large_task_is_cut_and_names_all_its_devices),
        cmocka_unit_test(more_devices_than_tasks_leave_some_idle),
        cmocka_unit_test(four_devices_are_faster_than_one),
        cmocka_unit_test(the_second_batch_of_a_shape_finds_its_plan_and_recordings),
        cmocka_unit_test(tasks_are_counted_by_device_and_cut_ones_by_share),
        cmocka_unit_test(without_a_set_nothing_is_shared),
        cmocka_unit_test(cpu_that_was_asked_for_is_no_fallback),
        cmocka_unit_test(a_device_that_fails_changes_no_result_and_is_named),
        cmocka_unit_test(the_cpu_does_the_rest_when_no_device_is_left),
        cmocka_unit_test(a_forbidden_fallback_ends_the_batch_and_not_the_tasks),
    };
    return cmocka_run_group_tests(tests, find_reference, NULL);
}

/* parity_split.c - one batch on one and on two real devices: the same bits.
 *
 * The two are halves of the first OpenCL device. fixture_check compares with the host to the last
 * bit, so one and two devices give equal results.
 */
/* test: quick-opencl */
#include "split_fixture.h"

#include <quern/tasks.h>

enum { N_ITEMS = 45, CHUNK = 4 };

static qn_ctx *open_halves(void)
{
    setenv("QUERN_OPENCL_SUBDEVICES", "2", 1);
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "opencl", .log = "none"));

    if (qn_device_count(ctx) != 3) {
        qn_ctx_close(ctx);
        return NULL;
    }
    return ctx;
}

static void one_and_two_devices_give_the_same_bits(void **state)
{
    static const char *const devices[] = { "opencl:0", "opencl:1", "opencl:0,opencl:1" };
    qn_ctx *ctx = open_halves();

    (void)state;
    if (!ctx)
        skip();
    for (int k = 0; k < 3; k++)
        for (int mode = 0; mode < 3; mode++) {
            const qn_split_options options =
                QN_SPLIT_OPTIONS(.mode = (qn_split_mode)mode, .devices = devices[k]);
            fixture r;

            fixture_open_in(&r, ctx, &options, N_ITEMS, CHUNK);
            assert_int_equal(qn_split_count(r.split), k < 2 ? 1 : 2);
            for (int run = 0; run < 3; run++)
                fixture_run(&r);
            assert_true(qn_split_get(r.split, 0).device > 0);
            fixture_free_keeping_context(&r);
        }
    assert_true(qn_metric_value(qn_ctx_metrics(ctx), "gpu_fallback_count", NULL) == 0);
    qn_ctx_close(ctx);
}

static void both_halves_work(void **state)
{
    const qn_split_options options = QN_SPLIT_OPTIONS(.mode = QN_SPLIT_EQUAL);
    qn_ctx *ctx = open_halves();
    fixture r;

    (void)state;
    if (!ctx)
        skip();
    fixture_open_in(&r, ctx, &options, N_ITEMS, CHUNK);
    fixture_run(&r);
    assert_int_equal(qn_split_get(r.split, 0).items, 23);
    assert_int_equal(qn_split_get(r.split, 1).items, 22);
    fixture_close(&r);
}

static void half_that_fails_leaves_its_chunks_to_the_other(void **state)
{
    qn_ctx *ctx;
    fixture r;

    (void)state;
    setenv("QUERN_FAULT", "device_lost:fixture.mul@5*1", 1);
    ctx = open_halves();
    unsetenv("QUERN_FAULT");
    if (!ctx)
        skip();
    fixture_open_in(&r, ctx, NULL, N_ITEMS, CHUNK);
    fixture_run(&r);
    assert_int_equal(qn_split_get(r.split, 0).has_failed + qn_split_get(r.split, 1).has_failed, 1);
    assert_true(qn_metric_value(qn_ctx_metrics(ctx), "gpu_fallback_count", NULL) == 0);
    fixture_close(&r);
}

/* Both ways of running a batch, checked against the plain computation of each op. */
static void tasks_on_two_halves_are_verified(void **state)
{
    static const qn_task batch[] = {
        { 1, "vadd", 200000, 7, NULL },  { 2, "saxpy", 70000, 8, "0.5" },
        { 3, "merkle", 1025, 9, NULL },  { 4, "sum", 100000, 2, NULL },
        { 5, "matmul", 100, 3, NULL },   { 6, "sha256", 500, 4, "0-100" },
        { 7, "vadd", 200000, 11, NULL }, { 8, "chain", 70000, 12, NULL },
    };
    qn_ctx *ctx = open_halves();

    (void)state;
    if (!ctx)
        skip();
    for (int mode = 0; mode < 3; mode++) {
        const qn_tasks_options options = { .size = sizeof options,
                                           .split = QN_TASKS_SPLIT_DYNAMIC + mode,
                                           .devices = "opencl" };
        qn_tasks *tasks;

        must(qn_tasks_new(ctx, &options, &tasks, &failure));
        for (int again = 0; again < 3; again++) {
            must(qn_tasks_run(tasks, batch, 8, &failure));
            must(qn_tasks_verify(tasks, &failure));
        }
        if (mode != QN_SPLIT_DYNAMIC)
            assert_string_equal(qn_tasks_get_stats(tasks).devices, "opencl:0+opencl:1");
        qn_tasks_free(tasks);
    }
    assert_true(qn_metric_value(qn_ctx_metrics(ctx), "gpu_fallback_count", NULL) == 0);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_and_two_devices_give_the_same_bits),
        cmocka_unit_test(both_halves_work),
        cmocka_unit_test(half_that_fails_leaves_its_chunks_to_the_other),
        cmocka_unit_test(tasks_on_two_halves_are_verified),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

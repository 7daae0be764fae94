/* test_work.c - one op at one size on the simulated device: the scan times exactly this op. */
#include "engine_fixture.h"

#include "lab/scan/work.h"

#include <string.h>

static const char *const ops[] = { "vadd", "saxpy",  "chain",  "sum",       "dot",
                                   "max",  "matmul", "sha256", "keccak256", "merkle" };
enum { N_OPS = sizeof ops / sizeof *ops, SIM = 1 };

static void open_work(qn_work *work, qn_ctx *ctx, const char *op, qn_i64 n, int is_cold)
{
    qn_err err = { 0 };

    if (qn_work_open(ctx, SIM, op, n, 7, is_cold, work, &err) != QN_OK)
        fail_msg("%s", err.text);
}

static double run_work(qn_work *work, int n)
{
    qn_err err = { 0 };
    double us = -1;

    if (qn_work_run(work, n, &us, &err) != QN_OK)
        fail_msg("%s", err.text);
    return us;
}

static void every_op_gives_the_result_of_the_plain_computation(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim"));

    (void)state;
    for (int i = 0; i < N_OPS; i++)
        for (int is_cold = 0; is_cold < 2; is_cold++) {
            qn_work work;
            qn_err err = { 0 };

            open_work(&work, ctx, ops[i], 70, is_cold);
            run_work(&work, 1);
            if (qn_work_check(&work, &err) != QN_OK)
                fail_msg("%s", err.text);
            qn_work_close(&work);
        }
    qn_ctx_close(ctx);
}

static void cold_runs_copy_inputs_and_result_every_time(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim"));
    qn_work work;
    qn_err err = { 0 };

    (void)state;
    open_work(&work, ctx, "vadd", 20000, 1);
    for (int i = 0; i < 5; i++)
        run_work(&work, 1);
    assert_int_equal(qn_work_transfers(&work).h2d_bytes, 5 * 160000);
    assert_int_equal(qn_work_transfers(&work).d2h_bytes, 5 * 80000);
    assert_int_equal(qn_work_check(&work, &err), QN_OK);
    qn_work_close(&work);
    qn_ctx_close(ctx);
}

static void cold_inputs_that_a_run_overwrites_are_made_anew(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim"));
    qn_work work;
    qn_err err = { 0 };

    (void)state;
    open_work(&work, ctx, "saxpy", 5000, 1);
    for (int i = 0; i < 3; i++)
        run_work(&work, 1);
    assert_int_equal(qn_work_check(&work, &err), QN_OK);
    qn_work_close(&work);
    qn_ctx_close(ctx);
}

static void resident_runs_copy_nothing_after_the_first(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim"));
    qn_work work;
    uint64_t first;

    (void)state;
    open_work(&work, ctx, "dot", 20000, 0);
    run_work(&work, 1);
    first = qn_work_transfers(&work).h2d_bytes;
    run_work(&work, 10);
    assert_int_equal(qn_work_transfers(&work).h2d_bytes, first);
    assert_int_equal(qn_work_transfers(&work).d2h_count, 0);
    qn_work_close(&work);
    qn_ctx_close(ctx);
}

/* 12 bytes per element at 100 GB/s, after 40 us of launch. */
static void times_are_those_of_the_device(void **state)
{
    qn_ctx *ctx = open_with(
        QN_OPTIONS(.backend = "sim", .fault = "sim.launch_us=40,sim.gbps=100,sim.submit_us=0"));
    qn_work work;

    (void)state;
    open_work(&work, ctx, "vadd", 1000000, 0);
    for (int i = 0; i < 3; i++)
        run_work(&work, 1);
    assert_float_equal(run_work(&work, 10), 40 + 120, 1);
    qn_work_close(&work);
    qn_ctx_close(ctx);
}

static void a_wrong_bit_is_a_mismatch(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .fault = "corrupt:vadd"));
    qn_work work;
    float want[1000];
    qn_err err = { 0 };

    (void)state;
    open_work(&work, ctx, "vadd", 1000, 1);
    run_work(&work, 1);
    assert_int_equal(qn_work_check(&work, &err), QN_ERR_MISMATCH);
    assert_int_equal(qn_work_read(&work, want, &err), QN_OK);
    assert_int_equal(qn_work_compare(&work, want, &err), QN_OK);
    want[999] += 1;
    assert_int_equal(qn_work_compare(&work, want, &err), QN_ERR_MISMATCH);
    assert_non_null(strstr(err.text, "vadd of size 1000 on sim:0: 1 of 1000 values differ"));
    qn_work_close(&work);
    qn_ctx_close(ctx);
}

static void a_device_that_fails_is_not_replaced_by_the_cpu(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .fault = "launch:vadd"));
    qn_work work;
    qn_err err = { 0 };
    double us;

    (void)state;
    open_work(&work, ctx, "vadd", 1000, 1);
    assert_int_equal(qn_work_run(&work, 1, &us, &err), QN_ERR_INJECTED);
    assert_true(qn_metric_value(qn_ctx_metrics(ctx), "gpu_fallback_count", NULL) == 0);
    qn_work_close(&work);
    qn_ctx_close(ctx);
}

static void an_op_or_size_without_meaning_is_refused(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim"));
    qn_work work;
    qn_err err = { 0 };

    (void)state;
    assert_int_equal(qn_work_open(ctx, SIM, "vad", 10, 1, 1, &work, &err), QN_ERR_USAGE);
    assert_int_not_equal(qn_work_open(ctx, SIM, "matmul", 1000000, 1, 1, &work, &err), QN_OK);
    qn_work_close(&work);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_gives_the_result_of_the_plain_computation),
        cmocka_unit_test(cold_runs_copy_inputs_and_result_every_time),
        cmocka_unit_test(cold_inputs_that_a_run_overwrites_are_made_anew),
        cmocka_unit_test(resident_runs_copy_nothing_after_the_first),
        cmocka_unit_test(times_are_those_of_the_device),
        cmocka_unit_test(a_wrong_bit_is_a_mismatch),
        cmocka_unit_test(a_device_that_fails_is_not_replaced_by_the_cpu),
        cmocka_unit_test(an_op_or_size_without_meaning_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_cuda_lend.c - arrays lent to another library, on the CPU, on a driver whose device memory
 * the test can see, and on a device without addresses. */
/* test: cuda-mock */
#include "engine_fixture.h"

#include "mock/mock_cuda.h"

#include <quern/interop.h>

enum { N = 100 };

static int setup(void **state)
{
    (void)state;
    mock_cuda_reset();
    mock_cuda_set_devices(1);
    return 0;
}

static float read_one(qn_buf *buf, size_t i)
{
    float value = -1;

    assert_int_equal(qn_buf_read(buf, i * sizeof value, &value, sizeof value, &failure), QN_OK);
    return value;
}

static void what_is_lent_is_there_and_what_is_written_counts(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cuda"));
    qn_buf *x = ramp(ctx, "x", N, 0, 1);
    void *address = NULL, *again = NULL;

    (void)state;
    must(qn_buf_lend(x, 1, QN_HOST_UPDATE, &address, &failure));
    for (int i = 0; i < N; i++)
        assert_true(((float *)address)[i] == (float)i);
    assert_int_equal(qn_buf_transfers(x).h2d_count, 1);
    ((float *)address)[7] = 700;
    qn_buf_give_back(x, 1);
    assert_true(read_one(x, 7) == 700);
    assert_true(read_one(x, 8) == 8);

    /* Data already there is not copied. */
    must(qn_buf_lend(x, 1, QN_HOST_READ, &again, &failure));
    assert_ptr_equal(again, address);
    assert_int_equal(qn_buf_transfers(x).h2d_count, 1);
    qn_buf_give_back(x, 1);
    qn_buf_free(x);
    qn_ctx_close(ctx);
}

static void reading_leaves_the_hosts_copy_alone(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cuda"));
    qn_buf *x = ramp(ctx, "x", N, 5, 0);
    void *address = NULL;

    (void)state;
    must(qn_buf_lend(x, 1, QN_HOST_READ, &address, &failure));
    qn_buf_give_back(x, 1);
    assert_true(read_one(x, 3) == 5);
    assert_int_equal(qn_buf_transfers(x).d2h_count, 0);
    qn_buf_free(x);
    qn_ctx_close(ctx);
}

static void old_content_that_nobody_wants_is_not_sent(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cuda"));
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *view = NULL;
    void *address = NULL;

    (void)state;
    must(qn_buf_lend(x, 1, QN_HOST_DISCARD, &address, &failure));
    assert_int_equal(qn_buf_transfers(x).h2d_count, 0);
    memset(address, 0, N * sizeof(float));
    qn_buf_give_back(x, 1);
    assert_true(read_one(x, 9) == 0);

    /* Content around a view must be preserved; the view's address lies inside the whole array. */
    must(qn_buf_view(x, "view", 40, 8, &view, &failure));
    void *part = NULL;
    must(qn_buf_lend(view, 1, QN_HOST_DISCARD, &part, &failure));
    assert_ptr_equal(part, (char *)address + 40);
    qn_buf_give_back(view, 1);
    qn_buf_free(view);
    qn_buf_free(x);
    qn_ctx_close(ctx);
}

static void the_cpu_lends_its_own_copy(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    qn_buf *x = ramp(ctx, "x", N, 0, 1);
    void *address = NULL;

    (void)state;
    must(qn_buf_lend(x, 0, QN_HOST_UPDATE, &address, &failure));
    ((float *)address)[1] = -1;
    qn_buf_give_back(x, 0);
    assert_true(read_one(x, 1) == -1);
    qn_buf_free(x);
    qn_ctx_close(ctx);
}

static void devices_without_addresses_refuse(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *x = ramp(ctx, "x", N, 0, 1);
    void *address = NULL;

    (void)state;
    assert_int_equal(qn_buf_lend(x, 1, QN_HOST_READ, &address, &failure), QN_ERR_UNSUPPORTED);
    assert_string_equal(failure.text, "memory of sim:0 has no address to lend");
    assert_int_equal(qn_buf_lend(x, 9, QN_HOST_READ, &address, &failure), QN_ERR_USAGE);
    assert_string_equal(failure.text, "device 9; the context has 2");
    assert_null(address);
    qn_buf_free(x);
    qn_ctx_close(ctx);
}

static void an_upload_that_fails_is_reported(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cuda", .fault = "copy_h2d*1"));
    qn_buf *x = ramp(ctx, "x", N, 0, 1);
    void *address = NULL;

    (void)state;
    assert_int_equal(qn_buf_lend(x, 1, QN_HOST_UPDATE, &address, &failure), QN_ERR_INJECTED);
    assert_true(read_one(x, 50) == 50);
    must(qn_buf_lend(x, 1, QN_HOST_UPDATE, &address, &failure));
    assert_true(((float *)address)[50] == 50);
    qn_buf_give_back(x, 1);
    qn_buf_free(x);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_is_lent_is_there_and_what_is_written_counts, setup),
        cmocka_unit_test_setup(reading_leaves_the_hosts_copy_alone, setup),
        cmocka_unit_test_setup(old_content_that_nobody_wants_is_not_sent, setup),
        cmocka_unit_test_setup(the_cpu_lends_its_own_copy, setup),
        cmocka_unit_test_setup(devices_without_addresses_refuse, setup),
        cmocka_unit_test_setup(an_upload_that_fails_is_reported, setup),
    };

    setenv("QUERN_CUDA_LIB", "libcuda_mock.so", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

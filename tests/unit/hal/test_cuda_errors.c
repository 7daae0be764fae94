/* test_cuda_errors.c - how the CUDA backend handles a driver that fails. */
/* test: cuda-mock */
#include "mock/cuda_fixture.h"

static void results_of_the_driver_have_their_status(void **state)
{
    static const struct {
        int result;
        qn_status status;
    } rows[] = {
        { CUDA_ERROR_INVALID_VALUE, QN_ERR_LAUNCH },
        { CUDA_ERROR_OUT_OF_MEMORY, QN_ERR_NOMEM },
        { CUDA_ERROR_DEVICE_UNAVAILABLE, QN_ERR_BUSY },
        { CUDA_ERROR_ECC_UNCORRECTABLE, QN_ERR_DEVICE_LOST },
        { CUDA_ERROR_ILLEGAL_ADDRESS, QN_ERR_DEVICE_LOST },
        { CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, QN_ERR_LIMIT },
        { CUDA_ERROR_LAUNCH_TIMEOUT, QN_ERR_TIMEOUT },
        { CUDA_ERROR_LAUNCH_FAILED, QN_ERR_DEVICE_LOST },
        { CUDA_ERROR_NOT_SUPPORTED, QN_ERR_UNSUPPORTED },
        { CUDA_ERROR_UNKNOWN, QN_ERR_DEVICE_LOST },
        { 12345, QN_ERR_LAUNCH },
    };
    fixture *f = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qn_mem *const mem = alloc(f, 4);

        mock_cuda_fail("cuMemcpyHtoDAsync_v2", 1, rows[i].result);
        assert_int_equal(cu->upload(f->dev, mem, 0, "1234", 4, QN_UPLOAD, &f->err), rows[i].status);
        assert_int_equal(f->err.status, rows[i].status);
        close_device(f);
        open_device(f);
    }
}

static void unknown_result_shows_its_number(void **state)
{
    fixture *f = *state;
    qn_mem *const mem = alloc(f, 4);

    mock_cuda_fail("cuMemcpyHtoDAsync_v2", 1, 12345);
    assert_int_equal(cu->upload(f->dev, mem, 0, "1234", 4, QN_UPLOAD, &f->err), QN_ERR_LAUNCH);
    assert_string_equal(f->err.text, "cuMemcpyHtoDAsync: CUDA error 12345");
}

static void fault_of_a_kernel_surfaces_when_waited_for(void **state)
{
    fixture *f = *state;
    qn_mem *const mem = alloc(f, 4);
    qn_event *event = NULL;

    mock_cuda_fail("run", 1, CUDA_ERROR_ILLEGAL_ADDRESS);
    must_do(f, launch_saxpy(f, 1.0f, mem, mem, 1, QN_COMPUTE));
    must_do(f, cu->record(f->dev, QN_COMPUTE, &event, &f->err));
    assert_int_equal(cu->is_done(f->dev, event), -1);
    assert_int_equal(cu->await(f->dev, event, &f->err), QN_ERR_DEVICE_LOST);
    assert_string_equal(f->err.text,
                        "cuEventSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (illegal memory access)");
    cu->drop(f->dev, event);
}

static void lost_device_stays_lost_until_it_is_opened_again(void **state)
{
    fixture *f = *state;
    qn_mem *const mem = alloc(f, 4);
    qn_mem *more = NULL;
    float got;

    mock_cuda_fail("run", 1, CUDA_ERROR_LAUNCH_FAILED);
    must_do(f, launch_saxpy(f, 1.0f, mem, mem, 1, QN_COMPUTE));
    assert_int_equal(cu->sync(f->dev, &f->err), QN_ERR_DEVICE_LOST);
    assert_int_equal(cu->alloc(f->dev, 4, 0, &more, &f->err), QN_ERR_DEVICE_LOST);
    assert_int_equal(cu->upload(f->dev, mem, 0, "1234", 4, QN_UPLOAD, &f->err), QN_ERR_DEVICE_LOST);
    close_device(f);
    open_device(f);
    got = 5.0f;
    read_back(f, alloc_with(f, &got, sizeof got), &got, sizeof got);
    assert_float_equal(got, 5.0f, 0.0f);
}

/* One pass over all calls that queue work; any status is allowed, leaks are not. */
static void use_everything(fixture *f)
{
    float data[4] = { 1, 2, 3, 4 };
    qn_mem *mem = NULL;
    qn_event *event = NULL;
    qn_replay *replay = NULL;
    void *pinned = NULL;
    qn_blob binary = { 0 };

    if (cu->open(&config, 0, &f->dev, &f->err) != QN_OK)
        return;
    if (build_ptx(f, hand_ptx, &f->module) == QN_OK &&
        cu->alloc(f->dev, sizeof data, 0, &mem, &f->err) == QN_OK) {
        cu->upload(f->dev, mem, 0, data, sizeof data, QN_COMPUTE, &f->err);
        launch_saxpy(f, 1.0f, mem, mem, 4, QN_COMPUTE);
        if (cu->record(f->dev, QN_COMPUTE, &event, &f->err) == QN_OK) {
            cu->wait(f->dev, QN_DOWNLOAD, event, &f->err);
            cu->is_done(f->dev, event);
            cu->await(f->dev, event, &f->err);
            cu->drop(f->dev, event);
        }
        cu->download_rect(f->dev, mem, 0, 8, data, 4, 2, QN_DOWNLOAD, &f->err);
        if (cu->capture_begin(f->dev, QN_COMPUTE, &f->err) == QN_OK) {
            launch_saxpy(f, 1.0f, mem, mem, 4, QN_COMPUTE);
            cu->capture_end(f->dev, QN_COMPUTE, &replay, &f->err);
        }
        if (replay)
            cu->replay(f->dev, replay, QN_COMPUTE, &f->err);
        cu->download(f->dev, mem, 0, data, sizeof data, QN_DOWNLOAD, &f->err);
        if (cu->binary(f->dev, f->module, &binary, &f->err) == QN_OK)
            free(binary.data);
    }
    if (cu->host_alloc(f->dev, 64, &pinned, &f->err) == QN_OK)
        cu->host_free(f->dev, pinned);
    cu->sync(f->dev, &f->err);
    cu->replay_free(f->dev, replay);
    cu->release(f->dev, mem);
}

static void failing_calls_leak_nothing(void **state)
{
    /* clang-format off */
    static const char *const entries[] = {
        "cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxGetCurrent", "cuCtxSetCurrent",
        "cuCtxSynchronize", "cuMemAlloc_v2", "cuMemHostAlloc", "cuMemcpyHtoDAsync_v2",
        "cuMemcpyDtoHAsync_v2", "cuMemcpy2DAsync_v2", "cuStreamCreate", "cuStreamWaitEvent",
        "cuEventCreate", "cuEventRecord", "cuEventQuery", "cuEventSynchronize",
        "cuModuleLoadDataEx", "cuModuleGetFunction", "cuFuncGetAttribute", "cuLaunchKernel",
        "cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuStreamGetCaptureInfo_v3",
        "cuGraphInstantiateWithFlags", "cuGraphLaunch", "run",
    };
    /* clang-format on */
    static const int results[] = { CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_ILLEGAL_ADDRESS };
    fixture *f = *state;

    for (size_t e = 0; e < sizeof entries / sizeof *entries; e++)
        for (int n = 1; n <= 2; n++)
            for (size_t r = 0; r < sizeof results / sizeof *results; r++) {
                setup_closed(state);
                mock_cuda_fail(entries[e], n, results[r]);
                use_everything(f);
                if (n == 1 && mock_cuda_calls(entries[e]) == 0)
                    fail_msg("%s was never called", entries[e]);
                teardown(state);
            }
}

#define TEST(name)   cmocka_unit_test_setup_teardown(name, setup, teardown)
#define CLOSED(name) cmocka_unit_test_setup_teardown(name, setup_closed, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(results_of_the_driver_have_their_status),
        TEST(unknown_result_shows_its_number),
        TEST(fault_of_a_kernel_surfaces_when_waited_for),
        TEST(lost_device_stays_lost_until_it_is_opened_again),
        CLOSED(failing_calls_leak_nothing),
    };

    setenv("QUERN_CUDA_LIB", "libcuda_mock.so", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_cuda.c - devices, memory, streams and launches of the CUDA backend. */
/* test: cuda-mock */
#include "mock/cuda_fixture.h"

#include <pthread.h>
#include <unistd.h>

/* Devices. */

/* The result of count() in a separate process, where `library` is the driver. */
static void reason_with(const char *library, char *out, size_t size)
{
    char self[1024], command[2048];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    FILE *pipe;
    size_t got;

    assert_true(n > 0);
    self[n] = '\0';
    snprintf(command, sizeof command, "QUERN_CUDA_LIB='%s' '%s' count", library, self);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    got = fread(out, 1, size - 1, pipe);
    out[got] = '\0';
    assert_int_equal(pclose(pipe), 0);
}

static void missing_driver_is_no_device_and_a_reason(void **state)
{
    char reason[512];

    (void)state;
    reason_with("/nowhere/libcuda.so.1", reason, sizeof reason);
    assert_string_equal(reason, "0 not found: /nowhere/libcuda.so.1");
}

static void library_that_is_no_driver_is_named_with_what_it_lacks(void **state)
{
    char reason[512];

    (void)state;
    reason_with("libm.so.6", reason, sizeof reason);
    assert_string_equal(reason, "0 libm.so.6 has no cuInit");
}

static void refused_start_of_the_driver_is_named(void **state)
{
    char reason[200];

    (void)state;
    mock_cuda_fail("cuInit", 1, CUDA_ERROR_NO_DEVICE);
    assert_int_equal(cu->count(&config, reason, sizeof reason), 0);
    assert_string_equal(reason, "cuInit: CUDA_ERROR_NO_DEVICE");
}

static void driver_without_device_counts_none(void **state)
{
    char reason[200];

    (void)state;
    mock_cuda_set_devices(0);
    assert_int_equal(cu->count(&config, reason, sizeof reason), 0);
    assert_string_equal(reason, "the driver has no device");
}

static void device_beyond_the_last_does_not_open(void **state)
{
    fixture *f = *state;

    assert_int_equal(cu->open(&config, 2, &f->dev, &f->err), QN_ERR_INIT);
    assert_string_equal(f->err.text, "cuda:2: the driver has 2 devices");
    assert_null(f->dev);
}

static void device_that_refuses_its_context_does_not_open(void **state)
{
    fixture *f = *state;

    mock_cuda_fail("cuDevicePrimaryCtxRetain", 1, CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(cu->open(&config, 0, &f->dev, &f->err), QN_ERR_INIT);
    assert_string_equal(f->err.text,
                        "cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
    assert_null(f->dev);
}

static void info_tells_what_the_driver_says(void **state)
{
    fixture *f = *state;
    qn_device_info info;

    alloc(f, 1 << 20);
    cu->info(f->dev, &info);
    assert_string_equal(info.name, "Mock GPU 0");
    assert_string_equal(info.vendor, "NVIDIA");
    assert_string_equal(info.arch, "sm_90");
    assert_string_equal(info.driver, "13.0");
    assert_int_equal(info.kind, QN_KIND_DISCRETE);
    assert_int_equal(info.mem_total, 1 << 30);
    assert_int_equal(info.mem_free, (1 << 30) - (1 << 20));
    assert_int_equal(info.max_alloc, 1 << 30);
    assert_int_equal(info.max_group, 1024);
    assert_int_equal(info.max_grid[0], 0x7fffffff);
    assert_int_equal(info.max_grid[1], 65535);
    assert_int_equal(info.max_grid[2], 65535);
    assert_int_equal(info.local_mem, 49152);
    assert_int_equal(info.units, 132);
    assert_true(info.has_f64 && info.has_async_copy && info.has_graph_replay &&
                info.has_exact_f32 && !info.unified_memory);
}

static void *allocate_elsewhere(void *user)
{
    alloc(user, 64);
    return NULL;
}

static void any_thread_may_use_the_device(void **state)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, allocate_elsewhere, *state), 0);
    pthread_join(thread, NULL);
    assert_int_equal(mock_cuda_get_live().blocks, 1);
}

static void current_context_is_not_set_again(void **state)
{
    fixture *f = *state;
    const int before = mock_cuda_calls("cuCtxSetCurrent");

    for (int i = 0; i < 10; i++)
        must_do(f, cu->sync(f->dev, &f->err));
    assert_int_equal(mock_cuda_calls("cuCtxSetCurrent"), before);
}

/* Memory. */

static void copies_arrive_at_their_offset(void **state)
{
    fixture *f = *state;
    qn_mem *const mem = alloc(f, 8);
    unsigned char got[8];

    must_do(f, cu->upload(f->dev, mem, 2, "quern", 5, QN_UPLOAD, &f->err));
    read_back(f, mem, got, sizeof got);
    assert_memory_equal(got, "\xA5\xA5quern\xA5", 8);
    must_do(f, cu->download(f->dev, mem, 3, got, 3, QN_DOWNLOAD, &f->err));
    must_do(f, cu->sync(f->dev, &f->err));
    assert_memory_equal(got, "uer", 3);
}

static void rectangle_comes_back_packed(void **state)
{
    fixture *f = *state;
    qn_mem *const mem = alloc_with(f, "abcdefghijklmnopqrst", 20); /* 4 rows of 5 */
    char got[7] = "";

    must_do(f, cu->sync(f->dev, &f->err));
    must_do(f, cu->download_rect(f->dev, mem, 6, 5, got, 2, 3, QN_DOWNLOAD, &f->err));
    must_do(f, cu->sync(f->dev, &f->err));
    assert_string_equal(got, "ghlmqr");
    assert_int_equal(mock_cuda_calls("cuMemcpy2DAsync_v2"), 1);
}

static void rectangle_of_whole_rows_is_one_plain_copy(void **state)
{
    fixture *f = *state;
    qn_mem *const mem = alloc_with(f, "abcdefghij", 10);
    char got[7] = "";

    must_do(f, cu->sync(f->dev, &f->err));
    must_do(f, cu->download_rect(f->dev, mem, 2, 3, got, 3, 2, QN_DOWNLOAD, &f->err));
    must_do(f, cu->sync(f->dev, &f->err));
    assert_string_equal(got, "cdefgh");
    assert_int_equal(mock_cuda_calls("cuMemcpy2DAsync_v2"), 0);
}

static void block_beyond_memory_is_refused_with_the_numbers(void **state)
{
    fixture *f = *state;
    qn_mem *mem = NULL;

    mock_cuda_set_memory(64 << 20);
    assert_int_equal(cu->alloc(f->dev, 96 << 20, 0, &mem, &f->err), QN_ERR_NOMEM);
    assert_string_equal(f->err.text,
                        "cuMemAlloc: out of memory (need 96.0 MiB, 64.0 MiB of 64.0 MiB free)");
    assert_null(mem);
}

static void block_of_no_bytes_is_a_block(void **state)
{
    fixture *f = *state;
    qn_mem *const mem = alloc(f, 0);

    assert_non_null(mem);
    must_do(f, cu->upload(f->dev, mem, 0, NULL, 0, QN_UPLOAD, &f->err));
    must_do(f, cu->download(f->dev, mem, 0, NULL, 0, QN_UPLOAD, &f->err));
}

static void pinned_memory_is_memory(void **state)
{
    fixture *f = *state;
    void *ptr = NULL;

    must_do(f, cu->host_alloc(f->dev, 100, &ptr, &f->err));
    memset(ptr, 1, 100);
    cu->host_free(f->dev, ptr);
    mock_cuda_fail("cuMemHostAlloc", 1, CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(cu->host_alloc(f->dev, 2048, &ptr, &f->err), QN_ERR_NOMEM);
    assert_string_equal(f->err.text, "cuMemHostAlloc: out of pinned memory (need 2.0 KiB)");
}

static void devices_copy_to_each_other(void **state)
{
    fixture *f = *state;
    qn_mem *const src = alloc_with(f, "12345678", 8);
    qn_mem *dst = NULL;
    qn_dev *other = NULL;
    char got[9] = "";

    must_do(f, cu->sync(f->dev, &f->err));
    must_do(f, cu->open(&config, 1, &other, &f->err));
    must_do(f, cu->alloc(other, 8, 0, &dst, &f->err));
    must_do(f, cu->copy_peer(f->dev, src, other, dst, 8, QN_UPLOAD, &f->err));
    must_do(f, cu->download(other, dst, 0, got, 8, QN_UPLOAD, &f->err));
    must_do(f, cu->sync(other, &f->err));
    assert_string_equal(got, "12345678");
    cu->release(other, dst);
    cu->close(other);
}

/* Streams and events. */

static void polled_event_gets_done(void **state)
{
    fixture *f = *state;
    const float one = 1.0f;
    qn_mem *const mem = alloc_with(f, &one, sizeof one);
    qn_event *event = NULL;
    int polls = 0;

    must_do(f, launch_saxpy(f, 1.0f, mem, mem, 1, QN_COMPUTE));
    must_do(f, cu->record(f->dev, QN_COMPUTE, &event, &f->err));
    assert_int_equal(cu->is_done(f->dev, event), 0);
    while (cu->is_done(f->dev, event) == 0 && polls < 100)
        polls++;
    assert_true(polls > 0 && polls < 100);
    assert_int_equal(mock_cuda_calls("run"), 1);
    cu->drop(f->dev, event);
}

/* Only requested work runs here, so a wait that is not passed on shows. */
static void stream_waits_for_the_event_of_another(void **state)
{
    fixture *f = *state;
    const float from[4] = { 1, 2, 3, 4 };
    float got[4] = { 0 };
    qn_mem *const mem = alloc(f, sizeof from);
    qn_event *uploaded = NULL, *downloaded = NULL;

    must_do(f, cu->upload(f->dev, mem, 0, from, sizeof from, QN_UPLOAD, &f->err));
    must_do(f, cu->record(f->dev, QN_UPLOAD, &uploaded, &f->err));
    must_do(f, cu->wait(f->dev, QN_DOWNLOAD, uploaded, &f->err));
    must_do(f, cu->download(f->dev, mem, 0, got, sizeof got, QN_DOWNLOAD, &f->err));
    must_do(f, cu->record(f->dev, QN_DOWNLOAD, &downloaded, &f->err));
    must_do(f, cu->await(f->dev, downloaded, &f->err));
    assert_memory_equal(got, from, sizeof from);
    cu->drop(f->dev, uploaded);
    cu->drop(f->dev, downloaded);
}

static void dropped_events_are_used_again(void **state)
{
    fixture *f = *state;
    qn_event *event = NULL;

    for (int i = 0; i < 20; i++) {
        must_do(f, cu->record(f->dev, QN_COMPUTE + i % 3, &event, &f->err));
        must_do(f, cu->wait(f->dev, QN_DOWNLOAD, event, &f->err));
        cu->drop(f->dev, event);
    }
    assert_int_equal(mock_cuda_calls("cuEventCreate"), 1);
}

static void time_between_events_is_known_when_both_are_done(void **state)
{
    fixture *f = *state;
    const float one = 1.0f;
    qn_mem *const mem = alloc_with(f, &one, sizeof one);
    qn_event *before = NULL, *after = NULL;

    must_do(f, cu->record(f->dev, QN_COMPUTE, &before, &f->err));
    must_do(f, launch_saxpy(f, 1.0f, mem, mem, 1, QN_COMPUTE));
    must_do(f, cu->record(f->dev, QN_COMPUTE, &after, &f->err));
    assert_true(cu->elapsed_us(f->dev, before, after) < 0.0);
    must_do(f, cu->await(f->dev, after, &f->err));
    assert_float_equal(cu->elapsed_us(f->dev, before, after), 2.0, 1e-3);
    cu->drop(f->dev, before);
    cu->drop(f->dev, after);
}

static void streams_are_made_when_first_used(void **state)
{
    fixture *f = *state;
    qn_event *event = NULL;

    assert_int_equal(mock_cuda_get_live().streams, 0);
    for (int i = 0; i < 3; i++) {
        must_do(f, cu->record(f->dev, QN_COMPUTE + 2, &event, &f->err));
        cu->drop(f->dev, event);
    }
    assert_int_equal(mock_cuda_get_live().streams, 1);
}

/* Launches. */

static void kernel_gets_its_values_and_buffers(void **state)
{
    fixture *f = *state;
    float x[100], y[100], got[100];
    qn_mem *mem_x, *mem_y;

    for (int i = 0; i < 100; i++) {
        x[i] = (float)i;
        y[i] = 1.0f;
    }
    mem_x = alloc_with(f, x, sizeof x);
    mem_y = alloc_with(f, y, sizeof y);
    must_do(f, launch_saxpy(f, 2.0f, mem_x, mem_y, 100, QN_COMPUTE));
    read_back(f, mem_y, got, sizeof got);
    for (int i = 0; i < 100; i++)
        assert_float_equal(got[i], 2.0f * (float)i + 1.0f, 0.0f);
}

static void kernel_gets_structs_offsets_and_its_whole_span(void **state)
{
    fixture *f = *state;
    const box_par par = { 4, 3, 7 };
    int32_t got[2 + 24];
    qn_mem *const mem = alloc(f, sizeof got);
    const qn_launch_arg args[] = { { .value = &par }, { .mem = mem, .at = 8 } };
    const qn_launch call = { .module = f->module,
                             .kernel = &box,
                             .kernel_i = BOX,
                             .span = { 1, 4, 0, 2, 0, 2 },
                             .group = { 4, 4, 1 },
                             .grid = { 1, 1, 2 },
                             .args = args,
                             .stream = QN_COMPUTE };

    must_do(f, cu->launch(f->dev, &call, &f->err));
    read_back(f, mem, got, sizeof got);
    assert_int_equal(got[0], (int32_t)0xA5A5A5A5);
    assert_int_equal(got[2], (int32_t)0xA5A5A5A5);
    assert_int_equal(got[2 + 1], 7 + 1);
    assert_int_equal(got[2 + 12 + 4 + 3], 7 + 3 + 100 + 10000);
    assert_int_equal(got[2 + 12 + 8 + 3], (int32_t)0xA5A5A5A5);
}

static void group_beyond_the_limit_of_the_kernel_is_refused(void **state)
{
    fixture *f = *state;
    const float a = 1.0f;
    qn_mem *const mem = alloc(f, 4);
    qn_launch_arg args[3];
    qn_launch call = saxpy_call(f, args, &a, mem, mem, 1, QN_COMPUTE);

    call.group[0] = 512;
    assert_int_equal(cu->launch(f->dev, &call, &f->err), QN_ERR_LIMIT);
    assert_string_equal(f->err.text, "kernel saxpy: group of 512 exceeds its limit 256");
}

static void grid_that_the_driver_refuses_is_a_launch_error(void **state)
{
    fixture *f = *state;
    const float a = 1.0f;
    qn_mem *const mem = alloc(f, 4);
    qn_launch_arg args[3];
    qn_launch call = saxpy_call(f, args, &a, mem, mem, 1, QN_COMPUTE);

    call.grid[1] = 65536;
    assert_int_equal(cu->launch(f->dev, &call, &f->err), QN_ERR_LAUNCH);
    assert_string_equal(f->err.text, "cuLaunchKernel: CUDA_ERROR_INVALID_VALUE (invalid argument)");
}

#define TEST(name)   cmocka_unit_test_setup_teardown(name, setup, teardown)
#define CLOSED(name) cmocka_unit_test_setup_teardown(name, setup_closed, teardown)

/* With an argument: prints the result of count(), for a test that needs another driver. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        CLOSED(missing_driver_is_no_device_and_a_reason),
        CLOSED(library_that_is_no_driver_is_named_with_what_it_lacks),
        CLOSED(refused_start_of_the_driver_is_named),
        CLOSED(driver_without_device_counts_none),
        CLOSED(device_beyond_the_last_does_not_open),
        CLOSED(device_that_refuses_its_context_does_not_open),
        TEST(info_tells_what_the_driver_says),
        TEST(any_thread_may_use_the_device),
        TEST(current_context_is_not_set_again),
        TEST(copies_arrive_at_their_offset),
        TEST(rectangle_comes_back_packed),
        TEST(rectangle_of_whole_rows_is_one_plain_copy),
        TEST(block_beyond_memory_is_refused_with_the_numbers),
        TEST(block_of_no_bytes_is_a_block),
        TEST(pinned_memory_is_memory),
        TEST(devices_copy_to_each_other),
        TEST(polled_event_gets_done),
        TEST(stream_waits_for_the_event_of_another),
        TEST(dropped_events_are_used_again),
        TEST(time_between_events_is_known_when_both_are_done),
        TEST(streams_are_made_when_first_used),
        TEST(kernel_gets_its_values_and_buffers),
        TEST(kernel_gets_structs_offsets_and_its_whole_span),
        TEST(group_beyond_the_limit_of_the_kernel_is_refused),
        TEST(grid_that_the_driver_refuses_is_a_launch_error),
    };
    char reason[256] = "";

    (void)argv;
    if (argc > 1) {
        const int n = cu->count(&config, reason, sizeof reason);

        printf("%d %s", n, reason);
        return 0;
    }
    setenv("QUERN_CUDA_LIB", "libcuda_mock.so", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

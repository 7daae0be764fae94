/* test_cuda_fft.c - transforms of the CUDA backend on the mock driver, with the real NVRTC.
 *
 * Kernels are compiled for sm_90, loaded and launched, but nothing computes: the tests check that
 * every plan compiles, how it is launched, and the state after failures.
 */
/* test: long, cost 28, cuda-mock, no-tsan */
#include "mock/cuda_fixture.h"

#include "hal/opencl/opencl.h"

enum { MAX_LAUNCHES = 64 };

typedef struct launches {
    int n;
    uintptr_t from[MAX_LAUNCHES], to[MAX_LAUNCHES]; /* addresses that each reads and writes */
} launches;

static launches seen;

static void note_launch(void *user, const char *name, void *const *params, int n_params,
                        const unsigned *grid, const unsigned *block)
{
    (void)user;
    (void)grid;
    (void)block;
    assert_true(!strncmp(name, "VkFFT_main", 10));
    assert_true(n_params >= 2 && seen.n < MAX_LAUNCHES);
    seen.from[seen.n] = *(const uintptr_t *)params[0];
    seen.to[seen.n++] = *(const uintptr_t *)params[1];
}

static int setup_fft(void **state)
{
    setup(state);
    mock_cuda_set_launcher(note_launch, NULL);
    seen.n = 0;
    return 0;
}

/* The fixture; skips the test if plans cannot be made. */
static fixture *need_plans(void **state)
{
    const char *reason = "this build has no VkFFT";

    if (!qn_cl_fft_version() || !qn_nvrtc_load(&reason)) {
        print_message("no plans: %s\n", reason);
        skip();
    }
    return *state;
}

static const qn_fft_shape small = { 64, 64, 2, 0, 0 };

static qn_fft *make(fixture *f, const qn_fft_shape *shape, qn_fft_build *build)
{
    qn_fft *plan = NULL;

    must_do(f, cu->fft_make(f->dev, shape, build, &plan, &f->err));
    return plan;
}

/* Plans. */

static void plans_of_all_kinds_compile_for_sm_90(void **state)
{
    static const struct {
        int n, has_scratch;
    } table[] = {
        { 16, 0 }, { 100, 0 }, { 126, 0 }, { 130, 0 }, { 94, 0 }, { 1024, 0 }, { 4096, 0 }
    };
    fixture *f = need_plans(state);

    for (size_t i = 0; i < 2 * sizeof table / sizeof *table; i++) {
        const qn_fft_shape s = { table[i / 2].n, table[i / 2].n, 2, i % 2, 0 };
        qn_fft_build build = { .is_kept = 1 };
        qn_fft *plan = make(f, &s, &build);
        const qn_launch_arg data = { .mem = alloc(f, 64) };

        assert_true(build.n_compiled >= 4);
        assert_int_equal(build.made.kind, QN_BIN_FFT);
        assert_int_equal(build.scratch_bytes > 0, table[i / 2].has_scratch);
        must_do(f, cu->fft_run(f->dev, plan, QN_FFT_FORWARD, &data, QN_COMPUTE, &f->err));
        must_do(f, cu->fft_run(f->dev, plan, QN_FFT_INVERSE, &data, QN_COMPUTE, &f->err));
        must_do(f, cu->sync(f->dev, &f->err));
        seen.n = 0;
        free(build.made.data);
        cu->fft_free(f->dev, plan);
    }
}

static void large_fields_are_transformed_through_memory_of_the_plan(void **state)
{
    const qn_fft_shape s = { 16384, 64, 1, 1, 0 };
    fixture *f = need_plans(state);
    qn_fft_build build = { 0 };
    qn_fft *plan = make(f, &s, &build);

    assert_true(build.scratch_bytes >= qn_fft_bytes(&s));
    assert_null(build.made.data);
    cu->fft_free(f->dev, plan);
}

static void plans_that_keep_a_part_of_the_modes_compile_for_sm_90(void **state)
{
    fixture *f = need_plans(state);

    for (int is_f64 = 0; is_f64 < 2; is_f64++) {
        qn_fft_build build = { 0 };
        qn_fft *plan = make(f, &(qn_fft_shape){ 128, 96, 1, is_f64, 32 }, &build);

        assert_true(build.n_compiled >= 4);
        cu->fft_free(f->dev, plan);
    }
}

static void kernels_that_were_kept_are_not_compiled_again(void **state)
{
    fixture *f = need_plans(state);
    qn_fft_build first = { .is_kept = 1 }, second = { .is_kept = 1 };
    qn_fft *plan = make(f, &small, &first);

    cu->fft_free(f->dev, plan);
    second.stored = first.made;
    plan = make(f, &small, &second);
    assert_true(first.n_compiled >= 4);
    assert_int_equal(second.n_compiled, 0);
    assert_null(second.made.data);
    cu->fft_free(f->dev, plan);
    free(first.made.data);
}

/* Runs. */

static void a_run_only_launches_on_the_data_it_was_given(void **state)
{
    fixture *f = need_plans(state);
    qn_fft_build build = { 0 };
    qn_fft *plan = make(f, &small, &build);
    const qn_launch_arg data = { .mem = alloc(f, qn_fft_bytes(&small) + 64), .at = 48 };
    const char *const costly[] = { "cuMemAlloc_v2", "cuMemFree_v2", "cuCtxSynchronize",
                                   "cuMemcpyHtoDAsync_v2", "cuModuleLoadDataEx" };
    int before[5];

    for (int i = 0; i < 5; i++)
        before[i] = mock_cuda_calls(costly[i]);
    must_do(f, cu->fft_run(f->dev, plan, QN_FFT_FORWARD, &data, 3, &f->err));
    must_do(f, cu->fft_run(f->dev, plan, QN_FFT_INVERSE, &data, 5, &f->err));
    for (int i = 0; i < 5; i++)
        assert_int_equal(mock_cuda_calls(costly[i]), before[i]);
    assert_int_equal(seen.n, 0); /* queued, not waited for */
    must_do(f, cu->sync(f->dev, &f->err));
    assert_int_equal(seen.n, 4);
    for (int i = 0; i < seen.n; i++) {
        assert_true(seen.from[i] == seen.from[0] && seen.to[i] == seen.from[0]);
        assert_int_equal(seen.from[i] % 16, 0);
    }
    cu->fft_free(f->dev, plan);
}

static void a_captured_transform_runs_when_replayed(void **state)
{
    fixture *f = need_plans(state);
    qn_fft_build build = { 0 };
    qn_fft *plan = make(f, &small, &build);
    const qn_launch_arg data = { .mem = alloc(f, qn_fft_bytes(&small)) };
    qn_replay *replay = NULL;

    must_do(f, cu->capture_begin(f->dev, QN_COMPUTE, &f->err));
    must_do(f, cu->fft_run(f->dev, plan, QN_FFT_FORWARD, &data, QN_COMPUTE, &f->err));
    must_do(f, cu->capture_end(f->dev, QN_COMPUTE, &replay, &f->err));
    must_do(f, cu->sync(f->dev, &f->err));
    assert_int_equal(seen.n, 0);
    must_do(f, cu->replay(f->dev, replay, QN_COMPUTE, &f->err));
    must_do(f, cu->replay(f->dev, replay, QN_COMPUTE, &f->err));
    must_do(f, cu->sync(f->dev, &f->err));
    assert_int_equal(seen.n, 4);
    cu->replay_free(f->dev, replay);
    cu->fft_free(f->dev, plan);
}

static void a_failed_launch_spoils_the_capture(void **state)
{
    fixture *f = need_plans(state);
    qn_fft_build build = { 0 };
    qn_fft *plan = make(f, &small, &build);
    const qn_launch_arg data = { .mem = alloc(f, qn_fft_bytes(&small)) };
    qn_replay *replay = NULL;

    must_do(f, cu->capture_begin(f->dev, QN_COMPUTE, &f->err));
    mock_cuda_fail("cuLaunchKernel", 2, CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cu->fft_run(f->dev, plan, QN_FFT_FORWARD, &data, QN_COMPUTE, &f->err),
                     QN_ERR_LAUNCH);
    assert_string_equal(f->err.text, "cuLaunchKernel: CUDA_ERROR_INVALID_VALUE (invalid argument)");
    assert_int_equal(cu->capture_end(f->dev, QN_COMPUTE, &replay, &f->err), QN_ERR_LAUNCH);
    assert_null(replay);
    must_do(f, cu->fft_run(f->dev, plan, QN_FFT_FORWARD, &data, QN_COMPUTE, &f->err));
    cu->fft_free(f->dev, plan);
}

static void plans_that_cannot_be_made_say_why_and_leave_nothing(void **state)
{
    static const struct {
        const char *entry;
        int n, result;
        qn_status status;
        const char *why;
    } table[] = {
        { "cuMemAlloc_v2", 1, CUDA_ERROR_OUT_OF_MEMORY, QN_ERR_NOMEM,
          "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (out of memory)" },
        { "cuModuleLoadDataEx", 3, CUDA_ERROR_INVALID_PTX, QN_ERR_COMPILE,
          "cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX (a PTX JIT compilation failed)" },
        { "cuModuleGetFunction", 1, CUDA_ERROR_NOT_FOUND, QN_ERR_COMPILE,
          "cuModuleGetFunction: CUDA_ERROR_NOT_FOUND (named symbol not found)" },
        { "cuMemcpyHtoDAsync_v2", 1, CUDA_ERROR_INVALID_VALUE, QN_ERR_LAUNCH,
          "cuMemcpyHtoDAsync: CUDA_ERROR_INVALID_VALUE (invalid argument)" },
    };
    fixture *f = need_plans(state);

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        qn_fft_build build = { .is_kept = 1 };
        const mock_cuda_live before = mock_cuda_get_live();
        qn_fft *plan = NULL;
        mock_cuda_live after;

        mock_cuda_fail(table[i].entry, table[i].n, table[i].result);
        assert_int_equal(cu->fft_make(f->dev, &small, &build, &plan, &f->err), table[i].status);
        assert_string_equal(f->err.text, table[i].why);
        assert_null(plan);
        assert_null(build.made.data);
        after = mock_cuda_get_live();
        assert_int_equal(after.modules, before.modules);
        assert_int_equal(after.blocks, before.blocks);
    }
}

#define FFT_TEST(name) cmocka_unit_test_setup_teardown(name, setup_fft, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FFT_TEST(plans_of_all_kinds_compile_for_sm_90),
        FFT_TEST(large_fields_are_transformed_through_memory_of_the_plan),
        FFT_TEST(plans_that_keep_a_part_of_the_modes_compile_for_sm_90),
        FFT_TEST(kernels_that_were_kept_are_not_compiled_again),
        FFT_TEST(a_run_only_launches_on_the_data_it_was_given),
        FFT_TEST(a_captured_transform_runs_when_replayed),
        FFT_TEST(a_failed_launch_spoils_the_capture),
        FFT_TEST(plans_that_cannot_be_made_say_why_and_leave_nothing),
    };

    setenv("QUERN_CUDA_LIB", "libcuda_mock.so", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

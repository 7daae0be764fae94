/* test_cuda_fallback.c - a CUDA device that fails under the engine: the mock driver refuses, the
 * CPU computes. */
/* test: cuda-mock */
#include "engine_counters.h"
#include "fft_fixture.h"

#include "hal/cpu/cpu_fft.h"
#include "hal/cuda/cuda_api.h"
#include "hal/opencl/opencl.h"
#include "mock/mock_cuda.h"

static const qn_fft_shape small = { 64, 64, 2, 0, 0 };

static int setup(void **state)
{
    (void)state;
    mock_cuda_reset();
    mock_cuda_set_devices(1);
    return 0;
}

static void need_plans(void)
{
    const char *reason = "this build lacks FFTW or VkFFT";

    if (!qn_cpu_fft_version() || !qn_cl_fft_version() || !qn_nvrtc_load(&reason)) {
        print_message("no plans: %s\n", reason);
        skip();
    }
}

/* One transform while `entry` fails for the n-th time. */
static void check(const char *entry, int n, int result, const char *reason, const char *line)
{
    double *fields = random_fields(&small, 4), *got = NULL;
    char text[1000];
    mock_cuda_live live;
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cuda"));

    mock_cuda_fail(entry, n, result);
    CAPTURE_STDERR(text, sizeof text, got = transform_on(ctx, &small, QN_FFT_FORWARD, fields));
    assert_string_equal(text, line);
    assert_true(fallbacks(ctx, "fft", reason) == 1);
    transform_by_definition(&small, fields);
    assert_true(distance(&small, fields, got, 0) < 5e-7);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
    live = mock_cuda_get_live();
    assert_int_equal(live.modules, 0);
    assert_int_equal(live.blocks, 0);
    free(fields);
    free(got);
}

static void a_plan_that_cannot_be_made_is_the_cpus(void **state)
{
    (void)state;
    need_plans();
    check(
        "cuModuleLoadDataEx", 1, CUDA_ERROR_INVALID_PTX, "compile",
        "[GPU] fft failed: fft 2x64x64 f32: cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX (a PTX JIT "
        "compilation failed). CPU fallback.\n");
}

/* The first pass is queued when the second is refused: the data is spoilt, and the CPU starts again
 * from the run's input. */
static void a_transform_that_fails_half_way_is_repeated_on_the_cpu(void **state)
{
    (void)state;
    need_plans();
    check("cuLaunchKernel", 2, CUDA_ERROR_INVALID_VALUE, "launch",
          "[GPU] fft failed: cuLaunchKernel: CUDA_ERROR_INVALID_VALUE (invalid argument). CPU "
          "fallback.\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_plan_that_cannot_be_made_is_the_cpus, setup),
        cmocka_unit_test_setup(a_transform_that_fails_half_way_is_repeated_on_the_cpu, setup),
    };

    setenv("QUERN_CUDA_LIB", "libcuda_mock.so", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

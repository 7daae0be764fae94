/* test_cuda_build.c - from kernel text to modules of the CUDA backend, with the real NVRTC.
 *
 * It runs twice: normally, with tests that need NVRTC skipped if there is none, and with an empty
 * QUERN_NVRTC_LIB, with the tests for machines without a compiler.
 */
/* test: cuda-mock, no-tsan */
#include "mock/cuda_nvrtc.h"

#include "hal/geometry.h"

#include <zlib.h>

static void need_no_nvrtc(void)
{
    const char *reason;

    if (qn_nvrtc_load(&reason))
        skip();
}

static const char hand_text[] =
    "struct box_par { int cols, rows, add; };\n"
    "extern \"C\" __global__ void qnk_saxpy(int x0, int x1, int y0, int y1, int z0, int z1,\n"
    "    const float a, const float *x, float *y)\n"
    "{\n"
    "    const int gx = x0 + (int)(blockIdx.x * blockDim.x + threadIdx.x);\n"
    "    if (gx < x1) y[gx] = a * x[gx] + y[gx];\n"
    "}\n"
    "extern \"C\" __global__ void qnk_box(int x0, int x1, int y0, int y1, int z0, int z1,\n"
    "    const box_par p, int *out) { out[0] = p.add; }\n";

/* With NVRTC. */

/* The launch uses the parameters that the cubin declares. */
static void built_in_kernel_runs_from_its_cubin(void **state)
{
    enum { N = 1000 };
    fixture *f = *state;
    const qn_kernel_info *const vadd = qn_kernel_builtin("vadd");
    const qn_range range = qn_range_1d(N);
    float x[N], y[N], got[N];
    qn_str unit = { 0 };
    qn_module *built = NULL;
    qn_device_info info;
    qn_launch_arg args[3] = { { 0 } };
    qn_launch call = { .kernel = vadd, .args = args, .stream = QN_COMPUTE };

    need_nvrtc();
    assert_non_null(vadd);
    f->running = vadd->module;
    expand(vadd->module, 32, &unit);
    must_do(f, build_text(f, vadd->module, qn_str_get(&unit), NULL, 0, &built));
    qn_str_free(&unit);
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = 0.5f;
    }
    args[0].mem = alloc_with(f, x, sizeof x);
    args[1].mem = alloc_with(f, y, sizeof y);
    args[2].mem = alloc(f, sizeof got);
    call.module = built;
    while (vadd->module->kernels[call.kernel_i] != vadd)
        call.kernel_i++;
    cu->info(f->dev, &info);
    must_do(f, qn_launch_range(cu, f->dev, &info, &call, &range, 32, NULL, &f->err));
    read_back(f, args[2].mem, got, sizeof got);
    for (int i = 0; i < N; i++)
        assert_float_equal(got[i], (float)i + 0.5f, 0.0f);
    cu->unload(f->dev, built);
}

static void wrong_text_is_refused_with_its_first_error(void **state)
{
    static const char text[] = "#line 41 \"mine.c\"\n"
                               "__global__ void k(int *p) { *p = nothing; }\n";
    fixture *f = *state;
    qn_module *built = NULL;
    char log[2000];

    need_nvrtc();
    assert_int_equal(build_text(f, &hand, text, log, sizeof log, &built), QN_ERR_COMPILE);
    assert_string_equal(f->err.text,
                        "module hand: mine.c(41): error: identifier \"nothing\" is undefined");
    assert_non_null(strstr(log, "1 error detected"));
    assert_null(built);
}

static void log_never_exceeds_its_room(void **state)
{
    fixture *f = *state;
    qn_module *built = NULL;
    char log[16];

    need_nvrtc();
    memset(log, 'x', sizeof log);
    assert_int_equal(build_text(f, &hand, "int k() { return nothing; }", log, 8, &built),
                     QN_ERR_COMPILE);
    assert_int_equal(strlen(log), 7);
    assert_int_equal(log[8], 'x');
}

static void architecture_younger_than_nvrtc_gets_ptx(void **state)
{
    fixture *f = *state;
    qn_module *built = NULL;
    char compiler[256];

    need_nvrtc();
    close_device(f);
    mock_cuda_set_arch(95);
    open_device(f);
    must_do(f, build_text(f, &hand, hand_text, NULL, 0, &built));
    assert_int_equal(kind_of(f, built), QN_BIN_PTX);
    cu->unload(f->dev, built);
    cu->compiler(f->dev, compiler, sizeof compiler);
    assert_non_null(strstr(compiler, "--gpu-architecture=compute_9"));
}

static void architecture_that_nvrtc_has_left_behind_is_unsupported(void **state)
{
    fixture *f = *state;
    qn_module *built = NULL;

    need_nvrtc();
    close_device(f);
    mock_cuda_set_arch(20);
    open_device(f);
    assert_int_equal(build_text(f, &hand, hand_text, NULL, 0, &built), QN_ERR_UNSUPPORTED);
    assert_non_null(strstr(f->err.text, "does not know sm_20) and no embedded PTX"));
}

static void results_are_not_contracted(void **state)
{
    fixture *f = *state;
    qn_module *built = NULL;
    qn_blob blob = { 0 };

    need_nvrtc();
    close_device(f);
    mock_cuda_set_arch(95); /* for PTX, which can be read */
    open_device(f);
    must_do(f, build_text(f, &hand, hand_text, NULL, 0, &built));
    must_do(f, cu->binary(f->dev, built, &blob, &f->err));
    assert_non_null(strstr(blob.data, "mul.rn.f32"));
    assert_null(strstr(blob.data, "fma."));
    free(blob.data);
    cu->unload(f->dev, built);
}

static void results_are_contracted_where_a_module_allows_it(void **state)
{
    fixture *f = *state;
    qn_source src = { .module = &hand, .text = hand_text, .contracts = 1 };
    qn_module *built = NULL;
    qn_blob blob = { 0 };

    need_nvrtc();
    close_device(f);
    mock_cuda_set_arch(95);
    open_device(f);
    must_do(f, cu->build(f->dev, &src, &built, &f->err));
    must_do(f, cu->binary(f->dev, built, &blob, &f->err));
    assert_non_null(strstr(blob.data, "fma.rn.f32"));
    free(blob.data);
    cu->unload(f->dev, built);
}

static void compiler_names_version_driver_and_options(void **state)
{
    fixture *f = *state;
    const char *reason;
    const qn_nvrtc_api *nvrtc;
    char expected[256], compiler[256];

    need_nvrtc();
    nvrtc = qn_nvrtc_load(&reason);
    snprintf(expected, sizeof expected,
             "nvrtc %d.%d driver 13.0 --gpu-architecture=sm_90 --fmad=false --std=c++17 "
             "-default-device",
             nvrtc->major, nvrtc->minor);
    cu->compiler(f->dev, compiler, sizeof compiler);
    assert_string_equal(compiler, expected);
}

static void image_from_nvrtc_loads_again_as_binary(void **state)
{
    fixture *f = *state;
    qn_module *built = NULL, *again = NULL;
    qn_source src = { .module = &hand };

    need_nvrtc();
    must_do(f, build_text(f, &hand, hand_text, NULL, 0, &built));
    must_do(f, cu->binary(f->dev, built, &src.binary, &f->err));
    must_do(f, cu->build(f->dev, &src, &again, &f->err));
    free(src.binary.data);
    cu->unload(f->dev, built);
    cu->unload(f->dev, again);
}

/* Without NVRTC. */

/* The PTX of the hand-written module, compressed as in a build; the caller frees .data. */
static qn_packed_text packed_ptx(void)
{
    uLongf bytes = compressBound(strlen(hand_ptx));
    unsigned char *const data = malloc(bytes);

    assert_non_null(data);
    assert_int_equal(compress(data, &bytes, (const Bytef *)hand_ptx, strlen(hand_ptx)), Z_OK);
    return (qn_packed_text){ data, bytes };
}

static void embedded_ptx_serves_without_a_compiler(void **state)
{
    fixture *f = *state;
    qn_kernel_module with_ptx = hand;
    qn_module *built = NULL;
    char compiler[128];

    need_no_nvrtc();
    with_ptx.ptx = packed_ptx();
    must_do(f, build_text(f, &with_ptx, hand_text, NULL, 0, &built));
    assert_int_equal(kind_of(f, built), QN_BIN_PTX);
    cu->unload(f->dev, built);
    free((void *)(uintptr_t)with_ptx.ptx.data);
    cu->compiler(f->dev, compiler, sizeof compiler);
    assert_string_equal(compiler, "ptx driver 13.0");
}

static void neither_compiler_nor_ptx_is_unsupported(void **state)
{
    fixture *f = *state;
    qn_module *built = NULL;

    need_no_nvrtc();
    assert_int_equal(build_text(f, &hand, hand_text, NULL, 0, &built), QN_ERR_UNSUPPORTED);
    assert_memory_equal(f->err.text, "module hand: no compiler (not found: ",
                        strlen("module hand: no compiler (not found: "));
    assert_null(built);
}

static void embedded_ptx_of_other_team_lanes_is_refused(void **state)
{
    static const qn_kernel_info team = {
        .name = "saxpy", .form = QN_FORM_TEAM, .n_args = 3, .args = saxpy_args, .cpu = run_saxpy
    };
    static const qn_kernel_info *const kernels[] = { &team };
    qn_kernel_module teams = { .name = "teams", .kernels = kernels, .n_kernels = 1 };
    fixture *f = *state;
    qn_module *built = NULL;
    qn_source src = { .module = &teams, .text = "", .team_lanes = 16 };

    need_no_nvrtc();
    teams.ptx = packed_ptx();
    assert_int_equal(cu->build(f->dev, &src, &built, &f->err), QN_ERR_UNSUPPORTED);
    assert_non_null(strstr(f->err.text, "embedded PTX has teams of 32 lanes, not 16"));
    src.team_lanes = 32;
    must_do(f, cu->build(f->dev, &src, &built, &f->err));
    cu->unload(f->dev, built);
    free((void *)(uintptr_t)teams.ptx.data);
}

/* With or without. */

static void binary_is_what_was_loaded(void **state)
{
    fixture *f = *state;
    qn_blob blob = { 0 };

    must_do(f, cu->binary(f->dev, f->module, &blob, &f->err));
    assert_int_equal(blob.kind, QN_BIN_PTX);
    assert_int_equal(blob.bytes, strlen(hand_ptx));
    assert_memory_equal(blob.data, hand_ptx, blob.bytes);
    free(blob.data);
}

static void refused_ptx_is_a_compile_error_with_the_log_of_the_driver(void **state)
{
    fixture *f = *state;
    char log[200] = "";
    qn_module *built = NULL;
    qn_source src = {
        .module = &hand, .binary = { "no ptx", 6, QN_BIN_PTX }, .log = log, .log_size = sizeof log
    };

    assert_int_equal(cu->build(f->dev, &src, &built, &f->err), QN_ERR_COMPILE);
    assert_string_equal(f->err.text,
                        "module hand: ptxas fatal   : error: missing .version directive: "
                        "cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX (a PTX JIT compilation "
                        "failed)");
    assert_string_equal(log, "ptxas fatal   : error: missing .version directive\n");
    assert_null(built);
}

static void kernel_that_is_not_in_its_image_is_named(void **state)
{
    fixture *f = *state;
    char ptx[sizeof hand_ptx];
    qn_module *built = NULL;

    snprintf(ptx, sizeof ptx, "%.*s", (int)(strstr(hand_ptx, ".visible .entry qnk_box") - hand_ptx),
             hand_ptx);
    assert_int_equal(build_ptx(f, ptx, &built), QN_ERR_COMPILE);
    assert_string_equal(f->err.text, "module hand: qnk_box: cuModuleGetFunction: "
                                     "CUDA_ERROR_NOT_FOUND (named symbol not found)");
    assert_null(built);
}

static void binary_of_another_backend_is_refused(void **state)
{
    fixture *f = *state;
    qn_module *built = NULL;
    qn_source src = { .module = &hand, .binary = { "x", 1, QN_BIN_OPENCL } };

    assert_int_equal(cu->build(f->dev, &src, &built, &f->err), QN_ERR_UNSUPPORTED);
    assert_null(built);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(built_in_kernel_runs_from_its_cubin),
        TEST(wrong_text_is_refused_with_its_first_error),
        TEST(log_never_exceeds_its_room),
        TEST(architecture_younger_than_nvrtc_gets_ptx),
        TEST(architecture_that_nvrtc_has_left_behind_is_unsupported),
        TEST(results_are_not_contracted),
        TEST(results_are_contracted_where_a_module_allows_it),
        TEST(compiler_names_version_driver_and_options),
        TEST(image_from_nvrtc_loads_again_as_binary),
        TEST(embedded_ptx_serves_without_a_compiler),
        TEST(neither_compiler_nor_ptx_is_unsupported),
        TEST(embedded_ptx_of_other_team_lanes_is_refused),
        TEST(binary_is_what_was_loaded),
        TEST(refused_ptx_is_a_compile_error_with_the_log_of_the_driver),
        TEST(kernel_that_is_not_in_its_image_is_named),
        TEST(binary_of_another_backend_is_refused),
    };

    setenv("QUERN_CUDA_LIB", "libcuda_mock.so", 1);
    unsetenv("QUERN_DUMP");
    return cmocka_run_group_tests(tests, NULL, NULL);
}

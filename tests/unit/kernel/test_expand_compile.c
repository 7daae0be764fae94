/* test_expand_compile.c - expanded text is accepted, without a warning, by every compiler found. */
/* test: no-tsan */
#include "test.h"

#include "hal/opencl/cl_api.h"
#include "hal/cuda/cuda_api.h"
#include "kernel/expand.h"

/* Text, with the defines of each way to build it. */
static const struct {
    const char *file, *defines;
} cases[] = {
    { "group.c", NULL },     { "group.c", "LANES=64" }, { "team.c", NULL },
    { "team.c", "LANES=8" }, { "words.c", NULL },       { "words.c", "REAL=double" },
};
enum { N_CASES = sizeof cases / sizeof *cases };

static char *make_unit(int i, qn_expand_for target)
{
    const char *const root = getenv("QUERN_SOURCE_DIR");
    char path[4096];
    char text[1 << 15] = "";
    qn_str unit = { 0 };
    qn_err err = { QN_OK, "" };
    FILE *file;

    snprintf(path, sizeof path, "%s/tests/data/dialect/%s", root ? root : ".", cases[i].file);
    file = fopen(path, "rb");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    if (qn_expand_unit(cases[i].file, text, cases[i].defines, target, &unit, &err) != QN_OK)
        fail_msg("%s", err.text);
    return unit.data;
}

/* C. */

static void compile_with(const char *compiler)
{
    char command[512];

    snprintf(command, sizeof command, "command -v %s >/dev/null", compiler);
    if (system(command) != 0)
        skip();
    snprintf(command, sizeof command,
             "%s -x c -std=gnu11 -O1 -fno-math-errno -fopenmp-simd -ffp-contract=off -Wall -Wextra "
             "-Werror -c -o /dev/null -",
             compiler);
    for (int i = 0; i < N_CASES; i++) {
        char *unit = make_unit(i, QN_EXPAND_C);
        FILE *pipe = popen(command, "w");

        assert_non_null(pipe);
        assert_int_equal(fwrite(unit, 1, strlen(unit), pipe), strlen(unit));
        assert_int_equal(pclose(pipe), 0);
        free(unit);
    }
}

static void gcc_takes_the_c_form(void **state)
{
    (void)state;
    compile_with("gcc");
}

static void clang_takes_the_c_form(void **state)
{
    (void)state;
    compile_with("clang");
}

/* CUDA. */

/* Compiles for sm_90; returns the PTX, or the log after a failed assertion. */
static char *compile_cuda(const qn_nvrtc_api *api, const char *unit, int *code)
{
    static const char *const options[] = { "--gpu-architecture=compute_90", "--fmad=false",
                                           "--std=c++17" };
    nvrtcProgram program = NULL;
    size_t size = 0;
    char *text;

    assert_int_equal(api->nvrtcCreateProgram(&program, unit, "unit", 0, NULL, NULL), 0);
    *code = api->nvrtcCompileProgram(program, 3, options);
    api->nvrtcGetProgramLogSize(program, &size);
    text = calloc(1, size + 1);
    assert_non_null(text);
    api->nvrtcGetProgramLog(program, text);
    if (*code == NVRTC_SUCCESS && strlen(text) == 0) {
        free(text);
        api->nvrtcGetPTXSize(program, &size);
        text = calloc(1, size + 1);
        assert_non_null(text);
        api->nvrtcGetPTX(program, text);
    }
    api->nvrtcDestroyProgram(&program);
    return text;
}

static void nvrtc_takes_the_cuda_form(void **state)
{
    const char *reason = "";
    const qn_nvrtc_api *const api = qn_nvrtc_load(&reason);

    (void)state;
    if (!api)
        skip();
    for (int i = 0; i < N_CASES; i++) {
        char *unit = make_unit(i, QN_EXPAND_CUDA);
        int code = 0;
        char *ptx = compile_cuda(api, unit, &code);

        if (code != NVRTC_SUCCESS || !strstr(ptx, ".visible .entry qnk_"))
            fail_msg("%s: %s", cases[i].file, ptx);
        free(ptx);
        free(unit);
    }
}

/* A double in a float kernel is expensive on a GPU: a maths name must select its float form. */
static void float_kernels_stay_float_on_cuda(void **state)
{
    static const char text[] =
        "MAP(words, IN(float, x), OUT(float, y))\n{\n"
        "    const float v = x[gx];\n"
        "    y[gx] = sqrt(v) + fabs(v) + floor(v) + ceil(v) + trunc(v) + round(v) + rint(v)\n"
        "          + fma(v, v, v) + fmin(v, 2.0f) + fmax(v, 3.0f) + fmod(v, 0.7f) + exp(v) + "
        "log(v)\n"
        "          + log2(v) + log10(v) + pow(v, 0.3f) + atan2(v, 0.1f) + tanh(v) + hypot(v, v)\n"
        "          + cbrt(v) + copysign(v, 1.0f) + asin(v) + acos(v) + atan(v) + sinh(v) + "
        "cosh(v)\n"
        "          + log1p(v) + expm1(v) + exp2(v) + erf(v) + erfc(v) + isnan(v) + isinf(v);\n"
        "}\n";
    const char *reason = "";
    const qn_nvrtc_api *const api = qn_nvrtc_load(&reason);
    qn_str unit = { 0 };
    int code = 0;
    char *ptx;

    (void)state;
    if (!api)
        skip();
    assert_int_equal(qn_expand_unit("words", text, NULL, QN_EXPAND_CUDA, &unit, NULL), QN_OK);
    ptx = compile_cuda(api, unit.data, &code);
    assert_non_null(strstr(ptx, "sqrt.rn.f32"));
    assert_null(strstr(ptx, ".reg .f64"));
    free(ptx);
    qn_str_free(&unit);
}

static void errors_of_the_compiler_name_the_line_as_written(void **state)
{
    static const char text[] =
        "#include \"dialect.h\"\n\nMAP(a,\n    IN(float, x),\n"
        "    OUT(float, y))\n{\n    y[gx] = x[gx];\n    y[gx] = nothing;\n}\n";
    const char *reason = "";
    const qn_nvrtc_api *const api = qn_nvrtc_load(&reason);
    qn_str unit = { 0 };
    int code = 0;
    char *log;

    (void)state;
    if (!api)
        skip();
    assert_int_equal(qn_expand_unit("mine.c", text, NULL, QN_EXPAND_CUDA, &unit, NULL), QN_OK);
    log = compile_cuda(api, unit.data, &code);
    assert_int_not_equal(code, NVRTC_SUCCESS);
    assert_non_null(strstr(log, "mine.c(8): error: identifier \"nothing\" is undefined"));
    free(log);
    qn_str_free(&unit);
}

/* OpenCL. */

static void build_opencl(const qn_cl_api *cl, cl_context context, cl_device_id device, int i)
{
    char *unit = make_unit(i, QN_EXPAND_OPENCL);
    const char *texts[] = { unit };
    char log[4096] = "";
    cl_int code = 0;
    cl_program program = cl->CreateProgramWithSource(context, 1, texts, NULL, &code);

    assert_int_equal(code, CL_SUCCESS);
    code = cl->BuildProgram(program, 1, &device, "-cl-std=CL1.2 -Werror", NULL, NULL);
    cl->GetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
    if (code != CL_SUCCESS)
        fail_msg("%s: %s", cases[i].file, log);
    cl->ReleaseProgram(program);
    free(unit);
}

static void opencl_takes_the_opencl_form(void **state)
{
    const char *reason = "";
    const qn_cl_api *const cl = qn_cl_load(&reason);
    cl_platform_id platform = NULL;
    cl_device_id device = NULL;
    cl_context context;
    cl_uint n = 0;
    cl_int code = 0;

    (void)state;
    if (!cl || cl->GetPlatformIDs(1, &platform, &n) != CL_SUCCESS || n == 0 ||
        cl->GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, &n) != CL_SUCCESS || n == 0)
        skip();
    context = cl->CreateContext(NULL, 1, &device, NULL, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    for (int i = 0; i < N_CASES; i++)
        build_opencl(cl, context, device, i);
    cl->ReleaseContext(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gcc_takes_the_c_form),
        cmocka_unit_test(clang_takes_the_c_form),
        cmocka_unit_test(nvrtc_takes_the_cuda_form),
        cmocka_unit_test(float_kernels_stay_float_on_cuda),
        cmocka_unit_test(errors_of_the_compiler_name_the_line_as_written),
        cmocka_unit_test(opencl_takes_the_opencl_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

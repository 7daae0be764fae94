/* test_cuda_compile.c - every kernel, compiled for the GPU of a data centre, takes its arguments.
 */
/* test: long, cost 58, cuda-mock, no-tsan */
#include "engine/engine.h"
#include "mock/cuda_nvrtc.h"

/* Host and device must agree on every argument: the span, values by size, addresses. */
static void check_params(const qn_kernel_info *kernel)
{
    size_t sizes[6 + QN_MAX_ARGS] = { 0 };
    char name[128];

    snprintf(name, sizeof name, "qnk_%s", kernel->name);
    assert_int_equal(mock_cuda_params(name, sizes, 6 + QN_MAX_ARGS), 6 + kernel->n_args);
    for (int i = 0; i < 6; i++)
        assert_int_equal(sizes[i], 4);
    for (int i = 0; i < kernel->n_args; i++)
        assert_int_equal(sizes[6 + i],
                         kernel->args[i].mode == QN_ARG_VAL ? kernel->args[i].size : 8);
}

static void every_built_in_module_compiles_for_sm_90(void **state)
{
    fixture *f = *state;
    int n_kernels = 0;

    need_nvrtc();
    for (int m = 0; qn_builtin_modules[m]; m++) {
        const qn_kernel_module *const module = qn_builtin_modules[m];
        qn_str unit = { 0 };
        qn_module *built = NULL;

        if (!strcmp(module->name, "arc_wide")) /* only for the CPU, and long */
            continue;
        expand(module, 32, &unit);
        if (build_text(f, module, qn_str_get(&unit), NULL, 0, &built) != QN_OK)
            fail_msg("%s", f->err.text);
        assert_int_equal(kind_of(f, built), QN_BIN_CUBIN);
        for (int i = 0; i < module->n_kernels; i++)
            check_params(module->kernels[i]);
        n_kernels += module->n_kernels;
        cu->unload(f->dev, built);
        qn_str_free(&unit);
    }
    assert_true(n_kernels > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_built_in_module_compiles_for_sm_90, setup, teardown),
    };

    setenv("QUERN_CUDA_LIB", "libcuda_mock.so", 1);
    unsetenv("QUERN_DUMP");
    return cmocka_run_group_tests(tests, NULL, NULL);
}

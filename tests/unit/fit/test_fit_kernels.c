/* test_fit_kernels.c - printed kernels of every golden operation, run on every backend. */
/* test: cost 16, quick-opencl */
#include "fit_kernel_fixture.h"

static void operations_in_f64_agree_on_cpu(void **state)
{
    (void)state;
    fit_run_kernels("cpu", "fit/golden/ops.json", 1, 1e-14);
}

static void operations_in_f32_agree_on_cpu(void **state)
{
    (void)state;
    fit_run_kernels("cpu", "fit/golden/ops.json", 0, 4e-6);
}

static void operations_in_f64_agree_on_sim(void **state)
{
    (void)state;
    fit_run_kernels("sim", "fit/golden/ops.json", 1, 1e-14);
}

static void operations_in_f64_agree_on_opencl(void **state)
{
    (void)state;
    fit_run_kernels("opencl", "fit/golden/ops.json", 1, 1e-13);
}

static void operations_in_f32_agree_on_opencl(void **state)
{
    (void)state;
    fit_run_kernels("opencl", "fit/golden/ops.json", 0, 4e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_in_f64_agree_on_cpu),
        cmocka_unit_test(operations_in_f32_agree_on_cpu),
        cmocka_unit_test(operations_in_f64_agree_on_sim),
        cmocka_unit_test(operations_in_f64_agree_on_opencl),
        cmocka_unit_test(operations_in_f32_agree_on_opencl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

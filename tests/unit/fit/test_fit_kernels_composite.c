/* test_fit_kernels_composite.c - printed kernels of every golden composite, run on every backend.
 */
/* test: cost 15, quick-opencl */
#include "fit_kernel_fixture.h"

static void composites_in_f64_agree_on_cpu(void **state)
{
    (void)state;
    fit_run_kernels("cpu", "fit/golden/composites.json", 1, 1e-13);
}

static void composites_in_f64_agree_on_sim(void **state)
{
    (void)state;
    fit_run_kernels("sim", "fit/golden/composites.json", 1, 1e-13);
}

static void composites_in_f64_agree_on_opencl(void **state)
{
    (void)state;
    fit_run_kernels("opencl", "fit/golden/composites.json", 1, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(composites_in_f64_agree_on_cpu),
        cmocka_unit_test(composites_in_f64_agree_on_sim),
        cmocka_unit_test(composites_in_f64_agree_on_opencl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

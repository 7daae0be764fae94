/* test_fit_choose.c - estimated costs of evaluations, and the choice of device that follows. */
#include "golden.h"

#include "domain/fit/device/choose.h"
#include "lab/fit/bench/cases.h"

#include <string.h>

static qn_fit_traffic traffic(const qn_fit_problem *p, qn_fit_work work, qn_fit_precision precision)
{
    qn_fit_traffic t;
    qn_err err = { .text = "" };

    must_ok(qn_fit_traffic_of(p, work, precision, &t, &err), &err);
    return t;
}

/* Reads two starts of blocks and a rest length, writes a residual and three values of J; parameters
 * are read once. */
static void a_spring_moves_48_bytes_and_its_share_of_the_vertices(void **state)
{
    qn_fit_problem *p = NULL;
    qn_err err = { .text = "" };

    (void)state;
    must_ok(qn_fit_case_springs(3000, &p, &err), &err);
    const double x = p->n_scalars;

    assert_true(traffic(p, QN_FIT_DO_LINEARIZE, QN_FIT_F64).bytes == 3000 * 48.0 + 8 * x);
    assert_true(traffic(p, QN_FIT_DO_LINEARIZE, QN_FIT_F64).stored == 3000 * 3.0);
    assert_true(traffic(p, QN_FIT_DO_LINEARIZE, QN_FIT_F32).bytes == 3000 * 28.0 + 4 * x);
    assert_true(traffic(p, QN_FIT_DO_RESIDUALS, QN_FIT_F64).bytes == 3000 * 24.0 + 8 * x);
    assert_true(traffic(p, QN_FIT_DO_OWNER, QN_FIT_F64).bytes == 3000 * 24.0 + 16 * x);
    assert_true(traffic(p, QN_FIT_DO_GRADIENT, QN_FIT_F64).bytes == 3000 * 104.0 + 16 * x);
    qn_fit_problem_free(p);
}

static qn_device_info gpu(void)
{
    return (qn_device_info){ .name = "G", .kind = QN_KIND_DISCRETE, .has_f64 = 1 };
}

static qn_fit_choice choose_from(int few, int level, const qn_device_info *device,
                                 qn_fit_precision precision)
{
    qn_fit_problem *p = NULL;
    qn_fit_choice choice;
    qn_err err = { .text = "" };

    must_ok(qn_fit_case_icosphere(level, &p, &err), &err);
    must_ok(qn_fit_choose(p, device, 2, few, precision, &choice, &err), &err);
    qn_fit_problem_free(p);
    return choice;
}

static qn_fit_choice choose(int level, const qn_device_info *device, qn_fit_precision precision)
{
    return choose_from(QN_FIT_FEW_INSTANCES, level, device, precision);
}

static void small_meshes_stay_on_the_cpu_and_large_ones_leave_it(void **state)
{
    const qn_device_info device = gpu();
    qn_fit_choice c = choose(3, &device, QN_FIT_F64); /* 642 vertices */

    (void)state;
    assert_false(c.is_device);
    assert_true(c.host_us > 0 && c.host_us < c.device_us);
    assert_non_null(strstr(c.text, "cpu: a step of 2562 terms"));
    c = choose(6, &device, QN_FIT_F64); /* 40 962 vertices */
    assert_true(c.is_device);
    assert_non_null(strstr(c.text, "device: a step of 163842 terms"));
}

static void a_few_terms_are_not_even_estimated(void **state)
{
    const qn_device_info device = gpu();
    const qn_fit_choice c = choose(1, &device, QN_FIT_F64);

    (void)state;
    assert_false(c.is_device);
    assert_true(c.host_us == 0 && c.device_us == 0);
    assert_string_equal(c.text, "cpu: 162 terms are less than 256");
}

static void how_many_are_few_can_be_said(void **state)
{
    const qn_device_info device = gpu();

    (void)state;
    assert_true(choose_from(0, 1, &device, QN_FIT_F64).host_us > 0);
    assert_string_equal(choose_from(200000, 6, &device, QN_FIT_F64).text,
                        "cpu: 163842 terms are less than 200000");
}

static void a_device_that_cannot_is_not_chosen(void **state)
{
    qn_device_info device = gpu();

    (void)state;
    device.has_f64 = 0;
    assert_string_equal(choose(6, &device, QN_FIT_F64).text, "cpu: G has no f64");
    assert_true(choose(6, &device, QN_FIT_F32).is_device);
    device.kind = QN_KIND_CPU;
    assert_string_equal(choose(6, &device, QN_FIT_F32).text, "cpu: G is no GPU");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spring_moves_48_bytes_and_its_share_of_the_vertices),
        cmocka_unit_test(small_meshes_stay_on_the_cpu_and_large_ones_leave_it),
        cmocka_unit_test(a_few_terms_are_not_even_estimated),
        cmocka_unit_test(how_many_are_few_can_be_said),
        cmocka_unit_test(a_device_that_cannot_is_not_chosen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_les_physics.c - the checks of the solver on the CPU, and the shorter ones on devices. */
/* test: long, cost 90, quick-opencl, no-cache */
#include "parity/parity.h"

#include "lab/les/check/check.h"

static void expect_all(const place *at, const char *name)
{
    qn_ctx *ctx = open_place(at);
    qn_findings findings = { 0 };
    qn_err err = { .text = "" };
    const qn_les_check *check = qn_les_checks;

    while (check->name && strcmp(check->name, name) != 0)
        check++;
    assert_non_null(check->name);
    if (check->run(ctx, &findings, &err) != QN_OK)
        fail_msg("%s on %s: %s", name, at->name, err.text);
    assert_true(findings.n > 0);
    for (size_t i = 0; i < findings.n; i++) {
        const qn_finding *f = &findings.list[i];

        if (f->verdict != QN_FINDING_OK)
            fail_msg("%s on %s: %s: %.6g is not in [%.6g, %.6g]", f->part, at->name, f->name,
                     f->value, f->low, f->high);
    }
    assert_int_equal(findings.n_out, 0);
    qn_findings_free(&findings);
    qn_ctx_close(ctx);
}

static void vortex_decays_as_it_must(void **state)
{
    (void)state;
    expect_all(&cpu_place, "V1");
}

static void order_in_time_is_two(void **state)
{
    (void)state;
    expect_all(&cpu_place, "V2");
}

static void closure_drains_what_theory_says(void **state)
{
    (void)state;
    expect_all(&cpu_place, "V3");
}

static void forced_flow_stays_steady(void **state)
{
    (void)state;
    expect_all(&cpu_place, "V4");
}

static void invariants_drift_by_the_error_in_time_alone(void **state)
{
    (void)state;
    expect_all(&cpu_place, "V5");
}

static void shear_layer_rolls_up_as_known(void **state)
{
    (void)state;
    expect_all(&cpu_place, "V6");
}

static void moved_fields_move_alike(void **state)
{
    (void)state;
    expect_all(&cpu_place, "V8");
}

static void devices_agree(void **state)
{
    (void)state;
    expect_all(&cpu_place, "V12");
    for (int i = 0; i < N_PLACES; i++)
        if (can_transform(&device_places[i]))
            expect_all(&device_places[i], "V12");
}

static void methods_have_their_orders(void **state)
{
    (void)state;
    expect_all(&cpu_place, "V13");
}

static void forced_waves_go_as_they_must(void **state)
{
    (void)state;
    expect_all(&cpu_place, "V14");
}

static void random_forcing_adds_its_rate(void **state)
{
    (void)state;
    expect_all(&cpu_place, "V16");
}

/* V15 itself takes too long here. */
static void random_flows_stay_finite_and_keep_their_budget(void **state)
{
    qn_ctx *ctx = open_place(&cpu_place);
    qn_findings findings = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    if (qn_les_check_random_small(ctx, 20, &findings, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_true(findings.n > 20);
    for (size_t i = 0; i < findings.n; i++)
        if (findings.list[i].verdict != QN_FINDING_OK)
            fail_msg("%s: %.6g is above %.6g", findings.list[i].name, findings.list[i].value,
                     findings.list[i].high);
    qn_findings_free(&findings);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vortex_decays_as_it_must),
        cmocka_unit_test(order_in_time_is_two),
        cmocka_unit_test(closure_drains_what_theory_says),
        cmocka_unit_test(forced_flow_stays_steady),
        cmocka_unit_test(invariants_drift_by_the_error_in_time_alone),
        cmocka_unit_test(shear_layer_rolls_up_as_known),
        cmocka_unit_test(moved_fields_move_alike),
        cmocka_unit_test(devices_agree),
        cmocka_unit_test(methods_have_their_orders),
        cmocka_unit_test(forced_waves_go_as_they_must),
        cmocka_unit_test(random_forcing_adds_its_rate),
        cmocka_unit_test(random_flows_stay_finite_and_keep_their_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

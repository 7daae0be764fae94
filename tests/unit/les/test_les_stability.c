/* test_les_stability.c - limits of the time step, and the steps that are chosen. */
#include "golden.h"

#include "domain/les/options/stability.h"

#include <complex.h>
#include <math.h>
#include <string.h>

static qn_les_options config_of(const char *const *pairs)
{
    qn_les_options config;
    qn_err err = { .text = "" };

    if (qn_les_options_make(NULL, pairs, NULL, &config, &err) != QN_OK)
        fail_msg("%s", err.text);
    return config;
}

#define CONFIG(...) config_of((const char *const[]){ __VA_ARGS__, NULL })

static void largest_wavenumber_follows_dealiasing_and_box(void **state)
{
    qn_les_options config = CONFIG("n", "64");

    (void)state;
    assert_near(qn_les_kmax(&config), 21, 1e-12);
    assert_near(qn_les_k2max(&config), 2 * 21 * 21, 1e-12);
    config = CONFIG("n", "64", "dealias", "exp", "l", "pi");
    assert_near(qn_les_kmax(&config), 64, 1e-12);
    config = CONFIG("n", "66", "dealias", "two_thirds"); /* 3 * 22 = 66 is not below 66 */
    assert_near(qn_les_kmax(&config), 21, 1e-12);
}

static void numbers_are_products_of_rate_and_step(void **state)
{
    const qn_les_options config =
        CONFIG("n", "64", "dealias", "none", "nu0", "0.001", "integrator", "heun");
    const qn_les_stability s = qn_les_stability_of(&config, 0.01, 2.5, 0.003);

    (void)state;
    assert_near(s.za, 2.5 * 32 * 0.01, 1e-12);
    assert_near(s.zd, 0.004 * 2048 * 0.01, 1e-12);
    assert_near(s.dt_admissible, 1 / (2.5 * 32), 1e-12);
    assert_true(s.is_stable);
}

static void explicit_viscosity_fails_on_large_grids(void **state)
{
    qn_les_options config = CONFIG("n", "2000", "dealias", "none", "integrator", "heun");

    (void)state;
    assert_true(qn_les_stability_of(&config, 0.01, 0, 0).is_stable);
    config.N = 2002;
    assert_false(qn_les_stability_of(&config, 0.01, 0, 0).is_stable);
    config.visc = QN_LES_VISC_IFAC;
    assert_true(qn_les_stability_of(&config, 0.01, 0, 0).is_stable);
    assert_true(isinf(qn_les_stability_of(&config, 0.01, 0, 0).dt_admissible));
}

static void unstable_step_is_refused_with_the_largest_admissible(void **state)
{
    qn_les_options config = CONFIG("n", "64", "dt", "0.05", "integrator", "heun");
    qn_les_stability s = qn_les_stability_of(&config, config.dt, 1.7, 0);
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_les_stability_check(&config, &s, &err), QN_ERR_USAGE);
    assert_non_null(strstr(err.text, "0.05 is unstable"));
    assert_non_null(strstr(err.text, "above 1, the limit of heun;"));
    assert_non_null(strstr(err.text, "largest admissible dt is 0.028 ")); /* 1/35.7 = 0.02801 */
    s = qn_les_stability_of(&config, 0.028, 1.7, 0);
    assert_int_equal(qn_les_stability_check(&config, &s, &err), QN_OK);

    s = qn_les_stability_of(&config, 0.05, 0.1, 0.1);
    assert_int_equal(qn_les_stability_check(&config, &s, &err), QN_ERR_USAGE);
    assert_non_null(strstr(err.text, "above 2, the limit of heun;"));
    config.allow_unstable = 1;
    assert_int_equal(qn_les_stability_check(&config, &s, &err), QN_OK);
}

static void field_that_is_not_finite_is_not_stable(void **state)
{
    const qn_les_options config = CONFIG("n", "64");
    const qn_les_stability s = qn_les_stability_of(&config, 0.01, NAN, 0);
    qn_err err = { .text = "" };

    (void)state;
    assert_false(s.is_stable);
    assert_int_equal(qn_les_stability_check(&config, &s, &err), QN_ERR_USAGE);
}

static void automatic_step_shrinks_with_the_grid(void **state)
{
    (void)state;
    assert_near(qn_les_dt_auto(64), 0.01, 1e-12);
    assert_near(qn_les_dt_auto(128), 0.01, 1e-12);
    assert_near(qn_les_dt_auto(512), 0.0025, 1e-12);
    assert_near(CONFIG("n", "1024", "dt-mode", "auto").dt, 0.00125, 1e-12);
}

static void cfl_step_is_the_least_of_three(void **state)
{
    const qn_les_options heun =
        CONFIG("n", "64", "integrator", "heun", "cfl", "0.4", "dt-max", "0.02");
    const qn_les_options exact = CONFIG("n", "64", "dt-max", "0.02");
    const les_dt_par rule = qn_les_dt_rule(&heun, 0, LES_DT_STEP);
    const les_dt_par of_exact = qn_les_dt_rule(&exact, 0, LES_DT_STEP);

    (void)state;
    assert_near(qn_les_dt_of(&rule, 0.001, 0), 0.02, 1e-12);
    assert_near(qn_les_dt_of(&rule, 4, 0), 0.4 * (2 * M_PI / 64) / 4, 1e-12);
    assert_near(qn_les_dt_of(&rule, 1, 0.5), 1.6 / (0.5001 * 882), 1e-12);
    assert_near(qn_les_dt_of(&rule, 0, 0), 0.02, 1e-12);
    assert_near(qn_les_dt_of(&of_exact, 1, 0.5), 1.9 / (0.5 * 882), 1e-12);
}

/* All of the steps that dt_mode cfl chooses by default are inside of what the method takes, with
 * every rule for dealiasing and both of its numbers at their limits. Heun's method amplifies waves,
 * but no more than by 6 per mille per step. */
static void default_steps_are_stable(void **state)
{
    static const char *const names[] = { "rk4", "ssprk3", "heun" };
    static const char *const rules[] = { "two_thirds", "none" };
    static const int order[] = { 4, 3, 2 };

    (void)state;
    for (int k = 0; k < 6; k++) {
        const int m = k / 2;
        const qn_les_options c = CONFIG("integrator", names[m], "dealias", rules[k % 2]);
        const les_dt_par rule = qn_les_dt_rule(&c, 0, LES_DT_STEP);
        const double za = rule.advective * qn_les_kmax(&c), zd = rule.diffusive;

        for (int i = 0; i <= 50; i++)
            for (int j = 0; j <= 50; j++) {
                const double complex z = -zd * i / 50 + za * j / 50 * I;
                double complex growth = 1, term = 1;

                for (int n = 1; n <= order[m]; n++)
                    growth += term *= z / n;
                if (!(cabs(growth) <= (order[m] == 2 ? 1.0062 : 1 + 1e-9)))
                    fail_msg("%s, %s: a mode grows by %g", names[m], rules[k % 2], cabs(growth));
            }
    }
}

static void limits_know_the_integrator(void **state)
{
    const char *const stiff[] = { "n", "64", "nu0", "1", "beta", "100", "integrator", NULL, NULL };
    const char *pairs[9];

    (void)state;
    memcpy(pairs, stiff, sizeof pairs);
    pairs[7] = "ifrk4"; /* nothing of this is explicit */
    qn_les_options c = config_of(pairs);
    assert_true(isinf(qn_les_stability_of(&c, 0.01, 0, 0).dt_admissible));
    assert_near(qn_les_stability_of(&c, 0.01, 1, 0).dt_admissible, 2.82 / 21, 1e-12);
    pairs[7] = "rk4";
    c = config_of(pairs);
    assert_near(qn_les_stability_of(&c, 0.01, 0, 0).dt_admissible, 2.78 / 882, 1e-12);
    pairs[7] = "ssprk3";
    c = config_of(pairs);
    assert_near(qn_les_stability_of(&c, 0.01, 50, 0).dt_admissible, 1.73 / (50 * 21 + 100), 1e-12);
}

static void advice_names_what_helps(void **state)
{
    const qn_les_options given = CONFIG("dt", "0.01"), follows = CONFIG("n", "64"),
                         aliased = CONFIG("dealias", "none");

    (void)state;
    assert_non_null(strstr(qn_les_advice(&given), "--dt-mode cfl"));
    assert_non_null(strstr(qn_les_advice(&follows), "--cfl"));
    assert_string_equal(qn_les_advice(&aliased), "use --dealias two_thirds");
}

/* From rest, the forcing alone must not carry the flow across cells in the first step. */
static void a_quiet_flow_begins_with_a_step_that_suits_the_forcing(void **state)
{
    const qn_les_options wave = CONFIG("n", "64", "forcing", "kolmogorov"),
                         ring = CONFIG("n", "64", "forcing", "ring", "forcing-rate", "50");
    const les_dt_par of_wave = qn_les_dt_rule(&wave, 100, LES_DT_STEP);
    const les_dt_par of_ring = qn_les_dt_rule(&ring, 0, LES_DT_STEP);
    const double cells = 0.6 * 2 * M_PI / 64, dt = qn_les_dt_of(&of_ring, 0, 0);

    (void)state;
    assert_near(qn_les_dt_of(&of_wave, 0, 0), sqrt(cells / 100), 1e-12);
    assert_near(4 * sqrt(2 * 50 * dt) * dt, cells, 1e-12);
}

/* max(|u| + |v|) of two arrays, or max of one. */
static double largest(const char *a, const char *b)
{
    qn_npy u = golden_array(a), v = b ? golden_array(b) : (qn_npy){ 0 };
    double most = 0;

    for (qn_i64 i = 0; i < qn_npy_elems(&u); i++)
        most = fmax(most, fabs(((double *)u.data)[i]) + (b ? fabs(((double *)v.data)[i]) : 0));
    qn_npy_free(&u);
    qn_npy_free(&v);
    return most;
}

static void default_field_is_stable_by_the_automatic_rule(void **state)
{
    const qn_les_options config =
        CONFIG("n", "128", "seed", "1", "dt-mode", "auto", "integrator", "heun");

    (void)state;
    need_golden("les/quern_n128_s1_u_t0.npy");
    const qn_les_stability s = qn_les_stability_of(
        &config, config.dt, largest("les/quern_n128_s1_u_t0.npy", "les/quern_n128_s1_v_t0.npy"),
        largest("les/quern_n128_s1_nut_t0.npy", NULL));
    assert_true(s.is_stable);
    assert_true(s.za > 0.3 && s.za < 0.6);
    assert_true(s.zd > 0 && s.zd < 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(largest_wavenumber_follows_dealiasing_and_box),
        cmocka_unit_test(numbers_are_products_of_rate_and_step),
        cmocka_unit_test(explicit_viscosity_fails_on_large_grids),
        cmocka_unit_test(unstable_step_is_refused_with_the_largest_admissible),
        cmocka_unit_test(field_that_is_not_finite_is_not_stable),
        cmocka_unit_test(automatic_step_shrinks_with_the_grid),
        cmocka_unit_test(cfl_step_is_the_least_of_three),
        cmocka_unit_test(default_steps_are_stable),
        cmocka_unit_test(limits_know_the_integrator),
        cmocka_unit_test(advice_names_what_helps),
        cmocka_unit_test(a_quiet_flow_begins_with_a_step_that_suits_the_forcing),
        cmocka_unit_test(default_field_is_stable_by_the_automatic_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

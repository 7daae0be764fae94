/* test_svg.c - value labels, scales, round ticks, escaping. */
/* test: no-tsan */
#include "test.h"

#include "util/hash.h"
#include "util/page/svg.h"

static void expect_label(qn_unit unit, double value, int digits, const char *wanted)
{
    char text[32];

    assert_string_equal(qn_unit_format(unit, value, digits, text, sizeof text), wanted);
}

static qn_scale scale_of(int is_log, double min, double max)
{
    qn_scale scale = { .is_log = is_log, .from = 0, .to = 800 };

    qn_scale_include(&scale, min);
    qn_scale_include(&scale, max);
    qn_scale_finish(&scale);
    return scale;
}

static void expect_ticks(const qn_scale *scale, int most, int n, const double *wanted)
{
    qn_ticks ticks;

    qn_ticks_find(scale, most, &ticks);
    assert_int_equal(ticks.n_major, n);
    for (int i = 0; i < n; i++)
        assert_true(fabs(ticks.major[i] - wanted[i]) <= 1e-9 * fabs(wanted[i]));
}

static void counts_have_short_labels(void **state)
{
    (void)state;
    expect_label(QN_UNIT_COUNT, 0, 3, "0");
    expect_label(QN_UNIT_COUNT, 1, 3, "1");
    expect_label(QN_UNIT_COUNT, 0.25, 3, "0.25");
    expect_label(QN_UNIT_COUNT, 999, 3, "999");
    expect_label(QN_UNIT_COUNT, 1000, 3, "1k");
    expect_label(QN_UNIT_COUNT, 250000, 3, "250k");
    expect_label(QN_UNIT_COUNT, 10e6, 3, "10M");
    expect_label(QN_UNIT_COUNT, -2500, 3, "-2.5k");
    expect_label(QN_UNIT_COUNT, 123456, 6, "123.456k");
}

static void times_take_the_fitting_unit(void **state)
{
    (void)state;
    expect_label(QN_UNIT_US, 0.1, 3, "100 ns");
    expect_label(QN_UNIT_US, 21.48, 4, "21.48 \xC2\xB5s");
    expect_label(QN_UNIT_US, 1500, 3, "1.5 ms");
    expect_label(QN_UNIT_US, 2e6, 3, "2 s");
    expect_label(QN_UNIT_US, 5e9, 3, "5000 s");
    expect_label(QN_UNIT_RATIO, 1.8, 3, "1.8\xC3\x97");
}

static void rounding_up_changes_the_prefix_too(void **state)
{
    (void)state;
    expect_label(QN_UNIT_COUNT, 999.96, 3, "1k");
    expect_label(QN_UNIT_COUNT, 999.4, 3, "999");
    expect_label(QN_UNIT_US, 999.96, 4, "1 ms");
    expect_label(QN_UNIT_US, 999.94, 4, "999.9 \xC2\xB5s");
}

static void values_that_are_not_finite_are_a_dash(void **state)
{
    (void)state;
    expect_label(QN_UNIT_COUNT, NAN, 3, "-");
    expect_label(QN_UNIT_US, INFINITY, 3, "-");
}

static void a_log_scale_is_even_in_factors(void **state)
{
    const qn_scale scale = scale_of(1, 1, 1e6);

    (void)state;
    const double one = qn_scale_at(&scale, 1);
    const double thousand = qn_scale_at(&scale, 1e3);
    const double million = qn_scale_at(&scale, 1e6);
    assert_true(fabs((million - thousand) - (thousand - one)) < 1e-6);
    assert_true(one > 0 && million < 800);
}

static void a_linear_scale_starts_at_zero(void **state)
{
    const qn_scale scale = scale_of(0, 50, 100);
    const qn_scale below = scale_of(0, -10, -5);

    (void)state;
    assert_true(qn_scale_at(&scale, 0) == 0);
    assert_true(qn_scale_at(&below, 0) == 800);
}

static void a_log_scale_refuses_what_has_no_logarithm(void **state)
{
    qn_scale scale = { .is_log = 1 };

    (void)state;
    qn_scale_include(&scale, 0);
    qn_scale_include(&scale, -1);
    qn_scale_include(&scale, NAN);
    qn_scale_include(&scale, INFINITY);
    assert_false(scale.has_values);
    qn_scale_include(&scale, 5);
    assert_true(scale.has_values && scale.min == 5 && scale.max == 5);
}

static void log_ticks_are_one_two_five_when_there_is_room(void **state)
{
    const qn_scale scale = scale_of(1, 1e3, 1e5);

    (void)state;
    expect_ticks(&scale, 10, 7, (double[]){ 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5 });
}

static void log_ticks_thin_out_to_decades_and_beyond(void **state)
{
    const qn_scale scale = scale_of(1, 1e3, 1e7);
    const qn_scale huge = scale_of(1, 1, 1e12);

    (void)state;
    expect_ticks(&scale, 10, 5, (double[]){ 1e3, 1e4, 1e5, 1e6, 1e7 });
    expect_ticks(&huge, 6, 5, (double[]){ 1, 1e3, 1e6, 1e9, 1e12 });
}

static void a_narrow_log_scale_has_linear_ticks(void **state)
{
    const qn_scale scale = { .min = 95, .max = 205, .is_log = 1, .to = 800 };

    (void)state;
    expect_ticks(&scale, 6, 6, (double[]){ 100, 120, 140, 160, 180, 200 });
}

static void linear_ticks_are_round(void **state)
{
    const qn_scale scale = scale_of(0, 0, 1000);

    (void)state;
    expect_ticks(&scale, 6, 6, (double[]){ 0, 200, 400, 600, 800, 1000 });
}

static void any_range_gives_a_sane_number_of_ticks_inside_it(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        const double a = pow(10, 300.0 * qn_random_float(1, i));
        const double b = i % 3 ? a * (1 + pow(10, 9.0 * qn_random_float(2, i)))
                               : pow(10, 300.0 * qn_random_float(3, i));
        const qn_scale scale = scale_of(i % 2 == 0, a, b);
        const int most = 2 + (int)(i % 20);
        qn_ticks ticks;
        qn_ticks_find(&scale, most, &ticks);
        assert_in_range(ticks.n_major, 1, most);
        assert_in_range(ticks.n_minor, 0, QN_TICKS_MINOR_MAX);
        for (int k = 0; k < ticks.n_major; k++) {
            const double at = qn_scale_at(&scale, ticks.major[k]);
            assert_true(at >= -1e-6 && at <= 800 + 1e-6);
            assert_true(k == 0 || ticks.major[k] > ticks.major[k - 1]);
        }
    }
}

static void markup_is_escaped_and_other_bytes_are_made_valid(void **state)
{
    qn_str out = { 0 };

    (void)state;
    qn_xml_add(&out, "a<b>&\"c\"\n\x01\xFF\xC2\xB5");
    assert_string_equal(qn_str_get(&out), "a&lt;b&gt;&amp;&quot;c&quot;  \xEF\xBF\xBD\xC2\xB5");
    qn_str_free(&out);
}

static void colours_follow_the_position_unless_asked_for(void **state)
{
    (void)state;
    assert_int_equal(qn_svg_color(0, 0), 1);
    assert_int_equal(qn_svg_color(0, 9), 2);
    assert_int_equal(qn_svg_color(5, 0), 5);
    assert_int_equal(qn_svg_color(99, 2), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_have_short_labels),
        cmocka_unit_test(times_take_the_fitting_unit),
        cmocka_unit_test(rounding_up_changes_the_prefix_too),
        cmocka_unit_test(values_that_are_not_finite_are_a_dash),
        cmocka_unit_test(a_log_scale_is_even_in_factors),
        cmocka_unit_test(a_linear_scale_starts_at_zero),
        cmocka_unit_test(a_log_scale_refuses_what_has_no_logarithm),
        cmocka_unit_test(log_ticks_are_one_two_five_when_there_is_room),
        cmocka_unit_test(log_ticks_thin_out_to_decades_and_beyond),
        cmocka_unit_test(a_narrow_log_scale_has_linear_ticks),
        cmocka_unit_test(linear_ticks_are_round),
        cmocka_unit_test(any_range_gives_a_sane_number_of_ticks_inside_it),
        cmocka_unit_test(markup_is_escaped_and_other_bytes_are_made_valid),
        cmocka_unit_test(colours_follow_the_position_unless_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

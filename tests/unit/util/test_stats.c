/* test_stats.c - medians, ranks, spread, and samples that are not numbers. */
#include "test.h"

#include "util/stats.h"

#define ABOUT(a, b) assert_true(is_near(a, b))

static int is_near(double a, double b)
{
    return fabs(a - b) < 1e-12 * (1 + fabs(b));
}

static void one_sample_is_its_own_everything(void **state)
{
    double x[] = { 7.5 };
    const qn_stats s = qn_stats_of(x, 1);

    (void)state;
    assert_int_equal(s.n, 1);
    ABOUT(s.median, 7.5);
    ABOUT(s.p90, 7.5);
    ABOUT(s.min, 7.5);
    ABOUT(s.max, 7.5);
    ABOUT(s.mean, 7.5);
    ABOUT(s.stddev, 0);
    ABOUT(s.mad, 0);
}

static void an_even_count_takes_the_mean_of_the_middle_two(void **state)
{
    double x[] = { 4, 1, 3, 2 };
    const qn_stats s = qn_stats_of(x, 4);

    (void)state;
    ABOUT(s.median, 2.5);
    ABOUT(s.mad, 1.0);
    ABOUT(s.mean, 2.5);
    ABOUT(s.stddev, sqrt(5.0 / 3.0));
}

static void an_odd_count_takes_the_middle(void **state)
{
    double x[] = { 100, 1, 2, 4, 3 };
    const qn_stats s = qn_stats_of(x, 5);

    (void)state;
    ABOUT(s.median, 3);
    ABOUT(s.mad, 1);
    ABOUT(s.max, 100);
    ABOUT(s.mean, 22);
}

static void p90_is_the_nearest_rank_for_every_count(void **state)
{
    double x[1000];

    (void)state;
    for (size_t n = 1; n <= 1000; n++) {
        for (size_t i = 0; i < n; i++)
            x[i] = (double)(n - i);
        const qn_stats s = qn_stats_of(x, n);
        ABOUT(s.p90, (double)((9 * n + 9) / 10));
        ABOUT(qn_sorted_rank(x, n, 100), (double)n);
        ABOUT(qn_sorted_rank(x, n, 1), (double)((n + 99) / 100));
        ABOUT(qn_sorted_rank(x, n, 95), (double)((95 * n + 99) / 100));
    }
}

static void mad_agrees_with_a_plain_second_median(void **state)
{
    unsigned seed = 1;

    (void)state;
    for (int round = 0; round < 200; round++) {
        double x[17];
        double away[17];
        const size_t n = (size_t)(1 + round % 17);
        for (size_t i = 0; i < n; i++) {
            seed = seed * 1664525u + 1013904223u;
            x[i] = (double)(seed >> 24) / 4 - 20;
        }
        const qn_stats s = qn_stats_of(x, n);
        for (size_t i = 0; i < n; i++)
            away[i] = fabs(x[i] - s.median);
        ABOUT(s.mad, qn_stats_of(away, n).median);
    }
}

static void values_that_are_not_finite_are_dropped_and_counted(void **state)
{
    double x[] = { NAN, 3, INFINITY, 1, -INFINITY, 2 };
    const qn_stats s = qn_stats_of(x, 6);

    (void)state;
    assert_int_equal(s.n, 3);
    assert_int_equal(s.dropped, 3);
    ABOUT(s.median, 2);
    ABOUT(s.max, 3);
    ABOUT(s.mean, 2);
    ABOUT(x[0], 1);
    ABOUT(x[2], 3);
}

static void no_finite_sample_gives_nan_not_zero(void **state)
{
    double x[] = { NAN, INFINITY };
    const qn_stats none = qn_stats_of(x, 2);
    const qn_stats empty = qn_stats_of(NULL, 0);

    (void)state;
    assert_int_equal(none.n, 0);
    assert_int_equal(none.dropped, 2);
    assert_true(isnan(none.median) && isnan(none.p90) && isnan(none.min) && isnan(none.max));
    assert_true(isnan(none.mean) && isnan(none.stddev) && isnan(none.mad));
    assert_true(isnan(empty.median));
    assert_true(isnan(qn_sorted_rank(x, 0, 90)) && isnan(qn_sorted_median(x, 0)));
}

static void a_small_spread_on_a_large_value_keeps_its_digits(void **state)
{
    double x[] = { 1e9 + 1, 1e9 + 2, 1e9 + 3 };
    const qn_stats s = qn_stats_of(x, 3);

    (void)state;
    ABOUT(s.stddev, 1.0);
    ABOUT(s.mean, 1e9 + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sample_is_its_own_everything),
        cmocka_unit_test(an_even_count_takes_the_mean_of_the_middle_two),
        cmocka_unit_test(an_odd_count_takes_the_middle),
        cmocka_unit_test(p90_is_the_nearest_rank_for_every_count),
        cmocka_unit_test(mad_agrees_with_a_plain_second_median),
        cmocka_unit_test(values_that_are_not_finite_are_dropped_and_counted),
        cmocka_unit_test(no_finite_sample_gives_nan_not_zero),
        cmocka_unit_test(a_small_spread_on_a_large_value_keeps_its_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

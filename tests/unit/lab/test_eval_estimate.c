/* test_eval_estimate.c - differences between ways of running, and their errors. */
#include "test.h"

#include "lab/route/route.h"
#include "util/hash.h"

enum { N = 400 };
static double way[N], other[N], scratch[N];
static uint8_t special[N];

static double noise(uint64_t seed, int i)
{
    return (double)qn_random_float(seed, (uint64_t)i);
}

static void assert_within(double value, double wanted, double by)
{
    if (!(fabs(value - wanted) <= by))
        fail_msg("%g is not within %g of %g", value, by, wanted);
}

static void trimmed_mean_leaves_a_fifth_out_on_either_side(void **state)
{
    double values[] = { 1000, 1, 2, 3, -1000 };
    const qn_estimate e = qn_trimmed_mean(values, 5);

    (void)state;
    assert_within(e.us, 2, 1e-12);
    /* winsorised: 1 1 2 3 3, variance 1, 3/5 kept */
    assert_within(e.se_us, 1 / (0.6 * sqrt(5)), 1e-12);
}

static void error_of_a_trimmed_mean_is_that_of_repeated_ones(void **state)
{
    enum { REPEATS = 400, EACH = 50 };
    double square = 0, said = 0;

    (void)state;
    for (int k = 0; k < REPEATS; k++) {
        double values[EACH];
        qn_estimate e;

        for (int i = 0; i < EACH; i++)
            values[i] = noise(7, k * EACH + i);
        e = qn_trimmed_mean(values, EACH);
        square += e.us * e.us / REPEATS;
        said += e.se_us / REPEATS;
    }
    assert_within(said / sqrt(square), 1, 0.1);
}

static void few_rounds_have_no_error(void **state)
{
    double one[] = { 3 };

    (void)state;
    assert_within(qn_trimmed_mean(one, 1).us, 3, 0);
    assert_true(isnan(qn_trimmed_mean(one, 1).se_us));
    assert_true(isnan(qn_trimmed_mean(one, 0).us));
    assert_true(isnan(qn_paired_difference(way, other, NULL, 0, scratch).us));
}

/* Both are disturbed equally: a machine that becomes slower by half changes nothing. */
static void what_strikes_both_cancels(void **state)
{
    qn_estimate e;

    (void)state;
    for (int i = 0; i < N; i++) {
        const double machine = 10 + 5 * (i > N / 2) + noise(1, i);

        other[i] = machine;
        way[i] = machine + 0.3 + 0.01 * noise(2, i);
    }
    e = qn_paired_difference(way, other, NULL, N, scratch);
    assert_within(e.us, 0.3, 0.002);
    assert_true(e.se_us < 0.001);
}

static void identical_ways_differ_by_no_more_than_their_error(void **state)
{
    int n_beyond = 0;

    (void)state;
    for (uint64_t k = 0; k < 100; k++) {
        qn_estimate e;

        for (int i = 0; i < N; i++) {
            way[i] = 2 + 0.2 * noise(10 + k, i) + (i % 97 == 0 ? 60 : 0); /* interrupted now and
                                                                           * then */
            other[i] = 2 + 0.2 * noise(1000 + k, i) + (i % 89 == 0 ? 60 : 0);
        }
        e = qn_paired_difference(way, other, NULL, N, scratch);
        n_beyond += fabs(e.us) > 2 * e.se_us;
        assert_true(fabs(e.us) < 0.05 * 2);
    }
    assert_in_range(n_beyond, 0, 12); /* about one in twenty */
}

/* One round in forty costs 60 more: a trimmed mean alone would not see it. */
static void special_rounds_count_in_full(void **state)
{
    qn_estimate full, blind;

    (void)state;
    for (int i = 0; i < N; i++) {
        special[i] = i % 40 == 0;
        other[i] = 2;
        way[i] = 2.1 + (special[i] ? 60 : 0);
    }
    full = qn_paired_difference(way, other, special, N, scratch);
    blind = qn_paired_difference(way, other, NULL, N, scratch);
    assert_within(full.us, 0.1 + 60.0 / 40, 1e-9);
    assert_within(blind.us, 0.1, 1e-9);
}

static void one_special_round_has_an_error_as_large_as_itself(void **state)
{
    qn_estimate e;

    (void)state;
    for (int i = 0; i < N; i++) {
        special[i] = i == 5;
        other[i] = 2;
        way[i] = i == 5 ? 42 : 2;
    }
    e = qn_paired_difference(way, other, special, N, scratch);
    assert_within(e.us, 40.0 / N, 1e-9);
    assert_within(e.se_us, 40.0 / N, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trimmed_mean_leaves_a_fifth_out_on_either_side),
        cmocka_unit_test(error_of_a_trimmed_mean_is_that_of_repeated_ones),
        cmocka_unit_test(few_rounds_have_no_error),
        cmocka_unit_test(what_strikes_both_cancels),
        cmocka_unit_test(identical_ways_differ_by_no_more_than_their_error),
        cmocka_unit_test(special_rounds_count_in_full),
        cmocka_unit_test(one_special_round_has_an_error_as_large_as_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

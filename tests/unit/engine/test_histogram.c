/* test_histogram.c - distributions in fixed memory: exact where documented, otherwise within 2
 * %. */
#include "test.h"

#include "engine/telemetry/metrics.h"

#include <pthread.h>

enum { N_VALUES = 20000, N_THREADS = 3, N_UPDATES = 100000 };

static int open_histogram(void **state)
{
    return qn_histogram_new((qn_histogram **)state, NULL) != QN_OK;
}

static int close_histogram(void **state)
{
    qn_histogram_free(*state);
    return 0;
}

static double uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*seed >> 11) + 0.5) * 0x1p-53;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void observe_and_compare(double (*draw)(uint64_t *))
{
    qn_histogram *histogram = NULL;
    double *values = calloc(N_VALUES, sizeof *values);
    uint64_t seed = 42;

    assert_int_equal(qn_histogram_new(&histogram, NULL), QN_OK);
    for (int i = 0; i < N_VALUES; i++) {
        values[i] = draw(&seed);
        qn_histogram_observe(histogram, values[i]);
    }
    qsort(values, N_VALUES, sizeof *values, by_size);
    const qn_summary s = qn_histogram_summary(histogram);
    assert_near(s.p50, values[N_VALUES / 2 - 1], 0.02);
    assert_near(s.p90, values[N_VALUES * 90 / 100 - 1], 0.02);
    assert_near(s.p95, values[N_VALUES * 95 / 100 - 1], 0.02);
    assert_near(s.p99, values[N_VALUES * 99 / 100 - 1], 0.02);
    assert_true(s.min == values[0] && s.max == values[N_VALUES - 1]);
    free(values);
    qn_histogram_free(histogram);
}

static double draw_uniform(uint64_t *seed)
{
    return 5 + 10 * uniform(seed);
}

static double draw_exponential(uint64_t *seed)
{
    return -0.02 * log(uniform(seed));
}

/* Fifteen decades: from picoseconds in seconds to days in microseconds. */
static double draw_many_decades(uint64_t *seed)
{
    return pow(10, -6 + 15 * uniform(seed));
}

static void quantiles_of_a_uniform_distribution_are_within_two_percent(void **state)
{
    (void)state;
    observe_and_compare(draw_uniform);
}

static void quantiles_of_an_exponential_distribution_are_within_two_percent(void **state)
{
    (void)state;
    observe_and_compare(draw_exponential);
}

static void quantiles_over_many_decades_are_within_two_percent(void **state)
{
    (void)state;
    observe_and_compare(draw_many_decades);
}

static void every_single_value_is_represented_within_two_percent(void **state)
{
    (void)state;
    for (int e = -29; e < 42; e++) {
        /* Three values, so that the middle one is not just clamped to min or max. */
        const double edges[] = { ldexp(1, e), nextafter(ldexp(1, e), 0), ldexp(1.03125, e),
                                 nextafter(ldexp(1.03125, e), 0), ldexp(1.99, e) };
        for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
            qn_histogram *histogram = NULL;
            assert_int_equal(qn_histogram_new(&histogram, NULL), QN_OK);
            qn_histogram_observe(histogram, 0);
            qn_histogram_observe(histogram, edges[i]);
            qn_histogram_observe(histogram, 1e30);
            assert_near(qn_histogram_summary(histogram).p50, edges[i], 0.02);
            qn_histogram_free(histogram);
        }
    }
}

static void an_empty_histogram_is_all_zero(void **state)
{
    const qn_summary s = qn_histogram_summary(*state);

    assert_int_equal(s.count, 0);
    assert_true(s.sum == 0 && s.min == 0 && s.max == 0 && s.last == 0 && s.p50 == 0 && s.p99 == 0);
}

static void equal_values_give_that_value_exactly(void **state)
{
    for (int i = 0; i < 7; i++)
        qn_histogram_observe(*state, 0.3);
    const qn_summary s = qn_histogram_summary(*state);
    assert_true(s.p50 == 0.3 && s.p99 == 0.3 && s.min == 0.3 && s.max == 0.3);
}

static void count_sum_min_max_and_last_are_exact(void **state)
{
    const double values[] = { 3, 0.5, 1000, 2 };

    for (int i = 0; i < 4; i++)
        qn_histogram_observe(*state, values[i]);
    const qn_summary s = qn_histogram_summary(*state);
    assert_int_equal(s.count, 4);
    assert_true(s.sum == 1005.5 && s.min == 0.5 && s.max == 1000 && s.last == 2);
}

static void quantiles_are_the_nearest_rank(void **state)
{
    for (int i = 1; i <= 10; i++)
        qn_histogram_observe(*state, i == 10 ? 100000 : 1);
    const qn_summary s = qn_histogram_summary(*state);
    assert_near(s.p90, 1, 0.02); /* rank 9 of 10 */
    assert_near(s.p95, 100000, 0.02);
}

static void zero_and_negative_values_count_as_zero_in_quantiles(void **state)
{
    qn_histogram_observe(*state, 0);
    qn_histogram_observe(*state, -5);
    qn_histogram_observe(*state, 0);
    const qn_summary s = qn_histogram_summary(*state);
    assert_int_equal(s.count, 3);
    assert_true(s.min == -5 && s.p50 == 0 && s.max == 0);
}

static void values_beyond_the_range_are_represented_by_the_maximum(void **state)
{
    qn_histogram_observe(*state, 1e13);
    qn_histogram_observe(*state, 1e300);
    const qn_summary s = qn_histogram_summary(*state);
    assert_int_equal(s.count, 2);
    assert_true(s.p99 == 1e300);
}

static void values_that_are_not_finite_are_not_counted(void **state)
{
    qn_histogram_observe(*state, NAN);
    qn_histogram_observe(*state, INFINITY);
    qn_histogram_observe(*state, 1);
    const qn_summary s = qn_histogram_summary(*state);
    assert_int_equal(s.count, 1);
    assert_true(s.sum == 1 && s.max == 1);
}

static void *observe_many(void *histogram)
{
    for (int i = 1; i <= N_UPDATES; i++)
        qn_histogram_observe(histogram, i);
    return NULL;
}

static void three_threads_lose_no_observation(void **state)
{
    pthread_t threads[N_THREADS];

    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, observe_many, *state), 0);
    /* A reader at any time sees a consistent state. */
    for (int i = 0; i < 20; i++) {
        const qn_summary part = qn_histogram_summary(*state);
        if (part.count)
            assert_true(part.min == 1 && part.p50 >= part.min && part.p50 <= part.max);
    }
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    const qn_summary s = qn_histogram_summary(*state);
    assert_int_equal(s.count, N_THREADS * N_UPDATES);
    assert_true(s.sum == N_THREADS * (0.5 * N_UPDATES * (N_UPDATES + 1.0)));
    assert_true(s.min == 1 && s.max == N_UPDATES);
    assert_near(s.p50, 0.5 * N_UPDATES, 0.02);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, open_histogram, close_histogram)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_of_a_uniform_distribution_are_within_two_percent),
        cmocka_unit_test(quantiles_of_an_exponential_distribution_are_within_two_percent),
        cmocka_unit_test(quantiles_over_many_decades_are_within_two_percent),
        cmocka_unit_test(every_single_value_is_represented_within_two_percent),
        WITH(an_empty_histogram_is_all_zero),
        WITH(equal_values_give_that_value_exactly),
        WITH(count_sum_min_max_and_last_are_exact),
        WITH(quantiles_are_the_nearest_rank),
        WITH(zero_and_negative_values_count_as_zero_in_quantiles),
        WITH(values_beyond_the_range_are_represented_by_the_maximum),
        WITH(values_that_are_not_finite_are_not_counted),
        WITH(three_threads_lose_no_observation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_crossover.c - the 90 % rule on curves of every shape. */
#include "test.h"

#include "util/crossover.h"

static const qn_i64 sizes[] = { 1000, 2000, 5000, 10000, 20000 };
static const double cpu[] = { 100, 100, 100, 100, 100 };

static void expect(const double *device, qn_i64 crossover, qn_i64 first_win, ptrdiff_t index)
{
    const qn_crossover found = qn_crossover_find(sizes, device, cpu, 5);

    assert_int_equal(found.crossover, crossover);
    assert_int_equal(found.first_win, first_win);
    assert_int_equal(found.crossover_i, index);
}

static void a_device_that_never_wins_has_none(void **state)
{
    (void)state;
    expect((double[]){ 500, 400, 300, 200, 100 }, 0, 0, -1);
}

static void a_device_that_always_wins_crosses_at_the_first_size(void **state)
{
    (void)state;
    expect((double[]){ 90, 80, 70, 60, 50 }, 1000, 1000, 0);
}

static void a_bump_in_the_middle_moves_the_crossover_behind_it(void **state)
{
    (void)state;
    expect((double[]){ 120, 80, 95, 70, 50 }, 10000, 2000, 3);
}

static void a_gain_below_ten_percent_is_a_first_win_but_no_crossover(void **state)
{
    (void)state;
    expect((double[]){ 120, 110, 99, 95, 90.001 }, 0, 5000, -1);
}

static void exactly_ninety_percent_is_enough(void **state)
{
    (void)state;
    expect((double[]){ 200, 200, 200, 200, 90 }, 20000, 20000, 4);
}

static void losing_at_the_largest_size_means_none(void **state)
{
    (void)state;
    expect((double[]){ 10, 10, 10, 10, 200 }, 0, 1000, -1);
}

static void a_missing_median_is_not_a_win(void **state)
{
    (void)state;
    expect((double[]){ 50, 50, NAN, 50, 50 }, 10000, 1000, 3);
    expect((double[]){ NAN, NAN, NAN, NAN, NAN }, 0, 0, -1);
}

static void a_single_size_and_no_size_work(void **state)
{
    const double fast = 5;
    const double slow = 500;

    (void)state;
    assert_int_equal(qn_crossover_find(sizes, &fast, cpu, 1).crossover, 1000);
    assert_int_equal(qn_crossover_find(sizes, &slow, cpu, 1).crossover_i, -1);
    assert_int_equal(qn_crossover_find(NULL, NULL, NULL, 0).crossover, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_that_never_wins_has_none),
        cmocka_unit_test(a_device_that_always_wins_crosses_at_the_first_size),
        cmocka_unit_test(a_bump_in_the_middle_moves_the_crossover_behind_it),
        cmocka_unit_test(a_gain_below_ten_percent_is_a_first_win_but_no_crossover),
        cmocka_unit_test(exactly_ninety_percent_is_enough),
        cmocka_unit_test(losing_at_the_largest_size_means_none),
        cmocka_unit_test(a_missing_median_is_not_a_win),
        cmocka_unit_test(a_single_size_and_no_size_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

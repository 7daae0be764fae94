/* test_timing.c - the loop of all measurements: a first run, runs to warm up, samples. */
#include "test.h"

#include "lab/timing.h"

/* Takes as many microseconds as it has run so far, and reports twice that as a second figure. */
static qn_status run(void *user, double *us, qn_err *err)
{
    int *n = user;

    if (++*n > 9)
        return qn_fail(err, QN_ERR_FAILED, "ran too often");
    us[0] = *n;
    us[1] = 2.0 * *n;
    return QN_OK;
}

static void figures_are_of_the_samples_only(void **state)
{
    qn_timing times[2];
    int n = 0;

    (void)state;
    must(qn_time_figures(2, 5, 2, run, &n, times, &failure));
    assert_int_equal(n, 8);
    assert_true(times[0].first_us == 1 && times[0].warm_us == 3);
    assert_int_equal(times[0].samples.n, 5);
    assert_true(times[0].samples.min == 4 && times[0].samples.median == 6);
    assert_true(times[1].samples.max == 16);
    assert_true(qn_time_best(&times[1]) == 2);
}

static void without_samples_the_first_run_is_the_best(void **state)
{
    qn_timing times[2];
    int n = 0;

    (void)state;
    must(qn_time_figures(0, 0, 2, run, &n, times, &failure));
    assert_int_equal(n, 1);
    assert_int_equal(times[0].samples.n, 0);
    assert_true(qn_time_best(&times[0]) == 1);
}

static void a_run_that_fails_ends_it(void **state)
{
    qn_timing times[2];
    int n = 0;

    (void)state;
    must_fail(qn_time_figures(3, 100, 2, run, &n, times, &failure), QN_ERR_FAILED, "too often");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_of_the_samples_only),
        cmocka_unit_test(without_samples_the_first_run_is_the_best),
        cmocka_unit_test(a_run_that_fails_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

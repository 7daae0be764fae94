/* test_clock.c - the clock moves forward, sleeps take their time, dates have one form. */
#include "test.h"

#include "util/clock.h"

#include <ctype.h>
#include <time.h>

static void time_never_runs_backwards(void **state)
{
    double last = qn_now_us();

    (void)state;
    for (int i = 0; i < 10000; i++) {
        const double now = qn_now_us();
        assert_true(now >= last);
        last = now;
    }
}

static void a_sleep_lasts_at_least_as_long_as_asked(void **state)
{
    const double start = qn_now_us();

    (void)state;
    qn_sleep_us(2500);
    assert_true(qn_now_us() - start >= 2499);
}

static void zero_and_negative_sleeps_return_at_once(void **state)
{
    const double start = qn_now_us();

    (void)state;
    qn_sleep_us(0);
    qn_sleep_us(-5e9);
    qn_sleep_us(0.0 / 0.0);
    assert_true(qn_now_us() - start < 1e6);
}

static void the_date_has_iso_form_and_is_now(void **state)
{
    static const char form[] = "dddd-dd-ddTdd:dd:ddZ";
    char date[QN_UTC_SIZE];
    struct tm t = { 0 };

    (void)state;
    qn_utc(date);
    assert_int_equal(strlen(date), strlen(form));
    for (size_t i = 0; form[i]; i++)
        assert_true(form[i] == 'd' ? isdigit((unsigned char)date[i]) : date[i] == form[i]);
    assert_non_null(strptime(date, "%Y-%m-%dT%H:%M:%SZ", &t));
    assert_in_range(time(NULL) - timegm(&t), 0, 60);
}

static void the_age_of_a_date_counts_from_now(void **state)
{
    char date[QN_UTC_SIZE];

    (void)state;
    qn_utc(date);
    assert_true(qn_utc_age_s(date) >= 0 && qn_utc_age_s(date) < 60);
    assert_true(qn_utc_age_s("1970-01-02T00:00:00Z") - difftime(time(NULL), 86400) < 60);
    assert_true(qn_utc_age_s("2001-01-01T00:00:00Z") - qn_utc_age_s("2001-01-01T01:00:00Z") > 3598);
    assert_true(isnan(qn_utc_age_s("")));
    assert_true(isnan(qn_utc_age_s("yesterday")));
    assert_true(isnan(qn_utc_age_s("2001-01-01T00:00:00Z and more")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_never_runs_backwards),
        cmocka_unit_test(a_sleep_lasts_at_least_as_long_as_asked),
        cmocka_unit_test(zero_and_negative_sleeps_return_at_once),
        cmocka_unit_test(the_date_has_iso_form_and_is_now),
        cmocka_unit_test(the_age_of_a_date_counts_from_now),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_clock.c - the clock goes forward, sleeps last, dates have one form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "util/clock.h"

#include <ctype.h>
#include <string.h>
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_never_runs_backwards),
        cmocka_unit_test(a_sleep_lasts_at_least_as_long_as_asked),
        cmocka_unit_test(zero_and_negative_sleeps_return_at_once),
        cmocka_unit_test(the_date_has_iso_form_and_is_now),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

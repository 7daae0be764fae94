/* test_pace.c - states for interruptions take at most a fiftieth of the time. */
#include "test.h"

#include "util/clock.h"
#include "util/pace.h"

static const double S = 1e6, BYTES = 1e9; /* 2 s by the first estimate */

/* A run that began so many seconds ago, with a state that took `cost` so many seconds ago. */
static qn_pace begun(double ago, double cost, double last)
{
    qn_pace pace = qn_pace_begin();

    pace.start_us -= ago * S;
    pace.last_us = pace.start_us;
    if (cost > 0) {
        qn_pace_note(&pace, BYTES, qn_now_us() - cost * S);
        pace.last_us -= last * S;
    }
    return pace;
}

static int is_due(qn_pace pace)
{
    return qn_pace_is_due(&pace, BYTES);
}

static void the_first_waits_until_it_is_a_fiftieth(void **state)
{
    (void)state;
    assert_false(is_due(begun(99, 0, 0)));
    assert_true(is_due(begun(101, 0, 0)));
    qn_pace small = begun(19, 0, 0);

    assert_false(qn_pace_is_due(&small, 1));
    small = begun(21, 0, 0);
    assert_true(qn_pace_is_due(&small, 1));
}

static void later_ones_wait_by_what_they_take(void **state)
{
    (void)state;
    assert_false(is_due(begun(390, 4, 300))); /* 4 s are spent, and the next one takes 4 s */
    assert_true(is_due(begun(410, 4, 300)));
    assert_false(is_due(begun(1000, 0.1, 19)));
    assert_true(is_due(begun(1000, 0.1, 21)));
}

static void the_least_pause_can_be_set(void **state)
{
    (void)state;
    setenv("QUERN_CHECKPOINT_S", "500", 1);
    assert_false(is_due(begun(499, 0, 0)));
    assert_true(is_due(begun(501, 0, 0)));
    setenv("QUERN_CHECKPOINT_S", "0", 1);
    assert_true(is_due(begun(0, 100, 0)));
    unsetenv("QUERN_CHECKPOINT_S");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_waits_until_it_is_a_fiftieth),
        cmocka_unit_test(later_ones_wait_by_what_they_take),
        cmocka_unit_test(the_least_pause_can_be_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

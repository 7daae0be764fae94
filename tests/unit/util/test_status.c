/* test_status.c - error sentences and sizes that cannot overflow. */
#include "test.h"

static void a_failure_leaves_its_status_and_one_line(void **state)
{
    qn_err err = { QN_OK, "" };

    (void)state;
    assert_int_equal(qn_fail(&err, QN_ERR_LIMIT, "group of %d\nexceeds %d", 512, 256),
                     QN_ERR_LIMIT);
    assert_int_equal(err.status, QN_ERR_LIMIT);
    assert_string_equal(err.text, "group of 512 exceeds 256");
    assert_int_equal(qn_fail(NULL, QN_ERR_IO, "nobody listens"), QN_ERR_IO);
}

static void a_prefix_goes_in_front_and_keeps_the_status(void **state)
{
    qn_err err = { QN_OK, "" };

    (void)state;
    qn_fail(&err, QN_ERR_NOMEM, "no room");
    assert_int_equal(qn_prefix(&err, "stage %s", "svf.shadow"), QN_ERR_NOMEM);
    assert_string_equal(err.text, "stage svf.shadow: no room");
}

static void sentences_too_long_are_cut_not_overrun(void **state)
{
    qn_err err = { QN_OK, "" };
    char text[1000];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    qn_fail(&err, QN_ERR_IO, "%s", text);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    qn_prefix(&err, "%s", text);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

static void what_a_terminal_would_obey_is_shown(void **state)
{
    qn_err err = { QN_OK, "" };

    (void)state;
    qn_fail(&err, QN_ERR_INPUT, "op '%s'", "\033[31mRED\x07\xC2\x9B\xFF \xC2\xB5");
    assert_string_equal(err.text, "op '\\x1b[31mRED\\x07\\xc2\\x9b\\xff \xC2\xB5'");
    qn_prefix(&err, "%s", "a\x1b.csv");
    qn_suffix(&err, "%s", "\x7f");
    assert_string_equal(err.text,
                        "a\\x1b.csv: op '\\x1b[31mRED\\x07\\xc2\\x9b\\xff \xC2\xB5'\\x7f");
}

static void sizes_that_overflow_are_refused_and_left_alone(void **state)
{
    qn_err err = { QN_OK, "" };
    size_t out = 5;

    (void)state;
    assert_int_equal(qn_size_mul(3, 4, "grid", &out, &err), QN_OK);
    assert_int_equal(out, 12);
    assert_int_equal(qn_size_add(3, 4, "grid", &out, &err), QN_OK);
    assert_int_equal(out, 7);
    assert_int_equal(qn_size_mul(SIZE_MAX / 2, 3, "grid dsm", &out, &err), QN_ERR_LIMIT);
    assert_string_equal(err.text, "grid dsm: 9223372036854775807 x 3 does not fit a size");
    assert_int_equal(qn_size_add(SIZE_MAX, 1, "grid dsm", &out, &err), QN_ERR_LIMIT);
    assert_int_equal(out, 7);
}

static void every_status_has_a_name(void **state)
{
    (void)state;
    assert_string_equal(qn_status_name(QN_OK), "ok");
    assert_string_equal(qn_status_name(QN_ERR_DEVICE_LOST), "device_lost");
    for (int i = QN_OK; i <= QN_ERR_FALLBACK; i++)
        assert_string_not_equal(qn_status_name((qn_status)i), "unknown");
    assert_string_equal(qn_status_name((qn_status)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_leaves_its_status_and_one_line),
        cmocka_unit_test(a_prefix_goes_in_front_and_keeps_the_status),
        cmocka_unit_test(sentences_too_long_are_cut_not_overrun),
        cmocka_unit_test(what_a_terminal_would_obey_is_shown),
        cmocka_unit_test(sizes_that_overflow_are_refused_and_left_alone),
        cmocka_unit_test(every_status_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

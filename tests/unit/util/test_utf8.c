/* test_utf8.c - valid and invalid sequences. */
#include "test.h"

#include "util/utf8.h"

static void valid_sequences_have_their_size(void **state)
{
    (void)state;
    assert_int_equal(qn_utf8_size(""), 1);
    assert_int_equal(qn_utf8_size("a"), 1);
    assert_int_equal(qn_utf8_size("\xC2\xB5"), 2);
    assert_int_equal(qn_utf8_size("\xE2\x82\xAC"), 3);
    assert_int_equal(qn_utf8_size("\xF4\x8F\xBF\xBF"), 4);
}

static void invalid_sequences_have_none(void **state)
{
    static const char *const bad[] = { "\x80",
                                       "\xC0\x80",
                                       "\xC1\xBF",
                                       "\xC2",
                                       "\xE0\x9F\xBF",
                                       "\xE2\x82",
                                       "\xED\xA0\x80",
                                       "\xF0\x8F\xBF\xBF",
                                       "\xF4\x90\x80\x80",
                                       "\xF5\x80",
                                       "\xFF",
                                       "\xF0\x9F\x98" };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(qn_utf8_size(bad[i]), 0);
}

static void characters_are_counted_not_bytes(void **state)
{
    (void)state;
    assert_int_equal(qn_utf8_count(""), 0);
    assert_int_equal(qn_utf8_count("3 \xC2\xB5s"), 4);
    assert_int_equal(qn_utf8_count("\xFF\xC2"), 2);
}

static void cleaning_replaces_only_what_is_wrong(void **state)
{
    qn_str out = { 0 };

    (void)state;
    qn_utf8_add_clean(&out, "a\xC2\xB5\xFF\n\x7F"
                            "b\xE2\x82");
    assert_string_equal(qn_str_get(&out), "a\xC2\xB5\xEF\xBF\xBD  b\xEF\xBF\xBD\xEF\xBF\xBD");
    qn_str_free(&out);
}

static void cleaning_removes_what_terminals_obey_and_xml_forbids(void **state)
{
    qn_str out = { 0 };

    (void)state;
    qn_utf8_add_clean(&out, "\xC2\x9B"
                            "1m\x1B\xEF\xBF\xBF\xEF\xBF\xBE\xC2\xA0");
    assert_string_equal(qn_str_get(&out), " 1m \xEF\xBF\xBD\xEF\xBF\xBD\xC2\xA0");
    qn_str_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_sequences_have_their_size),
        cmocka_unit_test(invalid_sequences_have_none),
        cmocka_unit_test(characters_are_counted_not_bytes),
        cmocka_unit_test(cleaning_replaces_only_what_is_wrong),
        cmocka_unit_test(cleaning_removes_what_terminals_obey_and_xml_forbids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

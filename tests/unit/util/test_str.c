/* test_str.c - growing strings and byte counts. */
#include "test.h"

#include "util/str.h"

static void an_empty_string_reads_as_empty_text(void **state)
{
    qn_str s = { 0 };

    (void)state;
    assert_string_equal(qn_str_get(&s), "");
    qn_str_free(&s);
    qn_str_free(&s);
}

static void appended_pieces_join_over_many_growths(void **state)
{
    qn_str s = { 0 };

    (void)state;
    for (int i = 0; i < 1000; i++) {
        qn_str_add(&s, "ab");
        qn_str_add_n(&s, "cdef", 1);
        qn_str_addf(&s, "%03d", i);
    }
    assert_int_equal(s.len, 6000);
    assert_int_equal(strlen(s.data), 6000);
    assert_memory_equal(s.data + 5994, "abc999", 7);
    qn_str_free(&s);
}

static void a_size_that_cannot_be_had_fails_once_and_for_all(void **state)
{
    qn_str s = { 0 };

    (void)state;
    qn_str_add(&s, "kept");
    qn_str_add_n(&s, "", SIZE_MAX - 2);
    assert_int_equal(s.failed, 1);
    qn_str_add(&s, "lost");
    qn_str_addf(&s, "%d", 1);
    assert_string_equal(qn_str_get(&s), "kept");
    qn_str_free(&s);
}

static void byte_counts_are_read_with_and_without_units(void **state)
{
    static const struct {
        const char *text;
        size_t bytes;
    } good[] = {
        { "0", 0 },
        { "1000", 1000 },
        { "1.5K", 1536 },
        { "512M", 512 << 20 },
        { "8G", (size_t)8 << 30 },
        { "2t", (size_t)2 << 40 },
        { ".5k", 512 },
        { "3.", 3 },
    };
    size_t bytes;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(qn_parse_bytes(good[i].text, &bytes), 0);
        assert_int_equal(bytes, good[i].bytes);
    }
}

static void other_text_is_no_byte_count(void **state)
{
    static const char *const bad[] = { "",
                                       "K",
                                       "-1",
                                       "+1",
                                       "1e3",
                                       "0x10",
                                       "inf",
                                       "nan",
                                       "5X",
                                       "5KB",
                                       " 5",
                                       "5 ",
                                       ".",
                                       "1..5K",
                                       "80%",
                                       "99999999999T",
                                       "18446744073709551616" };
    size_t bytes = 77;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (qn_parse_bytes(bad[i], &bytes) != -1)
            fail_msg("\"%s\" was taken", bad[i]);
    }
    assert_int_equal(bytes, 77);
}

static void byte_counts_are_shown_in_the_unit_that_fits(void **state)
{
    char text[32];

    (void)state;
    assert_string_equal(qn_format_bytes(12, text, sizeof text), "12 B");
    assert_string_equal(qn_format_bytes(640.0 * 1024, text, sizeof text), "640.0 KiB");
    assert_string_equal(qn_format_bytes(1.5 * (1 << 30), text, sizeof text), "1.50 GiB");
    assert_string_equal(qn_format_bytes(0, text, sizeof text), "0 B");
    assert_string_equal(qn_format_bytes(1e30, text, sizeof text), "888178419700125.25 PiB");
}

static void bytes_become_base64(void **state)
{
    static const struct {
        const char *bytes, *text;
    } known[] = { { "", "" },        { "f", "Zg==" },          { "fo", "Zm8=" },
                  { "foo", "Zm9v" }, { "foobar", "Zm9vYmFy" }, { "\xfb\xff\xbf", "+/+/" } };

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        qn_str s = { 0 };

        qn_str_add_base64(&s, known[i].bytes, strlen(known[i].bytes));
        assert_string_equal(qn_str_get(&s), known[i].text);
        qn_str_free(&s);
    }
}

static void lists_have_whole_items(void **state)
{
    char item[8];

    (void)state;
    assert_true(qn_list_has("vadd,sum", "vadd"));
    assert_true(qn_list_has("vadd,sum", "sum"));
    assert_false(qn_list_has("vadd,sum", "add"));
    assert_false(qn_list_has("vadd,sum", "su"));
    assert_false(qn_list_has("", "sum"));
    assert_int_equal(qn_list_item("a, b,,c", 2, item, sizeof item), 1);
    assert_string_equal(item, "c");
    assert_int_equal(qn_list_item("a, b,,c", 3, item, sizeof item), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_have_whole_items),
        cmocka_unit_test(an_empty_string_reads_as_empty_text),
        cmocka_unit_test(appended_pieces_join_over_many_growths),
        cmocka_unit_test(a_size_that_cannot_be_had_fails_once_and_for_all),
        cmocka_unit_test(byte_counts_are_read_with_and_without_units),
        cmocka_unit_test(other_text_is_no_byte_count),
        cmocka_unit_test(byte_counts_are_shown_in_the_unit_that_fits),
        cmocka_unit_test(bytes_become_base64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

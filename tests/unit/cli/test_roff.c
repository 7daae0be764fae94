/* test_roff.c - a rendered man page shows the text it was made from. */
#include "test.h"

#include "cli/manual/roff.c"

static void becomes(const char *text, const char *want)
{
    qn_str out = { 0 };

    qn_roff_add(&out, text);
    assert_string_equal(qn_str_get(&out), want);
    qn_str_free(&out);
}

static void hyphens_quotes_and_backslashes_can_be_pasted(void **state)
{
    (void)state;
    becomes("--out DIR", "\\-\\-out DIR");
    becomes("printf 'a\\n'", "printf \\(aqa\\en\\(aq");
    becomes("`x` ~/.cache \"q\" ^", "\\(gax\\(ga \\(ti/.cache \\(dqq\\(dq \\(ha");
}

static void a_line_that_begins_with_a_dot_is_no_request(void **state)
{
    (void)state;
    becomes(".TH is text", "\\&.TH is text");
    becomes("one\n.two", "one\n\\&.two");
    becomes("one. two", "one. two");
}

static void indented_lines_keep_their_blanks(void **state)
{
    (void)state;
    becomes("a\n  b", "a\n\\&  b");
}

static void an_apostrophe_at_the_start_is_no_request(void **state)
{
    (void)state;
    becomes("'solved'", "\\(aqsolved\\(aq");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hyphens_quotes_and_backslashes_can_be_pasted),
        cmocka_unit_test(a_line_that_begins_with_a_dot_is_no_request),
        cmocka_unit_test(indented_lines_keep_their_blanks),
        cmocka_unit_test(an_apostrophe_at_the_start_is_no_request),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_arc_limits.c - files made to take long or to fill memory: each limit gives a note. */
#include "arc_program_fixture.h"

static void file_with_errors_in_every_line_is_read_to_its_end(void **state)
{
    qn_str text = { 0 };
    qn_arc_file *file;

    (void)state;
    qn_str_add(&text, "def solve_a(I):\n");
    for (int i = 0; i < 20000; i++)
        qn_str_addf(&text, "    y%d = nothing%d(I)\n", i, i);
    file = parse(text.data);
    assert_int_equal(file->notes.n_errors, 20001); /* and there is no return */
    qn_arc_file_free(file);
    qn_str_free(&text);
}

static void hostile_sizes_have_limits(void **state)
{
    qn_str text = { 0 };
    qn_arc_file *file;
    qn_err err = { .text = "" };

    (void)state;
    for (int i = 0; i < (1 << 16) + 5; i++)
        qn_str_addf(&text, "def p%d(I):\n return I\n", i);
    file = parse(text.data);
    assert_int_equal(file->n_programs, 1 << 16);
    assert_int_equal(file->notes.n_errors, 1);
    assert_string_equal(file->notes.items[0].text, "a file holds at most 65536 programs");
    qn_arc_file_free(file);
    qn_str_free(&text);

    qn_str_add(&text, "def batt(task_id, S, I, C, log_path):\n s = []\n o = []\n");
    for (int i = 1; i <= 1100; i++)
        qn_str_addf(&text, " t%d = size(I)\n", i);
    qn_str_add(&text, " t2000 = env.do_pile(2000, [first, I], True");
    for (int i = 1; i <= 1100; i++)
        qn_str_addf(&text, " and t%d.ok", i);
    qn_str_add(&text, ")\n return o, s\n");
    file = parse(text.data);
    assert_int_equal(file->notes.n_errors, 1);
    assert_non_null(strstr(file->notes.items[file->notes.n - 1].text, "more than 1024 others"));
    qn_arc_file_free(file);

    assert_int_equal(qn_arc_parse("big.py", text.data, (16 << 20) + 1, NULL, 0, &file, &err),
                     QN_ERR_LIMIT);
    qn_str_free(&text);
}

static void notes_beyond_the_limit_are_counted(void **state)
{
    qn_str text = { 0 }, out = { 0 };
    qn_arc_file *file;

    (void)state;
    for (int i = 0; i < QN_ARC_MOST_NOTES + 7; i++)
        qn_str_add(&text, "x\n");
    file = parse(text.data);
    assert_int_equal(file->notes.n, QN_ARC_MOST_NOTES);
    assert_int_equal(file->notes.n_errors, QN_ARC_MOST_NOTES + 7);
    qn_arc_file_print_notes(file, &out);
    assert_non_null(strstr(out.data + out.len - 50, "file.py: 7 more errors and warnings\n"));
    qn_arc_file_free(file);
    qn_str_free(&out);
    qn_str_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_with_errors_in_every_line_is_read_to_its_end),
        cmocka_unit_test(hostile_sizes_have_limits),
        cmocka_unit_test(notes_beyond_the_limit_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

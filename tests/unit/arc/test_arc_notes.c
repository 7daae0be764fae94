/* test_arc_notes.c - messages about errors in program files, and their positions. */
#include "arc_program_fixture.h"

/* Names. */

static void unknown_name_is_reported_with_the_nearest_one(void **state)
{
    (void)state;
    assert_notes("def solve_a(I):\n    O = vmiror(I)\n    return O\n",
                 "2:9: error: unknown name 'vmiror', did you mean 'vmirror'?\n");
    assert_notes("def solve_a(I):\n    O = fill(I, THRE, I)\n    return O\n",
                 "2:17: error: unknown name 'THRE', did you mean 'THREE'?\n");
    assert_notes("def solve_a(I):\n    cells = first(I)\n    O = last(cell)\n    return O\n",
                 "2:5: warning: 'cells' is never used\n"
                 "3:14: error: unknown name 'cell', did you mean 'cells'?\n");
}

static void unknown_name_like_no_other_has_no_suggestion(void **state)
{
    (void)state;
    assert_notes("def solve_a(I):\n    O = first(qqqqqqqqqqqqq)\n    return O\n",
                 "2:15: error: unknown name 'qqqqqqqqqqqqq'\n");
}

static void use_before_assignment_names_the_line_below(void **state)
{
    (void)state;
    assert_notes("def solve_a(I):\n    O = first(x1)\n    x1 = last(I)\n    return O\n",
                 "2:15: error: 'x1' is used before it is assigned in line 3\n"
                 "3:5: warning: 'x1' is never used\n");
}

static void names_of_one_program_are_unknown_in_the_next(void **state)
{
    (void)state;
    assert_notes("def solve_a(I):\n    answer = first(I)\n    return answer\n"
                 "def solve_b(I):\n    return answer\n",
                 "5:12: error: return of unknown name 'answer'\n");
}

static void error_in_a_statement_leaves_its_name_known(void **state)
{
    (void)state;
    assert_notes("def solve_a(I):\n    x1 = first(I\n    O = last(x1)\n    return O\n",
                 "2:15: error: '(' is never closed\n");
}

static void name_longer_than_the_limit_is_refused(void **state)
{
    qn_str text = { 0 };

    (void)state;
    qn_str_add(&text, "def solve_a(I):\n    ");
    for (int i = 0; i < 300; i++)
        qn_str_add(&text, "x");
    qn_str_add(&text, " = first(I)\n    return I\n");
    assert_notes(text.data, "2:5: error: name of 300 bytes is longer than 255\n");
    qn_str_free(&text);
}

/* Calls. */

static void wrong_number_of_arguments_is_reported_at_the_primitive(void **state)
{
    (void)state;
    assert_notes("def solve_a(I):\n    O = fill(I, TWO)\n    return O\n",
                 "2:9: error: 'fill' takes 3 arguments, not 2\n");
    assert_notes("def solve_a(I):\n    O = first(size(I, I))\n    return O\n",
                 "2:15: error: 'size' takes 1 argument, not 2\n");
    assert_notes("def solve_a(I):\n    f = identity(size)\n    O = f()\n    return O\n",
                 "3:9: error: functions take 1 to 4 arguments, not 0\n");
}

static void what_is_not_a_call_is_reported_at_the_value(void **state)
{
    (void)state;
    assert_notes("def solve_a(I):\n    O = I\n    return O\n",
                 "2:9: error: not a call: a statement is NAME = function(arguments)\n");
    assert_notes("def solve_a(I):\n    O = (1, 2)\n    return O\n",
                 "2:9: error: not a call: a statement is NAME = function(arguments)\n");
    assert_notes("def solve_a(I):\n    O = -3\n    return O\n",
                 "2:9: error: not a call: a statement is NAME = function(arguments)\n");
}

static void constant_called_as_function_is_refused(void **state)
{
    (void)state;
    assert_notes("def solve_a(I):\n    O = THREE(I)\n    return O\n",
                 "2:9: error: 'THREE' is a constant, not a function\n");
    assert_notes("def solve_a(I):\n    O = True(I)\n    return O\n",
                 "2:9: error: 'True' is a constant, not a function\n");
}

static void number_beyond_32_bits_is_refused(void **state)
{
    (void)state;
    assert_notes("def solve_a(I):\n    O = repeat(I, 2147483648)\n    return O\n",
                 "2:19: error: number 2147483648 is beyond 32 bits\n");
    assert_notes("def solve_a(I):\n    O = repeat(I, 99999999999999999999999)\n    return O\n",
                 "2:19: error: number 99999999999999999999999 is beyond 32 bits\n");
    assert_notes("def solve_a(I):\n    O = repeat(I, 12ab)\n    return O\n",
                 "2:19: error: '12ab' is no number\n");
    assert_notes("def solve_a(I):\n    O = repeat(I, -2147483648)\n    return O\n", "");
}

/* Programs. */

static void duplicate_program_is_reported_at_its_name(void **state)
{
    (void)state;
    assert_notes("def solve_a(I):\n    return I\n\ndef solve_a(I):\n    return I\n",
                 "4:5: error: program 'a' is defined twice, first in line 1\n");
}

static void missing_return_is_reported_at_the_name(void **state)
{
    (void)state;
    assert_notes("def solve_a(I):\n    O = first(I)\n",
                 "1:5: error: program 'a' has no return\n2:5: warning: 'O' is never used\n");
    assert_notes("def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n",
                 "1:5: error: program 'batt' has no return\n");
    assert_notes("def solve_a(I):\ndef solve_b(I):\n    return I\n",
                 "1:5: error: program 'a' has no return\n");
}

static void return_of_unknown_name_is_reported_at_the_name(void **state)
{
    (void)state;
    assert_notes("def solve_a(I):\n    out = first(I)\n    return outt\n",
                 "2:5: warning: 'out' is never used\n"
                 "3:12: error: return of unknown name 'outt', did you mean 'out'?\n");
    assert_notes("def batt(task_id, S, I, C, log_path):\n    s = []\n    return o, s\n",
                 "3:12: error: return of unknown name 'o', did you mean 'S'?\n");
}

static void wrong_parameters_are_reported_at_the_first(void **state)
{
    (void)state;
    assert_notes("def solve_a(X):\n    return I\n",
                 "1:13: error: parameters are I, or S, I, C, or task_id, S, I, C, log_path\n");
    assert_notes("def solve_a():\n    return I\n",
                 "1:13: error: parameters are I, or S, I, C, or task_id, S, I, C, log_path\n");
}

/* Grammar. */

static void unexpected_token_is_reported_where_it_stands(void **state)
{
    (void)state;
    assert_notes("def solve_a(I):\n    O = first(I) x\n    return O\n",
                 "2:18: error: unexpected 'x'\n");
    assert_notes("def solve_a(I):\n    O = first(I,, I)\n    return O\n",
                 "2:17: error: unexpected ','\n");
    assert_notes("def solve_a(I):\n    O = first(I))\n    return O\n",
                 "2:17: error: unexpected ')'\n");
    assert_notes("def solve_a(I):\n    O = \n    return O\n",
                 "2:8: error: unexpected end of line\n");
    assert_notes("def solve_a(I):\n    O = first('text')\n    return O\n",
                 "2:15: error: unexpected text\n");
    assert_notes("def solve_a(I):\n    O = first(I) + 3\n    return O\n",
                 "2:18: error: unexpected '+'\n");
    assert_notes("def solve_a(I):\n    first(I)\n    return I\n", "2:10: error: unexpected '('\n");
    assert_notes("def solve_a(I)\n    return I\n", "1:15: error: unexpected end of line\n");
    assert_notes("x = 3\n", "1:1: error: unexpected 'x'\n");
    assert_notes("def solve_a(I):\n    O = first(\xC3\xA9)\n    return O\n",
                 "2:15: error: unexpected byte 0xC3\n");
}

static void bad_indentation_is_reported_at_the_first_word(void **state)
{
    (void)state;
    assert_notes("def solve_a(I):\n    x = first(I)\n      O = last(x)\n    return O\n",
                 "3:7: error: bad indentation, differs from line 2\n");
    assert_notes("def solve_a(I):\n\tx = first(I)\n        O = last(x)\n\treturn O\n",
                 "3:9: error: bad indentation, differs from line 2\n");
    assert_notes("  x = first(I)\n", "1:3: error: bad indentation outside a function\n");
}

static void unterminated_bracket_is_reported_at_the_bracket(void **state)
{
    (void)state;
    assert_notes("def solve_a(I):\n    O = astuple(first(I), (1, 2)\n    return O\n",
                 "2:16: error: '(' is never closed\n");
    assert_notes("def solve_a(I):\n    O = first(I\n", "1:5: error: program 'a' has no return\n"
                                                       "2:5: warning: 'O' is never used\n"
                                                       "2:14: error: '(' is never closed\n");
}

static void text_without_end_is_reported_at_its_quote(void **state)
{
    (void)state;
    assert_notes("def solve_a(I):\n    O = first(\"abc)\n    return O\n",
                 "2:15: error: text is never closed\n");
    assert_notes("def solve_a(I):\n    \"\"\" doc\n    return I\n",
                 "2:5: error: text is never closed\n");
}

static void brackets_nested_too_deeply_are_refused(void **state)
{
    qn_str text = { 0 };

    (void)state;
    qn_str_add(&text, "def solve_a(I):\n    O = first(");
    for (int i = 0; i < 64; i++)
        qn_str_add(&text, "(");
    for (int i = 0; i < 65; i++)
        qn_str_add(&text, ")");
    qn_str_add(&text, "\n    return O\n");
    assert_notes(text.data, "2:78: error: brackets are nested deeper than 64\n");
    qn_str_free(&text);
}

static void every_error_of_a_file_is_reported_in_order(void **state)
{
    (void)state;
    assert_notes("def solve_a(I):\n    x = firs(I)\n    y = last(I, x\n    z = fill(x, y)\n"
                 "    return z\ndef solve_b(I):\n    return O\n",
                 "2:9: error: unknown name 'firs', did you mean 'first'?\n"
                 "3:13: error: '(' is never closed\n"
                 "4:9: error: 'fill' takes 3 arguments, not 2\n"
                 "7:12: error: return of unknown name 'O', did you mean 'I'?\n");
}

/* Batt. */

#define BATT "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n"
#define DONE "    return o, s\n"

static void step_number_mismatch_is_reported_at_the_number(void **state)
{
    (void)state;
    assert_notes(BATT "    t1 = env.do_pile(2, [first, I], True)\n"
                      "    o.append((1, True, 'x', t1))\n" DONE,
                 "4:22: error: step number 2 in the assignment of 't1'\n");
    assert_notes(BATT "    step = env.do_pile(2, [first, I], True)\n"
                      "    o.append((1, True, 'x', step))\n" DONE,
                 "4:24: error: step number 2 in the assignment of 'step'\n");
}

static void faults_of_piled_steps_are_reported_where_they_stand(void **state)
{
    (void)state;
    assert_notes(BATT "    t1 = env.do_pile(1, [fill, I], True)\n" DONE,
                 "4:5: warning: 't1' is never used\n"
                 "4:26: error: 'fill' takes 3 arguments, not 1\n");
    assert_notes(BATT "    t1 = env.do_pile(1, [first, I], t0.ok)\n" DONE,
                 "4:5: warning: 't1' is never used\n"
                 "4:37: error: unknown step 't0', did you mean 'F0'?\n");
    assert_notes(BATT "    t1 = env.do_pile(1, [first, I), True)\n" DONE,
                 "4:5: warning: 't1' is never used\n4:34: error: unexpected ')'\n");
    assert_notes(BATT "    t1 = env.do_pile(1, [first, I], t1.no)\n" DONE,
                 "4:5: warning: 't1' is never used\n4:40: error: unexpected 'no'\n");
}

static void faults_of_guarded_steps_are_reported_once(void **state)
{
    (void)state;
    assert_notes(BATT "    try:\n        t1 = first(I\n    except (E):\n"
                      "        t1 = _get_safe_default(first)\n" DONE,
                 "5:9: warning: 't1' is never used\n5:19: error: '(' is never closed\n");
}

static void try_without_except_is_reported_at_the_try(void **state)
{
    (void)state;
    assert_notes(BATT "    try:\n        t1 = first(I)\n    o.append((1, True, 'x', t1))\n" DONE,
                 "4:5: error: 'try' without 'except'\n");
}

static void guarded_step_with_calls_inside_is_refused(void **state)
{
    (void)state;
    assert_notes(BATT "    try:\n        t1 = first(last(I))\n    except E:\n"
                      "        t1 = _get_safe_default(first)\n"
                      "    o.append((1, True, 'x', t1))\n" DONE,
                 "5:9: error: a guarded step is one call, without others inside\n");
}

static void records_for_lists_that_are_none_are_refused(void **state)
{
    (void)state;
    assert_notes(
        "def batt(task_id, S, I, C, log_path):\n    o = []\n    s.append((1, 'a', 'b', I))\n"
        "    s = []\n" DONE,
        "3:5: error: 's' is used before it is assigned in line 4\n");
    assert_notes(BATT "    o.append((1, 2, 'x', I))\n" DONE, "4:18: error: unexpected '2'\n");
    assert_notes(BATT "    q = []\n" DONE, "4:5: error: lists are called o and s\n");
}

/* Warnings. */

static void unused_variable_is_a_warning(void **state)
{
    (void)state;
    assert_notes("def solve_a(I):\n    x1 = first(I)\n    O = last(I)\n    return O\n",
                 "2:5: warning: 'x1' is never used\n");
}

static void variable_assigned_again_is_a_warning(void **state)
{
    (void)state;
    assert_notes("def solve_a(I):\n    x = first(I)\n    x = last(x)\n    return x\n",
                 "3:5: warning: 'x' is assigned again, first in line 2\n");
    assert_notes("def solve_a(I):\n    I = first(I)\n    return I\n",
                 "2:5: warning: parameter 'I' is assigned\n");
}

static void assigned_primitive_or_constant_is_a_warning(void **state)
{
    (void)state;
    assert_notes("def solve_a(I):\n    size = first(I)\n    return size\n",
                 "2:5: warning: 'size' is the name of a primitive\n");
    assert_notes("def solve_a(I):\n    TWO = first(I)\n    return TWO\n",
                 "2:5: warning: 'TWO' is the name of a constant\n");
}

/* Printing. */

static void printed_note_shows_line_and_caret(void **state)
{
    qn_arc_file *file = parse("def solve_a(I):\n\tO = firs(I)\n\treturn O\n");
    qn_str out = { 0 };

    (void)state;
    qn_arc_file_print_notes(file, &out);
    assert_string_equal(qn_str_get(&out),
                        "file.py:2:6: error: unknown name 'firs', did you mean 'first'?\n"
                        "\tO = firs(I)\n\t    ^\n");
    qn_str_free(&out);
    qn_arc_file_free(file);
}

static void printed_line_that_is_long_is_cut_around_the_caret(void **state)
{
    qn_str text = { 0 }, out = { 0 };
    qn_arc_file *file;
    const char *caret, *shown;

    (void)state;
    qn_str_add(&text, "def solve_a(I):\n    O = first((");
    for (int i = 0; i < 200; i++)
        qn_str_add(&text, "1, ");
    qn_str_add(&text, "nothing))\n    return O\n");
    file = parse(text.data);
    assert_int_equal(file->notes.n, 1);
    qn_arc_file_print_notes(file, &out);
    shown = strchr(out.data, '\n') + 1;
    caret = strchr(shown, '\n') + 1;
    assert_true(caret - shown < 170);
    assert_memory_equal(shown + strspn(caret, " "), "nothing", 7);
    qn_str_free(&out);
    qn_str_free(&text);
    qn_arc_file_free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_name_is_reported_with_the_nearest_one),
        cmocka_unit_test(unknown_name_like_no_other_has_no_suggestion),
        cmocka_unit_test(use_before_assignment_names_the_line_below),
        cmocka_unit_test(names_of_one_program_are_unknown_in_the_next),
        cmocka_unit_test(error_in_a_statement_leaves_its_name_known),
        cmocka_unit_test(name_longer_than_the_limit_is_refused),
        cmocka_unit_test(wrong_number_of_arguments_is_reported_at_the_primitive),
        cmocka_unit_test(what_is_not_a_call_is_reported_at_the_value),
        cmocka_unit_test(constant_called_as_function_is_refused),
        cmocka_unit_test(number_beyond_32_bits_is_refused),
        cmocka_unit_test(duplicate_program_is_reported_at_its_name),
        cmocka_unit_test(missing_return_is_reported_at_the_name),
        cmocka_unit_test(return_of_unknown_name_is_reported_at_the_name),
        cmocka_unit_test(wrong_parameters_are_reported_at_the_first),
        cmocka_unit_test(unexpected_token_is_reported_where_it_stands),
        cmocka_unit_test(bad_indentation_is_reported_at_the_first_word),
        cmocka_unit_test(unterminated_bracket_is_reported_at_the_bracket),
        cmocka_unit_test(text_without_end_is_reported_at_its_quote),
        cmocka_unit_test(brackets_nested_too_deeply_are_refused),
        cmocka_unit_test(every_error_of_a_file_is_reported_in_order),
        cmocka_unit_test(step_number_mismatch_is_reported_at_the_number),
        cmocka_unit_test(faults_of_piled_steps_are_reported_where_they_stand),
        cmocka_unit_test(faults_of_guarded_steps_are_reported_once),
        cmocka_unit_test(try_without_except_is_reported_at_the_try),
        cmocka_unit_test(guarded_step_with_calls_inside_is_refused),
        cmocka_unit_test(records_for_lists_that_are_none_are_refused),
        cmocka_unit_test(unused_variable_is_a_warning),
        cmocka_unit_test(variable_assigned_again_is_a_warning),
        cmocka_unit_test(assigned_primitive_or_constant_is_a_warning),
        cmocka_unit_test(printed_note_shows_line_and_caret),
        cmocka_unit_test(printed_line_that_is_long_is_cut_around_the_caret),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

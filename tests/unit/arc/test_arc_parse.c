/* test_arc_parse.c - all forms of program files, and the nodes they become. */
#include "arc_program_fixture.h"

#include "domain/arc/value/value.h"

/* Solve programs. */

static void solver_file_with_imports_and_texts_is_read_unmodified(void **state)
{
    qn_arc_file *file = parse_good(
        "# a comment\nfrom dsl import *\nimport constants\n\n\"\"\"about\nall\"\"\"\n\n"
        "def solve_67a3c6ac(I):\n    '''one'''\n    O = vmirror(I)  # two\n\n    return O\n"
        "\n\ndef solve_68b16354(I):\r\n\tO = hmirror(I)\r\n\treturn O\r\n");

    (void)state;
    assert_int_equal(file->n_programs, 2);
    assert_string_equal(file->programs[0].id, "67a3c6ac");
    assert_string_equal(file->programs[0].name, "solve_67a3c6ac");
    assert_int_equal(file->programs[0].line, 8);
    assert_int_equal(file->programs[0].n_statements, 1);
    assert_string_equal(file->programs[1].id, "68b16354");
    assert_int_equal(file->notes.n, 0);
    qn_arc_file_free(file);
}

static void program_without_prefix_keeps_its_name_as_id(void **state)
{
    qn_arc_file *file = parse_good("def other(I):\n    return I\ndef solve_(I):\n    return I\n");

    (void)state;
    assert_string_equal(file->programs[0].id, "other");
    assert_string_equal(file->programs[1].id, "solve_");
    qn_arc_file_free(file);
}

static void three_parameters_stand_in_three_slots(void **state)
{
    (void)state;
    assert_code(
        "def solve_a(S, I, C):\n    x = astuple(S, C)\n    O = astuple(x, I)\n    return O\n",
        "s3 = astuple(s0, s2); s2 = astuple(s3, s1); return s2");
}

static void nested_calls_become_steps_of_their_own(void **state)
{
    (void)state;
    assert_code("def solve_a(I):\n    O = fill(I, add(1, size(I)), ofcolor(I, -3))\n    return O\n",
                "s1 = size(s0); s2 = add(1, s1); s1 = ofcolor(s0, -3); s3 = fill(s0, s2, s1); "
                "return s3");
}

static void calls_may_go_over_lines(void **state)
{
    (void)state;
    assert_code(
        "def solve_a(I):\n    O = fill(\n        I,  # grid\n        3,\n  (\n(1, 2), (3, 4)),\n"
        "    )\n    P = first( \\\n  O)\n    return P\n",
        "s1 = fill(s0, 3, ((1, 2), (3, 4))); s0 = first(s1); return s0");
}

static void literals_are_constants(void **state)
{
    (void)state;
    assert_code("def solve_a(I):\n    O = astuple((1, True, None, -2147483648, (5,), (6), ()), T)\n"
                "    return O\n",
                "s0 = astuple((1, True, None, -2147483648, (5,), 6, ()), True); return s0");
    assert_code("def solve_a(I):\n    return (1, 2)\n", "return (1, 2)");
}

static void tuples_with_variables_are_made_when_the_program_runs(void **state)
{
    (void)state;
    assert_code("def solve_a(I):\n    O = first((I, 1))\n    return O\n",
                "s1 = tuple(s0, 1); s0 = first(s1); return s0");
    assert_code("def solve_a(I):\n    O = first((I, 1, 2, 3, 4, I))\n    return O\n",
                "s1 = tuple(s0, 1, 2, 3); s2 = tuple(4, s0); s0 = combine(s1, s2); s2 = first(s0); "
                "return s2");
}

static void called_variable_is_a_function_found_at_run_time(void **state)
{
    (void)state;
    assert_code("def solve_a(I):\n    f = branch(I, size, first)\n    O = f(I)\n    return O\n",
                "s1 = branch(s0, size, first); s2 = call s1(s0); return s2");
}

static void call_of_a_variable_with_four_arguments_binds_the_first(void **state)
{
    (void)state;
    assert_code("def solve_a(I):\n    f = identity(objects)\n    O = f(I, T, F, T)\n    return O\n",
                "s1 = identity(objects); s2 = lbind(s1, s0); s0 = call s2(True, False, True); "
                "return s0");
}

static void assigned_name_hides_what_it_was_before(void **state)
{
    (void)state;
    assert_code("def solve_a(I):\n    size = identity(height)\n    O = size(I)\n    I = first(I)\n"
                "    P = astuple(O, I)\n    return P\n",
                "s1 = identity(height); s2 = call s1(s0); s1 = first(s0); s0 = astuple(s2, s1); "
                "return s0");
}

static void last_return_gives_the_output(void **state)
{
    (void)state;
    assert_code("def solve_a(I):\n    return I\n    O = size(I)\n    return O\n",
                "s1 = size(s0); return s1");
}

/* Names. */

static void constants_of_both_dialects_have_their_values(void **state)
{
    (void)state;
    assert_code("def solve_a(I):\n"
                "    O = first((T, F, ZERO, TEN, NEG_ONE, NEG_TWO, NEG_TEN, F0, F9, L1, L10))\n"
                "    return O\n",
                "s0 = first((1, 0, 0, 10, -1, -2, -10, 0, 9, -1, -10)); return s0");
    assert_code("def solve_a(I):\n"
                "    O = first((R5, A9, BLACK, BURGUNDY, HUNDRED, THOUSAND, SM2, SM3, SD2, SD3))\n"
                "    return O\n",
                "s0 = first((5, 9, 0, 9, 100, 1000, 2, 3, -2, -3)); return s0");
    assert_code("def solve_a(I):\n    O = first((DOWN, RIGHT, UP, LEFT, ORIGIN, UNITY))\n"
                "    return O\n",
                "s0 = first(((1, 0), (0, 1), (-1, 0), (0, -1), (0, 0), (1, 1))); return s0");
    assert_code("def solve_a(I):\n    O = first((NEG_UNITY, UP_RIGHT, DOWN_LEFT, ZERO_BY_TWO))\n"
                "    return O\n",
                "s0 = first(((-1, -1), (-1, 1), (1, -1), (0, 2))); return s0");
    assert_code("def solve_a(I):\n    O = first((TWO_BY_ZERO, TWO_BY_TWO, THREE_BY_THREE))\n"
                "    return O\n",
                "s0 = first(((2, 0), (2, 2), (3, 3))); return s0");
}

static void typed_variants_are_the_untyped_primitive(void **state)
{
    static const struct {
        const char *name;
        int op;
    } some[] = {
        { "combine_t", ARC_OP_combine },
        { "size_f", ARC_OP_size },
        { "mfilter_f", ARC_OP_mfilter },
        { "mfilter_t", ARC_OP_mfilter_t },
        { "f_ofcolor", ARC_OP_ofcolor },
        { "c_branch", ARC_OP_branch },
        { "height_i", ARC_OP_height },
        { "height_t", ARC_OP_height },
        { "dmirror_o", ARC_OP_dmirror },
        { "difference_t", ARC_OP_difference_tuple },
        { "upscale_f", ARC_OP_upscale },
        { "get_arg_rank_t", ARC_OP_get_arg_rank },
        { "mostcommon_t", ARC_OP_mostcommon },
        { "get_common_rank_f", ARC_OP_get_common_rank },
        { "sizefilter_t", ARC_OP_sizefilter_t },
        { "mostcommon_f", -1 },
        { "fill_t", -1 },
        { "", -1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        assert_int_equal(qn_arc_op_named(some[i].name, strlen(some[i].name)), some[i].op);
}

static void every_primitive_is_found_by_its_name(void **state)
{
    (void)state;
    for (int op = 0; op < ARC_N_NAMED; op++) {
        const qn_arc_op *row = qn_arc_op_at(op);

        assert_int_equal(row->number, op);
        assert_int_equal(qn_arc_op_named(row->name, strlen(row->name)), op);
        assert_null(qn_arc_constant_named(row->name, strlen(row->name)));
        assert_in_range(row->arity, 1, 4);
        assert_non_null(strchr("SLQHK", row->class_));
    }
}

static void key_left_out_is_identity(void **state)
{
    (void)state;
    assert_code("def solve_a(I):\n    O = get_nth_by_key_t(I, 0)\n    return O\n",
                "s1 = get_nth_by_key_t(s0, 0, identity); return s1");
    assert_code("def solve_a(I):\n    O = get_nth_by_key_f(I, 0, size)\n    return O\n",
                "s1 = get_nth_by_key_f(s0, 0, size); return s1");
}

static void bindings_are_constants_of_any_value(void **state)
{
    const qn_arc_value two[2] = { { .kind = QN_ARC_INT, .number = 3 },
                                  { .kind = QN_ARC_INT, .number = 5 } };
    const qn_arc_value set = { .kind = QN_ARC_SET, .n = 2, .items = two };
    const qn_arc_value fn = { .kind = QN_ARC_PRIM, .number = ARC_OP_size };
    const qn_arc_binding bindings[] = { { "a0", &set }, { "f", &fn } };
    qn_arc_file *file = parse_bound(
        "def solve_case(I):\n    x = f(a0)\n    O = combine(a0, a0)\n    return O\n", bindings, 2);
    qn_arc_code code;
    qn_str dis = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(file->notes.n_errors, 0);
    code = compile_with(&file->programs[0], QN_ARC_OFF_INLINE);
    assert_int_equal(qn_arc_disassemble(&code, &dis, &err), QN_OK);
    assert_non_null(strstr(dis.data, "call size(frozenset({3, 5}))"));
    assert_non_null(strstr(dis.data, "combine(frozenset({3, 5}), frozenset({3, 5}))"));
    assert_int_equal(head_of(&code).n_const, 2);
    qn_str_free(&dis);
    qn_arc_code_free(&code);
    qn_arc_file_free(file);
}

static void bound_value_that_is_no_function_cannot_be_called(void **state)
{
    const qn_arc_value one = { .kind = QN_ARC_INT, .number = 1 };
    const qn_arc_binding binding = { "a0", &one };
    qn_arc_file *file =
        parse_bound("def solve_case(I):\n    O = a0(I)\n    return O\n", &binding, 1);

    (void)state;
    assert_int_equal(file->notes.n_errors, 1);
    assert_string_equal(file->notes.items[0].text, "'a0' is a constant, not a function");
    qn_arc_file_free(file);
}

/* Batt programs. */

#define BATT "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n"
#define DONE "    return o, s\n"

static void piled_steps_take_lists_and_tuples(void **state)
{
    (void)state;
    assert_code(BATT
                "    t1 = env.do_pile(1, [p_g, I], True)\n"
                "    t2 = env.do_pile(2, (first, t1.t), t1.ok)\n"
                "    t3 = env.do_pile(3, [identity, size], True)\n"
                "    t4 = env.do_pile(4, [t3.t, S], t3.ok)\n"
                "    o.append((4, True, 'abc', t2))\n    s.append((5, 'abc', 'def', t4.t))\n" DONE,
                "s2 = p_g(s1); s1 = first(s2); record 0 o 4 'abc' True: s1; s1 = identity(size); "
                "s2 = call s1(s0); record 1 s 5 'abc' 'def': s2; return");
}

static void steps_that_must_be_ok_and_are_no_operands_are_needed(void **state)
{
    (void)state;
    assert_code(BATT "    t1 = size(I)\n    t2 = size(S)\n"
                     "    t3 = env.do_pile(3, [increment, t1.t], t1.ok and t2.ok and True)\n"
                     "    o.append((3, False, 'x', t3))\n" DONE,
                "s2 = size(s1); s1 = size(s0); need s1; s0 = increment(s2); "
                "record 0 o 3 'x' False: s0; return");
}

static void many_needed_steps_are_gathered_in_a_tuple(void **state)
{
    (void)state;
    assert_code(
        BATT "    t1 = size(I)\n    t2 = height(I)\n    t3 = width(I)\n    t4 = size(S)\n"
             "    t5 = shape(I)\n    t6 = portrait(I)\n"
             "    t7 = env.do_pile(7, [first, S], t1.ok and t2.ok and t3.ok and t4.ok and t5.ok and"
             " t6.ok)\n    o.append((7, True, 'x', t7))\n" DONE,
        "s2 = size(s1); s3 = height(s1); s4 = width(s1); s5 = size(s0); s6 = shape(s1); "
        "s7 = portrait(s1); s1 = tuple(s2, s3, s4, s5); need s1, s6, s7; s1 = first(s0); "
        "record 0 o 7 'x' True: s1; return");
}

static void step_that_is_never_ok_fails(void **state)
{
    (void)state;
    assert_code(BATT "    t1 = env.do_pile(1, [first, I], False)\n"
                     "    o.append((1, True, 'x', t1))\n" DONE,
                "s0 = fail(); record 0 o 1 'x' True: s0; return");
}

static void guarded_step_has_the_default_of_its_primitive(void **state)
{
    static const struct {
        const char *call, *fn, *expected;
    } forms[] = {
        { "ofcolor(I, 1)", "ofcolor", "ofcolor(s1, 1) else {}" },
        { "rot90(I)", "rot90", "rot90(s1) else ()" },
        { "size(I)", "size", "size(s1) else 0" },
        { "index(I, (1, 1))", "index", "index(s1, (1, 1)) else 0" },
        { "even(I)", "even", "even(s1) else False" },
        { "lbind(add, I)", "lbind", "lbind(add, s1) else a function that gives ()" },
        { "first_t(I)", "first_t", "first(s1) else ()" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char text[512], expected[256];

        snprintf(text, sizeof text,
                 BATT "    try:\n        t1 = %s\n    except (TypeError, E) as e:\n"
                      "        t1 = _get_safe_default(%s)\n    o.append((1, True, 'x', t1))\n" DONE,
                 forms[i].call, forms[i].fn);
        snprintf(expected, sizeof expected, "s0 = %s; record 0 o 1 'x' True: s0; return",
                 forms[i].expected);
        assert_code(text, expected);
        snprintf(text, sizeof text,
                 BATT "    try: t1 = %s\n    except: t1 = _get_safe_default(%s)\n"
                      "    o.append((1, True, 'x', t1))\n" DONE,
                 forms[i].call, forms[i].fn);
        assert_code(text, expected);
    }
}

static void guarded_call_of_a_variable_gives_the_empty_tuple(void **state)
{
    (void)state;
    assert_code(BATT "    t1 = identity(size)\n    try:\n        t2 = t1(I)\n    except E:\n"
                     "        t2 = _get_safe_default(t1)\n    o.append((1, True, 'x', t2))\n" DONE,
                "s0 = identity(size); s2 = call s0(s1) else (); record 0 o 1 'x' True: s2; return");
}

static void records_of_parameters_and_constants_are_made_at_the_end(void **state)
{
    (void)state;
    assert_code(BATT "    o.append((1, True, 'x', I))\n    o.append((2, True, 'x', THREE))\n"
                     "    t1 = size(I)\n    s.append((3, 'y', 'z', t1))\n" DONE,
                "s0 = size(s1); record 2 s 3 'y' 'z': s0; record 0 o 1 'x' True: s1; "
                "record 1 o 2 'x' True: 3; return");
}

static void generated_file_of_2868_steps_is_one_program(void **state)
{
    qn_str text = { 0 };
    qn_arc_file *file;
    qn_arc_code code;

    (void)state;
    make_batt(2868, &text);
    file = parse_good(text.data);
    assert_int_equal(file->n_programs, 1);
    assert_int_equal(file->programs[0].n_statements, 2868);
    assert_int_equal(file->programs[0].dag.n_records, 57 + 31 + 1);
    code = compile_with(&file->programs[0], QN_ARC_OFF_ALL);
    assert_true(head_of(&code).n_ins >= 2868 + 57 + 31 + 1 + 1);
    assert_true(head_of(&code).n_slot < 64);
    assert_int_equal(code.n_outputs, 89);
    assert_int_equal(code.outputs[0].number, 50);
    assert_string_equal(code.outputs[88].task, "last");
    qn_arc_code_free(&code);
    qn_arc_file_free(file);
    qn_str_free(&text);
}

/* The original solvers. */

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void original_solvers_parse_and_compile(void **state)
{
    qn_arc_file *file = parse_solvers();
    int n_statements[400], n_primitive = 0, n_variable = 0, most_slots = 0;

    (void)state;
    assert_int_equal(file->n_programs, 400);
    assert_int_equal(file->notes.n_errors, 0);
    for (int i = 0; i < 400; i++) {
        const qn_arc_source *program = &file->programs[i];
        qn_arc_code code = compile_with(program, 0);

        n_statements[i] = program->n_statements;
        n_primitive += program->n_primitive_calls;
        n_variable += program->n_variable_calls;
        if (head_of(&code).n_slot > most_slots)
            most_slots = head_of(&code).n_slot;
        qn_arc_code_free(&code);
    }
    qsort(n_statements, 400, sizeof *n_statements, ascending);
    assert_int_equal(n_statements[0], 1);
    assert_int_equal((n_statements[199] + n_statements[200]) / 2, 9);
    assert_int_equal(n_statements[399], 60);
    assert_int_equal(n_primitive, 4849);
    assert_int_equal(n_variable, 125);
    assert_true(most_slots <= 16);
    qn_arc_file_free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solver_file_with_imports_and_texts_is_read_unmodified),
        cmocka_unit_test(program_without_prefix_keeps_its_name_as_id),
        cmocka_unit_test(three_parameters_stand_in_three_slots),
        cmocka_unit_test(nested_calls_become_steps_of_their_own),
        cmocka_unit_test(calls_may_go_over_lines),
        cmocka_unit_test(literals_are_constants),
        cmocka_unit_test(tuples_with_variables_are_made_when_the_program_runs),
        cmocka_unit_test(called_variable_is_a_function_found_at_run_time),
        cmocka_unit_test(call_of_a_variable_with_four_arguments_binds_the_first),
        cmocka_unit_test(assigned_name_hides_what_it_was_before),
        cmocka_unit_test(last_return_gives_the_output),
        cmocka_unit_test(constants_of_both_dialects_have_their_values),
        cmocka_unit_test(typed_variants_are_the_untyped_primitive),
        cmocka_unit_test(every_primitive_is_found_by_its_name),
        cmocka_unit_test(key_left_out_is_identity),
        cmocka_unit_test(bindings_are_constants_of_any_value),
        cmocka_unit_test(bound_value_that_is_no_function_cannot_be_called),
        cmocka_unit_test(piled_steps_take_lists_and_tuples),
        cmocka_unit_test(steps_that_must_be_ok_and_are_no_operands_are_needed),
        cmocka_unit_test(many_needed_steps_are_gathered_in_a_tuple),
        cmocka_unit_test(step_that_is_never_ok_fails),
        cmocka_unit_test(guarded_step_has_the_default_of_its_primitive),
        cmocka_unit_test(guarded_call_of_a_variable_gives_the_empty_tuple),
        cmocka_unit_test(records_of_parameters_and_constants_are_made_at_the_end),
        cmocka_unit_test(generated_file_of_2868_steps_is_one_program),
        cmocka_unit_test(original_solvers_parse_and_compile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

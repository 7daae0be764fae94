/* test_arc_passes.c - what the compiler merges, fuses and removes, and what it must not. */
#include "arc_program_fixture.h"

#define ONE  "def solve_a(I):\n"
#define BATT "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n"
#define DONE "    return o, s\n"

/* Merging. */

static void equal_operations_become_one(void **state)
{
    const char *text = ONE "    x = ofcolor(I, TWO)\n    y = ofcolor(I, 2)\n"
                           "    O = combine(x, y)\n    return O\n";

    (void)state;
    assert_code(text, "s1 = ofcolor(s0, 2); s0 = combine(s1, s1); return s0");
    assert_code_with(text, QN_ARC_OFF_MERGE,
                     "s1 = ofcolor(s0, 2); s2 = ofcolor(s0, 2); s0 = combine(s1, s2); return s0");
}

static void truth_value_is_not_merged_with_its_number(void **state)
{
    (void)state;
    assert_code(ONE "    x = astuple(I, True)\n    y = astuple(I, 1)\n    O = astuple(x, y)\n"
                    "    return O\n",
                "s1 = astuple(s0, True); s2 = astuple(s0, 1); s0 = astuple(s1, s2); return s0");
}

static void closures_that_are_compared_stay_two(void **state)
{
    (void)state;
    assert_code(ONE "    f = lbind(add, 1)\n    g = lbind(add, 1)\n    O = equality(f, g)\n"
                    "    return O\n",
                "s0 = lbind(add, 1); s1 = lbind(add, 1); s2 = equality(s0, s1); return s2");
}

static void closures_that_are_only_called_become_one(void **state)
{
    (void)state;
    assert_code(ONE "    f = lbind(add, 1)\n    x = apply(f, I)\n    g = lbind(add, 1)\n"
                    "    y = apply(g, I)\n    O = astuple(x, y)\n    return O\n",
                "s1 = lbind(add, 1); s2 = apply(s1, s0); s0 = astuple(s2, s2); return s0");
}

static void operations_that_make_closures_when_they_run_stay_two(void **state)
{
    (void)state;
    assert_code(ONE "    f = lbind(lbind, add)\n    x = apply(f, I)\n    y = apply(f, I)\n"
                    "    O = astuple(x, y)\n    return O\n",
                "s1 = lbind(lbind, add); s2 = apply(s1, s0); s3 = apply(s1, s0); "
                "s0 = astuple(s2, s3); return s0");
}

static void guarded_and_plain_steps_stay_two(void **state)
{
    (void)state;
    assert_code(BATT "    t1 = size(I)\n    try:\n        t2 = size(I)\n    except E:\n"
                     "        t2 = _get_safe_default(size)\n    t3 = astuple(t1, t2)\n"
                     "    o.append((1, True, 'x', t3))\n" DONE,
                "s0 = size(s1); s2 = size(s1) else 0; s1 = astuple(s0, s2); "
                "record 0 o 1 'x' True: s1; return");
}

/* Dead code. */

static void dead_operation_that_cannot_fail_is_removed(void **state)
{
    const char *text = ONE "    x = objects(I, T, F, T)\n    f = compose(size, first)\n"
                           "    O = vmirror(I)\n    return O\n";

    (void)state;
    assert_code(text, "s1 = vmirror(s0); return s1");
    assert_code_with(text, QN_ARC_OFF_DEAD,
                     "s1 = objects(s0, True, False, True); s1 = compose(size, first); "
                     "s1 = vmirror(s0); return s1");
}

static void dead_operation_that_may_fail_stays_with_what_it_needs(void **state)
{
    (void)state;
    assert_code(ONE "    x = ofcolor(I, 3)\n    y = first(x)\n    O = vmirror(I)\n    return O\n",
                "s1 = ofcolor(s0, 3); s2 = first(s1); s2 = vmirror(s0); return s2");
}

static void kinds_are_followed_through_the_program(void **state)
{
    (void)state;
    /* A grid with replaced colours is still a grid; nothing is known about the value of first. */
    assert_code(ONE "    x = replace(I, 1, 2)\n    y = rot90(x)\n    z = asindices(y)\n"
                    "    w = box(z)\n    return I\n",
                "return s0");
    assert_code(ONE "    x = first(I)\n    y = rot90(x)\n    return I\n",
                "s1 = first(s0); s2 = rot90(s1); return s0");
    assert_code(ONE "    x = objects(I, T, F, T)\n    y = merge(x)\n    return I\n",
                "s1 = objects(s0, True, False, True); s2 = merge(s1); return s0");
}

static void grid_with_something_else_written_in_is_no_grid(void **state)
{
    (void)state;
    assert_code(ONE "    x = fill(I, UP, ofcolor(I, 1))\n    y = asobject(x)\n    return I\n",
                "s1 = ofcolor(s0, 1); s2 = fill(s0, (-1, 0), s1); s1 = asobject(s2); return s0");
}

static void dead_steps_of_batt_programs_go_even_if_they_fail(void **state)
{
    (void)state;
    assert_code(BATT "    t1 = first(I)\n    t2 = rot90(t1)\n    t3 = size(I)\n"
                     "    o.append((1, True, 'x', t3))\n" DONE,
                "s0 = size(s1); record 0 o 1 'x' True: s0; return");
}

/* Expanded calls. */

static void calls_of_known_functions_become_operations(void **state)
{
    (void)state;
    assert_code(ONE "    f = compose(height, asindices)\n    O = f(I)\n    return O\n",
                "s1 = asindices(s0); s0 = height(s1); return s0");
    assert_code(ONE "    f = chain(height, asindices, rot90)\n    O = f(I)\n    return O\n",
                "s1 = rot90(s0); s0 = asindices(s1); s1 = height(s0); return s1");
    assert_code(ONE "    f = fork(hconcat, rot90, rot180)\n    O = f(I)\n    return O\n",
                "s1 = rot90(s0); s2 = rot180(s0); s0 = hconcat(s1, s2); return s0");
    assert_code(ONE "    f = matcher(height, 3)\n    O = f(I)\n    return O\n",
                "s1 = height(s0); s0 = equality(s1, 3); return s0");
    assert_code(ONE "    f = rbind(replace, 3)\n    g = lbind(f, I)\n    O = g(4)\n    return O\n",
                "s1 = replace(s0, 4, 3); return s1");
    assert_code(ONE "    f = power(rot90, 2)\n    O = f(I)\n    return O\n",
                "s1 = rot90(s0); s0 = rot90(s1); return s0");
    assert_code_with(ONE "    f = power(rot90, 2)\n    O = f(I)\n    return O\n", QN_ARC_OFF_INLINE,
                     "s1 = power(rot90, 2); s2 = call s1(s0); return s2");
}

/* A call that would fail is left to fail at run time, and a long or unknown one is left to run. */
static void calls_that_may_be_others_are_left(void **state)
{
    static const char *const bodies[] = {
        "    f = compose(height, add)\n    O = f(I)\n",
        "    f = compose(height, rot90)\n    O = f(I, I)\n",
        "    f = rbind(size, 3)\n    O = f(I, I, I)\n",
        "    f = power(rot90, 9)\n    O = f(I)\n",
        "    f = power(rot90, 0)\n    O = f(I)\n",
        "    f = branch(I, rot90, rot180)\n    O = f(I)\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char text[256];
        qn_arc_file *file;
        qn_arc_code code;
        int n_calls = 0;

        snprintf(text, sizeof text, ONE "%s    return O\n", bodies[i]);
        file = parse_good(text);
        code = compile_with(&file->programs[0], 0);
        for (int k = 0; k < head_of(&code).n_ins; k++)
            n_calls += ins_of(&code, k).op == ARC_OP_CALL;
        assert_int_equal(n_calls, 1);
        qn_arc_code_free(&code);
        qn_arc_file_free(file);
    }
}

/* Fusion. */

static void assert_fused(const char *body, const char *fused, unsigned off, const char *plain)
{
    char text[512];

    snprintf(text, sizeof text, ONE "%s    return O\n", body);
    assert_code(text, fused);
    assert_code_with(text, off, plain);
}

static void patterns_are_fused_and_each_can_be_switched_off(void **state)
{
    (void)state;
    assert_fused("    O = size(ofcolor(I, 3))\n", "s1 = colorcount(s0, 3); return s1",
                 QN_ARC_OFF_COLORCOUNT, "s1 = ofcolor(s0, 3); s0 = size(s1); return s0");
    assert_fused("    O = fill(I, 3, ofcolor(I, 5))\n", "s1 = replace(s0, 5, 3); return s1",
                 QN_ARC_OFF_REPLACE, "s1 = ofcolor(s0, 5); s2 = fill(s0, 3, s1); return s2");
    assert_fused("    O = paint(I, recolor(3, asindices(I)))\n",
                 "s1 = asindices(s0); s2 = fill(s0, 3, s1); return s2", QN_ARC_OFF_FILL,
                 "s1 = asindices(s0); s2 = recolor(3, s1); s1 = paint(s0, s2); return s1");
    assert_fused("    O = first(order(objects(I, T, T, T), size))\n",
                 "s1 = objects(s0, True, True, True); s0 = argmin_size(s1); return s0",
                 QN_ARC_OFF_ARGMIN,
                 "s1 = objects(s0, True, True, True); s0 = order(s1, size); s1 = first(s0); "
                 "return s1");
    assert_fused("    O = first(sizefilter(partition(I), 3))\n",
                 "s1 = partition(s0); s0 = first_of_size(s1, 3); return s0", QN_ARC_OFF_OF_SIZE,
                 "s1 = partition(s0); s0 = sizefilter(s1, 3); s1 = first(s0); return s1");
    assert_fused("    O = argmax(I, size)\n", "s1 = argmax_size(s0); return s1", QN_ARC_OFF_BY_SIZE,
                 "s1 = argmax(s0, size); return s1");
    assert_fused("    O = argmax(objects(I, T, F, T), size)\n",
                 "s1 = largest_object(s0, True, False, True); return s1", QN_ARC_OFF_LARGEST,
                 "s1 = objects(s0, True, False, True); s0 = argmax_size(s1); return s0");
}

static void pattern_whose_inner_value_is_used_elsewhere_is_left(void **state)
{
    (void)state;
    assert_code(ONE "    x = ofcolor(I, 3)\n    y = size(x)\n    O = astuple(x, y)\n    return O\n",
                "s1 = ofcolor(s0, 3); s0 = size(s1); s2 = astuple(s1, s0); return s2");
}

static void pattern_that_could_fail_otherwise_is_left(void **state)
{
    (void)state;
    /* The value of first may not be a grid; a colour may be missing; keys may be sets. */
    assert_code(ONE "    x = first(I)\n    O = size(ofcolor(x, 3))\n    return O\n",
                "s1 = first(s0); s0 = ofcolor(s1, 3); s1 = size(s0); return s1");
    assert_code(ONE "    O = fill(I, first(I), ofcolor(I, 5))\n    return O\n",
                "s1 = first(s0); s2 = ofcolor(s0, 5); s3 = fill(s0, s1, s2); return s3");
    assert_code(ONE "    O = first(sizefilter(first(I), 3))\n    return O\n",
                "s1 = first(s0); s0 = sizefilter(s1, 3); s1 = first(s0); return s1");
    assert_code(
        ONE "    O = argmax(objects(first(I), T, T, T), size)\n    return O\n",
        "s1 = first(s0); s0 = objects(s1, True, True, True); s1 = argmax_size(s0); return s1");
    assert_code(ONE "    O = first(order(I, palette))\n    return O\n",
                "s1 = order(s0, palette); s0 = first(s1); return s0");
    assert_code(ONE "    O = paint(I, recolor(3, totuple(I)))\n    return O\n",
                "s1 = totuple(s0); s2 = recolor(3, s1); s1 = paint(s0, s2); return s1");
}

static void guarded_steps_are_not_fused(void **state)
{
    (void)state;
    assert_code(BATT
                "    t1 = ofcolor(I, 3)\n    try:\n        t2 = size(t1)\n    except E:\n"
                "        t2 = _get_safe_default(size)\n    o.append((1, True, 'x', t2))\n" DONE,
                "s0 = ofcolor(s1, 3); s1 = size(s0) else 0; record 0 o 1 'x' True: s1; return");
}

static void replace_keeps_the_order_in_which_bad_colours_count(void **state)
{
    (void)state;
    assert_code(BATT "    t1 = mostcolor(I)\n    t2 = leastcolor(I)\n    t3 = ofcolor(I, t2)\n"
                     "    t4 = fill(I, t1, t3)\n    o.append((1, True, 'x', t4))\n" DONE,
                "s0 = mostcolor(s1); s2 = leastcolor(s1); s3 = ofcolor(s1, s2); "
                "s2 = fill(s1, s0, s3); record 0 o 1 'x' True: s2; return");
}

/* Cost. */

static uint32_t cost_of(const char *statement)
{
    char text[256];
    qn_arc_file *file;
    qn_arc_code code;
    uint32_t cost;

    snprintf(text, sizeof text, ONE "    O = %s\n    return O\n", statement);
    file = parse_good(text);
    code = compile_with(&file->programs[0], 0);
    cost = head_of(&code).cost;
    qn_arc_code_free(&code);
    qn_arc_file_free(file);
    return cost;
}

static void cost_grows_with_the_class_of_primitives(void **state)
{
    (void)state;
    assert_int_equal(cost_of("identity(I)"), 1);
    assert_int_equal(cost_of("vmirror(I)"), 4);
    assert_int_equal(cost_of("objects(I, T, T, T)"), 32);
    assert_int_equal(cost_of("apply(size, I)"), 20);
    assert_int_equal(cost_of("equality(1, 2)"), 1);
    assert_int_equal(cost_of("vmirror(vmirror(I))"), 8);
}

/* Limits. */

static void program_with_errors_is_not_compiled(void **state)
{
    qn_arc_file *file = parse("def solve_a(I):\n    return O\n");
    qn_arc_code code = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_arc_compile(&file->programs[0], 0, &code, &err), QN_ERR_INPUT);
    assert_string_equal(err.text, "program a has 1 errors");
    qn_arc_file_free(file);
}

static void program_of_too_many_instructions_is_refused(void **state)
{
    qn_str text = { 0 };
    qn_arc_file *file;
    qn_arc_code code = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    qn_str_add(&text, ONE "    x = first(I)\n");
    for (int i = 0; i < 65536; i++)
        qn_str_add(&text, "    x = first(x)\n");
    qn_str_add(&text, "    return x\n");
    file = parse_good(text.data);
    assert_int_equal(qn_arc_compile(&file->programs[0], 0, &code, &err), QN_ERR_LIMIT);
    assert_string_equal(err.text, "program a: more instructions than a program can have");
    qn_arc_file_free(file);
    qn_str_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_operations_become_one),
        cmocka_unit_test(truth_value_is_not_merged_with_its_number),
        cmocka_unit_test(closures_that_are_compared_stay_two),
        cmocka_unit_test(closures_that_are_only_called_become_one),
        cmocka_unit_test(operations_that_make_closures_when_they_run_stay_two),
        cmocka_unit_test(guarded_and_plain_steps_stay_two),
        cmocka_unit_test(dead_operation_that_cannot_fail_is_removed),
        cmocka_unit_test(dead_operation_that_may_fail_stays_with_what_it_needs),
        cmocka_unit_test(kinds_are_followed_through_the_program),
        cmocka_unit_test(grid_with_something_else_written_in_is_no_grid),
        cmocka_unit_test(dead_steps_of_batt_programs_go_even_if_they_fail),
        cmocka_unit_test(calls_of_known_functions_become_operations),
        cmocka_unit_test(calls_that_may_be_others_are_left),
        cmocka_unit_test(patterns_are_fused_and_each_can_be_switched_off),
        cmocka_unit_test(pattern_whose_inner_value_is_used_elsewhere_is_left),
        cmocka_unit_test(pattern_that_could_fail_otherwise_is_left),
        cmocka_unit_test(guarded_steps_are_not_fused),
        cmocka_unit_test(replace_keeps_the_order_in_which_bad_colours_count),
        cmocka_unit_test(cost_grows_with_the_class_of_primitives),
        cmocka_unit_test(program_with_errors_is_not_compiled),
        cmocka_unit_test(program_of_too_many_instructions_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

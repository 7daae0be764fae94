/* test_arc_make.c - random programs and grids are reproducible and well formed. */
#include "test.h"

#include <ctype.h>

#include "lab/made/make.h"
#include "lab/made/maker.h"
#include "domain/arc/value/value.h"
#include "kernel/arc/arc_ops.h"
#include "util/hash.h"

static int find_op(const char *name)
{
    return qn_arc_op_named(name, strlen(name));
}

static char *program(uint64_t seed, int n_statements, int wrong_pct)
{
    qn_str text = { 0 };

    qn_arc_make_program(
        seed, "made",
        &(qn_arc_make_options){ .n_statements = n_statements, .wrong_pct = wrong_pct }, &text);
    assert_false(text.failed);
    return text.data;
}

static char *batt(uint64_t seed, int n_steps, int wrong_pct)
{
    qn_str text = { 0 };

    qn_arc_make_batt(seed, n_steps, &(qn_arc_make_options){ .wrong_pct = wrong_pct }, &text);
    assert_false(text.failed);
    return text.data;
}

static int count(const char *text, const char *what)
{
    int n = 0;

    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

static void same_seed_gives_the_same_text(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        char *one = program(seed, 0, 10);
        char *two = program(seed, 0, 10);
        char *other = program(seed + 1000, 0, 10);

        assert_string_equal(one, two);
        assert_string_not_equal(one, other);
        free(one);
        free(two);
        free(other);
    }
}

static void programs_have_5_to_80_statements_or_as_many_as_asked(void **state)
{
    int least = 1000;
    int most = 0;
    char *text;

    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        int n;

        text = program(seed, 0, 0);
        n = count(text, " = ");
        least = n < least ? n : least;
        most = n > most ? n : most;
        free(text);
    }
    assert_int_equal(least, 5);
    assert_int_equal(most, 80);
    text = program(3, 200, 0);
    assert_int_equal(count(text, " = "), 200);
    free(text);
}

/* Every variable `letter`N in the text is assigned on an earlier line. */
static void check_variables(const char *text, char letter)
{
    int n_assigned = 0;

    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        const size_t n = strcspn(line, "\n");
        int assigned = 0;

        for (size_t i = 1; i < n; i++) {
            int number;

            if (line[i] != letter || isalnum((unsigned char)line[i - 1]) || line[i - 1] == '_' ||
                !isdigit((unsigned char)line[i + 1]))
                continue;
            number = atoi(line + i + 1);
            if (strncmp(line + i + 1 + strspn(line + i + 1, "0123456789"), " = ", 3) == 0)
                assigned = number;
            else if (number > n_assigned)
                fail_msg("%c%d is used before it is assigned: %.*s", letter, number, (int)n, line);
        }
        n_assigned = assigned ? assigned : n_assigned;
    }
}

static void variables_are_assigned_before_they_are_used(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        char *text = program(seed, 0, 50);

        check_variables(text, 'x');
        assert_non_null(strstr(text, "    return O\n"));
        free(text);
    }
    for (uint64_t seed = 0; seed < 5; seed++) {
        char *text = batt(seed, 650, 5);

        check_variables(text, 't');
        free(text);
    }
}

static void calls_have_the_arity_of_their_primitive(void **state)
{
    size_t n = 0;
    const qn_arc_signature *const all = qn_arc_signatures(&n);

    (void)state;
    assert_true(n > 300);
    for (size_t i = 0; i < n; i++) {
        const int op = all[i].op ? find_op(all[i].op) : -1;
        int n_args = all[i].first != NULL;

        for (int k = 0; k < 4 && all[i].args[k]; k++)
            n_args++;
        if (op >= 0 && n_args != qn_arc_op_arity(op))
            fail_msg("%s with %d arguments", all[i].op, n_args);
        if (all[i].first)
            assert_true(find_op(all[i].first) >= 0);
        if (all[i].op)
            assert_true(op >= 0);
    }
}

static void functions_by_name_take_one_argument(void **state)
{
    (void)state;
    for (int type = QN_ARC_T_OBJ_INT; type < QN_ARC_N_TYPES; type++) {
        size_t n = 0;
        const char *const *const words = qn_arc_words_of((qn_arc_type)type, &n);

        for (size_t i = 0; i < n; i++)
            assert_int_equal(qn_arc_op_arity(find_op(words[i])), 1);
    }
}

static void every_primitive_may_be_called(void **state)
{
    size_t n = 0;
    const qn_arc_signature *const all = qn_arc_signatures(&n);
    char is_called[ARC_N_NAMED] = { 0 };

    (void)state;
    for (size_t i = 0; i < n; i++) {
        const int op = all[i].op ? find_op(all[i].op) : -1;

        if (op >= 0)
            is_called[op] = 1;
    }
    for (int op = 0; op < ARC_N_NAMED; op++) {
        if (!is_called[op])
            fail_msg("no signature of %s", qn_arc_op_name(op));
    }
}

static void a_share_of_programs_gets_a_wrong_argument(void **state)
{
    int n_changed = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        char *all = program(seed, 20, 100);
        char *some = program(seed, 20, 25);

        n_changed += strcmp(all, some) == 0;
        free(all);
        free(some);
    }
    assert_true(n_changed > 60 && n_changed < 140);
}

static void batt_has_the_steps_and_forms_asked_for(void **state)
{
    static const int sizes[] = { 1, 79, 650, 2868 };

    (void)state;
    for (int k = 0; k < 4; k++) {
        char *text = batt(7, sizes[k], 2);
        char last[64];

        snprintf(last, sizeof last, "    t%d = ", sizes[k]);
        assert_non_null(strstr(text, last));
        snprintf(last, sizeof last, " t%d = ", sizes[k] + 1);
        assert_null(strstr(text, last));
        assert_int_equal(strncmp(text, "def batt(task_id, S, I, C, log_path):\n", 38), 0);
        assert_true(count(text, "o.append((") >= 1);
        assert_non_null(strstr(text, "    return o, s\n"));
        if (sizes[k] >= 650) {
            assert_true(count(text, "env.do_pile(") > sizes[k] / 2);
            assert_true(count(text, "_get_safe_default(") > sizes[k] / 20);
            assert_true(count(text, ".ok and t") > 10);
        }
        free(text);
    }
}

static void piled_steps_carry_their_number(void **state)
{
    char *text = batt(11, 650, 0);
    const char *at = text;

    (void)state;
    while ((at = strstr(at, " = env.do_pile("))) {
        const char *name = at;

        while (name[-1] != ' ')
            name--;
        at += strlen(" = env.do_pile(");
        assert_int_equal(atoi(name + 1), atoi(at));
    }
    free(text);
}

static void grids_are_within_limits_and_differ(void **state)
{
    int sizes[QN_ARC_MOST_SIDE + 1] = { 0 };
    int n_sizes = 0;
    int n_plain = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        unsigned char cells[QN_ARC_MAKE_CELLS], again[QN_ARC_MAKE_CELLS];
        const qn_arc_grid grid = qn_arc_make_grid(seed, cells);
        const qn_arc_grid same = qn_arc_make_grid(seed, again);
        const int n = grid.rows * grid.cols;
        int is_plain = 1;

        assert_in_range(grid.rows, 1, QN_ARC_MOST_SIDE);
        assert_in_range(grid.cols, 1, QN_ARC_MOST_SIDE);
        assert_int_equal(same.rows, grid.rows);
        assert_memory_equal(cells, again, (size_t)n);
        for (int k = 0; k < n; k++) {
            assert_true(cells[k] <= 9);
            is_plain &= cells[k] == cells[0];
        }
        n_plain += is_plain;
        sizes[grid.rows]++;
    }
    for (int i = 1; i <= QN_ARC_MOST_SIDE; i++)
        n_sizes += sizes[i] > 0;
    assert_int_equal(n_sizes, QN_ARC_MOST_SIDE);
    assert_true(n_plain > 0 && n_plain < 400);
}

/* With any compiler: the hashes were taken with gcc. */
static void same_seed_gives_the_same_with_every_compiler(void **state)
{
    const qn_arc_make_options options = { .wrong_pct = 20 };
    uint64_t grids = QN_FNV1A64_START, texts = QN_FNV1A64_START;

    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        unsigned char cells[QN_ARC_MAKE_CELLS];
        const qn_arc_grid grid = qn_arc_make_grid(seed, cells);
        qn_str text = { 0 };

        grids = qn_fnv1a64_add(grids, cells, (size_t)grid.rows * (size_t)grid.cols);
        qn_arc_make_program(seed, "made", &options, &text);
        qn_arc_make_batt(seed, 30, &options, &text);
        texts = qn_fnv1a64_add(texts, text.data, text.len);
        qn_str_free(&text);
    }
    assert_int_equal(grids, UINT64_C(0xb7c197e2a81a9542));
    assert_int_equal(texts, UINT64_C(0x3b24c11427c3d991));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_seed_gives_the_same_text),
        cmocka_unit_test(same_seed_gives_the_same_with_every_compiler),
        cmocka_unit_test(programs_have_5_to_80_statements_or_as_many_as_asked),
        cmocka_unit_test(variables_are_assigned_before_they_are_used),
        cmocka_unit_test(calls_have_the_arity_of_their_primitive),
        cmocka_unit_test(functions_by_name_take_one_argument),
        cmocka_unit_test(every_primitive_may_be_called),
        cmocka_unit_test(a_share_of_programs_gets_a_wrong_argument),
        cmocka_unit_test(batt_has_the_steps_and_forms_asked_for),
        cmocka_unit_test(piled_steps_carry_their_number),
        cmocka_unit_test(grids_are_within_limits_and_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

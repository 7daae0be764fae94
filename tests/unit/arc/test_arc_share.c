/* test_arc_share.c - programs that begin alike: common prefixes are computed once, and nothing else
 * changes. */
#include "arc_session_fixture.h"

enum { GRIDS = 12, PROGRAMS = 30, COPIES = 4, BATT_STEPS = 60 };

static fixture open_sharing(const char *backend, qn_arc_prefix_mode mode, qn_arc_limits limits)
{
    return fixture_in(
        open_with(QN_OPTIONS(.backend = backend, .fault = "sim.devices=3", .log = "none")),
        (qn_arc_session_options){ .prefixes = mode, .limits = limits });
}

static void add_grids(fixture *r, int *grids)
{
    for (int g = 0; g < GRIDS; g++)
        grids[g] = fixture_made_grid(r, 5 + (uint64_t)g);
}

/* Generated programs, several copies of each, alike from beginning to end. Some fail. */
static void add_solvers(fixture *r)
{
    int grids[GRIDS];

    add_grids(r, grids);
    for (int p = 0; p < PROGRAMS * COPIES; p++) {
        const int program = fixture_made_program(r, 300 + (uint64_t)(p / COPIES), 25);

        for (int g = 0; g < GRIDS; g++)
            fixture_job(r, program, grids[g]);
    }
}

static void add_batts(fixture *r)
{
    int grids[GRIDS];

    add_grids(r, grids);
    for (int p = 0; p < 8 * COPIES; p++) {
        qn_str text = { 0 };
        int program;

        qn_arc_make_batt(70 + (uint64_t)(p / COPIES), BATT_STEPS,
                         &(qn_arc_make_options){ .wrong_pct = 10 }, &text);
        program = fixture_program(r, "batt", qn_str_get(&text));
        for (int g = 0; g < GRIDS; g++)
            fixture_batt_job(r, program, grids[g]);
        qn_str_free(&text);
    }
}

/* Runs twice with and without sharing: the second time, prefixes are resident. */
static void compare(const char *backend, qn_arc_limits limits, void (*add)(fixture *))
{
    fixture alone = open_sharing(backend, QN_ARC_PREFIXES_OFF, limits);
    fixture r = open_sharing(backend, QN_ARC_PREFIXES_ALL, limits);
    const qn_arc_stats *a = qn_arc_session_stats(alone.s), *b = qn_arc_session_stats(r.s);

    add(&alone);
    add(&r);
    for (int round = 0; round < 2; round++) {
        fixture_run(&alone);
        fixture_run(&r);
        assert_same(&alone, &r, backend);
    }
    assert_true(b->shared_nodes > 0);
    assert_true(b->shared_hits >= 3 * b->shared_nodes);
    assert_int_equal(a->shared_nodes, 0);
    assert_int_equal(a->instances, b->instances);
    assert_int_equal(a->ok, b->ok);
    assert_int_equal(a->errors, b->errors);
    assert_int_equal(a->limits, b->limits);
    assert_int_equal(a->not_ok_steps, b->not_ok_steps);
    assert_int_equal(a->steps_total, b->steps_total);
    fixture_close(&r);
    fixture_close(&alone);
}

/* Results. */

static void solvers_that_share_give_what_they_give_alone(void **state)
{
    (void)state;
    compare("cpu", (qn_arc_limits){ 0 }, add_solvers);
    compare("sim", (qn_arc_limits){ 0 }, add_solvers);
    compare("sim:0,sim:1,sim:2", (qn_arc_limits){ 0 }, add_solvers);
}

static void batts_that_share_give_what_they_give_alone(void **state)
{
    (void)state;
    compare("cpu", (qn_arc_limits){ 0 }, add_batts);
    compare("sim", (qn_arc_limits){ 0 }, add_batts);
}

/* A rest uses less than its program: at a limit the whole program is run. */
static void limits_are_met_where_they_are_without_sharing(void **state)
{
    (void)state;
    compare("cpu", (qn_arc_limits){ .max_steps = 30 }, add_solvers);
    compare("sim", (qn_arc_limits){ .arena = 8192, .frames = 4 }, add_solvers);
}

/* Failures. */

/* Line 2 is shared; line 3 fails on one grid, line 4 on the other. */
static const char failing[] = "def solve_fails(I):\n"
                              "    x1 = objects(I, T, F, T)\n"
                              "    x2 = argmax(x1, %s)\n"
                              "    x3 = divide(ONE, size(difference(x2, x2)))\n"
                              "    O = shift(x2, x3)\n"
                              "    return O\n";

/* The shared primitive itself fails, after one that does not. */
static const char failing_prefix[] = "def solve_fails(I):\n"
                                     "    x1 = hmirror(I)\n"
                                     "    x2 = argmax(ofcolor(x1, 77), first)\n"
                                     "    O = %s(initset(x2))\n"
                                     "    return O\n";

/* Replaces %s by the word. */
static void replace_word(qn_str *text, const char *word)
{
    char *at = strstr(text->data, "%s");
    qn_str made = { 0 };

    qn_str_add_n(&made, text->data, (size_t)(at - text->data));
    qn_str_add(&made, word);
    qn_str_add(&made, at + 2);
    qn_str_free(text);
    *text = made;
}

static void steps_and_line_of_a_failure_are_those_of_the_program(void **state)
{
    static const unsigned char full[] = { 1, 2, 0, 0 }, even[] = { 3, 3, 3, 3 };
    static const char *const texts[] = { failing, failing_prefix };

    (void)state;
    for (int t = 0; t < 2; t++) {
        fixture alone = open_sharing("cpu", QN_ARC_PREFIXES_OFF, (qn_arc_limits){ 0 });
        fixture r = open_sharing("cpu", QN_ARC_PREFIXES_ALL, (qn_arc_limits){ 0 });
        fixture *both[] = { &alone, &r };

        for (int b = 0; b < 2; b++) {
            const int grids[] = { fixture_grid(both[b], "full", 2, 2, full),
                                  fixture_grid(both[b], "even", 2, 2, even) };

            for (int p = 0; p < 3; p++) {
                static const char *const words[] = { "numcolors", "height", "width" };
                qn_str text = { 0 };
                int program;

                qn_str_add(&text, texts[t]);
                replace_word(&text, words[p]);
                program = fixture_program(both[b], "fails", qn_str_get(&text));
                qn_str_free(&text);

                for (int g = 0; g < 2; g++)
                    fixture_job(both[b], program, grids[g]);
            }
            fixture_run(both[b]);
        }
        assert_same(&alone, &r, "failing");
        if (t == 0) {
            assert_int_equal(qn_arc_session_result(r.s, 0)->line, 4);
            assert_int_equal(qn_arc_session_result(r.s, 1)->line, 3);
            assert_int_equal(qn_arc_session_stats(r.s)->shared_nodes, 2);
        }
        fixture_close(&r);
        fixture_close(&alone);
    }
}

/* When to share. */

static void add_text(fixture *r, const char *text, int n)
{
    const int grid = fixture_made_grid(r, 5);

    for (int p = 0; p < n; p++)
        fixture_job(r, fixture_program(r, "same", text), grid);
}

static const char costly[] = "def solve_same(I):\n"
                             "    x1 = objects(I, T, T, T)\n"
                             "    x2 = apply(normalize, x1)\n"
                             "    x3 = mapply(toindices, x2)\n"
                             "    O = size(x3)\n"
                             "    return O\n";

static void sharing_begins_with_three_programs_that_save_enough(void **state)
{
    static const char cheap[] = "def solve_same(I):\n    O = width(I)\n    return O\n";
    const struct {
        const char *text;
        int n, nodes;
    } cases[] = { { costly, 3, 1 }, { costly, 2, 0 }, { cheap, 9, 0 } };

    (void)state;
    for (int c = 0; c < 3; c++) {
        fixture r = open_sharing("cpu", QN_ARC_PREFIXES_WORTH, (qn_arc_limits){ 0 });

        add_text(&r, cases[c].text, cases[c].n);
        fixture_run(&r);
        assert_int_equal(qn_arc_session_stats(r.s)->shared_nodes, cases[c].nodes);
        fixture_close(&r);
    }
}

static void traces_hold_every_step(void **state)
{
    fixture r = open_sharing("cpu", QN_ARC_PREFIXES_ALL, (qn_arc_limits){ 0 });

    (void)state;
    add_text(&r, costly, 3);
    fixture_run_with(&r, ARC_WANT_OUTPUT | ARC_WANT_TRACE, 4);
    assert_int_equal(qn_arc_session_stats(r.s)->shared_nodes, 0);
    assert_true(qn_arc_session_trace(r.s, 2)[0] != 0);
    fixture_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solvers_that_share_give_what_they_give_alone),
        cmocka_unit_test(batts_that_share_give_what_they_give_alone),
        cmocka_unit_test(limits_are_met_where_they_are_without_sharing),
        cmocka_unit_test(steps_and_line_of_a_failure_are_those_of_the_program),
        cmocka_unit_test(sharing_begins_with_three_programs_that_save_enough),
        cmocka_unit_test(traces_hold_every_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

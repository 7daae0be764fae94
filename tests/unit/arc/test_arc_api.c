/* test_arc_api.c - <quern/arc.h>: options, programs and tasks as arrays, results as an array. */
#include "test.h"

#include <quern/arc.h>

#include "util/file.h"
#include "util/temp_dir.h"

static qn_ctx *ctx;
static qn_arc *arc;

static int open_arc(void **state)
{
    qn_err err;

    (void)state;
    arc = NULL;
    return qn_ctx_open(&QN_OPTIONS(.backend = "cpu", .log = "error"), &ctx, &err) == QN_OK &&
                   qn_arc_new(ctx, NULL, &arc, &err) == QN_OK
               ? 0
               : -1;
}

static int close_arc(void **state)
{
    (void)state;
    qn_arc_free(arc);
    qn_ctx_close(ctx);
    return 0;
}

static const unsigned char row[] = { 1, 2, 3 }, mirrored[] = { 3, 2, 1 };
static const qn_arc_pair pairs[] = {
    { { 1, 3, row }, { 1, 3, mirrored } },
    { { 1, 3, mirrored }, { 0, 0, NULL } },
};
static const qn_arc_task turn = { "turn", pairs, 1, 1 };
static const qn_arc_program programs[] = {
    { "turn", "def solve(I):\n    return vmirror(I)\n" },
    { "same", "def solve(I):\n    return identity(I)\n" },
    { "bad", "def solve(I):\n    return first(totuple(objects(I, T, F, T)))\n" },
};

static void fill(void)
{
    qn_err err = { .text = "" };

    if (qn_arc_add_tasks(arc, &turn, 1, &err) != QN_OK ||
        qn_arc_add_programs(arc, programs, 3, &err) != QN_OK)
        fail_msg("%s", err.text);
}

/* Runs. */

static void programs_run_on_the_task_of_their_id(void **state)
{
    const qn_arc_result *r = NULL;
    size_t n = 0;

    (void)state;
    fill();
    assert_int_equal(qn_arc_run(arc, NULL, &r, &n, NULL), QN_OK);
    assert_int_equal(n, 2);
    assert_string_equal(r[0].program, "turn");
    assert_string_equal(r[0].task, "turn");
    assert_string_equal(r[0].status, "ok");
    assert_int_equal(r[0].is_test, 0);
    assert_int_equal(r[0].is_solved, 1);
    assert_int_equal(r[0].differing, 0);
    assert_int_equal(r[0].rows * r[0].cols, 3);
    assert_memory_equal(r[0].output, mirrored, 3);
    assert_int_equal(r[1].is_test, 1);
    assert_int_equal(r[1].pair, 0);
    assert_int_equal(r[1].is_solved, -1);
    assert_int_equal(r[1].differing, -1);
    assert_memory_equal(r[1].output, row, 3);
    assert_null(r[1].error);
}

static void with_match_all_every_program_runs(void **state)
{
    const qn_arc_result *r = NULL;
    qn_arc_run_options o;
    size_t n = 0, n_solved = 0, n_failed = 0;

    (void)state;
    fill();
    qn_arc_run_options_init(&o, sizeof o);
    o.match = QN_ARC_MATCH_ALL;
    o.pairs = QN_ARC_PAIRS_TRAIN;
    assert_int_equal(qn_arc_run(arc, &o, &r, &n, NULL), QN_OK);
    assert_int_equal(n, 3);
    for (size_t k = 0; k < n; k++) {
        n_solved += r[k].is_solved == 1;
        n_failed += r[k].error != NULL;
        if (!strcmp(r[k].program, "same"))
            assert_int_equal(r[k].differing, 2);
    }
    assert_int_equal(n_solved, 1);
    assert_int_equal(n_failed, 0);
}

static void a_failed_run_says_why(void **state)
{
    static const qn_arc_program failing = {
        "turn", "def solve(I):\n    x = objects(I, T, F, T)\n    y = sfilter(x, flip)\n"
                "    O = first(y)\n    return O\n"
    };
    const qn_arc_result *r = NULL;
    size_t n = 0;

    (void)state;
    fill();
    assert_int_equal(qn_arc_add_programs(arc, &failing, 1, NULL), QN_OK);
    assert_int_equal(qn_arc_run(arc, NULL, &r, &n, NULL), QN_OK);
    assert_int_equal(n, 2);
    assert_string_equal(r[0].status, "error");
    assert_non_null(strstr(r[0].error, "prog turn line "));
    assert_null(r[0].output);
    assert_int_equal(r[0].is_solved, 0);
}

static void cleared_programs_do_not_run(void **state)
{
    const qn_arc_result *r = NULL;
    size_t n = 1;

    (void)state;
    fill();
    assert_int_equal(qn_arc_clear(arc, QN_ARC_CLEAR_PROGRAMS, NULL), QN_OK);
    assert_int_equal(qn_arc_run(arc, NULL, &r, &n, NULL), QN_OK);
    assert_int_equal(n, 0);
    assert_int_equal(qn_arc_add_programs(arc, programs, 1, NULL), QN_OK);
    assert_int_equal(qn_arc_run(arc, NULL, &r, &n, NULL), QN_OK);
    assert_int_equal(n, 2);
    assert_int_equal(qn_arc_clear(arc, 7, NULL), QN_ERR_USAGE);
}

/* Mistakes. */

static void bad_tasks_are_refused(void **state)
{
    static const unsigned char colours[] = { 1, 10, 3 };
    const qn_arc_pair wrong = { { 1, 3, colours }, { 1, 3, row } };
    const qn_arc_pair large = { { 31, 1, row }, { 1, 3, row } };
    const qn_arc_pair half = { { 1, 3, row }, { 0, 0, NULL } };
    const qn_arc_task tasks[] = { { "colour", &wrong, 1, 0 },
                                  { "large", &large, 1, 0 },
                                  { "half", &half, 1, 0 } };
    static const char *const texts[] = { "task colour, pair 0: 10 is not a colour 0 .. 9",
                                         "task large, pair 0: a grid of 31 x 1 is outside 1 .. 30",
                                         "task half, pair 0 lacks a grid" };

    (void)state;
    for (int i = 0; i < 3; i++) {
        qn_err err = { .text = "" };

        assert_int_equal(qn_arc_add_tasks(arc, &tasks[i], 1, &err), QN_ERR_INPUT);
        assert_string_equal(err.text, texts[i]);
    }
}

static void bad_programs_are_refused(void **state)
{
    const qn_arc_program wrong[] = { { "a", "def solve(I)" }, { "b", NULL } };
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_arc_add_programs(arc, &wrong[0], 1, &err), QN_ERR_INPUT);
    assert_int_equal(qn_arc_add_programs(arc, &wrong[1], 1, &err), QN_ERR_USAGE);
    assert_string_equal(err.text, "program 0 has no id or no text");
}

static void options_beyond_their_limits_are_refused(void **state)
{
    qn_arc_options o;
    qn_arc *none = NULL;
    qn_err err = { .text = "" };

    (void)state;
    qn_arc_options_init(&o, sizeof o);
    assert_int_equal(o.max_steps, 4000000);
    assert_int_equal(o.max_loops, -1);
    o.group = 12;
    assert_int_equal(qn_arc_new(ctx, &o, &none, &err), QN_ERR_USAGE);
    assert_string_equal(err.text, "--group: 12 is not 8, 16 or 32");
    o.group = 0;
    o.disable_op = "vmirror,vmiror";
    assert_int_equal(qn_arc_new(ctx, &o, &none, &err), QN_ERR_USAGE);
    assert_non_null(strstr(err.text, "'vmiror' is not a primitive"));
    o.disable_op = NULL;
    o.frames = 0;
    assert_int_equal(qn_arc_new(ctx, &o, &none, &err), QN_ERR_USAGE);
    o.size = 0;
    assert_int_equal(qn_arc_new(ctx, &o, &none, &err), QN_ERR_USAGE);
    assert_null(none);
}

/* Files. */

static void files_give_a_report(void **state)
{
    static const char text[] = "def solve_turn(I):\n    O = vmirror(I)\n    return O\n";
    static const char task[] = "{\"train\": [{\"input\": [[1, 2]], \"output\": [[2, 1]]}], "
                               "\"test\": []}";
    qn_temp_dir dir;
    char solvers[1100], tasks[1100], digest[1100];
    qn_arc_run_options run;
    qn_arc_report report;
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_temp_dir_make(&dir, &err), QN_OK);
    snprintf(solvers, sizeof solvers, "%s/solvers.py", dir.path);
    snprintf(tasks, sizeof tasks, "%s/turn.json", dir.path);
    snprintf(digest, sizeof digest, "%s/digest.txt", dir.path);
    assert_int_equal(qn_file_write(solvers, text, strlen(text), &err), QN_OK);
    assert_int_equal(qn_file_write(tasks, task, strlen(task), &err), QN_OK);
    qn_arc_run_options_init(&run, sizeof run);
    run.digest = digest;
    if (qn_arc_run_files(ctx, solvers, tasks, NULL, &run, &report, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_int_equal(report.runs, 1);
    assert_int_equal(report.solved, 1);
    assert_int_equal(report.n_scores, 1);
    assert_string_equal(report.scores[0].program, "turn");
    assert_int_equal(report.scores[0].solved, 1);
    assert_null(report.scores[0].failure);
    assert_int_equal(report.is_refused, 0);
    qn_arc_report_free(&report);
    assert_int_equal(qn_file_write(solvers, "def solve_a(I)", 14, &err), QN_OK);
    assert_int_equal(qn_arc_run_files(ctx, solvers, tasks, NULL, NULL, &report, &err),
                     QN_ERR_INPUT);
    assert_int_equal(report.is_refused, 1);
    assert_non_null(strstr(report.notes, "solvers.py:1"));
    qn_arc_report_free(&report);
    qn_temp_dir_remove(&dir);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_arc, close_arc)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(programs_run_on_the_task_of_their_id),
        TEST(with_match_all_every_program_runs),
        TEST(a_failed_run_says_why),
        TEST(cleared_programs_do_not_run),
        TEST(bad_tasks_are_refused),
        TEST(bad_programs_are_refused),
        TEST(options_beyond_their_limits_are_refused),
        TEST(files_give_a_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_arc_batch.c - programs on the grids of tasks: which run on which, scores, files,
 * failures. */
#include "golden.h"

#include "domain/arc/batch/batch.h"
#include "domain/arc/task/task.h"
#include "util/file.h"
#include "util/temp_dir.h"

static const char solvers[] = "def solve_turn(I):\n"
                              "    O = vmirror(I)\n"
                              "    return O\n"
                              "def solve_learn(S, I, C):\n"
                              "    x1 = last(S)\n"
                              "    O = last(x1)\n"
                              "    return O\n";

static const char turn_json[] = "{\"train\": [{\"input\": [[1, 2]], \"output\": [[2, 1]]},"
                                "             {\"input\": [[3, 4]], \"output\": [[5, 5]]}],"
                                " \"test\": [{\"input\": [[6, 7]]}]}";
static const char learn_json[] = "{\"train\": [{\"input\": [[1]], \"output\": [[8, 9]]}],"
                                 " \"test\": [{\"input\": [[2]], \"output\": [[8, 9]]}]}";

typedef struct fixture {
    qn_temp_dir dir;
    qn_ctx *ctx;
    qn_arc_programs programs;
    qn_arc_tasks tasks;
    qn_arc_task list[2]; /* by id */
    qn_err err;
} fixture;

static void parse(fixture *r, const char *text)
{
    qn_str notes = { 0 };

    qn_arc_programs_free(&r->programs);
    if (qn_arc_programs_parse("test", text, strlen(text), 0, &r->programs, &notes, &r->err) !=
        QN_OK)
        fail_msg("%s\n%s", r->err.text, qn_str_get(&notes));
    qn_str_free(&notes);
}

static void read_task(const char *text, const char *id, qn_arc_task *out)
{
    json_t *json = json_loads(text, 0, NULL);
    qn_err err;

    assert_non_null(json);
    assert_int_equal(qn_arc_task_from_json(json, id, id, out, &err), QN_OK);
    json_decref(json);
}

static int open_on(void **state, const char *backend)
{
    static fixture r;
    const qn_options options = QN_OPTIONS(.backend = backend, .log = "error");

    memset(&r, 0, sizeof r);
    if (qn_temp_dir_make(&r.dir, NULL) != QN_OK || qn_ctx_open(&options, &r.ctx, &r.err) != QN_OK)
        return -1;
    read_task(learn_json, "learn", &r.list[0]);
    read_task(turn_json, "turn", &r.list[1]);
    r.tasks = (qn_arc_tasks){ .items = r.list, .n = 2 };
    *state = &r;
    return 0;
}

static int open_cpu(void **state)
{
    return open_on(state, "cpu");
}

static int open_sim(void **state)
{
    return open_on(state, "sim");
}

static int close_fixture(void **state)
{
    fixture *r = *state;

    qn_arc_programs_free(&r->programs);
    qn_arc_task_free(&r->list[0]);
    qn_arc_task_free(&r->list[1]);
    qn_ctx_close(r->ctx);
    qn_temp_dir_remove(&r->dir);
    return 0;
}

static qn_arc_report evaluate(fixture *r, const qn_arc_evaluate_options *options)
{
    qn_arc_report e = { 0 };
    qn_arc_evaluate_options o = *options;

    o.watch.mode = QN_PROGRESS_OFF;
    if (qn_arc_evaluate(r->ctx, &r->programs, &r->tasks, &o, &e, &r->err) != QN_OK)
        fail_msg("%s", r->err.text);
    return e;
}

/* Programs. */

static void a_file_with_errors_is_refused_with_all_of_them(void **state)
{
    static const char text[] = "def solve_a(I):\n    x1 = totuple(frozen)\n    return x2\n";
    fixture *r = *state;
    qn_arc_programs programs = { 0 };
    qn_str notes = { 0 };

    assert_int_equal(
        qn_arc_programs_parse("file.py", text, strlen(text), 0, &programs, &notes, &r->err),
        QN_ERR_INPUT);
    assert_string_equal(r->err.text, "file.py: 2 errors");
    assert_non_null(strstr(qn_str_get(&notes), "file.py:2:18: error: unknown name 'frozen'"));
    assert_non_null(strstr(qn_str_get(&notes), "file.py:3:12: error: return of unknown name"));
    assert_null(programs.codes);
    qn_str_free(&notes);
}

static void a_text_without_programs_is_refused(void **state)
{
    fixture *r = *state;
    qn_arc_programs programs = { 0 };
    qn_str notes = { 0 };

    assert_int_equal(qn_arc_programs_parse("file.py", "# none\n", 7, 0, &programs, &notes, &r->err),
                     QN_ERR_INPUT);
    assert_non_null(strstr(r->err.text, "file.py: no program"));
    qn_str_free(&notes);
}

/* Which programs run on which grids. */

static void by_id_each_program_has_the_pairs_of_its_task(void **state)
{
    fixture *r = *state;
    qn_arc_report e;

    parse(r, solvers);
    e = evaluate(r, &(qn_arc_evaluate_options){ .run = { .pairs = QN_ARC_PAIRS_ALL } });
    assert_int_equal(e.runs, 5);
    assert_int_equal(e.scores[0].runs, 3);
    assert_int_equal(e.scores[0].solved, 1);
    assert_int_equal(e.scores[1].runs, 2);
    assert_int_equal(e.scores[1].solved, 2); /* samples are given */
    assert_int_equal(e.unscored, 1);
    assert_int_equal(e.errors, 0);
    qn_arc_report_free(&e);
}

static void parts_of_a_task_can_be_chosen(void **state)
{
    static const struct {
        qn_arc_pairs pairs;
        int runs;
    } cases[] = { { QN_ARC_PAIRS_TRAIN, 3 },
                  { QN_ARC_PAIRS_TEST, 2 },
                  { QN_ARC_PAIRS_ALL, 5 },
                  { QN_ARC_PAIRS_FIRST, 2 } };
    fixture *r = *state;

    parse(r, solvers);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qn_arc_report e =
            evaluate(r, &(qn_arc_evaluate_options){ .run = { .pairs = cases[i].pairs } });

        assert_int_equal(e.runs, cases[i].runs);
        qn_arc_report_free(&e);
    }
}

static void with_match_all_every_program_meets_every_grid(void **state)
{
    fixture *r = *state;
    qn_arc_report e;

    parse(r, solvers);
    e = evaluate(r, &(qn_arc_evaluate_options){
                        .run = { .pairs = QN_ARC_PAIRS_ALL, .match = QN_ARC_MATCH_ALL } });
    assert_int_equal(e.runs, 10);
    assert_int_equal(e.scores[0].runs, 5);
    assert_int_equal(e.scores[1].runs, 5);
    qn_arc_report_free(&e);
}

static void programs_without_a_task_are_refused(void **state)
{
    fixture *r = *state;
    qn_arc_report e = { 0 };

    parse(r, "def solve_other(I):\n    return vmirror(I)\n");
    assert_int_equal(
        qn_arc_evaluate(r->ctx, &r->programs, &r->tasks,
                        &(qn_arc_evaluate_options){ .run = { .pairs = QN_ARC_PAIRS_ALL } }, &e,
                        &r->err),
        QN_ERR_INPUT);
    assert_non_null(strstr(r->err.text, "the first is 'other'"));
    qn_arc_report_free(&e);
}

/* Failures. */

static void a_failure_names_program_line_primitive_and_reason(void **state)
{
    fixture *r = *state;
    qn_arc_report e;

    parse(r, "def solve_turn(I):\n    x1 = ofcolor(I, TEN)\n    x2 = first(x1)\n    return x2\n");
    e = evaluate(r, &(qn_arc_evaluate_options){ .run = { .pairs = QN_ARC_PAIRS_ALL } });
    assert_int_equal(e.errors, 3);
    assert_string_equal(e.scores[0].failure,
                        "prog turn line 3: first: empty container (given empty set)");
    qn_arc_report_free(&e);
}

static void a_failure_says_what_operands_were(void **state)
{
    static const struct {
        const char *body, *failure;
    } cases[] = {
        { "    return add(2, ofcolor(I, 1))\n",
          "add: an operand is of a wrong kind (given int, indices)" },
        { "    return add(first(I), asobject(I))\n",
          "add: an operand is of a wrong kind (given pair, object)" },
        { "    return objects((), T, 1, None)\n",
          "objects: empty container (given empty tuple, bool, int, none)" },
        { "    f = compose(size, size)\n    return power(f, 0)\n",
          "power: an operand has a value that is not allowed (given function, int)" },
        { "    f = compose(size, size)\n    return f(I, I)\n",
          "call: wrong number of arguments (given function, grid, grid)" },
        /* The message names the primitive that failed after the one that called it. */
        { "    return apply(first, (I, ()))\n",
          "apply: first: empty container (given empty tuple)" },
        { "    f = branch(I, compose(size, double), size)\n    return f(I)\n",
          "call: double: no such element (given grid)" },
        { "    return apply(rbind(argmax, size), (I, ()))\n", "apply: argmax: empty container" },
        { "    return apply(3, I)\n", "apply: an operand is of a wrong kind (given int, grid)" },
        /* Of two primitives in one, reports the one that fails, without operands, which never
         * existed. */
        { "    x = colorfilter(objects(I, T, T, T), 8)\n    return argmax(x, size)\n",
          "argmax: empty container" },
    };
    fixture *r = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        qn_arc_report e;

        snprintf(text, sizeof text, "def solve_turn(I):\n%s", cases[i].body);
        parse(r, text);
        e = evaluate(r, &(qn_arc_evaluate_options){ .run = { .pairs = QN_ARC_PAIRS_ALL } });
        assert_int_equal(e.errors, 3);
        assert_string_equal(strchr(e.scores[0].failure, ':') + 2, cases[i].failure);
        qn_arc_report_free(&e);
    }
}

static void every_code_has_a_sentence_and_a_status(void **state)
{
    (void)state;
    for (int code = 0; code < ARC_N_CODES; code++) {
        assert_true(strlen(qn_arc_failure_text(code)) > 5);
        for (int other = 0; other < code; other++)
            assert_string_not_equal(qn_arc_failure_text(code), qn_arc_failure_text(other));
    }
    assert_string_equal(qn_arc_failure_text(ARC_N_CODES), "unknown error");
    assert_string_equal(qn_arc_status_name(ARC_OK), "ok");
    assert_string_equal(qn_arc_status_name(ARC_E_TYPE), "error");
    assert_string_equal(qn_arc_status_name(ARC_E_STEPS), "limit");
}

static void a_program_beyond_its_steps_ends_at_a_limit(void **state)
{
    fixture *r = *state;
    char path[1100];
    qn_arc_evaluate_options o = { .run = { .pairs = QN_ARC_PAIRS_FIRST, .stats = path } };
    json_t *stats = NULL;
    qn_arc_report e;

    snprintf(path, sizeof path, "%s/stats.json", r->dir.path);
    parse(r, "def solve_turn(I):\n    x1 = vmirror(I)\n    x2 = hmirror(x1)\n    return x2\n");
    o.session.limits.max_steps = 1;
    e = evaluate(r, &o);
    assert_string_equal(e.scores[0].failure,
                        "prog turn line 3: hmirror: more steps than the limit");
    assert_int_equal(qn_json_read(path, &stats, &r->err), QN_OK);
    assert_int_equal(json_integer_value(json_object_get(stats, "limits")), 1);
    json_decref(stats);
    qn_arc_report_free(&e);
}

/* Outputs. */

/* More bytes than a launch can hold: jobs left over are run again, and none is lost. */
static void large_outputs_of_many_runs_all_arrive(void **state)
{
    enum { N = 60, SIDE = 30 };
    fixture *r = *state;
    unsigned char cells[SIDE * SIDE];
    qn_arc_session_options options = { .limits = { .arena = 0 } };
    qn_arc_session *session = NULL;
    qn_arc_job jobs[N];
    int program, value;

    parse(r, "def solve_large(I):\n    x1 = upscale(I, TEN)\n    return x1\n");
    memset(cells, 3, sizeof cells);
    assert_int_equal(qn_arc_session_new(r->ctx, &options, &session, &r->err), QN_OK);
    assert_int_equal(qn_arc_session_program(session, "large", r->programs.codes[0].bytes,
                                            r->programs.codes[0].n, &program, &r->err),
                     QN_OK);
    assert_int_equal(qn_arc_session_grid(session, "grid", cells, SIDE, SIDE, &value, &r->err),
                     QN_OK);
    for (int k = 0; k < N; k++)
        jobs[k] = (qn_arc_job){ .program = program, .args = { value, -1, -1 }, .expected = -1 };
    assert_int_equal(qn_arc_session_run(session, jobs, N, ARC_WANT_OUTPUT, 0, &r->err), QN_OK);
    for (uint32_t k = 0; k < N; k++) {
        qn_arc_heap *heap = NULL;
        qn_arc_value output;

        assert_int_equal(qn_arc_session_result(session, k)->code, ARC_OK);
        assert_int_equal(qn_arc_heap_new(&heap, &r->err), QN_OK);
        assert_int_equal(qn_arc_session_output(session, k, heap, &output, &r->err), QN_OK);
        assert_int_equal(output.n, 10 * SIDE);
        assert_int_equal(output.items[299].items[299].number, 3);
        qn_arc_heap_free(heap);
    }
    assert_int_equal(qn_arc_session_stats(session)->fallbacks[ARC_E_RESULT], 0);
    qn_arc_session_free(session);
}

/* A grid given as cells equals the same grid given as a value. */
static void a_grid_of_cells_equals_its_value(void **state)
{
    static const unsigned char cells[] = { 1, 2, 3, 4 };
    fixture *r = *state;
    qn_arc_session_options options = { .pool_bytes = 1 << 20 };
    qn_arc_session *session = NULL;
    qn_arc_heap *heap = NULL;
    qn_arc_value tree;
    qn_arc_job jobs[2];
    int program, value[2];

    parse(r, "def solve_same(I):\n    x1 = identity(I)\n    return x1\n");
    assert_int_equal(qn_arc_heap_new(&heap, &r->err), QN_OK);
    assert_int_equal(qn_arc_grid_of(heap, cells, 2, 2, &tree, &r->err), QN_OK);
    assert_int_equal(qn_arc_session_new(r->ctx, &options, &session, &r->err), QN_OK);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(qn_arc_session_program(session, "same", r->programs.codes[0].bytes,
                                                r->programs.codes[0].n, &program, &r->err),
                         QN_OK);
        assert_int_equal(qn_arc_session_grid(session, "a", cells, 2, 2, &value[0], &r->err), QN_OK);
        assert_int_equal(qn_arc_session_value(session, "b", &tree, &value[1], &r->err), QN_OK);
        for (int k = 0; k < 2; k++)
            jobs[k] = (qn_arc_job){ .program = program,
                                    .args = { value[k], -1, -1 },
                                    .expected = value[1 - k] };
        assert_int_equal(qn_arc_session_run(session, jobs, 2, 0, 0, &r->err), QN_OK);
        for (uint32_t k = 0; k < 2; k++)
            assert_int_equal(qn_arc_session_result(session, k)->equal, 1);
        qn_arc_session_forget(session); /* and again, with indices from 0 */
        assert_int_equal(value[0] + program, 0);
    }
    assert_int_equal(qn_arc_session_run(session, jobs, 2, 0, 0, &r->err), QN_ERR_USAGE);
    qn_arc_session_free(session);
    qn_arc_heap_free(heap);
}

/* Files. */

static void files_appear_only_when_all_is_done(void **state)
{
    fixture *r = *state;
    char path[1200], *text = NULL;
    size_t bytes;
    qn_arc_evaluate_options o = { .run = { .pairs = QN_ARC_PAIRS_ALL, .results = path } };
    qn_arc_report e = { 0 };

    snprintf(path, sizeof path, "%s/results.jsonl", r->dir.path);
    parse(r, "def solve_other(I):\n    return vmirror(I)\n");
    assert_int_not_equal(qn_arc_evaluate(r->ctx, &r->programs, &r->tasks, &o, &e, &r->err), QN_OK);
    qn_arc_report_free(&e);
    assert_int_not_equal(access(path, F_OK), 0);
    parse(r, solvers);
    e = evaluate(r, &o);
    assert_int_equal(qn_file_read(path, &text, &bytes, &r->err), QN_OK);
    assert_non_null(strstr(text, "\"program\":\"turn\",\"task\":\"turn\",\"part\":\"train\","
                                 "\"pair\":1,\"status\":\"ok\",\"steps\":1,\"equal\":false,"
                                 "\"differing\":2,\"output\":{\"g\":[\"43\"]}}\n"));
    free(text);
    qn_arc_report_free(&e);
}

#define ON_BOTH(test)                                                                              \
    { #test " (cpu)", test, open_cpu, close_fixture, NULL },                                       \
    {                                                                                              \
#test " (sim)", test, open_sim, close_fixture, NULL                                        \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_with_errors_is_refused_with_all_of_them, open_cpu,
                                        close_fixture),
        cmocka_unit_test_setup_teardown(a_text_without_programs_is_refused, open_cpu,
                                        close_fixture),
        ON_BOTH(by_id_each_program_has_the_pairs_of_its_task),
        cmocka_unit_test_setup_teardown(parts_of_a_task_can_be_chosen, open_cpu, close_fixture),
        ON_BOTH(with_match_all_every_program_meets_every_grid),
        cmocka_unit_test_setup_teardown(programs_without_a_task_are_refused, open_cpu,
                                        close_fixture),
        ON_BOTH(a_failure_names_program_line_primitive_and_reason),
        ON_BOTH(a_failure_says_what_operands_were),
        cmocka_unit_test(every_code_has_a_sentence_and_a_status),
        ON_BOTH(a_program_beyond_its_steps_ends_at_a_limit),
        ON_BOTH(large_outputs_of_many_runs_all_arrive),
        ON_BOTH(a_grid_of_cells_equals_its_value),
        cmocka_unit_test_setup_teardown(files_appear_only_when_all_is_done, open_cpu,
                                        close_fixture),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

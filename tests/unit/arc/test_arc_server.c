/* test_arc_server.c - requests to a server, and its answers. */
#include "golden.h"

#include "domain/arc/api/server.h"

#include <malloc.h>

static qn_ctx *ctx;
static qn_arc *arc;

static int open_server(void **state)
{
    const qn_options options = QN_OPTIONS(.backend = "cpu", .log = "error");
    qn_arc_options vm;
    qn_err err;

    (void)state;
    qn_arc_options_init(&vm, sizeof vm);
    vm.pool_bytes = 1 << 20;
    return qn_ctx_open(&options, &ctx, &err) == QN_OK && qn_arc_new(ctx, &vm, &arc, &err) == QN_OK
               ? 0
               : -1;
}

static int close_server(void **state)
{
    (void)state;
    qn_arc_free(arc);
    qn_ctx_close(ctx);
    return 0;
}

/* The answer, which must be one line of JSON; the caller releases it. */
static json_t *ask(const char *line)
{
    qn_str out = { 0 };
    json_t *json;

    qn_arc_server_answer(arc, line, strlen(line), &out);
    assert_true(out.len > 1);
    assert_ptr_equal(strchr(out.data, '\n'), out.data + out.len - 1);
    json = json_loads(out.data, 0, NULL);
    assert_non_null(json);
    qn_str_free(&out);
    return json;
}

static void expect_text(const char *line, const char *want)
{
    qn_str out = { 0 };

    qn_arc_server_answer(arc, line, strlen(line), &out);
    assert_string_equal(qn_str_get(&out), want);
    qn_str_free(&out);
}

static void fill(void)
{
    expect_text(
        "{\"programs\": {\"turn\": \"def solve(I):\\n    return vmirror(I)\\n\","
        "               \"same\": \"def solve_x(I):\\n    O = identity(I)\\n    return O\\n\"}}",
        "{\"ok\":true,\"added\":2,\"programs\":2}\n");
    expect_text("{\"tasks\": {\"turn\": {\"train\": [{\"input\": [[1, 2]], \"output\": [[2, 1]]}],"
                "                        \"test\": [{\"input\": [[3, 4]], \"output\": [[4]]}]}}}",
                "{\"ok\":true,\"added\":1,\"tasks\":1,\"pairs\":2}\n");
}

static void programs_run_on_the_tasks_of_their_ids(void **state)
{
    (void)state;
    fill();
    expect_text(
        "{\"run\": {}}",
        "{\"ok\":true,\"runs\":2,\"solved\":1,\"errors\":0,\"scores\":{\"turn\":{\"runs\":2,"
        "\"solved\":1,\"errors\":0,\"differing\":0,\"other_shape\":1,\"steps\":2}}}\n");
    expect_text(
        "{\"run\": {\"match\": \"all\", \"pairs\": \"train\", \"programs\": [\"same\"]}}",
        "{\"ok\":true,\"runs\":1,\"solved\":0,\"errors\":0,\"scores\":{\"same\":{\"runs\":1,"
        "\"solved\":0,\"errors\":0,\"differing\":2,\"other_shape\":0,\"steps\":1}}}\n");
}

/* A task of one pair with 30 x 30 cells of `colour`, to recognise it by. */
static void add_large_task(const char *id, int colour)
{
    static char row[128], grid[8192], line[20000];
    int n = 0;

    for (int c = 0; c < 30; c++)
        n += snprintf(row + n, sizeof row - (size_t)n, "%s%d", c ? "," : "[", colour);
    snprintf(row + n, sizeof row - (size_t)n, "]");
    n = 0;
    for (int r = 0; r < 30; r++)
        n += snprintf(grid + n, sizeof grid - (size_t)n, "%s%s", r ? "," : "[", row);
    snprintf(grid + n, sizeof grid - (size_t)n, "]");
    snprintf(line, sizeof line,
             "{\"tasks\": {\"%s\": {\"train\": [{\"input\": %s, \"output\": %s}], \"test\": []}}}",
             id, grid, grid);
    json_decref(ask(line));
}

static void what_is_replaced_takes_no_memory(void **state)
{
    size_t before;

    (void)state;
    fill();
    add_large_task("same", 0);
    before = mallinfo2().uordblks;
    for (int i = 0; i < 5000; i++) {
        add_large_task("same", i % 10);
        if (i % 10 == 0)
            expect_text("{\"programs\": {\"same\": \"def solve_x(I):\\n    O = identity(I)\\n"
                        "    return O\\n\"}}",
                        "{\"ok\":true,\"added\":1,\"programs\":2}\n");
    }
    assert_in_range(mallinfo2().uordblks, 0, before + (8 << 20)); /* of 40 MB received */
    expect_text(
        "{\"run\": {}}",
        "{\"ok\":true,\"runs\":3,\"solved\":2,\"errors\":0,\"scores\":{\"turn\":{\"runs\":2,"
        "\"solved\":1,\"errors\":0,\"differing\":0,\"other_shape\":1,\"steps\":2},"
        "\"same\":{\"runs\":1,\"solved\":1,\"errors\":0,\"differing\":0,\"other_shape\":0,"
        "\"steps\":1}}}\n");
}

static void outputs_come_back_when_they_are_wanted(void **state)
{
    json_t *answer;

    (void)state;
    fill();
    answer = ask("{\"run\": {\"want\": \"outputs\", \"pairs\": \"test\"}}");
    assert_int_equal(json_array_size(json_object_get(answer, "results")), 1);
    json_decref(answer);
    answer = ask("{\"run\": {\"want\": \"results\", \"match\": \"all\"}}");
    assert_int_equal(json_array_size(json_object_get(answer, "results")), 4);
    assert_null(json_object_get(json_array_get(json_object_get(answer, "results"), 0), "output"));
    json_decref(answer);
}

static void another_of_the_same_id_replaces_the_first(void **state)
{
    json_t *answer;

    (void)state;
    fill();
    expect_text("{\"programs\": {\"turn\": \"def solve(I):\\n    return hmirror(I)\\n\"}}",
                "{\"ok\":true,\"added\":1,\"programs\":2}\n");
    expect_text("{\"tasks\": {\"turn\": {\"train\": [{\"input\": [[5]], \"output\": [[5]]}],"
                " \"test\": []}}}",
                "{\"ok\":true,\"added\":1,\"tasks\":1,\"pairs\":1}\n");
    answer = ask("{\"run\": {}}");
    assert_int_equal(json_integer_value(json_object_get(answer, "runs")), 1);
    assert_int_equal(json_integer_value(json_object_get(answer, "solved")), 1);
    json_decref(answer);
}

static void a_program_with_errors_is_reported_and_others_are_added(void **state)
{
    json_t *answer =
        ask("{\"programs\": {\"a\": \"def solve(I):\\n    return J\\n\","
            " \"b\": \"def solve(I):\\n    return rot90(I)\\n\", \"c\": 1,"
            " \"d\": \"def solve_1(I):\\n    return I\\ndef solve_2(I):\\n    return I\\n\"}}");
    json_t *refused = json_object_get(answer, "refused");

    (void)state;
    assert_int_equal(json_integer_value(json_object_get(answer, "added")), 1);
    assert_int_equal(json_object_size(refused), 3);
    assert_non_null(strstr(json_string_value(json_object_get(refused, "a")), "a:2:12: error:"));
    assert_non_null(strstr(json_string_value(json_object_get(refused, "d")), "2 programs"));
    json_decref(answer);
}

static void what_is_wrong_is_answered_and_changes_nothing(void **state)
{
    static const char *const lines[] = {
        "{",
        "",
        "[]",
        "7",
        "{}",
        "{\"id\": 1}",
        "{\"odd\": 1}",
        "{\"run\": {}, \"stats\": true}",
        "{\"run\": 1}",
        "{\"run\": {\"odd\": 1}}",
        "{\"run\": {\"pairs\": 1}}",
        "{\"run\": {\"match\": \"odd\"}}",
        "{\"run\": {\"want\": \"odd\"}}",
        "{\"run\": {\"programs\": \"turn\"}}",
        "{\"run\": {\"programs\": [1]}}",
        "{\"run\": {\"tasks\": [\"odd\"]}}",
        "{\"run\": {\"tasks\": 1}}",
        "{\"programs\": 1}",
        "{\"tasks\": []}",
        "{\"tasks\": {\"bad\": 1}}",
        "{\"tasks\": {\"bad\": {\"train\": [{\"input\": [[10]]}]}}}",
        "{\"clear\": \"odd\"}",
        "{\"programs\": {\"a\": \"x\", \"a\": \"y\"}}"
    };

    (void)state;
    fill();
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        json_t *answer = ask(lines[i]);

        if (!json_is_false(json_object_get(answer, "ok")))
            fail_msg("%s was taken", lines[i]);
        assert_true(json_string_length(json_object_get(answer, "error")) > 5);
        json_decref(answer);
    }
    expect_text(
        "{\"run\": {\"programs\": [\"same\"], \"match\": \"all\", \"pairs\": \"train\"}}",
        "{\"ok\":true,\"runs\":1,\"solved\":0,\"errors\":0,\"scores\":{\"same\":{\"runs\":1,"
        "\"solved\":0,\"errors\":0,\"differing\":2,\"other_shape\":0,\"steps\":1}}}\n");
}

static void the_id_of_a_line_comes_back(void **state)
{
    (void)state;
    expect_text("{\"id\": [1, \"x\"], \"clear\": \"all\"}",
                "{\"ok\":true,\"programs\":0,\"tasks\":0,\"id\":[1,\"x\"]}\n");
    expect_text("{\"odd\": 1, \"id\": 5}",
                "{\"ok\":false,\"error\":\"unknown request 'odd'; there are programs, tasks, run, "
                "stats, clear and end\",\"status\":\"input\",\"id\":5}\n");
}

static void clearing_programs_keeps_tasks(void **state)
{
    (void)state;
    fill();
    expect_text("{\"clear\": \"programs\"}", "{\"ok\":true,\"programs\":0,\"tasks\":1}\n");
    expect_text("{\"programs\": {\"turn\": \"def solve(I):\\n    return vmirror(I)\\n\"}}",
                "{\"ok\":true,\"added\":1,\"programs\":1}\n");
    expect_text(
        "{\"run\": {\"pairs\": \"first\"}}",
        "{\"ok\":true,\"runs\":1,\"solved\":1,\"errors\":0,\"scores\":{\"turn\":{\"runs\":1,"
        "\"solved\":1,\"errors\":0,\"differing\":0,\"other_shape\":0,\"steps\":1}}}\n");
}

static void the_loop_ends_with_its_input_or_when_asked(void **state)
{
    char input[] = "{\"stats\": true}\n\n  \n{\"end\": true}\n{\"stats\": true}\n";
    FILE *from = fmemopen(input, strlen(input), "r");
    char output[8192] = "";
    FILE *to = fmemopen(output, sizeof output, "w");
    uint64_t n;
    qn_err err;

    (void)state;
    assert_int_equal(qn_arc_serve(arc, from, to, QN_ARC_USUAL_LINE, &n, &err), QN_OK);
    fclose(to);
    assert_int_equal(n, 2);
    assert_non_null(strstr(output, "\n{\"ok\":true}\n"));
    assert_int_equal(qn_arc_serve(arc, from, stdout, QN_ARC_USUAL_LINE, &n, &err), QN_OK);
    assert_int_equal(n, 1);
    fclose(from);
}

static void a_line_that_is_too_long_is_refused_and_the_next_is_read(void **state)
{
    char input[4096], output[8192] = "";
    FILE *from, *to;
    uint64_t n;
    qn_err err;

    (void)state;
    memset(input, 'x', sizeof input);
    snprintf(input + 3000, sizeof input - 3000, "\n{\"end\": true}\n");
    from = fmemopen(input, strlen(input), "r");
    to = fmemopen(output, sizeof output, "w");
    assert_int_equal(qn_arc_serve(arc, from, to, 2000, &n, &err), QN_OK);
    fclose(to);
    fclose(from);
    assert_int_equal(n, 2);
    assert_string_equal(output,
                        "{\"ok\":false,\"error\":\"line 1 has 3000 bytes, more than the limit "
                        "of 2000 (--max-line)\",\"status\":\"limit\"}\n{\"ok\":true}\n");
}

static void a_run_may_have_a_time_limit(void **state)
{
    (void)state;
    fill();
    expect_text("{\"programs\": {\"turn\": \"def solve(I):\\n    f = power(increment, 900000000)\\n"
                "    return f(ONE)\\n\"}}",
                "{\"ok\":true,\"added\":1,\"programs\":2}\n");
    qn_arc_server_set_timeout(arc, 0.001);
    expect_text(
        "{\"run\": {\"programs\": [\"turn\"], \"pairs\": \"first\", \"timeout\": 1e-6, "
        "\"want\": \"results\"}}",
        "{\"ok\":true,\"runs\":1,\"solved\":0,\"errors\":1,\"scores\":{\"turn\":{\"runs\":1,"
        "\"solved\":0,\"errors\":1,\"differing\":0,\"other_shape\":0,\"steps\":0}},\"results\":["
        "{\"program\":\"turn\",\"task\":\"turn\",\"part\":\"train\",\"pair\":0,\"status\":"
        "\"limit\",\"steps\":0,\"equal\":false,\"error\":\"prog turn: not finished in time\"}]}\n");
    expect_text("{\"run\": {\"timeout\": \"long\"}}",
                "{\"ok\":false,\"error\":\"'timeout' is not a number of seconds up to 1000000\","
                "\"status\":\"input\"}\n");
    expect_text("{\"run\": {\"timeout\": 0}}",
                "{\"ok\":false,\"error\":\"'timeout' is not a number of seconds up to 1000000\","
                "\"status\":\"input\"}\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_server, close_server)
    const struct CMUnitTest tests[] = {
        TEST(programs_run_on_the_tasks_of_their_ids),
        TEST(what_is_replaced_takes_no_memory),
        TEST(outputs_come_back_when_they_are_wanted),
        TEST(another_of_the_same_id_replaces_the_first),
        TEST(a_program_with_errors_is_reported_and_others_are_added),
        TEST(what_is_wrong_is_answered_and_changes_nothing),
        TEST(the_id_of_a_line_comes_back),
        TEST(clearing_programs_keeps_tasks),
        TEST(the_loop_ends_with_its_input_or_when_asked),
        TEST(a_line_that_is_too_long_is_refused_and_the_next_is_read),
        TEST(a_run_may_have_a_time_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

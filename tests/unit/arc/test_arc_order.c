/* test_arc_order.c - jobs are ordered by cost, and measured costs outlive the process. */
#include "arc_session_fixture.h"

#include "domain/arc/run/session_impl.h"
#include "util/file.h"
#include "util/temp_dir.h"

/* Two instructions that run thousands of primitives, and many that run once each. */
static const char loops[] = "def solve_loops(I):\n    f = power(increment, 5000)\n"
                            "    O = f(ZERO)\n    return O\n";

static int add_long(fixture *r)
{
    qn_str text = { 0 };
    int program;

    qn_str_add(&text, "def solve_long(I):\n    x0 = objects(I, T, F, T)\n");
    for (int i = 1; i < 60; i++)
        qn_str_addf(&text, "    x%d = shift(I, %s)\n", i, i % 2 ? "UP" : "DOWN");
    qn_str_add(&text, "    return x0\n");
    program = fixture_program(r, "long", qn_str_get(&text));
    qn_str_free(&text);
    return program;
}

typedef struct folder {
    qn_temp_dir dir;
    char costs[1300];
} folder;

static folder new_folder(void)
{
    folder f;
    qn_err err = { .text = "" };

    if (qn_temp_dir_make(&f.dir, &err) != QN_OK)
        fail_msg("%s", err.text);
    snprintf(f.costs, sizeof f.costs, "%s/profile/arc-costs.json", f.dir.path);
    return f;
}

/* Both programs on two grids, the looping one last. */
static fixture open_both(const folder *f, const char *log)
{
    fixture r =
        fixture_in(open_with(QN_OPTIONS(.backend = "cpu", .cache_dir = f->dir.path, .log = log)),
                   (qn_arc_session_options){ 0 });
    const int slow_by_estimate = add_long(&r), slow = fixture_program(&r, "loops", loops);
    const int grid = fixture_made_grid(&r, 1);

    fixture_job(&r, slow_by_estimate, grid);
    fixture_job(&r, slow, grid);
    fixture_job(&r, slow_by_estimate, grid);
    fixture_job(&r, slow, grid);
    return r;
}

/* The program of the job at position `place` of the order. */
static int program_at(const fixture *r, int place)
{
    const qn_arc_batch batch = { .s = r->s, .jobs = r->jobs, .n = r->n };
    uint32_t order[4];
    float costs[4];
    qn_err err = { .text = "" };

    for (size_t p = 0; p < r->s->programs.n; p++)
        r->s->programs.items[p].cost = qn_arc_program_cost(r->s, &r->s->programs.items[p]);
    assert_int_equal(qn_arc_order(&batch, order, costs, &err), QN_OK);
    return r->jobs[order[place]].program;
}

static void program_never_seen_goes_by_its_instructions(void **state)
{
    folder f = new_folder();
    fixture r = open_both(&f, "none");

    (void)state;
    assert_int_equal(program_at(&r, 0), 0);
    assert_int_equal(program_at(&r, 1), 0);
    assert_int_equal(program_at(&r, 2), 1);
    fixture_close(&r);
    qn_temp_dir_remove(&f.dir);
}

static void second_batch_begins_with_what_took_long_in_the_first(void **state)
{
    folder f = new_folder();
    fixture r = open_both(&f, "none");

    (void)state;
    fixture_run(&r);
    assert_int_equal(program_at(&r, 0), 1);
    assert_int_equal(program_at(&r, 1), 1);
    assert_int_equal(program_at(&r, 2), 0);
    fixture_close(&r);
    qn_temp_dir_remove(&f.dir);
}

static void next_process_begins_with_what_took_long_in_this_one(void **state)
{
    folder f = new_folder();
    fixture first = open_both(&f, "none"), second;

    (void)state;
    fixture_run(&first);
    fixture_close(&first);
    second = open_both(&f, "none");
    assert_int_equal(program_at(&second, 0), 1);
    fixture_close(&second);
    qn_temp_dir_remove(&f.dir);
}

/* Only programs that take long are written to the file. */
static void file_holds_the_programs_that_take_long(void **state)
{
    folder f = new_folder();
    fixture r = open_both(&f, "none");
    json_t *saved = NULL;
    qn_err err = { .text = "" };

    (void)state;
    fixture_run(&r);
    fixture_close(&r);
    if (qn_json_read(f.costs, &saved, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_int_equal(json_object_size(json_object_get(saved, "programs")), 1);
    json_decref(saved);
    qn_temp_dir_remove(&f.dir);
}

static void file_that_is_wrong_is_ignored_with_one_line(void **state)
{
    static const char *const wrong[] = {
        "not json",
        "{\"format\": \"another/1\", \"programs\": {}}",
        "{\"format\": \"quern-arc-costs/1\", \"programs\": []}",
        "{\"format\": \"quern-arc-costs/1\", \"programs\": {\"12\": 3}}",
        "{\"format\": \"quern-arc-costs/1\", \"programs\": {\"00000000000000ff\": -1}}",
    };
    folder f = new_folder();
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_make_parent(f.costs, &err), QN_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[4096];
        const char *line;
        fixture r;

        assert_int_equal(qn_file_write(f.costs, wrong[i], strlen(wrong[i]), &err), QN_OK);
        CAPTURE_STDERR(text, sizeof text, r = open_both(&f, "info"));
        line = strstr(text, "costs of programs are ignored: ");
        assert_non_null(line);
        assert_null(strstr(line + 1, "costs of programs"));
        assert_non_null(strstr(line, "arc-costs.json"));
        assert_int_equal(program_at(&r, 0), 0);
        fixture_close(&r);
    }
    qn_temp_dir_remove(&f.dir);
}

/* The mean. */

static void later_batches_count_a_quarter_each(void **state)
{
    qn_arc_costs *costs = NULL;
    qn_err err;

    (void)state;
    assert_int_equal(qn_arc_costs_new(&costs, &err), QN_OK);
    assert_true(qn_arc_costs_steps(costs, 7) == 0);
    qn_arc_costs_add(costs, 7, 100);
    assert_true(qn_arc_costs_steps(costs, 7) == 100);
    qn_arc_costs_add(costs, 7, 200);
    assert_true(qn_arc_costs_steps(costs, 7) == 125);
    qn_arc_costs_free(costs);
}

static void programs_not_seen_for_longest_are_forgotten(void **state)
{
    enum { N = 3 * QN_ARC_MOST_COSTS };
    qn_arc_costs *costs = NULL;
    int n_known = 0;
    qn_err err;

    (void)state;
    assert_int_equal(qn_arc_costs_new(&costs, &err), QN_OK);
    for (uint64_t k = 1; k <= N; k++) {
        qn_arc_costs_add(costs, k * UINT64_C(0x9E3779B97F4A7C15), (double)k);
        qn_arc_costs_add(costs, 1, 5); /* always among the most recently used */
    }
    for (uint64_t k = 1; k <= N; k++)
        n_known += qn_arc_costs_steps(costs, k * UINT64_C(0x9E3779B97F4A7C15)) > 0;
    assert_true(n_known <= QN_ARC_MOST_COSTS);
    assert_true(qn_arc_costs_steps(costs, 1) == 5);
    assert_true(qn_arc_costs_steps(costs, UINT64_C(0x9E3779B97F4A7C15)) == 0);
    assert_true(qn_arc_costs_steps(costs, N * UINT64_C(0x9E3779B97F4A7C15)) == N);
    qn_arc_costs_free(costs);
}

/* Its position in a file does not matter. */
static void key_is_that_of_the_content(void **state)
{
    unsigned char a[sizeof(arc_program) + 16] = { 0 }, b[sizeof a];
    arc_program head = { .magic = ARC_MAGIC, .source = 5 };

    (void)state;
    memcpy(a, &head, sizeof head);
    head.source = 6;
    memcpy(b, a, sizeof b);
    memcpy(b, &head, sizeof head);
    assert_true(qn_arc_costs_key(a, sizeof a) == qn_arc_costs_key(b, sizeof b));
    b[sizeof b - 1] = 1;
    assert_true(qn_arc_costs_key(a, sizeof a) != qn_arc_costs_key(b, sizeof b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_never_seen_goes_by_its_instructions),
        cmocka_unit_test(second_batch_begins_with_what_took_long_in_the_first),
        cmocka_unit_test(next_process_begins_with_what_took_long_in_this_one),
        cmocka_unit_test(file_holds_the_programs_that_take_long),
        cmocka_unit_test(file_that_is_wrong_is_ignored_with_one_line),
        cmocka_unit_test(later_batches_count_a_quarter_each),
        cmocka_unit_test(programs_not_seen_for_longest_are_forgotten),
        cmocka_unit_test(key_is_that_of_the_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

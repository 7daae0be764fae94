/* test_arc_profile.c - a profile counts the primitives that ran, wherever they were called. */
#include "arc_session_fixture.h"

#include "domain/arc/profile/profile.h"
#include "util/file.h"
#include "util/json.h"
#include "util/temp_dir.h"

static void profile_run(fixture *r, qn_arc_profile *out, int threads)
{
    qn_err err = { .text = "" };

    if (qn_arc_profile_add(out, r->s, r->jobs, r->n, threads, &err) != QN_OK)
        fail_msg("%s", err.text);
}

static fixture open_quiet(void)
{
    return fixture_in(open_with(QN_OPTIONS(.backend = "cpu", .log = "none")),
                      (qn_arc_session_options){ 0 });
}

static void primitives_inside_functions_are_counted(void **state)
{
    static const char text[] = "def solve_a(I):\n    f = power(increment, 7)\n"
                               "    t = repeat(ONE, 5)\n    u = apply(f, t)\n    O = size(u)\n"
                               "    return O\n";
    fixture r = open_quiet();
    qn_arc_profile p = { 0 };

    (void)state;
    fixture_job(&r, fixture_program(&r, "a", text), fixture_made_grid(&r, 1));
    profile_run(&r, &p, 1);
    assert_int_equal(p.ops[ARC_OP_increment].count, 35);
    assert_int_equal(p.ops[ARC_OP_apply].count, 1);
    assert_int_equal(p.ops[ARC_OP_apply].elements, 5);
    assert_int_equal(p.ops[ARC_OP_size].count, 1);
    assert_int_equal(p.ops[ARC_OP_vmirror].count, 0);
    assert_int_equal(p.runs, 1);
    assert_true(p.seconds > 0);
    qn_arc_profile_free(&p);
    fixture_close(&r);
}

/* For any number of threads, and equal to the kernel's count. */
static void counts_sum_up_to_the_steps_of_the_runs(void **state)
{
    static const int threads[] = { 1, 4 };
    fixture r = open_quiet();
    uint64_t steps = 0, *by_program;

    (void)state;
    add_made(&r, 60, 300);
    fixture_run(&r);
    by_program = calloc(r.n, sizeof *by_program);
    for (uint32_t k = 0; k < r.n; k++) {
        steps += qn_arc_session_result(r.s, k)->steps;
        by_program[r.jobs[k].program] += qn_arc_session_result(r.s, k)->steps;
    }
    for (int t = 0; t < 2; t++) {
        qn_arc_profile p = { 0 };
        uint64_t counted = 0;

        profile_run(&r, &p, threads[t]);
        for (int op = 0; op < ARC_N_OPS; op++)
            counted += p.ops[op].count;
        assert_int_equal(counted, steps);
        assert_int_equal(p.steps, steps);
        assert_int_equal(p.runs, r.n);
        for (int k = 0; k < p.n_programs; k++)
            assert_int_equal(p.programs[k].steps, by_program[k]);
        qn_arc_profile_free(&p);
    }
    free(by_program);
    fixture_close(&r);
}

static void time_goes_to_the_primitive_and_program_that_take_it(void **state)
{
    fixture r = open_quiet();
    unsigned char cells[900];
    qn_arc_profile p = { 0 };
    double ops = 0;
    int slow, quick, grid;

    (void)state;
    for (int k = 0; k < 900; k++)
        cells[k] = (unsigned char)(k % 7 % 3);
    grid = fixture_grid(&r, "g", 30, 30, cells);
    slow = fixture_program(&r, "slow",
                           "def solve_a(I):\n    x = objects(I, T, T, F)\n    O = size(x)\n"
                           "    return O\n");
    quick = fixture_program(&r, "quick", "def solve_b(I):\n    O = height(I)\n    return O\n");
    for (int k = 0; k < 20; k++) {
        fixture_job(&r, slow, grid);
        fixture_job(&r, quick, grid);
    }
    /* An interruption looks like slowness, so one of several tries must show it. */
    for (int tries = 0; tries < 20; tries++) {
        qn_arc_profile_free(&p);
        p = (qn_arc_profile){ 0 };
        profile_run(&r, &p, 1);
        if (p.programs[slow].seconds > 5 * p.programs[quick].seconds &&
            p.ops[ARC_OP_objects].seconds > 5 * p.ops[ARC_OP_height].seconds)
            break;
    }
    assert_true(p.ops[ARC_OP_objects].seconds > 5 * p.ops[ARC_OP_height].seconds);
    assert_true(p.programs[slow].seconds > 5 * p.programs[quick].seconds);
    assert_int_equal(p.ops[ARC_OP_objects].elements, 20 * 900);
    for (int op = 0; op < ARC_N_OPS; op++)
        ops += p.ops[op].seconds;
    assert_true(ops <= p.seconds * 1.1);
    qn_arc_profile_free(&p);
    fixture_close(&r);
}

static void file_has_the_most_time_first(void **state)
{
    fixture r = open_quiet();
    qn_arc_code codes[4] = { 0 };
    qn_arc_profile p = { 0 };
    qn_temp_dir dir;
    char path[1100];
    json_t *root = NULL, *ops, *programs;
    qn_err err = { .text = "" };
    double last = 1e9;

    (void)state;
    for (int k = 0; k < 4; k++) {
        codes[k].id = (char *)(const char *const[]){ "p0", "p1", "p2", "p3" }[k];
        fixture_job(&r, fixture_made_program(&r, 50 + (uint64_t)k, 0), fixture_made_grid(&r, 1));
    }
    profile_run(&r, &p, 1);
    assert_int_equal(qn_temp_dir_make(&dir, &err), QN_OK);
    snprintf(path, sizeof path, "%s/profile.json", dir.path);
    if (qn_arc_profile_write(&p, codes, path, &err) != QN_OK ||
        qn_json_read(path, &root, &err) != QN_OK)
        fail_msg("%s", err.text);
    ops = json_object_get(root, "ops");
    programs = json_object_get(root, "programs");
    assert_int_equal(json_array_size(programs), 4);
    assert_true(json_array_size(ops) > 3);
    for (size_t i = 0; i < json_array_size(ops); i++) {
        const double seconds =
            json_number_value(json_object_get(json_array_get(ops, i), "seconds"));

        assert_true(seconds <= last);
        last = seconds;
    }
    json_decref(root);
    qn_arc_profile_free(&p);
    qn_temp_dir_remove(&dir);
    fixture_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(primitives_inside_functions_are_counted),
        cmocka_unit_test(counts_sum_up_to_the_steps_of_the_runs),
        cmocka_unit_test(time_goes_to_the_primitive_and_program_that_take_it),
        cmocka_unit_test(file_has_the_most_time_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_arc_optimised.c - merging, fusing and removing by the compiler change no result.
 *
 * Each program is compiled with all passes and with none, and both run on the CPU over the first
 * inputs of tasks: they must give the same value, or the same failure.
 */
#include "arc_program_fixture.h"
#include "golden.h"

#include "lab/made/make.h"
#include "domain/arc/run/session.h"
#include "domain/arc/task/task.h"
#include "domain/arc/value/value.h"

enum { MOST_GRIDS = 60 };

static const char patterns[] =
    "def solve_count(I):\n    x = size(ofcolor(I, 3))\n    O = astuple(x, size(ofcolor(I, 0)))\n"
    "    return O\n"
    "def solve_replace(I):\n    c = mostcolor(I)\n    O = fill(I, 7, ofcolor(I, c))\n    return O\n"
    "def solve_replace_none(I):\n    O = fill(I, 300, ofcolor(I, -5))\n    return O\n"
    "def solve_replace_wide(I):\n    O = fill(I, 300, ofcolor(I, 0))\n    return O\n"
    "def solve_fill(I):\n    O = paint(I, recolor(4, asindices(I)))\n    return O\n"
    "def solve_fill_objects(I):\n    x = merge(objects(I, T, F, T))\n    O = paint(I, recolor(8, "
    "x))\n"
    "    return O\n"
    "def solve_smallest(I):\n    O = first(order(objects(I, T, T, T), size))\n    return O\n"
    "def solve_smallest_height(I):\n    x = colorfilter(objects(I, T, F, T), 2)\n"
    "    O = first(order(x, height))\n    return O\n"
    "def solve_of_size(I):\n    O = first(sizefilter(objects(I, T, F, T), 4))\n    return O\n"
    "def solve_of_size_tuple(I):\n    x = order(objects(I, F, F, T), size)\n"
    "    O = first(sizefilter(x, 2))\n    return O\n"
    "def solve_largest(I):\n    O = argmax(objects(I, T, F, T), size)\n    return O\n"
    "def solve_largest_diagonal(I):\n    O = argmax(objects(I, T, T, T), size)\n    return O\n"
    "def solve_largest_mixed(I):\n    O = argmax(objects(I, F, F, T), size)\n    return O\n"
    "def solve_largest_cells(I):\n    O = argmax(objects(I, F, T, T), size)\n    return O\n"
    "def solve_largest_all(I):\n    O = argmax(objects(I, T, F, F), size)\n    return O\n"
    "def solve_largest_wide(I):\n    x = hconcat(I, hconcat(I, hconcat(I, I)))\n"
    "    y = hconcat(x, x)\n    O = argmax(objects(y, F, F, T), size)\n    return O\n"
    "def solve_smallest_part(I):\n    O = argmin(objects(I, T, F, T), size)\n    return O\n"
    "def solve_longest(I):\n    O = argmax(apply(palette, I), size)\n    return O\n"
    "def solve_longest_mixed(I):\n    O = argmax((I, UP, 3), size)\n    return O\n"
    "def solve_calls(I):\n    f = fork(astuple, mostcolor, chain(size, first, asobject))\n"
    "    O = f(I)\n    return O\n"
    "def solve_calls_fail(I):\n    f = compose(first, rbind(ofcolor, 5))\n    O = f(I)\n"
    "    return O\n"
    "def solve_calls_other(I):\n    f = compose(add, size)\n    O = f(I)\n    return O\n"
    "def solve_calls_more(I):\n    f = power(compose(rot90, lbind(fill, I)), 2)\n    O = f(I)\n"
    "    return O\n"
    "def solve_calls_bound(I):\n    f = lbind(rbind(replace, 3), I)\n    g = matcher(f, I)\n"
    "    O = astuple(g(0), f(mostcolor(I)))\n    return O\n"
    "def solve_twice(I):\n    x = objects(I, T, F, T)\n    y = objects(I, T, F, T)\n"
    "    O = equality(x, y)\n    return O\n"
    "def solve_closures(I):\n    f = lbind(add, 1)\n    g = lbind(add, 1)\n    x = initset(f)\n"
    "    y = insert(g, x)\n    O = size(y)\n    return O\n"
    "def solve_called(I):\n    f = lbind(add, 1)\n    x = apply(f, first(I))\n    g = lbind(add, "
    "1)\n"
    "    y = apply(g, first(I))\n    O = equality(x, y)\n    return O\n"
    "def solve_dead(I):\n    x = first(ofcolor(I, 5))\n    y = rot90(I)\n    O = vmirror(I)\n"
    "    return O\n";

typedef struct {
    qn_ctx *ctx;
    qn_arc_session *session;
    qn_arc_heap *heap;
    int grids[MOST_GRIDS];
    int n_grids;
    int samples; /* of the first task */
} fixture;

static void need(qn_status st, const qn_err *err)
{
    if (st != QN_OK)
        fail_msg("%s", err->text);
}

static void open_fixture(fixture *r)
{
    qn_arc_tasks tasks = { 0 };
    qn_arc_value samples;
    qn_err err = { .text = "" };

    need_golden("arc/training");
    need(qn_ctx_open(&QN_OPTIONS(.backend = "cpu"), &r->ctx, &err), &err);
    need(qn_arc_session_new(r->ctx, &(qn_arc_session_options){ 0 }, &r->session, &err), &err);
    need(qn_arc_heap_new(&r->heap, &err), &err);
    need(qn_arc_tasks_read(golden_path("arc/training"), &tasks, &err), &err);
    need(qn_arc_samples(&tasks.items[0], r->heap, &samples, &err), &err);
    need(qn_arc_session_value(r->session, "samples", &samples, &r->samples, &err), &err);
    for (size_t i = 0; i < tasks.n && r->n_grids < MOST_GRIDS; i += 6) {
        qn_arc_value grid;

        need(qn_arc_grid_value(&tasks.items[i].pairs[0].input, r->heap, &grid, &err), &err);
        need(qn_arc_session_value(r->session, tasks.items[i].id, &grid, &r->grids[r->n_grids++],
                                  &err),
             &err);
    }
    qn_arc_tasks_free(&tasks);
}

static void close_fixture(fixture *r)
{
    qn_arc_session_free(r->session);
    qn_arc_heap_free(r->heap);
    qn_ctx_close(r->ctx);
}

static int add_program(fixture *r, const qn_arc_source *program, const qn_arc_code *code)
{
    qn_err err = { .text = "" };
    int index = -1;

    need(qn_arc_session_program(r->session, program->id, code->bytes, code->n, &index, &err), &err);
    return index;
}

/* The output of a job; steps that are not ok are given by their lines, since passes move
 * instructions. */
static qn_str output_text(fixture *r, uint32_t job, const qn_arc_code *code)
{
    qn_arc_value value;
    qn_str text = { 0 };
    qn_err err = { .text = "" };

    need(qn_arc_session_output(r->session, job, r->heap, &value, &err), &err);
    /* Compared as text: closures have numbers, and closures that were never made no longer
     * count. */
    if (!(head_of(code).flags & ARC_FLAG_BATT))
        qn_arc_print(&text, &value);
    for (int i = 0; i < value.n && (head_of(code).flags & ARC_FLAG_BATT); i++) {
        qn_arc_value record = value.items[i];

        if (record.kind == QN_ARC_BAD)
            record.step = ins_of(code, record.step).line;
        qn_arc_print(&text, &record);
    }
    return text;
}

/* Jobs 2k and 2k + 1 are one program on one grid, with all passes and with none. */
static void compare(fixture *r, const qn_arc_source *program, const qn_arc_code *codes,
                    uint32_t job, int grid, int *n_failed)
{
    const arc_result *a = qn_arc_session_result(r->session, job);
    const arc_result *b = qn_arc_session_result(r->session, job + 1);
    qn_str left, right;

    /* A step that nothing needs, and that the passes have removed, may hit a limit. */
    if (a->code < ARC_E_OVERFLOW && b->code >= ARC_E_OVERFLOW)
        return;
    if (a->code != b->code || (a->code && a->line != b->line))
        fail_msg("%s on grid %d: code %d in line %d, and %d in line %d without passes", program->id,
                 grid, a->code, a->line, b->code, b->line);
    if (a->code) {
        ++*n_failed;
        return;
    }
    left = output_text(r, job, &codes[0]);
    right = output_text(r, job + 1, &codes[1]);
    if (strcmp(qn_str_get(&left), qn_str_get(&right)) != 0)
        fail_msg("%s on grid %d: another value than without passes", program->id, grid);
    qn_str_free(&left);
    qn_str_free(&right);
}

/* Runs with the passes that are not in `off`, and with none. Returns how many of the runs
 * failed. */
static int run_both(fixture *r, const qn_arc_source *program, unsigned off)
{
    qn_arc_job jobs[2 * MOST_GRIDS];
    qn_arc_code codes[2] = { compile_with(program, off), compile_with(program, QN_ARC_OFF_ALL) };
    const int with[2] = { add_program(r, program, &codes[0]), add_program(r, program, &codes[1]) };
    const int is_three = (program->dag.flags & ARC_FLAG_THREE) != 0;
    qn_err err = { .text = "" };
    int n_failed = 0;

    for (int i = 0; i < 2 * r->n_grids; i++) {
        const int grid = r->grids[i / 2];

        jobs[i] = (qn_arc_job){ .program = with[i % 2],
                                .args = { is_three ? r->samples : grid, is_three ? grid : -1, -1 },
                                .expected = -1 };
    }
    need(qn_arc_session_run(r->session, jobs, (uint32_t)(2 * r->n_grids), ARC_WANT_OUTPUT, 0, &err),
         &err);
    for (int i = 0; i < r->n_grids; i++)
        compare(r, program, codes, (uint32_t)(2 * i), i, &n_failed);
    qn_arc_code_free(&codes[0]);
    qn_arc_code_free(&codes[1]);
    return n_failed;
}

static void patterns_give_what_they_give_without_passes(void **state)
{
    fixture r = { 0 };
    qn_arc_file *file;
    int n_failed = 0;

    (void)state;
    open_fixture(&r);
    file = parse_good(patterns);
    for (int i = 0; i < file->n_programs; i++)
        n_failed += run_both(&r, &file->programs[i], 0);
    /* Grids without a 5 or a 2 make programs fail: failures are compared too. */
    assert_true(n_failed > 10 && n_failed < r.n_grids * file->n_programs / 2);
    qn_arc_file_free(file);
    close_fixture(&r);
}

static void random_programs_give_what_they_give_without_passes(void **state)
{
    fixture r = { 0 };
    int n_failed = 0;

    (void)state;
    open_fixture(&r);
    r.n_grids = 4;
    for (uint64_t seed = 0; seed < 150; seed++) {
        qn_str text = { 0 };
        qn_arc_file *file;

        qn_arc_make_program(seed, "random", &(qn_arc_make_options){ .wrong_pct = 20 }, &text);
        file = parse_good(text.data);
        n_failed += run_both(&r, &file->programs[0], 0);
        qn_arc_file_free(file);
        qn_str_free(&text);
    }
    assert_true(n_failed > 10 && n_failed < 500);
    close_fixture(&r);
}

/* A step that is merged with an earlier one fails there, and its records say so. Otherwise they are
 * equal to the line. */
static void random_batt_records_are_what_they_are_without_passes(void **state)
{
    fixture r = { 0 };
    int n_failed = 0; /* only because outputs do not fit: nothing else ends a batt program */

    (void)state;
    open_fixture(&r);
    r.n_grids = 4;
    for (uint64_t seed = 0; seed < 20; seed++) {
        qn_str text = { 0 };
        qn_arc_file *file;

        qn_arc_make_batt(seed, 150, &(qn_arc_make_options){ .wrong_pct = 10 }, &text);
        file = parse_good(text.data);
        n_failed += run_both(&r, &file->programs[0], QN_ARC_OFF_MERGE);
        qn_arc_file_free(file);
        qn_str_free(&text);
    }
    assert_true(n_failed < 20);
    close_fixture(&r);
}

static void original_solvers_give_what_they_give_without_passes(void **state)
{
    qn_arc_file *file = parse_solvers();
    fixture r = { 0 };

    (void)state;
    open_fixture(&r);
    r.n_grids = 6;
    for (int i = 0; i < file->n_programs; i++)
        run_both(&r, &file->programs[i], 0);
    qn_arc_file_free(file);
    close_fixture(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_give_what_they_give_without_passes),
        cmocka_unit_test(random_programs_give_what_they_give_without_passes),
        cmocka_unit_test(random_batt_records_are_what_they_are_without_passes),
        cmocka_unit_test(original_solvers_give_what_they_give_without_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

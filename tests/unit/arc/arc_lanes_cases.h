/* arc_lanes_cases.h - compares the virtual machine, run like a team of WIDTH lanes, with the
 * library's own: golden cases, generated programs, and programs of arbitrary bytes.
 *
 * A block that breaks the rules of arc_lanes.h gives another result when its lanes run one after
 * the other, or from the last to the first. Where lanes are coroutines that meet (TEAM_OF), a lane
 * that comes to another meeting than the rest is reported.
 */
#ifndef QN_TESTS_ARC_LANES_CASES_H
#define QN_TESTS_ARC_LANES_CASES_H

#define ARC_COMPARED (1u << 22)

#include "arc_session_fixture.h"
#include "golden.h"

#include "arc_bare_vm.h"
#include "arc_bytes_program.h"

#include "lab/arc/check.h"

enum { ARENA = 2 << 20, STEPS = 4000000, BYTES_STEPS = 3000, N_BYTES = 250 };

/* Golden cases. */

static int is_right(const bare_vm *vm, uint32_t number, const qn_arc_case *c)
{
    const arc_result *r = &vm->results[number];
    qn_arc_heap *heap = NULL;
    qn_arc_value value;
    qn_err err = { .text = "" };
    int is_equal;

    if (r->code != ARC_OK || c->failure)
        return c->failure && r->code != ARC_OK && !qn_arc_code_is_limit(r->code);
    if (qn_arc_heap_new(&heap, &err) != QN_OK ||
        bare_output(vm, number, heap, &value, &err) != QN_OK)
        fail_msg("%s", err.text);
    is_equal = qn_arc_compare(&value, &c->out) == 0;
    qn_arc_heap_free(heap);
    return is_equal;
}

static void check_golden(const char *name)
{
    const uint64_t none[3] = { 0 };
    bare_vm vm = bare_open(ARENA, STEPS);
    qn_arc_cases cases = { 0 };
    qn_err err = { .text = "" };
    size_t *numbers;
    uint32_t n = 0;

    need_golden(name);
    if (qn_arc_cases_read(golden_path(name), &cases, &err) != QN_OK)
        fail_msg("%s", err.text);
    numbers = malloc(cases.n * sizeof *numbers);
    assert_non_null(numbers);
    vm.par.output_bytes = 16 << 20;
    for (size_t i = 0; i < cases.n; i++) {
        qn_arc_code code;

        if (qn_arc_case_compile(&cases.items[i], i, &code, &err) != QN_OK)
            fail_msg("%s", err.text);
        if (code.bytes)
            numbers[bare_add(&vm, code.bytes, code.n, none)] = i;
        else
            assert_non_null(cases.items[i].failure);
        n += code.bytes != NULL;
        qn_arc_code_free(&code);
    }
    bare_run(&vm);
    assert_true(n > cases.n / 2);
    for (uint32_t k = 0; k < n; k++)
        if (!is_right(&vm, k, &cases.items[numbers[k]]))
            fail_msg("%s: case %zu (%s) ends with %s", name, numbers[k], cases.items[numbers[k]].op,
                     qn_arc_code_name(vm.results[k].code));
    free(numbers);
    qn_arc_cases_free(&cases);
    bare_close(&vm);
}

static void golden_cases_pass(void **state)
{
    (void)state;
    check_golden("arc/dsl_cases.json");
    check_golden("arc/batt_cases.json");
}

/* Against one lane. */

static qn_str bare_text(const bare_vm *vm, uint32_t number)
{
    qn_arc_heap *heap = NULL;
    qn_arc_value value;
    qn_str text = { 0 };
    qn_err err = { .text = "" };

    if (qn_arc_heap_new(&heap, &err) != QN_OK ||
        bare_output(vm, number, heap, &value, &err) != QN_OK)
        fail_msg("instance %u: %s", number, err.text);
    qn_arc_print(&text, &value);
    qn_arc_heap_free(heap);
    return text;
}

/* A run that ended at a limit here may end differently on the last rung. Returns whether it did
 * not. */
static int assert_same_as(const bare_vm *vm, const fixture *r, uint32_t k)
{
    const arc_result *x = &vm->results[k], *y = qn_arc_session_result(r->s, k);
    qn_str tx, ty;

    if (qn_arc_code_is_limit(x->code) && x->code != ARC_E_STEPS)
        return 0;
    if (x->code != y->code || x->steps != y->steps || x->not_ok != y->not_ok || x->line != y->line)
        fail_msg("instance %u: %s, %u steps, line %d; on one lane %s, %u steps, line %d", k,
                 qn_arc_code_name(x->code), x->steps, x->line, qn_arc_code_name(y->code), y->steps,
                 y->line);
    if (x->code != ARC_OK)
        return 1;
    tx = bare_text(vm, k);
    ty = fixture_text(r, k);
    if (strcmp(qn_str_get(&tx), qn_str_get(&ty)) != 0)
        fail_msg("instance %u: %.300s; on one lane %.300s", k, qn_str_get(&tx), qn_str_get(&ty));
    qn_str_free(&tx);
    qn_str_free(&ty);
    return 1;
}

static void made_programs_give_what_one_lane_gives(void **state)
{
    enum { N = 1000 };
    fixture r = fixture_in(open_with(QN_OPTIONS(.backend = "cpu", .log = "none")),
                           (qn_arc_session_options){ 0 });
    bare_vm vm = bare_open(ARENA, STEPS);
    uint32_t n_same = 0;

    (void)state;
    vm.par.output_bytes = 64 << 20;
    for (uint32_t k = 0; k < N; k++) {
        const qn_arc_make_options options = { .wrong_pct = 20 };
        const uint64_t args[3] = { bare_made_grid(&vm, 9000 + k % 50) };
        qn_str text = { 0 };
        qn_arc_file *file;
        qn_arc_code code;

        qn_arc_make_program(70000 + k / 2, "made", &options, &text);
        file = parse_good(qn_str_get(&text));
        code = compile_with(&file->programs[0], QN_ARC_OFF_INLINE);
        bare_add(&vm, code.bytes, code.n, args);
        fixture_job(&r, fixture_code(&r, "made", &code), fixture_made_grid(&r, 9000 + k % 50));
        qn_arc_code_free(&code);
        qn_arc_file_free(file);
        qn_str_free(&text);
    }
    bare_run(&vm);
    fixture_run(&r);
    for (uint32_t k = 0; k < N; k++)
        n_same += (uint32_t)assert_same_as(&vm, &r, k);
    assert_true(n_same > N * 9 / 10);
    bare_close(&vm);
    fixture_close(&r);
}

/* Operands of any kind for every primitive. */
static void programs_of_any_bytes_give_what_one_lane_gives(void **state)
{
    enum { N = 4000 };
    fixture r = fixture_in(open_with(QN_OPTIONS(.backend = "cpu", .log = "none")),
                           (qn_arc_session_options){ .limits = { .max_steps = BYTES_STEPS } });
    bare_vm vm = bare_open(ARENA, BYTES_STEPS);
    uint32_t n_same = 0, n_ok = 0;

    (void)state;
    vm.par.output_bytes = 256 << 20;
    for (uint32_t k = 0; k < N; k++) {
        uint8_t bytes[N_BYTES];
        uint64_t args[3];
        qn_arc_code code = { 0 };
        int grid;

        for (int i = 0; i < N_BYTES; i++)
            bytes[i] = (uint8_t)qn_random_u64(k, (uint64_t)i);
        code.bytes = bytes_program(bytes, N_BYTES - k % 200, &code.n);
        args[0] = args[1] = args[2] = bare_made_grid(&vm, bytes[1]);
        grid = fixture_made_grid(&r, bytes[1]);
        bare_add(&vm, code.bytes, code.n, args);
        fixture_add(&r, (qn_arc_job){ .program = fixture_code(&r, "bytes", &code),
                                      .args = { grid, grid, grid },
                                      .expected = -1 });
        qn_arc_code_free(&code);
    }
    bare_run(&vm);
    fixture_run(&r);
    for (uint32_t k = 0; k < N; k++) {
        n_same += (uint32_t)assert_same_as(&vm, &r, k);
        n_ok += vm.results[k].code == ARC_OK;
    }
    assert_true(n_same > N * 9 / 10 && n_ok > N / 3);
    bare_close(&vm);
    fixture_close(&r);
}

/* Loops divided among lanes, and reasons for starting them again: a failing element before, at and
 * after the one being searched for, values that point to others, closures, loops in loops. */
static const char *const loops[] = {
    "x = asindices(I)\n    f = matcher(first, 3)\n    O = sfilter(x, f)",
    "x = interval(-40, 40, 1)\n    f = lbind(divide, 6)\n    O = apply(f, x)",
    "x = interval(1, 40, 1)\n    f = lbind(divide, 600)\n    O = apply(f, x)",
    "x = interval(1, -20, -1)\n    g = lbind(divide, 4)\n    f = compose(positive, g)\n"
    "    O = extract(x, f)",
    "x = interval(-3, 60, 1)\n    g = lbind(divide, 4)\n    f = compose(positive, g)\n"
    "    O = extract(x, f)",
    "x = interval(0, 50, 1)\n    f = matcher(identity, 37)\n    O = extract(x, f)",
    "x = interval(0, 50, 1)\n    f = matcher(identity, 99)\n    O = extract(x, f)",
    "x = asindices(I)\n    O = mapply(neighbors, x)",
    "x = asindices(I)\n    f = lbind(astuple, I)\n    O = apply(f, x)",
    "x = asindices(I)\n    f = fork(combine, dneighbors, ineighbors)\n    O = apply(f, x)",
    "x = asindices(I)\n    f = compose(invert, first)\n    O = order(x, f)",
    "x = asindices(I)\n    f = fork(multiply, first, last)\n    O = argmax(x, f)",
    "x = asindices(I)\n    f = fork(multiply, first, last)\n    O = valmin(x, f)",
    "x = asindices(I)\n    g = lbind(subtract, 5)\n    h = lbind(apply, g)\n"
    "    f = chain(even, maximum, h)\n    O = sfilter(x, f)",
    "x = asobject(I)\n    g = lbind(lbind, astuple)\n    f = compose(g, first)\n"
    "    a = apply(f, x)\n    O = size(a)",
    "x = asindices(I)\n    y = interval(0, 30, 1)\n    z = order(x, last)\n"
    "    O = papply(astuple, y, z)",
    "x = interval(0, 6, 1)\n    y = interval(0, 7, 1)\n    O = prapply(multiply, x, y)",
    "x = repeat(height, 20)\n    O = rapply(x, I)",
    "x = interval(1, 30, 1)\n    g = lbind(canvas, 3)\n    h = fork(astuple, identity, identity)\n"
    "    f = compose(g, h)\n    O = apply(f, x)",
    "x = interval(1, 12, 1)\n    y = asindices(I)\n    g = lbind(sfilter, y)\n"
    "    h = lbind(matcher, first)\n    f = compose(g, h)\n    O = mapply(f, x)",
};

enum { N_LOOPS = sizeof loops / sizeof *loops };

static void add_loop(bare_vm *vm, fixture *r, const char *body)
{
    const uint64_t args[3] = { bare_made_grid(vm, 5) };
    qn_str text = { 0 };
    qn_arc_file *file;
    qn_arc_code code;

    qn_str_addf(&text, "def solve_a(I):\n    %s\n    return O\n", body);
    file = parse_good(qn_str_get(&text));
    code = compile_with(&file->programs[0], QN_ARC_OFF_INLINE);
    bare_add(vm, code.bytes, code.n, args);
    fixture_job(r, fixture_code(r, "loop", &code), fixture_made_grid(r, 5));
    qn_arc_code_free(&code);
    qn_arc_file_free(file);
    qn_str_free(&text);
}

static fixture open_one_lane(void)
{
    return fixture_in(open_with(QN_OPTIONS(.backend = "cpu", .log = "none")),
                      (qn_arc_session_options){ 0 });
}

static void loops_give_what_one_lane_gives(void **state)
{
    fixture r = open_one_lane();
    bare_vm vm = bare_open(ARENA, STEPS);

    (void)state;
    for (uint32_t k = 0; k < N_LOOPS; k++)
        add_loop(&vm, &r, loops[k]);
    bare_run(&vm);
    fixture_run(&r);
    for (uint32_t k = 0; k < N_LOOPS; k++)
        assert_true(assert_same_as(&vm, &r, k));
    bare_close(&vm);
    fixture_close(&r);
}

/* Limits on loops. */

/* Whatever the limit, a loop ends correctly or leaves the device. */
static void loops_beyond_their_limit_leave(void **state)
{
    static const uint32_t limits[] = { 1, 2, 7, 20, 60, 150, 400, 1000, 100000 };
    uint32_t n_left = 0, n_same = 0;

    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        fixture r = open_one_lane();
        bare_vm vm = bare_open(ARENA, STEPS);

        vm.par.max_loops = limits[i];
        for (uint32_t k = 0; k < N_LOOPS; k++)
            add_loop(&vm, &r, loops[k]);
        bare_run(&vm);
        fixture_run(&r);
        for (uint32_t k = 0; k < N_LOOPS; k++) {
            if (vm.results[k].code == ARC_E_LOOPS)
                n_left++;
            else
                n_same += (uint32_t)assert_same_as(&vm, &r, k);
        }
        bare_close(&vm);
        fixture_close(&r);
    }
    assert_true(n_left > N_LOOPS && n_same > N_LOOPS);
}

/* How one loop over the cells of a grid ends under these limits. */
static arc_result loop_within(uint32_t max_steps, uint32_t max_loops)
{
    fixture r = open_one_lane();
    bare_vm vm = bare_open(ARENA, max_steps);
    arc_result result;

    vm.par.max_loops = max_loops;
    add_loop(&vm, &r, loops[0]);
    bare_run(&vm);
    result = vm.results[0];
    bare_close(&vm);
    fixture_close(&r);
    return result;
}

/* Steps of lanes that are alone count once if lanes are a team; otherwise they count one by one. */
static void steps_side_by_side_are_one_turn(void **state)
{
    const uint32_t steps = loop_within(STEPS, 0).steps;
#ifdef TEAM_OF
    const int few = ARC_OK;
#else
    const int few = ARC_E_LOOPS;
#endif

    (void)state;
    assert_true(steps > 8 * 8);
    assert_int_equal(loop_within(STEPS, steps).code, ARC_OK);
    assert_int_equal(loop_within(STEPS, steps / 2).code, few);
    assert_int_equal(loop_within(STEPS, steps / 64).code, ARC_E_LOOPS);
    assert_int_equal(loop_within(steps, steps / 64).code, ARC_E_LOOPS);
}

/* Without a limit on loops, the step that exceeds the limit is found; with one, a team leaves that
 * to others. */
static void too_many_steps_are_told_where_nothing_may_leave(void **state)
{
    const uint32_t steps = loop_within(STEPS, 0).steps;
    const arc_result alone = loop_within(steps - 1, 0), leaving = loop_within(steps - 1, STEPS);

    (void)state;
    assert_int_equal(alone.code, ARC_E_STEPS);
    assert_int_equal(alone.steps, steps - 1);
#ifdef TEAM_OF
    assert_int_equal(leaving.code, ARC_E_LOOPS);
#else
    assert_int_equal(leaving.code, ARC_E_STEPS);
#endif
}

/* Two values that are equal and have no part in common: comparing them would take forever. */
static void comparing_what_is_shared_without_end_is_given_up(void **state)
{
    static const char text[] =
        "def solve_a(I):\n    J = hmirror(I)\n    r = rot180(I)\n    K = vmirror(r)\n"
        "    p = rbind(repeat, 40)\n    f = power(p, 12)\n    a = f(J)\n    b = f(K)\n"
        "    O = equality(a, b)\n    return O\n";
    qn_arc_file *file = parse_good(text);
    qn_arc_code code = compile_with(&file->programs[0], QN_ARC_OFF_INLINE);
    bare_vm vm = bare_open(ARENA, STEPS);
    const uint64_t args[3] = { bare_made_grid(&vm, 3) };

    (void)state;
    bare_add(&vm, code.bytes, code.n, args);
    bare_run(&vm);
    assert_int_equal(vm.results[0].code, ARC_E_COMPARED);
    qn_arc_code_free(&code);
    qn_arc_file_free(file);
    bare_close(&vm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_cases_pass),
        cmocka_unit_test(made_programs_give_what_one_lane_gives),
        cmocka_unit_test(programs_of_any_bytes_give_what_one_lane_gives),
        cmocka_unit_test(loops_give_what_one_lane_gives),
        cmocka_unit_test(loops_beyond_their_limit_leave),
        cmocka_unit_test(steps_side_by_side_are_one_turn),
        cmocka_unit_test(too_many_steps_are_told_where_nothing_may_leave),
        cmocka_unit_test(comparing_what_is_shared_without_end_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif

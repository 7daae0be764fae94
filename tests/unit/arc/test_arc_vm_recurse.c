/* test_arc_vm_recurse.c - calls on the C stack compared with calls by the machine's frames: the
 * same values, failures, steps, depths and bytes, under every limit.
 */
/* test: long */
#include "arc_program_fixture.h"

#include "arc_bare_vm.h"

#include "lab/made/make.h"
#include "domain/arc/value/value.h"

enum { ARENA = 256 << 10, MADE = 300 };

/* No primitive has this number; but if a launch switches anything off, calls use frames. */
enum { NO_PRIMITIVE = 255 };

static uint32_t count_ok, count_failed;

static void run_by(bare_vm *vm, int by_frames)
{
    vm->par.off[NO_PRIMITIVE / 32] = by_frames ? 1u << NO_PRIMITIVE % 32 : 0;
    bare_run(vm);
}

static void assert_both_ways_agree(bare_vm *vm)
{
    const uint32_t n = vm->par.n_instances;
    arc_result *first = malloc((n + 1) * sizeof *first);
    uint64_t *trace = malloc((size_t)n * vm->par.trace_stride * 8 + 8);

    assert_non_null(first);
    assert_non_null(trace);
    run_by(vm, 1);
    memcpy(first, vm->results, n * sizeof *first);
    memcpy(trace, vm->trace, (size_t)n * vm->par.trace_stride * 8);
    run_by(vm, 0);
    for (uint32_t k = 0; k < n; k++) {
        const arc_result *x = &first[k], *y = &vm->results[k];

        if (x->code != y->code || x->steps != y->steps || x->line != y->line ||
            x->not_ok != y->not_ok || x->frames != y->frames || x->arena != y->arena)
            fail_msg("instance %u: by frames %s, %u steps, line %d, depth %u, %u bytes; by the "
                     "stack %s, %u steps, line %d, depth %u, %u bytes",
                     k, qn_arc_code_name(x->code), x->steps, x->line, x->frames, x->arena,
                     qn_arc_code_name(y->code), y->steps, y->line, y->frames, y->arena);
        count_ok += x->code == ARC_OK;
        count_failed += x->code != ARC_OK;
    }
    assert_memory_equal(trace, vm->trace, (size_t)n * vm->par.trace_stride * 8);
    free(trace);
    free(first);
}

static void under_every_limit(bare_vm *vm)
{
    static const uint32_t limits[][2] = { { 64, 4000000 }, { 1, 4000000 }, { 2, 500 },
                                          { 3, 4000000 },  { 64, 0 },      { 64, 7 },
                                          { 64, 60 },      { 5, 300 } };

    vm->par.trace_stride = 40;
    vm->par.flags = ARC_WANT_TRACE;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        vm->par.n_frames = limits[i][0];
        vm->par.max_steps = limits[i][1];
        assert_both_ways_agree(vm);
    }
}

static void add_text(bare_vm *vm, const char *text, const uint64_t args[3])
{
    qn_arc_file *file = parse_good(text);
    qn_arc_code code = compile_with(&file->programs[0], QN_ARC_OFF_INLINE);

    bare_add(vm, code.bytes, code.n, args);
    qn_arc_code_free(&code);
    qn_arc_file_free(file);
}

static void made_programs_agree(void **state)
{
    bare_vm vm = bare_open(ARENA, 0);

    (void)state;
    count_ok = count_failed = 0;
    vm.par.n_slots = 4096;
    for (int p = 0; p < MADE; p++) {
        const qn_arc_make_options options = { .wrong_pct = p % 2 ? 20 : 0 };
        const uint64_t grid = bare_made_grid(&vm, (uint64_t)p % 20), args[3] = { grid, grid, 0 };
        qn_str text = { 0 };

        if (p % 3 == 0)
            qn_arc_make_batt((uint64_t)p, 40, &options, &text);
        else
            qn_arc_make_program((uint64_t)p, "made", &options, &text);
        add_text(&vm, qn_str_get(&text), args);
        qn_str_free(&text);
    }
    under_every_limit(&vm);
    assert_true(count_ok > MADE && count_failed > MADE);
    bare_close(&vm);
}

static const char *const closures[] = {
    "f = compose(increment, double)\n    g = chain(f, f, f)\n    h = fork(add, g, f)\n"
    "    x = interval(0, 30, 1)\n    O = apply(h, x)",
    "f = power(increment, 9)\n    g = matcher(f, 12)\n    x = interval(0, 30, 1)\n"
    "    O = extract(x, g)",
    "f = lbind(rbind, add)\n    g = compose(f, identity)\n    h = rbind(apply, (1, 2, 3))\n"
    "    k = compose(h, g)\n    O = apply(k, (4, 5))",
    "f = rbind(crop, (2, 2))\n    g = lbind(f, I)\n    O = apply(g, ((0, 0), (1, 1)))",
    "f = lbind(branch, True)\n    g = rbind(f, 3)\n    O = papply(f, (1, 2), (3, 4))",
    "f = lbind(divide, 6)\n    O = apply(f, (3, 2, 1, 0))",
    "f = lbind(divide, 6)\n    O = valmax((), f)",
    "O = valmax((), decrement)",
    "O = argmin((), identity)",
    "f = compose(size, 3)\n    O = apply(f, (1, 2))",
    "f = compose(add, identity)\n    O = apply(f, (1, 2))",
    "f = rbind(identity, 1)\n    O = f(1, 2, 3)",
    "f = rbind(objects, True)\n    O = f(I, True, False)",
    "f = lbind(objects, I)\n    O = f(True, False, True)",
    "x = asindices(I)\n    f = rbind(shift, (1, 1))\n    g = compose(f, initset)\n"
    "    O = mapply(g, x)",
    "x = asindices(I)\n    f = fork(equality, first, last)\n    g = compose(flip, f)\n"
    "    O = sfilter(x, g)",
    "f = lbind(prapply, add)\n    g = rbind(f, (5, 6))\n    O = g((1, 2))",
};

static void closures_agree(void **state)
{
    bare_vm vm = bare_open(ARENA, 0);
    const uint64_t args[3] = { bare_made_grid(&vm, 3) };

    (void)state;
    count_ok = count_failed = 0;
    for (size_t i = 0; i < sizeof closures / sizeof *closures; i++) {
        qn_str text = { 0 };

        qn_str_addf(&text, "def solve_c(I):\n    %s\n    return O\n", closures[i]);
        add_text(&vm, qn_str_get(&text), args);
        qn_str_free(&text);
    }
    under_every_limit(&vm);
    assert_true(count_ok > 10 && count_failed > 10);
    bare_close(&vm);
}

/* As deep as the number of frames, and one deeper. */
static void nested_calls_agree(void **state)
{
    bare_vm vm = bare_open(ARENA, 0);
    const uint64_t args[3] = { bare_made_grid(&vm, 3) };

    (void)state;
    for (int depth = 60; depth <= 70; depth++) {
        qn_str text = { 0 };

        qn_str_addf(&text, "def solve_c(I):\n    f = compose(identity, height)\n");
        for (int k = 1; k < depth; k++)
            qn_str_addf(&text, "    f = compose(increment, f)\n");
        qn_str_addf(&text, "    O = f(I)\n    return O\n");
        add_text(&vm, qn_str_get(&text), args);
        qn_str_free(&text);
    }
    count_ok = count_failed = 0;
    vm.par.n_frames = 64;
    vm.par.max_steps = 1000;
    assert_both_ways_agree(&vm);
    assert_int_equal(count_ok, 5);
    assert_int_equal(vm.results[4].frames, 64);
    assert_int_equal(vm.results[5].code, ARC_E_FRAMES);
    bare_close(&vm);
}

/* A bytecode file may contain closures that no primitive makes. */
static void closures_of_any_arity_agree(void **state)
{
    static const char *const calls[] = { "I(1)", "I(1, 2)", "I(1, 2, 3)" };
    static const int prims[] = { ARC_OP_increment, ARC_OP_add, ARC_OP_branch, ARC_OP_identity };
    static const int captured[] = { 2, 3, 2, 2, 2, 2, 3, 1 };
    bare_vm vm = bare_open(ARENA, 0);

    (void)state;
    count_ok = count_failed = 0;
    for (int form = ARC_FORM_COMPOSE; form <= ARC_FORM_CONST; form++)
        for (int arity = 1; arity <= 4; arity++)
            for (int first = 0; first < 4; first++) {
                qn_arc_value parts[3], closure = { .kind = QN_ARC_CLOS,
                                                   .number = form,
                                                   .step = arity,
                                                   .n = captured[form],
                                                   .items = parts };
                uint64_t args[3] = { 0 };

                for (int k = 0; k < 3; k++)
                    parts[k] = (qn_arc_value){ .kind = QN_ARC_PRIM,
                                               .number = prims[(first + k * arity) % 4] };
                if (form == ARC_FORM_POWER)
                    parts[1] = (qn_arc_value){ .kind = QN_ARC_INT, .number = first - 1 };
                args[0] = bare_value(&vm, &closure);
                for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
                    qn_str text = { 0 };

                    qn_str_addf(&text, "def solve_c(I):\n    O = %s\n    return O\n", calls[c]);
                    add_text(&vm, qn_str_get(&text), args);
                    qn_str_free(&text);
                }
            }
    vm.par.n_frames = 64;
    vm.par.max_steps = 500;
    assert_both_ways_agree(&vm);
    assert_true(count_ok > 20 && count_failed > 20);
    bare_close(&vm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_programs_agree),
        cmocka_unit_test(closures_agree),
        cmocka_unit_test(nested_calls_agree),
        cmocka_unit_test(closures_of_any_arity_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

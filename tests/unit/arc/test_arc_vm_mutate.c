/* test_arc_vm_mutate.c - compiled programs with a few bytes changed: the check refuses them, or the
 * virtual machine finishes with them.
 *
 * The changes depend only on a counter, so failures are reproducible.
 */
#include "arc_program_fixture.h"

#include "arc_bare_vm.h"

#include "lab/made/make.h"
#include "domain/arc/value/value.h"
#include "util/hash.h"

enum { PROGRAMS = 120, ROUNDS = 60, MAX_STEPS = 2000, ARENA = 64 << 10 };

static uint64_t draw(uint64_t *seed, uint64_t below)
{
    return qn_random_u64(17, (*seed)++) % below;
}

/* Changes an instruction's field, or any byte: to a small number, one of those already there, or
 * anything. */
static void mutate(unsigned char *code, size_t n, arc_program head, uint64_t *seed)
{
    size_t at = draw(seed, n);

    if (draw(seed, 10) < 9) {
        const size_t ins = sizeof head + draw(seed, head.n_ins) * sizeof(arc_ins);
        uint16_t field;

        at = ins + 2 * draw(seed, sizeof(arc_ins) / 2);
        memcpy(&field, code + at, sizeof field);
        switch (draw(seed, 4)) {
        case 0:
            field = (uint16_t)draw(seed, 270);
            break;
        case 1:
            field = (uint16_t)(field ^ ARC_CONST);
            break;
        case 2:
            field = (uint16_t)(field + draw(seed, 5) - 2);
            break;
        default:
            memcpy(&field,
                   code + sizeof head +
                       (at - sizeof head + 16 * draw(seed, head.n_ins)) %
                           (head.n_ins * sizeof(arc_ins)),
                   sizeof field);
        }
        memcpy(code + at, &field, sizeof field);
        return;
    }
    code[at] = (unsigned char)draw(seed, 256);
}

static qn_arc_code made_code(int number)
{
    const qn_arc_make_options options = { .wrong_pct = 5 };
    qn_str text = { 0 };
    qn_arc_file *file;
    qn_arc_code code;

    if (number % 3 == 0)
        qn_arc_make_batt((uint64_t)number, 40, &options, &text);
    else
        qn_arc_make_program((uint64_t)number, "made", &options, &text);
    file = parse_good(qn_str_get(&text));
    code = compile_with(&file->programs[0], 0);
    qn_arc_file_free(file);
    qn_str_free(&text);
    return code;
}

/* The machine leaves a readable value, or the reason why there is none. */
static void assert_readable(const bare_vm *vm)
{
    for (uint32_t k = 0; k < vm->par.n_instances; k++) {
        const arc_result *r = &vm->results[k];
        qn_arc_heap *heap = NULL;
        qn_arc_value value;
        qn_err err = { .text = "" };

        assert_true(r->code < ARC_N_CODES);
        assert_true(r->steps <= MAX_STEPS);
        if (r->code != ARC_OK)
            continue;
        assert_true(r->arena <= ARENA);
        assert_int_equal(qn_arc_heap_new(&heap, &err), QN_OK);
        if (bare_output(vm, k, heap, &value, &err) != QN_OK && err.status != QN_ERR_LIMIT)
            fail_msg("%s", err.text);
        qn_arc_heap_free(heap);
    }
}

static void changed_programs_are_refused_or_survived(void **state)
{
    uint32_t n_run = 0, n_ok = 0;

    (void)state;
    for (int p = 0; p < PROGRAMS; p++) {
        qn_arc_code code = made_code(p);
        unsigned char *changed = malloc(code.n);
        bare_vm vm = bare_open(ARENA, MAX_STEPS);
        const uint64_t grid = bare_made_grid(&vm, (uint64_t)p), args[3] = { grid, grid, 0 };
        uint64_t seed = (uint64_t)p << 24;

        assert_non_null(changed);
        vm.par.n_slots = 32767;
        vm.par.output_bytes = 8 << 20;
        for (int round = 0; round < ROUNDS; round++) {
            qn_err err;

            memcpy(changed, code.bytes, code.n);
            for (uint64_t k = 1 + draw(&seed, 4); k > 0; k--)
                mutate(changed, code.n, head_of(&code), &seed);
            if (qn_arc_code_check(changed, code.n, &err) == QN_OK)
                bare_add(&vm, changed, code.n, args);
        }
        if (vm.par.n_instances)
            bare_run(&vm);
        assert_readable(&vm);
        n_run += vm.par.n_instances;
        for (uint32_t k = 0; k < vm.par.n_instances; k++)
            n_ok += vm.results[k].code == ARC_OK;
        bare_close(&vm);
        free(changed);
        qn_arc_code_free(&code);
    }
    print_message("%u of %d passed the check, %u ended well\n", n_run, PROGRAMS * ROUNDS, n_ok);
    assert_true(n_run > PROGRAMS * ROUNDS / 20 && n_ok > n_run / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changed_programs_are_refused_or_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* arc_op_cases.h - the golden cases of the primitives in OPS_HEADER, and the memory that they leave
 * behind. There is one program for each order in which blocks run. */
#include "arc_op_fixture.h"

static void run_case(op_fixture *fixture, const qn_arc_case *c, size_t number)
{
    uint32_t mark;
    const slot v = fixture_run(fixture, c->op, c->args, c->n_args, ARENA_BYTES, &mark);

    if (c->failure) {
        if (fixture->vm.error == ARC_OK || fixture->vm.error >= ARC_E_OVERFLOW)
            fail_msg("case %zu: %s must fail, and not with %s", number, c->op,
                     qn_arc_code_name(fixture->vm.error));
        return;
    }
    if (fixture->vm.error != ARC_OK)
        fail_msg("case %zu: %s failed with %s", number, c->op, qn_arc_code_name(fixture->vm.error));
    if (!fixture_is(fixture, v, &c->out)) {
        qn_str got = fixture_text(fixture, v), wanted = { 0 };

        qn_arc_print(&wanted, &c->out);
        fail_msg("case %zu: %s gives %.400s, not %.400s", number, c->op, qn_str_get(&got),
                 qn_str_get(&wanted));
    }
}

/* A result without slots inside lies at the start of the free memory, with nothing after it. */
static void look_for_scratch(op_fixture *fixture, const qn_arc_case *c, size_t number)
{
    uint32_t mark;
    const slot v = fixture_run(fixture, c->op, c->args, c->n_args, ARENA_BYTES, &mark);
    const int is_young = arc_has_content(v) && ARC_PAYLOAD(v) >= mark;
    uint32_t end = mark;

    if (fixture->vm.error)
        return;
    if (is_young && !arc_is_flat(v))
        return;
    if (is_young)
        end += ((uint32_t)arc_content(&fixture->vm, v) + 7) & ~7u;
    if (fixture->vm.top != end)
        fail_msg("case %zu: %s leaves %u bytes", number, c->op, fixture->vm.top - end);
}

/* With any less memory than it needs, a primitive fails for lack of it and writes nothing
 * beyond. */
static void run_in_small_arenas(op_fixture *fixture, const qn_arc_case *c, size_t number)
{
    uint32_t mark, need;

    fixture_run(fixture, c->op, c->args, c->n_args, ARENA_BYTES, &mark);
    if (fixture->vm.error || fixture->vm.high <= mark)
        return;
    need = fixture->vm.high - mark;
    for (uint32_t quarter = 0; quarter < 4; quarter++) {
        const slot v =
            fixture_run(fixture, c->op, c->args, c->n_args, need * quarter / 4 & ~7u, &mark);

        fixture_watch(fixture);
        if (fixture->vm.error != ARC_OK && fixture->vm.error != ARC_E_ARENA)
            fail_msg("case %zu: %s fails with %s", number, c->op,
                     qn_arc_code_name(fixture->vm.error));
        if (fixture->vm.error == ARC_OK)
            assert_true(fixture_is(fixture, v, &c->out));
    }
}

/* Passes the cases of the file whose primitives are in OPS_HEADER to `check`; returns how many
 * there are. */
static size_t each_case(const char *file, void (*check)(op_fixture *, const qn_arc_case *, size_t))
{
    op_fixture fixture = fixture_open();
    qn_arc_cases cases = { 0 };
    qn_err err = { .text = "" };
    size_t n = 0;

    if (qn_arc_cases_read(golden_path(file), &cases, &err) != QN_OK)
        fail_msg("%s", err.text);
    for (size_t k = 0; k < cases.n; k++) {
        const qn_arc_case *c = &cases.items[k];

        if (c->n_args > 0 && has_op(c->op)) {
            check(&fixture, c, k);
            n++;
        }
    }
    qn_arc_cases_free(&cases);
    fixture_close(&fixture);
    return n;
}

static void every_case_of_the_language_comes_out(void **state)
{
    (void)state;
    need_golden("arc/dsl_cases.json");
    assert_true(each_case("arc/dsl_cases.json", run_case) >= LEAST_DSL_CASES);
}

static void every_case_of_the_batt_dialect_comes_out(void **state)
{
    (void)state;
    need_golden("arc/batt_cases.json");
    assert_true(each_case("arc/batt_cases.json", run_case) >= LEAST_BATT_CASES);
}

static void no_scratch_stays(void **state)
{
    (void)state;
    need_golden("arc/dsl_cases.json");
    each_case("arc/dsl_cases.json", look_for_scratch);
    each_case("arc/batt_cases.json", look_for_scratch);
}

static void small_arenas_are_not_overrun(void **state)
{
    (void)state;
    need_golden("arc/dsl_cases.json");
    each_case("arc/dsl_cases.json", run_in_small_arenas);
    each_case("arc/batt_cases.json", run_in_small_arenas);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_of_the_language_comes_out),
        cmocka_unit_test(every_case_of_the_batt_dialect_comes_out),
        cmocka_unit_test(no_scratch_stays),
        cmocka_unit_test(small_arenas_are_not_overrun),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_arc_in_step.c - instances in groups that run one program, on one device and on several. */
#include "arc_session_fixture.h"

#include "domain/arc/run/cut.h"

enum { PROGRAMS = 12, GRIDS = 40, TEAMS = 8 };

/* The list. */

static void programs_are_filled_up_to_whole_groups(void **state)
{
    static const uint32_t programs[] = { 3, 3, 3, 7, 7, 7, 7, 9 };
    arc_instance list[8], to[16];

    (void)state;
    for (uint32_t k = 0; k < 8; k++)
        list[k] = (arc_instance){ .program = programs[k], .number = k };
    assert_int_equal(qn_arc_pad_groups(list, 8, 4, NULL), 12);
    assert_int_equal(qn_arc_pad_groups(list, 8, 4, to), 12);
    for (uint32_t k = 0; k < 12; k++) {
        static const uint32_t numbers[] = { 0, 1, 2, ARC_NOBODY, 3,          4,
                                            5, 6, 7, ARC_NOBODY, ARC_NOBODY, ARC_NOBODY };

        assert_int_equal(to[k].program, to[k / 4 * 4].program);
        assert_int_equal(to[k].number, numbers[k]);
    }
}

static void groups_pay_while_few_places_are_empty(void **state)
{
    (void)state;
    assert_true(qn_arc_pad_groups_pays(100, 100));
    assert_true(qn_arc_pad_groups_pays(100, 125));
    assert_false(qn_arc_pad_groups_pays(100, 126));
    assert_false(qn_arc_pad_groups_pays(1, 8));
}

/* Devices. */

/* Programs that each run on all grids, so that groups are full. */
static void add_programs(fixture *r)
{
    int grids[GRIDS];

    for (int g = 0; g < GRIDS; g++)
        grids[g] = fixture_made_grid(r, (uint64_t)g);
    for (int p = 0; p < PROGRAMS; p++) {
        const int program = fixture_made_program(r, 40 + (uint64_t)p, 20);

        for (int g = 0; g < GRIDS; g++)
            fixture_job(r, program, grids[g]);
    }
}

static fixture open_in_step(qn_ctx *ctx)
{
    fixture r = fixture_in(ctx, (qn_arc_session_options){ .limits = { .pad_to = TEAMS } });

    add_programs(&r);
    return r;
}

static fixture run_reference(void)
{
    fixture ref = fixture_open("cpu", (qn_arc_session_options){ 0 });

    add_programs(&ref);
    fixture_run(&ref);
    return ref;
}

static void groups_give_the_results_of_a_list(void **state)
{
    static const char *const backends[] = { "cpu", "sim", "sim:0,sim:1,sim:2" };
    fixture ref = run_reference();

    (void)state;
    for (size_t b = 0; b < 3; b++) {
        fixture r = open_in_step(
            open_with(QN_OPTIONS(.backend = backends[b], .fault = "sim.devices=3", .log = "none")));

        for (int round = 0; round < 2; round++) {
            fixture_run(&r);
            assert_same(&ref, &r, backends[b]);
        }
        fixture_close(&r);
    }
    fixture_close(&ref);
}

static void groups_on_two_parts_of_an_opencl_device_give_the_same(void **state)
{
    fixture ref = run_reference(), r;
    qn_ctx *ctx;

    (void)state;
    setenv("QUERN_OPENCL_SUBDEVICES", "2", 1);
    ctx = open_if_present("opencl:0,opencl:1");
    if (ctx && qn_device_count(ctx) == 3) {
        r = open_in_step(ctx);
        fixture_run(&r);
        assert_string_equal(qn_arc_session_device(r.s), "opencl:0+opencl:1");
        assert_same(&ref, &r, "two parts");
        qn_arc_session_free(r.s);
        free(r.jobs);
    }
    qn_ctx_close(ctx);
    unsetenv("QUERN_OPENCL_SUBDEVICES");
    fixture_close(&ref);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_are_filled_up_to_whole_groups),
        cmocka_unit_test(groups_pay_while_few_places_are_empty),
        cmocka_unit_test(groups_give_the_results_of_a_list),
        cmocka_unit_test(groups_on_two_parts_of_an_opencl_device_give_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

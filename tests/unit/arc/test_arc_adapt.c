/* test_arc_adapt.c - programs that stay on the CPU while their batch goes to a device. */
#include "arc_session_fixture.h"

#include "domain/arc/run/session_impl.h"
#include "util/file.h"
#include "util/temp_dir.h"

enum { N_PROGRAMS = 8 };

static fixture open_adapting(const char *fault, int adapts, const char *explain)
{
    setenv("QUERN_PROFILE", "0", 1);
    return fixture_in(open_with(QN_OPTIONS(.backend = "cpu,sim:0", .route = "gpu", .fault = fault,
                                           .explain_route = explain, .log = "none")),
                      (qn_arc_session_options){ .measures_programs = adapts });
}

/* Generated programs on some grids, and their results on the CPU. */
static void add_programs(fixture *r, int *programs)
{
    for (int p = 0; p < N_PROGRAMS; p++) {
        programs[p] = fixture_made_program(r, 90 + (uint64_t)p, 20);
        for (uint64_t g = 0; g < 12; g++)
            fixture_job(r, programs[p], fixture_made_grid(r, g));
    }
}

static fixture reference(void)
{
    fixture ref = fixture_open("cpu", (qn_arc_session_options){ 0 });
    int programs[N_PROGRAMS];

    add_programs(&ref, programs);
    fixture_run(&ref);
    return ref;
}

static void place(fixture *r, int program, qn_arc_place where)
{
    r->s->programs.items[program].place = where;
}

static void programs_run_where_they_are_told_to(void **state)
{
    fixture ref = reference(), r = open_adapting(NULL, 0, NULL);
    uint64_t all, there;
    int programs[N_PROGRAMS];

    (void)state;
    add_programs(&r, programs);
    fixture_run(&r);
    all = qn_arc_session_stats(r.s)->gpu_ops;
    assert_int_equal(qn_arc_session_stats(r.s)->cpu_ops, 0);
    for (int p = 0; p < N_PROGRAMS; p++)
        place(&r, programs[p], p % 2 ? QN_ARC_PLACE_CPU : QN_ARC_PLACE_DEVICE);
    fixture_run(&r);
    assert_same(&ref, &r, "some on the CPU");
    there = qn_arc_session_stats(r.s)->gpu_ops - all;
    assert_true(there > 0 && there < all);
    assert_int_equal(there + qn_arc_session_stats(r.s)->cpu_ops, all);
    /* And back. */
    for (int p = 0; p < N_PROGRAMS; p++)
        place(&r, programs[p], QN_ARC_PLACE_DEVICE);
    fixture_run(&r);
    assert_int_equal(qn_arc_session_stats(r.s)->gpu_ops, 2 * all + there);
    fixture_close(&r);
    fixture_close(&ref);
}

static void programs_leave_a_device_that_is_slow_with_them(void **state)
{
    fixture ref = reference(), r = open_adapting("sim.launch_us=200000", 1, NULL);
    int programs[N_PROGRAMS];

    (void)state;
    add_programs(&r, programs);
    for (int round = 0; round < 2; round++) {
        fixture_run(&r);
        assert_same(&ref, &r, "slow device");
    }
    assert_int_equal(qn_arc_session_stats(r.s)->measured_programs, N_PROGRAMS);
    assert_int_equal(qn_arc_session_stats(r.s)->cpu_programs, N_PROGRAMS);
    assert_int_equal(qn_arc_session_stats(r.s)->gpu_ops, 0);
    fixture_close(&r);
    fixture_close(&ref);
}

static void programs_stay_on_a_device_that_is_quick_with_them(void **state)
{
    fixture ref = reference();
    fixture r = open_adapting("sim.launch_us=0,sim.submit_us=0,sim.gbps=100000000,sim.h2d_us=0,"
                              "sim.d2h_us=0,sim.h2d_gbps=100000,sim.d2h_gbps=100000",
                              1, NULL);
    int programs[N_PROGRAMS];

    (void)state;
    add_programs(&r, programs);
    for (int round = 0; round < 2; round++) {
        fixture_run(&r);
        assert_same(&ref, &r, "quick device");
    }
    assert_int_equal(qn_arc_session_stats(r.s)->measured_programs, N_PROGRAMS);
    assert_int_equal(qn_arc_session_stats(r.s)->cpu_programs, 0);
    assert_int_equal(qn_arc_session_stats(r.s)->cpu_ops, 0);
    fixture_close(&r);
    fixture_close(&ref);
}

static void measuring_counts_nothing_and_is_explained(void **state)
{
    qn_temp_dir dir;
    char path[1100], *text = NULL;
    size_t bytes;
    qn_err err = { .text = "" };
    int programs[N_PROGRAMS];
    fixture r;

    (void)state;
    assert_int_equal(qn_temp_dir_make(&dir, &err), QN_OK);
    snprintf(path, sizeof path, "%s/route.csv", dir.path);
    r = open_adapting("sim.launch_us=200000", 1, path);
    add_programs(&r, programs);
    fixture_run(&r);
    assert_int_equal(qn_arc_session_stats(r.s)->instances, r.n);
    assert_int_equal(qn_arc_session_stats(r.s)->steps_total, qn_arc_session_stats(r.s)->cpu_ops);
    fixture_close(&r);
    if (qn_file_read(path, &text, &bytes, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_non_null(strstr(text, ",made90,arc.program,12,cpu:0,"));
    assert_non_null(strstr(text, ",made97,arc.program,12,sim:0,"));
    free(text);
    qn_temp_dir_remove(&dir);
}

static void what_programs_share_changes_nothing(void **state)
{
    fixture ref = reference(), r;
    int programs[N_PROGRAMS];

    (void)state;
    r = fixture_in(open_with(QN_OPTIONS(.backend = "cpu,sim:0", .route = "gpu", .log = "none")),
                   (qn_arc_session_options){ .prefixes = QN_ARC_PREFIXES_ALL });
    add_programs(&r, programs);
    for (int p = 0; p < N_PROGRAMS; p++)
        place(&r, programs[p], QN_ARC_PLACE_CPU);
    fixture_run(&r);
    assert_same(&ref, &r, "shared");
    fixture_close(&r);
    fixture_close(&ref);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_run_where_they_are_told_to),
        cmocka_unit_test(programs_leave_a_device_that_is_slow_with_them),
        cmocka_unit_test(programs_stay_on_a_device_that_is_quick_with_them),
        cmocka_unit_test(measuring_counts_nothing_and_is_explained),
        cmocka_unit_test(what_programs_share_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_arc_deadline.c - runs with a deadline: which jobs finish, and which are given up. */
#include "arc_session_fixture.h"

#include "util/clock.h"

static const char *const backends[] = { "cpu", "sim" };

static const char endless[] = "def solve_endless(I):\n    f = power(increment, 1000000000)\n"
                              "    return f(ONE)\n";

/* Needs every rung: the last one has large values. */
static const char heavy[] = "def solve_heavy(I):\n    x = interval(0, 300, 1)\n"
                            "    y = product(x, x)\n    f = lbind(combine, y)\n"
                            "    g = power(f, 100000)\n    return g(y)\n";

static const char turn[] = "def solve_turn(I):\n    return vmirror(I)\n";

static fixture open_patient(const char *backend, const char *devices, const char *fault)
{
    const qn_options options = QN_OPTIONS(.backend = backend, .fault = fault, .log = "none");

    return fixture_in(open_with(options),
                      (qn_arc_session_options){ .limits = { .max_steps = 2000000000 },
                                                .split = { .devices = devices } });
}

static void expect_code(const fixture *r, uint32_t job, int code)
{
    assert_string_equal(fixture_code_name(r, job), qn_arc_code_name(code));
}

/* Runs the jobs with a deadline, repeatedly with a later one as long as it was too early even for
 * job `small`, which can happen on a busy machine. Returns the counts before the last run. */
static qn_arc_stats run_until_done(fixture *r, uint32_t small)
{
    qn_arc_stats before = { 0 };

    for (double us = 2e5; us < 2e7; us *= 3) {
        before = *qn_arc_session_stats(r->s);
        qn_arc_session_until(r->s, qn_now_us() + us);
        fixture_run(r);
        if (qn_arc_session_result(r->s, small)->code == ARC_OK)
            break;
    }
    expect_code(r, small, ARC_OK);
    return before;
}

static void who_has_not_ended_in_time_is_given_up(void **state)
{
    (void)state;
    for (int b = 0; b < 2; b++) {
        fixture r = open_patient(backends[b], NULL, NULL);
        const int grid = fixture_made_grid(&r, 3);

        fixture_job(&r, fixture_program(&r, "endless", endless), grid);
        fixture_job(&r, fixture_program(&r, "heavy", heavy), grid);
        fixture_job(&r, fixture_program(&r, "turn", turn), grid);
        const qn_arc_stats before = run_until_done(&r, 2), *const after = qn_arc_session_stats(r.s);
        expect_code(&r, 0, ARC_E_TIMEOUT);
        expect_code(&r, 1, ARC_E_TIMEOUT);
        /* The result says how far it got. */
        assert_int_equal(qn_arc_session_result(r.s, 0)->line, 3);
        assert_true(qn_arc_session_result(r.s, 0)->steps >= 1024);
        assert_int_equal(after->timeouts - before.timeouts, 2);
        assert_int_equal(after->limits - before.limits, 2);
        assert_int_equal(after->errors, 0);
        fixture_close(&r);
    }
}

static void with_time_enough_results_are_those_without_a_deadline(void **state)
{
    fixture ref = fixture_open("cpu", (qn_arc_session_options){ 0 });

    (void)state;
    add_made(&ref, 60, 600);
    fixture_run(&ref);
    for (int b = 0; b < 2; b++) {
        fixture r =
            fixture_open(backends[b], (qn_arc_session_options){ .prefixes = QN_ARC_PREFIXES_ALL,
                                                                .limits = { .max_loops = 50 } });

        add_made(&r, 60, 600);
        qn_arc_session_until(r.s, qn_now_us() + 3e8);
        fixture_run(&r);
        assert_same(&ref, &r, backends[b]);
        assert_int_equal(qn_arc_session_stats(r.s)->timeouts, 0);
        fixture_close(&r);
    }
    fixture_close(&ref);
}

static void limit_on_steps_stays_what_it_is(void **state)
{
    fixture r = fixture_open("cpu", (qn_arc_session_options){ .limits = { .max_steps = 5000 } });

    (void)state;
    fixture_job(&r, fixture_program(&r, "endless", endless), fixture_made_grid(&r, 3));
    qn_arc_session_until(r.s, qn_now_us() + 3e8);
    fixture_run(&r);
    expect_code(&r, 0, ARC_E_STEPS);
    assert_int_equal(qn_arc_session_result(r.s, 0)->steps, 5000);
    fixture_close(&r);
}

static void time_that_is_over_leaves_nothing_to_run(void **state)
{
    (void)state;
    for (int b = 0; b < 2; b++) {
        fixture r = open_patient(backends[b], NULL, NULL);
        const int grid = fixture_made_grid(&r, 3);

        fixture_job(&r, fixture_program(&r, "turn", turn), grid);
        qn_arc_session_until(r.s, qn_now_us() - 1);
        fixture_run(&r);
        expect_code(&r, 0, ARC_E_TIMEOUT);
        assert_int_equal(qn_arc_session_result(r.s, 0)->steps, 0);
        assert_int_equal(qn_arc_session_stats(r.s)->launches, 0);
        /* The deadline does not affect the next run. */
        qn_arc_session_until(r.s, 0);
        fixture_run(&r);
        expect_code(&r, 0, ARC_OK);
        fixture_close(&r);
    }
}

static void several_devices_keep_the_time_together(void **state)
{
    fixture r = open_patient("sim", "sim:0,sim:1,sim:2", "sim.devices=3");
    const int grid = fixture_made_grid(&r, 3);
    const int programs[] = { fixture_program(&r, "endless", endless),
                             fixture_program(&r, "turn", turn) };

    (void)state;
    for (int k = 0; k < 12; k++)
        fixture_job(&r, programs[k % 4 ? 1 : 0], grid);
    run_until_done(&r, 11);
    for (uint32_t k = 0; k < 12; k++)
        expect_code(&r, k, k % 4 ? ARC_OK : ARC_E_TIMEOUT);
    fixture_close(&r);
}

/* Primitives that would take a minute or more, in the machine of the first rung, which has room for their
 * values, and in that of the last. */
static void long_primitives_look_at_the_clock(void **state)
{
    static const char *const bodies[] = {
        "    x = interval(0, 300000, 1)\n    return dedupe(x)\n",
        "    x = interval(0, 300000, 1)\n    return mostcommon(x)\n",
        "    x = interval(0, 300000, 1)\n    y = interval(300000, 600000, 1)\n"
        "    return difference(x, y)\n",
        "    x = interval(0, 500, 1)\n    y = product(x, x)\n    z = shift(y, (510, 0))\n"
        "    return gravitate(y, z)\n",
        "    f = power(rbind(repeat, 40), 12)\n    J = hmirror(I)\n    r = rot180(I)\n"
        "    K = vmirror(r)\n    a = f(J)\n    b = f(K)\n    return equality(a, b)\n",
    };
    enum { N = sizeof bodies / sizeof *bodies };

    (void)state;
    for (int is_wide = 0; is_wide < 2; is_wide++) {
        fixture r =
            fixture_in(open_with(QN_OPTIONS(.backend = "cpu", .log = "none")),
                       (qn_arc_session_options){ .limits = { .arena = is_wide ? 0 : 128 << 20 } });
        const int grid = fixture_made_grid(&r, 3);

        /* The last one compares less than the limit of the first rung takes in time. */
        for (int k = 0; k < (is_wide ? N : N - 1); k++) {
            const double start = qn_now_us();
            char text[400], id[16];

            snprintf(id, sizeof id, "p%d", k);
            snprintf(text, sizeof text, "def solve_%s(I):\n%s", id, bodies[k]);
            r.n = 0;
            fixture_job(&r, fixture_program(&r, id, text), grid);
            qn_arc_session_until(r.s, start + 3e5);
            fixture_run(&r);
            expect_code(&r, 0, ARC_E_TIMEOUT);
            if (k < N - 1 && !is_wide)
                assert_int_equal(qn_arc_session_stats(r.s)->reruns, 0);
            if (qn_now_us() - start > 2e7)
                fail_msg("%s took %.0f s", text, 1e-6 * (qn_now_us() - start));
        }
        fixture_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_has_not_ended_in_time_is_given_up),
        cmocka_unit_test(with_time_enough_results_are_those_without_a_deadline),
        cmocka_unit_test(limit_on_steps_stays_what_it_is),
        cmocka_unit_test(time_that_is_over_leaves_nothing_to_run),
        cmocka_unit_test(several_devices_keep_the_time_together),
        cmocka_unit_test(long_primitives_look_at_the_clock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_arc_vm_fallback.c - runs that exceed a limit are run again with more memory, and at last on
 * the CPU: only the counters change.
 */
#include "arc_session_fixture.h"
#include "golden.h"

#include "lab/arc/check.h"
#include "domain/arc/value/value.h"

enum { INSTANCES = 400, CASES_PER_OP = 3 };

static fixture open_quiet(const char *backend, qn_arc_session_options options)
{
    return fixture_in(open_with(QN_OPTIONS(.backend = backend, .log = "none")), options);
}

static void assert_sums(const fixture *r)
{
    const qn_arc_stats *s = qn_arc_session_stats(r->s);

    assert_int_equal(s->instances, s->ok + s->errors + s->limits);
    /* Repeated runs count too, so the sum exceeds that of the final runs. */
    if (s->reruns == 0 && fixture_fallbacks(r) == 0)
        assert_int_equal(s->gpu_ops + s->cpu_ops, s->steps_total);
    else
        assert_true(s->gpu_ops + s->cpu_ops >= s->steps_total);
}

/* Memory. */

static void compare_limits(qn_arc_limits limits)
{
    fixture usual = open_quiet("sim", (qn_arc_session_options){ 0 });
    fixture tight = open_quiet("sim", (qn_arc_session_options){ .limits = limits });

    add_made(&usual, 300, INSTANCES);
    add_made(&tight, 300, INSTANCES);
    fixture_run(&usual);
    fixture_run(&tight);
    assert_same(&usual, &tight, "tight");
    assert_true(qn_arc_session_stats(tight.s)->reruns > qn_arc_session_stats(usual.s)->reruns);
    assert_sums(&usual);
    assert_sums(&tight);
    fixture_close(&usual);
    fixture_close(&tight);
}

static void small_arenas_change_nothing_but_the_counters(void **state)
{
    (void)state;
    compare_limits((qn_arc_limits){ .arena = 8192 });
}

static void few_frames_change_nothing_but_the_counters(void **state)
{
    (void)state;
    compare_limits((qn_arc_limits){ .frames = 2 });
}

static void calls_nested_beyond_eight_frames_run_again(void **state)
{
    static const char text[] = "def solve_a(I):\n    f = lbind(compose, increment)\n"
                               "    g = power(f, 20)\n    h = g(increment)\n    O = h(ZERO)\n"
                               "    return O\n";
    fixture r = open_quiet("sim", (qn_arc_session_options){ .limits = { .frames = 8 } });

    (void)state;
    fixture_job(&r, fixture_program(&r, "a", text), fixture_made_grid(&r, 1));
    fixture_run(&r);
    assert_output(&r, 0, "21");
    assert_int_equal(qn_arc_session_stats(r.s)->reruns, 1);
    assert_int_equal(fixture_fallbacks(&r), 0);
    assert_true(qn_arc_session_stats(r.s)->frames_high_water > 8);
    fixture_close(&r);
}

static const char needs_megabytes[] = "def solve_big(I):\n    x = repeat(I, 300000)\n"
                                      "    O = size(x)\n    return O\n";

/* Runs the program, which must leave the device once, with that line and result. Returns the counts
 * afterwards. */
static qn_arc_stats run_leaving(qn_arc_limits limits, const char *program, int code,
                                const char *line, const char *output)
{
    fixture r = fixture_open("sim", (qn_arc_session_options){ .limits = limits });
    qn_arc_stats stats;
    char text[4096];

    fixture_job(&r, fixture_program(&r, "a", program), fixture_made_grid(&r, 7));
    CAPTURE_STDERR(text, sizeof text, fixture_run(&r));
    assert_string_equal(text, line);
    assert_output(&r, 0, output);
    stats = *qn_arc_session_stats(r.s);
    assert_int_equal(stats.fallbacks[code], 1);
    fixture_close(&r);
    return stats;
}

static void job_beyond_the_device_leaves_its_line(void **state)
{
    (void)state;
    assert_int_equal(
        run_leaving(
            (qn_arc_limits){ 0 }, needs_megabytes, ARC_E_ARENA,
            "[GPU] arc.vm failed: ARENA limit 2 MB (program a, grid grid7). CPU fallback.\n",
            "300000")
            .reruns,
        1);
}

/* There is nothing to fall back from. */
static void job_beyond_the_first_rungs_of_the_cpu_leaves_no_line(void **state)
{
    fixture r = fixture_open("cpu", (qn_arc_session_options){ 0 });
    char text[4096];

    (void)state;
    fixture_job(&r, fixture_program(&r, "big", needs_megabytes), fixture_made_grid(&r, 7));
    CAPTURE_STDERR(text, sizeof text, fixture_run(&r));
    assert_string_equal(text, "");
    assert_output(&r, 0, "300000");
    assert_int_equal(qn_arc_session_stats(r.s)->gpu_ops, 0);
    fixture_close(&r);
}

static void forbidden_fallback_is_an_error(void **state)
{
    fixture r = fixture_in(open_with(QN_OPTIONS(.backend = "sim", .fallback = QN_FALLBACK_ERROR)),
                           (qn_arc_session_options){ 0 });
    qn_err err = { .text = "" };

    (void)state;
    fixture_job(&r, fixture_program(&r, "big", needs_megabytes), fixture_made_grid(&r, 7));
    assert_int_equal(qn_arc_session_run(r.s, r.jobs, r.n, ARC_WANT_OUTPUT, 0, &err),
                     QN_ERR_FALLBACK);
    assert_string_equal(err.text, "stage arc.vm failed (ARENA limit 2 MB (program big, grid grid7))"
                                  " and fallback is forbidden");
    fixture_close(&r);
}

/* Loops. */

static const char takes_long[] = "def solve_long(I):\n    x = interval(0, 20000, 1)\n"
                                 "    f = compose(increment, double)\n    O = valmax(x, f)\n"
                                 "    return O\n";

static void few_loops_change_nothing_but_the_counters(void **state)
{
    static const char *const devices[] = { NULL, "sim:0,sim:1" };
    fixture cpu = open_quiet("cpu", (qn_arc_session_options){ .limits = { .max_loops = 20 } });

    (void)state;
    add_made(&cpu, 300, INSTANCES);
    fixture_run(&cpu);
    assert_int_equal(qn_arc_session_stats(cpu.s)->fallbacks[ARC_E_LOOPS], 0);
    for (int d = 0; d < 2; d++) {
        fixture sim = fixture_in(
            open_with(QN_OPTIONS(.backend = "sim", .log = "none", .fault = "sim.devices=2")),
            (qn_arc_session_options){ .limits = { .max_loops = 20 },
                                      .split = { .devices = devices[d] } });

        add_made(&sim, 300, INSTANCES);
        fixture_run(&sim);
        assert_same(&cpu, &sim, "few loops");
        assert_true(qn_arc_session_stats(sim.s)->fallbacks[ARC_E_LOOPS] > 0);
        assert_sums(&sim);
        fixture_close(&sim);
    }
    fixture_close(&cpu);
}

static void job_that_takes_long_leaves_its_line(void **state)
{
    (void)state;
    assert_int_equal(
        run_leaving((qn_arc_limits){ .max_loops = 100 }, takes_long, ARC_E_LOOPS,
                    "[GPU] arc.vm failed: LOOPS limit 100 (program a, grid grid7). CPU fallback.\n",
                    "39999")
            .gpu_ops,
        100);
}

/* Devices that are CPUs keep long runs unless there is a limit. */
static void loops_are_not_limited_on_devices_that_are_cpus(void **state)
{
    static const uint32_t limits[] = { 0, QN_ARC_ANY_LOOPS };

    (void)state;
    for (int i = 0; i < 2; i++) {
        fixture r =
            fixture_open("sim", (qn_arc_session_options){ .limits = { .max_loops = limits[i] } });

        fixture_job(&r, fixture_program(&r, "long", takes_long), fixture_made_grid(&r, 7));
        fixture_run(&r);
        assert_output(&r, 0, "39999");
        assert_int_equal(fixture_fallbacks(&r), 0);
        fixture_close(&r);
    }
}

/* Wide integers. */

static void numbers_beyond_int32_come_out_right(void **state)
{
    static const struct {
        const char *body, *out;
    } table[] = {
        { "    O = multiply(100000, 100000)\n", "10000000000" },
        { "    O = multiply(100000, (100000, -100000))\n", "(10000000000, -10000000000)" },
        { "    x = multiply(100000, 100000)\n    O = astuple(x, I)\n",
          "(10000000000, ((1, 2), (3, 4)))" },
        { "    x = multiply(100000, 100000)\n    y = invert(x)\n    s = initset(x)\n"
          "    t = insert(y, s)\n    u = insert(ZERO, t)\n    O = totuple(u)\n",
          "(-10000000000, 0, 10000000000)" },
        { "    x = double(2000000000)\n    y = double(2000000000)\n    O = equality(x, y)\n",
          "True" },
        { "    x = multiply(100000, 100000)\n    s = repeat(x, 3)\n    t = apply(decrement, s)\n"
          "    O = combine(t, s)\n",
          "(9999999999, 9999999999, 9999999999, 10000000000, 10000000000, 10000000000)" },
        { "    x = multiply(2000000000, -2)\n    O = divide(x, 7)\n", "-571428572" },
        { "    x = multiply(3000000, 1000000)\n    s = astuple(x, ONE)\n    O = order(s, invert)\n",
          "(3000000000000, 1)" },
    };
    static const unsigned char cells[] = { 1, 2, 3, 4 };
    fixture r = open_quiet("sim", (qn_arc_session_options){ 0 });
    const int grid = fixture_grid(&r, "g", 2, 2, cells);

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        qn_str text = { 0 };

        qn_str_addf(&text, "def solve_p%zu(I):\n%s    return O\n", i, table[i].body);
        fixture_job(&r, fixture_program(&r, "wide", qn_str_get(&text)), grid);
        qn_str_free(&text);
    }
    fixture_run(&r);
    for (uint32_t i = 0; i < r.n; i++)
        assert_output(&r, i, table[i].out);
    assert_int_equal(qn_arc_session_stats(r.s)->fallbacks[ARC_E_OVERFLOW], r.n);
    assert_true(qn_arc_session_stats(r.s)->cpu_ops > 0);
    fixture_close(&r);
}

/* Primitives that are switched off. */

static int op_of(const qn_arc_case *c)
{
    return qn_arc_op_named(c->op, strlen(c->op));
}

/* Up to CASES_PER_OP cases of the primitive; the reference is the same session without limits. */
static uint32_t add_cases(fixture *r, const qn_arc_cases *cases, int op)
{
    uint32_t n = 0;

    for (size_t i = 0; i < cases->n && n < CASES_PER_OP; i++) {
        qn_arc_code code;
        qn_err err = { .text = "" };

        if (op_of(&cases->items[i]) != op)
            continue;
        if (qn_arc_case_compile(&cases->items[i], i, &code, &err) != QN_OK)
            fail_msg("%s", err.text);
        if (code.bytes) {
            fixture_job(r, fixture_code(r, cases->items[i].op, &code), -1);
            n++;
        }
        qn_arc_code_free(&code);
    }
    return n;
}

static void check_without_op(qn_ctx *ctx, const qn_arc_cases *cases, int op, uint32_t *n_ops)
{
    qn_arc_session_options options = { 0 };
    fixture on = fixture_in(ctx, options), off;

    options.limits.off[op / 32] = 1u << op % 32;
    off = fixture_in(ctx, options);
    if (add_cases(&on, cases, op) == 0) {
        print_message("no case of %s\n", qn_arc_op_name(op));
    } else {
        add_cases(&off, cases, op);
        fixture_run(&on);
        fixture_run(&off);
        assert_same(&on, &off, qn_arc_op_name(op));
        assert_int_equal(fixture_fallbacks(&on), 0);
        if (qn_arc_session_stats(off.s)->fallbacks[ARC_E_UNSUPPORTED] != off.n)
            fail_msg("%s: %llu of %u jobs left the device", qn_arc_op_name(op),
                     (unsigned long long)qn_arc_session_stats(off.s)->fallbacks[ARC_E_UNSUPPORTED],
                     off.n);
        ++*n_ops;
    }
    qn_arc_session_free(on.s);
    qn_arc_session_free(off.s);
    free(on.jobs);
    free(off.jobs);
}

static void each_primitive_can_be_switched_off_on_the_device(void **state)
{
    static const char *const files[] = { "arc/dsl_cases.json", "arc/batt_cases.json" };
    qn_ctx *ctx;
    uint32_t n_ops = 0;

    (void)state;
    need_golden(files[0]);
    ctx = open_with(QN_OPTIONS(.backend = "sim", .log = "none"));
    for (int f = 0; f < 2; f++) {
        qn_arc_cases cases = { 0 };
        qn_err err = { .text = "" };

        if (qn_arc_cases_read(golden_path(files[f]), &cases, &err) != QN_OK)
            fail_msg("%s", err.text);
        for (int op = f ? 160 : 0; op < (f ? ARC_N_NAMED : 160); op++)
            check_without_op(ctx, &cases, op, &n_ops);
        qn_arc_cases_free(&cases);
    }
    print_message("%u of %d primitives\n", n_ops, ARC_N_NAMED);
    assert_true(n_ops > 160);
    qn_ctx_close(ctx);
}

/* Outputs. */

/* Each output is 90 KB or more, some beyond a megabyte: far more than the usual 1 KB each. */
static void outputs_without_room_are_run_again_without_loss(void **state)
{
    enum { N = 80 };
    static const char *const backends[] = { "cpu", "sim" };

    (void)state;
    for (int b = 0; b < 2; b++) {
        fixture r = open_quiet(backends[b], (qn_arc_session_options){ 0 });
        unsigned char cells[900] = { 0 };
        int programs[2], grid;

        programs[0] =
            fixture_program(&r, "many", "def solve_a(I):\n    O = repeat(I, 100)\n    return O\n");
        programs[1] =
            fixture_program(&r, "more", "def solve_b(I):\n    O = repeat(I, 1500)\n    return O\n");
        for (int k = 0; k < N; k++) {
            cells[0] = (unsigned char)(k % 10);
            cells[899] = (unsigned char)(k / 10);
            grid = fixture_grid(&r, "grid", 30, 30, cells);
            fixture_job(&r, programs[k % 20 == 0], grid);
        }
        fixture_run(&r);
        for (uint32_t k = 0; k < N; k++) {
            qn_arc_heap *heap = NULL;
            qn_arc_value value;
            qn_err err = { .text = "" };

            assert_int_equal(qn_arc_session_result(r.s, k)->code, ARC_OK);
            assert_int_equal(qn_arc_heap_new(&heap, &err), QN_OK);
            if (qn_arc_session_output(r.s, k, heap, &value, &err) != QN_OK)
                fail_msg("job %u: %s", k, err.text);
            assert_int_equal(value.n, k % 20 == 0 ? 1500 : 100);
            for (int i = 0; i < value.n; i++) {
                assert_int_equal(value.items[i].items[0].items[0].number, k % 10);
                assert_int_equal(value.items[i].items[29].items[29].number, k / 10);
            }
            qn_arc_heap_free(heap);
        }
        assert_int_equal(qn_arc_session_stats(r.s)->ok, N);
        assert_int_equal(fixture_fallbacks(&r), 0);
        assert_true(qn_arc_session_stats(r.s)->reruns > 0);
        fixture_close(&r);
    }
}

/* Sums. */

static void operations_are_counted_where_they_ran(void **state)
{
    fixture cpu = open_quiet("cpu", (qn_arc_session_options){ 0 });
    fixture sim = open_quiet("sim", (qn_arc_session_options){ 0 });
    uint64_t steps = 0;

    (void)state;
    for (uint64_t k = 0; k < 40; k++) {
        fixture_job(&cpu, fixture_made_program(&cpu, k, 0), fixture_made_grid(&cpu, k));
        fixture_job(&sim, fixture_made_program(&sim, k, 0), fixture_made_grid(&sim, k));
    }
    fixture_run(&cpu);
    fixture_run(&sim);
    for (uint32_t k = 0; k < cpu.n; k++)
        steps += qn_arc_session_result(cpu.s, k)->steps;
    assert_int_equal(fixture_fallbacks(&sim), 0);
    assert_int_equal(qn_arc_session_stats(sim.s)->reruns, 0);
    assert_int_equal(qn_arc_session_stats(cpu.s)->cpu_ops, steps);
    assert_int_equal(qn_arc_session_stats(cpu.s)->gpu_ops, 0);
    assert_int_equal(qn_arc_session_stats(sim.s)->gpu_ops, steps);
    assert_int_equal(qn_arc_session_stats(sim.s)->cpu_ops, 0);
    assert_int_equal(qn_arc_session_stats(sim.s)->steps_total, steps);
    assert_sums(&cpu);
    assert_sums(&sim);
    fixture_close(&cpu);
    fixture_close(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_arenas_change_nothing_but_the_counters),
        cmocka_unit_test(few_frames_change_nothing_but_the_counters),
        cmocka_unit_test(calls_nested_beyond_eight_frames_run_again),
        cmocka_unit_test(job_beyond_the_device_leaves_its_line),
        cmocka_unit_test(job_beyond_the_first_rungs_of_the_cpu_leaves_no_line),
        cmocka_unit_test(forbidden_fallback_is_an_error),
        cmocka_unit_test(few_loops_change_nothing_but_the_counters),
        cmocka_unit_test(job_that_takes_long_leaves_its_line),
        cmocka_unit_test(loops_are_not_limited_on_devices_that_are_cpus),
        cmocka_unit_test(numbers_beyond_int32_come_out_right),
        cmocka_unit_test(each_primitive_can_be_switched_off_on_the_device),
        cmocka_unit_test(outputs_without_room_are_run_again_without_loss),
        cmocka_unit_test(operations_are_counted_where_they_ran),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

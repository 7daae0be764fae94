/* parity_arc.c - grid programs on the CPU and on every other device: status, steps, outputs and the
 * hash of every step must be equal.
 *
 * QUERN_ARC_INSTANCES is the number of instances of generated programs (5000). Team sizes other
 * than the device's own are compiled only for GPUs: on a CPU under OpenCL each takes another
 * quarter of a minute, and tests/unit/test_arc_vm_lanes_*.c cover them as C.
 */
/* test: cost 49 */
#include "arc_hostile.h"
#include "golden.h"
#include "parity.h"

#include "lab/arc/check.h"

enum { INSTANCES = 5000, CHUNK = 5000, MOST_TRANSFERS = 4 };

static fixture open_at(const place *at, int group)
{
    return fixture_in(
        open_with(QN_OPTIONS(.backend = device_of(at), .fault = at->fault, .log = "none")),
        (qn_arc_session_options){ .limits = { .group = group } });
}

static fixture open_limited(const place *at, uint32_t max_steps)
{
    return fixture_in(
        open_with(QN_OPTIONS(.backend = device_of(at), .fault = at->fault, .log = "none")),
        (qn_arc_session_options){ .limits = { .max_steps = max_steps } });
}

/* Most work stays on the device. */
static void assert_on_device(const fixture *r, const place *at)
{
    const qn_arc_stats *stats = qn_arc_session_stats(r->s);

    if (strcmp(at->backend, "cpu") == 0)
        return;
    if (stats->gpu_ops == 0 || fixture_fallbacks(r) > stats->instances / 50)
        fail_msg("%s: %llu of %llu instances left the device", at->name,
                 (unsigned long long)fixture_fallbacks(r), (unsigned long long)stats->instances);
}

/* Golden cases. */

static void check_file(fixture *r, const place *at, const char *name)
{
    qn_arc_check report = { 0 };
    qn_err err = { .text = "" };

    if (qn_arc_check_cases(r->s, golden_path(name), &report, &err) != QN_OK)
        fail_msg("%s: %s", at->name, err.text);
    print_message("%s: %llu of %llu cases of %s, %llu of them on the CPU\n", at->name,
                  (unsigned long long)report.passed, (unsigned long long)report.n, name,
                  (unsigned long long)report.on_cpu);
    if (report.n == 0 || report.passed != report.n)
        fail_msg("%s: %s%s", at->name, report.n ? report.failures.list[0].name : "no cases",
                 report.n ? report.failures.list[0].note : "");
    qn_arc_check_free(&report);
}

static void check_golden(const place *at, int group)
{
    fixture r = open_at(at, group);

    check_file(&r, at, "arc/dsl_cases.json");
    check_file(&r, at, "arc/batt_cases.json");
    assert_on_device(&r, at);
    fixture_close(&r);
}

static void golden_cases_pass_on_every_device(void **state)
{
    (void)state;
    need_golden("arc/dsl_cases.json");
    check_golden(&cpu_place, 0);
    for (int p = 0; p < N_PLACES; p++)
        if (is_here(&device_places[p]))
            check_golden(&device_places[p], 0);
}

static int is_gpu(const fixture *r)
{
    const qn_device_kind kind = qn_device_get(r->ctx, qn_device_count(r->ctx) - 1)->kind;

    return kind == QN_KIND_DISCRETE || kind == QN_KIND_INTEGRATED;
}

static void golden_cases_pass_with_every_team_size_of_a_gpu(void **state)
{
    int n_gpus = 0;

    (void)state;
    need_golden("arc/dsl_cases.json");
    for (int p = 0; p < N_PLACES; p++) {
        fixture r;
        int is_one;

        if (!is_here(&device_places[p]))
            continue;
        r = open_at(&device_places[p], 0);
        is_one = is_gpu(&r);
        fixture_close(&r);
        for (int group = 8; is_one && group <= 32; group *= 2)
            check_golden(&device_places[p], group);
        n_gpus += is_one;
    }
    if (n_gpus == 0)
        skip();
}

/* Generated programs. */

static uint32_t n_instances(void)
{
    const char *text = getenv("QUERN_ARC_INSTANCES");
    const long n = text ? strtol(text, NULL, 10) : 0;

    return n > 0 && n < 100000000 ? (uint32_t)n : INSTANCES;
}

static void compare_made(const place *at, uint64_t seed, uint32_t n, uint64_t counts[3])
{
    fixture cpu = open_at(&cpu_place, 0), other = open_at(at, 0);
    const qn_arc_stats *stats;

    add_made(&cpu, seed, n);
    add_made(&other, seed, n);
    fixture_run(&cpu);
    fixture_run(&other);
    assert_same(&cpu, &other, at->name);
    assert_on_device(&other, at);
    stats = qn_arc_session_stats(other.s);
    counts[0] += stats->ok;
    counts[1] += stats->errors;
    counts[2] += stats->limits;
    fixture_close(&cpu);
    fixture_close(&other);
}

static void made_programs_give_the_same_on_every_device(void **state)
{
    const uint32_t n = n_instances();

    (void)state;
    for (int p = 0; p < N_PLACES; p++) {
        uint64_t counts[3] = { 0 };

        if (!is_here(&device_places[p]))
            continue;
        for (uint32_t from = 0; from < n; from += CHUNK)
            compare_made(&device_places[p], 1000 + from, n - from < CHUNK ? n - from : CHUNK,
                         counts);
        print_message("%s: %u made instances: %llu ok, %llu errors, %llu limits\n",
                      device_places[p].name, n, (unsigned long long)counts[0],
                      (unsigned long long)counts[1], (unsigned long long)counts[2]);
        /* Otherwise hardly anything would have been compared. */
        assert_true(counts[0] > n / 2 && counts[1] > 0);
    }
}

/* Long batt programs. */

static fixture run_batt(const place *at, const char *text, uint32_t stride)
{
    fixture r = open_at(at, 0);
    const int program = fixture_program_with(&r, "batt", text, QN_ARC_OFF_ALL);

    for (uint64_t g = 0; g < 3; g++)
        fixture_batt_job(&r, program, fixture_made_grid(&r, 40 + g));
    fixture_run_with(&r, ARC_WANT_OUTPUT | ARC_WANT_TRACE, stride);
    return r;
}

/* Names the first step whose value differs. */
static void assert_same_trace(const fixture *a, const fixture *b, uint32_t stride, const char *what)
{
    for (uint32_t k = 0; k < a->n; k++) {
        const uint64_t *x = qn_arc_session_trace(a->s, k), *y = qn_arc_session_trace(b->s, k);

        for (uint32_t step = 0; step < stride; step++)
            if (x[step] != y[step])
                fail_msg("%s: job %u differs at step %u", what, k, step);
    }
}

static void compare_batt(const place *at, const char *text, uint32_t n_steps)
{
    fixture cpu = run_batt(&cpu_place, text, n_steps), other = run_batt(at, text, n_steps);
    uint32_t n_hashes = 0;

    assert_same(&cpu, &other, at->name);
    assert_same_trace(&cpu, &other, n_steps, at->name);
    for (uint32_t step = 0; step < n_steps; step++)
        n_hashes += qn_arc_session_trace(cpu.s, 0)[step] != 0;
    assert_int_equal(n_hashes, n_steps);
    assert_int_equal(fixture_fallbacks(&other), 0);
    fixture_close(&cpu);
    fixture_close(&other);
}

static void long_batt_programs_are_the_same_at_every_step(void **state)
{
    static const int sizes[] = { 2000, 2868 };
    const qn_arc_make_options options = { .wrong_pct = 1 };

    (void)state;
    for (int i = 0; i < 2; i++) {
        qn_str made = { 0 }, plain = { 0 };

        qn_arc_make_batt(77, sizes[i], &options, &made);
        make_batt(sizes[i], &plain);
        for (int p = 0; p < N_PLACES; p++)
            if (is_here(&device_places[p])) {
                compare_batt(&device_places[p], qn_str_get(&made), (uint32_t)sizes[i]);
                compare_batt(&device_places[p], qn_str_get(&plain), (uint32_t)sizes[i]);
            }
        qn_str_free(&made);
        qn_str_free(&plain);
    }
}

/* New content and the list of jobs go up; results and outputs come back. */
static void long_batt_program_needs_four_transfers(void **state)
{
    const qn_arc_make_options options = { .wrong_pct = 1 };
    qn_str text = { 0 };

    (void)state;
    qn_arc_make_batt(77, 2868, &options, &text);
    for (int p = 0; p < N_PLACES; p++) {
        fixture r;
        const qn_arc_stats *stats;

        if (!is_here(&device_places[p]))
            continue;
        r = open_at(&device_places[p], 0);
        fixture_batt_job(&r, fixture_program(&r, "batt", qn_str_get(&text)),
                         fixture_made_grid(&r, 40));
        fixture_run(&r);
        stats = qn_arc_session_stats(r.s);
        print_message("%s: %llu transfers, %llu reruns\n", device_places[p].name,
                      (unsigned long long)stats->transfers, (unsigned long long)stats->reruns);
        assert_true(stats->steps_total > 1000);
        assert_true(stats->transfers <= MOST_TRANSFERS);
        fixture_close(&r);
    }
    qn_str_free(&text);
}

/* Programs that are too much. */

/* Each ends with its limit wherever it runs, and its neighbours are not affected. */
static void hostile_programs_end_with_a_limit_on_every_device(void **state)
{
    fixture cpu = open_at(&cpu_place, 0);

    (void)state;
    add_hostile(&cpu);
    fixture_run(&cpu);
    assert_hostile(&cpu, "cpu");
    for (int p = 0; p < N_PLACES; p++) {
        fixture other;

        if (!is_here(&device_places[p]))
            continue;
        other = open_at(&device_places[p], 0);
        add_hostile(&other);
        fixture_run(&other);
        assert_hostile(&other, device_places[p].name);
        assert_same(&cpu, &other, device_places[p].name);
        fixture_close(&other);
    }
    fixture_close(&cpu);
}

static void limit_on_steps_is_the_same_on_every_device(void **state)
{
    static const uint32_t limits[] = { 1, 5, 20 };

    (void)state;
    for (int p = 0; p < N_PLACES; p++)
        for (int i = 0; i < 3 && is_here(&device_places[p]); i++) {
            fixture cpu = open_limited(&cpu_place, limits[i]);
            fixture other = open_limited(&device_places[p], limits[i]);
            uint32_t n_stopped = 0;

            add_made(&cpu, 5, 200);
            add_made(&other, 5, 200);
            fixture_run(&cpu);
            fixture_run(&other);
            assert_same(&cpu, &other, device_places[p].name);
            for (uint32_t k = 0; k < other.n; k++) {
                const arc_result *r = qn_arc_session_result(other.s, k);

                assert_true(r->steps <= limits[i]);
                assert_true(r->code != ARC_E_STEPS || r->steps == limits[i]);
                n_stopped += r->code == ARC_E_STEPS;
            }
            assert_true(n_stopped > 0 && (n_stopped < other.n || limits[i] == 1));
            fixture_close(&cpu);
            fixture_close(&other);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_cases_pass_on_every_device),
        cmocka_unit_test(golden_cases_pass_with_every_team_size_of_a_gpu),
        cmocka_unit_test(made_programs_give_the_same_on_every_device),
        cmocka_unit_test(long_batt_programs_are_the_same_at_every_step),
        cmocka_unit_test(long_batt_program_needs_four_transfers),
        cmocka_unit_test(hostile_programs_end_with_a_limit_on_every_device),
        cmocka_unit_test(limit_on_steps_is_the_same_on_every_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

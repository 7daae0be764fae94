/* perf_bucket.c - plans of buckets: never a loss, a gain where planning costs more than padding.
 *
 * Batches of the mixed scenarios, with other sizes in the same buckets each time, on a simulated
 * device: time is virtual, so the figures are the same on every machine. It is measured twice: with
 * cheap submission, so that copying the padding costs more, and with expensive submission.
 */
#include "engine_fixture.h"

#include "lab/tasks/bench.h"

#define CHEAP "sim.submit_us=0.5"
#define DEAR  "sim.submit_us=100"

static qn_tasks_gain measure(const char *scenario, const char *op, const char *sim)
{
    qn_tasks_bench_options options = {
        .op = op, .samples = 20, .only = 1u << QN_BENCH_BUCKETS, .seed = 3
    };
    qn_tasks_gain results[QN_BENCH_MECHANISMS];
    qn_ctx *ctx = open_sim(sim);
    qn_err err = { .text = "" };

    qn_tasks_options_init(&options.tasks, sizeof options.tasks);
    if (qn_tasks_bench(ctx, qn_scenario_find(scenario), &options, results, &err) != QN_OK)
        fail_msg("%s: %s", scenario, err.text);
    qn_ctx_close(ctx);
    return results[QN_BENCH_BUCKETS];
}

static const char *const mixed[] = { "Mixed-Same-Bucket", "Mixed-Adjacent-Buckets",
                                     "Mixed-Diverse" };

static void the_cache_is_never_slower_than_planning_anew(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        const qn_tasks_gain cheap = measure(mixed[i], "vadd", CHEAP);

        if (!(cheap.gain >= 0.99))
            fail_msg("%s: gain %.3f", mixed[i], cheap.gain);
    }
}

static void the_cache_gains_where_submission_is_dear(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        const qn_tasks_gain dear = measure(mixed[i], "sum", DEAR);

        if (!(dear.gain >= 1.15))
            fail_msg("%s: gain %.3f", mixed[i], dear.gain);
    }
}

static void waste_is_what_the_sizes_leave_of_their_buckets(void **state)
{
    const qn_tasks_gain r = measure("Mixed-Same-Bucket", "vadd", CHEAP);

    (void)state;
    assert_float_equal(r.waste_pct, 100 * (1 - 103000.0 / 131072), 1e-9);
    assert_int_equal(r.on.n, 20);
    assert_string_equal(r.device, "sim:0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cache_is_never_slower_than_planning_anew),
        cmocka_unit_test(the_cache_gains_where_submission_is_dear),
        cmocka_unit_test(waste_is_what_the_sizes_leave_of_their_buckets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

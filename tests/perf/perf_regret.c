/* perf_regret.c - how much time the router loses against the best choice, on known costs.
 *
 * There are two kinds: traces with made-up times, and graphs on simulated devices whose clock is
 * virtual. Either way times have 5 % noise and nothing depends on the machine the test runs on.
 */
#include "engine_fixture.h"

#include <math.h>

#include "engine/place/place.h"
#include "hal/sim/sim.h"
#include "lab/route/route.h"
#include "util/hash.h"

/* Traces. */

enum { N_TRACE = 1600, CHANGE = 800, LEARN = 200 };

typedef struct {
    double launch_us, us_per_item;
} speed;

/* Sizes are log-uniform between 2^low and 2^high. */
static void make_trace(qn_trial *trace, int from, int to, const speed *devices, int n_devices,
                       double low, double high)
{
    for (int i = from; i < to; i++) {
        const double t = 0.5 + 0.5 * (double)qn_random_float(11, (uint64_t)i);

        trace[i] = (qn_trial){ .op = "vadd", .size = (qn_i64)exp2(low + t * (high - low)) };
        for (int d = 0; d < n_devices; d++) {
            const double noise = 0.05 * (double)qn_random_float(100 + (uint64_t)d, (uint64_t)i);

            trace[i].us[d] =
                (devices[d].launch_us + devices[d].us_per_item * (double)trace[i].size) *
                (1 + noise);
        }
    }
}

/* Regret of the choices [from, to). */
static double regret_of(const qn_trial *trace, const int *chosen, int n_devices, int from, int to)
{
    double routed = 0, best = 0;

    for (int i = from; i < to; i++) {
        double least = trace[i].us[0];

        for (int d = 1; d < n_devices; d++)
            least = fmin(least, trace[i].us[d]);
        routed += trace[i].us[chosen[i]];
        best += least;
    }
    return routed / best - 1;
}

static qn_trial trace[N_TRACE];
static int chosen[N_TRACE];
static const speed cpu = { 2, 2e-3 }, gpu = { 60, 1e-4 }, slow_gpu = { 80, 4e-3 },
                   fast_gpu = { 5, 2e-5 };

static qn_regret decide(int n, int n_devices, int skip)
{
    qn_regret r;
    qn_err err = { .text = "" };

    if (qn_route_regret(trace, n, n_devices, skip, &r, chosen, &err) != QN_OK)
        fail_msg("%s", err.text);
    return r;
}

static void assert_at_most(const char *what, double value, double limit)
{
    if (!(value <= limit))
        fail_msg("%s: %.2f %% is more than %.2f %%", what, 100 * value, 100 * limit);
}

static void known_costs_are_learned_within_200_decisions(void **state)
{
    const speed two[] = { cpu, gpu }, three[] = { cpu, gpu, { 20, 6e-4 } };
    qn_regret r;

    (void)state;
    make_trace(trace, 0, N_TRACE, two, 2, 10, 20);
    r = decide(N_TRACE, 2, LEARN);
    assert_at_most("two devices", r.regret[QN_POLICY_AUTO], 0.05);
    assert_true(r.regret[QN_POLICY_CPU] > 0.5 && r.regret[QN_POLICY_GPU] > 0.02);

    make_trace(trace, 0, N_TRACE, three, 3, 10, 20);
    r = decide(N_TRACE, 3, LEARN);
    assert_at_most("three devices", r.regret[QN_POLICY_AUTO], 0.05);
}

static void abrupt_change_is_followed_within_200_decisions(void **state)
{
    const struct {
        const char *what;
        speed after;
    } changes[] = { { "device becomes slow", slow_gpu }, { "device becomes fast", fast_gpu } };
    const speed before[] = { cpu, gpu };

    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const speed after[] = { cpu, changes[i].after };

        make_trace(trace, 0, CHANGE, before, 2, 10, 20);
        make_trace(trace, CHANGE, N_TRACE, after, 2, 10, 20);
        decide(N_TRACE, 2, 0);
        assert_at_most(changes[i].what, regret_of(trace, chosen, 2, CHANGE, CHANGE + LEARN), 0.10);
        assert_at_most("and later", regret_of(trace, chosen, 2, CHANGE + LEARN, N_TRACE), 0.05);
    }
}

static void probes_are_at_most_a_twentieth(void **state)
{
    const speed two[] = { cpu, { 3, 3e-3 } };

    (void)state;
    make_trace(trace, 0, N_TRACE, two, 2, 10, 20);
    assert_true(decide(N_TRACE, 2, 0).probes <= N_TRACE / 20);
}

/* Except for the probe that every device gets once in a thousand decisions. */
static void small_tasks_are_never_forced_to_the_device(void **state)
{
    const speed two[] = { cpu, gpu };
    qn_regret r;

    (void)state;
    make_trace(trace, 0, N_TRACE, two, 2, 4, 10); /* 2 to 4 us against 60 */
    r = decide(N_TRACE, 2, LEARN);
    assert_true(r.decisions[1] <= 1 + N_TRACE / 1000);
    assert_at_most("small tasks", r.regret[QN_POLICY_AUTO], 0.05);
    assert_true(r.regret[QN_POLICY_GPU] > 10);
}

static void noise_alone_changes_no_minds(void **state)
{
    const speed same[] = { cpu, cpu };
    int n_switches = 0;

    (void)state;
    make_trace(trace, 0, N_TRACE, same, 2, 14, 14.1);
    decide(N_TRACE, 2, 0);
    for (int i = LEARN + 1; i < N_TRACE; i++)
        n_switches += chosen[i] != chosen[i - 1];
    assert_true(n_switches <= 2 * N_TRACE / 20); /* there and back for every probe */
}

/* Graphs on simulated devices. */

/* sim:0 resembles a CPU: no start-up time, slow. sim:1 is fast once it has started. Copies are
 * cheap, so that the sizes at which the two are equal lie inside the range. */
#define COSTS                                                                                      \
    "sim.devices=2,sim.noise_pct=5,sim.submit_us=0.1,sim.launch_us=1,sim.ns_per_item=8,"           \
    "sim.rate.1=16,sim.slow.1=60,sim.h2d_us=1,sim.d2h_us=1,sim.h2d_gbps=100,sim.d2h_gbps=100"

enum { N_SIZES = 8, N_DEVICES = 2 };

typedef struct {
    qn_graph *routed, *pinned[N_DEVICES];
    qn_buf *x, *y, *sum[N_DEVICES + 1];
} task;

typedef struct {
    qn_ctx *ctx;
    task tasks[N_SIZES];
    int n_decisions;
} fixture;

static qn_graph *new_graph(qn_ctx *ctx, task *t, int n, int k, const char *device)
{
    qn_graph *graph = NULL;

    must(qn_graph_new(ctx, "regret", &graph, &failure));
    t->sum[k] = array_of(ctx, "sum", n);
    must(stage_vadd(graph, "add", qn_range_1d(n), t->x, t->y, t->sum[k], &failure));
    must(qn_graph_output(graph, t->sum[k], &failure));
    if (device)
        must(qn_graph_pin(graph, 0, device, &failure));
    return graph;
}

static void fixture_open(fixture *r, const char *costs, int smallest)
{
    *r = (fixture){ .ctx = open_with(QN_OPTIONS(.backend = "sim:0,sim:1", .fault = costs)) };
    for (int i = 0; i < N_SIZES; i++) {
        task *t = &r->tasks[i];
        const int n = smallest << i;

        t->x = ramp(r->ctx, "x", n, 0, 1);
        t->y = ramp(r->ctx, "y", n, 1, 2);
        t->routed = new_graph(r->ctx, t, n, 0, NULL);
        t->pinned[0] = new_graph(r->ctx, t, n, 1, "sim:0");
        t->pinned[1] = new_graph(r->ctx, t, n, 2, "sim:1");
    }
}

static void fixture_close(fixture *r)
{
    for (int i = 0; i < N_SIZES; i++) {
        task *t = &r->tasks[i];

        qn_graph_free(t->routed);
        for (int d = 0; d < N_DEVICES; d++)
            qn_graph_free(t->pinned[d]);
        for (int k = 0; k <= N_DEVICES; k++)
            qn_buf_free(t->sum[k]);
        qn_buf_free(t->x);
        qn_buf_free(t->y);
    }
    qn_ctx_close(r->ctx);
}

/* New inputs, a run, the wait for its result: virtual time. */
static double run_us(fixture *r, const task *t, qn_graph *graph)
{
    double start;
    void *data;

    must(qn_buf_host(t->x, QN_HOST_UPDATE, &data, &failure));
    must(qn_buf_host(t->y, QN_HOST_UPDATE, &data, &failure));
    start = qn_ctx_now_us(r->ctx);
    must(qn_graph_run(graph, &failure));
    must(qn_graph_wait(graph, &failure));
    return qn_ctx_now_us(r->ctx) - start;
}

/* Regret of the next n decisions against the mean time of each device, measured beforehand. */
static double fixture_regret(fixture *r, int n)
{
    double best_us[N_SIZES], routed = 0, best = 0;

    for (int i = 0; i < N_SIZES; i++) {
        best_us[i] = INFINITY;
        for (int d = 0; d < N_DEVICES; d++) {
            double us = 0;

            run_us(r, &r->tasks[i], r->tasks[i].pinned[d]);
            for (int k = 0; k < 10; k++)
                us += run_us(r, &r->tasks[i], r->tasks[i].pinned[d]) / 10;
            best_us[i] = fmin(best_us[i], us);
        }
    }
    for (int k = 0; k < n; k++) {
        const int i = (int)(qn_random_u64(5, (uint64_t)r->n_decisions++) % N_SIZES);

        routed += run_us(r, &r->tasks[i], r->tasks[i].routed);
        best += best_us[i];
    }
    return routed / best - 1;
}

static void graphs_find_the_better_device_for_each_size(void **state)
{
    fixture r;

    (void)state;
    fixture_open(&r, COSTS, 512);
    fixture_regret(&r, LEARN);
    assert_at_most("graphs", fixture_regret(&r, 600), 0.05);
    assert_int_equal(r.tasks[0].routed->stages[0].device, qn_device_find(r.ctx, "sim:0"));
    assert_int_equal(r.tasks[N_SIZES - 1].routed->stages[0].device, qn_device_find(r.ctx, "sim:1"));
    assert_true(count_of(r.ctx, "route_probe_total") <=
                count_of(r.ctx, "hybrid_routing_decisions_total") / 20);
    fixture_close(&r);
}

static void graphs_follow_a_device_that_changes(void **state)
{
    const double rates[] = { 0.5, 64 };

    (void)state;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        fixture r;

        fixture_open(&r, COSTS, 512);
        fixture_regret(&r, 400);
        qn_sim_set_rate(r.ctx->devices[2].dev, rates[i]);
        assert_at_most("after the change", fixture_regret(&r, LEARN), 0.10);
        assert_at_most("and later", fixture_regret(&r, 400), 0.05);
        fixture_close(&r);
    }
}

static void graphs_with_small_tasks_stay_where_they_are_fast(void **state)
{
    fixture r;

    (void)state;
    fixture_open(&r, COSTS, 4); /* 4 to 512 elements: 1 to 5 us against 60 */
    fixture_regret(&r, LEARN);
    assert_at_most("small graphs", fixture_regret(&r, 2000), 0.05);
    assert_true(qn_metric_value(qn_ctx_metrics(r.ctx), "hybrid_routing_decisions_total",
                                QN_LABELS("device", "sim:1")) <= 10);
    fixture_close(&r);
}

/* The time of a decision is that of checking whether anything has changed: reconsiderations are
 * counted, which does not depend on the machine. */
static void warm_decisions_are_not_thought_about(void **state)
{
    uint64_t before;
    fixture r;

    (void)state;
    fixture_open(&r, COSTS, 512);
    fixture_regret(&r, 400);
    before = r.ctx->router->n_priced;
    fixture_regret(&r, 1000);
    assert_true(r.ctx->router->n_priced - before <= 200);
    fixture_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_costs_are_learned_within_200_decisions),
        cmocka_unit_test(abrupt_change_is_followed_within_200_decisions),
        cmocka_unit_test(probes_are_at_most_a_twentieth),
        cmocka_unit_test(small_tasks_are_never_forced_to_the_device),
        cmocka_unit_test(noise_alone_changes_no_minds),
        cmocka_unit_test(graphs_find_the_better_device_for_each_size),
        cmocka_unit_test(graphs_follow_a_device_that_changes),
        cmocka_unit_test(graphs_with_small_tasks_stay_where_they_are_fast),
        cmocka_unit_test(warm_decisions_are_not_thought_about),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

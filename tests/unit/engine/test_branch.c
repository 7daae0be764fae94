/* test_branch.c - independent branches of a graph run in parallel, and nothing else changes.
 *
 * Sim does work when it is queued, so a missing wait does not spoil its results; but it counts work
 * that began too early by its clock (qn_sim_races), which close_fixture checks.
 */
#include "engine_counters.h"

#include <quern/tasks.h>

#include "engine/plan/graph_impl.h"

/* Only launches take time, 100 us each, so clocks can be worked out by hand. */
#define ONLY_LAUNCHES                                                                              \
    "sim.launch_us=100,sim.submit_us=0,sim.h2d_us=0,sim.d2h_us=0,sim.gbps=1e9,sim.h2d_gbps=1e9,"   \
    "sim.d2h_gbps=1e9,sim.kernels=8"

enum { N = 500, N_BUFS = 6, N_TEMPS = 4 };

typedef struct {
    qn_ctx *ctx;
    qn_graph *graph;
    qn_buf *bufs[N_BUFS], *temps[N_TEMPS];
} fixture;

static fixture open_on(const char *backend, int overlap, const char *fault)
{
    fixture r;

    setenv("QUERN_OVERLAP", overlap ? "1" : "0", 1);
    r.ctx = open_with(QN_OPTIONS(.backend = backend, .fault = fault, .log = "none"));
    r.ctx->settings.fuse = 0; /* so that every stage is one launch */
    unsetenv("QUERN_OVERLAP");
    must(qn_graph_new(r.ctx, "g", &r.graph, &failure));
    for (int b = 0; b < N_BUFS; b++)
        r.bufs[b] = ramp(r.ctx, "buf", N, (float)b, 0.5f);
    for (int t = 0; t < N_TEMPS; t++)
        must(qn_graph_temp(r.graph, "temp", N * sizeof(float), &r.temps[t], &failure));
    return r;
}

static fixture open_fixture(int overlap, const char *fault)
{
    return open_on("sim", overlap, fault);
}

static void close_fixture(fixture *r)
{
    qn_graph_free(r->graph);
    for (int b = 0; b < N_BUFS; b++)
        qn_buf_free(r->bufs[b]);
    assert_nothing_is_held(r->ctx);
    qn_ctx_close(r->ctx);
}

static void add(fixture *r, const char *name, qn_buf *from, qn_buf *to)
{
    must(stage_map_add(r->graph, name, qn_range_1d(N), 1.0f, from, to, &failure));
}

static void join(fixture *r, const char *name, qn_buf *x, qn_buf *y, qn_buf *to)
{
    must(stage_vadd(r->graph, name, qn_range_1d(N), x, y, to, &failure));
}

/* The virtual time of one run. */
static double run_us(fixture *r)
{
    const double begin = qn_ctx_now_us(r->ctx);

    must(qn_graph_run(r->graph, &failure));
    must(qn_graph_wait(r->graph, &failure));
    return qn_ctx_now_us(r->ctx) - begin;
}

static void expect_us(double is, double should)
{
    if (is < should - 1e-3 || is > should + 1)
        fail_msg("%.3f us, expected %.3f", is, should);
}

/* The branches in the plan of a run from the start. */
static const qn_branches *branches_of(const fixture *r)
{
    return &r->graph->plan.branches;
}

/* Time. */

/* Two chains of three, one after the other in the program. */
static void add_two_chains(fixture *r)
{
    for (int b = 0; b < 2; b++)
        for (int i = 0; i < 3; i++)
            add(r, "step", r->bufs[b + 2 * (i % 2)], r->bufs[b + 2 * ((i + 1) % 2)]);
}

static void two_equal_branches_take_the_time_of_one(void **state)
{
    (void)state;
    for (int overlap = 0; overlap < 2; overlap++)
        for (int replay = 0; replay < 2; replay++) {
            fixture r =
                open_fixture(overlap, replay ? ONLY_LAUNCHES : ONLY_LAUNCHES ",sim.replay=0");

            add_two_chains(&r);
            for (int run = 0; run < 4; run++)
                expect_us(run_us(&r), overlap ? 300 : 600);
            assert_true(qn_graph_get_stats(r.graph).replays >= 2);
            assert_int_equal(branches_of(&r)->n_meets, 0);
            close_fixture(&r);
        }
}

static void device_that_runs_one_kernel_at_a_time_loses_nothing(void **state)
{
    (void)state;
    fixture r = open_fixture(1, ONLY_LAUNCHES ",sim.kernels=1");

    add_two_chains(&r);
    for (int run = 0; run < 4; run++)
        expect_us(run_us(&r), 600);
    close_fixture(&r);
}

/* root -> (left, left2), (right, right2) -> join: four launches deep. */
static void add_diamond(fixture *r)
{
    add(r, "root", r->bufs[0], r->bufs[1]);
    add(r, "left", r->bufs[1], r->temps[0]);
    add(r, "left2", r->temps[0], r->temps[1]);
    add(r, "right", r->bufs[1], r->temps[2]);
    add(r, "right2", r->temps[2], r->temps[3]);
    join(r, "join", r->temps[1], r->temps[3], r->bufs[2]);
}

static void branch_waits_for_its_fork_and_not_for_what_came_after(void **state)
{
    (void)state;
    for (int replay = 0; replay < 2; replay++) {
        fixture r = open_fixture(1, replay ? ONLY_LAUNCHES : ONLY_LAUNCHES ",sim.replay=0");

        add_diamond(&r);
        for (int run = 0; run < 4; run++)
            expect_us(run_us(&r), 400);
        assert_int_equal(branches_of(&r)->n_meets,
                         2); /* one where they part, one where they meet */
        for (int i = 0; i < N; i += 99)
            assert_true(value_at(r.bufs[2], i) == 2 * (0.5f * (float)i + 3));
        close_fixture(&r);
    }
}

static void more_branches_than_streams_share_them_evenly(void **state)
{
    enum { MANY = 3 * QN_N_COMPUTE };
    fixture r = open_fixture(1, ONLY_LAUNCHES);
    qn_buf *out[MANY];

    (void)state;
    for (int i = 0; i < MANY; i++) {
        out[i] = array_of(r.ctx, "out", N);
        add(&r, "one", r.bufs[0], out[i]);
    }
    for (int run = 0; run < 4; run++)
        expect_us(run_us(&r), 300);
    assert_int_equal(branches_of(&r)->used, (1u << QN_N_COMPUTE) - 1);
    for (int i = 0; i < MANY; i++)
        qn_buf_free(out[i]);
    close_fixture(&r);
}

/* A joined stream is free again: two streams are enough for any number of rounds. */
static void rounds_of_fork_and_join_use_the_same_streams(void **state)
{
    fixture r = open_fixture(1, ONLY_LAUNCHES);

    (void)state;
    for (int round = 0; round < 20; round++) {
        add(&r, "left", r.bufs[0], r.bufs[1]);
        add(&r, "right", r.bufs[0], r.bufs[2]);
        join(&r, "join", r.bufs[1], r.bufs[2], r.bufs[0]);
    }
    expect_us(run_us(&r), 4000);
    assert_int_equal(branches_of(&r)->used, 3);
    close_fixture(&r);
}

static void chain_of_650_stages_keeps_to_one_stream_without_events(void **state)
{
    fixture r = open_fixture(1, "sim.kernels=8,sim.replay=0");
    const qn_device *device = &r.ctx->devices[1];

    (void)state;
    for (int i = 0; i < 650; i++)
        add(&r, "step", r.bufs[i % 2], r.bufs[(i + 1) % 2]);
    for (int run = 0; run < 3; run++)
        run_us(&r);
    assert_int_equal(branches_of(&r)->n_meets, 0);
    assert_int_equal(branches_of(&r)->used, 1);
    assert_int_equal(device->streams[QN_COMPUTE].submitted, 3 * 650);
    for (qn_stream on = QN_COMPUTE + 1; on < QN_N_COMPUTE; on++)
        assert_int_equal(device->streams[on].submitted, 0);
    assert_true(value_at(r.bufs[0], 0) == 3 * 650);
    close_fixture(&r);
}

static void batch_of_independent_tasks_runs_side_by_side(void **state)
{
    double us[2];

    (void)state;
    for (int overlap = 0; overlap < 2; overlap++) {
        fixture r = open_fixture(overlap, ONLY_LAUNCHES);
        qn_task list[16];
        qn_tasks *tasks;

        must(qn_tasks_new(r.ctx, NULL, &tasks, &failure));
        for (int i = 0; i < 16; i++)
            list[i] = (qn_task){ i, i < 8 ? "vadd" : "saxpy", 16384 << i % 8, (uint64_t)i, NULL };
        for (int round = 0; round < 4; round++) {
            must(qn_tasks_touch(tasks, &failure));
            must(qn_tasks_run(tasks, list, 16, &failure));
        }
        us[overlap] = qn_tasks_get_stats(tasks).wall_us;
        must(qn_tasks_verify(tasks, &failure));
        qn_tasks_free(tasks);
        close_fixture(&r);
    }
    if (!(us[1] < 0.25 * us[0]))
        fail_msg("%.0f us side by side, %.0f one after the other", us[1], us[0]);
}

/* Hazards. */

static void explicit_edge_orders_branches(void **state)
{
    (void)state;
    for (int replay = 0; replay < 2; replay++) {
        fixture r = open_fixture(1, replay ? ONLY_LAUNCHES : ONLY_LAUNCHES ",sim.replay=0");

        add(&r, "a", r.bufs[0], r.bufs[1]);
        add(&r, "b", r.bufs[2], r.bufs[3]);
        add(&r, "c", r.bufs[3], r.bufs[4]);
        must(qn_graph_edge(r.graph, 0, 2, &failure));
        for (int run = 0; run < 4; run++)
            expect_us(run_us(&r), 200);
        assert_int_equal(branches_of(&r)->n_meets, 1);
        close_fixture(&r);
    }
}

/* The writer of bufs[0] must not overtake its readers on other streams. */
static void writer_waits_for_readers_of_other_branches(void **state)
{
    (void)state;
    for (int replay = 0; replay < 2; replay++) {
        fixture r = open_fixture(1, replay ? ONLY_LAUNCHES : ONLY_LAUNCHES ",sim.replay=0");

        add(&r, "one", r.bufs[0], r.bufs[1]);
        add(&r, "two", r.bufs[0], r.bufs[2]);
        add(&r, "three", r.bufs[0], r.bufs[3]);
        add(&r, "over", r.bufs[4], r.bufs[0]);
        for (int run = 0; run < 4; run++)
            expect_us(run_us(&r), 200);
        assert_int_equal(branches_of(&r)->n_meets, 2);
        close_fixture(&r);
    }
}

static void temporaries_of_branches_do_not_share_memory(void **state)
{
    size_t shared[2];

    (void)state;
    for (int overlap = 0; overlap < 2; overlap++) {
        fixture r = open_fixture(overlap, ONLY_LAUNCHES);

        add(&r, "left", r.bufs[0], r.temps[0]);
        add(&r, "left2", r.temps[0], r.bufs[1]);
        add(&r, "right", r.bufs[0], r.temps[1]);
        add(&r, "right2", r.temps[1], r.bufs[2]);
        join(&r, "join", r.bufs[1], r.bufs[2], r.temps[2]); /* from here on one of them is free */
        add(&r, "end", r.temps[2], r.bufs[3]);
        for (int run = 0; run < 4; run++)
            run_us(&r);
        shared[overlap] = qn_graph_get_stats(r.graph).temp_bytes_shared;
        close_fixture(&r);
    }
    assert_int_equal(shared[0], N * sizeof(float));
    assert_int_equal(shared[1], 2 * N * sizeof(float));
}

/* In the next run, the first tenant's writer is on another stream than the last tenant's reader,
 * which is the last to end. */
static void memory_of_temporaries_is_guarded_from_run_to_run(void **state)
{
    fixture r = open_fixture(1, ONLY_LAUNCHES ",sim.replay=0");

    (void)state;
    add(&r, "a", r.bufs[0], r.temps[0]);
    add(&r, "b", r.temps[0], r.bufs[1]);
    add(&r, "c", r.bufs[1], r.temps[1]); /* shares with temps[0] */
    add(&r, "d", r.temps[1], r.bufs[2]);
    add(&r, "e", r.temps[1], r.bufs[3]); /* forks */
    join(&r, "f", r.temps[1], r.bufs[3], r.bufs[4]);
    for (int run = 0; run < 4; run++)
        must(qn_graph_run(r.graph, &failure));
    must(qn_graph_wait(r.graph, &failure));
    assert_int_equal(qn_graph_get_stats(r.graph).temp_bytes_shared, N * sizeof(float));
    close_fixture(&r);
}

/* Work after a fallback follows the work before it, whatever stream that was on. */
static void stages_after_a_fallback_wait_for_all_branches(void **state)
{
    fixture r = open_fixture(1, ONLY_LAUNCHES ",launch:bad*1");

    (void)state;
    add(&r, "a", r.bufs[0], r.bufs[1]);
    add(&r, "b", r.bufs[2], r.bufs[3]);
    add(&r, "b2", r.bufs[3], r.bufs[2]);
    add(&r, "bad", r.bufs[4], r.bufs[5]);
    add(&r, "after", r.bufs[0], r.bufs[4]);
    must(qn_graph_edge(r.graph, 2, 4, &failure));
    expect_us(run_us(&r), 300);
    assert_true(fallbacks(r.ctx, "bad", "injected") == 1);
    close_fixture(&r);
}

/* Both branches read the result of one upload, and end in downloads. */
static void replayed_branches_wait_for_copies_and_copies_for_them(void **state)
{
    static const int sizes[] = { 1000, 200000 }; /* copies on the graph's stream, and on a separate
                                                  * one */

    (void)state;
    for (int i = 0; i < 2; i++) {
        const int n = sizes[i];
        fixture r =
            open_fixture(1, "sim.launch_us=100,sim.h2d_us=200,sim.d2h_us=200,sim.kernels=8");
        qn_buf *x = ramp(r.ctx, "x", n, 0, 1), *out[2];

        for (int b = 0; b < 2; b++) {
            out[b] = array_of(r.ctx, "out", n);
            must(stage_map_add(r.graph, "add", qn_range_1d(n), (float)b, x, out[b], &failure));
            must(qn_graph_output(r.graph, out[b], &failure));
        }
        for (int run = 0; run < 5; run++) {
            const float first = 10.0f * (float)run;

            must(qn_buf_write(x, 0, &first, sizeof first, &failure));
            must(qn_graph_run(r.graph, &failure));
            for (int b = 0; b < 2; b++)
                assert_true(value_at(out[b], 0) == first + (float)b);
        }
        assert_true(qn_graph_get_stats(r.graph).replays >= 2);
        for (int b = 0; b < 2; b++)
            qn_buf_free(out[b]);
        qn_buf_free(x);
        close_fixture(&r);
    }
}

/* The same results. */

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

/* A temporary must be written before it is read. */
static qn_buf *any_of(fixture *r, unsigned *seed, unsigned written)
{
    const unsigned i = next(seed) % (N_BUFS + N_TEMPS);

    if (i < N_BUFS)
        return r->bufs[i];
    return written >> (i - N_BUFS) & 1 ? r->temps[i - N_BUFS] : r->bufs[i - N_BUFS];
}

static void add_random_stages(fixture *r, unsigned seed, int n_stages)
{
    unsigned written = 0;

    for (int s = 0; s < n_stages; s++) {
        qn_buf *const x = any_of(r, &seed, written), *const y = any_of(r, &seed, written);
        const unsigned to_i = next(&seed) % (N_BUFS + N_TEMPS);
        qn_buf *const to = to_i < N_BUFS ? r->bufs[to_i] : r->temps[to_i - N_BUFS];

        if (to == x || to == y) { /* IN and OUT of one launch may not be the same */
            if (x != y)
                must(stage_saxpy(r->graph, "saxpy", qn_range_1d(N), 0.25f, to == x ? y : x, to,
                                 &failure));
            else
                add(r, "add", x, r->bufs[x == r->bufs[0]]);
        } else {
            join(r, "join", x, y, to);
            if (to_i >= N_BUFS)
                written |= 1u << (to_i - N_BUFS);
        }
        if (s > 0 && next(&seed) % 8 == 0)
            must(qn_graph_edge(r->graph, (int)(next(&seed) % (unsigned)s), s, &failure));
        if (next(&seed) % 16 == 0 && qn_device_count(r->ctx) > 2)
            must(qn_graph_pin(r->graph, s, seed & 1 ? "cpu" : "sim:1", &failure));
    }
}

static void random_results(const char *backend, unsigned seed, int overlap, const char *fault,
                           float *out)
{
    fixture r = open_on(backend, overlap, fault);

    add_random_stages(&r, seed, 12 + (int)(seed % 30));
    for (int run = 0; run < 4; run++) {
        must(qn_graph_run(r.graph, &failure));
        if (run == 2)
            must(qn_graph_wait(r.graph, &failure));
    }
    for (int b = 0; b < N_BUFS; b++)
        must(qn_buf_read(r.bufs[b], 0, out + b * N, N * sizeof(float), &failure));
    close_fixture(&r);
}

static void random_graphs_give_the_same_bits_with_and_without(void **state)
{
    static const char *const faults[] = {
        ONLY_LAUNCHES ",sim.devices=2",
        ONLY_LAUNCHES ",sim.devices=2,sim.replay=0",
        ONLY_LAUNCHES ",sim.devices=2,launch@9*1",
    };
    static float want[N_BUFS * N], got[N_BUFS * N];

    (void)state;
    for (unsigned seed = 1; seed <= 60; seed++) {
        random_results("sim", seed, 0, faults[0], want);
        for (int f = 0; f < 3; f++) {
            random_results("sim", seed, 1, faults[f], got);
            if (memcmp(want, got, sizeof want))
                fail_msg("seed %u differs under %s", seed, faults[f]);
        }
    }
}

/* Queues of this device really run in parallel. */
static void random_graphs_give_the_same_bits_on_opencl(void **state)
{
    static float want[N_BUFS * N], got[N_BUFS * N];

    (void)state;
    if (!has_backend("opencl")) {
        print_message("no OpenCL device\n");
        skip();
    }
    for (unsigned seed = 1; seed <= 10; seed++) {
        random_results("cpu", seed, 1, NULL, want);
        random_results("opencl", seed, 1, NULL, got);
        if (memcmp(want, got, sizeof want))
            fail_msg("seed %u differs", seed);
    }
}

static void value_other_than_0_and_1_is_refused(void **state)
{
    qn_ctx *ctx = NULL;
    qn_err err;

    (void)state;
    setenv("QUERN_OVERLAP", "yes", 1);
    assert_int_equal(qn_ctx_open(&QN_OPTIONS(.backend = "cpu"), &ctx, &err), QN_ERR_USAGE);
    unsetenv("QUERN_OVERLAP");
    assert_string_equal(err.text, "QUERN_OVERLAP: 'yes' is not one of 0|1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_equal_branches_take_the_time_of_one),
        cmocka_unit_test(device_that_runs_one_kernel_at_a_time_loses_nothing),
        cmocka_unit_test(branch_waits_for_its_fork_and_not_for_what_came_after),
        cmocka_unit_test(more_branches_than_streams_share_them_evenly),
        cmocka_unit_test(rounds_of_fork_and_join_use_the_same_streams),
        cmocka_unit_test(chain_of_650_stages_keeps_to_one_stream_without_events),
        cmocka_unit_test(batch_of_independent_tasks_runs_side_by_side),
        cmocka_unit_test(explicit_edge_orders_branches),
        cmocka_unit_test(writer_waits_for_readers_of_other_branches),
        cmocka_unit_test(temporaries_of_branches_do_not_share_memory),
        cmocka_unit_test(memory_of_temporaries_is_guarded_from_run_to_run),
        cmocka_unit_test(stages_after_a_fallback_wait_for_all_branches),
        cmocka_unit_test(replayed_branches_wait_for_copies_and_copies_for_them),
        cmocka_unit_test(random_graphs_give_the_same_bits_with_and_without),
        cmocka_unit_test(random_graphs_give_the_same_bits_on_opencl),
        cmocka_unit_test(value_other_than_0_and_1_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_replay.c - graphs that run again: nothing is prepared twice, and nothing stale is used.
 *
 * The program intercepts the allocator, to count the allocations of a replayed run.
 */
#include "alloc_count.h"
#include "engine_counters.h"

#include "engine/plan/graph_impl.h"

enum { N = 4000, RUNS = 50 };

typedef struct {
    qn_ctx *ctx;
    qn_buf *x, *y, *z;
    qn_graph *graph;
} fixture;

static fixture open_fixture(qn_options options)
{
    fixture r = { .ctx = open_with(options) };

    r.x = ramp(r.ctx, "x", N, 0, 1);
    r.y = ramp(r.ctx, "y", N, 1, 0);
    r.z = array_of(r.ctx, "z", N);
    must(qn_graph_new(r.ctx, "g", &r.graph, &failure));
    return r;
}

static void close_fixture(fixture *r)
{
    qn_graph_free(r->graph);
    qn_buf_free(r->x);
    qn_buf_free(r->y);
    qn_buf_free(r->z);
    assert_nothing_is_held(r->ctx);
    qn_ctx_close(r->ctx);
}

static void check_all(qn_buf *buf, float first, float step)
{
    static float got[N];

    must(qn_buf_read(buf, 0, got, sizeof got, &failure));
    for (int i = 0; i < N; i++)
        if (got[i] != first + step * (float)i)
            fail_msg("%s[%d] = %g", qn_buf_name(buf), i, got[i]);
}

/* Three stages, a temporary and an output; optionally with an input that is new each time. One
 * thread: the OpenMP library allocates when the load of the machine changes its team. */
static void steady_state_asks_for_nothing(const char *backend, const char *fault, int new_input)
{
    fixture r =
        open_fixture(QN_OPTIONS(.backend = backend, .fault = fault, .log = "none", .threads = 1));
    static float data[N];
    qn_graph_stats before, after;
    double compiles;
    long allocs;
    qn_buf *t;

    must(qn_graph_temp(r.graph, "t", N * sizeof(float), &t, &failure));
    must(stage_vadd(r.graph, "a", qn_range_1d(N), r.x, r.y, t, &failure));
    must(stage_map_mul(r.graph, "b", qn_range_1d(N), 2.0f, t, r.z, &failure));
    must(stage_saxpy(r.graph, "c", qn_range_1d(N), 1.0f, r.x, r.z, &failure));
    must(qn_graph_output(r.graph, r.z, &failure));
    for (int run = 0; run < 6; run++) {
        if (new_input)
            must(qn_buf_write(r.y, 0, data, sizeof data, &failure));
        must(qn_graph_run(r.graph, &failure));
        must(qn_graph_wait(r.graph, &failure));
    }
    before = qn_graph_get_stats(r.graph);
    compiles = count_of(r.ctx, "kernel_compiles");
    allocs = count_allocs();
    for (int run = 0; run < RUNS; run++) {
        for (int i = 0; new_input && i < N; i++)
            data[i] = (float)run;
        if (new_input)
            must(qn_buf_write(r.y, 0, data, sizeof data, &failure));
        must(qn_graph_run(r.graph, &failure));
        must(qn_graph_wait(r.graph, &failure));
    }
    assert_int_equal(count_allocs() - allocs, 0);
    after = qn_graph_get_stats(r.graph);
    assert_int_equal(after.replays - before.replays, RUNS);
    assert_int_equal(after.captures, before.captures);
    assert_true(count_of(r.ctx, "kernel_compiles") == compiles);
    check_all(r.z, new_input ? 2.0f * (RUNS - 1) : 2, 3);
    close_fixture(&r);
}

static void replayed_graph_neither_allocates_nor_compiles_on_sim(void **state)
{
    (void)state;
    steady_state_asks_for_nothing("sim", NULL, 0);
    steady_state_asks_for_nothing("sim", NULL, 1);
}

static void recorded_steps_neither_allocate_nor_compile_on_sim(void **state)
{
    (void)state;
    steady_state_asks_for_nothing("sim", "sim.replay=0", 0);
    steady_state_asks_for_nothing("sim", "sim.replay=0", 1);
}

static void replayed_graph_neither_allocates_nor_compiles_on_the_cpu(void **state)
{
    (void)state;
    steady_state_asks_for_nothing("cpu", NULL, 0);
    steady_state_asks_for_nothing("cpu", NULL, 1);
}

/* Graphs that change. */

/* `t` ended before `u` began and they shared memory; the stage added later extends the life of
 * `t`. */
static void stage_added_after_a_run_prolongs_a_temporary(void **state)
{
    fixture r = open_fixture(QN_OPTIONS(.backend = "sim"));
    qn_buf *t, *u;

    (void)state;
    must(qn_graph_temp(r.graph, "t", N * sizeof(float), &t, &failure));
    must(qn_graph_temp(r.graph, "u", N * sizeof(float), &u, &failure));
    must(stage_map_add(r.graph, "a", qn_range_1d(N), 1.0f, r.x, t, &failure));
    must(stage_map_add(r.graph, "b", qn_range_1d(N), 1.0f, t, r.z, &failure));
    must(stage_map_mul(r.graph, "c", qn_range_1d(N), 5.0f, r.x, u, &failure));
    must(stage_vadd(r.graph, "d", qn_range_1d(N), u, r.x, r.y, &failure));
    must(qn_graph_edge(r.graph, 1, 2, &failure)); /* or they would run side by side */
    for (int run = 0; run < 3; run++)
        must(qn_graph_run(r.graph, &failure));
    assert_int_equal(qn_graph_get_stats(r.graph).temp_bytes_shared, N * sizeof(float));
    check_all(r.y, 0, 6);
    must(stage_vadd(r.graph, "e", qn_range_1d(N), t, r.x, r.z, &failure)); /* t is still needed */
    for (int run = 0; run < 3; run++)
        must(qn_graph_run(r.graph, &failure));
    check_all(r.z, 1, 2);
    check_all(r.y, 0, 6);
    assert_int_equal(qn_graph_get_stats(r.graph).temp_bytes_shared, 2 * N * sizeof(float));
    close_fixture(&r);
}

static void output_added_after_runs_is_downloaded(void **state)
{
    fixture r = open_fixture(QN_OPTIONS(.backend = "sim"));

    (void)state;
    must(stage_vadd(r.graph, "a", qn_range_1d(N), r.x, r.y, r.z, &failure));
    for (int run = 0; run < 4; run++)
        must(qn_graph_run(r.graph, &failure));
    assert_int_equal(qn_ctx_transfers(r.ctx).d2h_count, 0);
    must(qn_graph_output(r.graph, r.z, &failure));
    for (int run = 1; run <= 4; run++) {
        must(qn_graph_run(r.graph, &failure));
        must(qn_graph_wait(r.graph, &failure));
        assert_int_equal(qn_ctx_transfers(r.ctx).d2h_count, run);
    }
    check_all(r.z, 1, 1);
    close_fixture(&r);
}

static void temporary_that_is_an_output_outlives_the_stages(void **state)
{
    fixture r = open_fixture(QN_OPTIONS(.backend = "sim"));
    qn_buf *t, *u;

    (void)state;
    must(qn_graph_temp(r.graph, "t", N * sizeof(float), &t, &failure));
    must(qn_graph_temp(r.graph, "u", N * sizeof(float), &u, &failure));
    must(stage_map_add(r.graph, "a", qn_range_1d(N), 1.0f, r.x, t, &failure));
    must(stage_map_mul(r.graph, "b", qn_range_1d(N), 5.0f, r.x, u, &failure)); /* may not reuse t */
    must(stage_map_add(r.graph, "c", qn_range_1d(N), 0.0f, u, r.z, &failure));
    must(qn_graph_output(r.graph, t, &failure));
    for (int run = 0; run < 3; run++) {
        must(qn_graph_run(r.graph, &failure));
        check_all(t, 1, 1);
    }
    close_fixture(&r);
}

/* A refused stage leaves no trace in the graph. */
static void refused_stage_changes_nothing(void **state)
{
    fixture r = open_fixture(QN_OPTIONS(.backend = "sim"));
    const double wide = 1;
    qn_buf *t;

    (void)state;
    must(qn_graph_temp(r.graph, "t", N * sizeof(float), &t, &failure));
    must(stage_vadd(r.graph, "a", qn_range_1d(N), r.x, r.y, r.z, &failure));
    assert_int_equal(qn_graph_stage(r.graph, "bad", qn_kernel_builtin("saxpy"), qn_range_1d(N),
                                    (const qn_arg[]){ qn_arg_val(&wide, sizeof wide), qn_arg_buf(t),
                                                      qn_arg_buf(t) },
                                    &failure),
                     QN_ERR_USAGE);
    assert_int_equal(qn_graph_stage(r.graph, "bad", qn_kernel_builtin("vadd"), qn_range_1d(N),
                                    (const qn_arg[]){ qn_arg_buf(t), qn_arg_buf(r.x), { 0 } },
                                    &failure),
                     QN_ERR_USAGE);
    assert_int_equal(qn_graph_get_stats(r.graph).n_stages, 1);
    must(qn_graph_run(r.graph, &failure));
    check_all(r.z, 1, 1);
    close_fixture(&r);
}

static qn_status fill_sevens(void *user, void *const *data, qn_err *err)
{
    (void)err;
    for (int i = 0; i < *(int *)user; i++)
        ((float *)data[0])[i] = 7;
    return QN_OK;
}

/* The host function writes the view; the rest of its parent is only on the device. */
static void host_stage_on_a_view_keeps_the_rest(void **state)
{
    const qn_arg_mode out[] = { QN_ARG_OUT };
    fixture r = open_fixture(QN_OPTIONS(.backend = "sim"));
    qn_buf *view;
    int n = 10;

    (void)state;
    must(qn_buf_view(r.z, "view", 100 * sizeof(float), (size_t)n * sizeof(float), &view, &failure));
    must(stage_vadd(r.graph, "a", qn_range_1d(N), r.x, r.y, r.z, &failure));
    must(qn_graph_host(r.graph, "sevens", fill_sevens, &n, &view, out, 1, &failure));
    for (int run = 0; run < 3; run++)
        must(qn_graph_run(r.graph, &failure));
    assert_true(value_at(r.z, 99) == 100 && value_at(r.z, 110) == 111);
    assert_true(value_at(r.z, 100) == 7 && value_at(r.z, 109) == 7);
    qn_buf_free(view);
    close_fixture(&r);
}

static qn_status say_nothing(void *user, void *const *data, qn_err *err)
{
    (void)user;
    (void)data;
    (void)err;
    return QN_ERR_FAILED;
}

static void host_stage_that_fails_without_a_word_still_fails(void **state)
{
    const qn_arg_mode in[] = { QN_ARG_IN };
    fixture r = open_fixture(QN_OPTIONS(.backend = "sim"));

    (void)state;
    must(qn_graph_host(r.graph, "mute", say_nothing, NULL, &r.x, in, 1, &failure));
    assert_int_equal(qn_graph_run(r.graph, &failure), QN_ERR_FAILED);
    assert_string_equal(failure.text, "stage mute: the host function failed");
    close_fixture(&r);
}

/* Values that change, in a stage that is launched in parts and cannot be updated in place. */
static void changed_values_reach_every_kind_of_recording(void **state)
{
    static const char *const faults[] = { "sim.replay=1", "sim.replay=0", "sim.max_grid=1" };

    (void)state;
    for (int i = 0; i < 3; i++) {
        fixture r = open_fixture(QN_OPTIONS(.backend = "sim", .fault = faults[i]));
        float total = 0;

        must(stage_saxpy(r.graph, "s", qn_range_1d(N), 0.0f, r.x, r.y, &failure));
        for (int run = 0; run < 8; run++) {
            const float k = (float)(run / 2);

            must(qn_graph_set(r.graph, 0, 0, &k, &failure));
            must(qn_graph_run(r.graph, &failure));
            total += k;
        }
        check_all(r.y, 1, total);
        close_fixture(&r);
    }
}

/* Kernels given as text. */

/* Same text, new module object: cached data must not point into the old one. */
static void kernels_can_be_freed_and_made_again(void **state)
{
    static const char text[] = "MAP(thrice, VAL(float, k), IN(float, x), OUT(float, y))\n"
                               "{\n    y[gx] = k * x[gx];\n}\n";
    static const char *const backends[] = { "cpu", "sim", "opencl" };

    (void)state;
    for (int i = 0; i < 3; i++) {
        fixture r;

        if (!has_backend(backends[i]))
            continue;
        r = open_fixture(QN_OPTIONS(.backend = backends[i], .fallback = QN_FALLBACK_ERROR));
        for (int round = 0; round < 3; round++) {
            const float k = (float)(round + 1);
            qn_kernel_module *module;
            qn_graph *g;

            must(qn_kernels_new("mine", text, &module, &failure));
            must(qn_graph_new(r.ctx, "g", &g, &failure));
            must(qn_graph_stage(
                g, "thrice", qn_kernels_find(module, "thrice"), qn_range_1d(N),
                (const qn_arg[]){ qn_arg_val(&k, sizeof k), qn_arg_buf(r.x), qn_arg_buf(r.z) },
                &failure));
            for (int run = 0; run < 3; run++)
                must(qn_graph_run(g, &failure));
            check_all(r.z, 0, k);
            qn_graph_free(g);
            qn_kernels_free(module); /* the context still works */
        }
        qn_graph_free(r.graph);
        qn_buf_free(r.x);
        qn_buf_free(r.y);
        qn_buf_free(r.z);
        qn_ctx_close(r.ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counter_of_allocations_works),
        cmocka_unit_test(replayed_graph_neither_allocates_nor_compiles_on_sim),
        cmocka_unit_test(recorded_steps_neither_allocate_nor_compile_on_sim),
        cmocka_unit_test(replayed_graph_neither_allocates_nor_compiles_on_the_cpu),
        cmocka_unit_test(stage_added_after_a_run_prolongs_a_temporary),
        cmocka_unit_test(output_added_after_runs_is_downloaded),
        cmocka_unit_test(temporary_that_is_an_output_outlives_the_stages),
        cmocka_unit_test(refused_stage_changes_nothing),
        cmocka_unit_test(host_stage_on_a_view_keeps_the_rest),
        cmocka_unit_test(host_stage_that_fails_without_a_word_still_fails),
        cmocka_unit_test(changed_values_reach_every_kind_of_recording),
        cmocka_unit_test(kernels_can_be_freed_and_made_again),
    };
    return cmocka_run_group_tests(tests, watch_allocator, NULL);
}

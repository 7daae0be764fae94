/* test_oom.c - the out-of-memory ladder, rung by rung. No rung changes a result.
 *
 * Arrays of 4096 floats fill one block of 16 KiB; budgets are counted in such blocks.
 */
#include "engine_counters.h"

#include "engine/plan/graph_impl.h"

enum { N = 4096, BLOCK = 16384 };

static qn_ctx *open_blocks(int blocks, const char *fault, const char *log)
{
    char budget[32];

    snprintf(budget, sizeof budget, "%d", blocks * BLOCK);
    return open_with(
        QN_OPTIONS(.backend = "sim", .mem_budget = budget, .fault = fault, .log = log));
}

static void check_all(qn_buf *buf, float first, float step)
{
    static float got[16 * N];
    const int n = (int)(qn_buf_bytes(buf) / sizeof(float));

    must(qn_buf_read(buf, 0, got, (size_t)n * sizeof(float), &failure));
    for (int i = 0; i < n; i++)
        if (got[i] != first + step * (float)i)
            fail_msg("%s[%d] = %g", qn_buf_name(buf), i, got[i]);
}

static qn_graph *add_graph(qn_ctx *ctx, const char *stage, int n, float k, qn_buf *in, qn_buf *out)
{
    qn_graph *g;

    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_map_add(g, stage, qn_range_1d(n), k, in, out, &failure));
    return g;
}

static void run_and_free(qn_graph *g)
{
    must(qn_graph_run(g, &failure));
    must(qn_graph_wait(g, &failure));
    qn_graph_free(g);
}

static double trims(qn_ctx *ctx)
{
    return (double)qn_pool_get_stats(ctx->devices[1].pool).trims;
}

/* Each rung is tried only if those before it did not help, and each logs its line. */
static void rungs_are_climbed_in_order(void **state)
{
    qn_ctx *ctx = open_blocks(4, NULL, "info");
    qn_buf *a = ramp(ctx, "a", N, 0, 1), *b = array_of(ctx, "b", N), *c = array_of(ctx, "c", 2 * N);
    qn_buf *d = array_of(ctx, "d", 2 * N), *big = ramp(ctx, "big", 8 * N, 0, 1);
    qn_buf *sum = array_of(ctx, "sum", 8 * N), *gone[2];
    char text[8192];

    (void)state;
    for (int i = 0; i < 2; i++)
        gone[i] = ramp(ctx, "gone", N, 0, 1);
    run_and_free(add_graph(ctx, "warm", N, 1, gone[0], gone[1]));
    qn_buf_free(gone[0]);
    qn_buf_free(gone[1]);                             /* two idle blocks */
    run_and_free(add_graph(ctx, "warm", N, 1, a, b)); /* reuses them: a clean, b dirty */
    must(qn_buf_new(ctx, "gone", BLOCK, &gone[0], &failure));
    run_and_free(add_graph(ctx, "warm", N, 1, a, gone[0]));
    qn_buf_free(gone[0]); /* one idle block; one block of the budget was never used */
    assert_true(trims(ctx) == 0);

    /* 1: c wants two blocks, one is free, one idle. */
    CAPTURE_STDERR(text, sizeof text, run_and_free(add_graph(ctx, "s1", N, 2, a, c)));
    assert_true(trims(ctx) == 1);
    assert_true(count_of(ctx, "evictions_clean") == 0 && count_of(ctx, "evictions_dirty") == 0);
    assert_non_null(strstr(text, "quern: info: memory: 1 idle blocks leave sim:0\n"));

    /* 2 and 3: d wants two blocks beside c: a is clean and goes first, then b is spilled. */
    CAPTURE_STDERR(text, sizeof text, run_and_free(add_graph(ctx, "s2", N, 3, c, d)));
    assert_true(count_of(ctx, "evictions_clean") == 1 && count_of(ctx, "evictions_dirty") == 1);
    assert_true(strstr(text, "clean copy of a (16384 bytes) leaves sim:0") <
                strstr(text, "dirty copy of b (16384 bytes) leaves sim:0"));
    assert_non_null(strstr(text, "clean copy of a"));
    assert_true(count_of(ctx, "spill_bytes") == BLOCK);
    assert_true(count_of(ctx, "oom_splits") == 0);

    /* 4: eight blocks of input alone are more than the device has. */
    CAPTURE_STDERR(text, sizeof text, run_and_free(add_graph(ctx, "s4", 8 * N, 1, big, sum)));
    assert_true(count_of(ctx, "oom_splits") == 1);
    if (!strstr(text, "memory: stage s4 ran on sim:0 in pieces of 8192 of 32768\n"))
        fail_msg("%s", text);
    assert_true(count_of(ctx, "gpu_fallback_count") == 0);
    check_all(sum, 1, 1);
    check_all(b, 1, 1);
    assert_true(value_at(d, 5) == 5 + 2 + 3);
    assert_true(count_of(ctx, "cpu_ops") == 0);
    qn_buf_free(a);
    qn_buf_free(b);
    qn_buf_free(c);
    qn_buf_free(d);
    qn_buf_free(big);
    qn_buf_free(sum);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
}

/* 5: a stage that cannot be split goes to the CPU; the line names the numbers. */
static void stage_that_cannot_be_split_goes_to_the_cpu(void **state)
{
    qn_ctx *ctx = open_blocks(2, NULL, NULL);
    const qn_kernel_info *chain = qn_kernel_builtin("chain");
    qn_buf *x = ramp(ctx, "x", 4 * N, 0, 1), *y = array_of(ctx, "y", 4 * N);
    const chain_par par = { .n = 4 * N };
    qn_graph *g;
    char text[2000];

    (void)state;
    assert_int_equal(qn_op_of_kernel(chain)->split, QN_SPLIT_NONE);
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_chain(g, "whole", qn_range_1d(4 * N / CHAIN_CHUNK), par, x, y, &failure));
    CAPTURE_STDERR(text, sizeof text, assert_int_equal(qn_graph_run(g, &failure), QN_OK));
    assert_string_equal(
        text, "[GPU] whole failed: buffer x: out of memory (need 64.0 KiB, budget 32.0 KiB, "
              "in use 0 B). CPU fallback.\n");
    assert_true(fallbacks(ctx, "whole", "oom") == 1);
    assert_true(count_of(ctx, "oom_splits") == 0);
    check_all(y, 0, 1); /* an empty program copies */
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
}

/* 6: if even the host has no memory, stage, buffer, bytes and budget are named. */
static void last_rung_names_stage_buffer_bytes_and_budget(void **state)
{
    qn_ctx *ctx;
    qn_buf *x, *y;
    qn_graph *g;
    char text[2000];

    (void)state;
    setenv("QUERN_HOST_BUDGET", "80K", 1);
    ctx = open_blocks(2, NULL, "none");
    x = ramp(ctx, "x", 4 * N, 0, 1);
    y = array_of(ctx, "y", 4 * N);
    g = add_graph(ctx, "last", 4 * N, 1, x, y);
    CAPTURE_STDERR(text, sizeof text, assert_int_equal(qn_graph_run(g, &failure), QN_ERR_NOMEM));
    assert_string_equal(failure.text,
                        "stage last: buffer y: out of memory (need 64.0 KiB, budget 80.0 KiB, "
                        "in use 64.0 KiB)");
    check_all(x, 0, 1);
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
    unsetenv("QUERN_HOST_BUDGET");
}

static void forbidden_fallback_stops_before_the_cpu(void **state)
{
    qn_ctx *ctx =
        open_with(QN_OPTIONS(.backend = "sim", .fault = "alloc", .fallback = QN_FALLBACK_ERROR));
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *y = array_of(ctx, "y", N);
    qn_graph *g = add_graph(ctx, "s", N, 1, x, y);

    (void)state;
    assert_int_equal(qn_graph_run(g, &failure), QN_ERR_FALLBACK);
    assert_string_equal(failure.text,
                        "stage s failed (buffer x: out of memory (injected, need 16384 bytes)) "
                        "and fallback is forbidden");
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
}

/* A run that succeeded after using rungs is a success, whatever was tried on the way. */
static void graph_that_fits_only_stage_by_stage_succeeds(void **state)
{
    qn_ctx *ctx = open_blocks(3, NULL, NULL);
    qn_buf *v[8];
    qn_graph *g;
    char text[2000];

    (void)state;
    for (int i = 0; i < 8; i++)
        v[i] = i ? array_of(ctx, "v", N) : ramp(ctx, "v", N, 0, 1);
    must(qn_graph_new(ctx, "g", &g, &failure));
    for (int i = 1; i < 8; i++)
        must(stage_map_add(g, "add", qn_range_1d(N), 1.0f, v[i - 1], v[i], &failure));
    for (int i = 1; i < 8; i++)
        must(qn_graph_output(g, v[i], &failure));
    for (int run = 0; run < 3; run++) {
        CAPTURE_STDERR(text, sizeof text, {
            assert_int_equal(qn_graph_run(g, &failure), QN_OK);
            assert_int_equal(qn_graph_wait(g, &failure), QN_OK);
        });
        assert_string_equal(text, "");
        for (int i = 0; i < 8; i++)
            check_all(v[i], (float)i, 1);
    }
    assert_true(count_of(ctx, "cpu_ops") == 0 && count_of(ctx, "oom_splits") == 0);
    assert_true(qn_pool_get_stats(ctx->devices[1].pool).bytes_peak <= 3 * BLOCK);
    qn_graph_free(g);
    for (int i = 0; i < 8; i++)
        qn_buf_free(v[i]);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
}

static void array_beyond_the_largest_allocation_is_split(void **state)
{
    qn_ctx *ctx = open_sim("sim.max_alloc=64K");
    qn_buf *x = ramp(ctx, "x", 16 * N, 0, 1), *y = ramp(ctx, "y", 16 * N, 1, 0);
    qn_graph *g;
    char text[2000];

    (void)state;
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_saxpy(g, "wide", qn_range_1d(16 * N), 2.0f, x, y, &failure));
    CAPTURE_STDERR(text, sizeof text, assert_int_equal(qn_graph_run(g, &failure), QN_OK));
    assert_true(count_of(ctx, "oom_splits") == 1);
    assert_string_equal(text, "");
    check_all(y, 1, 2);
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
}

/* Splitting. */

/* y = 2 x + y on a device that holds an eighth of it. */
static void split_with(const char *fault, int lines, int splits)
{
    qn_ctx *ctx = open_blocks(4, fault, NULL);
    qn_buf *x = ramp(ctx, "x", 16 * N, 0, 1), *y = ramp(ctx, "y", 16 * N, 1, 0);
    qn_graph *g;
    char text[4000];

    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_saxpy(g, "cut", qn_range_1d(16 * N), 2.0f, x, y, &failure));
    CAPTURE_STDERR(text, sizeof text, assert_int_equal(qn_graph_run(g, &failure), QN_OK));
    if (fallback_lines(text) != lines)
        fail_msg("%s: %s", fault ? fault : "no fault", text);
    assert_true(count_of(ctx, "oom_splits") == splits);
    assert_true(count_of(ctx, "gpu_fallback_count") == lines);
    check_all(y, 1, 2);
    CAPTURE_STDERR(text, sizeof text, assert_int_equal(qn_graph_run(g, &failure), QN_OK));
    check_all(y, 1, 4);
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
}

static void pieces_give_the_same_result(void **state)
{
    (void)state;
    split_with(NULL, 0, 1);
}

/* Whatever stops a later piece, the pieces before it are not applied a second time. */
static void piece_that_fails_leaves_nothing_half_done(void **state)
{
    (void)state;
    split_with("sim.refuse_at=1", 1, 0); /* the first: the CPU does it all */
    split_with("sim.refuse_at=2", 1, 0); /* the CPU does the rest */
    split_with("sim.refuse_at=3", 1, 0);
    split_with("copy_d2h:cut@3*1", 1, 0);
    split_with("copy_h2d:cut@4*1", 1, 0);
    split_with("sim.fail_at=3", 1, 0); /* dies in the middle */
}

static void piece_without_memory_is_retried_smaller(void **state)
{
    (void)state;
    split_with("alloc:cut>20K*6", 0, 1);
    split_with("alloc:cut@9*1", 0, 1);
}

static void buffers_that_do_not_match_the_range_are_not_split(void **state)
{
    qn_ctx *ctx = open_blocks(4, NULL, NULL);
    qn_buf *x = ramp(ctx, "x", 16 * N, 0, 1), *y = array_of(ctx, "y", 16 * N);
    qn_graph *g = add_graph(ctx, "half", 8 * N, 1, x, y);
    char text[2000];

    (void)state;
    CAPTURE_STDERR(text, sizeof text, assert_int_equal(qn_graph_run(g, &failure), QN_OK));
    assert_int_equal(fallback_lines(text), 1);
    assert_true(count_of(ctx, "oom_splits") == 0);
    assert_true(value_at(y, 8 * N - 1) == 8 * N);
    assert_true(value_at(y, 1) == 2);
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
}

static void view_is_split_inside_its_parent(void **state)
{
    qn_ctx *ctx = open_blocks(4, NULL, NULL);
    qn_buf *x = ramp(ctx, "x", 8 * N, 0, 1), *y = ramp(ctx, "y", 16 * N, 0, 1), *view;
    qn_graph *g;
    char text[2000];

    (void)state;
    must(qn_buf_view(y, "view", 4 * N * sizeof(float), 8 * N * sizeof(float), &view, &failure));
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_saxpy(g, "cut", qn_range_1d(8 * N), 0.0f, x, view, &failure));
    must(stage_map_neg(g, "neg", qn_range_1d(8 * N), x, view, &failure));
    CAPTURE_STDERR(text, sizeof text, assert_int_equal(qn_graph_run(g, &failure), QN_OK));
    assert_string_equal(text, "");
    assert_true(count_of(ctx, "oom_splits") == 2);
    for (int i = 0; i < 16 * N; i += 511)
        assert_true(value_at(y, i) == (i < 4 * N || i >= 12 * N ? (float)i : (float)(4 * N - i)));
    qn_graph_free(g);
    qn_buf_free(view);
    qn_buf_free(x);
    qn_buf_free(y);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
}

/* Memory that is missing only when it is used. */

/* The driver promises more than it has, which shows in a copy or a launch. */
static void lazy_device_climbs_the_same_ladder(void **state)
{
    qn_ctx *ctx = open_with(
        QN_OPTIONS(.backend = "sim", .mem_budget = "10G", .fault = "sim.lazy=1,sim.mem=64K"));
    qn_buf *v[8];
    char text[4000];

    (void)state;
    for (int i = 0; i < 8; i++)
        v[i] = i ? array_of(ctx, "v", N) : ramp(ctx, "v", N, 0, 1);
    for (int round = 0; round < 2; round++)
        for (int i = 1; i < 8; i++) {
            qn_graph *g = add_graph(ctx, "add", N, 1, v[i - 1], v[i]);

            CAPTURE_STDERR(text, sizeof text, {
                assert_int_equal(qn_graph_run(g, &failure), QN_OK);
                assert_int_equal(qn_graph_wait(g, &failure), QN_OK);
            });
            assert_string_equal(text, "");
            qn_graph_free(g);
        }
    assert_true(count_of(ctx, "cpu_ops") == 0);
    assert_true(count_of(ctx, "evictions_clean") > 0 && count_of(ctx, "evictions_dirty") > 0);
    for (int i = 0; i < 8; i++)
        check_all(v[i], (float)i, 1);
    for (int i = 0; i < 8; i++)
        qn_buf_free(v[i]);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
}

static void lazy_device_splits_and_falls_back(void **state)
{
    qn_ctx *ctx = open_with(
        QN_OPTIONS(.backend = "sim", .mem_budget = "10G", .fault = "sim.lazy=1,sim.mem=64K"));
    qn_buf *x = ramp(ctx, "x", 4 * N, 0, 1), *y = ramp(ctx, "y", 4 * N, 1, 0),
           *z = array_of(ctx, "z", 4 * N);
    const chain_par par = { .n = 4 * N };
    qn_graph *g;
    char text[4000];

    (void)state;
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_saxpy(g, "cut", qn_range_1d(4 * N), 1.0f, x, y, &failure));
    must(stage_chain(g, "whole", qn_range_1d(4 * N / CHAIN_CHUNK), par, y, z, &failure));
    CAPTURE_STDERR(text, sizeof text, assert_int_equal(qn_graph_run(g, &failure), QN_OK));
    if (fallback_lines(text) != 1)
        fail_msg("%s", text);
    assert_true(fallbacks(ctx, "whole", "oom") == 1);
    assert_true(count_of(ctx, "oom_splits") == 1);
    check_all(y, 1, 1);
    check_all(z, 1, 1);
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_buf_free(z);
    assert_nothing_is_held(ctx);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rungs_are_climbed_in_order),
        cmocka_unit_test(stage_that_cannot_be_split_goes_to_the_cpu),
        cmocka_unit_test(last_rung_names_stage_buffer_bytes_and_budget),
        cmocka_unit_test(forbidden_fallback_stops_before_the_cpu),
        cmocka_unit_test(graph_that_fits_only_stage_by_stage_succeeds),
        cmocka_unit_test(array_beyond_the_largest_allocation_is_split),
        cmocka_unit_test(pieces_give_the_same_result),
        cmocka_unit_test(piece_that_fails_leaves_nothing_half_done),
        cmocka_unit_test(piece_without_memory_is_retried_smaller),
        cmocka_unit_test(buffers_that_do_not_match_the_range_are_not_split),
        cmocka_unit_test(view_is_split_inside_its_parent),
        cmocka_unit_test(lazy_device_climbs_the_same_ladder),
        cmocka_unit_test(lazy_device_splits_and_falls_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* perf_repeat.c - a batch that was run before repeats no preparation.
 *
 * By counting: once warm, a run compiles nothing, records nothing, takes no block from a pool and
 * does not call the allocator, which this program intercepts. By the virtual clock: on a device
 * where compiling and allocating are slow, a warm run takes a tenth of the time of the first.
 */
#include "alloc_count.h"
#include "engine_fixture.h"

#include <quern/tasks.h>

#include "engine/device/context.h"

enum { WARM_UP = 3, REPEATS = 50 };

typedef struct {
    double captures, compiles, replays;
    uint64_t blocks;
    long allocs;
} counted;

static counted count(qn_ctx *ctx)
{
    const qn_metrics *m = qn_ctx_metrics(ctx);
    counted c = { .captures = qn_metric_value(m, "graph_captures", NULL),
                  .compiles = qn_metric_value(m, "kernel_compiles", NULL),
                  .replays = qn_metric_value(m, "graph_replays", NULL),
                  .allocs = count_allocs() };
    const qn_pool *pools[] = { ctx->host_pool, ctx->devices[1].pool };

    for (int i = 0; i < 2; i++) {
        const qn_pool_stats s = qn_pool_get_stats(pools[i]);

        c.blocks += s.hits + s.misses;
    }
    return c;
}

static void check_repeats(const qn_task *list, int n)
{
    /* One thread: the OpenMP library asks for memory when the size of its team changes. */
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .threads = 1));
    qn_tasks *tasks;
    counted before, after;

    must(qn_tasks_new(ctx, NULL, &tasks, &failure));
    for (int i = 0; i < WARM_UP; i++) {
        must(qn_tasks_touch(tasks, &failure));
        must(qn_tasks_run(tasks, list, n, &failure));
    }
    before = count(ctx);
    for (int i = 0; i < REPEATS; i++) {
        must(qn_tasks_touch(tasks, &failure));
        must(qn_tasks_run(tasks, list, n, &failure));
    }
    after = count(ctx);
    must(qn_tasks_verify(tasks, &failure));

    assert_true(after.captures == before.captures);
    assert_true(after.compiles == before.compiles);
    assert_true(after.replays == before.replays + REPEATS);
    assert_int_equal(after.blocks, before.blocks);
#ifndef HAS_SANITIZER /* they also see the teams that the OpenMP library makes for large fills */
    assert_int_equal(after.allocs, before.allocs);
#endif
    qn_tasks_free(tasks);
    qn_ctx_close(ctx);
}

static void a_warm_task_only_replays(void **state)
{
    static const qn_task task = { 1, "vadd", 20000, 1, NULL };

    (void)state;
    check_repeats(&task, 1);
}

static void a_warm_batch_of_many_ops_only_replays(void **state)
{
    static const qn_task list[] = {
        { 1, "vadd", 20000, 1, NULL },  { 2, "saxpy", 300, 1, NULL },  { 3, "chain", 300, 1, NULL },
        { 4, "sum", 5000, 1, NULL },    { 5, "matmul", 20, 1, NULL },  { 6, "sha256", 20, 1, NULL },
        { 7, "merkle", 2000, 1, NULL }, { 8, "vadd", 40000, 1, NULL }, { 9, "dot", 500, 1, NULL },
    };

    (void)state;
    check_repeats(list, 9);
}

/* A driver takes tens of milliseconds for a module and tens of microseconds for a block. */
#define SLOW_START "sim.compile_us=20000,sim.alloc_us=50"

/* Virtual time from new inputs on the host to the results there. */
static double run_once(qn_ctx *ctx, qn_graph *g, qn_buf *x, float value)
{
    const double begin = qn_ctx_now_us(ctx);

    must(qn_buf_write(x, 0, &value, sizeof value, &failure));
    must(qn_graph_run(g, &failure));
    must(qn_graph_wait(g, &failure));
    return qn_ctx_now_us(ctx) - begin;
}

static void a_warm_run_takes_at_most_a_tenth_of_the_first(void **state)
{
    enum { N = 20000 };
    static const char text[] =
        "MAP(halve, IN(float, x), OUT(float, y))\n{ y[gx] = 0.5f * x[gx]; }\n";
    qn_kernel_module *module;
    qn_graph *g;
    qn_buf *x, *y;
    qn_ctx *ctx;
    double first;

    (void)state;
    setenv("QUERN_CACHE", "0", 1); /* as on a machine that has never seen the kernel */
    ctx = open_sim(SLOW_START);
    x = ramp(ctx, "x", N, 0, 1);
    y = array_of(ctx, "y", N);
    must(qn_kernels_new("made", text, &module, &failure));
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(qn_graph_stage(g, "halve", qn_kernels_find(module, "halve"), qn_range_1d(N),
                        (qn_arg[]){ qn_arg_buf(x), qn_arg_buf(y) }, &failure));
    must(qn_graph_output(g, y, &failure));
    first = run_once(ctx, g, x, 1);
    for (int i = 2; i < 20; i++) {
        const double warm = run_once(ctx, g, x, (float)i);

        if (!(warm <= 0.1 * first))
            fail_msg("run %d took %.3f us, the first %.3f us", i, warm, first);
        assert_true(value_at(y, 0) == 0.5f * (float)i);
    }
    assert_true(qn_metric_value(qn_ctx_metrics(ctx), "kernel_compiles", NULL) == 1);
    qn_graph_free(g);
    qn_kernels_free(module);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_ctx_close(ctx);
    unsetenv("QUERN_CACHE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counter_of_allocations_works),
        cmocka_unit_test(a_warm_task_only_replays),
        cmocka_unit_test(a_warm_batch_of_many_ops_only_replays),
        cmocka_unit_test(a_warm_run_takes_at_most_a_tenth_of_the_first),
    };
    return cmocka_run_group_tests(tests, watch_allocator, NULL);
}

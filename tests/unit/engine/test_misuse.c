/* test_misuse.c - calls that make no sense: NULL, invalid numbers, ranges beyond a buffer,
 * forks. */
/* test: no-tsan */
#include "engine_fixture.h"

#include <quern/interop.h>
#include <quern/pipe.h>
#include <quern/route.h>
#include <quern/split.h>

#include "kernel/matmul.gen.h"

#include <sys/wait.h>

static void a_null_is_refused_by_calls_that_can_fail(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *x = array_of(ctx, "x", 8), *out;
    qn_graph *graph = NULL, *other;
    qn_kernel_module *module;
    float value = 0;

    (void)state;
    must(qn_graph_new(ctx, "g", &graph, &failure));
#define NONE(call) must_fail(call, QN_ERR_USAGE, ": NULL among its arguments (")
    NONE(qn_ctx_open(NULL, NULL, &failure));
    NONE(qn_ctx_sync(NULL, &failure));
    NONE(qn_buf_new(NULL, "x", 8, &out, &failure));
    NONE(qn_buf_new(ctx, NULL, 8, &out, &failure));
    NONE(qn_buf_new(ctx, "x", 8, NULL, &failure));
    NONE(qn_buf_wrap(ctx, "x", NULL, 8, &out, &failure));
    NONE(qn_buf_view(NULL, "x", 0, 8, &out, &failure));
    NONE(qn_buf_read(NULL, 0, &value, 4, &failure));
    NONE(qn_buf_read(x, 0, NULL, 4, &failure));
    NONE(qn_buf_write(x, 0, NULL, 4, &failure));
    NONE(qn_buf_host(x, QN_HOST_READ, NULL, &failure));
    NONE(qn_buf_reserve(NULL, 0, &failure));
    NONE(qn_buf_lend(NULL, 0, QN_HOST_READ, (void **)&out, &failure));
    NONE(qn_graph_new(NULL, "g", &other, &failure));
    NONE(qn_graph_stage(graph, "s", NULL, qn_range_1d(8), &(qn_arg){ 0 }, &failure));
    NONE(qn_graph_op(graph, "s", NULL, qn_range_1d(8), &(qn_arg){ 0 }, 1, &failure));
    NONE(qn_graph_temp(graph, NULL, 8, &out, &failure));
    NONE(qn_graph_output(graph, NULL, &failure));
    NONE(qn_graph_edge(NULL, 0, 1, &failure));
    NONE(qn_graph_pin(graph, 0, NULL, &failure));
    NONE(qn_graph_set(graph, 0, 0, NULL, &failure));
    NONE(qn_graph_compile(NULL, &failure));
    NONE(qn_graph_run(NULL, &failure));
    NONE(qn_graph_wait(NULL, &failure));
    NONE(qn_graph_memory_map(graph, NULL, &failure));
    NONE(qn_pipe_open(ctx, "p", 1, NULL, NULL, &failure));
    NONE(qn_pipe_run(NULL, 1, &failure));
    NONE(qn_split_run(NULL, 1, &failure));
    NONE(qn_kernels_new("k", NULL, &module, &failure));
#undef NONE
    must_fail(qn_graph_host(graph, "s", NULL, NULL, &x, (qn_arg_mode[]){ QN_ARG_IN }, 1, &failure),
              QN_ERR_USAGE, "stage s has no function");
    qn_graph_free(graph);
    qn_buf_free(x);
    qn_ctx_close(ctx);
}

static void a_number_that_is_no_device_or_stage_is_refused(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *x = array_of(ctx, "x", 8);
    qn_graph *graph;
    void *at;

    (void)state;
    for (int i = 0; i < 3; i++) {
        const int none = ((const int[]){ -1, 2, 99 })[i];

        assert_null(qn_device_get(ctx, none));
        assert_null(qn_device_id(ctx, none));
        must_fail(qn_buf_reserve(x, none, &failure), QN_ERR_USAGE, "the context has 2");
        must_fail(qn_buf_lend(x, none, QN_HOST_READ, &at, &failure), QN_ERR_USAGE,
                  "the context has 2");
    }
    must(qn_graph_new(ctx, "g", &graph, &failure));
    must(stage_vadd(graph, "s", qn_range_1d(8), x, x, x, &failure));
    must_fail(qn_graph_edge(graph, 0, 0, &failure), QN_ERR_CYCLE,
              "graph g: stage 0 cannot wait for itself");
    must_fail(qn_graph_edge(graph, 0, 1, &failure), QN_ERR_USAGE, "no stage 1");
    assert_int_equal(qn_route_options(graph, 7, NULL, 0), 0);
    assert_null(qn_route_reason(graph, 7));
    qn_graph_free(graph);
    qn_buf_free(x);
    qn_ctx_close(ctx);
}

/* Ranges. */

static const char text[] = "MAP(shift, VAL(i32, by), IN(float, x), OUT(float, y))\n"
                           "{ y[gx] = x[gx + by]; }\n"
                           "MAP(rows, VAL(i32, cols), INOUT(float, x))\n"
                           "{ x[(i64)gy * cols + gx] = 1; }\n"
                           "MAP(long_one, OUT(i32, x))\n"
                           "{ x[GI] = 1; }\n";

static qn_status add_shift(qn_graph *graph, const qn_kernel_module *module, int32_t by, qn_buf *x,
                           qn_buf *y, qn_range range)
{
    const qn_arg args[] = { qn_arg_val(&by, sizeof by), qn_arg_buf(x), qn_arg_buf(y) };

    return qn_graph_stage(graph, "shift", qn_kernels_find(module, "shift"), range, args, &failure);
}

static void a_range_beyond_a_buffer_is_refused_where_that_is_known(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *x = array_of(ctx, "x", 100), *few = array_of(ctx, "few", 60), *view;
    const qn_arg half[] = { qn_arg_at(x, 200) };
    qn_kernel_module *module;
    qn_graph *graph;

    (void)state;
    must(qn_kernels_new("k", text, &module, &failure));
    must(qn_graph_new(ctx, "g", &graph, &failure));
    must(qn_buf_view(x, "view", 40, 80, &view, &failure));
    must_fail(add_shift(graph, module, 0, x, few, qn_range_1d(61)), QN_ERR_USAGE,
              "stage shift: its range from 0 to 61 needs elements 0 to 60 of argument 2 (y), and "
              "buffer few has 60 there");
    must_fail(add_shift(graph, module, 0, x, few, (qn_range){ -1, 3, 0, 1, 0, 1 }), QN_ERR_USAGE,
              "stage shift: its range from -1 to 3 needs elements before 0 to 2 of");
    must_fail(add_shift(graph, module, 0, few, view, qn_range_2d(21, 4)), QN_ERR_USAGE,
              "buffer x has 20 there");
    must_fail(qn_graph_op(graph, "add", "vadd", qn_range_1d(101),
                          (qn_arg[]){ qn_arg_buf(x), qn_arg_buf(x), qn_arg_buf(x) }, 3, &failure),
              QN_ERR_USAGE, "needs elements 0 to 100 of argument 0 (x), and buffer x has 100");
    must_fail(qn_graph_stage(graph, "s", qn_kernels_find(module, "long_one"), qn_range_1d(51), half,
                             &failure),
              QN_ERR_USAGE, "buffer x has 50 there");
    /* Correct, empty, or unknown ranges. */
    must(add_shift(graph, module, 0, few, few, qn_range_1d(60)));
    must(add_shift(graph, module, 0, few, few, (qn_range){ 5, 5, 0, 1, 0, 1 }));
    must(add_shift(graph, module, 0, few, x, qn_range_1d(100)));
    must(qn_graph_stage(graph, "s", qn_kernels_find(module, "long_one"), qn_range_1d(50), half,
                        &failure));
    qn_graph_free(graph);
    qn_kernels_free(module);
    qn_buf_free(view);
    qn_buf_free(x);
    qn_buf_free(few);
    qn_ctx_close(ctx);
}

/* The sizes of some ops are values. */
static void an_op_whose_values_exceed_its_buffers_is_refused(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    qn_buf *a = array_of(ctx, "a", 12), *b = array_of(ctx, "b", 8), *c = array_of(ctx, "c", 6);
    matmul_par par = { .rows = 3, .cols = 2, .depth = 4 };
    qn_graph *graph;

    (void)state;
    must(qn_graph_new(ctx, "g", &graph, &failure));
    must(stage_matmul(graph, "m", qn_range_2d(1, 1), par, a, b, c, &failure));
    par.rows = 4;
    must_fail(qn_graph_set(graph, 0, 0, &par, &failure), QN_ERR_USAGE,
              "needs elements 0 to 15 of argument 1 (a), and buffer a has 12");
    par.rows = 3;
    par.depth = 5;
    must_fail(stage_matmul(graph, "m", qn_range_2d(1, 1), par, a, b, c, &failure), QN_ERR_USAGE,
              "needs elements 0 to 14 of argument 1 (a), and buffer a has 12");
    par.depth = 3;
    must(qn_graph_set(graph, 0, 0, &par, &failure));
    must(qn_graph_run(graph, &failure));
    qn_graph_free(graph);
    qn_buf_free(a);
    qn_buf_free(b);
    qn_buf_free(c);
    qn_ctx_close(ctx);
}

/* Runs the shift over `n` points with every access checked. */
static qn_status checked(int32_t by, int n, float *last)
{
    qn_ctx *ctx;
    qn_buf *x, *y;
    qn_kernel_module *module;
    qn_graph *graph;
    qn_err why;
    qn_status st;

    setenv("QUERN_CHECK_RANGES", "1", 1);
    ctx = open_with(QN_OPTIONS(.backend = "sim", .log = "error"));
    unsetenv("QUERN_CHECK_RANGES");
    assert_int_equal(qn_device_count(ctx), 1);
    x = ramp(ctx, "x", 1000, 0, 1);
    y = ramp(ctx, "y", 1000, -1, 0);
    must(qn_kernels_new("k", text, &module, &failure));
    must(qn_graph_new(ctx, "g", &graph, &failure));
    must(add_shift(graph, module, by, x, y, qn_range_1d(n)));
    st = qn_graph_run(graph, &why);
    *last = value_at(y, n - 1);
    failure = why;
    qn_graph_free(graph);
    qn_kernels_free(module);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_ctx_close(ctx);
    return st;
}

static void every_access_is_checked_on_request(void **state)
{
    float last;

    (void)state;
    must(checked(0, 1000, &last));
    assert_true(last == 999);
    must(checked(5, 995, &last));
    assert_true(last == 999);
    must_fail(checked(1, 1000, &last), QN_ERR_USAGE,
              "kernel shift touches byte 4000 of argument 1 (x), which has 4000");
    assert_true(last == -1); /* nothing was written */
    must_fail(checked(-1, 1000, &last), QN_ERR_USAGE,
              "kernel shift touches byte -4 of argument 1 (x), which has 4000");
    must_fail(checked(30000000, 1000, &last), QN_ERR_USAGE, "touches byte 120000000 of argument 1");
}

/* Forks. */

/* The return value of `body` in a child. */
static int in_child(int (*body)(qn_ctx *ctx, qn_buf *x, qn_graph *graph), qn_ctx *ctx, qn_buf *x,
                    qn_graph *graph)
{
    const pid_t child = fork();
    int status = -1;

    if (!child) {
        alarm(60);
        _exit(body(ctx, x, graph));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static int is_refused(qn_status st)
{
    return st == QN_ERR_USAGE && strstr(failure.text, "devices do not survive a fork: open the "
                                                      "context in the child") != NULL;
}

static int ask_everything(qn_ctx *ctx, qn_buf *x, qn_graph *graph)
{
    qn_graph *other;
    qn_buf *buf;
    float value;
    int is_good = is_refused(qn_ctx_sync(ctx, &failure)) &&
                  is_refused(qn_buf_new(ctx, "new", 8, &buf, &failure)) &&
                  is_refused(qn_buf_read(x, 0, &value, sizeof value, &failure)) &&
                  is_refused(qn_graph_new(ctx, "new", &other, &failure)) &&
                  is_refused(qn_graph_run(graph, &failure)) &&
                  is_refused(qn_graph_wait(graph, &failure));

    qn_graph_free(graph);
    qn_buf_free(x);
    qn_ctx_close(ctx);
    return is_good && qn_ctx_open(&QN_OPTIONS(.backend = "sim"), &ctx, &failure) == QN_OK ? 0 : 1;
}

static int compute(qn_ctx *ctx, qn_buf *x, qn_graph *graph)
{
    (void)ctx;
    return qn_graph_run(graph, &failure) != QN_OK || value_at(x, 7) != 21;
}

static int open_again(qn_ctx *ctx, qn_buf *x, qn_graph *graph)
{
    const qn_status st = qn_ctx_open(&QN_OPTIONS(.backend = "opencl"), &ctx, &failure);

    (void)x;
    (void)graph;
    return st != QN_ERR_INIT || !strstr(failure.text, "a driver does not survive a fork");
}

static void forked(const char *backend, int (*body)(qn_ctx *ctx, qn_buf *x, qn_graph *graph))
{
    qn_ctx *ctx = open_if_present(backend);
    qn_graph *graph;
    qn_buf *x, *more;

    if (!ctx)
        return;
    x = ramp(ctx, "x", 8, 0, 1);
    more = ramp(ctx, "more", 8, 0, 1);
    must(qn_graph_new(ctx, "g", &graph, &failure));
    must(stage_saxpy(graph, "s", qn_range_1d(8), 1, more, x, &failure));
    must(qn_graph_run(graph, &failure));
    must(qn_graph_wait(graph, &failure));
    assert_int_equal(in_child(body, ctx, x, graph), 0);
    assert_true(value_at(x, 7) == 14); /* the parent still works */
    qn_graph_free(graph);
    qn_buf_free(more);
    qn_buf_free(x);
    qn_ctx_close(ctx);
}

static void a_child_is_told_that_devices_do_not_survive_a_fork(void **state)
{
    (void)state;
    forked("sim", ask_everything);
    forked("opencl", ask_everything);
}

static void a_child_does_not_open_a_driver_that_its_parent_uses(void **state)
{
    (void)state;
    forked("opencl", open_again);
}

static void a_child_goes_on_with_a_context_on_the_cpu(void **state)
{
    (void)state;
    forked("cpu", compute);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_null_is_refused_by_calls_that_can_fail),
        cmocka_unit_test(a_number_that_is_no_device_or_stage_is_refused),
        cmocka_unit_test(a_range_beyond_a_buffer_is_refused_where_that_is_known),
        cmocka_unit_test(an_op_whose_values_exceed_its_buffers_is_refused),
        cmocka_unit_test(every_access_is_checked_on_request),
        cmocka_unit_test(a_child_is_told_that_devices_do_not_survive_a_fork),
        cmocka_unit_test(a_child_does_not_open_a_driver_that_its_parent_uses),
        cmocka_unit_test(a_child_goes_on_with_a_context_on_the_cpu),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

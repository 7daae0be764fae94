/* test_fallback.c - a device that fails costs time but never changes results, and is always
 * reported. */
#include "engine_counters.h"

#include "engine/device/context.h"

#include <quern/fallback.h>

enum { N = 5000 };

/* sum = x + y, then y = 2 x + y, then t = 3 x + 1 through a temporary; all of it twice over. */
typedef struct {
    qn_ctx *ctx;
    qn_buf *x, *y, *sum, *temp, *out;
    qn_graph *graph;
} work;

static work open_work(qn_options options)
{
    work w = { .ctx = open_with(options) };

    w.x = ramp(w.ctx, "x", N, 0, 1);
    w.y = ramp(w.ctx, "y", N, 1, 0);
    w.sum = array_of(w.ctx, "sum", N);
    w.out = array_of(w.ctx, "out", N);
    must(qn_graph_new(w.ctx, "work", &w.graph, &failure));
    must(qn_graph_temp(w.graph, "temp", N * sizeof(float), &w.temp, &failure));
    must(stage_vadd(w.graph, "add", qn_range_1d(N), w.x, w.y, w.sum, &failure));
    must(stage_saxpy(w.graph, "inout", qn_range_1d(N), 2.0f, w.x, w.y, &failure));
    must(stage_map_mul(w.graph, "mul", qn_range_1d(N), 3.0f, w.x, w.temp, &failure));
    must(stage_map_add(w.graph, "more", qn_range_1d(N), 1.0f, w.temp, w.out, &failure));
    must(qn_graph_output(w.graph, w.sum, &failure));
    must(qn_graph_output(w.graph, w.y, &failure));
    must(qn_graph_output(w.graph, w.out, &failure));
    return w;
}

static void close_work(work *w)
{
    qn_graph_free(w->graph);
    qn_buf_free(w->x);
    qn_buf_free(w->y);
    qn_buf_free(w->sum);
    qn_buf_free(w->out);
    assert_nothing_is_held(w->ctx);
    qn_ctx_close(w->ctx);
}

/* After `runs` runs; sum was computed before the last run changed y. */
static void check_results(const work *w, int runs)
{
    static float sum[N], y[N], out[N];

    must(qn_buf_read(w->sum, 0, sum, sizeof sum, &failure));
    must(qn_buf_read(w->y, 0, y, sizeof y, &failure));
    must(qn_buf_read(w->out, 0, out, sizeof out, &failure));
    for (int i = 0; i < N; i++) {
        const float x = (float)i;

        if (sum[i] != x + 1 + 2 * x * (float)(runs - 1) || y[i] != 1 + 2 * x * (float)runs ||
            out[i] != 3 * x + 1)
            fail_msg("run %d, element %d: %g %g %g", runs, i, sum[i], y[i], out[i]);
    }
}

static const struct {
    const char *rule;  /* active in the first run */
    const char *stage; /* that falls back */
    const char *reason;
    const char *line; /* pattern of the first printed line */
    double verify_pct;
    int again; /* number of lines of the second run */
} classes[] = {
    { "compile:inout*1", "inout", "injected",
      "^\\[GPU\\] inout failed: injected compile fault \\(kernel saxpy\\)\\. CPU fallback\\.", 0,
      0 },
    { "alloc:add", "add", "oom",
      "^\\[GPU\\] add failed: buffer x: out of memory \\(injected, need 20000 bytes\\)\\. CPU", 0,
      1 },
    { "launch:add*1", "add", "injected",
      "^\\[GPU\\] add failed: injected launch fault\\. CPU fallback\\.", 0, 0 },
    { "launch:inout*1", "inout", "injected", "^\\[GPU\\] inout failed: injected launch fault\\.", 0,
      0 },
    { "launch:more*1", "more", "injected", "^\\[GPU\\] more failed: injected launch fault\\.", 0,
      0 },
    { "copy_h2d:add*1", "add", "injected",
      "^\\[GPU\\] add failed: upload of x: injected copy_h2d fault \\(20000 bytes\\)\\. CPU", 0,
      0 },
    { "copy_h2d:add*1,copy_h2d:inout*1", "inout", "injected",
      "^\\[GPU\\] add failed: upload of x: injected", 0, 0 },
    { "copy_d2h:inout*1", "inout", "injected",
      "^\\[GPU\\] inout failed: download of y: injected copy_d2h fault \\(20000 bytes\\)\\. CPU", 0,
      0 },
    { "copy_d2h:add*1", "add", "injected", "^\\[GPU\\] add failed: download of sum: injected", 0,
      0 },
    { "timeout:more*1", "more", "timeout", "^\\[GPU\\] more failed: timeout \\(injected\\)\\. CPU",
      0, 0 },
    { "timeout:inout*1", "inout", "timeout", "^\\[GPU\\] inout failed: timeout", 0, 0 },
    { "device_lost:more*1", "more", "device_lost",
      "^\\[GPU\\] more failed: device [a-z]+:0 lost \\(injected\\)\\. CPU fallback\\.", 0, 4 },
    { "corrupt:inout*1", "inout", "mismatch",
      "^\\[GPU\\] inout failed: 1 of 5000 values of y differ from the CPU, worst by [0-9.e+-]+\\. "
      "CPU",
      100, 0 },
};

static qn_status run_and_wait(const work *w, qn_err *err)
{
    const qn_status st = qn_graph_run(w->graph, err);

    return st == QN_OK ? qn_graph_wait(w->graph, err) : st;
}

static void run_class(const char *backend, size_t i)
{
    char text[4096];
    work w = open_work(QN_OPTIONS(.backend = backend, .fault = classes[i].rule,
                                  .verify_pct = classes[i].verify_pct));
    qn_status st;

    CAPTURE_STDERR(text, sizeof text, st = run_and_wait(&w, &failure));
    if (st != QN_OK)
        fail_msg("%s: %s", classes[i].rule, failure.text);
    if (fallback_lines(text) != (strchr(classes[i].rule, ',') ? 2 : 1) ||
        !matches(text, classes[i].line))
        fail_msg("%s: %s", classes[i].rule, text);
    assert_true(fallbacks(w.ctx, classes[i].stage, classes[i].reason) == 1);
    assert_true(count_of(w.ctx, "gpu_fallback_count") == fallback_lines(text));
    assert_true(count_of(w.ctx, "gpu_total_failures") == fallback_lines(text));
    check_results(&w, 1);

    /* Runs again, with whatever state the fault left. */
    CAPTURE_STDERR(text, sizeof text, st = run_and_wait(&w, &failure));
    if (st != QN_OK || fallback_lines(text) != classes[i].again)
        fail_msg("%s again: %s %s", classes[i].rule, failure.text, text);
    check_results(&w, 2);
    close_work(&w);
}

static void every_class_of_fault_is_survived_on_sim(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        run_class("sim", i);
}

static void every_class_of_fault_is_survived_on_opencl(void **state)
{
    (void)state;
    if (!has_backend("opencl"))
        skip();
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        run_class("opencl", i);
}

static void forbidden_fallback_ends_the_run(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        char text[4096], want[64];
        work w = open_work(QN_OPTIONS(.backend = "sim", .fault = classes[i].rule,
                                      .verify_pct = classes[i].verify_pct,
                                      .fallback = QN_FALLBACK_ERROR));
        qn_status st;

        CAPTURE_STDERR(text, sizeof text, st = run_and_wait(&w, &failure));
        assert_int_equal(st, QN_ERR_FALLBACK);
        assert_string_equal(text, "");
        snprintf(want, sizeof want, "^stage %s failed \\(.+\\) and fallback is forbidden$",
                 strchr(classes[i].rule, ',') ? "add" : classes[i].stage);
        assert_true(matches(failure.text, want));
        assert_null(strstr(strstr(failure.text, "forbidden") + 1, "forbidden"));
        assert_true(count_of(w.ctx, "gpu_fallback_count") == 0);
        close_work(&w);
    }
}

static void environment_forbids_fallback(void **state)
{
    qn_ctx *ctx = NULL;
    qn_err err;
    work w;

    (void)state;
    setenv("QUERN_FALLBACK", "error", 1);
    w = open_work(QN_OPTIONS(.backend = "sim", .fault = "launch"));
    assert_int_equal(qn_graph_run(w.graph, &err), QN_ERR_FALLBACK);
    close_work(&w);
    setenv("QUERN_FALLBACK", "maybe", 1);
    assert_int_equal(qn_ctx_open(NULL, &ctx, &err), QN_ERR_USAGE);
    assert_string_equal(err.text, "QUERN_FALLBACK: 'maybe' is not one of cpu|error");
    unsetenv("QUERN_FALLBACK");
}

/* Refused by the OpenCL compiler, accepted by the C compiler. */
static void kernel_that_only_the_cpu_can_compile_runs_there(void **state)
{
    static const char text[] = "static int twice(int v) { return 2 * v; }\n"
                               "MAP(call, IN(i32, x), OUT(i32, y))\n"
                               "{\n    int (*f)(int) = twice;\n    y[gx] = f(x[gx]);\n}\n";
    qn_ctx *ctx;
    qn_kernel_module *module;
    qn_buf *x, *y;
    qn_graph *g;
    char lines[4096];
    void *data;
    int result[3];

    (void)state;
    if (!has_backend("opencl"))
        skip();
    ctx = open_with(QN_OPTIONS(.backend = "opencl"));
    must(qn_buf_new(ctx, "x", sizeof result, &x, &failure));
    must(qn_buf_new(ctx, "y", sizeof result, &y, &failure));
    must(qn_buf_host(x, QN_HOST_DISCARD, &data, &failure));
    for (int i = 0; i < 3; i++)
        ((int *)data)[i] = i;
    must(qn_kernels_new("pointers", text, &module, &failure));
    must(qn_graph_new(ctx, "g", &g, &failure));
    must(qn_graph_stage(g, "call", qn_kernels_find(module, "call"), qn_range_1d(3),
                        (const qn_arg[]){ qn_arg_buf(x), qn_arg_buf(y) }, &failure));
    CAPTURE_STDERR(lines, sizeof lines, must(qn_graph_run(g, &failure)));
    /* The driver may use other words. */
    assert_true(
        matches(lines, "\\[GPU\\] call failed: module pointers: .+[^.]\\. CPU fallback\\.\n"));
    assert_true(fallbacks(ctx, "call", "compile") == 1);
    must(qn_buf_read(y, 0, result, sizeof result, &failure));
    assert_int_equal(result[2], 4);
    qn_graph_free(g);
    qn_kernels_free(module);
    qn_buf_free(x);
    qn_buf_free(y);
    qn_ctx_close(ctx);
}

/* The line. */

static void note(qn_ctx *ctx, const char *stage, qn_status status, const char *text)
{
    qn_err err;

    qn_fail(&err, status, "%s", text);
    assert_int_equal(qn_fallback_note(ctx, stage, &err), QN_OK);
    assert_int_equal(err.status, QN_OK);
}

static void first_ten_are_printed_then_powers_of_ten(void **state)
{
    qn_ctx *ctx = open_sim(NULL);
    char text[8192], *at = text;
    qn_fallback first;

    (void)state;
    CAPTURE_STDERR(text, sizeof text, {
        for (int i = 0; i < 1234; i++)
            note(ctx, "s", i % 2 ? QN_ERR_NOMEM : QN_ERR_LAUNCH, "no");
        note(ctx, "other", QN_ERR_LAUNCH, "no");
    });
    assert_int_equal(fallback_lines(text), 13);
    for (int i = 0; i < 10; i++) {
        assert_memory_equal(at, "[GPU] s failed: no. CPU fallback.\n", 34);
        at += 34;
    }
    assert_string_equal(at, "[GPU] s failed: no (x100). CPU fallback.\n"
                            "[GPU] s failed: no (x1000). CPU fallback.\n"
                            "[GPU] other failed: no. CPU fallback.\n");
    assert_true(fallbacks(ctx, "s", "oom") == 617 && fallbacks(ctx, "s", "launch") == 617);
    assert_int_equal(qn_ctx_fallback_count(ctx), 3);
    qn_ctx_fallback_get(ctx, 0, &first);
    assert_int_equal(first.count, 617);
    qn_ctx_close(ctx);
}

static void line_keeps_its_form_whatever_the_sentence_is(void **state)
{
    static const struct {
        const char *text, *line;
    } table[] = {
        { "done. ", "[GPU] s failed: done. CPU fallback.\n" },
        { "what...", "[GPU] s failed: what. CPU fallback.\n" },
        { "two\nlines\r\n", "[GPU] s failed: two lines. CPU fallback.\n" },
        { "", "[GPU] s failed: busy. CPU fallback.\n" },
        { "1.50 GiB of 1.00 GiB", "[GPU] s failed: 1.50 GiB of 1.00 GiB. CPU fallback.\n" },
    };
    qn_ctx *ctx = open_sim(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[600];

        CAPTURE_STDERR(text, sizeof text, note(ctx, "s", QN_ERR_BUSY, table[i].text));
        assert_string_equal(text, table[i].line);
        assert_int_equal(fallback_lines(text), 1);
    }
    qn_ctx_close(ctx);
}

static void every_status_has_its_class(void **state)
{
    static const struct {
        qn_status status;
        const char *reason;
    } table[] = {
        { QN_ERR_INIT, "init" },
        { QN_ERR_COMPILE, "compile" },
        { QN_ERR_LAUNCH, "launch" },
        { QN_ERR_NOMEM, "oom" },
        { QN_ERR_LIMIT, "limit" },
        { QN_ERR_TIMEOUT, "timeout" },
        { QN_ERR_DEVICE_LOST, "device_lost" },
        { QN_ERR_MISMATCH, "mismatch" },
        { QN_ERR_INJECTED, "injected" },
        { QN_ERR_UNSUPPORTED, "unsupported" },
        { QN_ERR_BUSY, "launch" },
        { QN_ERR_FAILED, "launch" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_string_equal(qn_fallback_reason(table[i].status), table[i].reason);
}

static void lines_are_printed_at_every_level_but_none(void **state)
{
    static const char *const levels[] = { "none", "error", "warn", "info", "debug" };

    (void)state;
    for (int i = 0; i < 5; i++) {
        char text[4096];
        work w = open_work(QN_OPTIONS(.backend = "sim", .log = levels[i], .fault = "launch:add*1"));

        CAPTURE_STDERR(text, sizeof text, must(qn_graph_run(w.graph, &failure)));
        if (i == 0)
            assert_string_equal(text, "");
        else
            assert_non_null(
                strstr(text, "[GPU] add failed: injected launch fault. CPU fallback.\n"));
        assert_true(fallbacks(w.ctx, "add", "injected") == 1);
        check_results(&w, 1);
        close_work(&w);
    }
}

static void choosing_the_cpu_is_no_fallback(void **state)
{
    static const qn_options options[] = {
        { .size = sizeof(qn_options), .backend = "cpu", .fault = "launch,alloc,timeout" },
        { .size = sizeof(qn_options), .backend = "sim", .route = "cpu" }
    };

    (void)state;
    for (int i = 0; i < 2; i++) {
        char text[4096];
        work w = open_work(options[i]);

        for (int s = 0; s < 4; s++)
            must(qn_graph_pin(w.graph, s, "cpu", &failure));
        CAPTURE_STDERR(text, sizeof text, must(qn_graph_run(w.graph, &failure)));
        assert_string_equal(text, "");
        assert_true(count_of(w.ctx, "gpu_fallback_count") == 0);
        check_results(&w, 1);
        close_work(&w);
    }
}

/* Init. */

static void absent_backend_falls_back_at_init(void **state)
{
    static const struct {
        const char *backend, *line;
    } table[] = {
        { "cuda", "[GPU] init failed: cuda: hidden by QUERN_HIDE. CPU fallback.\n" },
        { "opencl:1", "[GPU] init failed: opencl:1: hidden by QUERN_HIDE. CPU fallback.\n" },
        { "sim:7", "[GPU] init failed: no device sim:7 (sim has 1). CPU fallback.\n" },
    };

    (void)state;
    setenv("QUERN_HIDE", "cuda,opencl", 1);
    for (int i = 0; i < 3; i++) {
        qn_ctx *ctx = NULL;
        char text[1000];
        qn_err err;
        work w;

        CAPTURE_STDERR(text, sizeof text, w = open_work(QN_OPTIONS(.backend = table[i].backend)));
        assert_string_equal(text, table[i].line);
        assert_int_equal(fallback_lines(text), 1);
        assert_true(fallbacks(w.ctx, "init", "init") == 1);
        must(qn_graph_run(w.graph, &err));
        check_results(&w, 1);
        close_work(&w);

        CAPTURE_STDERR(text, sizeof text,
                       assert_int_equal(qn_ctx_open(&QN_OPTIONS(.backend = table[i].backend,
                                                                .fallback = QN_FALLBACK_ERROR),
                                                    &ctx, &err),
                                        QN_ERR_FALLBACK));
        assert_string_equal(text, "");
        assert_null(ctx);
        assert_true(matches(err.text, "^stage init failed \\(.+\\) and fallback is forbidden$"));
    }
    unsetenv("QUERN_HIDE");
}

/* A new graph of one stage, run once, and the output it printed. */
static qn_graph *lone_graph(work *w, qn_status wanted, char *text, size_t size)
{
    qn_graph *graph = NULL;

    must(qn_graph_new(w->ctx, "lone", &graph, &failure));
    must(stage_vadd(graph, "lone", qn_range_1d(N), w->x, w->y, w->sum, &failure));
    CAPTURE_STDERR(text, size, assert_int_equal(qn_graph_run(graph, &failure), wanted));
    assert_string_equal(text, "");
    return graph;
}

static void who_repeats_work_is_told_of_failures_and_then_placed_on_the_cpu(void **state)
{
    work w = open_work(QN_OPTIONS(.backend = "sim", .fault = "launch:lone"));
    const int sim = qn_ctx_pinned(w.ctx);
    const qn_placing had = qn_ctx_set_placing(w.ctx, (qn_placing){ sim, QN_FALLBACK_ERROR });
    char text[512];
    qn_graph *graph;

    (void)state;
    graph = lone_graph(&w, QN_ERR_INJECTED, text, sizeof text);
    assert_string_equal(failure.text, "stage lone: injected launch fault");
    qn_graph_free(graph);
    qn_ctx_set_placing(w.ctx, (qn_placing){ QN_CPU_SLOT, QN_FALLBACK_CPU });
    graph = lone_graph(&w, QN_OK, text, sizeof text);
    assert_string_equal(qn_graph_stage_device(graph, 0), "cpu:0");
    qn_graph_free(graph);
    qn_ctx_set_placing(w.ctx, had);
    assert_int_equal(qn_ctx_pinned(w.ctx), sim);
    assert_int_equal(qn_ctx_fallback_count(w.ctx), 0);
    close_work(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_repeats_work_is_told_of_failures_and_then_placed_on_the_cpu),
        cmocka_unit_test(every_class_of_fault_is_survived_on_sim),
        cmocka_unit_test(every_class_of_fault_is_survived_on_opencl),
        cmocka_unit_test(forbidden_fallback_ends_the_run),
        cmocka_unit_test(environment_forbids_fallback),
        cmocka_unit_test(kernel_that_only_the_cpu_can_compile_runs_there),
        cmocka_unit_test(first_ten_are_printed_then_powers_of_ten),
        cmocka_unit_test(line_keeps_its_form_whatever_the_sentence_is),
        cmocka_unit_test(every_status_has_its_class),
        cmocka_unit_test(lines_are_printed_at_every_level_but_none),
        cmocka_unit_test(choosing_the_cpu_is_no_fallback),
        cmocka_unit_test(absent_backend_falls_back_at_init),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

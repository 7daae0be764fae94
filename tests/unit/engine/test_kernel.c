/* test_kernel.c - compiling: once per machine, cached on disk, reported when it fails.
 *
 * A second process is a context in a child: it shares only the folder with the first.
 */
/* test: cost 3 */
#include "engine_fixture.h"

#include "child.h"

#include "engine/device/context.h"
#include "engine/device/kcache.h"
#include "util/file.h"
#include "util/temp_dir.h"

#include <sys/stat.h>

enum { N = 1000 };

static const char good[] = "MAP(triple, IN(float, x), OUT(float, y))\n"
                           "{\n"
                           "    y[gx] = 3.0f * x[gx];\n"
                           "}\n";
static const char broken[] = "MAP(odd, IN(float, x), OUT(float, y))\n"
                             "{\n"
                             "    y[gx] = x[gx] + nothing_here;\n"
                             "}\n";

static qn_temp_dir root;

static int make_root(void **state)
{
    qn_err err;

    (void)state;
    unsetenv("QUERN_DUMP");
    unsetenv("QUERN_CACHE");
    return qn_temp_dir_make(&root, &err) == QN_OK ? 0 : -1;
}

static int remove_root(void **state)
{
    (void)state;
    qn_temp_dir_remove(&root);
    return 0;
}

static void path_in_root(const char *name, char *out, size_t size)
{
    snprintf(out, size, "%s/%s", root.path, name);
}

/* One context's use of the compiler and its caches. */
typedef struct {
    double compiles, hits, disk_hits, misses, bad;
} counts;

static counts count(qn_ctx *ctx)
{
    const qn_metrics *m = qn_ctx_metrics(ctx);

    return (counts){ .compiles = qn_metric_value(m, "kernel_compiles", NULL),
                     .hits = qn_metric_value(m, "kernel_cache_hits", NULL),
                     .disk_hits = qn_metric_value(m, "kernel_cache_disk_hits", NULL),
                     .misses = qn_metric_value(m, "kernel_cache_misses", NULL),
                     .bad = qn_metric_value(m, "kernel_cache_bad", NULL) };
}

static qn_ctx *open_at(const char *backend, const char *cache_dir)
{
    return open_with(QN_OPTIONS(.backend = backend, .cache_dir = cache_dir, .threads = 1));
}

/* Runs the kernel `name` of the text twice; returns the status of the first run that fails. */
static qn_status run_text(qn_ctx *ctx, const char *module_name, const char *text, const char *name,
                          float *out, qn_err *err)
{
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *y = array_of(ctx, "y", N);
    const qn_arg args[] = { qn_arg_buf(x), qn_arg_buf(y) };
    qn_kernel_module *module;
    qn_status st = QN_OK;
    qn_graph *g;

    must(qn_kernels_new(module_name, text, &module, err));
    must(qn_graph_new(ctx, "g", &g, err));
    must(qn_graph_stage(g, "made", qn_kernels_find(module, name), qn_range_1d(N), args, err));
    for (int run = 0; run < 2 && st == QN_OK; run++)
        if ((st = qn_graph_run(g, err)) == QN_OK)
            st = qn_graph_wait(g, err);
    if (st == QN_OK && out)
        *out = value_at(y, N - 1);
    qn_graph_free(g);
    qn_kernels_free(module);
    qn_buf_free(x);
    qn_buf_free(y);
    return st;
}

/* Two stages from one built-in file. */
static void run_builtin(qn_ctx *ctx)
{
    qn_buf *x = ramp(ctx, "x", N, 0, 1), *y = ramp(ctx, "y", N, 1, 0);
    qn_graph *g;

    must(qn_graph_new(ctx, "g", &g, &failure));
    must(stage_saxpy(g, "a", qn_range_1d(N), 2.0f, x, y, &failure));
    must(stage_saxpy(g, "b", qn_range_1d(N), 1.0f, x, y, &failure));
    must(qn_graph_run(g, &failure));
    assert_true(value_at(y, 7) == 22);
    qn_graph_free(g);
    qn_buf_free(x);
    qn_buf_free(y);
}

/* Text and built-in kernels in a new context. */
static counts run_both(const char *backend, const char *cache_dir)
{
    qn_ctx *ctx = open_at(backend, cache_dir);
    float last = 0;
    counts c;

    must(run_text(ctx, "made", good, "triple", &last, &failure));
    assert_true(last == 3.0f * (N - 1));
    run_builtin(ctx);
    c = count(ctx);
    qn_ctx_close(ctx);
    return c;
}

/* The same in a second process: drivers hold nothing there that only this process knows. */
static counts run_in_child(const char *backend, const char *cache_dir)
{
    counts c;

    ask_child("test_kernel", backend, cache_dir, &c, sizeof c);
    return c;
}

static int be_child(char **args)
{
    const counts c = run_both(args[1], args[2]);

    return write(atoi(args[0]), &c, sizeof c) == sizeof c ? 0 : 1;
}

/* The second process compiles nothing. */

static void check_second_process(const char *backend, int n_modules)
{
    char dir[1100];
    counts first, second;

    path_in_root(backend, dir, sizeof dir);
    first = run_in_child(backend, dir);
    assert_true(first.compiles == n_modules);
    assert_true(first.misses == n_modules);
    assert_true(first.disk_hits == 0 && first.bad == 0);
    second = run_in_child(backend, dir);
    assert_true(second.compiles == 0);
    assert_true(second.misses == 0 && second.bad == 0);
    assert_true(second.disk_hits == n_modules);
}

static void a_second_process_compiles_no_text_on_the_cpu(void **state)
{
    (void)state;
    check_second_process("cpu", 1); /* built-in kernels are in the binary */
    check_second_process("sim", 1);
}

static void a_second_process_compiles_nothing_on_opencl(void **state)
{
    (void)state;
    if (!has_backend("opencl"))
        skip();
    check_second_process("opencl", 2);
}

static void within_a_context_a_module_is_compiled_once(void **state)
{
    char dir[1100];
    qn_ctx *ctx;
    counts c;

    (void)state;
    path_in_root("once", dir, sizeof dir);
    ctx = open_at("cpu", dir);
    must(run_text(ctx, "made", good, "triple", NULL, &failure));
    must(run_text(ctx, "made", good, "triple", NULL, &failure)); /* other module, same text */
    c = count(ctx);
    assert_true(c.compiles == 1 && c.disk_hits == 0 && c.hits >= 1);
    qn_ctx_close(ctx);
}

static void another_text_is_another_key(void **state)
{
    char dir[1100], text[sizeof good];
    qn_ctx *ctx;
    float last = 0;

    (void)state;
    path_in_root("keys", dir, sizeof dir);
    ctx = open_at("cpu", dir);
    must(run_text(ctx, "made", good, "triple", NULL, &failure));
    strcpy(text, good);
    *strchr(text, '3') = '5';
    must(run_text(ctx, "made", text, "triple", &last, &failure));
    assert_true(last == 5.0f * (N - 1));
    assert_true(count(ctx).compiles == 2);
    qn_ctx_close(ctx);
}

/* The text with another factor. */
static const char *times(char digit)
{
    static char text[sizeof good];

    strcpy(text, good);
    *strchr(text, '3') = digit;
    return text;
}

static void modules_that_nobody_holds_go_oldest_first(void **state)
{
    qn_ctx *ctx = open_at("sim", root.path);
    qn_device *device = &ctx->devices[1];
    double disk_hits;

    (void)state;
    assert_int_equal(device->modules_kept, 512);
    device->modules_kept = 2;
    for (char digit = '4'; digit <= '6'; digit++)
        must(run_text(ctx, "made", times(digit), "triple", NULL, &failure));
    assert_int_equal(device->modules.count, 2);
    disk_hits = count(ctx).disk_hits;
    must(run_text(ctx, "made", times('5'), "triple", NULL,
                  &failure)); /* still there, now the most recent */
    assert_true(count(ctx).disk_hits == disk_hits);
    must(run_text(ctx, "made", times('4'), "triple", NULL, &failure));
    assert_true(count(ctx).disk_hits == disk_hits + 1);
    must(run_text(ctx, "made", times('5'), "triple", NULL, &failure)); /* 6 had to go for 4 */
    assert_true(count(ctx).disk_hits == disk_hits + 1);
    assert_int_equal(device->modules.count, 2);
    qn_ctx_close(ctx);
}

static void a_module_stays_as_long_as_a_graph_holds_it(void **state)
{
    static const char *const backends[] = { "cpu", "sim" };

    (void)state;
    for (int i = 0; i < 2; i++) {
        qn_ctx *ctx = open_at(backends[i], root.path);
        qn_buf *x = ramp(ctx, "x", N, 0, 1), *y = array_of(ctx, "y", N);
        const qn_arg args[] = { qn_arg_buf(x), qn_arg_buf(y) };
        qn_device *device = &ctx->devices[i];
        qn_kernel_module *module;
        qn_graph *g;

        device->modules_kept = 1;
        must(qn_kernels_new("held", good, &module, &failure));
        must(qn_graph_new(ctx, "g", &g, &failure));
        for (int s = 0; s < 2; s++) /* both stages hold it */
            must(qn_graph_stage(g, "held", qn_kernels_find(module, "triple"), qn_range_1d(N), args,
                                &failure));
        must(qn_graph_run(g, &failure));
        must(run_text(ctx, "made", times('4'), "triple", NULL, &failure));
        must(run_text(ctx, "made", times('5'), "triple", NULL, &failure));
        assert_int_equal(device->modules.count, 2); /* the held one, and the one just used */
        for (int run = 0; run < 2; run++)
            must(qn_graph_run(g, &failure));
        assert_true(value_at(y, 7) == 21);
        qn_graph_free(g);
        qn_kernels_free(module);
        must(run_text(ctx, "made", times('6'), "triple", NULL, &failure));
        assert_int_equal(device->modules.count, 1);
        run_builtin(ctx); /* built-in files are not among those that are dropped */
        must(run_text(ctx, "made", times('4'), "triple", NULL, &failure));
        run_builtin(ctx);
        qn_buf_free(x);
        qn_buf_free(y);
        qn_ctx_close(ctx);
    }
}

/* The folder. */

static void a_damaged_entry_is_compiled_again_and_replaced(void **state)
{
    char dir[1100], path[1300];
    qn_kcache_entry *list;
    qn_err err;
    counts c;
    int n;

    (void)state;
    path_in_root("damaged", dir, sizeof dir);
    run_both("cpu", dir);
    assert_int_equal(qn_kcache_list(dir, &list, &n, &err), QN_OK);
    assert_int_equal(n, 1);
    assert_int_equal(list[0].kind, QN_BIN_OBJECT);
    snprintf(path, sizeof path, "%s/%s.qnk", dir, list[0].key);
    assert_int_equal(truncate(path, (off_t)list[0].bytes - 1), 0);
    free(list);
    c = run_both("cpu", dir);
    assert_true(c.bad == 1 && c.misses == 1 && c.compiles == 1 && c.disk_hits == 0);
    c = run_both("cpu", dir);
    assert_true(c.bad == 0 && c.compiles == 0 && c.disk_hits == 1);
}

/* Sound as a file, but not an object that can be loaded. */
static void an_entry_that_the_device_refuses_is_compiled_again(void **state)
{
    const qn_blob junk = { (void *)(uintptr_t) "junk", 4, QN_BIN_OBJECT };
    char dir[1100];
    qn_kcache_entry *list;
    qn_kcache *cache;
    qn_err err;
    counts c;
    int n;

    (void)state;
    path_in_root("junk", dir, sizeof dir);
    run_both("cpu", dir);
    assert_int_equal(qn_kcache_list(dir, &list, &n, &err), QN_OK);
    cache = qn_kcache_new(dir);
    assert_int_equal(qn_kcache_store(cache, list[0].key, &junk, &err), QN_OK);
    qn_kcache_free(cache);
    free(list);
    c = run_both("cpu", dir);
    assert_true(c.bad == 1 && c.compiles == 1 && c.disk_hits == 0);
    c = run_both("cpu", dir);
    assert_true(c.compiles == 0 && c.disk_hits == 1);
}

static void a_cache_turned_off_keeps_nothing(void **state)
{
    char dir[1100];
    struct stat info;

    (void)state;
    path_in_root("off", dir, sizeof dir);
    setenv("QUERN_CACHE", "0", 1);
    for (int i = 0; i < 2; i++) {
        const counts c = run_both("cpu", dir);

        assert_true(c.compiles == 1 && c.disk_hits == 0 && c.misses == 1);
    }
    unsetenv("QUERN_CACHE");
    assert_int_equal(stat(dir, &info), -1);
}

static void expect_warning(const char *dir)
{
    char text[2048];
    counts c;

    CAPTURE_STDERR(text, sizeof text, { c = run_both("cpu", dir); });
    assert_true(c.compiles == 1);
    assert_non_null(strstr(text, "warn"));
    assert_non_null(strstr(text, "kernel cache"));
    assert_non_null(strstr(text, dir));
    assert_null(strstr(text, "CPU fallback"));
}

static void an_unusable_folder_is_a_warning_and_no_failure(void **state)
{
    char dir[1100];
    qn_err err;

    (void)state;
    path_in_root("file", dir, sizeof dir); /* a file where the folder should be */
    assert_int_equal(qn_file_write(dir, "x", 1, &err), QN_OK);
    expect_warning(dir);
    path_in_root("open", dir, sizeof dir); /* others may write to it */
    assert_int_equal(mkdir(dir, 0700), 0);
    assert_int_equal(chmod(dir, 0777), 0);
    expect_warning(dir);
}

/* What the compiler sees and reports. */

static void expect_dump(const char *backend, const char *file, const char *word)
{
    char dir[1100], path[1300], *text;
    size_t bytes;
    qn_ctx *ctx;
    qn_err err = { .text = "" };

    path_in_root("dump", dir, sizeof dir);
    setenv("QUERN_DUMP", dir, 1);
    setenv("QUERN_CACHE", "0", 1);
    ctx = open_at(backend, NULL);
    must(run_text(ctx, "made/here", good, "triple", NULL, &err));
    qn_ctx_close(ctx);
    unsetenv("QUERN_DUMP");
    unsetenv("QUERN_CACHE");
    snprintf(path, sizeof path, "%s/%s", dir, file);
    if (qn_file_read(path, &text, &bytes, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_non_null(strstr(text, "y[gx] = 3.0f * x[gx];"));
    assert_non_null(strstr(text, word));
    assert_null(strstr(text, "#include \"")); /* complete: nothing has to be added */
    free(text);
}

static void the_text_as_compiled_can_be_dumped(void **state)
{
    (void)state;
    expect_dump("cpu", "cpu-made_here.c", "qnk_triple_cpu");
    if (has_backend("opencl"))
        expect_dump("opencl", "opencl-made_here.cl", "__kernel");
}

/* A dumped text compiles unchanged. */
static void the_dumped_text_compiles_alone(void **state)
{
    char dir[1100], command[2400];

    (void)state;
    path_in_root("dump", dir, sizeof dir);
    expect_dump("cpu", "cpu-made_here.c", "qnk_triple_cpu");
    snprintf(
        command, sizeof command,
        "cc -std=gnu11 -w -fopenmp-simd -fPIC -shared -o '%s/unit.so' '%s/cpu-made_here.c' -lm",
        dir, dir);
    assert_int_equal(system(command), 0);
}

static void a_compile_error_names_module_line_and_cause(void **state)
{
    qn_ctx *ctx = open_at("cpu", root.path);

    (void)state;
    assert_int_equal(run_text(ctx, "fitted", broken, "odd", NULL, &failure), QN_ERR_COMPILE);
    assert_non_null(strstr(failure.text, "module fitted"));
    assert_non_null(strstr(failure.text, "fitted:3:"));
    assert_non_null(strstr(failure.text, "nothing_here"));
    assert_null(strchr(failure.text, '\n'));
    assert_true(count(ctx).compiles == 0);
    assert_true(qn_metric_value(qn_ctx_metrics(ctx), "gpu_fallback_count", NULL) == 0);
    /* The context still works. */
    must(run_text(ctx, "made", good, "triple", NULL, &failure));
    qn_ctx_close(ctx);
}

/* The text is also broken for the CPU, so the run fails after the fallback; both are reported. */
static void expect_loud_failure(const char *backend)
{
    qn_ctx *ctx = open_at(backend, root.path);
    char text[4096];
    qn_status st;

    CAPTURE_STDERR(text, sizeof text,
                   { st = run_text(ctx, "fitted", broken, "odd", NULL, &failure); });
    assert_int_equal(st, QN_ERR_COMPILE);
    assert_non_null(strstr(text, "[GPU] made failed: "));
    assert_non_null(strstr(text, "module fitted"));
    assert_non_null(strstr(text, ". CPU fallback.\n"));
    assert_true(qn_metric_value(qn_ctx_metrics(ctx), "gpu_fallback_count",
                                QN_LABELS("stage", "made", "reason", "compile")) == 1);
    qn_ctx_close(ctx);
}

static void a_compile_error_of_a_device_is_a_loud_fallback(void **state)
{
    (void)state;
    expect_loud_failure("sim");
    if (has_backend("opencl"))
        expect_loud_failure("opencl");
}

static void a_device_that_cannot_compile_falls_back_and_the_result_is_right(void **state)
{
    qn_ctx *ctx =
        open_with(QN_OPTIONS(.backend = "sim", .cache_dir = root.path, .fault = "compile:made"));
    char text[4096];
    float last = 0;
    qn_status st;

    (void)state;
    CAPTURE_STDERR(text, sizeof text,
                   { st = run_text(ctx, "made", good, "triple", &last, &failure); });
    assert_int_equal(st, QN_OK);
    assert_true(last == 3.0f * (N - 1));
    assert_non_null(strstr(text, "[GPU] made failed: "));
    assert_non_null(strstr(text, "triple"));
    qn_ctx_close(ctx);
}

static void with_fallback_forbidden_a_compile_error_is_an_error(void **state)
{
    qn_ctx *ctx = open_with(
        QN_OPTIONS(.backend = "sim", .cache_dir = root.path, .fallback = QN_FALLBACK_ERROR));

    (void)state;
    assert_int_equal(run_text(ctx, "fitted", broken, "odd", NULL, &failure), QN_ERR_FALLBACK);
    assert_non_null(strstr(failure.text, "fitted"));
    qn_ctx_close(ctx);
}

static void without_a_c_compiler_text_is_unsupported_with_its_name(void **state)
{
    qn_ctx *ctx;

    (void)state;
    setenv("QUERN_CC", "no-such-compiler", 1);
    ctx = open_with(QN_OPTIONS(.backend = "cpu", .cache_dir = root.path));
    assert_int_equal(run_text(ctx, "uncompiled", good, "triple", NULL, &failure),
                     QN_ERR_UNSUPPORTED);
    assert_non_null(strstr(failure.text, "no-such-compiler"));
    qn_ctx_close(ctx);
    unsetenv("QUERN_CC");
}

/* The same text for another size: one number per group, with its constant and its lanes. */
static void constants_make_another_kernel_of_a_text(void **state)
{
    static const char text[] = "#define LANES 64\n"
                               "#ifndef WORD\n"
                               "#define WORD 3\n"
                               "#endif\n"
                               "GROUP(show, OUT(i32, x))\n"
                               "{\n"
                               "    EACH_LANE if (LANE == 0) x[GROUP_X] = 1000 * WORD + LANES;\n"
                               "}\n";
    static const char *const backends[] = { "cpu", "sim" };
    char many[600];

    (void)state;
    memset(many, 'A', sizeof many - 1);
    many[sizeof many - 1] = '\0';
    for (int i = 0; i < 2; i++) {
        qn_ctx *ctx = open_at(backends[i], root.path);
        qn_kernel_module *modules[2], *none = NULL;

        must(qn_kernels_new("shown", text, &modules[0], &failure));
        must(qn_kernels_with(modules[0], "WORD=7 LANES=32", &modules[1], &failure));
        for (int m = 0; m < 2; m++) {
            const qn_kernel_info *kernel = qn_kernels_find(modules[m], "show");
            qn_buf *x = array_of(ctx, "x", 2);
            qn_graph *g;
            int32_t got[2];

            assert_int_equal(kernel->lanes, m ? 32 : 64);
            must(qn_graph_new(ctx, "g", &g, &failure));
            must(qn_graph_stage(g, "show", kernel, qn_range_1d(2),
                                (const qn_arg[]){ qn_arg_buf(x) }, &failure));
            must(qn_graph_run(g, &failure));
            must(qn_buf_read(x, 0, got, sizeof got, &failure));
            assert_int_equal(got[1], m ? 7032 : 3064);
            qn_graph_free(g);
            qn_buf_free(x);
        }
        assert_int_equal(qn_kernels_with(modules[0], many, &none, &failure), QN_ERR_LIMIT);
        assert_null(none);
        qn_kernels_free(modules[1]);
        qn_kernels_free(modules[0]);
        qn_ctx_close(ctx);
    }
}

static void text_that_is_no_kernel_is_refused_with_its_line(void **state)
{
    qn_ctx *ctx = open_at("cpu", root.path);
    qn_kernel_module *module = NULL;

    (void)state;
    assert_int_equal(qn_kernels_new("empty", "/* nothing */\n", &module, &failure), QN_ERR_INPUT);
    assert_non_null(strstr(failure.text, "empty"));
    assert_int_not_equal(
        qn_kernels_new("bad", "\n\nMAP(k, SIDEWAYS(float, x))\n{\n}\n", &module, &failure), QN_OK);
    assert_non_null(strstr(failure.text, "bad:3"));
    assert_null(module);
    qn_ctx_close(ctx);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_process_compiles_no_text_on_the_cpu),
        cmocka_unit_test(a_second_process_compiles_nothing_on_opencl),
        cmocka_unit_test(within_a_context_a_module_is_compiled_once),
        cmocka_unit_test(another_text_is_another_key),
        cmocka_unit_test(modules_that_nobody_holds_go_oldest_first),
        cmocka_unit_test(a_module_stays_as_long_as_a_graph_holds_it),
        cmocka_unit_test(a_damaged_entry_is_compiled_again_and_replaced),
        cmocka_unit_test(an_entry_that_the_device_refuses_is_compiled_again),
        cmocka_unit_test(a_cache_turned_off_keeps_nothing),
        cmocka_unit_test(an_unusable_folder_is_a_warning_and_no_failure),
        cmocka_unit_test(the_text_as_compiled_can_be_dumped),
        cmocka_unit_test(the_dumped_text_compiles_alone),
        cmocka_unit_test(a_compile_error_names_module_line_and_cause),
        cmocka_unit_test(a_compile_error_of_a_device_is_a_loud_fallback),
        cmocka_unit_test(a_device_that_cannot_compile_falls_back_and_the_result_is_right),
        cmocka_unit_test(with_fallback_forbidden_a_compile_error_is_an_error),
        cmocka_unit_test(without_a_c_compiler_text_is_unsupported_with_its_name),
        cmocka_unit_test(constants_make_another_kernel_of_a_text),
        cmocka_unit_test(text_that_is_no_kernel_is_refused_with_its_line),
    };

    if (argc == 5 && !strcmp(argv[1], "child"))
        return be_child(argv + 2);
    return cmocka_run_group_tests(tests, make_root, remove_root);
}

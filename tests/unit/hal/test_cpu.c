/* test_cpu.c - the CPU backend: its launcher, its memory, its run-time compiler. */
#include "test.h"

#include <dirent.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "hal/backend.h"
#include "hal/cpu/cpu_launch.h"
#include "hal/cpu/cpu_module.h"
#include "util/clock.h"
#include "failing_malloc.h"

static const qn_backend *const cpu = &qn_backend_cpu;

static qn_dev *open_cpu(int threads, const char *cc)
{
    const qn_hal_config config = { .threads = threads, .cc = cc };
    qn_dev *dev = NULL;
    qn_err err;

    assert_int_equal(cpu->open(&config, 0, &dev, &err), QN_OK);
    return dev;
}

/* The launcher. */

typedef struct box {
    int32_t nx, ny, x0, y0, z0;
    int32_t *count;
    double tile_us; /* that a call takes at least */
} box;

/* Counts how often each point is visited; args[0] is the box. */
static void visit(const qn_span *part, void *const *args)
{
    const box *b = *(box *const *)args[0];
    const double until_us = qn_now_us() + b->tile_us;

    for (int32_t z = part->z0; z < part->z1; z++)
        for (int32_t y = part->y0; y < part->y1; y++)
            for (int32_t x = part->x0; x < part->x1; x++)
                __atomic_fetch_add(
                    &b->count[((int64_t)(z - b->z0) * b->ny + (y - b->y0)) * b->nx + (x - b->x0)],
                    1, __ATOMIC_RELAXED);
    while (qn_now_us() < until_us)
        continue;
}

static void expect_visited_once(qn_cpu_threads *threads, const qn_kernel_info *kernel,
                                const qn_span *span, double tile_us)
{
    const int32_t nx = span->x1 - span->x0, ny = span->y1 - span->y0, nz = span->z1 - span->z0;
    const size_t n = (size_t)nx * (size_t)ny * (size_t)nz;
    box b = { nx, ny, span->x0, span->y0, span->z0, calloc(n, sizeof(int32_t)), tile_us };
    box *address = &b;
    void *args[] = { &address };
    size_t wrong = 0;

    assert_non_null(b.count);
    qn_cpu_run(threads, kernel, visit, span, args);
    for (size_t i = 0; i < n; i++)
        wrong += b.count[i] != 1;
    free(b.count);
    assert_int_equal(wrong, 0);
}

static void every_point_is_visited_once(void **state)
{
    static const qn_span spans[] = {
        { 0, 1, 0, 1, 0, 1 },       { 0, 257, 0, 1, 0, 1 },     { 3, 100003, 0, 1, 0, 1 },
        { 0, 3, 0, 70000, 0, 1 },   { -5, 1000, 7, 300, 2, 4 }, { 0, 3, 0, 3, 0, 5000 },
        { 0, 2000000, 0, 1, 0, 1 }, { 0, 5000, 0, 400, 0, 1 },  { 0, 1, 0, 1, 0, 4000 },
    };
    static const qn_kernel_info forms[] = {
        { .name = "map", .form = QN_FORM_MAP, .unroll = 1 },
        { .name = "group", .form = QN_FORM_GROUP, .lanes = 64 },
        { .name = "team", .form = QN_FORM_TEAM },
    };
    static const int counts[] = { 1, 2, 7 };

    (void)state;
    for (int t = 0; t < 3; t++) {
        qn_cpu_threads threads = qn_cpu_threads_of(counts[t]);

        for (size_t s = 0; s < sizeof spans / sizeof *spans; s++)
            for (int f = 0; f < 3; f++)
                expect_visited_once(&threads, &forms[f], &spans[s], 0.0);
        qn_cpu_threads_end(&threads);
    }
}

static void empty_spans_call_nothing(void **state)
{
    qn_cpu_threads threads = qn_cpu_threads_of(2);
    const qn_kernel_info map = { .name = "map", .form = QN_FORM_MAP, .unroll = 1 };
    const qn_span empty = { 4, 4, 0, 1, 0, 1 };

    (void)state;
    qn_cpu_run(&threads, &map, NULL, &empty, NULL); /* a call through NULL would crash */
}

static void cost_nothing(const qn_span *part, void *const *args)
{
    (void)part;
    (void)args;
}

/* Timing a tile can be interrupted, so one of several tries must stay single-threaded. */
static void cheap_points_leave_the_threads_asleep(void **state)
{
    const qn_kernel_info map = { .name = "map", .form = QN_FORM_MAP, .unroll = 1 };
    const qn_span span = { 0, 4096, 0, 1, 0, 1 };
    int n_alone = 0;

    (void)state;
    for (int i = 0; i < 1000 && n_alone == 0; i++) {
        qn_cpu_threads threads = qn_cpu_threads_of(2);
        const double never = threads.last_us;

        qn_cpu_run(&threads, &map, cost_nothing, &span, NULL);
        n_alone += threads.last_us == never;
        qn_cpu_threads_end(&threads);
    }
    assert_true(n_alone > 0);
}

static void few_costly_points_wake_the_threads(void **state)
{
    qn_cpu_threads threads = qn_cpu_threads_of(2);
    const qn_kernel_info map = { .name = "map", .form = QN_FORM_MAP, .unroll = 1 };
    const qn_span span = { 0, 4096, 0, 1, 0, 1 };
    const double never = threads.last_us;

    (void)state;
    expect_visited_once(&threads, &map, &span, 200.0); /* per tile, of which there are 16 */
    assert_true(threads.last_us > never);
    qn_cpu_threads_end(&threads);
}

static void a_series_of_middling_launches_wakes_the_threads_in_the_end(void **state)
{
    qn_cpu_threads threads = qn_cpu_threads_of(2);
    const qn_kernel_info map = { .name = "map", .form = QN_FORM_MAP, .unroll = 1 };
    const qn_span span = { 0, 4096, 0, 1, 0, 1 };
    const double never = threads.last_us;
    int n = 0;

    (void)state;
    while (threads.last_us == never && n < 1000) {
        expect_visited_once(&threads, &map, &span, 2.0); /* saves 15 us of 100 that it costs */
        n++;
    }
    assert_true(threads.last_us > never);
    qn_cpu_threads_end(&threads);
}

/* The crew. */

typedef struct {
    atomic_int next, done, calls;
    int n;
    atomic_uint seen; /* a bit for every thread that came */
} claims;

static void claim(void *user, int me)
{
    claims *c = user;

    atomic_fetch_add(&c->calls, 1);
    if (atomic_fetch_or(&c->seen, 1u << me) >> me & 1)
        c->n = -1; /* came twice */
    while (atomic_fetch_add(&c->next, 1) < c->n)
        atomic_fetch_add(&c->done, 1);
}

static void all_work_is_done_whoever_comes(void **state)
{
    qn_crew *crew = qn_crew_new(8);
    int n_calls = 0;

    (void)state;
    assert_non_null(crew);
    /* On a busy machine it can take long until even one helper comes. */
    for (int run = 0; run < 3000 || (n_calls == run && run < 1000000); run++) {
        claims c = { .n = run % 50 };

        qn_crew_run(crew, claim, &c);
        assert_int_equal(c.done, run % 50);
        assert_true(c.calls >= 1 && c.calls <= 8 && (c.seen & 1));
        n_calls += c.calls;
        if (run % 1000 == 999)
            usleep(3000); /* helpers fall asleep and must come back */
    }
    assert_true(n_calls > 3000);
    qn_crew_free(crew);
    qn_crew_free(qn_crew_new(3)); /* never used */
    qn_crew_free(NULL);
}

/* The device. */

static void the_device_describes_the_host(void **state)
{
    qn_dev *dev = open_cpu(3, NULL);
    qn_device_info info;
    char reason[80] = "x";

    (void)state;
    assert_int_equal(cpu->count(&(qn_hal_config){ 0 }, reason, sizeof reason), 1);
    assert_string_equal(reason, "");
    cpu->info(dev, &info);
    assert_int_equal(info.kind, QN_KIND_CPU);
    assert_int_equal(info.units, 3);
    assert_non_null(strstr(info.name, " (3 thr)"));
    assert_true(info.unified_memory && info.has_f64 && info.has_exact_f32);
    assert_true(info.mem_total > 0 && info.mem_free > 0 && info.mem_free <= info.mem_total);
    assert_true(info.arch[0] != '\0');
    cpu->close(dev);
}

static void there_is_one_cpu_device(void **state)
{
    const qn_hal_config config = { 0 };
    qn_dev *dev = NULL;
    qn_err err;

    (void)state;
    assert_int_equal(cpu->open(&config, 1, &dev, &err), QN_ERR_INIT);
    assert_null(dev);
}

static void blocks_keep_what_is_copied_to_them(void **state)
{
    qn_dev *dev = open_cpu(1, NULL);
    const char text[] = "twelve bytes";
    char back[sizeof text] = "";
    qn_mem *mem;
    qn_err err;

    (void)state;
    assert_int_equal(cpu->alloc(dev, 64, 0, &mem, &err), QN_OK);
    assert_int_equal(cpu->upload(dev, mem, 10, text, sizeof text, 0, &err), QN_OK);
    assert_int_equal(cpu->download(dev, mem, 10, back, sizeof text, 0, &err), QN_OK);
    assert_string_equal(back, text);
    assert_int_equal(cpu->upload(dev, mem, 60, text, sizeof text, 0, &err), QN_ERR_LAUNCH);
    assert_string_equal(err.text, "copy of 13 bytes at 60 exceeds block of 64 bytes");
    cpu->release(dev, mem);
    cpu->close(dev);
}

static void memory_that_does_not_exist_is_refused(void **state)
{
    qn_dev *dev = open_cpu(1, NULL);
    qn_mem *mem = NULL;
    qn_err err;

    (void)state;
    assert_int_equal(cpu->alloc(dev, (size_t)1 << 60, 0, &mem, &err), QN_ERR_NOMEM);
    assert_non_null(strstr(err.text, "1152921504606846976"));
    assert_null(mem);
    cpu->close(dev);
}

static void events_have_happened_and_carry_the_time(void **state)
{
    qn_dev *dev = open_cpu(1, NULL);
    qn_event *a, *b;

    (void)state;
    assert_int_equal(cpu->record(dev, 0, &a, NULL), QN_OK);
    qn_sleep_us(1000);
    assert_int_equal(cpu->record(dev, 0, &b, NULL), QN_OK);
    assert_int_equal(cpu->is_done(dev, b), 1);
    assert_true(cpu->elapsed_us(dev, a, b) >= 1000.0);
    cpu->drop(dev, a);
    cpu->drop(dev, b);
    cpu->close(dev);
}

/* Kernels made at run time. */

static const char unit_text[] =
    "typedef struct { int x0, x1, y0, y1, z0, z1; } span;\n"
    "const unsigned short qnk_scale_sizes[] = { 4, 4, 12 };\n"
    "const int qnk_scale_lanes = 128;\n"
    "void qnk_scale_cpu(const span *s, void *const *a)\n"
    "{\n"
    "    const float k = *(const float *)a[0];\n"
    "    const float *in = *(const float *const *)a[1];\n"
    "    float *out = *(float *const *)a[2];\n"
    "    for (int x = s->x0; x < s->x1; x++) out[x] = FACTOR * k * in[x];\n"
    "}\n";

static const qn_arg_info scale_args[] = { { "k", "float", 4, QN_ARG_VAL },
                                          { "in", "float", 4, QN_ARG_IN },
                                          { "out", "triple", 0, QN_ARG_OUT } };
static const qn_kernel_info scale = {
    .name = "scale", .form = QN_FORM_MAP, .unroll = 1, .n_args = 3, .args = scale_args
};
static const qn_kernel_info *const scale_list[] = { &scale };
static const qn_kernel_module scale_module = { .name = "scales",
                                               .kernels = scale_list,
                                               .n_kernels = 1 };

static int has_compiler(void)
{
    return system("cc --version >/dev/null 2>&1") == 0;
}

#define NEED_COMPILER()                                                                            \
    do {                                                                                           \
        if (!has_compiler()) {                                                                     \
            print_message("no C compiler: skipped\n");                                             \
            skip();                                                                                \
        }                                                                                          \
    } while (0)

/* The unit with the given FACTOR. */
static qn_status build_scale(qn_dev *dev, const char *factor, qn_module **out, qn_err *err)
{
    char text[1024], log[2048] = "";
    qn_source src = { .module = &scale_module, .text = text, .log = log, .log_size = sizeof log };
    qn_status st;

    snprintf(text, sizeof text, "#define FACTOR %s\n#line 1 \"scales\"\n%s", factor, unit_text);
    st = cpu->build(dev, &src, out, err);
    if (st == QN_ERR_COMPILE)
        assert_non_null(strstr(log, "error:"));
    return st;
}

/* Reads host memory, writes to a block at an offset; returns the factor it has applied. */
static float run_scale(qn_dev *dev, qn_module *module, float k)
{
    float in[300], out[300] = { 0 };
    qn_mem *mem = NULL;

    assert_int_equal(cpu->alloc(dev, 16 + sizeof out, 0, &mem, NULL), QN_OK);
    const qn_launch_arg args[] = { { .value = &k }, { .host = in }, { .mem = mem, .at = 16 } };
    const qn_launch call = {
        .module = module,
        .kernel = &scale,
        .args = args,
        .span = { 0, 300, 0, 1, 0, 1 },
        .group = { 256, 1, 1 },
        .grid = { 2, 1, 1 },
    };

    for (int i = 0; i < 300; i++)
        in[i] = (float)i;
    assert_int_equal(cpu->launch(dev, &call, NULL), QN_OK);
    assert_int_equal(cpu->download(dev, mem, 16, out, sizeof out, 0, NULL), QN_OK);
    cpu->release(dev, mem);
    assert_true(out[150] == out[299] * 150.0f / 299.0f);
    return out[299] / 299.0f;
}

static void text_is_compiled_and_run(void **state)
{
    NEED_COMPILER();
    qn_dev *dev = open_cpu(2, NULL);
    qn_module *module = NULL;
    qn_launch call = { .kernel = &scale };
    qn_err err;

    (void)state;
    assert_int_equal(build_scale(dev, "2.0f", &module, &err), QN_OK);
    assert_true(run_scale(dev, module, 3.0f) == 6.0f);
    call.module = module;
    assert_int_equal(qn_cpu_module_arg_size(&call, 0), 4);
    assert_int_equal(qn_cpu_module_arg_size(&call, 2), 12); /* known to the compiler only */
    assert_int_equal(qn_cpu_module_lanes(module, 0), 128);
    cpu->unload(dev, module);
    cpu->close(dev);
}

/* The loader finds libraries by name, and descriptor numbers are reused. */
static void modules_do_not_get_mixed_up(void **state)
{
    NEED_COMPILER();
    static const char *const factors[] = { "1.0f", "2.0f", "4.0f" };
    qn_dev *dev = open_cpu(1, NULL);
    qn_module *modules[3];

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(build_scale(dev, factors[i], &modules[i], NULL), QN_OK);
    for (int i = 0; i < 3; i++)
        assert_true(run_scale(dev, modules[i], 1.0f) == (float)(1 << i));
    cpu->unload(dev, modules[1]);
    assert_int_equal(build_scale(dev, "8.0f", &modules[1], NULL), QN_OK);
    assert_true(run_scale(dev, modules[1], 1.0f) == 8.0f);
    for (int i = 0; i < 3; i++)
        cpu->unload(dev, modules[i]);
    cpu->close(dev);
}

static void a_binary_loads_without_a_compiler(void **state)
{
    NEED_COMPILER();
    qn_dev *dev = open_cpu(1, NULL), *bare = open_cpu(1, "/nowhere/cc");
    qn_source src = { .module = &scale_module };
    qn_module *module, *again;
    qn_err err;

    (void)state;
    assert_int_equal(build_scale(dev, "5.0f", &module, NULL), QN_OK);
    assert_int_equal(cpu->binary(dev, module, &src.binary, &err), QN_OK);
    assert_int_equal(src.binary.kind, QN_BIN_OBJECT);
    assert_int_equal(cpu->build(bare, &src, &again, &err), QN_OK);
    assert_true(run_scale(bare, again, 1.0f) == 5.0f);
    cpu->unload(bare, again);

    ((char *)src.binary.data)[1] ^= 1; /* no longer an ELF file */
    assert_int_equal(cpu->build(bare, &src, &again, &err), QN_ERR_COMPILE);
    assert_non_null(strstr(err.text, "module scales: kernel object does not load"));
    free(src.binary.data);
    cpu->unload(dev, module);
    cpu->close(dev);
    cpu->close(bare);
}

static void a_refused_text_names_its_first_error(void **state)
{
    NEED_COMPILER();
    qn_dev *dev = open_cpu(1, NULL);
    qn_module *module = NULL;
    qn_err err;

    (void)state;
    assert_int_equal(build_scale(dev, "nonsense", &module, &err), QN_ERR_COMPILE);
    assert_null(module);
    assert_ptr_equal(strstr(err.text, "module scales: unit.c:1:"), err.text);
    assert_non_null(strstr(err.text, "nonsense"));
    assert_int_equal(build_scale(dev, "1.0f; }", &module, &err), QN_ERR_COMPILE);
    assert_ptr_equal(strstr(err.text, "module scales: scales:"), err.text); /* as #line says */
    cpu->close(dev);
}

static void an_object_without_the_kernel_is_refused(void **state)
{
    NEED_COMPILER();
    qn_dev *dev = open_cpu(1, NULL);
    qn_source src = { .module = &scale_module, .text = "int other;\n" };
    qn_module *module = NULL;
    qn_err err;

    (void)state;
    assert_int_equal(cpu->build(dev, &src, &module, &err), QN_ERR_COMPILE);
    assert_string_equal(err.text, "module scales: kernel object has no function for scale");
    cpu->close(dev);
}

static void a_missing_compiler_is_named(void **state)
{
    qn_dev *dev = open_cpu(1, "/nowhere/cc");
    qn_module *module = NULL;
    char label[128];
    qn_err err;

    (void)state;
    assert_int_equal(build_scale(dev, "1.0f", &module, &err), QN_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "module scales: no C compiler: /nowhere/cc not found");
    cpu->compiler(dev, label, sizeof label);
    assert_string_equal(label, "no C compiler");
    cpu->close(dev);
}

static void the_label_tells_compilers_apart(void **state)
{
    NEED_COMPILER();
    qn_dev *dev = open_cpu(1, NULL);
    char label[512];
    qn_device_info info;

    (void)state;
    cpu->info(dev, &info);
    cpu->compiler(dev, label, sizeof label);
    assert_int_equal(strncmp(label, "cc ", 3), 0);
    assert_non_null(strstr(label, info.arch));
    assert_non_null(strstr(label, " /"));
    cpu->close(dev);
}

static int count_entries(const char *path)
{
    DIR *dir = opendir(path);
    int n = 0;

    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2;
}

static void make_script(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", text);
    fclose(file);
    chmod(path, 0700);
}

static void nothing_stays_in_the_temporary_folder(void **state)
{
    char folder[] = "/tmp/quern-test-XXXXXX", path[64];
    char *before = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
    qn_dev *dev;
    qn_module *module = NULL;
    qn_err err;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/careless", folder);
    make_script(path, "case \"$*\" in *-shared*) echo left > \"$TMPDIR/left\";; esac\n"
                      "echo 'x: error: careless' >&2; exit 1");
    dev = open_cpu(1, path);
    setenv("TMPDIR", folder, 1);
    assert_int_equal(build_scale(dev, "1.0f", &module, &err), QN_ERR_COMPILE);
    assert_string_equal(err.text, "module scales: x: error: careless");
    assert_int_equal(count_entries(folder), 1);
    cpu->close(dev);
    if (has_compiler()) {
        dev = open_cpu(1, NULL);
        assert_int_equal(build_scale(dev, "1.0f", &module, &err), QN_OK);
        assert_int_equal(count_entries(folder), 1);
        cpu->unload(dev, module);
        cpu->close(dev);
    }
    if (before)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
    free(before);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

/* Stopped together with its child processes: the pass holds open the pipe that we read. Waiting for
 * such a compiler takes longer than a test may. */
static void a_compiler_that_does_not_end_is_stopped(void **state)
{
    char folder[] = "/tmp/quern-test-XXXXXX", path[64];
    qn_cc cc;
    qn_blob object;
    qn_err err;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/slow", folder);
    make_script(path, "case \"$*\" in *-shared*) sleep 1000 & sleep 1000;; esac");
    qn_cc_init(&cc, path);
    cc.limit_us = 0.1e6;
    assert_int_equal(qn_cc_compile(&cc, "int x;", 0, NULL, 0, &object, &err), QN_ERR_COMPILE);
    assert_non_null(strstr(err.text, "did not end within 0.1 s"));
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

static void a_missing_temporary_folder_is_named(void **state)
{
    char *before = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
    qn_dev *dev = open_cpu(1, "/bin/sh");
    qn_module *module = NULL;
    qn_err err;

    (void)state;
    setenv("TMPDIR", "/nowhere", 1);
    assert_int_equal(build_scale(dev, "1.0f", &module, &err), QN_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "cannot make a folder /nowhere/quern-"));
    if (before)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
    free(before);
    cpu->close(dev);
}

static void backends_are_found_by_name(void **state)
{
    (void)state;
    assert_ptr_equal(qn_backend_find("cpu"), &qn_backend_cpu);
    assert_ptr_equal(qn_backend_find("sim"), &qn_backend_sim);
    assert_ptr_equal(qn_backends[0], &qn_backend_cpu);
    assert_null(qn_backend_find("tpu"));
    assert_null(qn_backend_find(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_point_is_visited_once),
        cmocka_unit_test(empty_spans_call_nothing),
        cmocka_unit_test(cheap_points_leave_the_threads_asleep),
        cmocka_unit_test(few_costly_points_wake_the_threads),
        cmocka_unit_test(all_work_is_done_whoever_comes),
        cmocka_unit_test(a_series_of_middling_launches_wakes_the_threads_in_the_end),
        cmocka_unit_test(the_device_describes_the_host),
        cmocka_unit_test(there_is_one_cpu_device),
        cmocka_unit_test(blocks_keep_what_is_copied_to_them),
        cmocka_unit_test(memory_that_does_not_exist_is_refused),
        cmocka_unit_test(events_have_happened_and_carry_the_time),
        cmocka_unit_test(text_is_compiled_and_run),
        cmocka_unit_test(modules_do_not_get_mixed_up),
        cmocka_unit_test(a_binary_loads_without_a_compiler),
        cmocka_unit_test(a_refused_text_names_its_first_error),
        cmocka_unit_test(an_object_without_the_kernel_is_refused),
        cmocka_unit_test(a_missing_compiler_is_named),
        cmocka_unit_test(the_label_tells_compilers_apart),
        cmocka_unit_test(nothing_stays_in_the_temporary_folder),
        cmocka_unit_test(a_compiler_that_does_not_end_is_stopped),
        cmocka_unit_test(a_missing_temporary_folder_is_named),
        cmocka_unit_test(backends_are_found_by_name),
    };
    unsetenv("QUERN_CC");
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_opencl.c - tests the OpenCL backend on the available device; skipped without one. */
#include "test.h"

#include <sys/wait.h>

#include "hal/backend.h"

static const qn_backend *const cl = &qn_backend_opencl;
static const qn_hal_config config = { 0 };

/* Kernels as the expander prints them: span, then values, buffers with offsets. */

static const char text[] =
    "__kernel void qnk_saxpy(int x0, int x1, int y0, int y1, int z0, int z1, float a,\n"
    "    __global char *x_mem, long x_at, __global char *y_mem, long y_at)\n"
    "{\n"
    "    __global const float *x = (__global const float *)(x_mem + x_at);\n"
    "    __global float *y = (__global float *)(y_mem + y_at);\n"
    "    const int gx = x0 + (int)get_global_id(0);\n"
    "    if (gx < x1)\n"
    "        y[gx] = a * x[gx] + y[gx];\n"
    "}\n"
    "typedef struct { int cols, rows, add; } box_par;\n"
    "__kernel void qnk_box(int x0, int x1, int y0, int y1, int z0, int z1, box_par p,\n"
    "    __global char *out_mem, long out_at)\n"
    "{\n"
    "    __global int *out = (__global int *)(out_mem + out_at);\n"
    "    const int gx = x0 + (int)get_global_id(0), gy = y0 + (int)get_global_id(1);\n"
    "    const int gz = z0 + (int)get_global_id(2);\n"
    "    if (gx < x1 && gy < y1 && gz < z1)\n"
    "        out[(gz * p.rows + gy) * p.cols + gx] = p.add + gx + 100 * gy + 10000 * gz;\n"
    "}\n";

typedef struct {
    int32_t cols, rows, add;
} box_par;

static const qn_arg_info saxpy_args[] = { { "a", "float", 4, QN_ARG_VAL },
                                          { "x", "float", 4, QN_ARG_IN },
                                          { "y", "float", 4, QN_ARG_INOUT } };
static const qn_arg_info box_args[] = { { "p", "box_par", 0, QN_ARG_VAL },
                                        { "out", "i32", 4, QN_ARG_INOUT } };
static const qn_kernel_info saxpy = {
    .name = "saxpy", .form = QN_FORM_MAP, .n_args = 3, .unroll = 1, .args = saxpy_args
};
static const qn_kernel_info box = {
    .name = "box", .form = QN_FORM_MAP, .n_args = 2, .unroll = 1, .args = box_args
};
static const qn_kernel_info *const kernels[] = { &saxpy, &box };
static const qn_kernel_module module_info = { .name = "hand", .kernels = kernels, .n_kernels = 2 };

enum { SAXPY, BOX };

/* A device, and one module on it. */

typedef struct {
    qn_dev *dev;
    qn_module *module;
    qn_err err;
} fixture;

static void need_device(void)
{
    char reason[200];

    if (cl->count(&config, reason, sizeof reason) == 0) {
        print_message("no OpenCL device: %s\n", reason);
        skip();
    }
}

static void must_do(const fixture *f, qn_status st)
{
    if (st != QN_OK)
        fail_msg("%s: %s", qn_status_name(st), f->err.text);
}

static void open_index(fixture *f, int index)
{
    qn_source src = { .module = &module_info, .text = text };

    must_do(f, cl->open(&config, index, &f->dev, &f->err));
    must_do(f, cl->build(f->dev, &src, &f->module, &f->err));
}

static void close_fixture(fixture *f)
{
    if (f->dev) {
        cl->unload(f->dev, f->module);
        cl->close(f->dev);
    }
    memset(f, 0, sizeof *f);
}

static fixture *open_first(void **state)
{
    fixture *f = *state;

    need_device();
    open_index(f, 0);
    return f;
}

static int setup(void **state)
{
    static fixture f;

    memset(&f, 0, sizeof f);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    unsetenv("QUERN_OPENCL_SUBDEVICES");
    close_fixture(*state);
    return 0;
}

static qn_mem *alloc(fixture *f, size_t bytes)
{
    qn_mem *mem = NULL;

    must_do(f, cl->alloc(f->dev, bytes, QN_USE_READ | QN_USE_WRITE, &mem, &f->err));
    return mem;
}

/* y = a x + y over [x0, x1), groups of 64, data `at` bytes into the buffers. */
static qn_status launch_saxpy(fixture *f, qn_module *module, float a, qn_mem *x, qn_mem *y,
                              size_t at, int x0, int x1, qn_stream on)
{
    const qn_launch_arg args[] = { { .value = &a },
                                   { .mem = x, .at = at },
                                   { .mem = y, .at = at } };
    const qn_launch call = { .module = module,
                             .kernel = &saxpy,
                             .kernel_i = SAXPY,
                             .span = { x0, x1, 0, 1, 0, 1 },
                             .group = { 64, 1, 1 },
                             .grid = { (uint32_t)(x1 - x0 + 63) / 64, 1, 1 },
                             .args = args,
                             .stream = on };

    return cl->launch(f->dev, &call, &f->err);
}

/* Runs saxpy on 1000 values that begin 256 bytes into their buffers, and checks the bits. */
static void check_saxpy(fixture *f, qn_module *module)
{
    enum { N = 1000, AT = 256 };
    float x[N], y[N], got[N];
    qn_mem *const mx = alloc(f, AT + sizeof x), *const my = alloc(f, AT + sizeof y);

    for (int i = 0; i < N; i++) {
        x[i] = (float)i * 0.37f;
        y[i] = (float)(N - i);
    }
    must_do(f, cl->upload(f->dev, mx, AT, x, sizeof x, QN_COMPUTE, &f->err));
    must_do(f, cl->upload(f->dev, my, AT, y, sizeof y, QN_COMPUTE, &f->err));
    must_do(f, launch_saxpy(f, module, 2.0f, mx, my, AT, 3, 997, QN_COMPUTE));
    must_do(f, cl->download(f->dev, my, AT, got, sizeof got, QN_COMPUTE, &f->err));
    must_do(f, cl->sync(f->dev, &f->err));

    for (int i = 0; i < N; i++) {
        const float want = i >= 3 && i < 997 ? 2.0f * x[i] + y[i] : y[i];
        assert_true(got[i] == want);
    }
    cl->release(f->dev, mx);
    cl->release(f->dev, my);
}

/* The library and the devices. */

/* Runs first, in a child: a process looks for the library only once. */
static void missing_library_is_a_reason_not_an_error(void **state)
{
    int code = -1;
    const pid_t child = fork();

    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        char reason[200] = "";
        qn_dev *dev = NULL;
        qn_err err;

        setenv("QUERN_OPENCL_LIB", "/nonexistent/libOpenCL.so", 1);
        if (cl->count(&config, reason, sizeof reason) != 0)
            _exit(1);
        if (strcmp(reason, "not found: /nonexistent/libOpenCL.so") != 0)
            _exit(2);
        if (cl->open(&config, 0, &dev, &err) != QN_ERR_INIT || dev)
            _exit(3);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code));
    assert_int_equal(WEXITSTATUS(code), 0);
}

static void library_without_the_functions_is_named(void **state)
{
    int code = -1;
    const pid_t child = fork();

    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        char reason[200] = "";

        setenv("QUERN_OPENCL_LIB", "libc.so.6", 1);
        if (cl->count(&config, reason, sizeof reason) != 0)
            _exit(1);
        _exit(strcmp(reason, "libc.so.6 has no clGetPlatformIDs") == 0 ? 0 : 2);
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code));
    assert_int_equal(WEXITSTATUS(code), 0);
}

static void every_device_opens_and_computes(void **state)
{
    fixture *f = *state;
    char reason[200];

    need_device();
    for (int i = 0; i < cl->count(&config, reason, sizeof reason); i++) {
        open_index(f, i);
        check_saxpy(f, f->module);
        close_fixture(f);
    }
}

static void index_past_the_last_device_is_refused(void **state)
{
    fixture *f = *state;
    char reason[200];
    int n;

    need_device();
    n = cl->count(&config, reason, sizeof reason);
    assert_int_equal(cl->open(&config, n, &f->dev, &f->err), QN_ERR_INIT);
    assert_null(f->dev);
    assert_int_equal(cl->open(&config, -1, &f->dev, &f->err), QN_ERR_INIT);
}

static void info_is_filled_in(void **state)
{
    fixture *f = open_first(state);
    qn_device_info info;
    char compiler[1024] = "";

    cl->info(f->dev, &info);
    cl->compiler(f->dev, compiler, sizeof compiler);

    assert_true(info.name[0] != 0 && info.name[0] != ' ');
    assert_memory_equal(info.arch, "OpenCL ", 7);
    assert_null(strchr(info.arch + 7, ' '));
    assert_true(info.mem_total > 0 && info.max_alloc > 0 && info.max_alloc <= info.mem_total);
    assert_true(info.max_group >= 64 && info.units > 0 && info.align >= 16);
    assert_true(info.max_grid[0] >= 65535 && info.max_grid[1] >= 65535);
    assert_int_equal(info.unified_memory, 0);
    assert_int_equal(info.has_graph_replay, 0);
    assert_non_null(strstr(compiler, info.driver));
    assert_non_null(strstr(compiler, "-cl-std=CL1.2"));
    assert_int_equal(strstr(compiler, "correctly-rounded") != NULL, info.has_exact_f32);
}

static void first_device_can_be_cut_into_parts(void **state)
{
    fixture *f = open_first(state);
    qn_device_info whole, part;
    char reason[200];

    cl->info(f->dev, &whole);
    close_fixture(f);
    setenv("QUERN_OPENCL_SUBDEVICES", "2", 1);
    if (cl->count(&config, reason, sizeof reason) == 0)
        skip();
    assert_int_equal(cl->count(&config, reason, sizeof reason), 2);

    for (int i = 0; i < 2; i++) {
        open_index(f, i);
        cl->info(f->dev, &part);
        assert_int_equal(part.units, whole.units / 2);
        check_saxpy(f, f->module);
        close_fixture(f);
    }
    assert_int_equal(cl->open(&config, 2, &f->dev, &f->err), QN_ERR_INIT);
}

static void more_parts_than_units_are_no_device(void **state)
{
    fixture *f = open_first(state);
    qn_device_info info;
    char reason[200] = "", parts[20];

    cl->info(f->dev, &info);
    if (info.units >= 64)
        skip(); /* 64 parts are the most that can be asked for */
    snprintf(parts, sizeof parts, "%u", info.units + 1);
    setenv("QUERN_OPENCL_SUBDEVICES", parts, 1);

    assert_int_equal(cl->count(&config, reason, sizeof reason), 0);
    assert_non_null(strstr(reason, "QUERN_OPENCL_SUBDEVICES"));
}

/* Memory. */

static void bytes_come_back_from_where_they_were_put(void **state)
{
    fixture *f = open_first(state);
    unsigned char put[300], got[300];
    qn_mem *mem = alloc(f, 1000);

    for (int i = 0; i < 300; i++)
        put[i] = (unsigned char)(i * 7);
    must_do(f, cl->upload(f->dev, mem, 17, put, 300, QN_UPLOAD, &f->err));
    must_do(f, cl->upload(f->dev, mem, 117, put, 50, QN_UPLOAD, &f->err));
    must_do(f, cl->upload(f->dev, mem, 0, NULL, 0, QN_UPLOAD, &f->err));
    must_do(f, cl->sync(f->dev, &f->err));
    must_do(f, cl->download(f->dev, mem, 17, got, 300, QN_DOWNLOAD, &f->err));
    must_do(f, cl->download(f->dev, mem, 0, NULL, 0, QN_DOWNLOAD, &f->err));
    must_do(f, cl->sync(f->dev, &f->err));

    assert_memory_equal(got, put, 100);
    assert_memory_equal(got + 100, put, 50);
    assert_memory_equal(got + 150, put + 150, 150);
    cl->release(f->dev, mem);
}

static void copy_outside_the_buffer_is_refused(void **state)
{
    fixture *f = open_first(state);
    char bytes[64] = { 0 };
    qn_mem *mem = alloc(f, 100);

    assert_int_equal(cl->upload(f->dev, mem, 64, bytes, 64, QN_COMPUTE, &f->err), QN_ERR_LAUNCH);
    assert_non_null(strstr(f->err.text, "clEnqueueWriteBuffer: CL_INVALID_VALUE (-30)"));
    assert_int_equal(cl->download(f->dev, mem, 64, bytes, 64, QN_COMPUTE, NULL), QN_ERR_LAUNCH);
    cl->release(f->dev, mem);
}

static void too_large_allocation_names_both_numbers(void **state)
{
    fixture *f = open_first(state);
    qn_device_info info;
    qn_mem *mem = NULL;
    char limit[32], want[32];

    cl->info(f->dev, &info);
    assert_int_equal(cl->alloc(f->dev, info.max_alloc + 1, 0, &mem, &f->err), QN_ERR_LIMIT);
    snprintf(want, sizeof want, "%llu", (unsigned long long)info.max_alloc + 1);
    snprintf(limit, sizeof limit, "%llu", (unsigned long long)info.max_alloc);
    assert_non_null(strstr(f->err.text, want));
    assert_non_null(strstr(f->err.text, limit));
    assert_int_equal(cl->alloc(f->dev, 0, 0, &mem, &f->err), QN_ERR_LIMIT);
    assert_null(mem);
}

static void pinned_memory_can_be_written_and_copied(void **state)
{
    fixture *f = open_first(state);
    void *a = NULL, *b = NULL, *kept = NULL;
    qn_mem *mem = alloc(f, 4096);

    must_do(f, cl->host_alloc(f->dev, 4096, &a, &f->err));
    must_do(f, cl->host_alloc(f->dev, 4096, &b, &f->err));
    must_do(f, cl->host_alloc(f->dev, 100, &kept, &f->err));
    memset(a, 0x5a, 4096);
    memset(b, 0, 4096);
    must_do(f, cl->upload(f->dev, mem, 0, a, 4096, QN_COMPUTE, &f->err));
    must_do(f, cl->download(f->dev, mem, 0, b, 4096, QN_COMPUTE, &f->err));
    must_do(f, cl->sync(f->dev, &f->err));

    assert_memory_equal(a, b, 4096);
    cl->host_free(f->dev, a);
    cl->host_free(f->dev, b);
    cl->host_free(f->dev, NULL);
    cl->release(f->dev, mem); /* `kept` is freed with the device */
}

/* Rows `row_bytes` long and `pitch` apart, from byte `at` on. */
static void check_rect(fixture *f, size_t at, size_t pitch, size_t row_bytes, size_t rows)
{
    unsigned char all[2000], got[2001];
    qn_mem *mem = alloc(f, sizeof all);

    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (unsigned char)(i * 31 + i / 256);
    memset(got, 0, sizeof got);
    must_do(f, cl->upload(f->dev, mem, 0, all, sizeof all, QN_COMPUTE, &f->err));
    must_do(f,
            cl->download_rect(f->dev, mem, at, pitch, got, row_bytes, rows, QN_COMPUTE, &f->err));
    must_do(f, cl->sync(f->dev, &f->err));
    for (size_t y = 0; y < rows; y++)
        assert_memory_equal(got + y * row_bytes, all + at + y * pitch, row_bytes);
    assert_int_equal(got[rows * row_bytes], 0);
    cl->release(f->dev, mem);
}

static void rectangle_is_downloaded_without_its_surroundings(void **state)
{
    fixture *f = open_first(state);

    check_rect(f, 3 * 100 + 8, 100, 40, 10); /* a window inside */
    check_rect(f, 0, 100, 100, 20);          /* everything */
    check_rect(f, 90, 100, 40, 5);           /* rows that run over the pitch's end */
    check_rect(f, 1960, 100, 40, 1);         /* the last bytes */
    check_rect(f, 860, 100, 40, 12);         /* the last rows */
    check_rect(f, 5, 100, 40, 0);
}

static void rows_longer_than_their_pitch_are_refused(void **state)
{
    fixture *f = open_first(state);
    char got[400];
    qn_mem *mem = alloc(f, 1000);

    assert_int_equal(cl->download_rect(f->dev, mem, 0, 50, got, 51, 4, QN_COMPUTE, &f->err),
                     QN_ERR_LIMIT);
    cl->release(f->dev, mem);
}

/* Programs. */

static void program_survives_as_binary(void **state)
{
    fixture *f = open_first(state);
    qn_source src = { .module = &module_info };
    qn_module *again = NULL;

    must_do(f, cl->binary(f->dev, f->module, &src.binary, &f->err));
    assert_int_equal(src.binary.kind, QN_BIN_OPENCL);
    assert_true(src.binary.bytes > 0);
    must_do(f, cl->build(f->dev, &src, &again, &f->err));
    check_saxpy(f, again);
    cl->unload(f->dev, again);
    free(src.binary.data);
}

static void foreign_binary_is_refused_as_compile_error(void **state)
{
    fixture *f = open_first(state);
    char junk[] = "this was never a program of any driver";
    qn_source src = { .module = &module_info,
                      .binary = { .data = junk, .bytes = sizeof junk, .kind = QN_BIN_OPENCL } };
    qn_module *module = NULL;

    assert_int_equal(cl->build(f->dev, &src, &module, &f->err), QN_ERR_COMPILE);
    src.binary.kind = QN_BIN_PTX;
    assert_int_equal(cl->build(f->dev, &src, &module, &f->err), QN_ERR_COMPILE);
    assert_null(module);
}

static void compile_error_tells_the_first_error_and_the_log(void **state)
{
    fixture *f = open_first(state);
    char log[4000] = "";
    qn_source src = { .module = &module_info,
                      .text = "__kernel void qnk_saxpy(int x0)\n{\n    frobnicate_this = x0;\n}\n",
                      .log = log,
                      .log_size = sizeof log };
    qn_module *module = NULL;

    assert_int_equal(cl->build(f->dev, &src, &module, &f->err), QN_ERR_COMPILE);
    assert_null(module);
    assert_non_null(strstr(f->err.text, "module hand: clBuildProgram: "));
    assert_non_null(strstr(f->err.text, "error"));
    assert_non_null(strstr(f->err.text, "frobnicate_this"));
    assert_non_null(strstr(f->err.text, "CL_BUILD_PROGRAM_FAILURE"));
    assert_non_null(strstr(log, "frobnicate_this"));
}

static void missing_kernel_is_named(void **state)
{
    fixture *f = open_first(state);
    qn_source src = { .module = &module_info,
                      .text = "__kernel void qnk_saxpy(__global int *x) { x[0] = 1; }\n" };
    qn_module *module = NULL;

    assert_int_equal(cl->build(f->dev, &src, &module, &f->err), QN_ERR_COMPILE);
    assert_non_null(strstr(f->err.text, "qnk_box"));
    assert_null(module);
}

/* Launches. */

static qn_status launch_box(fixture *f, qn_mem *out, const box_par *par, qn_span span,
                            const uint32_t group[3], const uint32_t grid[3])
{
    const qn_launch_arg args[] = { { .value = par, .bytes = sizeof *par }, { .mem = out } };
    qn_launch call = { .module = f->module,
                       .kernel = &box,
                       .kernel_i = BOX,
                       .span = span,
                       .args = args,
                       .stream = QN_COMPUTE };

    memcpy(call.group, group, sizeof call.group);
    memcpy(call.grid, grid, sizeof call.grid);
    return cl->launch(f->dev, &call, &f->err);
}

static void span_bounds_all_three_axes(void **state)
{
    fixture *f = open_first(state);
    enum { X = 13, Y = 7, Z = 3 };
    const box_par par = { X, Y, 5 };
    int32_t got[X * Y * Z] = { 0 };
    qn_mem *out = alloc(f, sizeof got);

    must_do(f, cl->upload(f->dev, out, 0, got, sizeof got, QN_COMPUTE, &f->err));
    must_do(f, launch_box(f, out, &par, (qn_span){ 2, 12, 1, 6, 1, 3 }, (uint32_t[]){ 4, 4, 1 },
                          (uint32_t[]){ 3, 2, 2 }));
    must_do(f, cl->download(f->dev, out, 0, got, sizeof got, QN_COMPUTE, &f->err));
    must_do(f, cl->sync(f->dev, &f->err));

    for (int i = 0; i < X * Y * Z; i++) {
        const int x = i % X, y = i / X % Y, z = i / X / Y;
        const int in = x >= 2 && x < 12 && y >= 1 && y < 6 && z >= 1;
        assert_int_equal(got[i], in ? 5 + x + 100 * y + 10000 * z : 0);
    }
    cl->release(f->dev, out);
}

static void tall_grid_is_launched_in_one_piece(void **state)
{
    fixture *f = open_first(state);
    enum { ROWS = 65535 };
    const box_par par = { 1, ROWS, 1 };
    int32_t last = 0;
    qn_mem *out = alloc(f, ROWS * sizeof last);

    must_do(f, launch_box(f, out, &par, (qn_span){ 0, 1, 0, ROWS, 0, 1 }, (uint32_t[]){ 1, 1, 1 },
                          (uint32_t[]){ 1, ROWS, 1 }));
    must_do(f, cl->download(f->dev, out, (ROWS - 1) * sizeof last, &last, sizeof last, QN_COMPUTE,
                            &f->err));
    must_do(f, cl->sync(f->dev, &f->err));
    assert_int_equal(last, 1 + 100 * (ROWS - 1));
    cl->release(f->dev, out);
}

static void group_beyond_the_limit_names_kernel_and_numbers(void **state)
{
    fixture *f = open_first(state);
    qn_device_info info;
    const box_par par = { 1, 1, 1 };
    qn_mem *out = alloc(f, 64);
    char want[64];

    cl->info(f->dev, &info);
    snprintf(want, sizeof want, "kernel box: group of %u exceeds", info.max_group * 2);
    assert_int_equal(launch_box(f, out, &par, (qn_span){ 0, 1, 0, 1, 0, 1 },
                                (uint32_t[]){ info.max_group, 2, 1 }, (uint32_t[]){ 1, 1, 1 }),
                     QN_ERR_LIMIT);
    assert_non_null(strstr(f->err.text, want));
    cl->release(f->dev, out);
}

/* Events. */

/* Uploads, launches and downloads on three streams; without the events the small launch would
 * overtake the large upload. */
static void events_order_work_across_streams(void **state)
{
    fixture *f = open_first(state);
    enum { N = 1 << 20 };
    float *x = calloc(N, sizeof *x), *y = calloc(N, sizeof *y), *got = calloc(N, sizeof *got);
    qn_mem *mx = alloc(f, N * sizeof *x), *my = alloc(f, N * sizeof *y);

    assert_true(x && y && got);
    for (int round = 1; round <= 5; round++) {
        qn_event *up = NULL, *ran = NULL, *down = NULL;

        for (int i = 0; i < N; i++) {
            x[i] = (float)(i % 1000 * round);
            y[i] = (float)round;
        }
        must_do(f, cl->upload(f->dev, my, 0, y, N * sizeof *y, QN_UPLOAD, &f->err));
        must_do(f, cl->upload(f->dev, mx, 0, x, N * sizeof *x, QN_UPLOAD, &f->err));
        must_do(f, cl->record(f->dev, QN_UPLOAD, &up, &f->err));
        must_do(f, cl->wait(f->dev, QN_COMPUTE + 1, up, &f->err));
        cl->drop(f->dev, up); /* most likely before it is done */
        must_do(f, launch_saxpy(f, f->module, 1.0f, mx, my, 0, 0, N, QN_COMPUTE + 1));
        must_do(f, cl->record(f->dev, QN_COMPUTE + 1, &ran, &f->err));
        must_do(f, cl->wait(f->dev, QN_DOWNLOAD, ran, &f->err));
        must_do(f, cl->download(f->dev, my, 0, got, N * sizeof *got, QN_DOWNLOAD, &f->err));
        must_do(f, cl->record(f->dev, QN_DOWNLOAD, &down, &f->err));
        must_do(f, cl->await(f->dev, down, &f->err));

        for (int i = 0; i < N; i++) {
            if (got[i] != x[i] + y[i])
                fail_msg("round %d: got[%d] is %g", round, i, (double)got[i]);
        }
        cl->drop(f->dev, ran);
        cl->drop(f->dev, down);
    }
    cl->release(f->dev, mx);
    cl->release(f->dev, my);
    free(x);
    free(y);
    free(got);
}

static void event_becomes_done_without_being_awaited(void **state)
{
    fixture *f = open_first(state);
    qn_event *event = NULL;
    int done = 0;

    must_do(f, cl->record(f->dev, QN_COMPUTE, &event, &f->err));
    for (int tries = 0; tries < 100000 && !(done = cl->is_done(f->dev, event)); tries++)
        usleep(1000);
    assert_int_equal(done, 1);
    must_do(f, cl->await(f->dev, event, &f->err));
    cl->drop(f->dev, event);
}

static void time_passes_between_events(void **state)
{
    fixture *f = open_first(state);
    enum { N = 1 << 18 };
    qn_event *from = NULL, *to = NULL;
    qn_mem *x = alloc(f, N * sizeof(float)), *y = alloc(f, N * sizeof(float));

    must_do(f, cl->record(f->dev, QN_COMPUTE, &from, &f->err));
    for (int i = 0; i < 10; i++)
        must_do(f, launch_saxpy(f, f->module, 1.0f, x, y, 0, 0, N, QN_COMPUTE));
    must_do(f, cl->record(f->dev, QN_COMPUTE, &to, &f->err));
    must_do(f, cl->await(f->dev, to, &f->err));

    assert_true(cl->elapsed_us(f->dev, from, to) > 0.0);
    assert_true(cl->elapsed_us(f->dev, from, to) < 60e6);
    cl->drop(f->dev, from);
    cl->drop(f->dev, to);
    cl->release(f->dev, x);
    cl->release(f->dev, y);
}

static void closing_waits_for_work_in_flight(void **state)
{
    fixture *f = open_first(state);
    enum { N = 1 << 20 };
    qn_mem *x = alloc(f, N * sizeof(float)), *y = alloc(f, N * sizeof(float));
    float *got = malloc(N * sizeof *got), *zero = calloc(N, sizeof *zero);

    assert_true(got && zero);
    got[N - 1] = 7.0f;
    must_do(f, cl->upload(f->dev, x, 0, zero, N * sizeof *zero, QN_COMPUTE, &f->err));
    must_do(f, cl->upload(f->dev, y, 0, zero, N * sizeof *zero, QN_COMPUTE, &f->err));
    must_do(f, launch_saxpy(f, f->module, 1.0f, x, y, 0, 0, N, QN_COMPUTE));
    must_do(f, cl->download(f->dev, y, 0, got, N * sizeof *got, QN_COMPUTE, &f->err));
    cl->release(f->dev, x);
    cl->release(f->dev, y);
    close_fixture(f);

    assert_true(got[N - 1] == 0.0f);
    free(got);
    free(zero);
}

#define DEVICE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_library_is_a_reason_not_an_error),
        cmocka_unit_test(library_without_the_functions_is_named),
        DEVICE_TEST(every_device_opens_and_computes),
        DEVICE_TEST(index_past_the_last_device_is_refused),
        DEVICE_TEST(info_is_filled_in),
        DEVICE_TEST(first_device_can_be_cut_into_parts),
        DEVICE_TEST(more_parts_than_units_are_no_device),
        DEVICE_TEST(bytes_come_back_from_where_they_were_put),
        DEVICE_TEST(copy_outside_the_buffer_is_refused),
        DEVICE_TEST(too_large_allocation_names_both_numbers),
        DEVICE_TEST(pinned_memory_can_be_written_and_copied),
        DEVICE_TEST(rectangle_is_downloaded_without_its_surroundings),
        DEVICE_TEST(rows_longer_than_their_pitch_are_refused),
        DEVICE_TEST(program_survives_as_binary),
        DEVICE_TEST(foreign_binary_is_refused_as_compile_error),
        DEVICE_TEST(compile_error_tells_the_first_error_and_the_log),
        DEVICE_TEST(missing_kernel_is_named),
        DEVICE_TEST(span_bounds_all_three_axes),
        DEVICE_TEST(tall_grid_is_launched_in_one_piece),
        DEVICE_TEST(group_beyond_the_limit_names_kernel_and_numbers),
        DEVICE_TEST(events_order_work_across_streams),
        DEVICE_TEST(event_becomes_done_without_being_awaited),
        DEVICE_TEST(time_passes_between_events),
        DEVICE_TEST(closing_waits_for_work_in_flight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

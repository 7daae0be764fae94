/* cuda_fixture.h - the CUDA backend on the mock driver, for the tests named test_cuda*.
 *
 * Kernels run through their CPU form. The two kernels of the hand-written module are PTX heads, so
 * most tests need no compiler.
 */
#ifndef CUDA_FIXTURE_H
#define CUDA_FIXTURE_H

#include "test.h"

#include "hal/backend.h"
#include "hal/cuda/cuda_api.h"
#include "mock/mock_cuda.h"

static const qn_backend *const cu = &qn_backend_cuda;
static const qn_hal_config config = { 0 };

/* A module of two kernels. */

typedef struct box_par {
    int32_t cols, rows, add;
} box_par;

static const char hand_ptx[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry qnk_saxpy(\n"
    " .param .u32 p0, .param .u32 p1, .param .u32 p2, .param .u32 p3, .param .u32 p4,\n"
    " .param .u32 p5, .param .f32 p6, .param .u64 p7, .param .u64 p8\n)\n"
    ".maxntid 256, 1, 1\n{\n ret;\n}\n"
    ".visible .entry qnk_box(\n"
    " .param .u32 p0, .param .u32 p1, .param .u32 p2, .param .u32 p3, .param .u32 p4,\n"
    " .param .u32 p5, .param .align 4 .b8 p6[12], .param .u64 p7\n)\n{\n ret;\n}\n";

static void run_saxpy(const qn_span *part, void *const *args)
{
    const float a = *(const float *)args[0];
    const float *const x = *(const float *const *)args[1];
    float *const y = *(float *const *)args[2];

    for (int i = part->x0; i < part->x1; i++)
        y[i] = a * x[i] + y[i];
}

static void run_box(const qn_span *part, void *const *args)
{
    const box_par *const p = args[0];
    int32_t *const out = *(int32_t *const *)args[1];

    for (int z = part->z0; z < part->z1; z++)
        for (int y = part->y0; y < part->y1; y++)
            for (int x = part->x0; x < part->x1; x++)
                out[(z * p->rows + y) * p->cols + x] = p->add + x + 100 * y + 10000 * z;
}

static const qn_arg_info saxpy_args[] = { { "a", "float", 4, QN_ARG_VAL },
                                          { "x", "float", 4, QN_ARG_IN },
                                          { "y", "float", 4, QN_ARG_INOUT } };
static const qn_arg_info box_args[] = { { "p", "box_par", 12, QN_ARG_VAL },
                                        { "out", "i32", 4, QN_ARG_INOUT } };
static const qn_kernel_info saxpy = { .name = "saxpy",
                                      .form = QN_FORM_MAP,
                                      .n_args = 3,
                                      .unroll = 1,
                                      .args = saxpy_args,
                                      .cpu = run_saxpy };
static const qn_kernel_info box = {
    .name = "box", .form = QN_FORM_MAP, .n_args = 2, .unroll = 1, .args = box_args, .cpu = run_box
};
static const qn_kernel_info *const hand_kernels[] = { &saxpy, &box };
static const qn_kernel_module hand = { .name = "hand", .kernels = hand_kernels, .n_kernels = 2 };

enum { SAXPY, BOX };

/* A device with that module. */

enum { MAX_MEMS = 32 };

typedef struct fixture {
    qn_dev *dev;
    qn_module *module;
    qn_mem *mems[MAX_MEMS];
    int n_mems;
    const qn_kernel_module *running; /* kernels of this module are launched; NULL: `hand` */
    qn_err err;
} fixture;

static inline void must_do(const fixture *f, qn_status st)
{
    if (st != QN_OK)
        fail_msg("%s: %s", qn_status_name(st), f->err.text);
}

static inline void launch_on_cpu(void *user, const char *name, void *const *params, int n_params,
                                 const unsigned *grid, const unsigned *block)
{
    const fixture *const f = user;
    const qn_kernel_module *const module = f->running ? f->running : &hand;
    const qn_kernel_info *kernel = NULL;
    qn_span span;

    (void)grid;
    (void)block;
    for (int i = 0; i < module->n_kernels; i++)
        if (strcmp(name + strlen("qnk_"), module->kernels[i]->name) == 0)
            kernel = module->kernels[i];
    assert_non_null(kernel);
    assert_int_equal(n_params, 6 + kernel->n_args);
    span = (qn_span){ *(int32_t *)params[0], *(int32_t *)params[1], *(int32_t *)params[2],
                      *(int32_t *)params[3], *(int32_t *)params[4], *(int32_t *)params[5] };
    kernel->cpu(&span, params + 6);
}

static inline qn_status build_ptx(fixture *f, const char *ptx, qn_module **out)
{
    qn_source src = { .module = &hand,
                      .binary = { (void *)(uintptr_t)ptx, strlen(ptx), QN_BIN_PTX } };

    return cu->build(f->dev, &src, out, &f->err);
}

static inline void open_device(fixture *f)
{
    must_do(f, cu->open(&config, 0, &f->dev, &f->err));
    must_do(f, build_ptx(f, hand_ptx, &f->module));
}

static inline void close_device(fixture *f)
{
    for (int i = 0; i < f->n_mems; i++)
        cu->release(f->dev, f->mems[i]);
    f->n_mems = 0;
    if (f->dev) {
        cu->unload(f->dev, f->module);
        cu->close(f->dev);
    }
    f->dev = NULL;
    f->module = NULL;
}

static inline int setup_closed(void **state)
{
    static fixture f;

    memset(&f, 0, sizeof f);
    mock_cuda_reset();
    mock_cuda_set_launcher(launch_on_cpu, &f);
    *state = &f;
    return 0;
}

static inline int setup(void **state)
{
    setup_closed(state);
    open_device(*state);
    return 0;
}

/* Whatever a test did, nothing may be left in the driver. */
static inline int teardown(void **state)
{
    mock_cuda_live live;

    close_device(*state);
    live = mock_cuda_get_live();
    assert_int_equal(live.contexts, 0);
    assert_int_equal(live.blocks, 0);
    assert_int_equal(live.pinned, 0);
    assert_int_equal(live.streams, 0);
    assert_int_equal(live.events, 0);
    assert_int_equal(live.modules, 0);
    assert_int_equal(live.graphs, 0);
    assert_int_equal(live.execs, 0);
    return 0;
}

static inline qn_mem *alloc(fixture *f, size_t bytes)
{
    qn_mem *mem = NULL;

    assert_true(f->n_mems < MAX_MEMS);
    must_do(f, cu->alloc(f->dev, bytes, QN_USE_READ | QN_USE_WRITE, &mem, &f->err));
    f->mems[f->n_mems++] = mem;
    return mem;
}

/* Queued; `from` must not change until the device has been waited for. */
static inline qn_mem *alloc_with(fixture *f, const void *from, size_t bytes)
{
    qn_mem *const mem = alloc(f, bytes);

    must_do(f, cu->upload(f->dev, mem, 0, from, bytes, QN_COMPUTE, &f->err));
    return mem;
}

static inline void read_back(fixture *f, qn_mem *mem, void *to, size_t bytes)
{
    must_do(f, cu->sync(f->dev, &f->err));
    must_do(f, cu->download(f->dev, mem, 0, to, bytes, QN_DOWNLOAD, &f->err));
    must_do(f, cu->sync(f->dev, &f->err));
}

/* y = a x + y over [0, n) in groups of 64. `args` and `a` belong to the caller. */
static inline qn_launch saxpy_call(fixture *f, qn_launch_arg args[3], const float *a, qn_mem *x,
                                   qn_mem *y, int n, qn_stream on)
{
    args[0] = (qn_launch_arg){ .value = a };
    args[1] = (qn_launch_arg){ .mem = x };
    args[2] = (qn_launch_arg){ .mem = y };
    return (qn_launch){ .module = f->module,
                        .kernel = &saxpy,
                        .kernel_i = SAXPY,
                        .span = { 0, n, 0, 1, 0, 1 },
                        .group = { 64, 1, 1 },
                        .grid = { (uint32_t)(n + 63) / 64, 1, 1 },
                        .args = args,
                        .stream = on };
}

static inline qn_status launch_saxpy(fixture *f, float a, qn_mem *x, qn_mem *y, int n, qn_stream on)
{
    qn_launch_arg args[3];
    const qn_launch call = saxpy_call(f, args, &a, x, y, n, on);

    return cu->launch(f->dev, &call, &f->err);
}

static inline void assert_all_equal(const float *values, int n, float expected)
{
    for (int i = 0; i < n; i++)
        assert_float_equal(values[i], expected, 0.0f);
}

#endif

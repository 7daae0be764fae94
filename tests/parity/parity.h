/* parity.h - runs the same work on the CPU and on every other available device, and compares
 * results.
 *
 * A fallback to the CPU would compare the CPU with itself, so it is an error here. Results are
 * written into the middle of a larger array whose ends must not change.
 */
#ifndef QN_TESTS_PARITY_H
#define QN_TESTS_PARITY_H

#include "engine_fixture.h"

#include "engine/ops/registry.h"
#include "hal/backend.h"
#include "hal/opencl/opencl.h"
#include "util/hash.h"

/* A place to run: a backend, with limits if it is simulated. */
typedef struct place {
    const char *name, *backend, *fault;
} place;

static const place cpu_place = { "cpu", "cpu", NULL };
static const place device_places[] = {
    { "sim", "sim", NULL },
    { "sim with a small grid", "sim", "sim.max_grid=4x4x1" },
    { "opencl", "opencl", NULL },
    { "cuda", "cuda", NULL },
};
enum { N_PLACES = sizeof device_places / sizeof device_places[0] };

/* Returns 0, with a message, if there is no such device. */
static inline int is_here(const place *at)
{
    const qn_backend *backend = qn_backend_find(at->backend);
    const char *hidden = getenv("QUERN_HIDE");
    const qn_hal_config config = { 0 };
    char reason[256] = "hidden by QUERN_HIDE";

    if (!(hidden && strstr(hidden, at->backend)) &&
        backend->count(&config, reason, sizeof reason) > 0)
        return 1;
    print_message("skipped on %s: %s\n", at->name, reason);
    return 0;
}

/* The same for work that needs a transform, which devices have from VkFFT. */
static inline int can_transform(const place *at)
{
    if (!is_here(at))
        return 0;
    if (!strcmp(at->backend, "sim") || qn_cl_fft_version())
        return 1;
    print_message("skipped on %s: this build has no VkFFT\n", at->name);
    return 0;
}

/* QUERN_TEST_OPENCL=opencl:1 selects another OpenCL device than the first. */
static inline const char *device_of(const place *at)
{
    const char *other = getenv("QUERN_TEST_OPENCL");

    return other && !strcmp(at->backend, "opencl") ? other : at->backend;
}

static inline qn_ctx *open_place(const place *at)
{
    return open_with(
        QN_OPTIONS(.backend = device_of(at), .fault = at->fault, .fallback = QN_FALLBACK_ERROR));
}

/* Arrays. */

static inline qn_buf *filled(qn_ctx *ctx, const char *name, const void *data, size_t bytes)
{
    qn_buf *buf = NULL;

    must(qn_buf_new(ctx, name, bytes ? bytes : 4, &buf, &failure));
    if (bytes)
        must(qn_buf_write(buf, 0, data, bytes, &failure));
    return buf;
}

static inline qn_buf *random_floats(qn_ctx *ctx, const char *name, size_t n, uint64_t seed)
{
    qn_buf *buf = NULL;
    void *data;

    must(qn_buf_new(ctx, name, (n ? n : 1) * sizeof(float), &buf, &failure));
    must(qn_buf_host(buf, QN_HOST_DISCARD, &data, &failure));
    for (size_t i = 0; i < n; i++)
        ((float *)data)[i] = qn_random_float(seed, i);
    return buf;
}

/* Results. */

enum { GUARD_BYTES = 1028, GUARD_VALUE = 0x5A };

/* A result in the making: `middle` is the output, `whole` includes the guards around it. */
typedef struct guarded {
    qn_buf *whole, *middle;
    size_t bytes;
} guarded;

static inline guarded guarded_new(qn_ctx *ctx, size_t bytes)
{
    guarded g = { .bytes = bytes };
    void *data;

    must(qn_buf_new(ctx, "guarded", bytes + 2 * GUARD_BYTES, &g.whole, &failure));
    must(qn_buf_host(g.whole, QN_HOST_DISCARD, &data, &failure));
    memset(data, GUARD_VALUE, bytes + 2 * GUARD_BYTES);
    must(qn_buf_view(g.whole, "result", GUARD_BYTES, bytes, &g.middle, &failure));
    return g;
}

/* The result of a run: owned by the caller, free with free(). */
typedef struct outcome {
    unsigned char *data;
    size_t bytes;
    const char *type; /* of the elements, as in kernel heads */
} outcome;

/* Takes the result out of `g` after checking its guards, and frees `g`. */
static inline outcome guarded_take(guarded *g, const char *type)
{
    const size_t whole = g->bytes + 2 * GUARD_BYTES;
    unsigned char *data = malloc(whole);
    outcome out = { .bytes = g->bytes, .type = type };

    assert_non_null(data);
    must(qn_buf_read(g->whole, 0, data, whole, &failure));
    for (size_t i = 0; i < GUARD_BYTES; i++)
        if (data[i] != GUARD_VALUE || data[whole - 1 - i] != GUARD_VALUE)
            fail_msg("%s wrote %zu bytes outside its result", type, i + 1);
    memmove(data, data + GUARD_BYTES, g->bytes);
    out.data = data;
    qn_buf_free(g->middle);
    qn_buf_free(g->whole);
    return out;
}

/* Runs the graph once, waits and frees it. */
static inline void run_graph(qn_graph *g)
{
    must(qn_graph_run(g, &failure));
    must(qn_graph_wait(g, &failure));
    qn_graph_free(g);
}

#endif

/* engine_fixture.h - a context, a few arrays and a graph, for tests of the engine.
 *
 * Tests run on `sim`: its memory is separate and poisoned, so a missing transfer cannot go
 * unnoticed. `fault` takes rules as in QUERN_FAULT, sim.* limits included.
 */
#ifndef QN_TESTS_ENGINE_FIXTURE_H
#define QN_TESTS_ENGINE_FIXTURE_H

#include "test.h"

#include <quern/graph.h>
#include <quern/metrics.h>

#include "kernel/vector.gen.h"

static inline qn_ctx *open_with(qn_options options)
{
    qn_ctx *ctx = NULL;
    qn_err err = { .text = "" };

    if (qn_ctx_open(&options, &ctx, &err) != QN_OK)
        fail_msg("open: %s", err.text);
    return ctx;
}

static inline qn_ctx *open_sim(const char *fault)
{
    return open_with(QN_OPTIONS(.backend = "sim", .fault = fault));
}

/* NULL, with a message, if the machine has no such device: a fallback to the CPU would look like a
 * pass. */
static inline qn_ctx *open_if_present(const char *backend)
{
    const qn_options options = QN_OPTIONS(.backend = backend, .fallback = QN_FALLBACK_ERROR);
    qn_ctx *ctx = NULL;
    qn_err err = { .text = "" };

    if (qn_ctx_open(&options, &ctx, &err) != QN_OK)
        print_message("skipped on %s: %s\n", backend, err.text);
    return ctx;
}

static inline int has_backend(const char *name)
{
    qn_ctx *ctx = open_if_present(name);

    qn_ctx_close(ctx);
    return ctx != NULL;
}

static inline qn_buf *array_of(qn_ctx *ctx, const char *name, int n)
{
    qn_buf *buf = NULL;

    must(qn_buf_new(ctx, name, (size_t)n * sizeof(float), &buf, &failure));
    return buf;
}

/* name[i] = first + i * step */
static inline qn_buf *ramp(qn_ctx *ctx, const char *name, int n, float first, float step)
{
    qn_buf *buf = array_of(ctx, name, n);
    void *data;

    must(qn_buf_host(buf, QN_HOST_DISCARD, &data, &failure));
    for (int i = 0; i < n; i++)
        ((float *)data)[i] = first + (float)i * step;
    return buf;
}

static inline float value_at(qn_buf *buf, int i)
{
    float v = 0;

    must(qn_buf_read(buf, (size_t)i * sizeof v, &v, sizeof v, &failure));
    return v;
}

static inline double count_of(qn_ctx *ctx, const char *name)
{
    return qn_metric_value(qn_ctx_metrics(ctx), name, NULL);
}

static inline double metric(qn_ctx *ctx, const char *name, const char *const *labels)
{
    return qn_metric_value(qn_ctx_metrics(ctx), name, labels);
}

#endif

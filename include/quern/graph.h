/* graph.h - stages and graphs.
 *
 * A graph is a list of stages in program order. What a stage reads and writes is known from the
 * head of its kernel, so dependencies, transfers, memory and the device are the engine's
 * business. A graph is built once and run many times; after the first run its submission is
 * recorded and replayed.
 *
 * Usually stages are added by the launchers generated from kernel heads
 * (build/kernel/<file>.gen.h: stage_saxpy(g, "name", range, a, x, y)), which check types.
 */
#ifndef QUERN_GRAPH_H
#define QUERN_GRAPH_H

#include <quern/buffer.h>
#include <quern/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qn_graph qn_graph;

/* Extents in points (MAP), groups (GROUP) or teams (TEAM), half open. At most 2^30 per axis;
 * a 1-D range may be longer when the kernel's body uses GI. */
typedef struct qn_range {
    qn_i64 x0, x1, y0, y1, z0, z1;
} qn_range;

static inline qn_range qn_range_1d(qn_i64 n)
{
    qn_range r = { 0, n, 0, 1, 0, 1 };
    return r;
}

static inline qn_range qn_range_2d(qn_i64 cols, qn_i64 rows)
{
    qn_range r = { 0, cols, 0, rows, 0, 1 };
    return r;
}

static inline qn_range qn_range_3d(qn_i64 cols, qn_i64 rows, qn_i64 layers)
{
    qn_range r = { 0, cols, 0, rows, 0, layers };
    return r;
}

/* One argument of a stage: a buffer (with a byte offset into it) or a value. */
typedef struct qn_arg {
    qn_buf *buf;
    size_t offset;
    const void *value; /* copied when the stage is added */
    size_t bytes;      /* of the value */
} qn_arg;

static inline qn_arg qn_arg_buf(qn_buf *buf)
{
    qn_arg a = { buf, 0, NULL, 0 };
    return a;
}

static inline qn_arg qn_arg_at(qn_buf *buf, size_t offset)
{
    qn_arg a = { buf, offset, NULL, 0 };
    return a;
}

static inline qn_arg qn_arg_val(const void *value, size_t bytes)
{
    qn_arg a = { NULL, 0, value, bytes };
    return a;
}

QN_API qn_status qn_graph_new(qn_ctx *ctx, const char *name, qn_graph **out, qn_err *err);

/* Waits for a run in flight, then frees. NULL is fine. */
QN_API void qn_graph_free(qn_graph *graph);

/* Adds a stage that runs `kernel` over `range`; `args` has one entry per argument of the head. The
 * stage's number (0, 1, 2, ...) is its place in program order. A MAP whose body has y[gx] (or
 * y[GI]) outside of any condition touches that element at every point: the buffer must have them
 * all, or the stage is refused. QUERN_CHECK_RANGES=1 checks every access of every kernel when it
 * runs. */
QN_API qn_status qn_graph_stage(qn_graph *graph, const char *name, const qn_kernel_info *kernel,
                                qn_range range, const qn_arg *args, qn_err *err);

/* The same by name: an op of the registry (registry.h), which may exist on the CPU only. */
QN_API qn_status qn_graph_op(qn_graph *graph, const char *name, const char *op, qn_range range,
                             const qn_arg *args, int n_args, qn_err *err);

/* A stage that is a C function on the host. data[i] is the host address of buffers[i]. */
typedef qn_status (*qn_host_fn)(void *user, void *const *data, qn_err *err);
QN_API qn_status qn_graph_host(qn_graph *graph, const char *name, qn_host_fn fn, void *user,
                               qn_buf *const *buffers, const qn_arg_mode *modes, int n_buffers,
                               qn_err *err);

/* An array that lives only inside runs of the graph. Temporaries whose lifetimes do not meet
 * share memory. Owned by the graph: do not free it. */
QN_API qn_status qn_graph_temp(qn_graph *graph, const char *name, size_t bytes, qn_buf **out,
                               qn_err *err);

/* Every run downloads `buf` into its host copy at the end, without being waited for. */
QN_API qn_status qn_graph_output(qn_graph *graph, qn_buf *buf, qn_err *err);

/* Stage `after` waits for stage `before`, besides what the buffers imply. */
QN_API qn_status qn_graph_edge(qn_graph *graph, int before, int after, qn_err *err);

/* Pins stage `stage` to a device ("cpu", "cuda:0") instead of leaving it to the router. */
QN_API qn_status qn_graph_pin(qn_graph *graph, int stage, const char *device, qn_err *err);

/* Replaces the value of argument `arg` of stage `stage`. A recorded run is updated in place. */
QN_API qn_status qn_graph_set(qn_graph *graph, int stage, int arg, const void *value, qn_err *err);

/* Validates, orders, chooses devices, compiles kernels, plans temporaries. Done by the first
 * run when it was not called. */
QN_API qn_status qn_graph_compile(qn_graph *graph, qn_err *err);

/* Submits the whole graph in one pass and returns without waiting for the device. */
QN_API qn_status qn_graph_run(qn_graph *graph, qn_err *err);

/* Waits for the last run; returns its failure. */
QN_API qn_status qn_graph_wait(qn_graph *graph, qn_err *err);

/* 1 when qn_graph_wait would return at once: the run is over, or has failed. */
QN_API int qn_graph_is_done(qn_graph *graph);

/* Chooses what a failing device means for runs of this graph. QN_FALLBACK_ERROR: the run, or the
 * wait for it, returns the failure with its own status; nothing runs on the CPU instead, and no
 * fallback is counted. Any other value: the policy of the context. */
QN_API void qn_graph_set_fallback(qn_graph *graph, qn_fallback_policy policy);

typedef struct qn_graph_stats {
    uint64_t runs, captures, replays, submissions, crossings;
    qn_transfer_count transfers; /* of all runs */
    int n_stages, n_temps;
    size_t temp_bytes, temp_bytes_shared; /* wanted; really held */
    int n_fused; /* stages that run as part of one with others, since the last compilation */
} qn_graph_stats;

QN_API qn_graph_stats qn_graph_get_stats(const qn_graph *graph);

/* The device that ran stage `stage` in the last run ("cuda:0"), NULL before the first; and
 * whether that was the CPU because the device chosen for it failed. */
QN_API const char *qn_graph_stage_device(const qn_graph *graph, int stage);
QN_API int qn_graph_stage_fell_back(const qn_graph *graph, int stage);

/* Writes a memory map in Markdown: buffers, their first and last use, devices, transfers. */
QN_API qn_status qn_graph_memory_map(const qn_graph *graph, const char *path, qn_err *err);

#ifdef __cplusplus
}
#endif
#endif

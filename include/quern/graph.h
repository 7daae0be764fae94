/* graph.h - stages and graphs.
 *
 * A graph is a list of stages in program order. The head of a kernel says what a stage reads and
 * writes, so the engine works out dependencies, transfers, memory and the device. A graph is built
 * once and run many times; after the first run its submission is recorded and replayed.
 *
 * Stages are usually added by the launchers generated from kernel heads (build/kernel/<file>.gen.h:
 * stage_saxpy(g, "name", range, a, x, y)), which check types.
 */
#ifndef QUERN_GRAPH_H
#define QUERN_GRAPH_H

#include <quern/buffer.h>
#include <quern/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qn_graph qn_graph;

/* Extents in points (MAP), groups (GROUP) or teams (TEAM), half open. At most 2^30 per axis; a 1-D
 * range may be longer if the kernel's body uses GI. */
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

/* Adds a stage that runs `kernel` over `range`; `args` has one entry per argument of the head.
 * Stages are numbered 0, 1, 2, ... in program order. A MAP with y[gx] (or y[GI]) outside any
 * condition touches that element at every point: if the buffer is too short for that, the stage is
 * refused. QUERN_CHECK_RANGES=1 checks every access of every kernel when it runs. */
QN_API qn_status qn_graph_stage(qn_graph *graph, const char *name, const qn_kernel_info *kernel,
                                qn_range range, const qn_arg *args, qn_err *err);

/* Adds a stage by the name of its op in the registry (registry.h); the op may exist on the CPU
 * only. */
QN_API qn_status qn_graph_op(qn_graph *graph, const char *name, const char *op, qn_range range,
                             const qn_arg *args, int n_args, qn_err *err);

/* Adds a stage that is a C function on the host. data[i] is the host address of buffers[i]. */
typedef qn_status (*qn_host_fn)(void *user, void *const *data, qn_err *err);
QN_API qn_status qn_graph_host(qn_graph *graph, const char *name, qn_host_fn fn, void *user,
                               qn_buf *const *buffers, const qn_arg_mode *modes, int n_buffers,
                               qn_err *err);

/* Makes an array that exists only during runs of the graph. Temporaries whose lifetimes do not
 * overlap share memory. The graph owns it: do not free it. */
QN_API qn_status qn_graph_temp(qn_graph *graph, const char *name, size_t bytes, qn_buf **out,
                               qn_err *err);

/* Every run ends by downloading `buf` into its host copy, without waiting for it. */
QN_API qn_status qn_graph_output(qn_graph *graph, qn_buf *buf, qn_err *err);

/* Makes stage `after` wait for stage `before`, in addition to the order that the buffers imply. */
QN_API qn_status qn_graph_edge(qn_graph *graph, int before, int after, qn_err *err);

/* Pins stage `stage` to a device ("cpu", "cuda:0") instead of leaving it to the router. */
QN_API qn_status qn_graph_pin(qn_graph *graph, int stage, const char *device, qn_err *err);

/* Replaces the value of argument `arg` of stage `stage`. A recorded run is updated in place. */
QN_API qn_status qn_graph_set(qn_graph *graph, int stage, int arg, const void *value, qn_err *err);

/* Validates, orders, chooses devices, compiles kernels, plans temporaries. Optional: the first run
 * does it otherwise. */
QN_API qn_status qn_graph_compile(qn_graph *graph, qn_err *err);

/* Submits the whole graph in one pass and returns without waiting for the device. */
QN_API qn_status qn_graph_run(qn_graph *graph, qn_err *err);

/* Waits for the last run and returns its status. */
QN_API qn_status qn_graph_wait(qn_graph *graph, qn_err *err);

/* 1 if qn_graph_wait would return at once: the run is over, or has failed. */
QN_API int qn_graph_is_done(qn_graph *graph);

/* Sets what happens to runs of this graph when a device fails. With QN_FALLBACK_ERROR, the run or
 * the wait for it returns the failure with its own status; nothing runs on the CPU instead, and no
 * fallback is counted. Any other value means the policy of the context. */
QN_API void qn_graph_set_fallback(qn_graph *graph, qn_fallback_policy policy);

typedef struct qn_graph_stats {
    uint64_t runs, captures, replays, submissions, crossings;
    qn_transfer_count transfers; /* of all runs */
    int n_stages, n_temps;
    size_t temp_bytes, temp_bytes_shared; /* sum of all temporaries; bytes allocated */
    int n_fused;                          /* stages that the last compilation fused with others */
} qn_graph_stats;

QN_API qn_graph_stats qn_graph_get_stats(const qn_graph *graph);

/* The device that ran stage `stage` in the last run ("cuda:0"), NULL before the first run; and
 * whether the CPU ran it because the chosen device failed. */
QN_API const char *qn_graph_stage_device(const qn_graph *graph, int stage);
QN_API int qn_graph_stage_fell_back(const qn_graph *graph, int stage);

/* Writes a memory map in Markdown: buffers, their first and last use, devices, transfers. */
QN_API qn_status qn_graph_memory_map(const qn_graph *graph, const char *path, qn_err *err);

#ifdef __cplusplus
}
#endif
#endif

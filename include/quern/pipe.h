/* pipe.h - a sequence of batches through one graph.
 *
 * While batch N computes, the host prepares N + 1, and N - 1 is read back. A pipe has `depth`
 * slots, each with buffers and a graph of its own; each batch takes the next slot, so at most
 * `depth` are in flight. Results are delivered in order and do not depend on the depth.
 */
#ifndef QUERN_PIPE_H
#define QUERN_PIPE_H

#include <quern/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qn_pipe qn_pipe;

enum { QN_PIPE_DEPTH = 2, QN_PIPE_MAX_DEPTH = 8 };

/* The work, as three calls. Each returns QN_OK, or a failure with a message in `err`. */
typedef struct qn_pipe_work {
    void *user;
    /* Makes the buffers of a slot and adds their stages and outputs to `graph`. */
    qn_status (*build)(void *user, int slot, qn_graph *graph, qn_err *err);
    /* Fills the inputs of the slot for batch number `batch`. */
    qn_status (*prepare)(void *user, int slot, qn_i64 batch, qn_err *err);
    /* Reads the outputs of the slot; called once per batch, in order. */
    qn_status (*deliver)(void *user, int slot, qn_i64 batch, qn_err *err);
} qn_pipe_work;

typedef struct qn_pipe_stats {
    double wall_us, prepare_us, h2d_us, compute_us, d2h_us; /* of all runs */
    double overlap_ratio;                                   /* 1 - wall / sum of the phases */
    int queue_depth_peak;
    uint64_t batches;
} qn_pipe_stats;

/* Depth 0 means QUERN_PIPELINE, else 2. A depth above 8 is QN_ERR_LIMIT. */
QN_API qn_status qn_pipe_open(qn_ctx *ctx, const char *name, int depth, const qn_pipe_work *work,
                              qn_pipe **out, qn_err *err);
QN_API void qn_pipe_close(qn_pipe *pipe); /* NULL is fine */

/* Runs batches 0 .. n_batches - 1; returns when all are delivered. */
QN_API qn_status qn_pipe_run(qn_pipe *pipe, qn_i64 n_batches, qn_err *err);

QN_API qn_pipe_stats qn_pipe_get_stats(const qn_pipe *pipe);

#ifdef __cplusplus
}
#endif
#endif

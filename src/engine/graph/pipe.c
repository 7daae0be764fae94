/* pipe.c - keeps several batches in flight.
 *
 * One host thread is enough: it prepares and delivers while the device works on the other slots,
 * because submission never waits. Each slot has its own compute stream, so the copies of one
 * batch overlap the kernels of another.
 */
#include <quern/pipe.h>

#include "engine/graph/run.h"

#include "util/env.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    qn_graph *graph;
    qn_i64 batch; /* in flight, -1 when free */
} pipe_slot;

struct qn_pipe {
    qn_ctx *ctx;
    char name[64];
    qn_pipe_work work;
    pipe_slot slots[QN_PIPE_MAX_DEPTH];
    int depth, in_flight;
    qn_pipe_stats stats;
};

static qn_status pick_depth(int depth, int *out, qn_err *err)
{
    const int wanted = depth ? depth : (int)qn_env_number("QUERN_PIPELINE", QN_PIPE_DEPTH);

    if (wanted < 1 || wanted > QN_PIPE_MAX_DEPTH)
        return qn_fail(err, QN_ERR_LIMIT, "pipeline depth %d is not between 1 and %d", wanted,
                       QN_PIPE_MAX_DEPTH);
    *out = wanted;
    return QN_OK;
}

/* Adds a message if the caller's function failed without one. */
static qn_status said(const qn_pipe *pipe, const char *what, qn_status st, qn_err *err)
{
    return st == QN_OK || err->status == st
               ? st
               : qn_fail(err, st, "pipe %s: %s failed", pipe->name, what);
}

static qn_status open_slot(qn_pipe *pipe, int s, qn_err *err)
{
    pipe_slot *slot = &pipe->slots[s];
    qn_status st = qn_graph_new(pipe->ctx, pipe->name, &slot->graph, err);

    slot->batch = -1;
    if (st != QN_OK)
        return st;
    slot->graph->stream = QN_COMPUTE + s;
    slot->graph->is_fenced = 1; /* else the end of batch N would be seen only with that of N + 1 */
    return said(pipe, "build", pipe->work.build(pipe->work.user, s, slot->graph, err), err);
}

qn_status qn_pipe_open(qn_ctx *ctx, const char *name, int depth, const qn_pipe_work *work,
                       qn_pipe **out, qn_err *err)
{
    qn_err own;
    qn_pipe *pipe = calloc(1, sizeof *pipe);
    qn_status st = QN_OK;

    err = qn_err_begin(err, &own);
    QN_TRY(QN_CHECK_CALL(ctx, err, ctx, name, work, out));
    if (!pipe)
        QN_FAIL(err, QN_ERR_NOMEM, "pipe %s: out of host memory", name);
    pipe->ctx = ctx;
    pipe->work = *work;
    strncpy(pipe->name, name, sizeof pipe->name - 1);
    QN_TRY(pick_depth(depth, &pipe->depth, err));
    for (int s = 0; s < pipe->depth; s++)
        QN_TRY(open_slot(pipe, s, err));
    *out = pipe;
    pipe = NULL;
out:
    qn_pipe_close(pipe);
    return st;
}

void qn_pipe_close(qn_pipe *pipe)
{
    if (!pipe)
        return;
    for (int s = 0; s < pipe->depth; s++)
        qn_graph_free(pipe->slots[s].graph);
    free(pipe);
}

/* Waits for the slot's batch and delivers it. */
static qn_status finish(qn_pipe *pipe, pipe_slot *slot, qn_err *err)
{
    const qn_i64 batch = slot->batch;
    qn_status st;

    if (batch < 0)
        return QN_OK;
    slot->batch = -1;
    pipe->in_flight--;
    if ((st = qn_graph_wait(slot->graph, err)) != QN_OK)
        return st;
    pipe->stats.batches++;
    return said(pipe, "deliver",
                pipe->work.deliver(pipe->work.user, (int)(slot - pipe->slots), batch, err), err);
}

/* Timing the steps of a batch waits for each step, so only the first batch of a pipe is timed: it
 * compiles kernels and allocates memory anyway, and nothing else is in flight. */
static qn_status run_slot(const qn_pipe *pipe, const pipe_slot *slot, qn_err *err)
{
    qn_graph *graph = slot->graph;
    qn_status st;

    graph->is_timed = slot == pipe->slots && !graph->stats.runs;
    st = qn_graph_run(graph, err);
    graph->timed_runs += graph->is_timed && st == QN_OK;
    graph->is_timed = 0;
    return st;
}

static qn_status start(qn_pipe *pipe, pipe_slot *slot, qn_i64 batch, qn_err *err)
{
    const double begin = qn_ctx_now_us(pipe->ctx);
    qn_status st = pipe->work.prepare(pipe->work.user, (int)(slot - pipe->slots), batch, err);

    if (st != QN_OK)
        return said(pipe, "prepare", st, err);
    pipe->stats.prepare_us += qn_ctx_now_us(pipe->ctx) - begin;
    if ((st = run_slot(pipe, slot, err)) != QN_OK)
        return st;
    slot->batch = batch;
    pipe->in_flight++;
    if (pipe->in_flight > pipe->stats.queue_depth_peak)
        pipe->stats.queue_depth_peak = pipe->in_flight;
    return QN_OK;
}

/* Sums up the phases; batches that were not timed step by step are assumed to take as long as those
 * that were. */
static void sum_phases(qn_pipe *pipe)
{
    double us[3] = { 0 };
    uint64_t timed = 0;

    for (int s = 0; s < pipe->depth; s++) {
        const qn_graph *graph = pipe->slots[s].graph;

        us[0] += graph->phase_us[QN_STEP_UPLOAD];
        us[1] += graph->phase_us[QN_STEP_STAGE];
        us[2] += graph->phase_us[QN_STEP_DOWNLOAD];
        timed += graph->timed_runs;
    }
    if (!timed)
        return;
    pipe->stats.h2d_us = us[0] / (double)timed * (double)pipe->stats.batches;
    pipe->stats.compute_us = us[1] / (double)timed * (double)pipe->stats.batches;
    pipe->stats.d2h_us = us[2] / (double)timed * (double)pipe->stats.batches;
}

static void publish(qn_pipe *pipe)
{
    qn_pipe_stats *s = &pipe->stats;
    qn_metrics *m = pipe->ctx->metrics;
    double sum;

    sum_phases(pipe);
    sum = s->prepare_us + s->h2d_us + s->compute_us + s->d2h_us;
    s->overlap_ratio = sum > 0 ? 1 - s->wall_us / sum : 0;
    qn_metric_set(qn_metric_of(m, "pipe_wall_us", NULL), s->wall_us);
    qn_metric_set(qn_metric_of(m, "pipe_prepare_us", NULL), s->prepare_us);
    qn_metric_set(qn_metric_of(m, "pipe_h2d_us", NULL), s->h2d_us);
    qn_metric_set(qn_metric_of(m, "pipe_compute_us", NULL), s->compute_us);
    qn_metric_set(qn_metric_of(m, "pipe_d2h_us", NULL), s->d2h_us);
    qn_metric_set(qn_metric_of(m, "overlap_ratio", NULL), s->overlap_ratio);
}

qn_status qn_pipe_run(qn_pipe *pipe, qn_i64 n_batches, qn_err *err)
{
    qn_err own;
    double begin;
    qn_status st;

    err = qn_err_begin(err, &own);
    if ((st = QN_CHECK_CALL(pipe ? pipe->ctx : NULL, err, pipe)) != QN_OK)
        return st;
    begin = qn_ctx_now_us(pipe->ctx);
    for (qn_i64 b = 0; b < n_batches; b++) {
        pipe_slot *slot = &pipe->slots[b % pipe->depth];

        QN_TRY(finish(pipe, slot, err));
        QN_TRY(start(pipe, slot, b, err));
    }
    for (qn_i64 b = n_batches; b < n_batches + pipe->depth; b++)
        QN_TRY(finish(pipe, &pipe->slots[b % pipe->depth], err));
out:
    for (int s = 0; st != QN_OK && s < pipe->depth; s++) {
        qn_graph_wait(pipe->slots[s].graph, NULL);
        pipe->slots[s].batch = -1;
    }
    if (st != QN_OK)
        pipe->in_flight = 0;
    pipe->stats.wall_us += qn_ctx_now_us(pipe->ctx) - begin;
    publish(pipe);
    return st;
}

qn_pipe_stats qn_pipe_get_stats(const qn_pipe *pipe)
{
    return pipe->stats;
}

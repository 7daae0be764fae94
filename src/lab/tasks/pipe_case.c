/* pipe_case.c - the reference case, with data in ordinary memory, as callers have it.
 *
 * Preparing a batch copies its operands into the arrays of the slot; delivering copies the result
 * out. Numbers are generated and checked outside the timed part.
 */
#include "bench.h"

#include "domain/tasks/task.h"

#include "engine/engine.h"
#include "lab/owned.h"
#include "kernel/vector.gen.h"

#include <math.h>
#include <string.h>

typedef struct {
    qn_buf *x, *y, *out;
} slot_arrays;

typedef struct {
    qn_ctx *ctx;
    const qn_pipe_case *what;
    size_t bytes; /* of one operand of one task */
    float *x, *y, *out;
    slot_arrays slots[QN_PIPE_MAX_DEPTH];
    qn_owned owned; /* all these arrays */
} work;

static qn_status build(void *user, int slot, qn_graph *graph, qn_err *err)
{
    work *w = user;
    slot_arrays *s = &w->slots[slot];
    qn_status st = QN_OK;

    QN_TRY(qn_owned_buf(&w->owned, w->ctx, "pipe.x", w->bytes, &s->x, err));
    QN_TRY(qn_owned_buf(&w->owned, w->ctx, "pipe.y", w->bytes, &s->y, err));
    QN_TRY(qn_owned_buf(&w->owned, w->ctx, "pipe.sum", w->bytes, &s->out, err));
    QN_TRY(stage_vadd(graph, "vadd", qn_range_1d(w->what->elems), s->x, s->y, s->out, err));
    QN_TRY(qn_graph_output(graph, s->out, err));
out:
    return st;
}

static qn_status prepare(void *user, int slot, qn_i64 batch, qn_err *err)
{
    work *w = user;
    const qn_i64 at = batch * w->what->elems;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_write(w->slots[slot].x, 0, w->x + at, w->bytes, err));
    QN_TRY(qn_buf_write(w->slots[slot].y, 0, w->y + at, w->bytes, err));
out:
    return st;
}

static qn_status deliver(void *user, int slot, qn_i64 batch, qn_err *err)
{
    work *w = user;

    return qn_buf_read(w->slots[slot].out, 0, w->out + batch * w->what->elems, w->bytes, err);
}

static qn_status make_data(work *w, qn_err *err)
{
    size_t total;
    qn_status st = QN_OK;

    QN_TRY(qn_size_mul(w->bytes, (size_t)w->what->n_tasks, "pipe", &total, err));
    QN_TRY(qn_owned_memory(&w->owned, total, &w->x, err));
    QN_TRY(qn_owned_memory(&w->owned, total, &w->y, err));
    QN_TRY(qn_owned_memory(&w->owned, total, &w->out, err));
    for (int t = 0; t < w->what->n_tasks; t++) {
        const qn_i64 at = t * w->what->elems;

        qn_task_random(w->x + at, w->what->seed + 10 * (uint64_t)t, 0, w->what->elems);
        qn_task_random(w->y + at, w->what->seed + 10 * (uint64_t)t + 1, 0, w->what->elems);
    }
out:
    return st;
}

static qn_status check_data(const work *w, qn_err *err)
{
    const qn_i64 n = w->what->elems * w->what->n_tasks;

    for (qn_i64 i = 0; i < n; i++) {
        const float want = w->x[i] + w->y[i];

        if (want != w->out[i])
            return qn_fail(err, QN_ERR_MISMATCH, "pipe: element %lld of task %lld differs",
                           (long long)(i % w->what->elems), (long long)(i / w->what->elems));
    }
    return QN_OK;
}

/* Phases of the device are known per batch, whichever batches were timed. */
static qn_pipe_stats per_round(qn_pipe_stats now, qn_pipe_stats before, const qn_pipe_case *what)
{
    const double share = (double)what->n_tasks / (double)now.batches;
    qn_pipe_stats out = now;
    double sum;

    out.wall_us = (now.wall_us - before.wall_us) / what->rounds;
    out.prepare_us = (now.prepare_us - before.prepare_us) / what->rounds;
    out.h2d_us = now.h2d_us * share;
    out.compute_us = now.compute_us * share;
    out.d2h_us = now.d2h_us * share;
    sum = out.prepare_us + out.h2d_us + out.compute_us + out.d2h_us;
    /* Phases come from timed batches, the wall time from others: without overlap it may exceed
     * them. */
    out.overlap_ratio = qn_pipe_has_copies(&out) ? fmax(0, 1 - out.wall_us / sum) : 0;
    return out;
}

typedef struct rounds {
    const work *work;
    qn_pipe *pipe;
    int n_done;
    qn_pipe_stats warm, last; /* after the first round, which warms up; after the last */
} rounds;

static qn_status run_round(void *user, double *us, qn_err *err)
{
    rounds *r = user;
    const work *w = r->work;
    const double before = r->last.wall_us;
    qn_status st = QN_OK;

    QN_TRY(qn_pipe_run(r->pipe, w->what->n_tasks, err));
    r->last = qn_pipe_get_stats(r->pipe);
    *us = r->last.wall_us - before;
    if (r->n_done++)
        goto out;
    memset(w->out, 0, w->bytes * (size_t)w->what->n_tasks);
    r->warm = r->last;
out:
    return st;
}

qn_status qn_pipe_case_run(qn_ctx *ctx, const qn_pipe_case *what, int depth, qn_pipe_result *out,
                           qn_err *err)
{
    work w = { .ctx = ctx, .what = what, .bytes = (size_t)what->elems * sizeof(float) };
    const qn_pipe_work calls = { &w, build, prepare, deliver };
    rounds r = { .work = &w };
    qn_timing timing;
    qn_status st = QN_OK;

    QN_TRY(make_data(&w, err));
    QN_TRY(qn_pipe_open(ctx, "pipe", depth, &calls, &r.pipe, err));
    QN_TRY(qn_time(0, what->rounds, run_round, &r, &timing, err));
    QN_TRY(check_data(&w, err));
    out->depth = depth;
    out->wall_us = timing.samples;
    out->phases = per_round(r.last, r.warm, what);
    out->checksum = qn_fnv1a64(w.out, w.bytes * (size_t)what->n_tasks);
out:
    qn_pipe_close(r.pipe);
    qn_owned_free(&w.owned, 0);
    return st;
}

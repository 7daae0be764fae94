/* capture.c - records a plan as one graph of the device.
 *
 * During capture every step goes to a stream of the device, and the order between streams is
 * recorded as events. Copies of small plans stay on the graph's own stream, because an edge between
 * streams costs a few microseconds. Plans that move much data get separate streams for copies, so
 * that in a replay the uploads of one stage overlap with computing another and reading back a
 * third: eight vadds of 500 000 floats from host to host take about the time of their uploads.
 * Branches of the graph fork from its own stream and join it again.
 */
#include "engine/graph/run.h"

#include <stdlib.h>

/* From this size on, overlapping copies gains more than the edges between streams cost. */
static const size_t overlap_from_bytes = (size_t)1 << 20;

/* Compiles every kernel before capture, because compiling inside one is not allowed. */
static qn_status prepare_modules(qn_graph *graph, const qn_plan *plan, qn_err *err)
{
    qn_plan_ahead(graph, plan);
    for (int i = 0; i < plan->n; i++) {
        const qn_step *step = &plan->steps[i];
        qn_stage *stage = &graph->stages[step->stage];
        qn_status st;

        if (step->kind != QN_STEP_STAGE || !stage->kernel)
            continue;
        st = qn_stage_module(stage, &graph->ctx->devices[step->device], err);
        if (st != QN_OK)
            return st;
    }
    return QN_OK;
}

/* A captured stream cannot wait for outside work, so everything that the steps would wait for must
 * have ended. Other graphs may still be in flight on the device. */
static qn_status settle(qn_graph *graph, const qn_recording *r, qn_device *device, qn_err *err)
{
    qn_status st = QN_OK;

    for (int b = 0; b < graph->n_bufs; b++) {
        qn_buf *root = graph->bufs[b].root;
        const qn_copy *copy = &root->copies[device->slot];
        const qn_touch t = r->plan.touched[b];

        if (t.where >> QN_CPU_SLOT & 1)
            QN_TRY(qn_buf_await_host(root, err));
        if (t.writes >> QN_CPU_SLOT & 1)
            QN_TRY(qn_buf_await_host_write(root, err));
        if (t.writes >> device->slot & 1)
            QN_TRY(qn_points_await(device, &copy->used, err));
        else if (t.where >> device->slot & 1)
            QN_TRY(qn_point_await(device, copy->written, err));
    }
    for (int t = 0; t < graph->n_slots; t++)
        QN_TRY(qn_points_await(device, &graph->slots[t].used[device->slot], err));
out:
    return st;
}

/* The copy or the last write of a buffer, for streams that must wait for it. */
typedef struct {
    qn_event *event;
    unsigned seen; /* streams that need not wait for it, one bit each */
} ready_mark;

/* A capture in progress. */
typedef struct {
    qn_graph *graph;
    qn_recording *r;
    qn_device *device;
    qn_stream upload, download;
    unsigned streams;  /* streams that take part, one bit each */
    ready_mark *ready; /* per buffer */
    int *last_writer;  /* per downloaded buffer: the step that writes it last, else -1 */
    int next_meet;
} capture_run;

static int is_worth_overlapping(const qn_graph *graph, const qn_plan *plan)
{
    size_t bytes = 0;
    int n_stages = 0;

    for (int i = 0; i < plan->n; i++) {
        if (plan->steps[i].kind == QN_STEP_STAGE)
            n_stages++;
        else
            bytes += graph->bufs[plan->steps[i].buf_i].root->bytes;
    }
    return n_stages > 1 && bytes >= overlap_from_bytes;
}

/* Streams join a capture by waiting for one of its events. */
static qn_status fork_streams(const capture_run *c, qn_err *err)
{
    const qn_backend *backend = c->device->backend;
    const unsigned others = c->streams & ~(1u << c->graph->stream);
    qn_event *begin = NULL;
    qn_status st = QN_OK;

    if (!others)
        return QN_OK;
    QN_TRY(backend->record(c->device->dev, c->graph->stream, &begin, err));
    for (qn_stream on = 0; on < QN_N_STREAMS; on++)
        if (others >> on & 1)
            QN_TRY(backend->wait(c->device->dev, on, begin, err));
out:
    if (begin)
        backend->drop(c->device->dev, begin);
    return st;
}

static qn_status join_stream(const capture_run *c, qn_stream on, qn_err *err)
{
    const qn_backend *backend = c->device->backend;
    qn_event *end = NULL;
    qn_status st = QN_OK;

    QN_TRY(backend->record(c->device->dev, on, &end, err));
    QN_TRY(backend->wait(c->device->dev, c->graph->stream, end, err));
out:
    if (end)
        backend->drop(c->device->dev, end);
    return st;
}

/* `on` waits until another stream has finished with buffer `b`. */
static qn_status wait_ready(capture_run *c, int b, qn_stream on, qn_err *err)
{
    ready_mark *ready = &c->ready[b];

    if (!ready->event || ready->seen >> on & 1)
        return QN_OK;
    ready->seen |= 1u << on;
    return c->device->backend->wait(c->device->dev, on, ready->event, err);
}

static qn_status mark_ready(capture_run *c, int b, qn_stream on, qn_err *err)
{
    ready_mark *ready = &c->ready[b];

    if (c->streams == 1u << on)
        return QN_OK;
    if (ready->event)
        c->device->backend->drop(c->device->dev, ready->event);
    *ready = (ready_mark){ .seen = 1u << on };
    return c->device->backend->record(c->device->dev, on, &ready->event, err);
}

static qn_stream compute_of(const capture_run *c, const qn_step *step)
{
    return qn_branch_stream(c->graph, c->r->plan.branches.on[step->stage]);
}

static qn_status before_step(capture_run *c, const qn_step *step, qn_err *err)
{
    const qn_stage *stage = &c->graph->stages[step->stage];
    qn_status st = QN_OK;

    if (step->kind == QN_STEP_DOWNLOAD)
        return wait_ready(c, step->buf_i, c->download, err);
    if (step->kind != QN_STEP_STAGE)
        return QN_OK;
    QN_TRY(qn_branches_begin(c->graph, &c->r->plan.branches, step->stage, &c->next_meet, err));
    for (int a = 0; a < stage->n_args; a++)
        if (stage->args[a].buf_i >= 0)
            QN_TRY(wait_ready(c, stage->args[a].buf_i, compute_of(c, step), err));
out:
    return st;
}

static qn_status after_step(capture_run *c, int i, qn_err *err)
{
    const qn_step *step = &c->r->plan.steps[i];
    qn_status st = QN_OK;

    if (step->kind == QN_STEP_UPLOAD)
        return mark_ready(c, step->buf_i, c->upload, err);
    if (step->kind != QN_STEP_STAGE)
        return QN_OK;
    QN_TRY(qn_branches_end(c->graph, &c->r->plan.branches, step->stage,
                           (qn_point){ compute_of(c, step), 0 }, err));
    for (int b = 0; b < c->graph->n_bufs; b++)
        if (c->last_writer[b] == i)
            QN_TRY(mark_ready(c, b, compute_of(c, step), err));
out:
    return st;
}

static qn_status capture_steps(capture_run *c, qn_err *err)
{
    qn_recording *r = c->r;
    int n_launches = 0;
    qn_status st = QN_OK;

    QN_TRY(fork_streams(c, err));
    for (int i = 0; i < r->plan.n; i++) {
        const qn_step *step = &r->plan.steps[i];
        const qn_lanes lanes = { c->upload, compute_of(c, step), c->download };
        int parts = 0;

        QN_TRY(before_step(c, step, err));
        QN_TRY(qn_submit_step(c->graph, step, &lanes, &parts, err));
        QN_TRY(after_step(c, i, err));
        if (step->kind != QN_STEP_STAGE)
            continue;
        r->launch_i[step->stage] = parts == 1 ? n_launches : -1;
        r->shapes[step->stage] = c->graph->stages[step->stage].last;
        n_launches += parts;
    }
    for (qn_stream on = 0; on < QN_N_STREAMS; on++)
        if (c->streams >> on & 1 && on != c->graph->stream)
            QN_TRY(join_stream(c, on, err));
out:
    return st;
}

/* A download needs only the last stage that writes its buffer, not all that come after. */
static void find_writers(capture_run *c)
{
    const qn_plan *plan = &c->r->plan;

    for (int b = 0; b < c->graph->n_bufs; b++)
        c->last_writer[b] = -1;
    for (int d = 0; d < plan->n; d++) {
        const int b = plan->steps[d].buf_i;

        if (plan->steps[d].kind != QN_STEP_DOWNLOAD)
            continue;
        for (int i = d - 1; i >= 0 && c->last_writer[b] < 0; i--)
            if (plan->steps[i].kind == QN_STEP_STAGE &&
                qn_stage_writes(&c->graph->stages[plan->steps[i].stage], b))
                c->last_writer[b] = i;
    }
}

static qn_status open_run(capture_run *c, qn_err *err)
{
    c->upload = c->download = c->graph->stream;
    c->ready = calloc((size_t)c->graph->n_bufs + 1, sizeof *c->ready);
    c->last_writer = calloc((size_t)c->graph->n_bufs + 1, sizeof *c->last_writer);
    if (!c->ready || !c->last_writer)
        return qn_fail(err, QN_ERR_NOMEM, "graph %s: out of host memory", c->graph->name);
    find_writers(c);
    if (is_worth_overlapping(c->graph, &c->r->plan) && c->device->info.has_async_copy) {
        c->upload = QN_UPLOAD;
        c->download = QN_DOWNLOAD;
    }
    c->streams = 1u << c->graph->stream | 1u << c->upload | 1u << c->download;
    for (qn_stream on = 0; on < QN_N_COMPUTE; on++)
        if (c->r->plan.branches.used >> on & 1)
            c->streams |= 1u << qn_branch_stream(c->graph, on);
    return QN_OK;
}

static void close_run(capture_run *c)
{
    for (int b = 0; c->ready && b < c->graph->n_bufs; b++)
        if (c->ready[b].event)
            c->device->backend->drop(c->device->dev, c->ready[b].event);
    qn_branches_drop(c->graph, &c->r->plan.branches);
    free(c->ready);
    free(c->last_writer);
}

qn_status qn_capture(qn_graph *graph, qn_recording *r, qn_err *err)
{
    qn_device *device = &graph->ctx->devices[r->device];
    capture_run c = { .graph = graph, .r = r, .device = device };
    qn_status st = QN_OK, ended;
    qn_err second;

    QN_TRY(open_run(&c, err));
    QN_TRY(prepare_modules(graph, &r->plan, err));
    QN_TRY(settle(graph, r, device, err));
    QN_TRY(device->backend->capture_begin(device->dev, graph->stream, err));
    st = capture_steps(&c, err);
    ended = device->backend->capture_end(device->dev, graph->stream, &r->replay,
                                         st == QN_OK ? err : &second);
    if (st == QN_OK)
        st = ended;
out:
    close_run(&c);
    return st;
}

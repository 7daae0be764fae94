/* record.c - recorded runs.
 *
 * A run that starts from the same residency as an earlier run needs no planning. If the device can
 * capture, the whole submission is one replay; otherwise the recorded steps are submitted again
 * without planning or validation. A graph has up to four recordings, since the first run (inputs
 * uploaded) and the next (inputs resident) have different plans.
 */
#include "engine/graph/run.h"

#include <stdlib.h>

static void free_recording(qn_graph *graph, qn_recording *r)
{
    qn_device *device = &graph->ctx->devices[r->device];
    qn_err ignored;

    if (r->replay) /* it may still be running */
        qn_points_await(device, &graph->last[r->device], &ignored);
    if (r->replay)
        device->backend->replay_free(device->dev, r->replay);
    qn_plan_free(&r->plan);
    free(r->launch_i);
    free(r->shapes);
    *r = (qn_recording){ 0 };
}

void qn_record_free(qn_graph *graph)
{
    for (int i = 0; i < QN_MAX_RECORDINGS; i++)
        if (graph->recordings[i].plan.n)
            free_recording(graph, &graph->recordings[i]);
}

qn_recording *qn_record_find(qn_graph *graph, const uint64_t key[2])
{
    for (int i = 0; i < QN_MAX_RECORDINGS; i++) {
        qn_recording *r = &graph->recordings[i];

        if (r->plan.n && r->key[0] == key[0] && r->key[1] == key[1])
            return r;
    }
    return NULL;
}

static qn_recording *oldest_place(qn_graph *graph)
{
    qn_recording *oldest = &graph->recordings[0];

    for (int i = 0; i < QN_MAX_RECORDINGS; i++) {
        if (!graph->recordings[i].plan.n)
            return &graph->recordings[i];
        if (graph->recordings[i].tick < oldest->tick)
            oldest = &graph->recordings[i];
    }
    free_recording(graph, oldest);
    return oldest;
}

/* Injected faults are counted per submission; a replay would hide them. */
static int can_record(const qn_graph *graph)
{
    return !graph->ctx->faults;
}

qn_recording *qn_record_make(qn_graph *graph, const uint64_t key[2])
{
    qn_plan plan = { 0 };
    qn_recording *r = NULL;
    qn_device *device;
    uint64_t after[2];
    qn_err err;
    int unfit;

    if (!can_record(graph) || qn_plan_build(graph, 0, graph->n_stages + 1, &plan, &err) != QN_OK)
        goto out;
    /* If memory was allocated only now, the key has changed: record the next run instead. */
    if (qn_plan_memory(graph, &plan, &unfit, &err) != QN_OK)
        goto out;
    qn_plan_key(graph, after);
    if (after[0] != key[0] || after[1] != key[1])
        goto out;

    r = oldest_place(graph);
    r->launch_i = calloc((size_t)graph->n_stages, sizeof *r->launch_i);
    r->shapes = calloc((size_t)graph->n_stages, sizeof *r->shapes);
    if (!r->launch_i || !r->shapes)
        goto fail;
    r->key[0] = key[0];
    r->key[1] = key[1];
    r->plan = plan;
    r->device = plan.one_device > 0 ? plan.one_device : QN_CPU_SLOT;
    r->value_gen = graph->value_gen;
    plan = (qn_plan){ 0 };
    device = &graph->ctx->devices[r->device];
    if (r->plan.one_device > 0 && device->info.has_graph_replay && device->backend->capture_begin &&
        qn_capture(graph, r, &err) != QN_OK) {
        qn_log_put(&graph->ctx->log, QN_LOG_INFO, "graph %s: not captured: %s", graph->name,
                   err.text);
        goto fail;
    }
    graph->stats.captures++;
    qn_metric_add(graph->ctx->m.captures, 1);
    goto out;
fail:
    free_recording(graph, r);
    r = NULL;
out:
    qn_plan_free(&plan);
    return r;
}

/* Applies changed values to the recording. */
static qn_status update_values(qn_graph *graph, qn_recording *r, qn_err *err)
{
    qn_device *device = &graph->ctx->devices[r->device];
    qn_launch_arg args[QN_MAX_ARGS];

    for (int s = 0; s < graph->n_stages; s++) {
        qn_stage *stage = &graph->stages[s];
        qn_launch call = r->shapes[s];
        qn_status st;

        if (stage->value_gen <= r->value_gen)
            continue;
        if (r->launch_i[s] < 0 || !device->backend->update)
            return QN_ERR_UNSUPPORTED; /* launched in parts: record it again */
        qn_fill_args(graph, stage, device, args);
        call.args = args;
        st = device->backend->update(device->dev, r->replay, r->launch_i[s], &call, err);
        if (st != QN_OK)
            return st;
    }
    r->value_gen = graph->value_gen;
    return QN_OK;
}

/* The replay runs on one stream. It waits for other streams' work on the same buffers, except that
 * readers need not wait for readers. */
static qn_status wait_for_others(qn_graph *graph, const qn_recording *r, qn_device *device,
                                 qn_err *err)
{
    qn_status st = QN_OK;

    for (int b = 0; b < graph->n_bufs; b++) {
        qn_buf *root = graph->bufs[b].root;
        const qn_touch t = r->plan.touched[b];

        if (t.writes >> device->slot & 1)
            QN_TRY(qn_buf_before_write(root, device, graph->stream, err));
        else if (t.where >> device->slot & 1)
            QN_TRY(qn_buf_before_read(root, device, graph->stream, err));
        if (t.writes >> QN_CPU_SLOT & 1)
            QN_TRY(qn_buf_before_host_write(root, device, graph->stream, err));
        else if (t.where >> QN_CPU_SLOT & 1)
            QN_TRY(qn_buf_before_host_read(root, device, graph->stream, err));
    }
out:
    return st;
}

static void apply_plan(qn_graph *graph, const qn_plan *plan, qn_point at)
{
    qn_ctx *ctx = graph->ctx;

    graph->stats.submissions++;
    ctx->transfers.elided += (uint64_t)plan->elided;
    qn_metric_add(ctx->m.elided, plan->elided);
    for (int i = 0; i < plan->n; i++)
        qn_apply_step(graph, &plan->steps[i], at);
}

static qn_status run_replay(qn_graph *graph, qn_recording *r, qn_err *err)
{
    qn_device *device = &graph->ctx->devices[r->device];
    qn_status st = QN_OK;

    if (r->value_gen != graph->value_gen)
        QN_TRY(update_values(graph, r, err));
    QN_TRY(wait_for_others(graph, r, device, err));
    QN_TRY(device->backend->replay(device->dev, r->replay, graph->stream, err));
    apply_plan(graph, &r->plan, qn_stream_step(device, graph->stream));
out:
    return st;
}

qn_status qn_record_run(qn_graph *graph, qn_recording *r, qn_err *err)
{
    qn_failure failure = { .step = &r->plan.steps[0] };
    int next = 0;
    qn_status st;

    r->tick = ++graph->ctx->tick;
    st = r->replay ? run_replay(graph, r, err) : qn_submit_plan(graph, &r->plan, &failure, err);
    if (st == QN_OK) {
        graph->stats.replays++;
        qn_metric_add(graph->ctx->m.replays, 1);
        return QN_OK;
    }
    /* A failed replay has run nothing. Unless the device is lost, plain submission may still work,
     * or else finds the failing stage. */
    if (r->replay && st != QN_ERR_DEVICE_LOST && st != QN_ERR_TIMEOUT) {
        free_recording(graph, r);
        return qn_graph_run_from(graph, 0, err);
    }
    failure.stage = failure.step->stage;
    st = qn_graph_go_on(graph, &failure, &next, err);
    return st == QN_OK ? qn_graph_run_from(graph, next, err) : st;
}

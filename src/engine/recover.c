/* recover.c - what happens when a device fails.
 *
 * A failure before launch leaves data intact: the stage moves to the CPU and the run goes on. A
 * failure after launch, or of a copy back, makes the device's results worthless: the whole graph
 * runs again on the CPU from the inputs as they were at the start of the run, which is possible
 * as long as the host copy of each is the one the run started from.
 */
#include "engine/fallback.h"
#include "engine/route_stage.h"

#include <stdio.h>

/* Says that a stage goes to the CPU; or hands the failure to a caller who has other plans. */
static qn_status note(qn_graph *graph, int s, qn_err *err)
{
    const char *stage = graph->stages[s].name;

    if (graph->fallback != QN_FALLBACK_ERROR)
        return qn_fallback_note(graph->ctx, stage, err);
    graph->failed_stage = s;
    graph->failure = *err;
    return qn_prefix(err, "stage %s", stage);
}

/* Devices that take no work now: their stages go to the CPU, and that is said. */
static qn_status move_off(qn_graph *graph, int s, qn_err *err)
{
    qn_device *device = &graph->ctx->devices[graph->stages[s].device];

    if (device->lost)
        qn_fail(err, QN_ERR_DEVICE_LOST, "device %s was lost", device->id);
    else
        qn_fail(err, QN_ERR_BUSY, "device %s is unhealthy", device->id);
    return note(graph, s, err);
}

qn_status qn_recover_begin(qn_graph *graph, qn_err *err)
{
    qn_ctx *ctx = graph->ctx;
    unsigned refused = 0, asked = 0;
    qn_status st;

    graph->failed_stage = -1;
    for (int s = 0; s < graph->n_stages; s++) {
        const int d = graph->stages[s].device;

        graph->stage_device[s] = d;
        if (d == QN_CPU_SLOT)
            continue;
        if (!(asked >> d & 1)) {
            asked |= 1u << d;
            if (ctx->devices[d].lost || !qn_health_ok(&ctx->devices[d])) {
                refused |= 1u << d;
                if ((st = move_off(graph, s, err)) != QN_OK)
                    return st;
            }
        }
        if (refused >> d & 1)
            graph->stage_device[s] = QN_CPU_SLOT;
    }
    for (int b = 0; b < graph->n_bufs; b++)
        graph->bufs[b].start_version = graph->bufs[b].root->version;
    graph->on_cpu = 0;
    return QN_OK;
}

static int reads_first(const qn_graph *graph, int b)
{
    const qn_stage *stage;

    if (graph->bufs[b].first < 0)
        return 0;
    stage = &graph->stages[graph->bufs[b].first];
    for (int a = 0; a < stage->n_args; a++)
        if (stage->args[a].buf_i == b && (stage->args[a].mode != QN_ARG_OUT || stage->args[a].is_partial))
            return 1;
    return 0;
}

/* Puts every buffer back to the state in which the run found it, as far as the host has it. */
static qn_status rewind_buffers(qn_graph *graph, qn_err *err)
{
    for (int b = 0; b < graph->n_bufs; b++) {
        qn_graph_buf *buf = &graph->bufs[b];
        qn_buf *root = buf->root;

        root->host_device = -1;
        if (root->version == buf->start_version && qn_buf_find_valid(root) >= 0)
            continue;
        if (root->host_version != buf->start_version && reads_first(graph, b))
            return qn_fail(err, QN_ERR_DEVICE_LOST,
                           "buffer %s: what the run started from was only on the device", root->name);
        root->version++;
        root->host_version = root->version;
        buf->start_version = root->version;
    }
    return QN_OK;
}

static qn_status rerun_on_cpu(qn_graph *graph, qn_err *err)
{
    qn_ctx *ctx = graph->ctx;
    qn_err ignored;
    qn_status st;

    for (int d = 1; d < ctx->n_devices; d++)
        if (!ctx->devices[d].lost && graph->in_flight >> d & 1)
            qn_device_sync(&ctx->devices[d], &ignored);
    if ((st = rewind_buffers(graph, err)) != QN_OK)
        return st;
    for (int s = 0; s < graph->n_stages; s++)
        graph->stage_device[s] = QN_CPU_SLOT;
    graph->on_cpu = 1;
    return QN_OK;
}

static int is_after_launch(const qn_err *err, const qn_step *step)
{
    if (err->status == QN_ERR_DEVICE_LOST || err->status == QN_ERR_TIMEOUT)
        return 1;
    return step && step->kind == QN_STEP_DOWNLOAD;
}

qn_status qn_recover(qn_graph *graph, int stage, const qn_step *step, int *rerun, qn_err *err)
{
    qn_ctx *ctx = graph->ctx;
    const int s = stage < graph->n_stages ? stage : graph->n_stages - 1;
    const int slot = step && step->kind != QN_STEP_STAGE ? step->device : graph->stage_device[s];
    qn_device *device = &ctx->devices[slot];
    const qn_err cause = *err;
    qn_status st;

    *rerun = 0;
    if (slot == QN_CPU_SLOT)
        return qn_prefix(err, "stage %s", graph->stages[s].name);
    qn_metric_add(device->m.failures, 1);
    qn_route_failed(graph, s, slot, cause.status);
    if (cause.status == QN_ERR_BUSY) /* costs more for a while, but is not ill */
        qn_metric_add(device->m.busy, 1);
    else
        qn_health_note(device, 1);
    if (cause.status == QN_ERR_DEVICE_LOST)
        device->lost = 1;
    if ((st = note(graph, s, err)) != QN_OK)
        return st;
    if (!is_after_launch(&cause, step)) {
        graph->stage_device[s] = QN_CPU_SLOT;
        return QN_OK;
    }
    *rerun = 1;
    return rerun_on_cpu(graph, err);
}

/* The stage that stands for a failure found at the end: the last one on that device. */
static int last_stage_on(const qn_graph *graph, int slot)
{
    for (int s = graph->n_stages - 1; s >= 0; s--)
        if (graph->stage_device[s] == slot)
            return s;
    return 0;
}

qn_status qn_recover_wait(qn_graph *graph, qn_err *err)
{
    qn_ctx *ctx = graph->ctx;

    for (int d = 1; d < ctx->n_devices; d++) {
        qn_step late = { QN_STEP_DOWNLOAD, 0, -1, d, d };
        int rerun;
        qn_status st;

        if (!(graph->in_flight >> d & 1) || ctx->devices[d].lost)
            continue;
        if (qn_fence_await(&graph->fence, &ctx->devices[d], err) == QN_OK &&
            qn_point_await(&ctx->devices[d], graph->last[d], err) == QN_OK)
            continue;
        late.stage = last_stage_on(graph, d);
        if ((st = qn_recover(graph, late.stage, &late, &rerun, err)) != QN_OK)
            return st;
        graph->in_flight = 0;
        err->status = QN_OK;
        return qn_graph_run_planned(graph, err);
    }
    graph->in_flight = 0;
    return QN_OK;
}

/* stage_clock.c - times one step, for QUERN_TIMING, the router, and pipes.
 *
 * Timing a step waits for it, so steps are timed only on request or when the router wants a sample;
 * replayed graphs are never timed step by step. Everything that is not the stage itself (compiling
 * it, waiting for its data) happens before the clock starts.
 */
#include "engine/graph/run.h"

#include "util/clock.h"

/* A graph in which the router has no choice is timed as a whole, copies included. */
static int is_sampled_as_a_whole(const qn_graph *graph)
{
    return graph->is_sampled && !(graph->route && graph->route->n_open);
}

static int wants_time(const qn_graph *graph, const qn_step *step)
{
    if (graph->is_timed || is_sampled_as_a_whole(graph))
        return 1;
    if (step->kind != QN_STEP_STAGE)
        return graph->is_sampled && step->kind != QN_STEP_PEER &&
               qn_router_wants_copy(graph->ctx, step->device, step->kind == QN_STEP_UPLOAD);
    return graph->ctx->settings.timing || (graph->is_sampled && graph->route->marked[step->stage]);
}

static qn_stream stream_of(const qn_step *step, qn_stream compute)
{
    return step->kind == QN_STEP_STAGE      ? compute
           : step->kind == QN_STEP_DOWNLOAD ? QN_DOWNLOAD
                                            : QN_UPLOAD;
}

static qn_status prepare(qn_graph *graph, const qn_step *step, qn_err *err)
{
    qn_stage *stage = &graph->stages[step->stage];
    qn_device *device = &graph->ctx->devices[step->device];
    qn_status st = QN_OK;

    if (step->kind == QN_STEP_STAGE) {
        if (stage->kernel)
            QN_TRY(qn_stage_module(stage, device, err));
        for (int a = 0; device->info.unified_memory && a < stage->n_args; a++)
            if (stage->args[a].buf_i >= 0)
                QN_TRY(qn_buf_await_host_write(graph->bufs[stage->args[a].buf_i].root, err));
    }
    QN_TRY(qn_device_sync(device, err));
out:
    return st;
}

qn_status qn_clock_start(qn_graph *graph, const qn_step *step, qn_stream compute,
                         qn_stage_clock *clock, qn_err *err)
{
    qn_device *device = &graph->ctx->devices[step->device];
    qn_status st = QN_OK;

    *clock = (qn_stage_clock){ .is_on = wants_time(graph, step) };
    if (!clock->is_on)
        return QN_OK;
    QN_TRY(prepare(graph, step, err));
    if (device->backend->elapsed_us)
        QN_TRY(device->backend->record(device->dev, stream_of(step, compute), &clock->begin, err));
    clock->start_us = qn_now_us();
out:
    return st;
}

static void note(qn_graph *graph, int s, qn_device *device, double us)
{
    qn_ctx *ctx = graph->ctx;
    qn_stage *stage = &graph->stages[s];
    const qn_range *r = &stage->range;
    const long long n = (r->x1 - r->x0) * (r->y1 - r->y0) * (r->z1 - r->z0);

    if (qn_stage_log_of(stage, device))
        stage->logs[device->slot]->exec_us += us;
    qn_metric_observe(qn_metric_of(ctx->metrics, "gpu_stage_time_ms",
                                   QN_LABELS("stage", stage->name, "device", device->id)),
                      us / 1000);
    if (device->slot != QN_CPU_SLOT)
        qn_metric_add(device->m.exec_seconds, us / 1e6);
    qn_route_timed(graph, s, device->slot, us);
    if (ctx->settings.timing)
        qn_log_line(&ctx->log, "[time] %s %s n=%lld exec=%.3fus h2d=%llu d2h=%llu", stage->name,
                    device->id, n, us, (unsigned long long)stage->h2d_bytes,
                    (unsigned long long)stage->d2h_bytes);
}

void qn_clock_cancel(qn_graph *graph, const qn_step *step, qn_stage_clock *clock)
{
    qn_device *device = &graph->ctx->devices[step->device];

    if (clock->begin)
        device->backend->drop(device->dev, clock->begin);
    *clock = (qn_stage_clock){ .is_on = 0 };
}

qn_status qn_clock_stop(qn_graph *graph, const qn_step *step, qn_stream compute,
                        qn_stage_clock *clock, qn_err *err)
{
    qn_device *device = &graph->ctx->devices[step->device];
    qn_event *end = NULL;
    double us = -1;
    qn_status st = QN_OK;

    if (!clock->is_on)
        return QN_OK;
    if (clock->begin) {
        QN_TRY(device->backend->record(device->dev, stream_of(step, compute), &end, err));
        QN_TRY(device->backend->await(device->dev, end, err));
        us = device->backend->elapsed_us(device->dev, clock->begin, end);
    }
    QN_TRY(qn_device_sync(device, err));
    if (us < 0)
        us = qn_now_us() - clock->start_us;
    if (graph->is_timed)
        graph->phase_us[step->kind] += us;
    if (step->kind == QN_STEP_STAGE)
        note(graph, step->stage, device, us);
    else if (step->kind != QN_STEP_PEER)
        qn_router_copied(graph->ctx, step->device, step->kind == QN_STEP_UPLOAD,
                         (double)graph->bufs[step->buf_i].root->bytes, us);
out:
    if (end)
        device->backend->drop(device->dev, end);
    qn_clock_cancel(graph, step, clock);
    return st;
}

/* stage_clock.c - how long one stage took, for QUERN_TIMING and for the router.
 *
 * Timing a stage waits for it, so it is done only when asked for or when the router wants a
 * sample; replayed graphs are never timed stage by stage.
 */
#include "engine/route.h"
#include "engine/route_stage.h"

#include "util/clock.h"

static int wants_time(const qn_graph *graph, const qn_step *step)
{
    return step->kind == QN_STEP_STAGE && (graph->ctx->timing || graph->is_sampled);
}

qn_status qn_clock_start(qn_graph *graph, const qn_step *step, qn_stream on, qn_stage_clock *clock,
                         qn_err *err)
{
    qn_device *device = &graph->ctx->devices[step->device];
    qn_status st;

    *clock = (qn_stage_clock){ .is_on = wants_time(graph, step) };
    if (!clock->is_on)
        return QN_OK;
    if ((st = qn_device_sync(device, err)) != QN_OK)
        return st;
    if (device->backend->elapsed_us &&
        (st = device->backend->record(device->dev, on, &clock->begin, err)) != QN_OK)
        return st;
    clock->start_us = qn_now_us();
    return QN_OK;
}

static qn_i64 points(const qn_range *r)
{
    return (r->x1 - r->x0) * (r->y1 - r->y0) * (r->z1 - r->z0);
}

static void note(qn_graph *graph, qn_stage *stage, qn_device *device, double us)
{
    qn_ctx *ctx = graph->ctx;

    stage->exec_us += us;
    qn_metric_observe(qn_metric_of(ctx->metrics, "gpu_stage_time_ms",
                                   QN_LABELS("stage", stage->name, "device", device->id)), us / 1000);
    if (device->slot != QN_CPU_SLOT)
        qn_metric_add(device->m.exec_seconds, us / 1e6);
    qn_router_observe(ctx, stage->op, device->slot, points(&stage->range), us);
    if (ctx->timing)
        qn_log_line(&ctx->log, "[time] %s %s n=%lld exec=%.3fus h2d=%llu d2h=%llu", stage->name,
                    device->id, (long long)points(&stage->range), us,
                    (unsigned long long)stage->h2d_bytes, (unsigned long long)stage->d2h_bytes);
}

qn_status qn_clock_stop(qn_graph *graph, const qn_step *step, qn_stream on, qn_stage_clock *clock,
                        qn_err *err)
{
    qn_device *device = &graph->ctx->devices[step->device];
    qn_event *end = NULL;
    double us = -1;
    qn_status st = QN_OK;

    if (!clock->is_on)
        return QN_OK;
    if (clock->begin) {
        QN_TRY(device->backend->record(device->dev, on, &end, err));
        QN_TRY(device->backend->await(device->dev, end, err));
        us = device->backend->elapsed_us(device->dev, clock->begin, end);
    }
    QN_TRY(qn_device_sync(device, err));
    if (us < 0)
        us = qn_now_us() - clock->start_us;
    note(graph, &graph->stages[step->stage], device, us);
out:
    if (end)
        device->backend->drop(device->dev, end);
    if (clock->begin)
        device->backend->drop(device->dev, clock->begin);
    return st;
}

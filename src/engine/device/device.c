/* device.c - public queries about a context and its devices. */
#include "engine/device/context.h"

#include "util/clock.h"

#include <string.h>

qn_metrics *qn_ctx_metrics(const qn_ctx *ctx)
{
    return ctx->metrics;
}

double qn_ctx_now_us(const qn_ctx *ctx)
{
    return ctx->timekeeper ? ctx->timekeeper->backend->now_us(ctx->timekeeper->dev) : qn_now_us();
}

int qn_device_count(const qn_ctx *ctx)
{
    return ctx->n_devices;
}

qn_status qn_device_check(const qn_ctx *ctx, int device, qn_err *err)
{
    return device >= 0 && device < ctx->n_devices
               ? QN_OK
               : qn_fail(err, QN_ERR_USAGE, "device %d; the context has %d", device,
                         ctx->n_devices);
}

const char *qn_device_id(const qn_ctx *ctx, int device)
{
    return qn_device_check(ctx, device, NULL) == QN_OK ? ctx->devices[device].id : NULL;
}

const qn_device_info *qn_device_get(const qn_ctx *ctx, int device)
{
    return qn_device_check(ctx, device, NULL) == QN_OK ? &ctx->devices[device].info : NULL;
}

int qn_device_find(const qn_ctx *ctx, const char *id)
{
    for (int d = 0; d < ctx->n_devices; d++)
        if (!strcmp(ctx->devices[d].id, id) || !strcmp(ctx->devices[d].backend->name, id))
            return d;
    return -1;
}

const char *qn_device_backend(const qn_ctx *ctx, int device)
{
    return ctx->devices[device].backend->name;
}

const char *qn_device_state(const qn_ctx *ctx, int device)
{
    return ctx->devices[device].lost         ? "lost"
           : ctx->devices[device].health.bad ? "unhealthy"
                                             : "ok";
}

int qn_device_is_candidate(const qn_ctx *ctx, int device)
{
    return (int)(ctx->candidates >> device & 1u);
}

int qn_ctx_pinned(const qn_ctx *ctx)
{
    return ctx->pinned;
}

qn_placing qn_ctx_set_placing(qn_ctx *ctx, qn_placing placing)
{
    const qn_placing had = { ctx->pinned, ctx->graph_fallback };

    ctx->pinned = placing.pinned;
    ctx->graph_fallback = placing.fallback;
    return had;
}

const qn_settings *qn_ctx_settings(const qn_ctx *ctx)
{
    return &ctx->settings;
}

double qn_ctx_set_verify(qn_ctx *ctx, double pct)
{
    const double had = ctx->settings.verify_pct;

    ctx->settings.verify_pct = pct;
    return had;
}

qn_log *qn_ctx_log(qn_ctx *ctx)
{
    return &ctx->log;
}

int qn_ctx_has_faults(const qn_ctx *ctx)
{
    return ctx->faults != NULL;
}

int qn_backend_state_count(const qn_ctx *ctx)
{
    return ctx->n_backends;
}

const qn_backend_state *qn_backend_state_at(const qn_ctx *ctx, int i)
{
    return &ctx->backends[i];
}

/* report.c - passes the state of a context to the exporters. */
#include "engine/telemetry/export.h"

#include "engine/telemetry/metrics.h"
#include "engine/memory/residency.h"
#include "util/env.h"
#include "util/clock.h"

#include <stdlib.h>

static void refresh_pool(qn_ctx *ctx, const char *name, const qn_pool *pool)
{
    const qn_pool_stats s = qn_pool_get_stats(pool);
    const char *const *by_pool = QN_LABELS("pool", name);
    const struct {
        const char *name;
        double value;
    } counters[] = { { "pool_hits", (double)s.hits },
                     { "pool_misses", (double)s.misses },
                     { "pool_usage_rejects", (double)s.usage_rejects },
                     { "pool_trims", (double)s.trims } };

    /* Counters only grow: add the difference since the last refresh. */
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        qn_metric *metric = qn_metric_of(ctx->metrics, counters[i].name, by_pool);

        qn_metric_add(metric,
                      counters[i].value - qn_metric_value(ctx->metrics, counters[i].name, by_pool));
    }
    qn_metric_set(qn_metric_of(ctx->metrics, "pool_bytes_live", by_pool), (double)s.bytes_live);
    qn_metric_set(qn_metric_of(ctx->metrics, "pool_bytes_idle", by_pool), (double)s.bytes_idle);
    qn_metric_set(qn_metric_of(ctx->metrics, "pool_bytes_waste", by_pool), (double)s.bytes_waste);
}

/* Updates the memory overhead of residency tracking. */
static void refresh_overhead(qn_ctx *ctx)
{
    double data = 0, overhead = 0;

    for (const qn_buf *buf = ctx->bufs; buf; buf = buf->next) {
        data += (double)buf->bytes;
        overhead += (double)sizeof *buf;
    }
    if (data > 0)
        qn_metric_set(qn_metric_of(ctx->metrics, "memory_overhead_pct", NULL),
                      100 * overhead / data);
}

void qn_report_refresh(qn_ctx *ctx)
{
    refresh_pool(ctx, "host", ctx->host_pool);
    for (int d = 1; d < ctx->n_devices; d++) {
        qn_device *device = &ctx->devices[d];
        qn_pool_stats s;

        if (!device->pool)
            continue;
        s = qn_pool_get_stats(device->pool);
        refresh_pool(ctx, device->id, device->pool);
        qn_metric_set(device->m.mem_used, (double)(s.bytes_live + s.bytes_idle));
        qn_metric_max(device->m.mem_peak, (double)s.bytes_peak);
        qn_metric_set(qn_metric_of(ctx->metrics, "gpu_available", QN_LABELS("device", device->id)),
                      !device->lost && !device->health.bad);
    }
    refresh_overhead(ctx);
}

/* The description of the run for exporters. */
typedef struct {
    qn_run_report report;
    qn_run_device devices[QN_MAX_DEVICES];
    qn_fallback *fallbacks;
    qn_run_stage *stages;
} description;

static void describe_devices(const qn_ctx *ctx, description *d)
{
    for (int i = 0; i < ctx->n_devices; i++) {
        const qn_device *device = &ctx->devices[i];

        d->devices[i] = (qn_run_device){ .id = device->id,
                                         .name = device->info.name,
                                         .arch = device->info.arch,
                                         .driver = device->info.driver,
                                         .failure = *device->failure ? device->failure
                                                    : device->lost   ? "device was lost"
                                                                     : NULL };
    }
    d->report.devices = d->devices;
    d->report.n_devices = (size_t)ctx->n_devices;
    for (int i = 1; i < ctx->n_devices; i++)
        d->report.budget_bytes += (double)ctx->devices[i].budget_bytes;
}

static void describe(qn_ctx *ctx, const qn_run_info *info, description *d)
{
    const int n = qn_ctx_fallback_count(ctx);
    const qn_map_entry *entry;
    size_t at = 0, k = 0;

    qn_report_refresh(ctx);
    *d = (description){ .report = { .run = *info,
                                    .started = ctx->started,
                                    .wall_time_s = (qn_now_us() - ctx->opened_us) / 1e6 } };
    describe_devices(ctx, d);
    d->fallbacks = calloc((size_t)n + 1, sizeof *d->fallbacks);
    d->stages = calloc(ctx->stage_logs.count + 1, sizeof *d->stages);
    for (int i = 0; d->fallbacks && i < n; i++)
        qn_ctx_fallback_get(ctx, i, &d->fallbacks[i]);
    while (d->stages && (entry = qn_map_next(&ctx->stage_logs, &at))) {
        const qn_stage_log *log = entry->value;

        d->stages[k++] = (qn_run_stage){ log->name,    log->device,    log->runs,
                                         log->exec_us, log->h2d_bytes, log->d2h_bytes };
    }
    d->report.fallbacks = d->fallbacks;
    d->report.n_fallbacks = d->fallbacks ? (size_t)n : 0;
    d->report.stages = d->stages;
    d->report.n_stages = k;
}

static void forget(description *d)
{
    free(d->fallbacks);
    free(d->stages);
}

void qn_report_print(qn_ctx *ctx, FILE *to, const qn_run_info *info)
{
    description d;

    describe(ctx, info, &d);
    qn_summary_print(to, ctx->metrics, &d.report);
    if (qn_env_number("QUERN_STATS", 0) > 0)
        qn_stats_print(to, ctx->metrics);
    forget(&d);
}

qn_status qn_report_write(qn_ctx *ctx, const qn_run_info *info, const char *path, qn_err *err)
{
    description d;
    qn_status st;

    describe(ctx, info, &d);
    st = qn_export_file(ctx->metrics, &d.report, path, err);
    forget(&d);
    return st;
}

qn_status qn_report_json(qn_ctx *ctx, const qn_run_info *info, qn_str *out, qn_err *err)
{
    description d;
    qn_status st;

    describe(ctx, info, &d);
    st = qn_export_json(ctx->metrics, &d.report, out, err);
    forget(&d);
    return st;
}

qn_status qn_metrics_write(qn_ctx *ctx, const char *command, const char *path, qn_err *err)
{
    return qn_report_write(ctx, &(qn_run_info){ .command = command, .status = "ok" }, path, err);
}

/* context.c - opens and closes a context: finds devices, gives each its pool, budget and
 * metrics. */
#include "engine/device/context.h"

#include "engine/device/kcache.h"
#include "engine/device/pack.h"
#include "engine/memory/residency.h"
#include "engine/telemetry/metrics.h"
#include "engine/route/route.h"
#include "util/ahead.h"
#include "util/clock.h"
#include "util/env.h"

#include <stdlib.h>
#include <string.h>

const char *qn_version(void)
{
    return QN_VERSION;
}

/* Memory sources of the pools. */

static qn_status device_alloc(void *user, size_t bytes, unsigned usage, qn_block *block,
                              qn_err *err)
{
    qn_device *device = user;

    return device->backend->alloc(device->dev, bytes, usage, &block->mem, err);
}

static void device_free(void *user, qn_block *block)
{
    qn_device *device = user;

    device->backend->release(device->dev, block->mem);
}

static int device_is_idle(void *user, const qn_block *block)
{
    qn_points last;

    memcpy(last.seq, block->use_seq, sizeof last.seq);
    return qn_points_are_done(user, &last);
}

/* Pinned memory when a device offers it: copies run at the speed of the bus, and in the
 * background. Otherwise, and beyond what it can pin, plain memory on page boundaries. */
static qn_status host_alloc(void *user, size_t bytes, QN_UNUSED unsigned usage, qn_block *block,
                            qn_err *err)
{
    qn_device *pinner = ((qn_ctx *)user)->pinner;
    qn_err ignored;

    block->is_pinned =
        pinner && !pinner->lost &&
        pinner->backend->host_alloc(pinner->dev, bytes, &block->host, &ignored) == QN_OK;
    if (block->is_pinned)
        return QN_OK;
    if (posix_memalign(&block->host, 4096, bytes))
        return qn_fail(err, QN_ERR_NOMEM, "out of host memory (%zu bytes)", bytes);
    return QN_OK;
}

static void host_free(void *user, qn_block *block)
{
    qn_ctx *ctx = user;

    if (block->is_pinned)
        ctx->pinner->backend->host_free(ctx->pinner->dev, block->host);
    else
        free(block->host);
}

static qn_status open_host_pool(qn_ctx *ctx, qn_err *err)
{
    const qn_pool_options opt = { .name = "host",
                                  .budget_bytes = ctx->settings.host_budget,
                                  .bucket_min = ctx->settings.bucket_min,
                                  .max_idle = 16 };
    const qn_pool_source source = { ctx, host_alloc, host_free, NULL };

    for (int d = 1; d < ctx->n_devices && !ctx->pinner; d++)
        if (ctx->devices[d].backend->host_alloc)
            ctx->pinner = &ctx->devices[d];
    return qn_pool_new(&opt, &source, &ctx->host_pool, err);
}

/* Devices. */

static void find_metrics(qn_device *device)
{
    qn_metrics *m = device->ctx->metrics;
    const char *const *by_device = QN_LABELS("device", device->id);

    device->m.h2d_count = qn_metric_of(m, "h2d_count", by_device);
    device->m.h2d_bytes = qn_metric_of(m, "h2d_bytes", by_device);
    device->m.d2h_count = qn_metric_of(m, "d2h_count", by_device);
    device->m.d2h_bytes = qn_metric_of(m, "d2h_bytes", by_device);
    device->m.d2d_count = qn_metric_of(m, "d2d_count", by_device);
    device->m.d2d_bytes = qn_metric_of(m, "d2d_bytes", by_device);
    device->m.executions = qn_metric_of(m, "gpu_total_executions", by_device);
    device->m.failures = qn_metric_of(m, "gpu_total_failures", by_device);
    device->m.exec_seconds = qn_metric_of(m, "gpu_total_exec_time_seconds", by_device);
    device->m.queue_depth = qn_metric_of(m, "gpu_queue_depth", by_device);
    device->m.queue_peak = qn_metric_of(m, "queue_depth_peak", by_device);
    device->m.busy = qn_metric_of(m, "gpu_busy_events", by_device);
    device->m.mem_used = qn_metric_of(m, "gpu_memory_used_bytes", by_device);
    device->m.mem_peak = qn_metric_of(m, "gpu_memory_peak_bytes", by_device);
}

static void find_ctx_metrics(qn_ctx *ctx)
{
    const struct {
        qn_metric **to;
        const char *name;
    } table[] = {
        { &ctx->m.elided, "transfers_elided" },
        { &ctx->m.transfers, "transfers" },
        { &ctx->m.transfer_us, "transfer_time_us" },
        { &ctx->m.crossings, "crossings" },
        { &ctx->m.gpu_ops, "gpu_ops" },
        { &ctx->m.cpu_ops, "cpu_ops" },
        { &ctx->m.captures, "graph_captures" },
        { &ctx->m.replays, "graph_replays" },
        { &ctx->m.fused, "stages_fused" },
        { &ctx->m.submit_us, "submit_overhead_us" },
        { &ctx->m.evict_clean, "evictions_clean" },
        { &ctx->m.evict_dirty, "evictions_dirty" },
        { &ctx->m.spill, "spill_bytes" },
        { &ctx->m.splits, "oom_splits" },
        { &ctx->m.spill_file, "spill_file_bytes" },
        { &ctx->m.cache_hits, "kernel_cache_hits" },
        { &ctx->m.cache_disk_hits, "kernel_cache_disk_hits" },
        { &ctx->m.cache_misses, "kernel_cache_misses" },
        { &ctx->m.cache_bad, "kernel_cache_bad" },
        { &ctx->m.compiles, "kernel_compiles" },
        { &ctx->m.compile_ms, "kernel_compile_time_ms" },
        { &ctx->m.pack_hits, "kernel_pack_hits" },
        { &ctx->m.compile_wait_ms, "kernel_compile_wait_ms" },
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        *table[i].to = qn_metric_of(ctx->metrics, table[i].name, NULL);
}

static qn_status open_device(qn_ctx *ctx, const qn_backend *backend, int index,
                             const qn_hal_config *config, const char *budget, qn_err *err)
{
    qn_device *device = &ctx->devices[ctx->n_devices];
    const qn_pool_source source = { device, device_alloc, device_free, device_is_idle };
    qn_pool_options opt = { .name = "device", .bucket_min = ctx->settings.bucket_min };
    qn_status st;

    *device = (qn_device){ .ctx = ctx,
                           .backend = backend,
                           .slot = ctx->n_devices,
                           .index = index,
                           .modules_kept = QN_MODULES_KEPT };
    snprintf(device->id, sizeof device->id, "%s:%d", backend->name, index);
    if ((st = backend->open(config, index, &device->dev, err)) != QN_OK)
        return st;
    backend->info(device->dev, &device->info);
    find_metrics(device);
    if (!device->info.unified_memory) {
        st = qn_settings_budget(budget, device->info.mem_free, &device->budget_bytes, err);
        opt.budget_bytes = device->budget_bytes;
        opt.max_block = (size_t)device->info.max_alloc;
        if (st == QN_OK)
            st = qn_pool_new(&opt, &source, &device->pool, err);
    }
    if (st != QN_OK) {
        backend->close(device->dev);
        return st;
    }
    qn_metric_set(qn_metric_of(ctx->metrics, "gpu_device_info",
                               QN_LABELS("device", device->id, "name", device->info.name, "backend",
                                         backend->name, "driver", device->info.driver, "arch",
                                         device->info.arch)),
                  1);
    if (device->info.kind != QN_KIND_CPU || ctx->n_devices > 0)
        qn_metric_set(qn_metric_of(ctx->metrics, "gpu_available", QN_LABELS("device", device->id)),
                      1);
    ctx->n_devices++;
    return QN_OK;
}

/* Whether the --backend value (separated by commas) names this device. */
static int is_wanted(const char *wanted, const char *backend, int index)
{
    char id[40];
    const size_t name_len = strlen(backend);

    snprintf(id, sizeof id, "%s:%d", backend, index);
    while (*wanted) {
        const size_t len = strcspn(wanted, ",");

        if (len == strlen(id) && !strncmp(wanted, id, len))
            return 1;
        if (len == name_len && !strncmp(wanted, backend, len))
            return 1;
        wanted += len;
        wanted += *wanted == ',';
    }
    return 0;
}

static int is_auto(const char *wanted)
{
    return !strcmp(wanted, "auto") || !strcmp(wanted, "all");
}

static qn_status scan_backend(qn_ctx *ctx, int b, const char *wanted, const qn_hal_config *config,
                              const char *budget, qn_err *err)
{
    const qn_backend *backend = qn_backends[b];
    qn_backend_state *state = &ctx->backends[ctx->n_backends++];
    const int any = is_auto(wanted) && strcmp(backend->name, "sim");
    qn_status st;

    *state = (qn_backend_state){ .name = backend->name };
    if (qn_settings_is_hidden(backend->name)) {
        snprintf(state->reason, sizeof state->reason, "hidden by QUERN_HIDE");
        return QN_OK;
    }
    if (strcmp(backend->name, "cpu") && !any && !strstr(wanted, backend->name)) {
        snprintf(state->reason, sizeof state->reason, "not asked for");
        return QN_OK;
    }
    if ((st = qn_drivers_count(b, config, state, err)) != QN_OK)
        return st;
    for (int i = 0; i < state->n_devices && ctx->n_devices < QN_MAX_DEVICES; i++) {
        if (strcmp(backend->name, "cpu") && !any && !is_wanted(wanted, backend->name, i))
            continue;
        if ((st = open_device(ctx, backend, i, config, budget, err)) == QN_OK)
            continue;
        if (st == QN_ERR_USAGE || !strcmp(backend->name, "cpu"))
            return st;
        if ((st = qn_fallback_note(ctx, "init", err)) != QN_OK)
            return st;
    }
    return QN_OK;
}

/* Reports a missing device that was requested by name, as a fallback of stage `init`. */
static qn_status note_absent(qn_ctx *ctx, const char *name, qn_err *err)
{
    for (int b = 0; b < ctx->n_backends; b++) {
        const qn_backend_state *state = &ctx->backends[b];
        const size_t len = strlen(state->name);

        if (strncmp(name, state->name, len) || (name[len] && name[len] != ':'))
            continue;
        if (state->n_devices)
            qn_fail(err, QN_ERR_INIT, "no device %s (%s has %d)", name, state->name,
                    state->n_devices);
        else
            qn_fail(err, QN_ERR_INIT, "%s: %s", name, state->reason);
        return qn_fallback_note(ctx, "init", err);
    }
    return qn_fail(err, QN_ERR_USAGE, "unknown backend '%s' (auto cpu opencl cuda sim)", name);
}

/* Adds the devices named by one part of the --backend value. */
static qn_status add_candidates(qn_ctx *ctx, const char *name, qn_err *err)
{
    unsigned found = 0;

    for (int d = 0; d < ctx->n_devices; d++)
        if (!strcmp(ctx->devices[d].id, name) || !strcmp(ctx->devices[d].backend->name, name))
            found |= 1u << d;
    ctx->candidates |= found;
    return found ? QN_OK : note_absent(ctx, name, err);
}

/* One name pins all stages to its (first) device. With a list, the router chooses among its
 * devices; the CPU is one of them only if it is named or nothing else is available. */
static qn_status choose_devices(qn_ctx *ctx, const char *wanted, qn_err *err)
{
    char name[64];
    qn_status st;

    ctx->pinned = -1;
    ctx->is_list = strchr(wanted, ',') != NULL;
    for (int d = 0; d < ctx->n_devices && !ctx->timekeeper; d++)
        if (ctx->devices[d].info.kind == QN_KIND_SIM)
            ctx->timekeeper = &ctx->devices[d];
    if (is_auto(wanted)) {
        ctx->candidates = (1u << ctx->n_devices) - 1;
        return QN_OK;
    }
    while (*wanted) {
        const size_t len = strcspn(wanted, ",");

        snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : sizeof name - 1),
                 wanted);
        if (len && (st = add_candidates(ctx, name, err)) != QN_OK)
            return st;
        wanted += len;
        wanted += *wanted == ',';
    }
    if (!ctx->candidates)
        ctx->candidates = 1u << QN_CPU_SLOT;
    if (!ctx->is_list)
        ctx->pinned = __builtin_ctz(ctx->candidates);
    return QN_OK;
}

static qn_status open_devices(qn_ctx *ctx, const qn_options *options, const char *sim, qn_err *err)
{
    const char *wanted = qn_settings_backend(options);
    const char *env = qn_env("QUERN_MEM_BUDGET");
    const char *budget = options->mem_budget ? options->mem_budget : env ? env : "80%";
    const qn_hal_config config = { .threads = ctx->settings.threads,
                                   .sim = sim,
                                   .clock = &ctx->clock };
    qn_status st = QN_OK;
    size_t checked;

    qn_drivers_lock();
    QN_TRY(qn_settings_budget(budget, 1 << 20, &checked, err));
    for (int b = 0; qn_backends[b]; b++)
        QN_TRY(scan_backend(ctx, b, wanted, &config, budget, err));
    QN_TRY(choose_devices(ctx, wanted, err));
    if (qn_env_number("QUERN_CHECK_RANGES", 0) > 0)
        qn_log_put(&ctx->log, QN_LOG_WARN,
                   "QUERN_CHECK_RANGES=1: everything runs on the CPU, on one thread, and slowly");
out:
    qn_drivers_unlock();
    return st;
}

qn_status qn_ctx_open(const qn_options *given, qn_ctx **out, qn_err *err)
{
    qn_options options;
    qn_ctx *ctx = calloc(1, sizeof *ctx);
    qn_str rules = { 0 }, sim = { 0 };
    qn_err unheard;
    qn_status st = QN_OK;

    err = err ? err : &unheard;
    QN_TRY(QN_CHECK_CALL(NULL, err, out));
    if (!ctx)
        return qn_fail(err, QN_ERR_NOMEM, "context: out of host memory");
    ctx->opened_us = qn_now_us();
    qn_process_enter(ctx);
    qn_utc(ctx->started);
    QN_TRY(qn_struct_take("qn_options", given, &options, sizeof options, err));
    QN_TRY(qn_settings_resolve(ctx, &options, err));
    qn_settings_faults(&options, &rules);
    QN_TRY(qn_faults_new(qn_str_get(&rules), &ctx->faults, &sim, err));
    QN_TRY(qn_metrics_new(&ctx->metrics, err));
    find_ctx_metrics(ctx);
    ctx->fallbacks = qn_fallbacks_new();
    ctx->kcache = qn_kcache_new(ctx->settings.cache_dir[0] ? ctx->settings.cache_dir : NULL);
    ctx->ahead = qn_ahead_new(qn_compile_threads());
    if (!ctx->fallbacks || !ctx->kcache || !ctx->ahead)
        QN_FAIL(err, QN_ERR_NOMEM, "context: out of host memory");
    QN_TRY(open_devices(ctx, &options, qn_str_get(&sim), err));
    for (int d = 0; d < ctx->n_devices && !ctx->pack; d++)
        if (ctx->devices[d].backend->image_for)
            ctx->pack = qn_pack_open(&ctx->log);
    QN_TRY(open_host_pool(ctx, err));
    QN_TRY(qn_router_open(ctx, err));
    *out = ctx;
    ctx = NULL;
out:
    qn_str_free(&rules);
    qn_str_free(&sim);
    qn_ctx_close(ctx);
    return st;
}

qn_status qn_ctx_sync(qn_ctx *ctx, qn_err *err)
{
    qn_err own;

    err = qn_err_begin(err, &own);
    if (QN_CHECK_CALL(ctx, err, ctx) != QN_OK)
        return err->status;
    for (int d = 1; d < ctx->n_devices; d++)
        if (!ctx->devices[d].lost && qn_device_sync(&ctx->devices[d], err) != QN_OK)
            return err->status;
    return QN_OK;
}

static void free_values(qn_map *map)
{
    const qn_map_entry *entry;
    size_t at = 0;

    while ((entry = qn_map_next(map, &at)))
        free(entry->value);
    qn_map_free(map);
}

void qn_ctx_close(qn_ctx *ctx)
{
    qn_err ignored;

    /* In a forked child, devices and their memory belong to the parent. */
    if (!ctx || qn_ctx_is_inherited(ctx))
        return;
    qn_router_close(ctx);
    qn_ahead_free(ctx->ahead);
    for (int d = 1; d < ctx->n_devices; d++)
        qn_device_sync(&ctx->devices[d], &ignored);
    qn_pool_free(ctx->host_pool);
    qn_drivers_lock();
    for (int d = 0; d < ctx->n_devices; d++) {
        qn_device *device = &ctx->devices[d];

        qn_compile_close(device);
        qn_fft_close(device);
        qn_streams_close(device);
        qn_pool_free(device->pool);
        device->backend->close(device->dev);
    }
    qn_drivers_unlock();
    free_values(&ctx->stage_logs);
    if (ctx->ledger)
        free_values(&ctx->ledger->rows);
    free(ctx->ledger);
    qn_kcache_free(ctx->kcache);
    qn_pack_close(ctx->pack);
    qn_fallbacks_free(ctx->fallbacks);
    qn_faults_free(ctx->faults);
    qn_metrics_free(ctx->metrics);
    free(ctx);
}

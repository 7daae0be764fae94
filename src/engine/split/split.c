/* split.c - divides one batch among several devices: opening, running, reporting. */
#include "engine/split/split_impl.h"

#include "engine/route/route.h"

#include <stdlib.h>
#include <string.h>

int qn_split_mode_find(const char *name, qn_split_mode *out)
{
    static const char *const names[] = { "dynamic", "equal", "proportional" };

    for (int i = 0; i < 3; i++)
        if (!strcmp(names[i], name)) {
            *out = (qn_split_mode)i;
            return 0;
        }
    return -1;
}

/* Opening. */

/* Binds all free stages to the device; stages that the work has pinned stay pinned. */
static void bind_stages(qn_graph *graph, int device)
{
    for (int s = 0; s < graph->n_stages; s++) {
        qn_stage *stage = &graph->stages[s];
        const int can_leave = stage->kernel && stage->kernel->module &&
                              stage->op->priority <= graph->ctx->settings.op_priority;

        if (stage->pin < 0)
            stage->pin = can_leave ? device : QN_CPU_SLOT;
    }
}

/* Runs before the first chunk, whose time would otherwise include compilation. A kernel that does
 * not compile fails again when it runs, and is handled there. */
static void compile_stages(qn_graph *graph)
{
    qn_err ignored;

    for (int s = 0; s < graph->n_stages; s++)
        if (graph->stages[s].kernel)
            qn_stage_module(&graph->stages[s], &graph->ctx->devices[graph->stages[s].pin],
                            &ignored);
}

void qn_split_adopt(qn_graph *graph, const qn_split_worker *worker, int slot)
{
    if (graph->is_fenced)
        return;
    graph->stream = QN_COMPUTE + slot;
    graph->is_fenced = 1;
    qn_graph_set_fallback(graph, QN_FALLBACK_ERROR);
    bind_stages(graph, worker->device->slot);
    if (!graph->ctx->faults) /* injected faults are meant for runs */
        compile_stages(graph);
}

static qn_status open_slot(qn_split *split, qn_split_worker *worker, int s, qn_err *err)
{
    qn_split_slot *slot = &worker->slots[s];
    qn_status st = qn_graph_new(split->ctx, split->name, &slot->graph, err);

    if (st != QN_OK)
        return st;
    st = split->work.build(split->work.user, worker->device->slot, s, slot->graph, err);
    if (st == QN_OK)
        qn_split_adopt(slot->graph, worker, s);
    return st;
}

qn_status qn_split_hire(qn_split *split, qn_split_worker *worker, int device, int depth,
                        qn_err *err)
{
    qn_ctx *ctx = split->ctx;
    const char *const *by_device = QN_LABELS("device", ctx->devices[device].id);
    qn_status st = QN_OK;

    worker->device = &ctx->devices[device];
    worker->depth = depth;
    worker->did = (qn_split_device){ .device = device };
    worker->tasks = qn_metric_of(ctx->metrics, "device_total_tasks", by_device);
    worker->active = qn_metric_of(ctx->metrics, "device_active_tasks", by_device);
    worker->exec_ms = qn_metric_of(ctx->metrics, "device_total_execution_ms", by_device);
    for (int s = 0; s < depth && st == QN_OK && !split->work.graph; s++)
        st = open_slot(split, worker, s, err);
    return st;
}

static qn_status check(const qn_split *split, const qn_split_options *options, qn_err *err)
{
    if (split->work.chunk_items < 1)
        return qn_fail(err, QN_ERR_USAGE, "split %s: chunks of %lld items", split->name,
                       (long long)split->work.chunk_items);
    if (options->depth < 0 || options->depth > QN_SPLIT_MAX_DEPTH)
        return qn_fail(err, QN_ERR_LIMIT, "split %s: depth %d is not between 1 and %d", split->name,
                       options->depth, QN_SPLIT_MAX_DEPTH);
    return QN_OK;
}

/* Sets rates as given, else from earlier batches, else from the profiles, else all equal. */
static void set_rates(qn_split *split, const double *given, const int *devices)
{
    qn_ctx *ctx = split->ctx;

    if (split->mode == QN_SPLIT_PROPORTIONAL && given) {
        memcpy(split->rates, given, (size_t)split->n_set * sizeof *given);
        return;
    }
    if (split->mode == QN_SPLIT_PROPORTIONAL && split->n_set > 1) {
        if (qn_rates_of_work(ctx, devices, split->n_set, split->rates))
            return;
        qn_router_inform(ctx);
        if (qn_rates_of_profile(ctx, devices, split->n_set, split->rates))
            return;
    }
    for (int w = 0; w < split->n_set; w++)
        split->rates[w] = 1;
}

qn_status qn_split_open(qn_ctx *ctx, const char *name, const qn_split_options *given,
                        const qn_split_work *work, qn_split **out, qn_err *err)
{
    qn_err own;
    qn_split_options options;
    qn_split *split = calloc(1, sizeof *split);
    int devices[QN_MAX_DEVICES];
    qn_status st = QN_OK;

    err = qn_err_begin(err, &own);
    QN_TRY(QN_CHECK_CALL(ctx, err, ctx, name, work, out));
    if (!split)
        QN_FAIL(err, QN_ERR_NOMEM, "split %s: out of host memory", name);
    QN_TRY(qn_struct_take("qn_split_options", given, &options, sizeof options, err));
    split->ctx = ctx;
    split->work = *work;
    split->mode = options.mode;
    split->depth = options.depth ? options.depth : QN_SPLIT_DEPTH;
    strncpy(split->name, name, sizeof split->name - 1);
    QN_TRY(check(split, &options, err));
    split->n_set = split->n_workers = qn_devices_set(ctx, options.devices, devices);
    for (int w = 0; w < split->n_set; w++) /* the CPU works while the host waits */
        QN_TRY(qn_split_hire(split, &split->workers[w], devices[w],
                             devices[w] == QN_CPU_SLOT ? 1 : split->depth, err));
    set_rates(split, options.rates, devices);
    *out = split;
    split = NULL;
out:
    qn_split_close(split);
    return st;
}

void qn_split_close(qn_split *split)
{
    if (!split)
        return;
    for (int w = 0; w <= split->n_set && !split->work.graph; w++)
        for (int s = 0; s < split->workers[w].depth; s++)
            qn_graph_free(split->workers[w].slots[s].graph);
    free(split);
}

/* One batch. */

/* Excludes devices that take no work now. */
static void begin(qn_split *split)
{
    split->start_us = qn_ctx_now_us(split->ctx);
    split->n_workers = split->n_set;
    split->has_fallen = 0;
    for (int w = 0; w <= split->n_set; w++) {
        qn_split_worker *worker = &split->workers[w];

        worker->did = (qn_split_device){ .device = worker->did.device };
        worker->seen_items /= 2;
        worker->seen_us /= 2;
        worker->free_us = split->start_us;
    }
    for (int w = 0; w < split->n_set; w++) {
        qn_split_worker *worker = &split->workers[w];
        const qn_graph *graph = worker->slots[0].graph;
        qn_err why;

        if (worker->device->slot == QN_CPU_SLOT)
            continue;
        if (worker->device->lost)
            qn_fail(&why, QN_ERR_DEVICE_LOST, "device %s was lost", worker->device->id);
        else if (!qn_health_ok(worker->device))
            qn_fail(&why, QN_ERR_BUSY, "device %s is unhealthy", worker->device->id);
        else
            continue;
        qn_split_fail(split, worker, graph && graph->n_stages ? graph->stages[0].name : split->name,
                      &why, NULL);
    }
}

/* Computes the block of each worker; one that failed before the start gets none. */
static void cut_blocks(const qn_split *split, qn_i64 n_items, qn_i64 *blocks)
{
    double rates[QN_MAX_DEVICES];

    for (int w = 0; w < split->n_set; w++)
        rates[w] = split->workers[w].did.has_failed ? 0 : split->rates[w];
    qn_share_by_rate(n_items, rates, split->n_set, blocks);
}

/* As many as the buffers hold, but few enough for every worker to get a chunk. */
static qn_i64 chunk_size(const qn_split *split, qn_i64 n_items)
{
    const qn_i64 fair = (n_items + split->n_set - 1) / split->n_set;

    return fair < split->work.chunk_items ? fair : split->work.chunk_items;
}

static void rebalance(qn_split *split)
{
    double finish_us[QN_MAX_DEVICES];
    qn_i64 items[QN_MAX_DEVICES];
    int n_failed = 0;

    for (int w = 0; w < split->n_set; w++) {
        finish_us[w] = split->workers[w].did.finish_us;
        items[w] = split->workers[w].did.items;
        n_failed += split->workers[w].did.has_failed;
    }
    split->stats.spread_pct = qn_share_spread_pct(finish_us, split->n_set);
    if (split->mode == QN_SPLIT_DYNAMIC || n_failed)
        return;
    split->stats.rebalances += (uint64_t)qn_share_rebalance(&split->rebalance, items, finish_us,
                                                            split->n_set, split->rates);
}

static qn_status run(qn_split *split, qn_i64 n_items, qn_err *err)
{
    qn_chunks *chunks = NULL;
    qn_chunk_source source;
    qn_i64 blocks[QN_MAX_DEVICES];
    qn_status st = QN_OK;

    if (n_items < 0)
        return qn_fail(err, QN_ERR_USAGE, "split %s: %lld items", split->name, (long long)n_items);
    begin(split);
    split->chunk_items = chunk_size(split, n_items ? n_items : 1);
    cut_blocks(split, n_items, blocks);
    QN_TRY(qn_chunks_new(n_items, split->chunk_items,
                         split->mode == QN_SPLIT_DYNAMIC ? NULL : blocks, split->n_set,
                         (split->n_set + 1) * split->depth, &chunks, err));
    source = qn_chunks_source(chunks);
    QN_TRY(qn_split_serve(split, &source, err));
    split->stats.runs++;
    rebalance(split);
out:
    qn_chunks_free(chunks);
    split->stats.wall_us = qn_ctx_now_us(split->ctx) - split->start_us;
    return st;
}

qn_status qn_split_run(qn_split *split, qn_i64 n_items, qn_err *err)
{
    qn_err own;

    err = qn_err_begin(err, &own);
    return QN_CHECK_CALL(split ? split->ctx : NULL, err, split) == QN_OK ? run(split, n_items, err)
                                                                         : err->status;
}

/* Results. */

int qn_split_count(const qn_split *split)
{
    return split->n_workers;
}

qn_split_device qn_split_get(const qn_split *split, int i)
{
    qn_split_device did = split->workers[i].did;
    double sum = 0;

    for (int w = 0; w < split->n_set; w++)
        sum += split->rates[w] > 0 ? split->rates[w] : 0;
    did.share_pct = i < split->n_set && split->rates[i] > 0 ? 100 * split->rates[i] / sum : 0;
    return did;
}

qn_split_stats qn_split_get_stats(const qn_split *split)
{
    return split->stats;
}

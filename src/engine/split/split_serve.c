/* split_serve.c - runs chunks on several devices.
 *
 * One host thread is enough, because submission never waits: it fills free slots, breadth first,
 * and polls the devices in turn, so a slow device never delays a fast one. Only the CPU runs a
 * chunk inside the call, so it is served last, when the devices have theirs.
 */
#include "engine/split/split_impl.h"

#include <sched.h>
#include <string.h>
#include <time.h>

enum { SPINS = 64, NAP_NS = 20000 };

static int is_cpu(const qn_split_worker *worker)
{
    return worker->device->slot == QN_CPU_SLOT;
}

static int is_able(const qn_split_worker *worker)
{
    return !worker->did.has_failed;
}

static int index_of(const qn_split *split, const qn_split_worker *worker)
{
    return (int)(worker - split->workers);
}

static int count_busy(const qn_split *split)
{
    int n = 0;

    for (int w = 0; w < split->n_workers; w++)
        n += split->workers[w].n_busy;
    return n;
}

/* Failures. */

void qn_split_fail(qn_split *split, qn_split_worker *worker, const char *stage, const qn_err *err,
                   const qn_chunk_source *source)
{
    const int me = index_of(split, worker);

    worker->did.has_failed = 1;
    snprintf(worker->did.reason, sizeof worker->did.reason, "%s: %.400s", stage, err->text);
    if (source || !*worker->device->failure) /* without a source, the device stays excluded */
        memcpy(worker->device->failure, worker->did.reason, sizeof worker->device->failure);
    snprintf(split->failed_stage, sizeof split->failed_stage, "%s", stage);
    split->failure = *err;
    qn_log_put(&split->ctx->log, QN_LOG_WARN, "split %s: device %s failed (%s), %d chunks go back",
               split->name, worker->device->id, worker->did.reason, worker->n_busy);
    split->stats.requeued += (uint64_t)worker->n_busy;
    for (; worker->n_busy; worker->n_busy--) {
        const qn_split_slot *slot = &worker->slots[worker->oldest];

        worker->oldest = (worker->oldest + 1) % worker->depth;
        qn_metric_add(worker->active, -slot->n_tasks);
        source->give_back(source->state, me, slot->chunk);
    }
    worker->items_busy = 0;
    if (source)
        source->leave(source->state, me);
}

/* Whether the device failed in a copy inside one of the caller's functions. */
static int is_device_failure(const qn_split_worker *worker, qn_status status)
{
    return !is_cpu(worker) && (qn_status_is_device_fault(status) || status == QN_ERR_BUSY);
}

/* Handles a failure `err` of one of the caller's functions. QN_OK if it was the device's fault. */
static qn_status work_failed(qn_split *split, qn_split_worker *worker,
                             const qn_chunk_source *source, const qn_err *err)
{
    if (!is_device_failure(worker, err->status))
        return err->status;
    qn_metric_add(worker->device->m.failures, 1);
    qn_health_note(worker->device, 1);
    if (err->status == QN_ERR_DEVICE_LOST)
        worker->device->lost = 1;
    qn_split_fail(split, worker, split->name, err, source);
    return QN_OK;
}

/* Handles a failure of running the graph or waiting for it. QN_OK if it was the device's fault. */
static qn_status graph_failed(qn_split *split, qn_split_worker *worker, const qn_graph *graph,
                              const qn_chunk_source *source, qn_err *err)
{
    if (graph->failed_stage < 0)
        return err->status;
    qn_split_fail(split, worker, graph->stages[graph->failed_stage].name, &graph->failure, source);
    return QN_OK;
}

/* After the last device has failed: logs that once, and adds the CPU unless it already takes
 * part. */
static qn_status take_over(qn_split *split, qn_err *err)
{
    qn_split_worker *cpu = &split->workers[split->n_set];
    int n_able = 0, n_failed = 0, has_cpu = 0;
    qn_status st;

    for (int w = 0; w < split->n_workers; w++) {
        n_failed += split->workers[w].did.has_failed;
        n_able += is_able(&split->workers[w]);
        has_cpu |= is_able(&split->workers[w]) && is_cpu(&split->workers[w]);
    }
    if (!n_failed || n_able > has_cpu || split->has_fallen)
        return QN_OK;
    split->has_fallen = 1;
    *err = split->failure;
    if ((st = qn_fallback_note(split->ctx, split->failed_stage, err)) != QN_OK || has_cpu)
        return st;
    split->n_workers = split->n_set + 1;
    cpu->free_us = qn_ctx_now_us(split->ctx);
    return cpu->depth ? QN_OK : qn_split_hire(split, cpu, QN_CPU_SLOT, 1, err);
}

/* One chunk. */

static qn_status start(qn_split *split, qn_split_worker *worker, const qn_chunk_source *source,
                       qn_chunk chunk, qn_err *err)
{
    const int s = (worker->oldest + worker->n_busy) % worker->depth;
    const qn_split_work *work = &split->work;
    const int device = worker->device->slot;
    qn_split_slot *slot = &worker->slots[s];
    qn_status st = QN_OK;

    slot->chunk = chunk;
    slot->n_tasks = 0;
    worker->n_busy++;
    worker->items_busy += chunk.count;
    if (work->graph)
        st = work->graph(work->user, device, chunk.first, chunk.count, &slot->graph, err);
    if (st == QN_OK && work->prepare)
        st = work->prepare(work->user, device, s, chunk.first, chunk.count, err);
    if (st != QN_OK)
        return work_failed(split, worker, source, err);
    qn_split_adopt(slot->graph, worker, s);
    slot->n_tasks =
        work->tasks ? work->tasks(work->user, chunk.first, chunk.count) : (double)chunk.count;
    qn_metric_add(worker->active, slot->n_tasks);
    slot->begin_us = qn_ctx_now_us(split->ctx);
    if (qn_graph_run(slot->graph, err) != QN_OK)
        return graph_failed(split, worker, slot->graph, source, err);
    return QN_OK;
}

static void account(qn_split *split, qn_split_worker *worker, const qn_split_slot *slot)
{
    const double now = qn_ctx_now_us(split->ctx);
    /* A chunk starts on the device when the previous one is done. */
    const double us = now - (slot->begin_us > worker->free_us ? slot->begin_us : worker->free_us);

    worker->free_us = now;
    worker->seen_items += (double)slot->chunk.count;
    worker->seen_us += us;
    worker->did.items += slot->chunk.count;
    worker->did.chunks++;
    worker->did.busy_us += us;
    worker->did.finish_us = now - split->start_us;
    split->stats.chunks++;
    qn_metric_add(worker->tasks, slot->n_tasks);
    qn_metric_add(worker->active, -slot->n_tasks);
    qn_metric_add(worker->exec_ms, us / 1000);
}

/* Waits for the worker's oldest chunk and delivers it. */
static qn_status finish(qn_split *split, qn_split_worker *worker, const qn_chunk_source *source,
                        qn_err *err)
{
    const int s = worker->oldest;
    const qn_split_slot *slot = &worker->slots[s];

    if (qn_graph_wait(slot->graph, err) != QN_OK)
        return graph_failed(split, worker, slot->graph, source, err);
    if (split->work.deliver &&
        split->work.deliver(split->work.user, worker->device->slot, s, slot->chunk.first,
                            slot->chunk.count, err) != QN_OK)
        return work_failed(split, worker, source, err);
    account(split, worker, slot);
    source->finish(source->state, index_of(split, worker), slot->chunk);
    worker->oldest = (worker->oldest + 1) % worker->depth;
    worker->n_busy--;
    worker->items_busy -= slot->chunk.count;
    return QN_OK;
}

/* Who takes the next. */

/* Near the end of a shared queue: whether it helps to give this worker a chunk. A slow device with
 * the last chunk makes everything wait, and so does the CPU if devices run out of work
 * meanwhile. */
static int is_worth(const qn_split *split, const qn_split_worker *worker,
                    const qn_chunk_source *source)
{
    const double left = (double)source->left(source->state);
    const double chunk = left < (double)split->chunk_items ? left : (double)split->chunk_items;
    const double mine = qn_split_rate(worker);
    double others = 0, fastest = 0, busy = 0;

    if (split->mode != QN_SPLIT_DYNAMIC || !(mine > 0))
        return 1;
    for (int w = 0; w < split->n_workers; w++) {
        const qn_split_worker *other = &split->workers[w];
        const double rate = qn_split_rate(other);

        if (other == worker || !is_able(other))
            continue;
        if (!(rate > 0))
            return 1;
        others += rate;
        fastest = rate > fastest ? rate : fastest;
        busy += (double)other->items_busy;
    }
    if (!(others > 0))
        return 1;
    if (is_cpu(worker))
        return chunk / mine <= (busy + chunk) / others;
    return ((double)worker->items_busy + chunk) / mine <= (left + busy) / others + chunk / fastest;
}

/* Gives the worker a chunk if there is one. */
static qn_status offer(qn_split *split, qn_split_worker *worker, const qn_chunk_source *source,
                       int *n_started, qn_err *err)
{
    qn_chunk chunk;

    if (!source->take(source->state, index_of(split, worker), &chunk))
        return QN_OK;
    ++*n_started;
    return start(split, worker, source, chunk, err);
}

/* Every worker gets its first chunk before any gets a second. */
static qn_status fill(qn_split *split, const qn_chunk_source *source, int *n_started, qn_err *err)
{
    qn_status st = QN_OK;

    for (int level = 0; level <= split->depth; level++)
        for (int w = 0; w < split->n_workers; w++) {
            qn_split_worker *worker = &split->workers[w];
            const int turn = is_cpu(worker) ? split->depth : level;

            if (turn != level || !is_able(worker) || worker->n_busy >= worker->depth ||
                worker->n_busy > level || !is_worth(split, worker, source))
                continue;
            QN_TRY(offer(split, worker, source, n_started, err));
        }
out:
    return st;
}

/* Gives the rest to any worker, if no worker wants it and none is working. */
static qn_status force(qn_split *split, const qn_chunk_source *source, int *n_started, qn_err *err)
{
    qn_status st = QN_OK;

    for (int w = 0; w < split->n_workers && !*n_started; w++)
        if (is_able(&split->workers[w]))
            QN_TRY(offer(split, &split->workers[w], source, n_started, err));
out:
    return st;
}

/* The loop. */

/* Collects finished chunks. With one busy device the host simply waits for it. */
static qn_status collect(qn_split *split, const qn_chunk_source *source, int *n_done, qn_err *err)
{
    int n_active = 0;
    qn_status st = QN_OK;

    for (int w = 0; w < split->n_workers; w++)
        n_active += split->workers[w].n_busy > 0;
    for (int w = 0; w < split->n_workers; w++) {
        qn_split_worker *worker = &split->workers[w];

        if (!worker->n_busy)
            continue;
        if (n_active > 1 && !qn_graph_is_done(worker->slots[worker->oldest].graph))
            continue;
        ++*n_done;
        QN_TRY(finish(split, worker, source, err));
    }
out:
    return st;
}

/* Called after a round without finished chunks. Simulated time advances when it is read. */
static void pause_polling(const qn_split *split, int *n_idle)
{
    const struct timespec nap = { .tv_nsec = NAP_NS };

    if (split->ctx->timekeeper)
        return;
    if (++*n_idle < SPINS)
        sched_yield();
    else
        nanosleep(&nap, NULL);
}

static qn_status step(qn_split *split, const qn_chunk_source *source, int *n_idle, qn_err *err)
{
    int n_started = 0, n_done = 0;
    qn_status st = QN_OK;

    QN_TRY(take_over(split, err));
    QN_TRY(fill(split, source, &n_started, err));
    if (!n_started && !count_busy(split))
        QN_TRY(force(split, source, &n_started, err));
    QN_TRY(collect(split, source, &n_done, err));
    if (n_done)
        *n_idle = 0;
    else
        pause_polling(split, n_idle);
out:
    return st;
}

/* Waits for everything still in flight, on failed devices or after an error. */
static void settle(qn_split *split)
{
    for (int w = 0; w < split->n_workers; w++) {
        qn_split_worker *worker = &split->workers[w];
        const int is_at_rest = !worker->n_busy && !worker->did.has_failed;

        for (int s = 0; s < worker->depth; s++) {
            if (!is_at_rest && worker->slots[s].graph)
                qn_graph_wait(worker->slots[s].graph, NULL);
            if (split->work.graph) /* it may be freed before the next run */
                worker->slots[s].graph = NULL;
        }
        qn_metric_set(worker->active, 0); /* set exactly, since counts may be fractions */
        worker->n_busy = 0;
        worker->items_busy = 0;
    }
}

qn_status qn_split_serve(qn_split *split, const qn_chunk_source *source, qn_err *err)
{
    int n_idle = 0;
    qn_status st = QN_OK;

    for (int w = 0; w < split->n_workers; w++)
        if (!is_able(&split->workers[w]))
            source->leave(source->state, w);
    while (!source->is_over(source->state))
        QN_TRY(step(split, source, &n_idle, err));
out:
    settle(split);
    return st;
}

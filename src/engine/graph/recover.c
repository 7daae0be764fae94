/* recover.c - handles device failures.
 *
 * A failure before launch leaves data intact: the stage moves to the CPU and the run continues.
 * After a failure of a launched stage, or of a copy back, the device's results cannot be trusted:
 * the whole graph runs again on the CPU from the inputs it had at the start of the run. That is
 * possible as long as the host has them. A buffer that the run both reads and downloads is
 * downloaded into a second block, and the two are swapped. Only memory that the caller wrapped
 * cannot be swapped; copying it in every run would cost too much for a rare case. Versions are
 * reset too, so that the repeated run ends with the version numbers of the failed one and graphs
 * that started from its results find them.
 */
#include "engine/graph/run.h"

qn_status qn_recover_note(qn_graph *graph, int s, qn_err *err)
{
    const char *stage = graph->stages[s].name;

    if (graph->fallback != QN_FALLBACK_ERROR)
        return qn_fallback_note(graph->ctx, stage, err);
    graph->failed_stage = s;
    graph->failure = *err;
    return qn_prefix(err, "stage %s", stage);
}

qn_status qn_recover_move(qn_graph *graph, const qn_device *device, int s, qn_err *err)
{
    qn_status st = QN_OK;

    for (; s < graph->n_stages; s++) {
        if (graph->stage_device[s] != device->slot)
            continue;
        if (device->lost)
            qn_fail(err, QN_ERR_DEVICE_LOST, "device %s was lost", device->id);
        else
            qn_fail(err, QN_ERR_BUSY, "device %s is unhealthy", device->id);
        QN_TRY(qn_recover_note(graph, s, err));
        graph->stage_device[s] = QN_CPU_SLOT;
    }
out:
    return st;
}

/* If the device of earlier runs is lost, repeats the runs whose results this run needs, and then
 * its own last run. */
static qn_status recover_inputs(qn_graph *graph, qn_err *err)
{
    qn_ctx *ctx = graph->ctx;
    unsigned lost = 0;
    qn_status st = QN_OK;

    for (int d = 1; d < ctx->n_devices; d++)
        lost |= (unsigned)(ctx->devices[d].lost != 0) << d;
    if (graph->runs.in_flight & lost)
        QN_TRY(qn_recover_wait(graph, err));
    for (int b = 0; lost && b < graph->n_bufs; b++) {
        qn_buf *root = graph->bufs[b].root;

        if (qn_buf_find_valid(root) < 0)
            QN_TRY(qn_buf_recover(root, QN_OK, err));
    }
out:
    return st;
}

qn_status qn_recover_begin(qn_graph *graph, qn_err *err)
{
    qn_ctx *ctx = graph->ctx;
    unsigned asked = 1u << QN_CPU_SLOT;
    qn_status st = QN_OK;

    QN_TRY(recover_inputs(graph, err));
    graph->failed_stage = -1;
    for (int s = 0; s < graph->n_stages; s++)
        graph->stage_device[s] = graph->stages[s].device;
    for (int s = 0; s < graph->n_stages; s++) {
        const int d = graph->stage_device[s];

        if (asked >> d & 1)
            continue;
        asked |= 1u << d;
        if (ctx->devices[d].lost || !qn_health_ok(&ctx->devices[d]))
            QN_TRY(qn_recover_move(graph, &ctx->devices[d], s, err));
    }
    for (int b = 0; b < graph->n_bufs; b++)
        graph->bufs[b].start_version = graph->bufs[b].root->version;
out:
    return st;
}

void qn_recover_end(qn_graph *graph)
{
    for (int b = 0; b < graph->n_bufs; b++)
        graph->bufs[b].end_version = graph->bufs[b].root->version;
}

/* Going back. */

static qn_status lost_start(const qn_buf *root, qn_err *err)
{
    return qn_fail(err, QN_ERR_DEVICE_LOST,
                   "buffer %s: the host does not have what the run started from", root->name);
}

/* Puts one buffer back into its state at the start of the run, as far as the host has it. */
static qn_status rewind_one(qn_graph *graph, int b, qn_err *err)
{
    qn_graph_buf *buf = &graph->bufs[b];
    const int needed = qn_run_needs(graph, b);
    qn_buf *root = buf->root;
    qn_err ignored;
    qn_status st;

    qn_buf_await_host(root, &ignored); /* a failed download also makes the copy invalid */
    if (root->version != buf->end_version && qn_buf_find_valid(root) >= 0 && !root->is_temp)
        return qn_fail(err, QN_ERR_DEVICE_LOST,
                       "buffer %s was written since the run that failed, which cannot be repeated",
                       root->name);
    if (root->version == buf->start_version && qn_buf_find_valid(root) < 0 &&
        root->writer != &graph->runs)
        if ((st = qn_buf_recover(root, QN_OK, err)) != QN_OK)
            return st;
    if (root->version == buf->start_version && qn_buf_find_valid(root) >= 0)
        return QN_OK;
    if (needed && root->host_version != buf->start_version) {
        if (!buf->spare || buf->spare_version != buf->start_version || !root->host_block)
            return lost_start(root, err);
        qn_spare_exchange(buf);
    }
    root->version = root->host_version = buf->start_version;
    for (int d = 1; d < graph->ctx->n_devices; d++)
        if (root->copies[d].version > root->version)
            root->copies[d].version = 0;
    root->writer = NULL;
    return QN_OK;
}

static qn_status move_to_cpu(qn_graph *graph, qn_err *err)
{
    qn_ctx *ctx = graph->ctx;
    qn_err ignored;
    qn_status st = QN_OK;

    for (int d = 1; d < ctx->n_devices; d++)
        if (!ctx->devices[d].lost && graph->runs.in_flight >> d & 1)
            qn_device_sync(&ctx->devices[d], &ignored);
    qn_run_settled(graph);
    if (graph->runs.is_running)
        qn_recover_end(graph);
    for (int b = 0; b < graph->n_bufs; b++)
        QN_TRY(rewind_one(graph, b, err));
    for (int s = 0; s < graph->n_stages; s++)
        graph->stage_device[s] = QN_CPU_SLOT;
out:
    return st;
}

/* Whether it failed after launch; then nothing that the device wrote in this run can be trusted. */
static int is_late(const qn_failure *failure, qn_status status)
{
    if (status == QN_ERR_DEVICE_LOST || status == QN_ERR_TIMEOUT || failure->is_late ||
        failure->source)
        return 1;
    return failure->step && failure->step->kind == QN_STEP_DOWNLOAD;
}

static void blame(qn_device *device, const qn_failure *failure, qn_status status)
{
    /* A lost device counts once, however many stages it affects. */
    if (device->is_loss_counted)
        return;
    device->is_loss_counted = status == QN_ERR_DEVICE_LOST;
    /* Submitted stages are counted already. */
    if (!failure->is_late && !(failure->step && failure->step->kind == QN_STEP_DOWNLOAD))
        qn_metric_add(device->m.executions, 1);
    qn_metric_add(device->m.failures, 1);
    if (status == QN_ERR_BUSY) /* a busy device costs more for a while, but is healthy */
        qn_metric_add(device->m.busy, 1);
    else
        qn_health_note(device, 1);
    if (status == QN_ERR_DEVICE_LOST)
        device->lost = 1;
}

qn_status qn_recover(qn_graph *graph, const qn_failure *failure, int *next, qn_err *err)
{
    const int s = failure->stage < graph->n_stages ? failure->stage : graph->n_stages - 1;
    const int slot = failure->source ? failure->source
                     : failure->step ? failure->step->device
                                     : graph->stage_device[s];
    qn_device *device = &graph->ctx->devices[slot];
    const qn_status status = err->status;
    qn_status st = QN_OK;

    if (failure->is_reported || status == QN_ERR_FALLBACK)
        return status;
    if (slot == QN_CPU_SLOT || failure->is_final)
        return qn_prefix(err, "stage %s", graph->stages[s].name);
    blame(device, failure, status);
    qn_route_failed(graph, s, slot, status);
    QN_TRY(qn_recover_note(graph, s, err));
    if (is_late(failure, status)) {
        *next = 0;
        return move_to_cpu(graph, err);
    }
    *next = failure->stage;
    graph->stage_device[s] = QN_CPU_SLOT;
    if (!qn_health_ok(device))
        QN_TRY(qn_recover_move(graph, device, s, err));
out:
    return st;
}

/* The stage to report for a failure found at the end: the last one on that device. */
static int last_stage_on(const qn_graph *graph, int slot)
{
    for (int s = graph->n_stages - 1; s >= 0; s--)
        if (graph->stage_device[s] == slot)
            return s;
    return 0;
}

static qn_status rerun(qn_graph *graph, int d, qn_err *err)
{
    const qn_step step = { QN_STEP_DOWNLOAD, last_stage_on(graph, d), -1, d, d };
    const qn_failure failure = { .stage = step.stage, .step = &step, .is_late = 1 };
    int next;
    qn_status st = qn_recover(graph, &failure, &next, err);

    if (st != QN_OK)
        return st;
    graph->runs.is_running = 1;
    st = qn_graph_run_from(graph, next, err);
    graph->runs.is_running = 0;
    qn_recover_end(graph);
    return st;
}

qn_status qn_recover_wait(qn_graph *graph, qn_err *err)
{
    qn_ctx *ctx = graph->ctx;

    for (int d = 1; d < ctx->n_devices; d++) {
        if (!(graph->runs.in_flight >> d & 1))
            continue;
        if (qn_fence_await(&graph->fence, &ctx->devices[d], err) != QN_OK ||
            qn_points_await(&ctx->devices[d], &graph->last[d], err) != QN_OK)
            return rerun(graph, d, err);
    }
    qn_run_settled(graph);
    return QN_OK;
}

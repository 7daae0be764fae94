/* submit.c - runs the steps of a plan.
 *
 * Steps are queued in one pass; the host waits only where a CPU stage needs data that a device
 * still computes. Uploads, launches and downloads go to separate streams that synchronise at points
 * (stream.c), so copies overlap computation automatically.
 */
#include "engine/graph/run.h"
#include "hal/geometry.h"
#include "hal/sim/sim.h"

#include <stdlib.h>

void qn_fill_args(qn_graph *graph, const qn_stage *stage, qn_device *device, qn_launch_arg *out)
{
    for (int a = 0; a < stage->n_args; a++) {
        const qn_stage_arg *arg = &stage->args[a];
        const qn_buf *root;

        out[a] = (qn_launch_arg){ 0 };
        if (arg->buf_i < 0) {
            out[a].value = stage->values + arg->value_at;
            out[a].bytes = arg->value_bytes;
            continue;
        }
        root = graph->bufs[arg->buf_i].root;
        out[a].bytes = arg->bytes;
        if (device->info.unified_memory) {
            out[a].host = (char *)root->host + arg->offset;
        } else {
            out[a].mem = root->copies[device->slot].block->mem;
            out[a].at = arg->offset;
        }
    }
}

qn_status qn_stage_module(qn_stage *stage, qn_device *device, qn_err *err)
{
    qn_ctx *ctx = device->ctx;

    if (stage->fft)
        return qn_stage_fft_plan(stage, device, err);
    if (stage->modules[device->slot] || !stage->kernel->module)
        return QN_OK;
    if (device->slot != QN_CPU_SLOT && qn_fault_hits(ctx->faults, "compile", stage->name, 0))
        return qn_fail(err, QN_ERR_INJECTED, "injected compile fault (kernel %s)",
                       stage->kernel->name);
    return qn_compile(device, stage->kernel->module, &stage->modules[device->slot], err);
}

static int lacks_module(const qn_stage *stage, const qn_device *device)
{
    if (!stage->kernel || !stage->kernel->module || device->slot == QN_CPU_SLOT)
        return 0;
    return stage->fft ? !stage->fft->plans[device->slot] : !stage->modules[device->slot];
}

void qn_plan_ahead(qn_graph *graph, const qn_plan *plan)
{
    const qn_stage *first = NULL;

    for (int i = 0; i < plan->n && !graph->ctx->faults; i++) {
        const qn_stage *stage = &graph->stages[plan->steps[i].stage];
        qn_device *device = &graph->ctx->devices[plan->steps[i].device];

        if (plan->steps[i].kind != QN_STEP_STAGE || !lacks_module(stage, device))
            continue;
        if (!first)
            first = stage;
        else if (stage->fft)
            qn_fft_ahead(device, &stage->fft->shape);
        else if (stage->kernel->module != first->kernel->module)
            qn_compile_ahead(device, stage->kernel->module);
    }
}

/* Injected launch faults. */
static qn_status inject(qn_device *device, const char *stage, qn_err *err)
{
    qn_faults *faults = device->ctx->faults;

    if (!faults || device->slot == QN_CPU_SLOT)
        return QN_OK;
    if (qn_fault_hits(faults, "device_lost", stage, 0))
        return qn_fail(err, QN_ERR_DEVICE_LOST, "device %s lost (injected)", device->id);
    if (qn_fault_hits(faults, "timeout", stage, 0))
        return qn_fail(err, QN_ERR_TIMEOUT, "timeout (injected)");
    if (qn_fault_hits(faults, "launch", stage, 0))
        return qn_fail(err, QN_ERR_INJECTED, "injected launch fault");
    return QN_OK;
}

/* The previous owner may still use the memory of a temporary, which the points of the temporary's
 * own copies do not show. The stream `on` waits for that; for host memory, the host waits. */
static qn_status wait_for_tenants(qn_graph *graph, int b, qn_device *device, qn_stream on,
                                  qn_err *err)
{
    qn_ctx *ctx = graph->ctx;
    qn_status st = QN_OK;

    if (!device->info.unified_memory)
        return qn_stream_wait_all(device, on,
                                  &graph->slots[graph->bufs[b].temp_slot].used[device->slot], err);
    for (int d = 1; d < ctx->n_devices; d++) {
        const qn_point uploads = { QN_UPLOAD, graph->last[d].seq[QN_UPLOAD] };

        graph->awaited = d;
        if (!ctx->devices[d].lost)
            QN_TRY(qn_point_await(&ctx->devices[d], uploads, err));
    }
    graph->awaited = 0;
out:
    return st;
}

/* The stream waits until it may read the stage's inputs and overwrite its outputs. */
static qn_status wait_for_args(qn_graph *graph, int s, qn_device *device, qn_stream on, qn_err *err)
{
    const qn_stage *stage = &graph->stages[s];
    qn_status st = QN_OK;

    for (int a = 0; a < stage->n_args; a++) {
        const qn_stage_arg *arg = &stage->args[a];
        qn_buf *root = arg->buf_i < 0 ? NULL : graph->bufs[arg->buf_i].root;

        if (!root)
            continue;
        if (graph->bufs[arg->buf_i].temp_slot >= 0 && graph->bufs[arg->buf_i].first == s)
            QN_TRY(wait_for_tenants(graph, arg->buf_i, device, on, err));
        if (device->info.unified_memory) {
            graph->awaited = root->host_device > 0 ? root->host_device : 0;
            if (arg->mode != QN_ARG_OUT || arg->is_partial)
                QN_TRY(qn_buf_await_host(root, err));
            graph->awaited = 0;
            if (arg->mode != QN_ARG_IN)
                QN_TRY(qn_buf_await_host_write(root, err));
            continue;
        }
        QN_TRY(arg->mode == QN_ARG_IN ? qn_buf_before_read(root, device, on, err)
                                      : qn_buf_before_write(root, device, on, err));
    }
out:
    return st;
}

/* On sim, destroys the old content of OUT buffers, to enforce that they are written in full. */
static qn_status poison_outputs(qn_graph *graph, const qn_stage *stage, qn_device *device,
                                qn_stream on, qn_err *err)
{
    for (int a = 0; a < stage->n_args; a++) {
        const qn_stage_arg *arg = &stage->args[a];
        const qn_buf *root = arg->buf_i < 0 ? NULL : graph->bufs[arg->buf_i].root;
        qn_status st;

        if (!root || arg->mode != QN_ARG_OUT || arg->is_partial || root->bytes > (64u << 20))
            continue;
        st = qn_sim_poison(device->dev, root->copies[device->slot].block->mem, 0, root->bytes, on,
                           err);
        if (st != QN_OK)
            return st;
    }
    return QN_OK;
}

static qn_status launch_host_fn(qn_graph *graph, const qn_stage *stage, qn_err *err)
{
    void *data[QN_MAX_ARGS];
    qn_status st;

    for (int a = 0; a < stage->n_args; a++)
        data[a] = (char *)graph->bufs[stage->args[a].buf_i].root->host + stage->args[a].offset;
    err->status = QN_OK;
    st = stage->host(stage->user, data, err);
    return st == QN_OK || err->status == st ? st : qn_fail(err, st, "the host function failed");
}

static qn_status submit_stage(qn_graph *graph, const qn_step *step, const qn_lanes *lanes,
                              int *n_launches, qn_err *err)
{
    qn_stage *stage = &graph->stages[step->stage];
    qn_device *device = &graph->ctx->devices[step->device];
    qn_launch_arg args[QN_MAX_ARGS];
    qn_launch call = {
        .kernel = stage->kernel, .kernel_i = stage->kernel_i, .args = args, .stream = lanes->compute
    };
    qn_status st = QN_OK;

    QN_TRY(wait_for_args(graph, step->stage, device, lanes->compute, err));
    if (stage->host)
        return launch_host_fn(graph, stage, err);
    QN_TRY(inject(device, stage->name, err));
    QN_TRY(qn_stage_module(stage, device, err));
    if (device->info.kind == QN_KIND_SIM)
        QN_TRY(poison_outputs(graph, stage, device, lanes->compute, err));
    qn_fill_args(graph, stage, device, args);
    if (stage->fft) {
        st = qn_stage_fft_run(stage, device, args, lanes->compute, err);
        *n_launches = st == QN_OK ? 0 : 2; /* not our launch; parts of it may be queued */
        goto out;
    }
    call.module = stage->modules[device->slot];
    QN_TRY(qn_launch_range(device->backend, device->dev, &device->info, &call, &stage->range,
                           qn_team_lanes(device, stage->kernel), n_launches, err));
    stage->last = call;
out:
    return st;
}

qn_status qn_submit_step(qn_graph *graph, const qn_step *step, const qn_lanes *lanes,
                         int *n_launches, qn_err *err)
{
    qn_ctx *ctx = graph->ctx;
    qn_device *device = &ctx->devices[step->device];
    const char *name = graph->stages[step->stage].name;
    qn_status st;

    if ((step->kind == QN_STEP_UPLOAD || step->kind == QN_STEP_PEER) &&
        graph->bufs[step->buf_i].temp_slot >= 0 &&
        (st = wait_for_tenants(graph, step->buf_i, device, lanes->upload, err)) != QN_OK)
        return st;
    switch (step->kind) {
    case QN_STEP_UPLOAD:
        return qn_buf_upload(graph->bufs[step->buf_i].root, device, lanes->upload, name, err);
    case QN_STEP_DOWNLOAD:
        return qn_buf_download(graph->bufs[step->buf_i].root, device,
                               qn_spare_landing(graph, step->buf_i), lanes->download, name, err);
    case QN_STEP_PEER:
        return qn_buf_peer(graph->bufs[step->buf_i].root, &ctx->devices[step->from], device,
                           lanes->upload, err);
    case QN_STEP_STAGE:
        break;
    }
    return submit_stage(graph, step, lanes, n_launches, err);
}

/* The record of the key, made on first use; NULL if out of memory. */
static qn_stage_log *find_log(qn_ctx *ctx, const char *stage, const qn_device *device)
{
    char key[128];
    qn_stage_log *log;

    snprintf(key, sizeof key, "%s\n%s", stage, device->id);
    if ((log = qn_map_get(&ctx->stage_logs, key)))
        return log;
    if (!(log = calloc(1, sizeof *log)))
        return NULL;
    snprintf(log->name, sizeof log->name, "%s", stage);
    log->device = device->id;
    if (qn_map_put(&ctx->stage_logs, key, log) != QN_OK) {
        free(log);
        return NULL;
    }
    return log;
}

qn_stage_log *qn_stage_log_of(qn_stage *stage, qn_device *device)
{
    if (!stage->logs[device->slot])
        stage->logs[device->slot] = find_log(device->ctx, stage->name, device);
    return stage->logs[device->slot];
}

static void apply_stage(qn_graph *graph, qn_stage *stage, qn_device *device, qn_point at)
{
    for (int a = 0; a < stage->n_args && device->slot != QN_CPU_SLOT; a++) {
        const qn_graph_buf *buf =
            stage->args[a].buf_i < 0 ? NULL : &graph->bufs[stage->args[a].buf_i];

        if (buf && buf->temp_slot >= 0)
            qn_points_add(&graph->slots[buf->temp_slot].used[device->slot], at);
    }
    for (int a = 0; a < stage->n_args; a++)
        if (stage->args[a].buf_i >= 0 && stage->args[a].mode == QN_ARG_IN)
            qn_buf_note_read(graph->bufs[stage->args[a].buf_i].root, device, at);
    for (int a = 0; a < stage->n_args; a++)
        if (stage->args[a].buf_i >= 0 && stage->args[a].mode != QN_ARG_IN) {
            qn_buf *root = graph->bufs[stage->args[a].buf_i].root;

            qn_buf_note_write(root, device, at);
            root->writer = device->slot == QN_CPU_SLOT ? NULL : &graph->runs;
        }
    if (qn_stage_log_of(stage, device))
        stage->logs[device->slot]->runs++;
    if (device->slot == QN_CPU_SLOT) {
        qn_metric_add(graph->ctx->m.cpu_ops, 1);
    } else {
        qn_metric_add(graph->ctx->m.gpu_ops, 1);
        qn_metric_add(device->m.executions, 1);
        qn_health_note(device, 0);
    }
}

void qn_apply_step(qn_graph *graph, const qn_step *step, qn_point at)
{
    qn_device *device = &graph->ctx->devices[step->device];
    qn_stage *stage = &graph->stages[step->stage];
    qn_buf *root = step->buf_i < 0 ? NULL : graph->bufs[step->buf_i].root;

    switch (step->kind) {
    case QN_STEP_UPLOAD:
        qn_count_transfer(root, device, QN_TRANSFER_H2D, root->bytes);
        qn_buf_note_arrival(root, device, QN_CPU_SLOT, at);
        stage->h2d_bytes += root->bytes;
        if (qn_stage_log_of(stage, device))
            stage->logs[device->slot]->h2d_bytes += root->bytes;
        graph->stats.transfers.h2d_count++;
        graph->stats.transfers.h2d_bytes += root->bytes;
        break;
    case QN_STEP_DOWNLOAD:
        qn_count_transfer(root, device, QN_TRANSFER_D2H, root->bytes);
        qn_spare_landed(graph, step->buf_i);
        qn_buf_note_download(root, device, at);
        stage->d2h_bytes += root->bytes;
        if (qn_stage_log_of(stage, device))
            stage->logs[device->slot]->d2h_bytes += root->bytes;
        graph->stats.transfers.d2h_count++;
        graph->stats.transfers.d2h_bytes += root->bytes;
        break;
    case QN_STEP_PEER:
        qn_count_transfer(root, device, QN_TRANSFER_D2D, root->bytes);
        qn_buf_note_arrival(root, device, step->from, at);
        graph->stats.transfers.d2d_count++;
        graph->stats.transfers.d2d_bytes += root->bytes;
        break;
    case QN_STEP_STAGE:
        apply_stage(graph, stage, device, at);
        break;
    }
    if (step->device == QN_CPU_SLOT)
        return;
    qn_points_add(&graph->last[step->device], at);
    graph->runs.in_flight |= 1u << step->device;
}

static qn_stream lane_of(const qn_step *step, const qn_lanes *lanes)
{
    switch (step->kind) {
    case QN_STEP_UPLOAD:
    case QN_STEP_PEER:
        return lanes->upload;
    case QN_STEP_DOWNLOAD:
        return lanes->download;
    case QN_STEP_STAGE:
        break;
    }
    return lanes->compute;
}

/* `corrupt` flips one bit of a stage's output, to test the cross-check. */
static qn_status corrupt(qn_graph *graph, const qn_step *step, qn_err *err)
{
    qn_device *device = &graph->ctx->devices[step->device];
    const qn_stage *stage = &graph->stages[step->stage];
    qn_status st = QN_OK;

    if (step->device == QN_CPU_SLOT || !graph->ctx->faults ||
        !qn_fault_hits(graph->ctx->faults, "corrupt", stage->name, 0))
        return QN_OK;
    for (int a = 0; a < stage->n_args; a++) {
        const qn_stage_arg *arg = &stage->args[a];
        unsigned char byte;
        qn_mem *mem;

        if (arg->buf_i < 0 || arg->mode == QN_ARG_IN)
            continue;
        mem = graph->bufs[arg->buf_i].root->copies[device->slot].block->mem;
        QN_TRY(qn_device_sync(device, err));
        QN_TRY(device->backend->download(device->dev, mem, arg->offset, &byte, 1, QN_COMPUTE, err));
        QN_TRY(device->backend->sync(device->dev, err));
        byte ^= 0x10;
        QN_TRY(device->backend->upload(device->dev, mem, arg->offset, &byte, 1, QN_COMPUTE, err));
        QN_TRY(device->backend->sync(device->dev, err));
        break;
    }
out:
    return st;
}

/* A plan that continues an earlier one stays on the graph's own stream, so that stream must wait
 * for the branches. */
static qn_status join_branches(qn_graph *graph, qn_err *err)
{
    qn_status st = QN_OK;

    for (int d = 1; d < graph->ctx->n_devices; d++)
        for (qn_stream on = QN_COMPUTE; on < QN_N_COMPUTE && !graph->ctx->devices[d].lost; on++)
            QN_TRY(qn_stream_wait(&graph->ctx->devices[d], graph->stream,
                                  (qn_point){ on, graph->last[d].seq[on] }, err));
out:
    return st;
}

/* Queues one step and counts it. */
static qn_status submit_one(qn_graph *graph, const qn_plan *plan, int i, int *next_meet,
                            qn_failure *failure, qn_err *err)
{
    const qn_step *step = &plan->steps[i];
    const int is_stage = step->kind == QN_STEP_STAGE;
    const int is_branch = is_stage && step->device != QN_CPU_SLOT;
    const qn_stream branch = is_branch ? plan->branches.on[step->stage] : 0;
    const qn_lanes lanes = { QN_UPLOAD, qn_branch_stream(graph, branch), QN_DOWNLOAD };
    qn_stage_clock clock;
    qn_point at;
    int parts = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_clock_start(graph, step, lanes.compute, &clock, err));
    if (is_branch)
        st = qn_branches_begin(graph, &plan->branches, step->stage, next_meet, err);
    if (st == QN_OK)
        st = qn_submit_step(graph, step, &lanes, &parts, err);
    failure->source = graph->awaited;
    failure->is_late = st == QN_OK || parts > 1; /* the parts before the last were queued */
    if (st == QN_OK && is_stage)
        st = corrupt(graph, step, err);
    if (st == QN_OK) {
        at = qn_stream_step(&graph->ctx->devices[step->device], lane_of(step, &lanes));
        qn_apply_step(graph, step, at);
        if (is_branch)
            st = qn_branches_end(graph, &plan->branches, step->stage, at, err);
    }
    if (st == QN_OK)
        return qn_clock_stop(graph, step, lanes.compute, &clock, err);
    qn_clock_cancel(graph, step, &clock);
out:
    return st;
}

qn_status qn_submit_plan(qn_graph *graph, const qn_plan *plan, qn_failure *failure, qn_err *err)
{
    qn_ctx *ctx = graph->ctx;
    int next_meet = 0;
    qn_status st = QN_OK;

    graph->stats.submissions++;
    graph->stats.crossings += (uint64_t)plan->crossings;
    qn_metric_add(ctx->m.crossings, plan->crossings);
    ctx->transfers.elided += (uint64_t)plan->elided;
    qn_metric_add(ctx->m.elided, plan->elided);
    qn_plan_ahead(graph, plan);
    if (plan->from > 0)
        QN_TRY(join_branches(graph, err));
    for (int i = 0; i < plan->n; i++) {
        *failure = (qn_failure){ .stage = plan->steps[i].stage, .step = &plan->steps[i] };
        graph->awaited = 0;
        QN_TRY(submit_one(graph, plan, i, &next_meet, failure, err));
    }
out:
    qn_branches_drop(graph, &plan->branches);
    return st;
}

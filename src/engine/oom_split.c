/* oom_split.c - rung 4 of the out-of-memory ladder: a stage in pieces.
 *
 * When a stage's buffers do not fit on the device and its op may be cut along an axis, its range
 * is halved until a piece fits (at most six times). Each piece gets slices of the buffers, runs,
 * and is read back before the next, so the result is the same and only the time suffers.
 */
#include "engine/compile.h"
#include "engine/fault.h"
#include "engine/graph_impl.h"
#include "hal/geometry.h"

enum { MOST_HALVINGS = 6 };

/* Slices of the stage's buffers for one piece. */
typedef struct {
    qn_block *blocks[QN_MAX_ARGS];
    size_t at[QN_MAX_ARGS], bytes[QN_MAX_ARGS];
} piece;

static qn_i64 extent(const qn_range *range, qn_split_axis axis)
{
    return axis == QN_SPLIT_X ? range->x1 - range->x0
         : axis == QN_SPLIT_Y ? range->y1 - range->y0
                              : range->z1 - range->z0;
}

static qn_range cut_range(qn_range range, qn_split_axis axis, qn_i64 n)
{
    if (axis == QN_SPLIT_X) {
        range.x0 = 0;
        range.x1 = n;
    } else if (axis == QN_SPLIT_Y) {
        range.y0 = 0;
        range.y1 = n;
    } else {
        range.z0 = 0;
        range.z1 = n;
    }
    return range;
}

static void release(qn_device *device, piece *p)
{
    for (int a = 0; a < QN_MAX_ARGS; a++)
        if (p->blocks[a])
            qn_pool_release(device->pool, p->blocks[a]);
    *p = (piece){ .at = { 0 } };
}

/* Cuts [first, first + n) of the axis out of every buffer and gets device memory for it. */
static qn_status acquire(qn_graph *graph, const qn_stage *stage, qn_device *device, qn_i64 first,
                         qn_i64 n, qn_i64 whole, piece *p, qn_err *err)
{
    for (int a = 0; a < stage->n_args; a++) {
        const qn_stage_arg *arg = &stage->args[a];
        size_t span, part;
        qn_status st;

        if (arg->buf_i < 0)
            continue;
        span = graph->bufs[arg->buf_i].root->bytes - arg->offset;
        if (span % (size_t)whole)
            return qn_fail(err, QN_ERR_UNSUPPORTED, "buffers of stage %s do not divide", stage->name);
        part = span / (size_t)whole;
        p->at[a] = arg->offset + part * (size_t)first;
        p->bytes[a] = part * (size_t)n;
        st = qn_evict_acquire(device, p->bytes[a], stage->name, &p->blocks[a], err);
        if (st != QN_OK)
            return st;
    }
    return QN_OK;
}

static qn_status run_piece(qn_graph *graph, qn_stage *stage, qn_device *device, qn_range range,
                           const piece *p, qn_err *err)
{
    qn_launch_arg args[QN_MAX_ARGS];
    qn_launch call = { .module = stage->modules[device->slot], .kernel = stage->kernel,
                       .kernel_i = stage->kernel_i, .args = args, .stream = graph->stream };
    qn_status st = QN_OK;

    for (int a = 0; a < stage->n_args; a++) {
        const qn_stage_arg *arg = &stage->args[a];
        qn_buf *root = arg->buf_i < 0 ? NULL : graph->bufs[arg->buf_i].root;

        args[a] = (qn_launch_arg){ 0 };
        if (!root) {
            args[a].value = stage->values + arg->value_at;
            args[a].bytes = arg->value_bytes;
            continue;
        }
        args[a].mem = p->blocks[a]->mem;
        if (arg->mode == QN_ARG_OUT)
            continue;
        QN_TRY(device->backend->upload(device->dev, args[a].mem, 0, (char *)root->host + p->at[a],
                                       p->bytes[a], graph->stream, err));
        qn_count_transfer(root, device, QN_TRANSFER_H2D, p->bytes[a]);
    }
    QN_TRY(qn_launch_range(device->backend, device->dev, &device->info, &call, &range,
                           qn_team_lanes(device), NULL, err));
    for (int a = 0; a < stage->n_args; a++) {
        const qn_stage_arg *arg = &stage->args[a];

        if (arg->buf_i < 0 || arg->mode == QN_ARG_IN)
            continue;
        QN_TRY(device->backend->download(device->dev, p->blocks[a]->mem, 0,
                                         (char *)graph->bufs[arg->buf_i].root->host + p->at[a],
                                         p->bytes[a], graph->stream, err));
        qn_count_transfer(graph->bufs[arg->buf_i].root, device, QN_TRANSFER_D2H, p->bytes[a]);
    }
    qn_stream_step(device, graph->stream);
    QN_TRY(qn_device_sync(device, err));
out:
    return st;
}

/* Host copies hold the inputs; the outputs are filled piece by piece. */
static qn_status prepare_host(qn_graph *graph, const qn_stage *stage, qn_err *err)
{
    qn_status st = QN_OK;

    for (int a = 0; a < stage->n_args; a++) {
        qn_buf *root = stage->args[a].buf_i < 0 ? NULL : graph->bufs[stage->args[a].buf_i].root;

        if (!root)
            continue;
        QN_TRY(stage->args[a].mode == QN_ARG_OUT && !stage->args[a].is_partial ? qn_buf_need_host(root, err)
                                                                              : qn_buf_fetch(root, err));
        QN_TRY(qn_buf_await_host_write(root, err));
        qn_buf_drop_copy(root, &graph->ctx->devices[graph->stage_device[(int)(stage - graph->stages)]]);
    }
out:
    return st;
}

static qn_status run_pieces(qn_graph *graph, qn_stage *stage, qn_device *device, qn_i64 n, qn_err *err)
{
    const qn_split_axis axis = stage->op->split;
    const qn_i64 whole = extent(&stage->range, axis);
    qn_status st = QN_OK;

    for (qn_i64 first = 0; first < whole && st == QN_OK; first += n) {
        const qn_i64 count = whole - first < n ? whole - first : n;
        piece p = { .at = { 0 } };

        st = acquire(graph, stage, device, first, count, whole, &p, err);
        if (st == QN_OK)
            st = run_piece(graph, stage, device, cut_range(stage->range, axis, count), &p, err);
        release(device, &p);
    }
    return st;
}

static int can_split(const qn_stage *stage)
{
    const qn_range *r = &stage->range;
    const qn_split_axis axis = stage->op ? stage->op->split : QN_SPLIT_NONE;

    if (!stage->kernel || axis == QN_SPLIT_NONE || extent(r, axis) < 2)
        return 0;
    return axis == QN_SPLIT_X ? r->x0 == 0 : axis == QN_SPLIT_Y ? r->y0 == 0 : r->z0 == 0;
}

qn_status qn_split_stage(qn_graph *graph, int s, qn_err *err)
{
    qn_stage *stage = &graph->stages[s];
    qn_device *device = &graph->ctx->devices[graph->stage_device[s]];
    qn_i64 n;
    qn_status st;

    if (device->slot == QN_CPU_SLOT || !can_split(stage))
        return qn_fail(err, QN_ERR_UNSUPPORTED, "stage %s cannot be split", stage->name);
    if ((st = qn_stage_module(stage, device, err)) != QN_OK ||
        (st = prepare_host(graph, stage, err)) != QN_OK)
        return st;
    n = extent(&stage->range, stage->op->split);
    st = QN_ERR_NOMEM;
    for (int k = 0; st == QN_ERR_NOMEM && k < MOST_HALVINGS && n > 1; k++) {
        n = (n + 1) / 2;
        st = run_pieces(graph, stage, device, n, err);
    }
    if (st != QN_OK)
        return st;
    for (int a = 0; a < stage->n_args; a++)
        if (stage->args[a].buf_i >= 0 && stage->args[a].mode != QN_ARG_IN)
            qn_buf_note_host_write(graph->bufs[stage->args[a].buf_i].root);
    qn_metric_add(graph->ctx->m.gpu_ops, 1);
    qn_log_put(&graph->ctx->log, QN_LOG_INFO, "memory: stage %s ran on %s in pieces of %lld",
               stage->name, device->id, (long long)n);
    return QN_OK;
}

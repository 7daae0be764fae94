/* oom_split.c - rung 4 of the out-of-memory ladder: runs a stage in pieces.
 *
 * When a stage's buffers do not fit on the device and its op may be cut along an axis, its range is
 * halved until a piece fits (at most six times). Each piece gets slices of the buffers, runs, and
 * is read back before the next. Results go to separate memory and are copied into place when the
 * whole piece has arrived, so a failed piece leaves nothing half done: a smaller piece starts from
 * the same point, and if the device fails for good, the CPU does the rest.
 */
#include "engine/graph/run.h"
#include "hal/geometry.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_HALVINGS = 6 };

/* Slices of the stage's buffers for one piece. */
typedef struct {
    qn_block *blocks[QN_MAX_ARGS];
    void *results[QN_MAX_ARGS]; /* for arguments that are written */
    size_t at[QN_MAX_ARGS], bytes[QN_MAX_ARGS];
} piece;

/* The stage being cut, and its progress. */
typedef struct {
    qn_graph *graph;
    qn_stage *stage;
    qn_device *device;
    qn_split_axis axis;
    qn_i64 whole; /* extent of the axis */
    qn_i64 done;
} cut;

static qn_i64 extent(const qn_range *range, qn_split_axis axis)
{
    return axis == QN_SPLIT_X   ? range->x1 - range->x0
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

static qn_buf *root_of(const cut *c, int a)
{
    return c->stage->args[a].buf_i < 0 ? NULL : c->graph->bufs[c->stage->args[a].buf_i].root;
}

/* Bytes of a buffer per step along the axis; 0 if it cannot be divided. A MAP over x touches one
 * element per point, so a buffer with more elements is not cut with its range. */
static size_t slice_bytes(const cut *c, int a)
{
    const qn_stage_arg *arg = &c->stage->args[a];
    const size_t one = c->stage->kernel->args[a].size;
    const int is_elementwise = c->stage->kernel->form == QN_FORM_MAP && c->axis == QN_SPLIT_X;

    if (is_elementwise)
        return arg->bytes == one * (size_t)c->whole ? one : 0;
    return arg->bytes % (size_t)c->whole ? 0 : arg->bytes / (size_t)c->whole;
}

static int can_cut(const cut *c)
{
    const qn_range *r = &c->stage->range;

    if (!c->stage->kernel || c->axis == QN_SPLIT_NONE || c->whole < 2)
        return 0;
    if (c->axis == QN_SPLIT_X ? r->x0 : c->axis == QN_SPLIT_Y ? r->y0 : r->z0)
        return 0;
    if (c->axis == QN_SPLIT_X && (r->y1 - r->y0 != 1 || r->z1 - r->z0 != 1))
        return 0;
    for (int a = 0; a < c->stage->n_args; a++)
        if (root_of(c, a) && !slice_bytes(c, a))
            return 0;
    return 1;
}

static void release(const cut *c, piece *p)
{
    for (int a = 0; a < QN_MAX_ARGS; a++) {
        if (p->blocks[a])
            qn_pool_release(c->device->pool, p->blocks[a]);
        free(p->results[a]);
    }
}

/* Allocates device memory for `n` steps from c->done of every buffer, and host memory for the
 * results. */
static qn_status acquire(const cut *c, qn_i64 n, piece *p, qn_err *err)
{
    qn_status st = QN_OK;

    for (int a = 0; a < c->stage->n_args; a++) {
        if (!root_of(c, a))
            continue;
        p->at[a] = c->stage->args[a].offset + slice_bytes(c, a) * (size_t)c->done;
        p->bytes[a] = slice_bytes(c, a) * (size_t)n;
        QN_TRY(qn_evict_acquire(c->device, p->bytes[a], c->stage->name, root_of(c, a)->name, 1,
                                &p->blocks[a], err));
        if (c->stage->args[a].mode != QN_ARG_IN && !(p->results[a] = malloc(p->bytes[a])))
            QN_FAIL(err, QN_ERR_NOMEM, "stage %s: out of host memory", c->stage->name);
    }
out:
    return st;
}

static qn_status upload(const cut *c, const piece *p, int a, qn_err *err)
{
    const qn_stage_arg *arg = &c->stage->args[a];
    qn_status st = QN_OK;

    if (arg->mode == QN_ARG_OUT)
        return QN_OK;
    QN_TRY(qn_fault_copy(c->graph->ctx, "copy_h2d", c->stage->name, p->bytes[a], err));
    QN_TRY(c->device->backend->upload(c->device->dev, p->blocks[a]->mem, 0,
                                      (char *)root_of(c, a)->host + p->at[a], p->bytes[a],
                                      c->graph->stream, err));
    qn_count_transfer(root_of(c, a), c->device, QN_TRANSFER_H2D, p->bytes[a]);
out:
    return st;
}

static qn_status download(const cut *c, const piece *p, int a, qn_err *err)
{
    qn_status st = QN_OK;

    if (!p->results[a])
        return QN_OK;
    QN_TRY(qn_fault_copy(c->graph->ctx, "copy_d2h", c->stage->name, p->bytes[a], err));
    QN_TRY(c->device->backend->download(c->device->dev, p->blocks[a]->mem, 0, p->results[a],
                                        p->bytes[a], c->graph->stream, err));
    qn_count_transfer(root_of(c, a), c->device, QN_TRANSFER_D2H, p->bytes[a]);
out:
    return st;
}

static void fill_values(const cut *c, qn_launch_arg *args)
{
    for (int a = 0; a < c->stage->n_args; a++) {
        args[a] = (qn_launch_arg){ 0 };
        if (root_of(c, a))
            continue;
        args[a].value = c->stage->values + c->stage->args[a].value_at;
        args[a].bytes = c->stage->args[a].value_bytes;
    }
}

static qn_status launch(const cut *c, qn_device *device, const qn_launch_arg *args, qn_i64 n,
                        qn_err *err)
{
    const qn_range range = cut_range(c->stage->range, c->axis, n);
    qn_launch call = { .module = c->stage->modules[device->slot],
                       .kernel = c->stage->kernel,
                       .kernel_i = c->stage->kernel_i,
                       .args = args,
                       .stream = c->graph->stream };

    return qn_launch_range(device->backend, device->dev, &device->info, &call, &range,
                           qn_team_lanes(device, c->stage->kernel), NULL, err);
}

/* Runs `n` steps from c->done. */
static qn_status run_piece(cut *c, qn_i64 n, qn_err *err)
{
    qn_launch_arg args[QN_MAX_ARGS];
    piece p = { .at = { 0 } };
    qn_status st = QN_OK;
    qn_err ignored;

    QN_TRY(acquire(c, n, &p, err));
    fill_values(c, args);
    for (int a = 0; a < c->stage->n_args; a++) {
        if (!root_of(c, a))
            continue;
        args[a].mem = p.blocks[a]->mem;
        QN_TRY(upload(c, &p, a, err));
    }
    QN_TRY(launch(c, c->device, args, n, err));
    for (int a = 0; a < c->stage->n_args; a++)
        QN_TRY(download(c, &p, a, err));
    QN_TRY(qn_device_sync(c->device, err));
    for (int a = 0; a < c->stage->n_args; a++)
        if (p.results[a])
            memcpy((char *)root_of(c, a)->host + p.at[a], p.results[a], p.bytes[a]);
    c->done += n;
out:
    if (st != QN_OK) /* copies may still use the memory that is freed below */
        qn_device_sync(c->device, &ignored);
    release(c, &p);
    return st;
}

/* The CPU does the rest, in place. */
static qn_status run_rest(cut *c, qn_err *err)
{
    qn_device *cpu = &c->graph->ctx->devices[QN_CPU_SLOT];
    qn_launch_arg args[QN_MAX_ARGS];
    const qn_status st = qn_stage_module(c->stage, cpu, err);

    if (st != QN_OK)
        return st;
    fill_values(c, args);
    for (int a = 0; a < c->stage->n_args; a++)
        if (root_of(c, a))
            args[a].host = (char *)root_of(c, a)->host + c->stage->args[a].offset +
                           slice_bytes(c, a) * (size_t)c->done;
    return launch(c, cpu, args, c->whole - c->done, err);
}

static qn_status run_pieces(cut *c, qn_i64 *n, qn_err *err)
{
    qn_status st = QN_ERR_NOMEM;
    int halvings = 0;

    while (c->done < c->whole) {
        if (st != QN_OK) {
            if (halvings++ == MOST_HALVINGS || *n == 1)
                return st;
            *n = (*n + 1) / 2;
            qn_pool_trim(c->device->pool, SIZE_MAX); /* the larger piece still holds its blocks */
        }
        st = run_piece(c, *n < c->whole - c->done ? *n : c->whole - c->done, err);
        if (st != QN_OK && st != QN_ERR_NOMEM && st != QN_ERR_LIMIT)
            return st;
    }
    return QN_OK;
}

/* Makes the host copies valid, for inputs and results, and drops the device's copies. */
static qn_status prepare_host(const cut *c, qn_err *err)
{
    qn_status st = QN_OK;

    for (int a = 0; a < c->stage->n_args; a++) {
        const qn_stage_arg *arg = &c->stage->args[a];
        qn_buf *root = root_of(c, a);

        if (!root)
            continue;
        QN_TRY(arg->mode == QN_ARG_OUT && !arg->is_partial ? qn_buf_need_host(root, err)
                                                           : qn_buf_fetch(root, err));
        QN_TRY(qn_buf_await_host_write(root, err));
    }
    for (int a = 0; a < c->stage->n_args; a++)
        if (root_of(c, a))
            qn_buf_drop_copy(root_of(c, a), c->device);
out:
    return st;
}

static void pin_host(const cut *c, int by)
{
    for (int a = 0; a < c->stage->n_args; a++)
        if (root_of(c, a))
            root_of(c, a)->host_pins += by;
}

static void note_results(const cut *c)
{
    for (int a = 0; a < c->stage->n_args; a++)
        if (root_of(c, a) && c->stage->args[a].mode != QN_ARG_IN)
            qn_buf_note_host_write(root_of(c, a));
}

static void note_done(const cut *c, qn_i64 n)
{
    qn_ctx *ctx = c->graph->ctx;

    note_results(c);
    qn_metric_add(ctx->m.gpu_ops, 1);
    qn_metric_add(ctx->m.splits, 1);
    qn_metric_add(c->device->m.executions, 1);
    qn_health_note(c->device, 0);
    qn_log_put(&ctx->log, QN_LOG_INFO, "memory: stage %s ran on %s in pieces of %lld of %lld",
               c->stage->name, c->device->id, (long long)n, (long long)c->whole);
}

qn_status qn_split_stage(qn_graph *graph, int s, qn_err *err)
{
    qn_stage *stage = &graph->stages[s];
    cut c = { graph, stage, &graph->ctx->devices[graph->stage_device[s]], QN_SPLIT_NONE, 0, 0 };
    qn_i64 n;
    qn_status st = QN_OK;

    c.axis = stage->op->split;
    n = c.whole = extent(&stage->range, c.axis);
    if (c.device->slot == QN_CPU_SLOT || !can_cut(&c))
        return qn_fail(err, QN_ERR_UNSUPPORTED, "stage %s cannot be split", stage->name);
    pin_host(&c, 1);
    QN_TRY(qn_stage_module(stage, c.device, err));
    QN_TRY(prepare_host(&c, err));
    st = run_pieces(&c, &n, err);
    if (st == QN_OK) {
        note_done(&c, n);
    } else if (c.done > 0) {
        if (st == QN_ERR_DEVICE_LOST)
            c.device->lost = 1;
        qn_metric_add(c.device->m.failures, 1);
        qn_health_note(c.device, 1);
        QN_TRY(qn_recover_note(graph, s, err));
        QN_TRY(run_rest(&c, err));
        note_results(&c);
    }
out:
    pin_host(&c, -1);
    return st;
}

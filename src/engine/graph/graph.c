/* graph.c - builds graphs: stages, the buffers they touch, and everything derived from that.
 *
 * Any change to what a run does makes the graph uncompiled again. The change first waits for a run
 * in flight, since that run may have to be repeated in its old form.
 */
#include "engine/graph/run.h"

#include "hal/geometry.h"
#include "util/list.h"

#include <stdlib.h>
#include <string.h>

static qn_status wait_for_runs(qn_runs *runs, qn_err *err)
{
    return qn_recover_wait((qn_graph *)runs, err);
}

static void release_temps(qn_runs *runs, int slot)
{
    qn_order_release((qn_graph *)runs, slot);
}

qn_status qn_graph_new(qn_ctx *ctx, const char *name, qn_graph **out, qn_err *err)
{
    qn_status st = QN_CHECK_CALL(ctx, err, ctx, name, out);
    qn_graph *graph = st == QN_OK ? calloc(1, sizeof *graph) : NULL;

    if (st != QN_OK)
        return st;
    if (!graph)
        return qn_fail(err, QN_ERR_NOMEM, "graph %s: out of host memory", name);
    graph->runs = (qn_runs){ .wait = wait_for_runs, .release = release_temps };
    graph->ctx = ctx;
    graph->failed_stage = -1;
    graph->fallback = ctx->graph_fallback;
    strncpy(graph->name, name, sizeof graph->name - 1);
    *out = graph;
    return QN_OK;
}

static void free_stage(qn_graph *graph, qn_stage *stage)
{
    qn_stage_fft_free(graph, stage->fft);
    free(stage->args);
    free(stage->values);
    free(stage->deps);
}

static void free_bufs(qn_graph *graph)
{
    qn_order_release_all(graph);
    for (int b = 0; b < graph->n_bufs; b++) {
        qn_buf *root = graph->bufs[b].root;

        if (root->writer == &graph->runs)
            root->writer = NULL;
        if (graph->bufs[b].spare)
            qn_pool_release(graph->ctx->host_pool, graph->bufs[b].spare);
        qn_buf_free(root);
    }
    free(graph->bufs);
}

/* Restores the stages as they were added. */
static void split_fused(qn_graph *graph)
{
    if (graph->fusion)
        qn_route_free(graph); /* it refers to the fused stages */
    qn_fuse_undo(graph);
}

void qn_graph_free(qn_graph *graph)
{
    if (!graph || qn_ctx_is_inherited(graph->ctx))
        return;
    qn_graph_wait(graph, NULL);
    qn_fence_clear(&graph->fence);
    qn_route_free(graph);
    qn_record_free(graph);
    split_fused(graph);
    free_bufs(graph);
    for (int s = 0; s < graph->n_stages; s++) {
        if (graph->stages[s].kernel && graph->stages[s].kernel->module)
            qn_compile_forget(graph->ctx, graph->stages[s].kernel->module);
        qn_compile_drop(graph->ctx, graph->stages[s].modules);
        free_stage(graph, &graph->stages[s]);
    }
    qn_plan_free(&graph->plan);
    free(graph->stages);
    free(graph->edges);
    free(graph->stage_device);
    free(graph);
}

/* Building. */

/* Prepares a change of the graph: waits for the run in flight, then restores the stages as they
 * were added. */
static qn_status reopen(qn_graph *graph, qn_err *err)
{
    const qn_status st = qn_recover_wait(graph, err);

    if (st == QN_OK)
        split_fused(graph);
    return st;
}

static qn_status use_buf(qn_graph *graph, qn_buf *buf, int *out, qn_err *err)
{
    qn_buf *root = qn_buf_root(buf);
    qn_status st;
    int i = 0;

    /* Newest first: stages of a chain touch the buffers of the previous stage. */
    for (i = graph->n_bufs - 1; i >= 0; i--)
        if (graph->bufs[i].root == root)
            break;
    if (i < 0) {
        st = QN_GROW(graph->bufs, graph->n_bufs, &graph->cap_bufs, "the buffers of a graph", err);
        if (st != QN_OK)
            return st;
        i = graph->n_bufs++;
        graph->bufs[i] = (qn_graph_buf){ .root = root,
                                         .first = -1,
                                         .last = -1,
                                         .temp_slot = -1,
                                         .start_version = root->version,
                                         .end_version = root->version };
        root->refs++;
    }
    *out = i;
    return QN_OK;
}

static qn_status check_arg(const qn_stage *stage, int i, const qn_arg_info *info, const qn_arg *arg,
                           qn_err *err)
{
    if (info->mode == QN_ARG_VAL) {
        if (!arg->value)
            return qn_fail(err, QN_ERR_USAGE, "stage %s: argument %d (%s) wants a value",
                           stage->name, i, info->name);
        if (info->size && arg->bytes != info->size)
            return qn_fail(err, QN_ERR_USAGE, "stage %s: argument %d (%s) has %zu bytes, wants %u",
                           stage->name, i, info->name, arg->bytes, info->size);
        return QN_OK;
    }
    if (!arg->buf)
        return qn_fail(err, QN_ERR_USAGE, "stage %s: argument %d (%s) wants a buffer", stage->name,
                       i, info->name);
    if (arg->offset >= arg->buf->bytes)
        return qn_fail(err, QN_ERR_USAGE,
                       "stage %s: offset %zu lies outside buffer %s of %zu bytes", stage->name,
                       arg->offset, arg->buf->name, arg->buf->bytes);
    return QN_OK;
}

static size_t values_size(const qn_kernel_info *kernel, const qn_arg *args)
{
    size_t total = 0;

    for (int i = 0; i < kernel->n_args; i++)
        if (kernel->args[i].mode == QN_ARG_VAL)
            total += (args[i].bytes + 15) / 16 * 16;
    return total;
}

/* Points before the range are not written, so their old content must be kept, like the bytes before
 * an offset. */
static int begins_late(const qn_range *range)
{
    return range->x0 > 0 || range->y0 > 0 || range->z0 > 0;
}

static qn_status use_arg(qn_graph *graph, qn_buf *buf, size_t offset, qn_stage_arg *to, qn_err *err)
{
    to->offset = buf->offset + offset;
    to->bytes = buf->bytes - offset;
    to->is_partial = to->bytes < qn_buf_root(buf)->bytes;
    return use_buf(graph, buf, &to->buf_i, err);
}

static qn_status fill_args(qn_graph *graph, qn_stage *stage, const qn_arg *args, qn_err *err)
{
    const qn_kernel_info *kernel = stage->kernel;
    size_t at = 0;
    qn_status st;

    for (int i = 0; i < kernel->n_args; i++) {
        qn_stage_arg *to = &stage->args[i];

        if ((st = check_arg(stage, i, &kernel->args[i], &args[i], err)) != QN_OK)
            return st;
        *to = (qn_stage_arg){ .buf_i = -1, .mode = (qn_arg_mode)kernel->args[i].mode };
        if (to->mode == QN_ARG_VAL) {
            to->value_at = at;
            to->value_bytes = args[i].bytes;
            memcpy(stage->values + at, args[i].value, args[i].bytes);
            at += (args[i].bytes + 15) / 16 * 16;
            continue;
        }
        if ((st = use_arg(graph, args[i].buf, args[i].offset, to, err)) != QN_OK)
            return st;
        to->is_partial |= begins_late(&stage->range);
    }
    return QN_OK;
}

/* Number of elements of argument `a`, from the start, that the stage certainly touches. */
static double reach(const qn_stage *stage, const qn_op_use *use, int a)
{
    const qn_range *r = &stage->range;
    double end = (double)r->x1;

    if (stage->op->need)
        return stage->op->need(use, a);
    if (!(stage->kernel->points >> a & 1))
        return 0;
    /* GI counts rows of 2^30 points; the last row of a folded range may have more. */
    if (stage->kernel->folds)
        end += (double)(r->y1 - 1) * QN_MAX_AXIS;
    return end;
}

/* Checks that the buffers are as large as the stage needs, as far as that is known; `value`, unless
 * NULL, replaces the value of argument `changed`. */
static qn_status check_reach(const qn_graph *graph, const qn_stage *stage, int changed,
                             const void *value, qn_err *err)
{
    const qn_range *r = &stage->range;
    const void *values[QN_MAX_ARGS] = { NULL };
    size_t bytes[QN_MAX_ARGS] = { 0 };
    const qn_op_use use = { stage->kernel, stage->range, bytes, values };

    if (r->x1 <= r->x0 || r->y1 <= r->y0 || r->z1 <= r->z0)
        return QN_OK;
    for (int a = 0; a < stage->n_args; a++) {
        const qn_stage_arg *arg = &stage->args[a];

        bytes[a] = arg->bytes;
        if (arg->buf_i < 0)
            values[a] = value && a == changed ? value : stage->values + arg->value_at;
    }
    for (int a = 0; a < stage->n_args; a++) {
        const size_t size = stage->args[a].buf_i < 0 ? 0 : stage->kernel->args[a].size;
        const double end = size ? reach(stage, &use, a) : 0;
        const int is_before =
            end > 0 && (r->x0 < 0 || (stage->op->need && (r->y0 < 0 || r->z0 < 0)));

        if (!is_before && end <= (double)(size ? bytes[a] / size : 0))
            continue;
        return qn_fail(err, QN_ERR_USAGE,
                       "stage %s: its range from %lld to %lld needs elements %s%.0f of argument %d "
                       "(%s), and buffer %s has %zu there",
                       stage->name, (long long)r->x0, (long long)r->x1,
                       is_before ? "before 0 to " : "0 to ", end - 1, a,
                       stage->kernel->args[a].name, graph->bufs[stage->args[a].buf_i].root->name,
                       bytes[a] / size);
    }
    return QN_OK;
}

/* The module of a stage that will run on a device, as far as anybody knows, is begun while the host
 * still builds graphs and fills arrays. Modules made at run time may be gone before their stage
 * runs, and a long text may be for a stage that is yet to be bound to the CPU: whoever closes the
 * context would wait for a compiler in vain. */
static void compile_soon(const qn_graph *graph, const qn_stage *stage)
{
    enum {
        LARGE = 1 << 18, /* points; smaller stages may well run on the CPU */
        LONG = 32 << 10  /* bytes, packed */
    };
    const qn_ctx *ctx = graph->ctx;
    const int d = qn_ctx_likely_device(ctx);
    const int is_sure = ctx->pinned >= 0 || qn_cost_count(&stage->range) >= LARGE;

    if (d != QN_CPU_SLOT && is_sure && !ctx->faults && !ctx->devices[d].lost &&
        stage->kernel->module && stage->kernel->cpu && stage->kernel->module->packed.bytes < LONG)
        qn_compile_ahead(&graph->ctx->devices[d], stage->kernel->module);
}

qn_status qn_graph_add(qn_graph *graph, const char *name, const qn_op *op,
                       const qn_kernel_info *kernel, qn_range range, const qn_arg *args,
                       qn_err *err)
{
    qn_stage stage = { .op = op, .kernel = kernel, .range = range, .pin = -1 };
    qn_status st = QN_OK;

    strncpy(stage.name, name, sizeof stage.name - 1);
    stage.kernel_i = qn_stage_kernel_i(kernel);
    stage.n_args = kernel->n_args;
    if (qn_range_check(kernel, &range, err) != QN_OK)
        return qn_prefix(err, "stage %s", name);
    QN_TRY(reopen(graph, err));
    QN_TRY(
        QN_GROW(graph->stages, graph->n_stages, &graph->cap_stages, "the stages of a graph", err));
    stage.args = calloc((size_t)kernel->n_args + 1, sizeof *stage.args);
    stage.values = calloc(1, values_size(kernel, args) + 16);
    if (!stage.args || !stage.values)
        QN_FAIL(err, QN_ERR_NOMEM, "stage %s: out of host memory", name);
    QN_TRY(fill_args(graph, &stage, args, err));
    QN_TRY(check_reach(graph, &stage, 0, NULL, err));
    graph->stages[graph->n_stages++] = stage;
    graph->is_compiled = 0;
    compile_soon(graph, &stage);
    return QN_OK;
out:
    free_stage(graph, &stage);
    return st;
}

qn_status qn_graph_stage(qn_graph *graph, const char *name, const qn_kernel_info *kernel,
                         qn_range range, const qn_arg *args, qn_err *err)
{
    qn_err own;

    err = qn_err_begin(err, &own);
    return QN_CHECK_CALL(graph ? graph->ctx : NULL, err, graph, name, kernel, args) == QN_OK
               ? qn_graph_add(graph, name, qn_op_of_kernel(kernel), kernel, range, args, err)
               : err->status;
}

qn_status qn_graph_op(qn_graph *graph, const char *name, const char *op_name, qn_range range,
                      const qn_arg *args, int n_args, qn_err *err)
{
    qn_err own;
    const qn_op *op = qn_op_find(op_name);
    const qn_kernel_info *kernel = op ? qn_op_kernel(op) : NULL;

    err = qn_err_begin(err, &own);
    if (QN_CHECK_CALL(graph ? graph->ctx : NULL, err, graph, name, op_name) != QN_OK)
        return err->status;
    if (!kernel)
        return qn_fail(err, QN_ERR_USAGE, "stage %s: unknown op '%s'", name, op_name);
    if (n_args != kernel->n_args)
        return qn_fail(err, QN_ERR_USAGE, "stage %s: op %s takes %d arguments, not %d", name,
                       op_name, kernel->n_args, n_args);
    if (QN_CHECK_CALL(NULL, err, args) != QN_OK)
        return err->status;
    return qn_graph_add(graph, name, op, kernel, range, args, err);
}

qn_status qn_graph_host(qn_graph *graph, const char *name, qn_host_fn fn, void *user,
                        qn_buf *const *buffers, const qn_arg_mode *modes, int n_buffers,
                        qn_err *err)
{
    qn_err own;
    qn_stage stage = { .host = fn, .user = user, .pin = QN_CPU_SLOT, .n_args = n_buffers };
    qn_status st = QN_OK;

    err = qn_err_begin(err, &own);
    if (QN_CHECK_CALL(graph ? graph->ctx : NULL, err, graph, name) != QN_OK ||
        (n_buffers && QN_CHECK_CALL(NULL, err, buffers, modes) != QN_OK))
        return err->status;
    if (!fn)
        return qn_fail(err, QN_ERR_USAGE, "stage %s has no function", name);
    strncpy(stage.name, name, sizeof stage.name - 1);
    stage.op = qn_op_of_kernel(NULL);
    QN_TRY(reopen(graph, err));
    QN_TRY(
        QN_GROW(graph->stages, graph->n_stages, &graph->cap_stages, "the stages of a graph", err));
    if (n_buffers > QN_MAX_ARGS)
        QN_FAIL(err, QN_ERR_LIMIT, "stage %s: %d buffers, the limit is %d", name, n_buffers,
                QN_MAX_ARGS);
    if (!(stage.args = calloc((size_t)n_buffers + 1, sizeof *stage.args)))
        QN_FAIL(err, QN_ERR_NOMEM, "stage %s: out of host memory", name);
    for (int i = 0; i < n_buffers; i++) {
        stage.args[i].mode = modes[i];
        QN_TRY(QN_CHECK_CALL(NULL, err, buffers[i]));
        QN_TRY(use_arg(graph, buffers[i], 0, &stage.args[i], err));
    }
    graph->stages[graph->n_stages++] = stage;
    graph->is_compiled = 0;
    return QN_OK;
out:
    free_stage(graph, &stage);
    return st;
}

qn_status qn_graph_temp(qn_graph *graph, const char *name, size_t bytes, qn_buf **out, qn_err *err)
{
    qn_buf *buf;
    int i;
    qn_status st = QN_CHECK_CALL(NULL, err, graph, out);

    if (st == QN_OK)
        st = qn_buf_new(graph->ctx, name, bytes, &buf, err);
    if (st != QN_OK)
        return st;
    buf->is_temp = 1;
    buf->owner = &graph->runs;
    if ((st = use_buf(graph, buf, &i, err)) == QN_OK) {
        graph->stats.n_temps++;
        *out = buf;
    }
    qn_buf_free(buf); /* the graph holds it now */
    return st;
}

qn_status qn_graph_output(qn_graph *graph, qn_buf *buf, qn_err *err)
{
    qn_err own;
    qn_status st = QN_OK;
    int i;

    err = qn_err_begin(err, &own);
    QN_TRY(QN_CHECK_CALL(graph ? graph->ctx : NULL, err, graph, buf));
    QN_TRY(reopen(graph, err));
    QN_TRY(use_buf(graph, buf, &i, err));
    graph->bufs[i].is_output = 1;
    graph->is_compiled = 0;
out:
    return st;
}

static qn_status check_stage(qn_graph *graph, int stage, qn_err *err)
{
    if (stage < 0 || stage >= qn_fuse_count(graph))
        return qn_fail(err, QN_ERR_USAGE, "graph %s: no stage %d (it has %d)", graph->name, stage,
                       qn_fuse_count(graph));
    return QN_OK;
}

qn_status qn_graph_edge(qn_graph *graph, int before, int after, qn_err *err)
{
    qn_err own;

    err = qn_err_begin(err, &own);
    int(*grown)[2];

    if (QN_CHECK_CALL(graph ? graph->ctx : NULL, err, graph) == QN_OK &&
        check_stage(graph, before, err) == QN_OK && check_stage(graph, after, err) == QN_OK &&
        reopen(graph, err) == QN_OK) {
        if (before == after)
            qn_fail(err, QN_ERR_CYCLE, "graph %s: stage %d cannot wait for itself", graph->name,
                    before);
        else if (!(grown = realloc(graph->edges, (size_t)(graph->n_edges + 1) * sizeof *grown)))
            qn_fail(err, QN_ERR_NOMEM, "graph %s: out of host memory", graph->name);
        else {
            graph->edges = grown;
            graph->edges[graph->n_edges][0] = before;
            graph->edges[graph->n_edges++][1] = after;
            graph->is_compiled = 0;
        }
    }
    return err->status;
}

qn_status qn_graph_pin(qn_graph *graph, int stage, const char *device, qn_err *err)
{
    qn_err own;
    int slot;

    err = qn_err_begin(err, &own);
    if (QN_CHECK_CALL(graph ? graph->ctx : NULL, err, graph, device) == QN_OK &&
        check_stage(graph, stage, err) == QN_OK) {
        if ((slot = qn_device_find(graph->ctx, device)) < 0)
            qn_fail(err, QN_ERR_INIT, "graph %s: no device '%s'", graph->name, device);
        else if (reopen(graph, err) == QN_OK) {
            graph->stages[stage].pin = slot;
            graph->is_compiled = 0;
        }
    }
    return err->status;
}

qn_status qn_graph_set(qn_graph *graph, int stage, int arg, const void *value, qn_err *err)
{
    qn_err own;
    qn_stage *s;

    err = qn_err_begin(err, &own);
    if (QN_CHECK_CALL(graph ? graph->ctx : NULL, err, graph, value) != QN_OK ||
        check_stage(graph, stage, err) != QN_OK)
        return err->status;
    s = qn_fuse_built(graph, stage);
    if (arg < 0 || arg >= s->n_args || s->args[arg].buf_i >= 0) {
        qn_fail(err, QN_ERR_USAGE, "stage %s: argument %d is not a value", s->name, arg);
        return err->status;
    }
    if (memcmp(s->values + s->args[arg].value_at, value, s->args[arg].value_bytes)) {
        if (s->op->need && check_reach(graph, s, arg, value, err) != QN_OK)
            return err->status;
        memcpy(s->values + s->args[arg].value_at, value, s->args[arg].value_bytes);
        qn_fuse_update(graph, stage);
    }
    return QN_OK;
}

qn_status qn_graph_prepare(qn_graph *graph, qn_err *err)
{
    qn_status st = QN_OK;
    int *devices;

    if (graph->is_compiled)
        return QN_OK;
    devices = realloc(graph->stage_device, sizeof *devices * (size_t)(graph->n_stages + 1));
    if (!devices)
        QN_FAIL(err, QN_ERR_NOMEM, "graph %s: out of host memory", graph->name);
    graph->stage_device = devices;
    QN_TRY(qn_fuse(graph, err));
    QN_TRY(qn_order_check(graph, err));
    QN_TRY(qn_order_lifetimes(graph, err));
    qn_record_free(graph);
    qn_route_graph(graph);
    qn_ledger_graph(graph);
    graph->is_compiled = 1;
out:
    if (st != QN_OK)
        split_fused(graph);
    return st;
}

qn_status qn_graph_compile(qn_graph *graph, qn_err *err)
{
    qn_err own;

    err = qn_err_begin(err, &own);
    return QN_CHECK_CALL(graph ? graph->ctx : NULL, err, graph) == QN_OK
               ? qn_graph_prepare(graph, err)
               : err->status;
}

qn_graph_stats qn_graph_get_stats(const qn_graph *graph)
{
    qn_graph_stats stats = graph->stats;

    stats.n_stages = qn_fuse_count(graph);
    return stats;
}

const char *qn_graph_stage_device(const qn_graph *graph, int stage)
{
    if (stage < 0 || stage >= qn_fuse_count(graph) || !graph->stats.runs)
        return NULL;
    return graph->ctx->devices[graph->stage_device[qn_fuse_place(graph, stage)]].id;
}

int qn_graph_stage_fell_back(const qn_graph *graph, int stage)
{
    const int s = qn_graph_stage_device(graph, stage) ? qn_fuse_place(graph, stage) : -1;

    return s >= 0 && graph->stage_device[s] != graph->stages[s].device;
}

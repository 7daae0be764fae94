/* verify.c - the sampled cross-check against the CPU.
 *
 * Before a sampled stage runs, everything it reads is copied aside; afterwards the same kernel
 * runs on these copies on the CPU and its outputs are compared by the op's exactness. This is
 * slow and meant to be: it is asked for with --verify-sample.
 */
#include "engine/verify.h"

#include "engine/compile.h"
#include "engine/fallback.h"
#include "hal/geometry.h"
#include "util/hash.h"

#include <stdlib.h>
#include <string.h>

/* One copy per argument that is a buffer. */
typedef struct {
    void *data[QN_MAX_ARGS];
} snapshot;

static void free_snapshot(snapshot *snap)
{
    for (int a = 0; a < QN_MAX_ARGS; a++)
        free(snap->data[a]);
}

/* Spread evenly: stage number k is checked when the running share passes a whole number. */
static int is_sampled(const qn_ctx *ctx, uint64_t k)
{
    const double share = ctx->verify_pct / 100;

    return (uint64_t)((double)(k + 1) * share) > (uint64_t)((double)k * share);
}

static qn_status take_snapshot(qn_graph *graph, const qn_stage *stage, snapshot *snap, qn_err *err)
{
    qn_status st;

    for (int a = 0; a < stage->n_args; a++) {
        qn_buf *root = stage->args[a].buf_i < 0 ? NULL : graph->bufs[stage->args[a].buf_i].root;

        if (!root)
            continue;
        if (!(snap->data[a] = calloc(1, root->bytes)))
            return qn_fail(err, QN_ERR_NOMEM, "cross-check of %s: out of host memory", stage->name);
        if (stage->args[a].mode == QN_ARG_OUT && !stage->args[a].is_partial)
            continue;
        if ((st = qn_buf_fetch(root, err)) != QN_OK)
            return st;
        memcpy(snap->data[a], root->host, root->bytes);
    }
    return QN_OK;
}

static qn_status run_on_snapshot(qn_graph *graph, qn_stage *stage, snapshot *snap, qn_err *err)
{
    qn_device *cpu = &graph->ctx->devices[QN_CPU_SLOT];
    qn_launch_arg args[QN_MAX_ARGS];
    qn_launch call = { .kernel = stage->kernel, .kernel_i = stage->kernel_i, .args = args };
    qn_status st = qn_stage_module(stage, cpu, err);

    if (st != QN_OK)
        return st;
    call.module = stage->modules[QN_CPU_SLOT];
    for (int a = 0; a < stage->n_args; a++) {
        args[a] = (qn_launch_arg){ 0 };
        if (stage->args[a].buf_i < 0)
            args[a].value = stage->values + stage->args[a].value_at;
        else
            args[a].host = (char *)snap->data[a] + stage->args[a].offset;
    }
    return qn_launch_range(cpu->backend, cpu->dev, &cpu->info, &call, &stage->range, 1, NULL, err);
}

/* Compares one output; a wrong one is replaced by the CPU's. */
static qn_status compare_output(qn_graph *graph, const qn_stage *stage, int a, const snapshot *snap,
                                int *mismatched, qn_err *err)
{
    qn_buf *root = graph->bufs[stage->args[a].buf_i].root;
    qn_diff diff;
    qn_status st = qn_buf_fetch(root, err);

    if (st != QN_OK)
        return st;
    diff = qn_op_compare(stage->op, stage->kernel->args[a].type, snap->data[a], root->host,
                         root->bytes);
    if (!diff.mismatched)
        return QN_OK;
    *mismatched = 1;
    qn_fail(err, QN_ERR_MISMATCH, "%zu of %zu values of %s differ from the CPU, worst by %g",
            diff.mismatched, diff.checked, root->name, diff.max_abs);
    if ((st = qn_buf_await_host_write(root, err)) != QN_OK)
        return st;
    memcpy(root->host, snap->data[a], root->bytes);
    qn_buf_note_host_write(root);
    return QN_OK;
}

static qn_status check(qn_graph *graph, qn_stage *stage, qn_device *device, snapshot *snap, qn_err *err)
{
    qn_ctx *ctx = graph->ctx;
    const char *const *by_op = QN_LABELS("op", stage->op->name ? stage->op->name : stage->kernel->name);
    int mismatched = 0;
    qn_status st = QN_OK;

    QN_TRY(run_on_snapshot(graph, stage, snap, err));
    for (int a = 0; a < stage->n_args; a++)
        if (stage->args[a].buf_i >= 0 && stage->args[a].mode != QN_ARG_IN)
            QN_TRY(compare_output(graph, stage, a, snap, &mismatched, err));
    qn_metric_add(qn_metric_of(ctx->metrics, "verify_checked", by_op), 1);
    qn_health_mismatch(device, mismatched);
    if (mismatched) {
        qn_metric_add(qn_metric_of(ctx->metrics, "verify_mismatched", by_op), 1);
        QN_TRY(qn_fallback_note(ctx, stage->name, err));
    }
out:
    return st;
}

qn_status qn_verify_run(qn_graph *graph, int s, int *done, qn_err *err)
{
    qn_ctx *ctx = graph->ctx;
    qn_stage *stage = &graph->stages[s];
    qn_device *device = &ctx->devices[graph->stage_device[s]];
    snapshot snap = { { 0 } };
    qn_status st = QN_OK;
    int sampled = 0;

    if (ctx->verify_pct > 0 && device->slot != QN_CPU_SLOT && stage->kernel)
        sampled = is_sampled(ctx, ctx->verify_seen++);
    if (sampled)
        QN_TRY(take_snapshot(graph, stage, &snap, err));
    QN_TRY(qn_submit_plan(graph, &graph->plan, done, err));
    if (sampled)
        QN_TRY(check(graph, stage, device, &snap, err));
out:
    free_snapshot(&snap);
    return st;
}

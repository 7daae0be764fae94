/* verify.c - the sampled cross-check against the CPU.
 *
 * Before a sampled stage runs, all its inputs are copied. Afterwards the same kernel runs on these
 * copies on the CPU, and its outputs are compared as exactly as the op promises. For a buffer that
 * is only written, the copy is taken from the result, so elements that the stage does not write
 * compare equal. This is slow on purpose: it is for --verify-sample only.
 */
#include "engine/graph/run.h"

#include "hal/geometry.h"

#include <stdlib.h>
#include <string.h>

/* One copy per buffer of the stage, stored with its first argument. */
typedef struct {
    void *data[QN_MAX_ARGS];
} snapshot;

static void free_snapshot(snapshot *snap)
{
    for (int a = 0; a < QN_MAX_ARGS; a++)
        free(snap->data[a]);
}

/* The first argument with the same buffer. */
static int place_of(const qn_stage *stage, int a)
{
    int first = 0;

    while (stage->args[first].buf_i != stage->args[a].buf_i)
        first++;
    return first;
}

/* Spreads checks evenly: a stage is checked when the accumulated percentage passes a multiple of
 * 100. */
static int is_sampled(const qn_ctx *ctx, uint64_t k)
{
    const double share = ctx->settings.verify_pct / 100;

    return (uint64_t)((double)(k + 1) * share) > (uint64_t)((double)k * share);
}

/* Copies the buffers that the stage reads (before it runs), or the others (after it ran). */
static qn_status take_snapshot(qn_graph *graph, const qn_stage *stage, int read, snapshot *snap,
                               qn_err *err)
{
    qn_status st;

    for (int a = 0; a < stage->n_args; a++) {
        const int b = stage->args[a].buf_i;
        qn_buf *root = b < 0 ? NULL : graph->bufs[b].root;

        if (!root || place_of(stage, a) != a || qn_stage_reads(stage, b) != read)
            continue;
        if (!(snap->data[a] = malloc(root->bytes)))
            return qn_fail(err, QN_ERR_NOMEM, "cross-check of %s: out of host memory", stage->name);
        if ((st = qn_buf_fetch(root, err)) != QN_OK)
            return st;
        memcpy(snap->data[a], root->host, root->bytes);
    }
    return QN_OK;
}

static qn_status run_on_snapshot(qn_graph *graph, qn_stage *stage, const snapshot *snap,
                                 qn_err *err)
{
    qn_device *cpu = &graph->ctx->devices[QN_CPU_SLOT];
    qn_launch_arg args[QN_MAX_ARGS];
    qn_launch call = { .kernel = stage->kernel, .kernel_i = stage->kernel_i, .args = args };
    qn_status st = qn_stage_module(stage, cpu, err);

    if (st != QN_OK)
        return st;
    call.module = stage->modules[QN_CPU_SLOT];
    for (int a = 0; a < stage->n_args; a++) {
        const qn_stage_arg *arg = &stage->args[a];

        args[a] = (qn_launch_arg){ 0 };
        if (arg->buf_i < 0) {
            args[a].value = stage->values + arg->value_at;
            args[a].bytes = arg->value_bytes;
        } else {
            args[a].host = (char *)snap->data[place_of(stage, a)] + arg->offset;
        }
    }
    if (stage->fft)
        return qn_stage_fft_run(stage, cpu, args, QN_COMPUTE, err);
    return qn_launch_range(cpu->backend, cpu->dev, &cpu->info, &call, &stage->range,
                           qn_team_lanes(cpu, stage->kernel), NULL, err);
}

/* Compares one output; replaces a wrong one by the CPU's. */
static qn_status compare_output(qn_graph *graph, const qn_stage *stage, int a, void *want,
                                qn_err *mismatch, qn_err *err)
{
    qn_buf *root = graph->bufs[stage->args[a].buf_i].root;
    qn_diff diff;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_fetch(root, err));
    if (stage->fft)
        qn_stage_fft_ignore(stage, want, root->host);
    diff = qn_op_compare(stage->op, stage->kernel->args[a].type, want, root->host, root->bytes);
    if (!diff.mismatched)
        return QN_OK;
    qn_fail(mismatch, QN_ERR_MISMATCH, "%zu of %zu values of %s differ from the CPU, worst by %g",
            diff.mismatched, diff.checked, root->name, diff.max_abs);
    QN_TRY(qn_buf_await_host_write(root, err));
    memcpy(root->host, want, root->bytes);
    qn_buf_note_host_write(root);
out:
    return st;
}

static qn_status compare_outputs(qn_graph *graph, const qn_stage *stage, const snapshot *snap,
                                 qn_err *mismatch, qn_err *err)
{
    qn_status st = QN_OK;

    for (int a = 0; a < stage->n_args; a++)
        if (stage->args[a].buf_i >= 0 && stage->args[a].mode != QN_ARG_IN)
            QN_TRY(compare_output(graph, stage, a, snap->data[place_of(stage, a)], mismatch, err));
out:
    return st;
}

/* `before` is the device's health before the stage, whose submission counted as a success. */
static qn_status judge(qn_graph *graph, int s, qn_device *device, const qn_health *before,
                       const qn_err *mismatch, qn_err *err)
{
    qn_ctx *ctx = graph->ctx;
    const qn_stage *stage = &graph->stages[s];
    const char *const *by_op = QN_LABELS("op", stage->op->name);
    const int mismatched = mismatch->status != QN_OK;
    qn_status st = QN_OK;

    qn_metric_add(qn_metric_of(ctx->metrics, "verify_checked", by_op), 1);
    if (mismatched) {
        qn_metric_add(qn_metric_of(ctx->metrics, "verify_mismatched", by_op), 1);
        qn_metric_add(device->m.failures, 1);
        device->health = *before;
        qn_health_note(device, 1);
        *err = *mismatch;
    }
    qn_health_mismatch(device, mismatched);
    if (!mismatched)
        return QN_OK;
    QN_TRY(qn_recover_note(graph, s, err));
    if (!qn_health_ok(device))
        QN_TRY(qn_recover_move(graph, device, s + 1, err));
out:
    return st;
}

qn_status qn_verify_run(qn_graph *graph, int s, qn_failure *failure, qn_err *err)
{
    qn_ctx *ctx = graph->ctx;
    qn_stage *stage = &graph->stages[s];
    qn_device *device = &ctx->devices[graph->stage_device[s]];
    const qn_health before = device->health;
    qn_err mismatch = { .status = QN_OK };
    snapshot snap = { { 0 } };
    qn_status st = QN_OK;

    if (!(ctx->settings.verify_pct > 0) || device->slot == QN_CPU_SLOT || !stage->kernel ||
        !is_sampled(ctx, ctx->verify_seen++))
        return qn_submit_plan(graph, &graph->plan, failure, err);
    qn_plan_pin(graph, &graph->plan, 1);
    QN_TRY(take_snapshot(graph, stage, 1, &snap, err));
    QN_TRY(qn_submit_plan(graph, &graph->plan, failure, err));
    failure->is_late = 1; /* from here on the stage has run */
    if ((st = take_snapshot(graph, stage, 0, &snap, err)) == QN_OK &&
        (st = run_on_snapshot(graph, stage, &snap, err)) == QN_OK)
        st = compare_outputs(graph, stage, &snap, &mismatch, err);
    if (st == QN_ERR_NOMEM) { /* of the host, so the stage could not be run again either */
        qn_log_put(&ctx->log, QN_LOG_WARN, "%s; it is not checked", err->text);
        st = QN_OK;
        goto out;
    }
    if (st != QN_OK)
        goto out;
    st = judge(graph, s, device, &before, &mismatch, err);
    failure->is_reported = st != QN_OK;
out:
    qn_plan_pin(graph, &graph->plan, -1);
    free_snapshot(&snap);
    return st;
}

/* plan.c - turns stages and the current residency into steps.
 *
 * A plan is a pure function of the graph, the devices chosen for its stages, and the copies that
 * are valid at its start, so a recorded plan can run again whenever the key over these is the same.
 * Data is transferred only if the side that needs it is stale.
 */
#include "engine/plan/graph_impl.h"
#include "util/list.h"

#include <stdlib.h>
#include <string.h>

void qn_plan_free(qn_plan *plan)
{
    free(plan->steps);
    free(plan->touched);
    qn_branches_free(&plan->branches);
    *plan = (qn_plan){ 0 };
}

static qn_status add_step(qn_plan *plan, qn_step step, qn_err *err)
{
    const qn_status st = QN_GROW(plan->steps, plan->n, &plan->cap, "the steps of a plan", err);

    if (st == QN_OK)
        plan->steps[plan->n++] = step;
    return st;
}

/* Adds the steps that make buffer `b` valid on device `to`. */
static qn_status fetch(qn_graph *graph, qn_plan *plan, int b, int stage, int to, unsigned *mask,
                       qn_err *err)
{
    const qn_device *devices = graph->ctx->devices;
    qn_status st;
    int from;

    if (*mask >> to & 1)
        return QN_OK;
    if (!*mask)
        return qn_fail(err, QN_ERR_DEVICE_LOST,
                       "buffer %s: its only valid copy was lost with its device",
                       graph->bufs[b].root->name);
    from = __builtin_ctz(*mask);
    if (from != QN_CPU_SLOT && to != QN_CPU_SLOT && devices[to].backend->copy_peer &&
        devices[from].backend == devices[to].backend) {
        st = add_step(plan, (qn_step){ QN_STEP_PEER, stage, b, to, from }, err);
        *mask |= 1u << to;
        return st;
    }
    if (from != QN_CPU_SLOT) {
        st = add_step(plan, (qn_step){ QN_STEP_DOWNLOAD, stage, b, from, from }, err);
        *mask |= 1u;
        if (st != QN_OK || to == QN_CPU_SLOT)
            return st;
    }
    *mask |= 1u << to;
    return add_step(plan, (qn_step){ QN_STEP_UPLOAD, stage, b, to, QN_CPU_SLOT }, err);
}

static qn_status plan_stage(qn_graph *graph, qn_plan *plan, int s, unsigned *masks, qn_err *err)
{
    const qn_stage *stage = &graph->stages[s];
    const int to = graph->stage_device[s];
    const int before = plan->n;
    qn_status st;

    for (int a = 0; a < stage->n_args; a++) {
        const qn_stage_arg *arg = &stage->args[a];
        const int reads = arg->mode != QN_ARG_OUT || arg->is_partial;

        if (arg->buf_i < 0 || !reads)
            continue;
        if (to != QN_CPU_SLOT && masks[arg->buf_i] >> to & 1)
            plan->elided++;
        if ((st = fetch(graph, plan, arg->buf_i, s, to, &masks[arg->buf_i], err)) != QN_OK)
            return st;
    }
    if (to == QN_CPU_SLOT && plan->n > before)
        plan->crossings++;
    for (int a = 0; a < stage->n_args; a++)
        if (stage->args[a].buf_i >= 0 && stage->args[a].mode != QN_ARG_IN)
            masks[stage->args[a].buf_i] = 1u << to;
    return add_step(plan, (qn_step){ QN_STEP_STAGE, s, -1, to, to }, err);
}

/* Records where a step needs memory. */
static void touch(const qn_graph *graph, qn_plan *plan, const qn_step *step)
{
    const qn_stage *stage = &graph->stages[step->stage];
    qn_touch *t = step->buf_i < 0 ? NULL : &plan->touched[step->buf_i];

    if (t) {
        const int other = step->kind == QN_STEP_PEER ? step->from : QN_CPU_SLOT;

        t->where |= 1u << step->device | 1u << other;
        t->writes |= 1u << (step->kind == QN_STEP_DOWNLOAD ? QN_CPU_SLOT : step->device);
        return;
    }
    for (int a = 0; a < stage->n_args; a++) {
        if (stage->args[a].buf_i < 0)
            continue;
        t = &plan->touched[stage->args[a].buf_i];
        t->where |= 1u << step->device;
        if (stage->args[a].mode != QN_ARG_IN)
            t->writes |= 1u << step->device;
    }
}

/* The last stage that writes the buffer, after which it is downloaded. */
static int last_writer(const qn_graph *graph, int b)
{
    for (int s = graph->n_stages - 1; s >= 0; s--)
        if (qn_stage_writes(&graph->stages[s], b))
            return s;
    return 0;
}

static int only_device(const qn_plan *plan)
{
    int device = -1;

    for (int i = 0; i < plan->n; i++) {
        if (plan->steps[i].device == QN_CPU_SLOT || plan->steps[i].kind == QN_STEP_PEER)
            return -1;
        if (device >= 0 && plan->steps[i].device != device)
            return -1;
        device = plan->steps[i].device;
    }
    return device;
}

qn_status qn_plan_build(qn_graph *graph, int from, int to, qn_plan *plan, qn_err *err)
{
    const size_t n_masks = (size_t)graph->n_bufs + 1;
    unsigned *masks = malloc(n_masks * sizeof *masks);
    qn_touch *touched = realloc(plan->touched, n_masks * sizeof *touched);
    qn_status st = QN_OK;

    plan->n = plan->crossings = plan->elided = 0;
    plan->from = from;
    plan->touched = touched ? touched : plan->touched;
    if (!masks || !touched)
        QN_FAIL(err, QN_ERR_NOMEM, "graph %s: out of host memory", graph->name);
    memset(touched, 0, n_masks * sizeof *touched);
    for (int b = 0; b < graph->n_bufs; b++)
        masks[b] = qn_buf_valid_mask(graph->bufs[b].root);
    for (int s = from; s < to && s < graph->n_stages; s++)
        QN_TRY(plan_stage(graph, plan, s, masks, err));
    /* Downloads that overwrite the input of a rerun come last. */
    for (int needed = 0; to > graph->n_stages && needed < 2; needed++)
        for (int b = 0; b < graph->n_bufs; b++)
            if (graph->bufs[b].is_output && qn_run_needs(graph, b) == needed)
                QN_TRY(fetch(graph, plan, b, last_writer(graph, b), QN_CPU_SLOT, &masks[b], err));
    for (int i = 0; i < plan->n; i++)
        touch(graph, plan, &plan->steps[i]);
    /* A continued run keeps program order, since earlier stages are in an earlier plan. */
    QN_TRY(from > 0 ? qn_branches_none(graph, &plan->branches, err)
                    : qn_branches_find(graph, graph->stage_device, &plan->branches, err));
    plan->one_device = only_device(plan);
out:
    free(masks);
    return st;
}

/* Memory. */

/* A temporary uses the memory of its slot. */
static qn_status need_temp(qn_graph *graph, int b, int d, const char *stage, qn_err *err)
{
    qn_ctx *ctx = graph->ctx;
    qn_buf *root = graph->bufs[b].root;
    qn_temp_slot *slot = &graph->slots[graph->bufs[b].temp_slot];
    qn_status st = QN_OK;

    if (d == QN_CPU_SLOT) {
        if (root->host)
            return QN_OK;
        if (!slot->block[d])
            st = qn_evict_acquire_host(ctx, slot->bytes, &slot->block[d], err);
        if (st == QN_OK)
            root->host = slot->block[d]->host;
        return st;
    }
    if (root->copies[d].block)
        return QN_OK;
    if (!slot->block[d])
        st = qn_evict_acquire(&ctx->devices[d], slot->bytes, stage, root->name, 1, &slot->block[d],
                              err);
    if (st != QN_OK)
        return st;
    root->copies[d] = (qn_copy){ .block = slot->block[d], .borrowed = 1 };
    root->visited |= 1u << d;
    return QN_OK;
}

static qn_status need(qn_graph *graph, int b, int d, const char *stage, qn_err *err)
{
    qn_buf *root = graph->bufs[b].root;

    if (graph->bufs[b].temp_slot >= 0)
        return need_temp(graph, b, d, stage, err);
    return d == QN_CPU_SLOT ? qn_buf_need_host(root, err)
                            : qn_buf_need_block(root, &graph->ctx->devices[d], stage, 1, err);
}

static qn_status need_step(qn_graph *graph, const qn_step *step, qn_err *err)
{
    const qn_stage *stage = &graph->stages[step->stage];
    qn_status st = QN_OK;

    if (step->kind == QN_STEP_UPLOAD || step->kind == QN_STEP_DOWNLOAD)
        QN_TRY(need(graph, step->buf_i, QN_CPU_SLOT, stage->name, err));
    if (step->kind == QN_STEP_DOWNLOAD)
        qn_spare_prepare(graph, step->buf_i);
    if (step->kind != QN_STEP_STAGE)
        return need(graph, step->buf_i, step->device, stage->name, err);
    for (int a = 0; a < stage->n_args; a++)
        if (stage->args[a].buf_i >= 0)
            QN_TRY(need(graph, stage->args[a].buf_i, step->device, stage->name, err));
out:
    return st;
}

void qn_plan_pin(qn_graph *graph, const qn_plan *plan, int by)
{
    for (int b = 0; b < graph->n_bufs; b++) {
        qn_buf *root = graph->bufs[b].root;

        root->host_pins += by * (int)(plan->touched[b].where & 1);
        for (int d = 1; d < graph->ctx->n_devices; d++)
            root->copies[d].pins += by * (int)(plan->touched[b].where >> d & 1);
    }
}

qn_status qn_plan_memory(qn_graph *graph, const qn_plan *plan, int *stage, qn_err *err)
{
    qn_status st = QN_OK;

    /* Pin everything first: the plan relies on copies that only later steps touch. */
    qn_plan_pin(graph, plan, 1);
    for (int i = 0; i < plan->n && st == QN_OK; i++) {
        st = need_step(graph, &plan->steps[i], err);
        *stage = plan->steps[i].stage;
    }
    qn_plan_pin(graph, plan, -1);
    return st;
}

/* Key. */

static void mix(uint64_t key[2], uint64_t value)
{
    key[0] = (key[0] ^ value) * 0x100000001B3u;
    key[1] = (key[1] + value) * 0x9E3779B97F4A7C15u;
    key[1] ^= key[1] >> 29;
}

void qn_plan_key(const qn_graph *graph, uint64_t key[2])
{
    const qn_ctx *ctx = graph->ctx;

    key[0] = 0xCBF29CE484222325u;
    key[1] = (uint64_t)graph->n_stages;
    for (int s = 0; s < graph->n_stages; s++)
        mix(key, (uint64_t)graph->stage_device[s]);
    for (int b = 0; b < graph->n_bufs; b++) {
        const qn_buf *root = graph->bufs[b].root;

        if (!root->is_temp)
            mix(key, qn_buf_valid_mask(root));
        mix(key, (uint64_t)(uintptr_t)root->host);
        mix(key, (uint64_t)(uintptr_t)graph->bufs[b].spare);
        for (int d = 1; d < ctx->n_devices; d++) {
            const qn_block *block = root->copies[d].block;

            mix(key, block ? (uint64_t)(uintptr_t)block->mem : 0);
            mix(key, block ? block->generation : 0);
        }
    }
}

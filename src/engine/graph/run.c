/* run.c - the run loop.
 *
 * A run plans the stages from its current position, allocates memory, and submits everything in one
 * pass. A failure moves one stage (or the rest of the graph) to the CPU, and the loop plans again
 * from there, so fallback is just another plan, not a second code path.
 */
#include "engine/graph/run.h"
#include "util/clock.h"

/* Runs one stage alone: if the whole graph does not fit, or stages are cross-checked. */
static qn_status run_single(qn_graph *graph, int s, qn_failure *failure, qn_err *err)
{
    qn_err why;
    qn_status st = qn_plan_build(graph, s, s + 1, &graph->plan, err);
    int unfit;

    failure->is_final = st != QN_OK;
    if (st != QN_OK)
        return st;
    st = qn_plan_memory(graph, &graph->plan, &unfit, err);
    if ((st == QN_ERR_NOMEM || st == QN_ERR_LIMIT) && qn_split_stage(graph, s, &why) == QN_OK)
        return QN_OK;
    return st == QN_OK ? qn_verify_run(graph, s, failure, err) : st;
}

/* Does the downloads at the end one by one: all host copies together may be too large. */
static qn_status fetch_outputs(qn_graph *graph, qn_err *err)
{
    qn_status st = QN_OK;

    for (int b = 0; b < graph->n_bufs; b++)
        if (graph->bufs[b].is_output)
            QN_TRY(qn_buf_fetch(graph->bufs[b].root, err));
out:
    return st;
}

/* Runs from stage `s` to the end of one plan; *next is the stage after it. Stage number n_stages
 * means the downloads at the end. */
static qn_status run_stretch(qn_graph *graph, int s, int is_single, int *next, qn_failure *failure,
                             qn_err *err)
{
    qn_status st;

    *failure = (qn_failure){ .stage = s };
    *next = graph->n_stages + 1;
    if (!is_single || s == graph->n_stages) {
        st = qn_plan_build(graph, s, graph->n_stages + 1, &graph->plan, err);
        failure->is_final = st != QN_OK;
        if (st != QN_OK)
            return st;
        st = qn_plan_memory(graph, &graph->plan, &failure->stage, err);
        if (st == QN_OK)
            return qn_submit_plan(graph, &graph->plan, failure, err);
        if (st != QN_ERR_NOMEM && st != QN_ERR_LIMIT)
            return st;
        if (s == graph->n_stages) {
            st = fetch_outputs(graph, err);
            failure->is_final = st == QN_ERR_NOMEM;
            failure->is_late = 1;
            return st;
        }
    }
    failure->stage = s;
    *next = s + 1;
    return run_single(graph, s, failure, err);
}

/* Some drivers allocate memory on first use, so a copy or a launch may run out of it. Drops one
 * copy that the stage does not need; returns 0 if none is left. */
static int make_room(qn_graph *graph, const qn_failure *failure)
{
    qn_device *device = failure->step ? &graph->ctx->devices[failure->step->device] : NULL;
    qn_err ignored;
    int made;

    if (!device || device->slot == QN_CPU_SLOT || failure->is_late)
        return 0;
    if (qn_plan_build(graph, failure->stage, failure->stage + 1, &graph->plan, &ignored) != QN_OK)
        return 0;
    qn_plan_pin(graph, &graph->plan, 1);
    made = qn_evict_some(device);
    qn_plan_pin(graph, &graph->plan, -1);
    return made;
}

qn_status qn_graph_go_on(qn_graph *graph, const qn_failure *failure, int *next, qn_err *err)
{
    const qn_step step = failure->step ? *failure->step : (qn_step){ 0 };
    qn_failure kept = *failure;
    qn_err why;

    if (kept.step) /* the plan that it points into may be rebuilt */
        kept.step = &step;

    *next = kept.stage;
    if (err->status == QN_ERR_NOMEM && kept.step && kept.stage < graph->n_stages) {
        if (make_room(graph, &kept))
            return QN_OK;
        if (!kept.is_late && qn_split_stage(graph, kept.stage, &why) == QN_OK) {
            ++*next;
            return QN_OK;
        }
    }
    return qn_recover(graph, &kept, next, err);
}

qn_status qn_graph_run_from(qn_graph *graph, int s, qn_err *err)
{
    int tight = -1; /* the stage that ran out of memory when it was submitted */

    while (s <= graph->n_stages) {
        const int is_single = graph->ctx->settings.verify_pct > 0 || s == tight;
        qn_failure failure;
        int next;
        qn_status st = run_stretch(graph, s, is_single, &next, &failure, err);

        if (st != QN_OK) {
            tight = st == QN_ERR_NOMEM ? failure.stage : -1;
            if ((st = qn_graph_go_on(graph, &failure, &next, err)) != QN_OK)
                return st;
        }
        s = next;
    }
    return QN_OK;
}

/* Marks the end of the run on each stream. This is exact if no other graph was submitted
 * meanwhile. */
static void set_fence(qn_graph *graph)
{
    for (int d = 1; d < graph->ctx->n_devices; d++)
        for (int on = 0; graph->runs.in_flight >> d & 1 && on < QN_N_STREAMS; on++) {
            qn_device *device = &graph->ctx->devices[d];

            if (graph->last[d].seq[on] > device->streams[on].done)
                qn_fence_add(&graph->fence, device, on);
        }
}

static void set_queue(qn_device *device, unsigned n)
{
    device->n_queued = n;
    qn_metric_set(device->m.queue_depth, n);
    qn_metric_max(device->m.queue_peak, n);
}

/* Counted once per run, because a replay does not submit single stages. */
static void note_queued(qn_graph *graph)
{
    for (int s = 0; s < graph->n_stages; s++) {
        const int d = graph->stage_device[s];

        graph->queued[d] += d != QN_CPU_SLOT && graph->runs.in_flight >> d & 1;
        graph->ctx->devices[d].n_queued += d != QN_CPU_SLOT && graph->runs.in_flight >> d & 1;
    }
    for (int d = 1; d < graph->ctx->n_devices; d++)
        set_queue(&graph->ctx->devices[d], graph->ctx->devices[d].n_queued);
}

void qn_run_settled(qn_graph *graph)
{
    for (int d = 1; d < graph->ctx->n_devices; d++) {
        qn_device *device = &graph->ctx->devices[d];

        if (graph->queued[d])
            set_queue(device, device->n_queued - graph->queued[d]);
        graph->queued[d] = 0;
    }
    graph->runs.in_flight = 0;
}

static qn_status run(qn_graph *graph, qn_err *err)
{
    const double start = qn_now_us();
    qn_ctx *ctx = graph->ctx;
    qn_recording *recording = NULL;
    uint64_t key[2];
    qn_status st = qn_graph_prepare(graph, err);

    if (st != QN_OK || !graph->n_stages)
        return st;
    qn_fence_clear(&graph->fence);
    qn_route_begin(graph);
    if ((st = qn_recover_begin(graph, err)) != QN_OK)
        return st;
    if (!ctx->settings.timing && ctx->settings.verify_pct == 0 && !graph->is_sampled) {
        qn_plan_key(graph, key);
        if (!(recording = qn_record_find(graph, key)) && graph->stats.runs > 0)
            recording = qn_record_make(graph, key);
    }
    graph->runs.is_running = 1;
    st = recording ? qn_record_run(graph, recording, err) : qn_graph_run_from(graph, 0, err);
    graph->runs.is_running = 0;
    qn_recover_end(graph);
    if (graph->is_fenced && st == QN_OK)
        set_fence(graph);
    note_queued(graph);
    graph->stats.runs++;
    qn_route_end(graph);
    qn_metric_observe(ctx->m.submit_us, (qn_now_us() - start) / graph->n_stages);
    return st;
}

qn_status qn_graph_run(qn_graph *graph, qn_err *err)
{
    qn_err own;

    err = qn_err_begin(err, &own);
    if (QN_CHECK_CALL(graph ? graph->ctx : NULL, err, graph) != QN_OK)
        return err->status;
    /* Recovered errors have left messages in `err`: only the status counts. */
    return run(graph, err);
}

int qn_graph_is_done(qn_graph *graph)
{
    if (!graph->fence.n)
        set_fence(graph);
    return qn_fence_is_done(&graph->fence);
}

void qn_graph_set_fallback(qn_graph *graph, qn_fallback_policy policy)
{
    graph->fallback = policy;
}

qn_status qn_graph_wait(qn_graph *graph, qn_err *err)
{
    qn_err own;

    err = qn_err_begin(err, &own);
    if (QN_CHECK_CALL(graph ? graph->ctx : NULL, err, graph) != QN_OK ||
        qn_recover_wait(graph, err) != QN_OK)
        return err->status;
    qn_route_waited(graph);
    return QN_OK;
}

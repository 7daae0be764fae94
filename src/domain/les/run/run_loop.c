/* run_loop.c - the steps, and the snapshots, hashes and checkpoints due among them.
 *
 * The host submits spans without waiting. About ten times a second it asks whether the last span is
 * done, to draw its progress. Snapshots alternate between two buffers; the engine starts a download
 * after the stage that wrote the buffer, and the host collects it when the next snapshot is due.
 */
#include "run_impl.h"

#include "digest.h"
#include "output.h"
#include "writes.h"
#include "util/clock.h"

#include <math.h>
#include <string.h>

static const double POLL_US = 1e5; /* between two questions to the device */

/* Spans. */

static qn_status add_due(run *r, qn_graph *graph, unsigned due, qn_err *err)
{
    qn_status st = QN_OK;

    if (due & QN_LES_DUE_CHECK)
        QN_TRY(qn_les_sim_add_check(r->sim, graph, err));
    if (due & QN_LES_DUE_ENCODE)
        QN_TRY(qn_les_codec_add_encode(r->codec, graph, qn_les_sim_state(r->sim), r->z,
                                       r->plan.n_frames, err));
    if (due & QN_LES_DUE_LOG)
        QN_TRY(qn_les_sim_add_log(r->sim, graph, err));
out:
    return st;
}

static qn_status build_span(run *r, const qn_les_span *span, qn_graph **out, qn_err *err)
{
    qn_graph *graph = NULL;
    qn_status st = QN_OK;
    int n = 0;

    QN_TRY(qn_graph_new(r->ctx, "les.steps", &graph, err));
    for (int k = 1; k <= span->n; k++) {
        n++;
        if (!span->due[k] && k < span->n)
            continue;
        QN_TRY(qn_les_sim_add_steps(r->sim, graph, n, err));
        QN_TRY(add_due(r, graph, span->due[k], err));
        n = 0;
    }
    *out = graph;
    graph = NULL;
out:
    qn_graph_free(graph);
    return st;
}

/* Finds the graph of that span or makes it, in place of the least recently used one. */
static qn_status span_graph(run *r, const qn_les_span *span, qn_graph **out, qn_err *err)
{
    run_span *place = &r->spans[0];
    qn_status st = QN_OK;

    for (int i = 0; i < r->n_spans; i++) {
        run_span *s = &r->spans[i];

        if (s->span.n == span->n && !memcmp(s->span.due, span->due, sizeof span->due)) {
            s->last_used = ++r->clock;
            *out = s->graph;
            return QN_OK;
        }
        if (s->last_used < place->last_used)
            place = s;
    }
    if (r->n_spans < RUN_GRAPHS_MAX)
        place = &r->spans[r->n_spans++];
    qn_graph_free(place->graph);
    *place = (run_span){ .span = *span, .last_used = ++r->clock };
    QN_TRY(build_span(r, span, &place->graph, err));
    *out = place->graph;
out:
    return st;
}

/* Snapshots. */

static int has_download(const run *r)
{
    return r->config->observer == QN_LES_OBSERVE_SNAPSHOTS;
}

static qn_status make_slot(run *r, run_slot *slot, int is_stored, qn_err *err)
{
    qn_status st = QN_OK;

    slot->pending = slot->copy = -1;
    QN_TRY(qn_buf_new(r->ctx, "les.snapshot",
                      qn_les_run_field_bytes(r) * (size_t)r->config->ensemble, &slot->field, err));
    QN_TRY(qn_graph_new(r->ctx, "les.snapshot", &slot->graph, err));
    QN_TRY(qn_les_sim_add_field(r->sim, slot->graph, slot->field, err));
    if (is_stored)
        QN_TRY(qn_les_add_copy(slot->graph, "les.copy", slot->field, qn_les_run_field_bytes(r),
                               r->store, 0, &slot->copy, err));
    if (has_download(r))
        QN_TRY(qn_graph_output(slot->graph, slot->field, err));
    if (r->config->format != QN_LES_FORMAT_NPY)
        QN_TRY(qn_les_run_add_record(r, slot, err));
out:
    return st;
}

static int is_finite(const run *r, const void *field)
{
    const size_t n =
        qn_les_run_field_bytes(r) / qn_les_run_real_bytes(r) * (size_t)r->config->ensemble;
    int ok = 1;

    if (r->config->precision == QN_LES_F64)
        for (size_t i = 0; i < n; i++)
            ok &= isfinite(((const double *)field)[i]) != 0;
    else
        for (size_t i = 0; i < n; i++)
            ok &= isfinite(((const float *)field)[i]) != 0;
    return ok;
}

/* Waits for the field that is being downloaded, and adds it to the results. */
static qn_status collect(run *r, run_slot *slot, qn_err *err)
{
    void *data = NULL;
    qn_status st = QN_OK;

    if (!slot->graph || slot->pending < 0)
        return QN_OK;
    QN_TRY(qn_les_run_wait(r, slot->graph, err));
    QN_TRY(qn_buf_host(slot->field, QN_HOST_READ, &data, err));
    r->is_stopped |= !is_finite(r, data);
    QN_TRY(qn_les_output_field(r->config, r->result, QN_LES_FIELD_OMEGA, slot->pending, data, err));
    QN_TRY(qn_les_run_keep_field(r, slot->pending, data, err));
    if (slot->n_parts)
        QN_TRY(qn_les_run_put_record(r, slot, data, err));
    slot->pending = -1;
out:
    return st;
}

/* Both slots, in the order of steps. */
static qn_status collect_all(run *r, qn_err *err)
{
    qn_status st = QN_OK;

    for (int k = 0; k < 2; k++)
        QN_TRY(collect(r, &r->slots[(r->step / r->config->stride + 1 + k) % 2], err));
out:
    return st;
}

static qn_status take_snapshot(run *r, qn_err *err)
{
    const int number = r->step / r->config->stride;
    run_slot *slot = &r->slots[has_download(r) ? number % 2 : 0];
    qn_status st = QN_OK;

    if (!slot->graph)
        return QN_OK;
    QN_TRY(collect(r, slot, err));
    if (slot->copy >= 0)
        QN_TRY(qn_les_move_copy(slot->graph, slot->copy, (size_t)number * qn_les_run_field_bytes(r),
                                err));
    QN_TRY(qn_graph_run(slot->graph, err));
    if (has_download(r)) {
        slot->pending = r->step;
        r->result->residency.n_snapshots++;
        r->result->residency.snapshot_bytes +=
            qn_buf_bytes(slot->field) + qn_les_run_record_bytes(slot);
    }
out:
    return st;
}

/* Hashes. */

static qn_status make_hashes(run *r, qn_err *err)
{
    const size_t bytes = qn_les_run_field_bytes(r) * (size_t)r->config->ensemble;
    qn_buf *field;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_new(r->ctx, "les.hashes", 2 * (size_t)r->plan.n_hashes * sizeof(uint64_t),
                      &r->hashes, err));
    QN_TRY(qn_graph_new(r->ctx, "les.hash", &r->hash_graph, err));
    QN_TRY(qn_graph_temp(r->hash_graph, "field", bytes, &field, err));
    QN_TRY(qn_les_sim_add_field(r->sim, r->hash_graph, field, err));
    QN_TRY(qn_les_add_digest(r->hash_graph, "les.hash.omega", field, 0, bytes, r->hashes, 0,
                             &r->hash_omega, err));
    if (r->codec)
        QN_TRY(qn_les_add_digest(r->hash_graph, "les.hash.z", r->z, 0, qn_les_run_row_bytes(r),
                                 r->hashes, 1, &r->hash_z, err));
out:
    return st;
}

static qn_status take_hash(run *r, qn_err *err)
{
    const qn_i64 slot = 2 * (qn_i64)(r->step / r->plan.hash);
    qn_status st = QN_OK;

    QN_TRY(qn_les_move_digest(r->hash_graph, r->hash_omega, 0, slot, err));
    if (r->codec)
        QN_TRY(qn_les_move_digest(r->hash_graph, r->hash_z,
                                  (size_t)(r->step / r->plan.encode) * qn_les_run_row_bytes(r),
                                  slot + 1, err));
    QN_TRY(qn_graph_run(r->hash_graph, err));
out:
    return st;
}

/* The loop. */

static qn_status marks(run *r, unsigned due, qn_err *err)
{
    qn_status st = QN_OK;

    if (due & QN_LES_DUE_SNAPSHOT)
        QN_TRY(take_snapshot(r, err));
    if (due & QN_LES_DUE_HASH)
        QN_TRY(take_hash(r, err));
    if (!(due & QN_LES_DUE_CHECKPOINT) && !qn_les_run_should_keep(r))
        return QN_OK;
    QN_TRY(collect_all(r, err)); /* what continues from here does not repeat them */
    QN_TRY(due & QN_LES_DUE_CHECKPOINT ? qn_les_run_save(r, err) : qn_les_run_keep(r, err));
out:
    return st;
}

qn_status qn_les_run_loop_make(run *r, qn_err *err)
{
    const int is_stored = r->codec && r->plan.n_snapshots;
    qn_status st = QN_OK;

    if (is_stored || has_download(r))
        QN_TRY(qn_buf_new(r->ctx, "les.flow",
                          (size_t)r->plan.n_snapshots * qn_les_run_field_bytes(r), &r->store, err));
    for (int i = 0; i < 2; i++)
        if (r->store && (i == 0 || has_download(r)))
            QN_TRY(make_slot(r, &r->slots[i], 1, err));
    if (r->plan.n_hashes)
        QN_TRY(make_hashes(r, err));
out:
    return st;
}

qn_status qn_les_run_first(run *r, qn_err *err)
{
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(r->ctx, "les.first", &graph, err));
    if (r->codec)
        QN_TRY(qn_les_codec_add_anchors(r->codec, graph, qn_les_sim_state(r->sim), err));
    QN_TRY(add_due(r, graph, qn_les_due(&r->plan, 0), err));
    if (r->shells)
        QN_TRY(qn_les_sim_add_spectrum(r->sim, graph, 0, r->shells, err));
    QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_graph_wait(graph, err));
    st = marks(r, qn_les_due(&r->plan, 0), err);
out:
    qn_graph_free(graph);
    return st;
}

/* Lets the device catch up now and then, so that progress shows finished steps, not submitted ones.
 */
static void follow(run *r, qn_graph *graph, int *in_flight, double *since)
{
    const int limit = r->span_us > 0 ? (int)fmin(POLL_US / r->span_us, 1000) : 1;

    if (++*in_flight < limit)
        return;
    while (!qn_graph_is_done(graph))
        qn_sleep_us(20);
    r->span_us = (qn_now_us() - *since) / *in_flight;
    *in_flight = 0;
    *since = qn_now_us();
    qn_progress_at(r->progress, r->step);
}

static qn_status finish(run *r, qn_graph *last, qn_err *err)
{
    qn_status st = QN_OK;

    if (last)
        QN_TRY(qn_les_run_wait(r, last, err));
    QN_TRY(collect_all(r, err));
    QN_TRY(qn_les_writes_wait(r->result, err));
    if (!r->is_stopped)
        qn_progress_at(r->progress, r->plan.steps);
out:
    return st;
}

qn_status qn_les_run_loop(run *r, qn_err *err)
{
    const int first = r->step;
    qn_les_residency *res = &r->result->residency;
    qn_transfer_count before = qn_ctx_transfers(r->ctx), after;
    double since = qn_now_us();
    qn_graph *graph = NULL;
    qn_status st = QN_OK;
    int in_flight = 0;

    r->pace = qn_pace_begin();
    res->snapshot_bytes = 0; /* the first snapshot was taken before the loop */
    res->n_snapshots = 0;
    while (r->step < r->plan.steps && !r->is_stopped) {
        const qn_les_span span = qn_les_span_at(&r->plan, r->step);

        QN_TRY(span_graph(r, &span, &graph, err));
        QN_TRY(qn_graph_run(graph, err));
        if (r->step == first) /* by now everything is on the device */
            before.h2d_bytes = qn_ctx_transfers(r->ctx).h2d_bytes;
        r->step += span.n;
        follow(r, graph, &in_flight, &since);
        QN_TRY(marks(r, qn_les_due(&r->plan, r->step), err));
    }
    QN_TRY(finish(r, graph, err));
    after = qn_ctx_transfers(r->ctx);
    res->loop_h2d_bytes = after.h2d_bytes - before.h2d_bytes;
    res->loop_d2h_bytes = after.d2h_bytes - before.d2h_bytes;
    if (graph && qn_graph_stage_device(graph, 0))
        snprintf(r->result->device, sizeof r->result->device, "%s",
                 qn_graph_stage_device(graph, 0));
out:
    return st;
}

void qn_les_run_loop_free(run *r)
{
    for (int i = 0; i < r->n_spans; i++)
        qn_graph_free(r->spans[i].graph);
    for (int i = 0; i < 2; i++) {
        qn_graph_free(r->slots[i].graph);
        qn_buf_free(r->slots[i].field);
        qn_les_run_free_record(&r->slots[i]);
    }
    qn_graph_free(r->hash_graph);
    qn_buf_free(r->hashes);
    qn_buf_free(r->store);
    memset(r->spans, 0, sizeof r->spans);
    memset(r->slots, 0, sizeof r->slots);
    r->n_spans = 0;
    r->hash_graph = NULL;
    r->hashes = r->store = NULL;
}

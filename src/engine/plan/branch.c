/* branch.c - assigns stages to compute streams, and finds where streams wait for each other.
 *
 * A stage continues the stream whose last stage it follows. Otherwise it takes a stream that is
 * certainly idle when it starts, or a new one; if all are busy, the least recently used one. So a
 * chain stays on one stream and needs no event, and independent branches run side by side. Few
 * events are needed: a stage waits for the last stage that it follows on each other stream, unless
 * its own stream already did.
 */
#include "engine/plan/graph_impl.h"
#include "util/list.h"

#include <stdlib.h>
#include <string.h>

/* The state of each device's streams while stages are assigned. */
typedef struct {
    const qn_graph *graph;
    const int *device; /* by stage; NULL: all of them on one */
    int n_streams;
    qn_branches *out;
    int last[QN_MAX_DEVICES][QN_N_COMPUTE];               /* its last stage, -1: none */
    int seen[QN_MAX_DEVICES][QN_N_COMPUTE][QN_N_COMPUTE]; /* [on][of]: the stage it waits for */
} dealer;

static int device_of(const dealer *d, int s)
{
    return d->device ? d->device[s] : QN_CPU_SLOT + 1;
}

static void raise_to(int *stage, int to)
{
    if (*stage < to)
        *stage = to;
}

/* Records that `s` starts after `before` and after everything that `before` waited for. */
static void follow(const dealer *d, int s, int before)
{
    int *clock = d->out->clock[s];

    for (int t = 0; t < QN_N_COMPUTE; t++)
        raise_to(&clock[t], d->out->clock[before][t]);
    raise_to(&clock[d->out->on[before]], before);
}

/* The first stream whose last stage is one of those that `s` follows, -1: none. */
static qn_stream to_go_on(const dealer *d, int s, const int *last)
{
    const qn_stage *stage = &d->graph->stages[s];
    qn_stream best = -1;

    for (int i = 0; i < stage->n_deps; i++) {
        const qn_stream on = d->out->on[stage->deps[i]];

        if (device_of(d, stage->deps[i]) == device_of(d, s) && last[on] == stage->deps[i] &&
            (best < 0 || on < best))
            best = on;
    }
    return best;
}

static qn_stream pick(const dealer *d, int s)
{
    const int *last = d->last[device_of(d, s)];
    const qn_stream on = to_go_on(d, s, last);
    qn_stream oldest = 0;

    if (on >= 0)
        return on;
    for (qn_stream t = 0; t < d->n_streams; t++)
        if (last[t] <= d->out->clock[s][t]) /* it has ended by then, or the stream is empty */
            return t;
    for (qn_stream t = 1; t < d->n_streams; t++)
        if (last[t] < last[oldest])
            oldest = t;
    return oldest;
}

static qn_status add_meet(qn_branches *out, int before, int after, qn_err *err)
{
    qn_status st = QN_GROW(out->meets, out->n_meets, &out->cap_meets, "graph branches", err);

    if (st != QN_OK)
        return st;
    out->meets[out->n_meets++] = (qn_meet){ before, after };
    out->is_met[before] = 1;
    return QN_OK;
}

/* Waits of stage `s` for other streams of its device. */
static qn_status meet(dealer *d, int s, qn_err *err)
{
    const qn_stage *stage = &d->graph->stages[s];
    const qn_stream on = d->out->on[s];
    int needed[QN_N_COMPUTE];

    memset(needed, -1, sizeof needed);
    for (int i = 0; i < stage->n_deps; i++)
        if (device_of(d, stage->deps[i]) == device_of(d, s))
            raise_to(&needed[d->out->on[stage->deps[i]]], stage->deps[i]);
    for (qn_stream t = 0; t < d->n_streams; t++) {
        int *seen = &d->seen[device_of(d, s)][on][t];
        qn_status st;

        if (t == on || needed[t] <= *seen)
            continue;
        if ((st = add_meet(d->out, needed[t], s, err)) != QN_OK)
            return st;
        *seen = needed[t];
    }
    return QN_OK;
}

static qn_status deal(dealer *d, int s, qn_err *err)
{
    const qn_stage *stage = &d->graph->stages[s];
    int *last = d->last[device_of(d, s)];
    qn_stream on;

    memset(d->out->clock[s], -1, sizeof d->out->clock[s]);
    if (device_of(d, s) == QN_CPU_SLOT) /* the host runs its stages itself, in order */
        return QN_OK;
    for (int i = 0; i < stage->n_deps; i++)
        if (device_of(d, stage->deps[i]) == device_of(d, s))
            follow(d, s, stage->deps[i]);
    on = pick(d, s);
    if (last[on] >= 0)
        follow(d, s, last[on]);
    last[on] = s;
    d->out->on[s] = on;
    d->out->used |= 1u << on;
    return meet(d, s, err);
}

qn_status qn_branches_none(const qn_graph *graph, qn_branches *b, qn_err *err)
{
    const int n = graph->n_stages;
    const size_t count = (size_t)n + 1;

    if (n > b->n_stages || !b->on) {
        qn_branches_free(b);
        b->on = calloc(count, sizeof *b->on);
        b->clock = calloc(count, sizeof *b->clock);
        b->is_met = calloc(count, sizeof *b->is_met);
        b->ends = calloc(count, sizeof *b->ends);
        b->n_stages = n;
    }
    if (!b->on || !b->clock || !b->is_met || !b->ends)
        return qn_fail(err, QN_ERR_NOMEM, "graph branches: out of host memory");
    memset(b->on, 0, count * sizeof *b->on);
    memset(b->is_met, 0, count * sizeof *b->is_met);
    b->n_meets = 0;
    b->used = 1;
    return QN_OK;
}

qn_status qn_branches_find(const qn_graph *graph, const int *device, qn_branches *out, qn_err *err)
{
    dealer d = { .graph = graph, .device = device, .out = out };
    qn_status st = qn_branches_none(graph, out, err);

    d.n_streams = graph->ctx->settings.overlap ? QN_N_COMPUTE : 1;
    memset(d.last, -1, sizeof d.last);
    memset(d.seen, -1, sizeof d.seen);
    for (int s = 0; s < graph->n_stages && st == QN_OK; s++)
        st = deal(&d, s, err);
    return st;
}

void qn_branches_free(qn_branches *b)
{
    free(b->on);
    free(b->clock);
    free(b->is_met);
    free(b->ends);
    free(b->meets);
    *b = (qn_branches){ 0 };
}

qn_status qn_branches_begin(qn_graph *graph, const qn_branches *b, int s, int *next_meet,
                            qn_err *err)
{
    qn_device *device = &graph->ctx->devices[graph->stage_device[s]];
    const qn_stream on = qn_branch_stream(graph, b->on[s]);

    for (; *next_meet < b->n_meets && b->meets[*next_meet].after <= s; ++*next_meet) {
        const qn_end *end = &b->ends[b->meets[*next_meet].before];
        const qn_status st = qn_stream_meet(device, on, end->event, end->at, err);

        if (st != QN_OK)
            return st;
    }
    return QN_OK;
}

qn_status qn_branches_end(qn_graph *graph, const qn_branches *b, int s, qn_point at, qn_err *err)
{
    const qn_device *device = &graph->ctx->devices[graph->stage_device[s]];

    if (!b->is_met[s])
        return QN_OK;
    b->ends[s].at = at;
    return device->backend->record(device->dev, at.stream, &b->ends[s].event, err);
}

void qn_branches_drop(qn_graph *graph, const qn_branches *b)
{
    for (int m = 0; m < b->n_meets; m++) {
        const int s = b->meets[m].before;
        const qn_device *device = &graph->ctx->devices[graph->stage_device[s]];

        if (b->ends[s].event)
            device->backend->drop(device->dev, b->ends[s].event);
        b->ends[s].event = NULL;
    }
}

/* route_run.c - a device for every stage, run by run, and what runs teach.
 *
 * A decision is made anew only when something it rests on has changed: residency, a model, a
 * link, the health or the queue of a device. Otherwise a run costs the router a look at these.
 * Most runs are not timed stage by stage, since that needs direct submission and waiting; stages
 * are timed while little is known, when the time of whole runs has changed, and now and then.
 */
#include "engine/route_stage.h"

#include "util/stats.h"

#include <math.h>
#include <string.h>

enum {
    REPRICE_EVERY = 64, /* runs; what decays by itself is looked at this often */
    SAMPLE_EVERY = 256, /* decisions of an op */
    MARKS_PER_RUN = 3,  /* stages of one op */
    DRIFT_PAUSE = 8     /* runs between samples for a change that was not confirmed */
};
static const double drift_factor = 1.25, drift_slack_us = 3;

/* ---- deciding ---------------------------------------------------------------------------- */

static uint64_t mix(uint64_t key, uint64_t value)
{
    key = (key ^ value) * 0x9E3779B97F4A7C15u;
    return key ^ key >> 29;
}

static uint64_t residency(const qn_ctx *ctx, const qn_buf *root)
{
    uint64_t mask = (uint64_t)qn_buf_valid_host(root);

    for (int d = 1; d < ctx->n_devices; d++)
        mask |= (uint64_t)qn_buf_valid_on(root, &ctx->devices[d]) << d;
    return mask;
}

/* Everything a decision rests on. Queues count by doubling. */
static uint64_t key_of(const qn_graph *graph, unsigned alive)
{
    const qn_ctx *ctx = graph->ctx;
    const struct qn_graph_route *r = graph->route;
    const double now = qn_ctx_now_us(ctx);
    uint64_t key = mix(ctx->router->generation, alive), models = 0;

    for (int d = 1; d < ctx->n_devices; d++) {
        const double wait = ctx->router->free_at_us[d] - now;

        key = mix(key, wait > 50 && !(graph->in_flight >> d & 1) ? (uint64_t)ilogb(wait) : 0);
    }
    for (int s = 0; s < graph->n_stages; s++)
        for (int d = 0; r->forced[s] < 0 && d < ctx->n_devices; d++)
            models += r->ops[s]->models[d].generation;
    key = mix(key, models);
    for (int b = 0; b < graph->n_bufs; b++)
        if (!graph->bufs[b].root->is_temp)
            key = mix(key, residency(ctx, graph->bufs[b].root) |
                               (uint64_t)qn_chain_spread(r, graph->bufs[b].root, b) << 32);
    return key;
}

/* Buffers that have not been written since the last run are worth keeping on a device. */
static void note_versions(qn_graph *graph)
{
    struct qn_graph_route *r = graph->route;

    for (int b = 0; b < graph->n_bufs; b++) {
        const uint64_t version = graph->bufs[b].root->version;

        r->stable[b] =
            (uint16_t)(version != r->version[b] ? 0 : r->stable[b] + (r->stable[b] < 1000));
        r->version[b] = version;
    }
}

/* Longest first, each chain to the device that would be done with it first. */
static void balance(const qn_graph *graph)
{
    struct qn_graph_route *r = graph->route;
    double load[QN_MAX_DEVICES] = { 0 };

    for (int c = 0; c < r->n_chains; c++)
        r->chains[c].is_settled = !r->chains[c].n_open;
    for (;;) {
        qn_chain *next = NULL;
        double longest = -1;
        int best = -1;

        for (int c = 0; c < r->n_chains; c++) {
            qn_chain *chain = &r->chains[c];
            double us = INFINITY;

            for (int d = 0; d < QN_MAX_DEVICES; d++)
                if (chain->view.devices >> d & 1)
                    us = fmin(us, chain->view.cost_us[d]);
            if (!chain->is_settled && us > longest) {
                longest = us;
                next = chain;
            }
        }
        if (!next)
            return;
        for (int d = 0; d < QN_MAX_DEVICES; d++)
            if (next->view.devices >> d & 1 &&
                (best < 0 ||
                 load[d] + next->view.cost_us[d] < load[best] + next->view.cost_us[best]))
                best = d;
        best = best < 0 ? QN_CPU_SLOT : best;
        load[best] += isfinite(next->view.cost_us[best]) ? next->view.cost_us[best] : 0;
        qn_chain_uniform(next, best, next->device);
        next->us = next->view.cost_us[best];
        next->why = QN_WHY_BALANCE;
        next->is_settled = 1;
    }
}

static void decide(qn_graph *graph, unsigned alive)
{
    struct qn_graph_route *r = graph->route;
    int moved = 0;

    for (int c = 0; c < r->n_chains; c++) {
        if (!r->chains[c].n_open)
            continue;
        qn_chain_price(graph, &r->chains[c], alive);
        if (r->mode == QN_ROUTE_AUTO)
            moved |= qn_chain_settle(&r->chains[c]);
    }
    if (moved) /* runs of now on have another usual time */
        r->n_recent = r->next_recent = 0;
    if (r->mode == QN_ROUTE_BALANCE)
        balance(graph);
    qn_route_predict(graph);
    r->has_choice = 1;
}

/* Puts the stages of a chain where `device` says. */
static void place(qn_graph *graph, const qn_chain *chain, const int *device, qn_why why)
{
    for (int i = 0; i < chain->n_stages; i++) {
        const int s = chain->stages[i];

        if (graph->route->forced[s] >= 0)
            continue;
        graph->stages[s].device = device[i];
        graph->route->why[s] = why;
    }
}

static void place_all(qn_graph *graph)
{
    struct qn_graph_route *r = graph->route;

    for (int c = 0; c < r->n_chains; c++)
        if (r->chains[c].n_open)
            place(graph, &r->chains[c], r->chains[c].device, r->chains[c].why);
}

void qn_route_decide(qn_graph *graph)
{
    if (!graph->route->n_open)
        return;
    decide(graph, qn_router_alive(graph->ctx));
    place_all(graph);
}

/* ---- probes and samples ---------------------------------------------------------------------- */

/* Building a kernel for a CPU device of another backend takes seconds and gains little. */
static unsigned probeable(const qn_graph *graph, const qn_chain *chain)
{
    unsigned devices = chain->view.devices;

    for (int d = 1; d < graph->ctx->n_devices; d++)
        for (int i = 0; i < chain->n_stages && graph->ctx->devices[d].info.kind == QN_KIND_CPU; i++)
            if (graph->route->forced[chain->stages[i]] < 0 &&
                !graph->stages[chain->stages[i]].modules[d])
                devices &= ~(1u << d);
    return devices;
}

static int find_probe(const qn_graph *graph, const qn_chain *chain)
{
    qn_route_view view = chain->view;
    unsigned in_use = 0;

    for (int i = 0; i < chain->n_stages; i++)
        if (chain->path.stages[i].forced < 0)
            in_use |= 1u << chain->device[i];
    view.devices = probeable(graph, chain);
    return chain->lead ? qn_route_probe(chain->lead, &view, chain->us, in_use, chain->n_open) : -1;
}

static void mark(struct qn_graph_route *r, int s, int device)
{
    r->marked[s] = 1;
    r->ops[s]->marked_at[device] = r->ops[s]->decisions;
}

/* At most one chain per run, in turn. */
static void probe(qn_graph *graph)
{
    struct qn_graph_route *r = graph->route;

    for (int k = 0; k < r->n_chains; k++) {
        qn_chain *chain = &r->chains[(r->next_probe + k) % r->n_chains];
        const int device = chain->n_open ? find_probe(graph, chain) : -1;

        if (device < 0)
            continue;
        qn_route_book_probe(chain->lead, chain->n_open, chain->view.cost_us[device], chain->us);
        qn_chain_uniform(chain, device, chain->trial);
        place(graph, chain, chain->trial, QN_WHY_PROBE);
        for (int i = 0; i < chain->n_stages; i++)
            if (chain->path.stages[i].forced < 0)
                mark(r, chain->stages[i], device);
        r->next_probe = (r->next_probe + k + 1) % r->n_chains;
        return;
    }
}

static int wants_sample(const struct qn_graph_route *r, const qn_route_op *op, int device,
                        double size)
{
    const qn_model *model = &op->models[device];

    if (qn_model_support(model, size) < QN_MODEL_CONFIRM || qn_model_is_in_doubt(model, size) ||
        r->wants_sample)
        return 1;
    /* A graph that is replayed loses more by a sample than one that is submitted anyway. */
    return op->decisions - op->marked_at[device] >= SAMPLE_EVERY &&
           (r->n_runs <= 1 || r->runs_since_sample >= SAMPLE_EVERY);
}

static int marks_of(const qn_graph *graph, const qn_route_op *op, int before)
{
    int n = 0;

    for (int s = before - 1; s >= 0 && n < MARKS_PER_RUN; s--)
        n += graph->route->marked[s] && graph->route->ops[s] == op;
    return n;
}

static void choose_samples(qn_graph *graph)
{
    struct qn_graph_route *r = graph->route;
    int n = 0;

    for (int s = 0; s < graph->n_stages; s++) {
        const int device = graph->stages[s].device;

        if (r->forced[s] >= 0 || !wants_sample(r, r->ops[s], device, r->sizes[s]))
            continue;
        if (!r->marked[s] && marks_of(graph, r->ops[s], s) < MARKS_PER_RUN)
            mark(r, s, device);
    }
    for (int s = 0; s < graph->n_stages; s++)
        n += r->marked[s];
    graph->is_sampled = n > 0;
    r->runs_since_sample = n ? 0 : r->runs_since_sample + 1;
    r->wants_sample = 0;
}

/* ---- around a run ------------------------------------------------------------------------------
 */

static void count_decisions(qn_graph *graph)
{
    struct qn_graph_route *r = graph->route;

    for (int s = 0; s < graph->n_stages; s++)
        if (r->ops[s] && r->why[s] != QN_WHY_PINNED && r->why[s] != QN_WHY_CPU_ONLY)
            qn_router_count(graph->ctx, r->ops[s], graph->stages[s].device, r->why[s], 1);
    r->first_seq = graph->ctx->router->seq + 1;
    graph->ctx->router->seq += (uint64_t)graph->n_stages;
}

static void book_chains(qn_graph *graph)
{
    struct qn_graph_route *r = graph->route;

    for (int c = 0; c < r->n_chains; c++) {
        qn_chain *chain = &r->chains[c];

        if (chain->n_open && chain->lead)
            qn_route_book(chain->lead, chain->n_open, chain->us);
    }
}

static void forget_times(struct qn_graph_route *r, int n_stages)
{
    for (int s = 0; s < n_stages; s++) {
        r->actual_us[s] = NAN;
        r->marked[s] = 0;
    }
}

static void route_run(qn_graph *graph)
{
    struct qn_graph_route *r = graph->route;
    const unsigned alive = qn_router_alive(graph->ctx);
    uint64_t key;

    note_versions(graph);
    key = key_of(graph, alive);
    if (key != r->key || !r->has_choice || ++r->age >= REPRICE_EVERY) {
        r->age = 0;
        decide(graph, alive);
        r->key = key;
    }
    place_all(graph);
    book_chains(graph);
    if (r->mode == QN_ROUTE_AUTO)
        probe(graph);
    choose_samples(graph);
}

void qn_route_begin(qn_graph *graph)
{
    struct qn_graph_route *r = graph->route;

    if (!r)
        return;
    qn_route_explain(graph);
    if (r->mode != graph->ctx->route_mode) {
        qn_route_graph(graph);
        if (!(r = graph->route))
            return;
    }
    if (r->is_idle)
        return;
    forget_times(r, graph->n_stages);
    if (r->n_open)
        route_run(graph);
    else
        qn_route_predict(graph);
    count_decisions(graph);
    r->is_overlapped = r->is_running;
    r->is_running = 1;
    r->start_us = qn_ctx_now_us(graph->ctx);
}

/* The run is over after `us`. A change of the usual time asks for samples; they will tell. */
static void note_run(qn_graph *graph, int is_device, double us)
{
    struct qn_graph_route *r = graph->route;
    double sorted[8], usual;

    r->is_running = 0;
    qn_router_note_run(graph->ctx, is_device, us);
    if (!r->n_open || r->is_overlapped || graph->is_sampled || ++r->n_runs <= 2)
        return;
    if (r->n_recent >= 3) {
        memcpy(sorted, r->recent_us, (size_t)r->n_recent * sizeof *sorted);
        usual = qn_stats_of(sorted, (size_t)r->n_recent).median;
        if ((us > usual * drift_factor + drift_slack_us ||
             us * drift_factor + drift_slack_us < usual) &&
            r->n_runs >= r->drift_at) {
            r->wants_sample = 1;
            r->drift_at = r->n_runs + DRIFT_PAUSE;
        }
    }
    r->recent_us[r->next_recent] = us;
    r->next_recent = (r->next_recent + 1) % 8;
    r->n_recent += r->n_recent < 8;
}

static unsigned devices_of(const qn_graph *graph)
{
    unsigned devices = 0;

    for (int s = 0; s < graph->n_stages; s++)
        devices |= 1u << graph->stage_device[s];
    return devices & ~(1u << QN_CPU_SLOT);
}

/* The queue of each device grows by what was submitted to it. */
static void note_queue(qn_graph *graph, double now)
{
    qn_router *router = graph->ctx->router;

    for (int c = 0; c < graph->route->n_chains; c++) {
        const qn_chain *chain = &graph->route->chains[c];

        for (int i = 0; chain->n_open && i < chain->n_stages; i++) {
            const int d = graph->stage_device[chain->stages[i]];

            if (d == QN_CPU_SLOT || !isfinite(chain->path.stages[i].us[d]))
                continue;
            router->free_at_us[d] = fmax(router->free_at_us[d], now) + chain->path.stages[i].us[d];
        }
    }
}

void qn_route_end(qn_graph *graph)
{
    struct qn_graph_route *r = graph->route;
    int is_device;
    double now;

    if (!r || !r->is_running)
        return;
    is_device = devices_of(graph) != 0;
    now = qn_ctx_now_us(graph->ctx);
    r->device_runs += (uint64_t)is_device;
    if (graph->in_flight)
        note_queue(graph, now);
    else
        note_run(graph, is_device, now - r->start_us);
}

void qn_route_waited(qn_graph *graph)
{
    struct qn_graph_route *r = graph->route;
    qn_router *router = graph->ctx->router;
    unsigned devices;
    double now;

    if (!r || !r->is_running)
        return;
    devices = devices_of(graph);
    now = qn_ctx_now_us(graph->ctx);
    for (int d = 1; d < graph->ctx->n_devices; d++)
        if (devices >> d & 1 && router->free_at_us[d] > now)
            router->free_at_us[d] = now;
    note_run(graph, devices != 0, now - r->start_us);
}

void qn_route_timed(qn_graph *graph, int stage, int device, double us)
{
    struct qn_graph_route *r = graph->route;

    if (!r || !r->ops[stage])
        return;
    r->actual_us[stage] = us;
    qn_router_observe(graph->ctx, r->ops[stage], device, r->sizes[stage], us);
}

void qn_route_failed(qn_graph *graph, int stage, int device, qn_status status)
{
    if (graph->route)
        qn_router_failed(graph->ctx, graph->route->ops[stage], device, status);
}

/* run.c - chooses a device for every stage and learns from each run.
 *
 * A decision is made again only when something it depends on has changed: residency, a model, a
 * link, or the health or queue of a device. Otherwise the router costs a run only these checks and
 * two clock readings. Short runs are checked only now and then; between two checks a run costs
 * three comparisons.
 */
#include "engine/place/place.h"

#include <math.h>

enum {
    REPRICE_EVERY = 64, /* checks; decaying quantities are refreshed this often */
    DRIFT_PAUSE = 8,    /* runs between samples for a change that was not confirmed; doubled ... */
    MOST_DRIFT_PAUSE = 256,
    LIGHT_MOST = 255 /* runs between two checks */
};
static const double drift_factor = 1.25, drift_slack_us = 3, check_share = 0.004;

/* Deciding. */

static uint64_t mix(uint64_t key, uint64_t value)
{
    key = (key ^ value) * 0x9E3779B97F4A7C15u;
    return key ^ key >> 29;
}

/* A hash of everything a decision depends on. Queues count in powers of two. */
static uint64_t key_of(const qn_graph *graph, unsigned alive)
{
    const qn_ctx *ctx = graph->ctx;
    const struct qn_graph_route *r = graph->route;
    const double now = qn_ctx_now_us(ctx);
    uint64_t key = mix(ctx->router->generation, alive), models = 0;

    for (int d = 1; d < ctx->n_devices; d++) {
        const double wait = ctx->router->free_at_us[d] - now;

        key = mix(key, wait > 50 && !(graph->runs.in_flight >> d & 1) ? (uint64_t)ilogb(wait) : 0);
    }
    for (int s = 0; s < graph->n_stages; s++)
        for (int d = 0; r->forced[s] < 0 && d < ctx->n_devices; d++)
            models += r->ops[s]->models[d].generation;
    key = mix(key, models);
    for (int b = 0; b < graph->n_bufs; b++)
        if (!graph->bufs[b].root->is_temp)
            key = mix(key, qn_buf_valid_mask(graph->bufs[b].root) |
                               (uint64_t)qn_chain_spread(r, graph->bufs[b].root, b) << 32);
    return key;
}

/* Records which buffers were not written since the last run: those are worth keeping on a
 * device. */
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

/* Takes chains longest first and puts each on the device that would finish it first. */
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

/* Building a kernel for another backend's CPU device takes seconds and gains little. */
static int is_ready(const qn_graph *graph, const qn_chain *chain, int device)
{
    if (device == QN_CPU_SLOT || graph->ctx->devices[device].info.kind != QN_KIND_CPU)
        return 1;
    for (int i = 0; i < chain->n_stages; i++)
        if (graph->route->forced[chain->stages[i]] < 0 &&
            !graph->stages[chain->stages[i]].modules[device])
            return 0;
    return 1;
}

/* After a decision: finds devices worth a probe and stages worth a sample. */
static void look_around(qn_graph *graph, qn_chain *chain)
{
    struct qn_graph_route *r = graph->route;

    chain->in_use = chain->probeable = 0;
    for (int i = 0; i < chain->n_stages; i++) {
        const int s = chain->stages[i], device = chain->device[i];
        const qn_model *model;

        if (r->forced[s] >= 0)
            continue;
        model = &r->ops[s]->models[device];
        chain->in_use |= 1u << device;
        r->wanting[s] = qn_model_support(model, r->sizes[s]) < QN_MODEL_CONFIRM ||
                        qn_model_is_in_doubt(model, r->sizes[s]);
        r->n_wanting += r->wanting[s];
    }
    for (int d = 0; d < graph->ctx->n_devices; d++)
        if (chain->view.devices >> d & 1 && !(chain->in_use >> d & 1) && is_ready(graph, chain, d))
            chain->probeable |= 1u << d;
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
    if (moved && r->trials.held < 0) { /* later runs have another usual time */
        r->n_recent = r->next_recent = 0;
        r->drift_pause = DRIFT_PAUSE;
    }
    if (r->mode == QN_ROUTE_BALANCE)
        balance(graph);
    r->n_wanting = 0;
    for (int c = 0; c < r->n_chains; c++)
        if (r->chains[c].n_open)
            look_around(graph, &r->chains[c]);
    qn_route_predict(graph);
    r->has_choice = 1;
}

/* Assigns the stages of a chain to the devices in `device`. */
void qn_chain_place(qn_graph *graph, const qn_chain *chain, const int *device, qn_why why)
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
            qn_chain_place(graph, &r->chains[c], r->chains[c].device, r->chains[c].why);
}

static void place_on(qn_graph *graph, int device, qn_why why)
{
    struct qn_graph_route *r = graph->route;

    for (int s = 0; s < graph->n_stages; s++)
        if (r->forced[s] < 0) {
            graph->stages[s].device = device;
            r->why[s] = why;
        }
}

void qn_route_decide(qn_graph *graph)
{
    if (!graph->route->n_open)
        return;
    decide(graph, qn_router_alive(graph->ctx));
    place_all(graph);
}

/* Around a run. */

static int is_counted(const struct qn_graph_route *r, int s)
{
    return r->ops[s] && r->why[s] != QN_WHY_PINNED && r->why[s] != QN_WHY_CPU_ONLY;
}

static int is_same_decision(const qn_graph *graph, int s, int t)
{
    const struct qn_graph_route *r = graph->route;

    return r->ops[s] == r->ops[t] && r->why[s] == r->why[t] &&
           graph->stages[s].device == graph->stages[t].device;
}

static void count_decisions(qn_graph *graph, int n_times)
{
    struct qn_graph_route *r = graph->route;

    for (int s = 0, end; s < graph->n_stages; s = end) {
        for (end = s + 1; end < graph->n_stages && is_same_decision(graph, s, end);)
            end++;
        if (is_counted(r, s))
            qn_router_count(graph->ctx, r->ops[s], graph->stages[s].device, r->why[s],
                            n_times * (end - s));
    }
    r->first_seq = graph->ctx->router->seq + 1;
    graph->ctx->router->seq += (uint64_t)(n_times * graph->n_stages);
}

static void book_chains(qn_graph *graph, int n_times)
{
    struct qn_graph_route *r = graph->route;

    for (int c = 0; c < r->n_chains; c++) {
        qn_chain *chain = &r->chains[c];

        if (chain->n_open && chain->lead)
            qn_route_note_decisions(chain->lead, n_times * chain->n_open, n_times * chain->us);
    }
}

static void route_run(qn_graph *graph)
{
    struct qn_graph_route *r = graph->route;
    const unsigned alive = qn_router_alive(graph->ctx);
    uint64_t key;
    int device;

    note_versions(graph);
    key = key_of(graph, alive);
    if (key != r->key || !r->has_choice || ++r->age >= REPRICE_EVERY) {
        r->age = 0;
        decide(graph, alive);
        r->key = key;
    }
    book_chains(graph, 1);
    if (r->mode == QN_ROUTE_AUTO && (device = qn_trial_begin(graph, alive)) >= 0) {
        qn_tried_note(graph, device);
        place_on(graph, device, QN_WHY_PROBE);
        graph->is_sampled = 0;
        if (r->trials.n == 0) { /* costs nothing, so the models may use it */
            r->wants_sample = 1;
            qn_samples_choose(graph);
        }
        r->spender = NULL;
        r->n_experiments++;
        return;
    }
    if (r->mode == QN_ROUTE_AUTO && r->trials.held >= 0)
        place_on(graph, r->trials.held, QN_WHY_BEST);
    else
        place_all(graph);
    if (r->mode == QN_ROUTE_AUTO)
        qn_probe_begin(graph);
    qn_samples_choose(graph);
    r->n_experiments += r->n_marked > 0;
}

/* For very short runs a check would cost a large part of the run, so checks are rare. During a
 * measurement, or when runs overlap, every run is checked, because queues must be known. */
static void plan_look(qn_graph *graph)
{
    struct qn_graph_route *r = graph->route;

    r->n_lighter = 0;
    if (r->predicted || r->n_recent < 8 || !(r->usual_us > 0) || r->n_drifts || r->n_wanting ||
        r->wants_sample || r->n_marked || r->trials.device >= 0 || r->is_overlapped ||
        r->tried_on >= 0)
        return;
    r->n_lighter = (int)fmin(r->check_us / (check_share * r->usual_us), LIGHT_MOST);
    r->light_generation = graph->ctx->router->generation;
}

/* The runs since the last check. */
void qn_route_note_light(qn_graph *graph)
{
    struct qn_graph_route *r = graph->route;

    if (!r->n_light)
        return;
    book_chains(graph, r->n_light);
    count_decisions(graph, r->n_light);
    r->n_runs += r->n_light;
    r->own_us += r->n_light * r->usual_us;
    r->n_light = 0;
}

/* A run like the last one costs these few comparisons: no clock, no lock, no memory. */
static int is_light(const qn_graph *graph, const struct qn_graph_route *r)
{
    return r->n_lighter > 0 && r->mode == graph->ctx->settings.route_mode &&
           r->light_generation == graph->ctx->router->generation;
}

void qn_route_begin(qn_graph *graph)
{
    struct qn_graph_route *r = graph->route;
    double start;

    if (!r || r->is_idle)
        return;
    if (is_light(graph, r)) {
        r->n_lighter--;
        r->n_light++;
        return;
    }
    qn_route_explain(graph);
    if (r->mode != graph->ctx->settings.route_mode) {
        qn_route_graph(graph);
        if (!(r = graph->route) || r->is_idle)
            return;
    }
    start = qn_ctx_now_us(graph->ctx);
    qn_route_note_light(graph);
    qn_samples_forget(graph);
    qn_tried_drop(graph);
    if (r->n_open)
        route_run(graph);
    else
        qn_route_predict(graph);
    count_decisions(graph, 1);
    r->is_overlapped = r->is_running;
    r->is_running = 1;
    r->start_us = qn_ctx_now_us(graph->ctx);
    r->decide_us = r->start_us - start;
}

/* Adds the time of an undisturbed run, and finds the median. */
static void add_recent(struct qn_graph_route *r, double us)
{
    double sorted[8];
    int n = 0;

    r->recent_us[r->next_recent] = us;
    r->next_recent = (r->next_recent + 1) % 8;
    r->n_recent += r->n_recent < 8;
    for (; n < r->n_recent; n++) { /* by insertion, since every run does this */
        int at = n;

        for (; at > 0 && sorted[at - 1] > r->recent_us[n]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = r->recent_us[n];
    }
    r->usual_us = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static int is_unusual(double us, double usual)
{
    return us > usual * drift_factor + drift_slack_us || us * drift_factor + drift_slack_us < usual;
}

/* Two unusual runs in a row, or one of twice the usual time, request samples. If the samples show
 * nothing, the next ones are taken later. */
static void watch_drift(struct qn_graph_route *r, double us, double usual)
{
    r->n_drifts = is_unusual(us, usual) ? r->n_drifts + 1 : 0;
    if ((r->n_drifts < 2 && !(us > 2 * usual)) || r->n_runs < r->drift_at)
        return;
    r->wants_sample = 1;
    r->drift_at = r->n_runs + r->drift_pause;
    r->drift_pause = r->drift_pause < MOST_DRIFT_PAUSE ? r->drift_pause * 2 : MOST_DRIFT_PAUSE;
    if (r->n_drifts >= 2)
        qn_trial_doubt(r, us > usual);
}

/* The run took `us`. */
static void note_run(qn_graph *graph, int is_device, double us)
{
    struct qn_graph_route *r = graph->route;
    const double usual = r->n_recent < 3 ? NAN : r->usual_us;

    r->is_running = 0;
    qn_router_note_run(graph->ctx, is_device, us);
    r->own_us += r->usual_us > 0 ? fmin(us, r->usual_us) : us;
    qn_probe_end(graph, us, usual);
    if (r->is_overlapped)
        return;
    if (r->trials.device >= 0) {
        r->n_runs++;
        qn_trial_end(graph, us);
        return;
    }
    if (graph->is_sampled || ++r->n_runs <= 2)
        return;
    if (r->n_open)
        watch_drift(r, us, usual);
    add_recent(r, us);
}

/* The part of a check that follows the run. */
static void end_look(qn_graph *graph, double end_us)
{
    struct qn_graph_route *r = graph->route;
    const double us = r->decide_us + (qn_ctx_now_us(graph->ctx) - end_us);

    r->check_us += (us - r->check_us) / 8;
    plan_look(graph);
}

static unsigned devices_of(const qn_graph *graph)
{
    unsigned devices = 0;

    for (int s = 0; s < graph->n_stages; s++)
        devices |= 1u << graph->stage_device[s];
    return devices & ~(1u << QN_CPU_SLOT);
}

/* Adds the submitted work to the queue of each device. */
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
    if (graph->runs.in_flight) {
        note_queue(graph, now);
        return;
    }
    note_run(graph, is_device, now - r->start_us);
    end_look(graph, now);
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
    end_look(graph, now);
}

uint64_t qn_route_experiments(const qn_graph *graph)
{
    return graph->route ? graph->route->n_experiments : 0;
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

/* probe.c - measures during runs, by probes and samples, and accounts for their cost.
 *
 * A probe runs one chain on another device. A sample times stages on their current device, which
 * needs direct submission and a wait. Most runs have neither.
 *
 * Both cost time, which is charged to the op (route.c). But many graphs share an op, and a budget
 * earned by large graphs could ruin small ones. So a probe that is more than three times slower,
 * and every trial of whole runs, is charged to the graph itself. A device that proved that slow in
 * a whole run gets a tenth of that budget. Copies made by a probe are dropped unless the work stays
 * there, so later runs are unaffected.
 */
#include "engine/place/place.h"

#include <math.h>

enum {
    SAMPLE_EVERY = 256, /* decisions of an op */
    MARKS_PER_RUN = 3   /* stages of one op */
};
static const double lose_share = 0.005, hopeless_share = 0.0005, hopeless_factor = 3;

/* The budget of a graph. */

/* A new graph may lose the time of two runs, because otherwise graphs that run only a few times
 * would never be measured. */
int qn_route_can_lose(const struct qn_graph_route *r, double us)
{
    return r->lost_us + fmax(0, us) <= fmax(lose_share * r->own_us, 2 * r->usual_us);
}

/* Whether a device is worth the cost of a probe. Up to three times the current time the op's budget
 * is enough, since such probes are rarer the more they cost (route.c). Beyond that the graph's own
 * budget pays. Old measurements may be wrong, so we assume the best case: a device that really is
 * slower costs more once, and is not probed again before the graph's budget has recovered. */
static int can_probe(const struct qn_graph_route *r, const qn_chain *chain, int device)
{
    const qn_route_view *view = &chain->view;
    const double doubtful_us = fmin(view->hope_us[device], qn_route_doubtful_us(view, device));

    if (r->hopeless >> device & 1)
        return r->lost_us + fmax(0, view->cost_us[device] - chain->us) <=
               hopeless_share * r->own_us;
    if (view->hope_us[device] < hopeless_factor * chain->us ||
        (qn_route_is_stale(chain->lead, device) && doubtful_us < chain->us))
        return 1;
    return r->n_recent ? qn_route_can_lose(r, doubtful_us - chain->us) : r->lost_us <= chain->us;
}

void qn_route_lose(struct qn_graph_route *r, double us)
{
    r->lost_us += fmax(0, us);
}

/* Probes. */

static int find_probe(const struct qn_graph_route *r, const qn_chain *chain)
{
    int device;

    if (!chain->probeable || !chain->lead)
        return -1;
    device = qn_route_probe(chain->lead, &chain->view, chain->us, ~chain->probeable, chain->n_open);
    return device >= 0 && can_probe(r, chain, device) ? device : -1;
}

/* Records which copies exist before something is tried on `device`. */
void qn_tried_note(qn_graph *graph, int device)
{
    struct qn_graph_route *r = graph->route;

    if (r->tried_on == device)
        return;
    r->tried_on = device;
    for (int b = 0; b < graph->n_bufs; b++)
        r->was_there[b] = graph->bufs[b].root->copies[device].block != NULL;
}

static int is_used(const qn_graph *graph, int device)
{
    const struct qn_graph_route *r = graph->route;

    if (r->trials.device == device || r->trials.held == device)
        return 1;
    for (int s = 0; s < graph->n_stages; s++)
        if (r->forced[s] == device)
            return 1;
    for (int c = 0; c < r->n_chains; c++)
        if (r->chains[c].in_use >> device & 1)
            return 1;
    return 0;
}

/* Drops only copies that the host also has, so results that were not fetched yet stay. */
void qn_tried_drop(qn_graph *graph)
{
    struct qn_graph_route *r = graph->route;
    const int d = r->tried_on;

    if (d < 0 || graph->runs.in_flight >> d & 1 || r->trials.device == d)
        return;
    r->tried_on = -1;
    if (is_used(graph, d))
        return;
    for (int b = 0; b < graph->n_bufs; b++) {
        qn_buf *root = graph->bufs[b].root;

        if (!r->was_there[b] && !root->copies[d].borrowed && !root->copies[d].pins &&
            qn_buf_valid_host(root))
            qn_buf_drop_copy(root, &graph->ctx->devices[d]);
    }
    qn_order_release(graph, d);
}

static void mark(struct qn_graph_route *r, int s, int device)
{
    if (r->marked[s])
        return;
    r->marked[s] = 1;
    r->n_marked++;
    r->ops[s]->marked_at[device] = r->ops[s]->decisions;
}

/* At most one chain per run, in turn. */
void qn_probe_begin(qn_graph *graph)
{
    struct qn_graph_route *r = graph->route;

    for (int k = 0; k < r->n_chains; k++) {
        qn_chain *chain = &r->chains[(r->next_probe + k) % r->n_chains];
        const int device = find_probe(r, chain);

        if (device < 0)
            continue;
        qn_route_note_probe(chain->lead, chain->n_open);
        r->spender = chain->lead;
        r->probe_us = isfinite(chain->view.cost_us[device]) ? chain->view.cost_us[device] : 0;
        qn_chain_uniform(chain, device, chain->trial);
        qn_chain_place(graph, chain, chain->trial, QN_WHY_PROBE);
        qn_tried_note(graph, device);
        r->probed = device;
        for (int i = 0; i < chain->n_stages; i++)
            if (chain->path.stages[i].forced < 0)
                mark(r, chain->stages[i], device);
        r->next_probe = (r->next_probe + k + 1) % r->n_chains;
        return;
    }
}

/* The run took `us`; without the probe it would have taken `usual`. Time beyond the expected extra
 * is blamed on other load, not on the probe. */
void qn_probe_end(qn_graph *graph, double us, double usual)
{
    struct qn_graph_route *r = graph->route;
    const double most = r->probed >= 0 ? fmax(5 * usual, 2 * r->probe_us) : usual;

    if (r->spender && us > usual) {
        qn_route_spend(r->spender, fmin(us - usual, most));
        qn_route_lose(r, fmin(us - usual, most));
    }
    if (r->probed >= 0 && us > hopeless_factor * usual)
        r->hopeless |= 1u << r->probed;
    r->probed = -1;
}

/* Samples. */

void qn_samples_forget(qn_graph *graph)
{
    struct qn_graph_route *r = graph->route;

    for (int s = 0; r->n_marked && s < graph->n_stages; s++) {
        r->actual_us[s] = NAN;
        r->marked[s] = 0;
    }
    r->n_marked = 0;
    r->spender = NULL;
    r->probe_us = 0;
}

/* A sample costs more in a graph that is normally replayed. */
static int is_due(const struct qn_graph_route *r, const qn_route_op *op, int device)
{
    return op->decisions - op->marked_at[device] >= SAMPLE_EVERY && qn_route_can_spend(op) &&
           (r->n_runs <= 1 ||
            (r->runs_since_sample >= SAMPLE_EVERY && qn_route_can_lose(r, r->usual_us)));
}

static int marks_of(const qn_graph *graph, const qn_route_op *op, int before)
{
    int n = 0;

    for (int s = before - 1; s >= 0 && n < MARKS_PER_RUN; s--)
        n += graph->route->marked[s] && graph->route->ops[s] == op;
    return n;
}

/* On the CPU the first run of a graph touches its memory for the first time, so it counts only if
 * nothing else is known. */
static int may_teach(const struct qn_graph_route *r, int s, int device)
{
    return device != QN_CPU_SLOT || r->n_runs > 0 || r->ops[s]->models[device].n_buckets < 2;
}

void qn_samples_choose(qn_graph *graph)
{
    struct qn_graph_route *r = graph->route;

    if (r->n_wanting || r->wants_sample || r->n_runs <= 1 || r->runs_since_sample >= SAMPLE_EVERY)
        for (int s = 0; s < graph->n_stages; s++) {
            const int device = graph->stages[s].device;

            if (r->forced[s] < 0 && may_teach(r, s, device) &&
                (r->wanting[s] || r->wants_sample || is_due(r, r->ops[s], device)) &&
                marks_of(graph, r->ops[s], s) < MARKS_PER_RUN) {
                mark(r, s, device);
                r->spender = r->spender ? r->spender : r->ops[s];
            }
        }
    graph->is_sampled = r->n_marked > 0;
    r->runs_since_sample = r->n_marked ? 0 : r->runs_since_sample + 1;
    r->wants_sample = 0;
}

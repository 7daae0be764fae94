/* trial.c - tries whole runs on another device and compares them with runs where they are.
 *
 * Models add up stages and copies. A real run also depends on how they overlap and on other load.
 * So a graph that runs often is tried as a whole: a few runs on one device, not counting the first
 * ones, which make recordings and move data. If a device proves more than a twentieth faster, the
 * graph stays there, whatever the models say, until inputs arrive in another way or a device fails.
 * Like probes, trials are at most one run in twenty, and they share the same 0.5 % of the time.
 */
#include "engine/place/place.h"

#include "util/stats.h"

#include <math.h>

enum {
    FIRST_TRY = 40,   /* runs before anything is tried ... */
    LONG_TRY = 10,    /* and for long runs, of which there will be few */
    STALE_RUNS = 200, /* after these runs the models' doubts about a device are ignored */
    PAUSE = 256,      /* runs between two trials of a device; doubled after each failed trial */
    MOST_PAUSE = 8192,
    ABSURD = 16,    /* times the usual time: other load disturbed the run */
    MOST_ABSURD = 2 /* of a trial; more cannot be an accident */
};
static const double lost_share = 0.02, factor_most = 3, long_us = 1000, seen_gain = 0.95;

/* Runs of a trial that do not count, and runs that do. In a long run the start-up cost matters less
 * and times vary less. */
static int n_settling(const qn_trials *t)
{
    return t->against_us > long_us ? 1 : 2;
}

static int n_counting(const qn_trials *t)
{
    return QN_TRIAL_RUNS - n_settling(t);
}

/* A measurement needs less margin than a prediction: all counted runs of a trial must be faster. */
static int is_seen_gain(const qn_trials *t, double us)
{
    return us < seen_gain * t->against_us;
}

static void forget(qn_trials *t)
{
    *t = (qn_trials){ .device = -1, .held = -1, .situation = t->situation };
}

void qn_trials_reset(qn_trials *t)
{
    t->situation = 0;
    forget(t);
}

/* A hash of the available devices and of the inputs that are new in every run. */
static uint64_t situation_of(const qn_graph *graph, unsigned alive)
{
    const struct qn_graph_route *r = graph->route;
    uint64_t key = alive + 1;

    for (int b = 0; b < graph->n_bufs; b++)
        if (r->n_readers[b])
            key = key * 3 + (r->stable[b] == 0 ? 1 : r->stable[b] > 2 ? 2 : 0);
    return key;
}

/* The device with all open stages, or -1. */
static int present_device(const qn_graph *graph)
{
    const struct qn_graph_route *r = graph->route;
    unsigned in_use = 0;

    if (r->trials.held >= 0)
        return r->trials.held;
    for (int c = 0; c < r->n_chains; c++)
        in_use |= r->chains[c].in_use;
    return in_use && !(in_use & (in_use - 1)) ? __builtin_ctz(in_use) : -1;
}

/* The cost of everything on `device` by the models: the best case if they know little, with old
 * results doubted. Infinite if it cannot run there. */
static double hoped_us(const struct qn_graph_route *r, int device)
{
    double us = 0;

    for (int c = 0; c < r->n_chains; c++) {
        const qn_chain *chain = &r->chains[c];
        const qn_route_view *view = &chain->view;

        if (!chain->n_open)
            continue;
        if (!((chain->probeable | chain->in_use) >> device & 1))
            return INFINITY;
        us += view->support[device] < QN_MODEL_CONFIRM ? view->hope_us[device]
              : r->n_runs >= STALE_RUNS                ? qn_route_doubtful_us(view, device)
                                                       : view->cost_us[device];
    }
    return us;
}

/* The time that trials of all graphs with these ops may still cost. One graph alone may cost less
 * (qn_route_can_lose). */
static double budget_us(const struct qn_graph_route *r)
{
    double us = INFINITY;

    for (int c = 0; c < r->n_chains; c++)
        if (r->chains[c].n_open && r->chains[c].lead)
            us = fmin(us, lost_share * r->chains[c].lead->total_us - r->chains[c].lead->tried_us);
    return us;
}

/* A trial ends at the first run without a gain, so its cost is bounded even if the prediction is
 * wrong. */
static int is_due(const struct qn_graph_route *r, int device)
{
    const qn_trials *t = &r->trials;
    const double usual = t->against_us;
    const double us = t->seen_us[device] > 0 ? t->seen_us[device] : hoped_us(r, device);
    const double loss = (n_settling(t) + 1) * fmax(0, fmin(us, 2 * usual) - usual);

    return r->n_runs >= t->next_at[device] && !(r->hopeless >> device & 1) &&
           us <= factor_most * usual && qn_route_can_lose(r, loss) && loss <= budget_us(r);
}

/* Runs of a trial count as probes of all their ops. */
static int may_probe(const struct qn_graph_route *r)
{
    const int n = n_settling(&r->trials) + n_counting(&r->trials);

    for (int c = 0; c < r->n_chains; c++)
        if (r->chains[c].lead && r->chains[c].n_open &&
            !qn_route_may_probe(r->chains[c].lead, n * r->chains[c].n_open))
            return 0;
    return 1;
}

static void book_probes(const struct qn_graph_route *r)
{
    for (int c = 0; c < r->n_chains; c++)
        if (r->chains[c].lead && r->chains[c].n_open)
            qn_route_note_probe(r->chains[c].lead, r->chains[c].n_open);
}

static void start(qn_graph *graph, unsigned alive)
{
    struct qn_graph_route *r = graph->route;
    qn_trials *t = &r->trials;
    const int present = present_device(graph);

    if (r->n_runs < (r->usual_us > long_us ? LONG_TRY : FIRST_TRY) || r->n_recent < QN_TRIAL_RUNS)
        return;
    t->against_us = r->usual_us;
    if (!may_probe(r))
        return;
    for (int d = 0; d < graph->ctx->n_devices; d++)
        if (alive >> d & 1 && d != present && is_due(r, d)) {
            t->device = d;
            t->n = t->n_absurd = 0;
            return;
        }
}

int qn_trial_begin(qn_graph *graph, unsigned alive)
{
    struct qn_graph_route *r = graph->route;
    qn_trials *t = &r->trials;
    const uint64_t situation = situation_of(graph, alive);

    if (situation != t->situation) {
        if (t->held >= 0)
            r->n_recent = r->next_recent = 0;
        t->situation = situation;
        forget(t);
    }
    if (r->is_running) /* runs overlap, so their times mean nothing */
        t->device = -1;
    else if (t->device < 0)
        start(graph, alive);
    if (t->device >= 0)
        book_probes(r);
    return t->device;
}

/* At the end of a trial, decides whether the work stays. */
static void judge(qn_graph *graph)
{
    struct qn_graph_route *r = graph->route;
    qn_trials *t = &r->trials;
    const int device = t->device, present = present_device(graph);
    const int first = n_settling(t);

    t->seen_us[device] = qn_stats_of(t->us + first, (size_t)(t->n - first)).median;
    t->device = -1;
    if (!t->pause[device])
        t->pause[device] = PAUSE;
    t->next_at[device] = r->n_runs + t->pause[device];
    if (!is_seen_gain(t, t->seen_us[device])) {
        t->pause[device] = t->pause[device] < MOST_PAUSE ? 2 * t->pause[device] : MOST_PAUSE;
        return;
    }
    if (present >= 0) {
        t->seen_us[present] = t->against_us;
        t->pause[present] = t->pause[present] ? t->pause[present] : PAUSE;
        t->next_at[present] = r->n_runs + t->pause[present];
    }
    t->held = device;
    t->pause[device] = PAUSE;
    r->n_recent = r->next_recent = r->n_drifts = 0;
}

/* The cost of this graph's trials is charged to its ops, and so to all graphs with these ops. */
static void lose(struct qn_graph_route *r, double us)
{
    qn_route_lose(r, us);
    for (int c = 0; c < r->n_chains; c++)
        if (r->chains[c].n_open && r->chains[c].lead) {
            r->chains[c].lead->tried_us += us;
            return;
        }
}

void qn_trial_end(qn_graph *graph, double us)
{
    struct qn_graph_route *r = graph->route;
    qn_trials *t = &r->trials;

    if (us > ABSURD * t->against_us && t->n_absurd++ < MOST_ABSURD)
        return;
    lose(r, fmax(0, us - t->against_us));
    t->us[t->n++] = us;
    if (t->n == n_settling(t) + n_counting(t) || (t->n > n_settling(t) && !is_seen_gain(t, us)))
        judge(graph);
}

void qn_trial_doubt(struct qn_graph_route *r, int is_slower)
{
    qn_trials *t = &r->trials;

    if (is_slower)
        t->held = -1;
    for (int d = 0; d < QN_MAX_DEVICES; d++) {
        t->seen_us[d] = 0;
        t->pause[d] = 0;
        if (t->next_at[d] > r->n_runs)
            t->next_at[d] = r->n_runs;
    }
}

/* place.h - where the stages of a graph run: choosing devices, feeding back times.
 *
 * A graph is cut into chains: stages that are connected by something one of them writes. Chains
 * do not influence each other, so each gets its own cheapest path; a batch of independent tasks
 * is as many chains.
 */
#ifndef QN_ENGINE_PLACE_H
#define QN_ENGINE_PLACE_H

#include "engine/plan/graph_impl.h"
#include "engine/route/route.h"

typedef struct qn_chain {
    int *stages; /* of the graph, in program order */
    int n_stages, n_open;
    int *bufs; /* of the graph */
    qn_path path;
    qn_path_use *uses;
    int *device, *trial; /* per stage: what is settled; what is being thought about */
    int is_settled;
    qn_why why;
    double us;          /* predicted for what is settled */
    unsigned in_use;    /* devices of its open stages */
    unsigned probeable; /* others that are worth a probe now and then */
    qn_route_view view; /* the whole chain on one device */
    qn_route_op *lead;  /* of the longest stage */
} qn_chain;

/* Whole runs tried on one device. */
enum { QN_TRIAL_RUNS = 5 };
typedef struct qn_trials {
    uint64_t situation; /* in which everything below was seen */
    int device;         /* being tried, -1: none */
    int held;           /* seen to be faster than what models choose, -1: none */
    int n, n_absurd;    /* runs of it so far; others that did not count */
    double us[QN_TRIAL_RUNS], against_us;
    double seen_us[QN_MAX_DEVICES]; /* time of a run; 0: not known */
    int next_at[QN_MAX_DEVICES], pause[QN_MAX_DEVICES];
} qn_trials;

struct qn_graph_route {
    qn_route_mode mode;
    int n_open;  /* stages the router may place */
    int is_idle; /* nothing to decide, count or explain */
    qn_chain *chains;
    int n_chains;
    /* per stage */
    qn_route_op **ops; /* NULL for host stages */
    double *sizes;
    qn_cost *costs;
    int *forced; /* device, -1: open */
    qn_why *why;
    uint8_t *wanting;  /* too little is known of it where it is settled */
    uint8_t *marked;   /* to be timed in this run */
    double *actual_us; /* of the last run, NaN: not timed */
    double *predicted; /* explanations: n_stages * QN_MAX_DEVICES, NaN: no candidate */
    /* per buffer */
    uint64_t *version, *d2h_base;
    uint16_t *stable, *n_readers; /* looks without a change; chains that read it */
    uint8_t *was_there;           /* a copy on tried_on, before something was tried there */
    /* decisions */
    uint64_t key;
    int age, next_probe, has_choice;
    uint64_t first_seq; /* of the decisions not yet explained, 0: none */
    /* runs */
    double start_us;
    int is_running, is_overlapped, n_runs;
    uint64_t device_runs;
    double recent_us[8], usual_us; /* of the last runs nothing was measured in; their median */
    int n_recent, next_recent;
    qn_trials trials;
    int n_light, n_lighter;    /* runs since the router last looked; until it looks again */
    uint64_t light_generation; /* of the router, for which these may be */
    double look_us;            /* what a look takes */
    double thought_us;         /* what it took before this run */
    int n_wanting, n_marked, wants_sample, runs_since_sample;
    qn_route_op *spender;   /* bears what is lost by measuring in this run */
    double probe_us;        /* what a probe of this run should take, 0: there is none */
    int probed;             /* the device of the probe of this run, -1: none */
    int tried_on;           /* a device with copies that a probe or a trial has made, -1: none */
    unsigned hopeless;      /* devices on which a probe made a whole run more than 3 times slower */
    double own_us, lost_us; /* of all runs; of that, by probes, samples and trials */
    uint64_t n_experiments; /* runs with one of these */
    int n_drifts, drift_at, drift_pause; /* runs of unusual time in a row; when they count again */
};

/* Sets the device of every stage of a graph that is being compiled. */
void qn_route_graph(qn_graph *graph);
void qn_route_free(qn_graph *graph);

/* Around a run: decides again where something has changed, chooses stages to time; the run was
 * submitted; it was waited for. */
void qn_route_begin(qn_graph *graph);
void qn_route_end(qn_graph *graph);
void qn_route_waited(qn_graph *graph);

/* A stage was timed, or failed. */
void qn_route_timed(qn_graph *graph, int stage, int device, double us);
void qn_route_failed(qn_graph *graph, int stage, int device, qn_status status);

/* Stage.c. */

/* Notes what every candidate would cost, and writes the rows of the last run. */
void qn_route_predict(qn_graph *graph);
void qn_route_explain(qn_graph *graph);

/* Run.c. */

/* The first decision, when the graph is compiled. */
void qn_route_decide(qn_graph *graph);
/* Counts the runs since the last look. */
void qn_route_note_light(qn_graph *graph);
/* Puts the stages of a chain where `device` says. */
void qn_chain_place(qn_graph *graph, const qn_chain *chain, const int *device, qn_why why);

/* Probe.c. */

/* Places one chain for a probe, when one is due; the run is over after `us` instead of `usual`. */
void qn_probe_begin(qn_graph *graph);
void qn_probe_end(qn_graph *graph, double us, double usual);

/* Marks the stages to be timed in this run; takes the marks away. */
void qn_samples_choose(qn_graph *graph);
void qn_samples_forget(qn_graph *graph);

/* Something will be tried on the device; it is over and the copies it made go. */
void qn_tried_note(qn_graph *graph, int device);
void qn_tried_drop(qn_graph *graph);

/* Whether so much more may be lost by measuring, which is 0.5 % of the graph's own time; and that
 * it was. */
int qn_route_can_lose(const struct qn_graph_route *route, double us);
void qn_route_lose(struct qn_graph_route *route, double us);

/* Trial.c. */

void qn_trials_reset(qn_trials *trials);

/* The device on which all open stages of this run are tried, or -1. */
int qn_trial_begin(qn_graph *graph, unsigned alive);
/* A run of a trial is over. */
void qn_trial_end(qn_graph *graph, double us);
/* The time of runs has changed: what was seen of devices may be over. */
void qn_trial_doubt(struct qn_graph_route *route, int is_slower);

/* Chain.c. */

/* Cuts the graph's stages into graph->route->chains. */
qn_status qn_chains_make(qn_graph *graph);
void qn_chains_free(struct qn_graph_route *route);

/* Runs over which the upload of a buffer is spread: what is read again and again without being
 * written needs it once. A power of two. */
int qn_chain_spread(const struct qn_graph_route *route, const qn_buf *root, int b);

/* Fills prices and view of a chain from what is known and valid now. */
void qn_chain_price(qn_graph *graph, qn_chain *chain, unsigned alive);

/* Settles an open chain: the cheapest path, unless what is settled is as good. True when that is
 * something else than before. */
int qn_chain_settle(qn_chain *chain);

/* The whole chain on one device, as far as its stages are free, into `out`. */
void qn_chain_uniform(const qn_chain *chain, int device, int *out);

#endif

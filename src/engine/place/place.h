/* place.h - where the stages of a graph run: chooses devices and learns from times.
 *
 * A graph is cut into chains: stages that are connected by something one of them writes. Chains do
 * not affect each other, so each gets its own cheapest path. In a batch of independent tasks each
 * task is a chain.
 */
#ifndef QN_ENGINE_PLACE_H
#define QN_ENGINE_PLACE_H

#include "engine/plan/graph_impl.h"
#include "engine/route/route.h"
#include "util/arena.h"

typedef struct qn_chain {
    int *stages; /* stages of the graph, in program order */
    int n_stages, n_open;
    int *bufs; /* of the graph */
    qn_path path;
    qn_path_use *uses;
    int *device, *trial; /* per stage: the current device; the one being considered */
    int is_settled;
    qn_why why;
    double us;          /* predicted time on the current devices */
    unsigned in_use;    /* devices of its open stages */
    unsigned probeable; /* other devices worth probing now and then */
    qn_route_view view; /* the whole chain on one device */
    qn_route_op *lead;  /* of the longest stage */
} qn_chain;

/* Whole runs tried on one device. */
enum { QN_TRIAL_RUNS = 5 };
typedef struct qn_trials {
    uint64_t situation; /* state of the machine in which the values below were measured */
    int device;         /* under trial, -1: none */
    int held;           /* device measured to be faster than the models' choice, -1: none */
    int n, n_absurd;    /* runs that count; absurdly slow runs */
    double us[QN_TRIAL_RUNS], against_us;
    double seen_us[QN_MAX_DEVICES]; /* time of a run; 0: unknown */
    int next_at[QN_MAX_DEVICES], pause[QN_MAX_DEVICES];
} qn_trials;

struct qn_graph_route {
    qn_arena tables; /* memory of everything below, including chains */
    qn_route_mode mode;
    int n_open;  /* stages the router may place */
    int is_idle; /* 1: nothing to decide, count or explain */
    qn_chain *chains;
    int n_chains;
    /* per stage */
    qn_route_op **ops; /* NULL for host stages */
    double *sizes;
    qn_cost *costs;
    int *forced; /* device, -1: open */
    qn_why *why;
    uint8_t *wanting;  /* 1: too little is known about it on its current device */
    uint8_t *marked;   /* to be timed in this run */
    double *actual_us; /* time in the last run, NaN: not timed */
    double *predicted; /* explanations: n_stages * QN_MAX_DEVICES, NaN: no candidate */
    /* per buffer */
    uint64_t *version, *d2h_base;
    uint16_t *stable, *n_readers; /* checks without a change; chains that read it */
    uint8_t *was_there;           /* 1: tried_on had a copy before the trial */
    /* decisions */
    uint64_t key;
    int age, next_probe, has_choice;
    uint64_t first_seq; /* of decisions that are not explained yet, 0: none */
    /* runs */
    double start_us;
    int is_running, is_overlapped, n_runs;
    uint64_t device_runs;
    double recent_us[8], usual_us; /* times of the last undisturbed runs; their median */
    int n_recent, next_recent;
    qn_trials trials;
    int n_light, n_lighter;    /* runs since the router's last check; runs until its next one */
    uint64_t light_generation; /* the router's state to which these counts belong */
    double check_us;           /* time of one check */
    double decide_us;          /* the router's time before this run */
    int n_wanting, n_marked, wants_sample, runs_since_sample;
    qn_route_op *spender;   /* op whose budget pays for measurements in this run */
    double probe_us;        /* expected time of this run's probe, 0: there is none */
    int probed;             /* the device of this run's probe, -1: none */
    int tried_on;           /* device with copies made by a probe or a trial, -1: none */
    unsigned hopeless;      /* devices on which a probe made a whole run over 3 times slower */
    double own_us, lost_us; /* time of all runs; time lost to probes, samples and trials */
    uint64_t n_experiments; /* runs with one of these */
    int n_drifts, drift_at, drift_pause; /* unusual runs in a row; when to react again; pause */
};

/* Chooses the device of every stage while a graph is compiled. */
void qn_route_graph(qn_graph *graph);
void qn_route_free(qn_graph *graph);

/* Call before a run (decides again if something has changed, and chooses stages to time), after its
 * submission, and after waiting for it. */
void qn_route_begin(qn_graph *graph);
void qn_route_end(qn_graph *graph);
void qn_route_waited(qn_graph *graph);

/* A stage was timed, or it failed. */
void qn_route_timed(qn_graph *graph, int stage, int device, double us);
void qn_route_failed(qn_graph *graph, int stage, int device, qn_status status);

/* stage.c. */

/* Records the cost of every candidate, and writes the rows of the last run. */
void qn_route_predict(qn_graph *graph);
void qn_route_explain(qn_graph *graph);

/* run.c. */

/* The first decision, when the graph is compiled. */
void qn_route_decide(qn_graph *graph);
/* Counts the runs since the last check. */
void qn_route_note_light(qn_graph *graph);
/* Assigns the stages of a chain to the devices in `device`. */
void qn_chain_place(qn_graph *graph, const qn_chain *chain, const int *device, qn_why why);

/* probe.c. */

/* Moves one chain for a probe if one is due. The second call ends it: the run took `us` instead of
 * `usual`. */
void qn_probe_begin(qn_graph *graph);
void qn_probe_end(qn_graph *graph, double us, double usual);

/* Mark the stages to be timed in this run; clear the marks. */
void qn_samples_choose(qn_graph *graph);
void qn_samples_forget(qn_graph *graph);

/* Call before and after trying something on the device. The second call drops copies that the trial
 * made. */
void qn_tried_note(qn_graph *graph, int device);
void qn_tried_drop(qn_graph *graph);

/* Whether measuring may cost that much more, within 0.5 % of the graph's own time. The second call
 * records the cost. */
int qn_route_can_lose(const struct qn_graph_route *route, double us);
void qn_route_lose(struct qn_graph_route *route, double us);

/* trial.c. */

void qn_trials_reset(qn_trials *trials);

/* The device that runs all open stages of this run on trial, or -1. */
int qn_trial_begin(qn_graph *graph, unsigned alive);
/* A run of a trial has ended. */
void qn_trial_end(qn_graph *graph, double us);
/* Call when the usual time of runs has changed, so that earlier results may be out of date. */
void qn_trial_doubt(struct qn_graph_route *route, int is_slower);

/* chain.c. */

/* Cuts the graph's stages into graph->route->chains. */
qn_status qn_chains_make(qn_graph *graph);

/* Number of runs over which an upload's cost is spread: a buffer that is read often and never
 * written is uploaded once. A power of two. */
int qn_chain_spread(const struct qn_graph_route *route, const qn_buf *root, int b);

/* Computes a chain's costs and view from current knowledge and residency. */
void qn_chain_price(qn_graph *graph, qn_chain *chain, unsigned alive);

/* Places an open chain on the cheapest path, unless the current placement is as good. Returns
 * whether the placement changed. */
int qn_chain_settle(qn_chain *chain);

/* Puts all free stages of the chain on `device`, into `out`. */
void qn_chain_uniform(const qn_chain *chain, int device, int *out);

#endif

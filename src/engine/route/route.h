/* route.h - what the router knows, and how one decision is made of it.
 *
 * Private to engine/. Per op and device there is a time model (model.h); per device a link, a
 * speed for what was never measured, and how busy it is. Graphs use this through place/, which
 * prices the choices for each chain of stages; work that is no stage through choose.c.
 */
#ifndef QN_ENGINE_ROUTE_H
#define QN_ENGINE_ROUTE_H

#include "engine/device/context.h"
#include "engine/route/model.h"
#include "engine/ops/registry.h"
#include "engine/route/route_path.h"

typedef struct qn_explain qn_explain;

/* One op in the eyes of the router. */
struct qn_route_op {
    char name[96];
    qn_model models[QN_MAX_DEVICES];
    uint64_t decisions, probes;
    double total_us;                     /* of all decisions, predicted */
    double spent_us, tried_us;           /* lost by probes and samples; by trials */
    uint64_t sampled_at[QN_MAX_DEVICES]; /* `decisions` when the device was last measured */
    uint64_t marked_at[QN_MAX_DEVICES];  /* the same when a sample was last asked for */
    unsigned warm;                       /* devices whose first run, which is slow, is over */
    unsigned refused;                    /* devices that cannot run it */
    qn_i64 crossover[QN_MAX_DEVICES][2]; /* by qn_residency; 0 none, -1 not known */
    double in_bytes, out_bytes;          /* per item of the last use, for cold thresholds */
    qn_line prior[QN_MAX_DEVICES];       /* estimate of the last use */
    qn_metric *counted[QN_MAX_DEVICES][QN_N_WHY];
};

struct qn_router {
    qn_map ops; /* name -> qn_route_op */
    qn_speed speeds[QN_MAX_DEVICES];
    qn_link links[QN_MAX_DEVICES];
    unsigned has_link;                  /* devices whose link was measured */
    qn_model copies[QN_MAX_DEVICES][2]; /* of the others: copies up and down, by bytes */
    unsigned has_profile;               /* devices whose profile was read or made */
    int is_loaded, is_informed;         /* profiles were looked for; the quick scan is done */
    char updated[QN_MAX_DEVICES][24];   /* when the profile was written */
    double busy_level[QN_MAX_DEVICES], busy_at_us[QN_MAX_DEVICES];
    double free_at_us[QN_MAX_DEVICES]; /* when what was submitted will be done */
    uint64_t generation;               /* rises with what is not in a model: links, busy, mode */
    uint64_t seq;                      /* decisions so far */
    uint64_t n_priced;                 /* chains that were priced again */
    qn_explain *explain;
    struct {
        double us[128];
        uint8_t is_device[128];
        int next, n;
        double sum_us[2];
        int count[2];
    } recent;
    qn_metric *probed, *mispredict, *recent_batches[2], *recent_us[2];
};

qn_status qn_router_open(qn_ctx *ctx, qn_err *err);
void qn_router_close(qn_ctx *ctx);

/* Reads profiles, or scans quickly for want of them, once. */
void qn_router_inform(qn_ctx *ctx);

/* A measured copy, for links that were not calibrated. */
int qn_router_wants_copy(const qn_ctx *ctx, int device, int is_upload);
void qn_router_copied(qn_ctx *ctx, int device, int is_upload, double bytes, double us);

/* Factor on the times of a device that was busy lately; 1 for others. */
double qn_router_busy(const qn_ctx *ctx, int device);

/* Candidates that can take work now. */
unsigned qn_router_alive(qn_ctx *ctx);

/* The estimate for an op with this cost at this size. */
qn_line qn_router_prior(const qn_ctx *ctx, int device, const qn_cost *cost, double size);

/* A finished graph run, for the recent_* gauges. */
void qn_router_note_run(qn_ctx *ctx, int is_device, double us);
void qn_router_count(qn_ctx *ctx, qn_route_op *op, int device, qn_why why, double n);

/* One decision. */

/* Costs of a choice among devices. */
typedef struct qn_route_view {
    unsigned devices;
    double cost_us[QN_MAX_DEVICES], hope_us[QN_MAX_DEVICES]; /* model.h: predict and hope */
    double prior_us[QN_MAX_DEVICES];                         /* by the speed of the device alone */
    int support[QN_MAX_DEVICES];
} qn_route_view;

/* The cheapest device; the present one (-1: none) unless the gain is above 10 %. */
int qn_route_settle(const qn_route_view *view, int present, qn_why *why);
int qn_route_is_gain(double present_us, double best_us);

/* A device worth measuring instead of what costs `chosen_us` and uses the devices `in_use`, or -1.
 * `n` decisions of the op would be the probe. */
int qn_route_probe(const qn_route_op *op, const qn_route_view *view, double chosen_us,
                   unsigned in_use, int n);

/* Whether the op was not measured on the device for so long that what is known may be over. */
int qn_route_is_stale(const qn_route_op *op, int device);

/* Cost of a device if old measurements were bad luck: at most twice the estimate from its
 * speed. */
double qn_route_doubtful_us(const qn_route_view *view, int device);

/* Whether `n` more probes of the op are within one decision in twenty. */
int qn_route_may_probe(const qn_route_op *op, int n);

/* Counts `n` decisions that are predicted to take `us`, and that `n` of them were a probe. */
void qn_route_note_decisions(qn_route_op *op, int n, double us);
void qn_route_note_probe(qn_route_op *op, int n);

/* Counts time lost by probes and samples; whether more may be lost, which is 0.5 % of the total. */
int qn_route_can_spend(const qn_route_op *op);

#endif

/* route.h - the router's knowledge, and how one decision follows from it.
 *
 * Private to engine/. There is a time model per op and device (model.h), and per device a link, a
 * speed for ops that were never measured, and its load. Graphs use this through place/, which
 * computes the costs for each chain of stages; other work uses choose.c.
 */
#ifndef QN_ENGINE_ROUTE_H
#define QN_ENGINE_ROUTE_H

#include "engine/device/context.h"
#include "engine/route/model.h"
#include "engine/ops/registry.h"
#include "engine/route/route_path.h"

typedef struct qn_explain qn_explain;

/* What the router knows of one op. */
struct qn_route_op {
    char name[96];
    qn_model models[QN_MAX_DEVICES];
    uint64_t decisions, probes;
    double total_us;                     /* of all decisions, predicted */
    double spent_us, tried_us;           /* time lost to probes and samples; to trials */
    uint64_t sampled_at[QN_MAX_DEVICES]; /* `decisions` when the device was last measured */
    uint64_t marked_at[QN_MAX_DEVICES];  /* `decisions` when a sample was last requested */
    unsigned warm;                       /* devices that have made their first run, which is slow */
    unsigned refused;                    /* devices that cannot run it */
    qn_i64 crossover[QN_MAX_DEVICES][2]; /* by qn_residency; 0: none, -1: unknown */
    double in_bytes, out_bytes;          /* per item of the last use, for cold thresholds */
    qn_line prior[QN_MAX_DEVICES];       /* estimate of the last use */
    qn_metric *counted[QN_MAX_DEVICES][QN_N_WHY];
};

struct qn_router {
    qn_map ops; /* name -> qn_route_op */
    qn_speed speeds[QN_MAX_DEVICES];
    qn_link links[QN_MAX_DEVICES];
    unsigned has_link;                  /* devices whose link was measured */
    qn_model copies[QN_MAX_DEVICES][2]; /* for the other devices: uploads and downloads, by bytes */
    unsigned has_profile;               /* devices whose profile was read or made */
    int is_loaded, is_informed;         /* profiles were loaded; the quick scan was done */
    char updated[QN_MAX_DEVICES][24];   /* when the profile was written */
    double busy_level[QN_MAX_DEVICES], busy_at_us[QN_MAX_DEVICES];
    double free_at_us[QN_MAX_DEVICES]; /* when the submitted work will be done */
    uint64_t generation;               /* increases when links, load or mode change */
    uint64_t seq;                      /* decisions so far */
    uint64_t n_priced;                 /* chains whose price was computed again */
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

/* Reads profiles once, or makes a quick scan if there are none. */
void qn_router_inform(qn_ctx *ctx);

/* Measured copies, for links that were not calibrated. */
int qn_router_wants_copy(const qn_ctx *ctx, int device, int is_upload);
void qn_router_copied(qn_ctx *ctx, int device, int is_upload, double bytes, double us);

/* Factor on the times of a device that was busy recently; 1 for others. */
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

/* The cheapest device, but the current one (-1: none) unless the gain is above 10 %. */
int qn_route_settle(const qn_route_view *view, int present, qn_why *why);
int qn_route_is_gain(double present_us, double best_us);

/* A device worth measuring instead of the choice, which costs `chosen_us` and uses the devices
 * `in_use`; or -1. A probe counts as `n` decisions of the op. */
int qn_route_probe(const qn_route_op *op, const qn_route_view *view, double chosen_us,
                   unsigned in_use, int n);

/* Whether the last measurement of the op on the device is so old that it may no longer hold. */
int qn_route_is_stale(const qn_route_op *op, int device);

/* Cost of a device if old measurements were just bad luck: at most twice the estimate from its
 * speed. */
double qn_route_doubtful_us(const qn_route_view *view, int device);

/* Whether `n` more probes of the op are within one decision in twenty. */
int qn_route_may_probe(const qn_route_op *op, int n);

/* Count `n` decisions with a predicted time of `us`; count `n` decisions as a probe. */
void qn_route_note_decisions(qn_route_op *op, int n, double us);
void qn_route_note_probe(qn_route_op *op, int n);

/* Counts time lost to probes and samples. The second call says whether more may be lost, within 0.5
 * % of the total. */
int qn_route_can_spend(const qn_route_op *op);

/* explain.c: every routing decision as rows of a CSV file:
 *
 * seq,stage,op,size,candidate,predicted_us,chosen,actual_us,reason: one row per candidate of a
 * decision. `chosen` is 1 in the row of the chosen device; actual_us is given if the stage was
 * timed. The file is written when the context closes. */

qn_status qn_explain_open(const char *path, qn_explain **out, qn_err *err);
void qn_explain_put(qn_explain *explain, const qn_explain_row *row);
qn_status qn_explain_close(qn_explain *explain, qn_err *err);

/* profile.c: measurements of a device, kept on disk.
 *
 * One JSON file per device identity (name, architecture, driver, host CPU, threads) in the folder
 * `profile` of the cache. A file that is damaged, or of another format or identity, is ignored with
 * one line at info level; it never makes a run fail. Only calibrations write profiles; times
 * learned during runs may have been disturbed and stay in memory. QUERN_PROFILE=0: no profile is
 * read or written, and there is no quick scan. */

/* Writes the router's knowledge of a device. qn_profile_save logs a failure instead of returning
 * it. */
qn_status qn_profile_write(qn_ctx *ctx, int device, qn_err *err);
void qn_profile_save(qn_ctx *ctx, int device);

/* calibrate.c and threshold.c. */

/* The quick scan of candidates without a profile, at most two seconds in all. Its results become
 * their profile. Simulated devices and CPU devices of other backends are left to qn_calibrate: the
 * former have no permanent identity, the latter compile for seconds and are the same hardware as
 * cpu:0. Failures are logged at info level, and the estimates remain in use. */
void qn_calibrate_missing(qn_ctx *ctx);

/* Sets gpu_threshold for every op and device with known times. */
void qn_thresholds_publish(qn_ctx *ctx);

#endif

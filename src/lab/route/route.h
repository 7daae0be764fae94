/* route.h - compares the router's choices with the best choices in hindsight, and measures the
 * times on every device that this needs. */
#ifndef QN_LAB_ROUTE_ROUTE_H
#define QN_LAB_ROUTE_ROUTE_H

#include "engine/engine.h"

#include <quern/route.h>

#include <stddef.h>
#include <stdint.h>

/* Traces (regret.c). */

enum { QN_REGRET_DEVICES = 16 };

/* One decision of a trace, measured on every device. */
typedef struct qn_trial {
    const char *op;
    qn_i64 size;
    double us[QN_REGRET_DEVICES]; /* device 0 is the CPU; NaN: cannot run there */
    qn_i64 threshold;             /* of the static policy; 0: never leave the CPU */
} qn_trial;

typedef enum {
    QN_POLICY_AUTO,
    QN_POLICY_CPU,
    QN_POLICY_GPU,
    QN_POLICY_STATIC,
    QN_N_POLICIES
} qn_policy;

/* Regret = time of a policy / sum of the best times - 1. */
typedef struct qn_regret {
    double best_us;
    double us[QN_N_POLICIES];
    double regret[QN_N_POLICIES];
    int probes;                       /* of the auto policy */
    int decisions[QN_REGRET_DEVICES]; /* of the auto policy, by device */
} qn_regret;

/* A router without knowledge decides the trace, one decision after the other, and learns only from
 * the times of the devices it chose. The first `skip` decisions train it but are not counted.
 * `chosen` receives the device of every decision; may be NULL. */
qn_status qn_route_regret(const qn_trial *trace, int n, int n_devices, int skip, qn_regret *out,
                          int *chosen, qn_err *err);

/* Estimates of the difference in time between two ways of running (eval_batch.c).
 *
 * The two ways alternate within each round, so disturbances affect both, and their difference in a
 * round is more precise than either time. Disturbances are not symmetric: about one run in several
 * thousand is interrupted for milliseconds, which would dominate a mean of microseconds. So a fifth
 * of the differences of ordinary rounds is left out at either end (a trimmed mean, with the
 * standard error from the winsorised variance). Rounds in which a way does something rare on
 * purpose, such as a router that explores another device, would be left out too. They form a
 * separate stratum, in which each counts in full; the strata are weighted by their number of
 * rounds.
 */

typedef struct qn_estimate {
    double us;
    double se_us; /* standard error; NaN if there are fewer than two rounds */
} qn_estimate;

/* The trimmed mean of n values, which are reordered. */
qn_estimate qn_trimmed_mean(double *values, size_t n);

/* The time of `way` less that of `other`, over n rounds. `is_special[i]` marks rounds that count in
 * full; NULL if there are none. `scratch` holds n values. */
qn_estimate qn_paired_difference(const double *way_us, const double *other_us,
                                 const uint8_t *is_special, size_t n, double *scratch);

/* Measurements (eval_batch.c). */

/* Measures one use of an op at a size (in work items) on every device of the context, inputs and
 * results on the host. NaN where it cannot run; the CPU always can. */
qn_status qn_eval_op(qn_ctx *ctx, const char *op, qn_i64 size, int n_samples,
                     double us[QN_REGRET_DEVICES], qn_err *err);

/* A batch of vadd tasks of these sizes, as one graph, run repeatedly under each policy and on each
 * device. Each round takes them in a new random order, all in the same host memory, so that the
 * location of the data favours none; every run has new inputs and returns its results to the host.
 * A slice is a tenth of a millisecond of runs, or one longer run. Outputs are compared with the
 * sums of the inputs. */
typedef struct qn_batch_plan {
    const qn_i64 *sizes;
    int n_tasks;
    int n_warm_up, n_rounds; /* at most */
    double max_seconds;      /* for either; five times as long until there are enough rounds */
    uint64_t seed;
} qn_batch_plan;

/* Mean time of a run. Differences are between slices of the same round; slices in which the
 * router measured or explored count in full. */
typedef struct qn_batch_times {
    double best_us;                     /* on the device that is best if always chosen */
    qn_estimate more_us[QN_N_POLICIES]; /* more than best_us */
    qn_estimate again_us;               /* the CPU a second time, less the first: pure noise */
    double cpu_us;
    int n_rounds, n_special; /* rounds; those in which the router measured or explored */
} qn_batch_times;

qn_status qn_eval_batch(qn_ctx *ctx, const qn_batch_plan *plan, qn_batch_times *out, qn_err *err);

#endif

/* route_eval.h - times on every device, to hold the router's choices against. */
#ifndef QN_ENGINE_ROUTE_EVAL_H
#define QN_ENGINE_ROUTE_EVAL_H

#include "engine/context.h"

/* Measures one use of an op at a size (in work items) on every device of the context, inputs and
 * results on the host. NaN where it cannot run; the CPU always can. */
qn_status qn_eval_op(qn_ctx *ctx, const char *op, qn_i64 size, int n_samples,
                     double us[QN_REGRET_DEVICES], qn_err *err);

/* A batch of vadd tasks of these sizes, one graph, run again and again under each policy and on
 * each device, all in turn; every round has new inputs and its results on the host. Outputs are
 * compared with the sums of the inputs. */
typedef struct qn_batch_plan {
    const qn_i64 *sizes;
    int n_tasks;
    int n_warm_up, n_rounds; /* at most */
    double max_seconds;      /* for either; five times as long while there are few rounds */
    uint64_t seed;
} qn_batch_plan;

/* Mean time of a run. A run that took more than four times as long as those on the slowest device
 * usually do was stopped by the machine, not by a choice: such runs are set aside and counted. */
typedef struct qn_batch_times {
    double policy_us[QN_N_POLICIES];
    double device_us[QN_REGRET_DEVICES]; /* NaN: not a candidate */
    int n_rounds, n_aside;
} qn_batch_times;

qn_status qn_eval_batch(qn_ctx *ctx, const qn_batch_plan *plan, qn_batch_times *out, qn_err *err);

#endif

/* route_eval.h - times on every device, for comparison with the choices of the router. */
#ifndef QN_LAB_ROUTE_ROUTE_EVAL_H
#define QN_LAB_ROUTE_ROUTE_EVAL_H

#include "engine/engine.h"
#include "lab/route/eval_estimate.h"
#include "lab/route/regret.h"

/* Measures one use of an op at a size (in work items) on every device of the context, inputs and
 * results on the host. NaN where it cannot run; the CPU always can. */
qn_status qn_eval_op(qn_ctx *ctx, const char *op, qn_i64 size, int n_samples,
                     double us[QN_REGRET_DEVICES], qn_err *err);

/* A batch of vadd tasks of these sizes, one graph, run again and again under each policy and on
 * each device. They alternate in a new random order for each round, all in the same host memory, so
 * that the location of the data favours none; every run has new inputs and its results on the host.
 * A slice is a tenth of a millisecond of runs or one longer run. Outputs are compared with the
 * sums of the inputs. */
typedef struct qn_batch_plan {
    const qn_i64 *sizes;
    int n_tasks;
    int n_warm_up, n_rounds; /* at most */
    double max_seconds;      /* for either; five times as long while there are few rounds */
    uint64_t seed;
} qn_batch_plan;

/* Mean time of a run. Differences are between slices of the same round (eval_estimate.h); slices in
 * which the router measured or explored count in full. */
typedef struct qn_batch_times {
    double best_us;                     /* on the device that is best when it is always chosen */
    qn_estimate more_us[QN_N_POLICIES]; /* than that */
    qn_estimate again_us;               /* the CPU a second time, less the first: noise alone */
    double cpu_us;
    int n_rounds, n_special; /* rounds; those in which the router measured or explored */
} qn_batch_times;

qn_status qn_eval_batch(qn_ctx *ctx, const qn_batch_plan *plan, qn_batch_times *out, qn_err *err);

#endif

/* bench_impl.h - shared by the verbs. Private to this folder. */
#ifndef QN_LAB_ENGINE_BENCH_IMPL_H
#define QN_LAB_ENGINE_BENCH_IMPL_H

#include "lab/owned.h"
#include "lab/timing.h"
#include "lab/engine/bench.h"
#include "engine/engine.h"
#include "util/clock.h"

/* Where a verb measures. */
typedef struct qn_bench_run {
    const qn_bench_options *options;
    qn_bench *bench;
    qn_ctx *ctx;
    qn_progress *progress;
} qn_bench_run;

/* Opens a context, notes machine and date in `bench`, and calls `fn` for each device that the run
 * measures; each call of `fn` adds `n` of `what` to the progress. */
qn_status qn_bench_each(const qn_bench_options *options, qn_bench *bench, const char *what,
                        double n,
                        qn_status (*fn)(const qn_bench_run *run, int d, void *user, qn_err *err),
                        void *user, qn_err *err);

/* Part of `ops`, for qn_bench_each: the gain by priority on a device (bench_sweep.c). */
qn_status qn_bench_sweep(const qn_bench_run *run, int d, void *user, qn_err *err);

#endif

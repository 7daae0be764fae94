/* bench.h - the gain of each mechanism of a batch. */
#ifndef QN_LAB_TASKS_BENCH_H
#define QN_LAB_TASKS_BENCH_H

#include <quern/tasks.h>

#include "lab/tasks/scenario.h"
#include "util/stats.h"
#include "util/status.h"

typedef enum {
    QN_BENCH_PASS,    /* one submission for the batch, or one per task */
    QN_BENCH_PLANS,   /* the same batch again, with its plan cached or not */
    QN_BENCH_BUCKETS, /* new sizes in the same buckets, with plans of buckets or without */
    QN_BENCH_POOLS,   /* every batch planned, with pools or without */
    QN_BENCH_MECHANISMS
} qn_bench_mechanism;

const char *qn_bench_name(qn_bench_mechanism mechanism);

/* Microseconds per batch from host to host, with planning, without generating inputs. */
typedef struct qn_bench_result {
    qn_bench_mechanism mechanism;
    char device[24];
    qn_stats on, off;
    double gain;      /* median without the mechanism per median with it */
    double waste_pct; /* share of the buckets that the sizes do not fill */
} qn_bench_result;

typedef struct qn_bench_options {
    const char *op, *arg;
    int samples;
    unsigned only; /* one bit per mechanism to measure; 0: all of them */
    uint64_t seed;
    qn_tasks_options tasks;
} qn_bench_options;

/* Fills results[QN_BENCH_MECHANISMS], with zeros where not measured. The last batch of each series
 * is verified. */
qn_status qn_tasks_bench(qn_ctx *ctx, const qn_scenario *scenario, const qn_bench_options *options,
                         qn_bench_result *results, qn_err *err);

#endif

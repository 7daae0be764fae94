/* bench.h - the seven batches of all measurements of tasks, the gain of each mechanism of a
 * batch, and the reference case of the pipeline. */
#ifndef QN_LAB_TASKS_BENCH_H
#define QN_LAB_TASKS_BENCH_H

#include "lab/timing.h"

#include <quern/pipe.h>
#include <quern/tasks.h>

/* Scenarios. */

enum { QN_SCENARIO_TASKS = 8 };

typedef struct qn_scenario {
    const char *name;
    int n_tasks;
    qn_i64 sizes[QN_SCENARIO_TASKS];
} qn_scenario;

int qn_scenario_count(void);
const qn_scenario *qn_scenario_at(int i);

/* By name, ignoring case; NULL if unknown. */
const qn_scenario *qn_scenario_find(const char *name);

/* Its tasks, numbered from 1, each with a seed of its own; `arg` as in qn_task. */
void qn_scenario_tasks(const qn_scenario *scenario, const char *op, const char *arg, uint64_t seed,
                       qn_task out[QN_SCENARIO_TASKS]);

/* Mechanisms. */

typedef enum {
    QN_BENCH_PASS,    /* one submission for the batch, or one per task */
    QN_BENCH_PLANS,   /* the same batch again, with its plan cached or not */
    QN_BENCH_BUCKETS, /* new sizes in the same buckets, with plans of buckets or without */
    QN_BENCH_POOLS,   /* every batch planned, with pools or without */
    QN_BENCH_MECHANISMS
} qn_mechanism;

/* Microseconds per batch from host to host, with planning, without generating inputs. */
typedef struct qn_tasks_gain {
    const char *scenario, *mechanism; /* their names */
    int n_tasks;
    char device[24];
    qn_stats on, off;
    double gain;      /* median without the mechanism / median with it */
    double waste_pct; /* percentage of the buckets not filled by the sizes */
} qn_tasks_gain;

typedef struct qn_tasks_bench_options {
    const char *op, *arg;
    int samples;
    unsigned only; /* one bit per mechanism to measure; 0: all of them */
    uint64_t seed;
    qn_tasks_options tasks;
} qn_tasks_bench_options;

/* Fills results[QN_BENCH_MECHANISMS], with zeros if not measured. The last batch of each series is
 * verified. */
qn_status qn_tasks_bench(qn_ctx *ctx, const qn_scenario *scenario,
                         const qn_tasks_bench_options *options, qn_tasks_gain *results,
                         qn_err *err);

/* Many batches of vadd through one graph. */

typedef struct qn_pipe_case {
    int n_tasks, rounds;
    qn_i64 elems; /* of each task */
    uint64_t seed;
} qn_pipe_case;

typedef struct qn_pipe_result {
    int depth;
    qn_stats wall_us;     /* of a round: all tasks, over the rounds */
    qn_pipe_stats phases; /* per round; no overlap if there are no copies */
    uint64_t checksum;    /* FNV-1a of all results in order */
} qn_pipe_result;

/* False for devices that use host memory: nothing can overlap there. */
static inline int qn_pipe_has_copies(const qn_pipe_stats *phases)
{
    return phases->h2d_us + phases->d2h_us > 0;
}

/* One round to warm up, then the measured ones. Every result of the last is compared with a plain
 * computation: QN_ERR_MISMATCH. */
qn_status qn_pipe_case_run(qn_ctx *ctx, const qn_pipe_case *what, int depth, qn_pipe_result *out,
                           qn_err *err);

#endif

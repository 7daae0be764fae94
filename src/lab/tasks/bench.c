/* bench.c - a scenario with and without each mechanism.
 *
 * Inputs count as new before every batch, so uploads are part of every sample. Pools are switched
 * off for whole series, not batch by batch: memory that one batch leaves in a pool would serve the
 * next.
 */
#include "bench.h"

#include "engine/engine.h"
#include "util/hash.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Scenarios that tell one mechanism from another: all sizes alike, different within one bucket, in
 * two buckets, in four, and large sizes. */
static const qn_scenario scenarios[] = {
    { "Uniform-32k", 4, { 32000, 32000, 32000, 32000 } },
    { "Uniform-64k", 4, { 64000, 64000, 64000, 64000 } },
    { "Mixed-Same-Bucket", 4, { 20000, 25000, 30000, 28000 } },
    { "Mixed-Adjacent-Buckets", 4, { 20000, 40000, 20000, 40000 } },
    { "Mixed-Diverse", 4, { 10000, 50000, 100000, 200000 } },
    { "Large-Uniform", 8, { 500000, 500000, 500000, 500000, 500000, 500000, 500000, 500000 } },
    { "Large-Mixed", 6, { 256000, 512000, 256000, 512000, 256000, 512000 } },
};

int qn_scenario_count(void)
{
    return sizeof scenarios / sizeof *scenarios;
}

const qn_scenario *qn_scenario_at(int i)
{
    return &scenarios[i];
}

const qn_scenario *qn_scenario_find(const char *name)
{
    for (int i = 0; i < qn_scenario_count(); i++)
        if (!strcasecmp(scenarios[i].name, name))
            return &scenarios[i];
    return NULL;
}

void qn_scenario_tasks(const qn_scenario *scenario, const char *op, const char *arg, uint64_t seed,
                       qn_task out[QN_SCENARIO_TASKS])
{
    for (int i = 0; i < scenario->n_tasks; i++)
        out[i] = (qn_task){ .id = i + 1,
                            .op = op,
                            .n = scenario->sizes[i],
                            .seed = seed + 10 * (uint64_t)i,
                            .arg = arg };
}

/* Mechanisms. */

/* Before samples: kernels are compiled, runs recorded, planning variants tried. */
enum { WARM_UP = 12 };

static const char *const names[] = { [QN_BENCH_PASS] = "single pass",
                                     [QN_BENCH_PLANS] = "plan cache",
                                     [QN_BENCH_BUCKETS] = "bucket cache",
                                     [QN_BENCH_POOLS] = "pools" };

typedef struct {
    qn_ctx *ctx;
    const qn_scenario *scenario;
    const qn_tasks_bench_options *options;
    qn_mechanism mechanism;
    int is_on;
    qn_tasks *tasks;
    qn_task list[QN_SCENARIO_TASKS];
    qn_task_result results[QN_SCENARIO_TASKS]; /* of the first batch */
    int n_done;                                /* samples */
} series;

/* Sizes anywhere in the buckets of the scenario, different for every sample. */
static void vary_sizes(series *s)
{
    for (int i = 0; i < s->scenario->n_tasks; i++) {
        const uint64_t half = s->results[i].bucket / 2;
        const uint64_t number = (uint64_t)s->n_done * QN_SCENARIO_TASKS + (uint64_t)i;

        s->list[i].n = (qn_i64)(half + 1 + qn_random_u64(s->options->seed, number) % half);
    }
}

/* One batch, all at once or task by task. */
static qn_status run_sample(void *user, double *us, qn_err *err)
{
    series *s = user;
    const int n = s->scenario->n_tasks;
    const int step = s->mechanism == QN_BENCH_PASS && !s->is_on ? 1 : n;
    qn_status st = QN_OK;

    if (s->mechanism == QN_BENCH_BUCKETS)
        vary_sizes(s);
    s->n_done++;
    *us = 0;
    for (int i = 0; i < n; i += step) {
        qn_tasks_stats stats;

        QN_TRY(qn_tasks_touch(s->tasks, err));
        QN_TRY(qn_tasks_run(s->tasks, s->list + i, step, err));
        stats = qn_tasks_get_stats(s->tasks);
        *us += stats.plan_us + stats.wall_us;
    }
out:
    return st;
}

static void set_pools(qn_ctx *ctx, int disabled)
{
    qn_pool_set_disabled(qn_ctx_host_pool(ctx), disabled);
    for (int d = 0; d < qn_device_count(ctx); d++)
        if (qn_device_pool(ctx, d))
            qn_pool_set_disabled(qn_device_pool(ctx, d), disabled);
}

static qn_tasks_options options_of(const series *s)
{
    qn_tasks_options options = s->options->tasks;

    options.no_plan_cache =
        s->mechanism == QN_BENCH_POOLS || (s->mechanism == QN_BENCH_PLANS && !s->is_on);
    options.no_bucket_cache = s->mechanism != QN_BENCH_BUCKETS || !s->is_on;
    return options;
}

/* Only a run knows the buckets of the scenario, so one precedes the samples. */
static qn_status run_series(series *s, int is_on, qn_stats *out, qn_err *err)
{
    const int n = s->scenario->n_tasks;
    qn_tasks_options options;
    qn_timing timing;
    qn_status st = QN_OK;

    s->is_on = is_on;
    s->n_done = 0;
    options = options_of(s);
    qn_scenario_tasks(s->scenario, s->options->op, s->options->arg, s->options->seed, s->list);
    set_pools(s->ctx, s->mechanism == QN_BENCH_POOLS && !is_on);
    QN_TRY(qn_tasks_new(s->ctx, &options, &s->tasks, err));
    QN_TRY(qn_tasks_run(s->tasks, s->list, n, err));
    memcpy(s->results, qn_tasks_results(s->tasks), (size_t)n * sizeof *s->results);
    QN_TRY(qn_time(WARM_UP - 1, s->options->samples, run_sample, s, &timing, err));
    QN_TRY(qn_tasks_verify(s->tasks, err));
    *out = timing.samples;
out:
    qn_tasks_free(s->tasks);
    s->tasks = NULL;
    set_pools(s->ctx, 0);
    return st;
}

static double waste_of(const qn_scenario *scenario, const qn_task_result *results)
{
    double room = 0, used = 0;

    for (int i = 0; i < scenario->n_tasks; i++) {
        room += (double)results[i].bucket;
        used += (double)scenario->sizes[i];
    }
    return used < room ? 100 * (1 - used / room) : 0;
}

qn_status qn_tasks_bench(qn_ctx *ctx, const qn_scenario *scenario,
                         const qn_tasks_bench_options *options, qn_tasks_gain *results, qn_err *err)
{
    qn_status st = QN_OK;

    for (int m = 0; m < QN_BENCH_MECHANISMS; m++) {
        series s = { ctx, scenario, options, .mechanism = (qn_mechanism)m };
        qn_tasks_gain *r = &results[m];

        *r = (qn_tasks_gain){ .scenario = scenario->name, .mechanism = names[m] };
        if (options->only && !(options->only >> m & 1))
            continue;
        QN_TRY(run_series(&s, 1, &r->on, err));
        QN_TRY(run_series(&s, 0, &r->off, err));
        r->n_tasks = scenario->n_tasks;
        r->gain = r->on.median > 0 ? r->off.median / r->on.median : 0;
        r->waste_pct = waste_of(scenario, s.results);
        snprintf(r->device, sizeof r->device, "%s", s.results[0].device);
    }
out:
    return st;
}

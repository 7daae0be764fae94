/* bench.c - a scenario with and without each mechanism.
 *
 * Inputs count as new before every batch, so uploads are part of every sample. Pools are
 * switched off for whole series and not batch by batch: what one batch leaves in a pool would
 * serve the next.
 */
#include "bench.h"

#include "engine/engine.h"
#include "util/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Before samples: kernels are compiled, runs recorded, ways of planning tried. */
enum { WARM_UP = 12 };

static const char *const names[] = { [QN_BENCH_PASS] = "single pass",
                                     [QN_BENCH_PLANS] = "plan cache",
                                     [QN_BENCH_BUCKETS] = "bucket cache",
                                     [QN_BENCH_POOLS] = "pools" };

const char *qn_bench_name(qn_bench_mechanism mechanism)
{
    return names[mechanism];
}

typedef struct {
    qn_ctx *ctx;
    const qn_scenario *scenario;
    const qn_bench_options *options;
    qn_bench_mechanism mechanism;
    int is_on;
} series;

/* Sizes anywhere in the buckets of the scenario, other ones for every sample. */
static void vary_sizes(const series *s, const qn_task_result *results, int sample, qn_task *list)
{
    for (int i = 0; i < s->scenario->n_tasks; i++) {
        const uint64_t half = results[i].bucket / 2;
        const uint64_t number = (uint64_t)sample * QN_SCENARIO_TASKS + (uint64_t)i;

        list[i].n = (qn_i64)(half + 1 + qn_random_u64(s->options->seed, number) % half);
    }
}

static qn_status run_timed(qn_tasks *tasks, const qn_task *list, int n, double *us, qn_err *err)
{
    const qn_status st = qn_tasks_run(tasks, list, n, err);
    const qn_tasks_stats stats = qn_tasks_get_stats(tasks);

    *us += stats.plan_us + stats.wall_us;
    return st;
}

/* One batch, all at once or task by task. */
static qn_status run_sample(const series *s, qn_tasks *tasks, const qn_task *list, double *us,
                            qn_err *err)
{
    const int n = s->scenario->n_tasks;
    const int step = s->mechanism == QN_BENCH_PASS && !s->is_on ? 1 : n;
    qn_status st = QN_OK;

    *us = 0;
    for (int i = 0; i < n; i += step) {
        QN_TRY(qn_tasks_touch(tasks, err));
        QN_TRY(run_timed(tasks, list + i, step, us, err));
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

/* Buckets of the scenario, which only a run knows. */
static qn_status learn_buckets(qn_tasks *tasks, const qn_task *list, int n, qn_task_result *out,
                               qn_err *err)
{
    const qn_status st = qn_tasks_run(tasks, list, n, err);

    if (st == QN_OK)
        memcpy(out, qn_tasks_results(tasks), (size_t)n * sizeof *out);
    return st;
}

static qn_status run_series(const series *s, double *us, qn_task_result *results, qn_err *err)
{
    const int n = s->scenario->n_tasks;
    const qn_tasks_options options = options_of(s);
    qn_task list[QN_SCENARIO_TASKS];
    qn_tasks *tasks = NULL;
    qn_status st = QN_OK;

    qn_scenario_tasks(s->scenario, s->options->op, s->options->arg, s->options->seed, list);
    set_pools(s->ctx, s->mechanism == QN_BENCH_POOLS && !s->is_on);
    QN_TRY(qn_tasks_new(s->ctx, &options, &tasks, err));
    QN_TRY(learn_buckets(tasks, list, n, results, err));
    for (int i = -WARM_UP; i < s->options->samples; i++) {
        double one;

        if (s->mechanism == QN_BENCH_BUCKETS)
            vary_sizes(s, results, i + WARM_UP, list);
        QN_TRY(run_sample(s, tasks, list, i < 0 ? &one : &us[i], err));
    }
    QN_TRY(qn_tasks_verify(tasks, err));
out:
    qn_tasks_free(tasks);
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

qn_status qn_tasks_bench(qn_ctx *ctx, const qn_scenario *scenario, const qn_bench_options *options,
                         qn_bench_result *results, qn_err *err)
{
    double *us = calloc((size_t)options->samples, sizeof *us);
    qn_status st = QN_OK;

    if (!us)
        return qn_fail(err, QN_ERR_NOMEM, "%d samples: out of host memory", options->samples);
    for (int m = 0; m < QN_BENCH_MECHANISMS; m++) {
        series s = { ctx, scenario, options, (qn_bench_mechanism)m, 1 };
        qn_task_result runs[QN_SCENARIO_TASKS];
        qn_bench_result *r = &results[m];

        *r = (qn_bench_result){ .mechanism = s.mechanism };
        if (options->only && !(options->only >> m & 1))
            continue;
        QN_TRY(run_series(&s, us, runs, err));
        r->on = qn_stats_of(us, (size_t)options->samples);
        s.is_on = 0;
        QN_TRY(run_series(&s, us, runs, err));
        r->off = qn_stats_of(us, (size_t)options->samples);
        r->gain = r->on.median > 0 ? r->off.median / r->on.median : 0;
        r->waste_pct = waste_of(scenario, runs);
        snprintf(r->device, sizeof r->device, "%s", runs[0].device);
    }
out:
    free(us);
    return st;
}

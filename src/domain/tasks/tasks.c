/* tasks.c - runs batches.
 *
 * A repeated batch is only compared with the last one; then the graph runs and results are
 * recorded, without planning, making inputs or allocating memory.
 */
#include "domain/tasks/task.h"

#include "engine/engine.h"
#include "util/clock.h"
#include "util/list.h"
#include "util/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHUNK_ELEMS = 524288, MAX_CHUNK = 1 << 30 };

static const char *const modules[] = { "vector", "reduce", "matmul", "crypto", "merkle" };

enum { N_MODULES = sizeof modules / sizeof *modules };

/* The series gpu_<module>_* of one module. */
typedef struct {
    qn_metric *executions, *failures, *cpu_fallbacks;
    qn_metric *last_size;  /* merkle: last_tree_size, others: last_batch_size */
    qn_metric *latency_ms; /* observed; last, avg, min and max are derived from it */
} module_series;

/* Series of one bucket, made when the bucket is first used. */
typedef struct {
    qn_metric *tasks, *elems;
} bucket_series;

typedef struct {
    qn_metric *plan_hits, *plan_misses, *bucket_hits, *bucket_misses, *bucket_count;
    qn_metric *batch_size, *duration_ms, *parallel_factor;
    module_series modules[N_MODULES];
} series;

struct qn_tasks {
    qn_ctx *ctx;
    qn_tasks_options options;
    qn_task_cache *cache;
    qn_task_split *split; /* NULL: the router places every stage */
    qn_task_list list;    /* the last batch */
    qn_task_plan *plan;   /* its plan, or NULL */
    qn_task_result *results;
    size_t cap_results;
    qn_map buckets; /* "op bucket" -> bucket_series */
    qn_tasks_stats stats;
    series m;
};

/* Making. */

static module_series module_of_name(qn_metrics *metrics, const char *module)
{
    const int is_tree = strcmp(module, "merkle") == 0;
    const char *const endings[] = { "executions_total", "failures_total", "cpu_fallback_total",
                                    is_tree ? "last_tree_size" : "last_batch_size",
                                    "last_latency_ms" };
    module_series out;
    qn_metric **const members[] = { &out.executions, &out.failures, &out.cpu_fallbacks,
                                    &out.last_size, &out.latency_ms };
    char name[64];

    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        snprintf(name, sizeof name, "gpu_%s_%s", module, endings[i]);
        *members[i] = qn_metric_of(metrics, name, NULL);
    }
    return out;
}

static void find_series(qn_tasks *tasks)
{
    qn_metrics *metrics = qn_ctx_metrics(tasks->ctx);
    series *m = &tasks->m;

    m->plan_hits = qn_metric_of(metrics, "plan_hits", NULL);
    m->plan_misses = qn_metric_of(metrics, "plan_misses", NULL);
    m->bucket_hits = qn_metric_of(metrics, "bucket_hits", NULL);
    m->bucket_misses = qn_metric_of(metrics, "bucket_misses", NULL);
    m->bucket_count = qn_metric_of(metrics, "bucket_count", NULL);
    m->batch_size = qn_metric_of(metrics, "hybrid_batch_size", NULL);
    m->duration_ms = qn_metric_of(metrics, "hybrid_executor_duration_ms", NULL);
    m->parallel_factor = qn_metric_of(metrics, "hybrid_cpu_parallel_factor", NULL);
    for (int i = 0; i < N_MODULES; i++)
        m->modules[i] = module_of_name(metrics, modules[i]);
}

/* NULL if the context and the options mean one device, or leave placement to the router. */
static qn_status make_split(qn_ctx *ctx, const qn_tasks_options *options, qn_task_split **out,
                            qn_err *err)
{
    static const qn_split_mode modes[] = { [QN_TASKS_SPLIT_DYNAMIC] = QN_SPLIT_DYNAMIC,
                                           [QN_TASKS_SPLIT_EQUAL] = QN_SPLIT_EQUAL,
                                           [QN_TASKS_SPLIT_PROPORTIONAL] = QN_SPLIT_PROPORTIONAL };
    const qn_split_options split =
        QN_SPLIT_OPTIONS(.mode = modes[options->split],
                         .devices = options->devices[0] ? options->devices : NULL,
                         .depth = options->depth);

    if (options->split == QN_TASKS_SPLIT_NONE)
        return QN_OK;
    return qn_task_split_new(ctx, &split, out, err);
}

qn_status qn_tasks_new(qn_ctx *ctx, const qn_tasks_options *options, qn_tasks **out, qn_err *err)
{
    qn_tasks *tasks = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(tasks, 1, "tasks", err));
    tasks->ctx = ctx;
    QN_TRY(qn_tasks_options_take(options, &tasks->options, err));
    if (!tasks->options.bucket_min)
        tasks->options.bucket_min = (qn_i64)qn_ctx_settings(ctx)->bucket_min;
    if (!tasks->options.chunk_elems)
        tasks->options.chunk_elems = CHUNK_ELEMS;
    if (tasks->options.chunk_elems > MAX_CHUNK)
        tasks->options.chunk_elems = MAX_CHUNK;
    QN_TRY(make_split(ctx, &tasks->options, &tasks->split, err));
    tasks->options.devices = NULL; /* belongs to the caller */
    QN_TRY(qn_task_cache_new(ctx, &tasks->options, qn_task_split_shares(tasks->split),
                             &tasks->cache, err));
    find_series(tasks);
    *out = tasks;
    tasks = NULL;
out:
    qn_tasks_free(tasks);
    return st;
}

void qn_tasks_free(qn_tasks *tasks)
{
    const qn_map_entry *entry;
    size_t at = 0;

    if (!tasks)
        return;
    qn_task_cache_free(tasks->cache);
    qn_task_split_free(tasks->split);
    qn_task_list_free(&tasks->list);
    while ((entry = qn_map_next(&tasks->buckets, &at)))
        free(entry->value);
    qn_map_free(&tasks->buckets);
    free(tasks->results);
    free(tasks);
}

/* Planning. */

/* Reads a new batch and finds a plan for it. */
static qn_status read_batch(qn_tasks *tasks, const qn_task *list, int n, qn_task_found *found,
                            qn_err *err)
{
    qn_task_list fresh = { 0 };
    qn_status st;

    if ((st = qn_task_list_read(list, n, &tasks->options, &fresh, err)) != QN_OK)
        return st;
    tasks->plan = NULL;
    qn_task_list_free(&tasks->list);
    tasks->list = fresh;
    return qn_task_cache_get(tasks->cache, &tasks->list, &tasks->plan, found, err);
}

static qn_status plan_batch(qn_tasks *tasks, const qn_task *list, int n, qn_task_found *found,
                            qn_err *err)
{
    *found = QN_FOUND_SHAPE;
    if (tasks->plan && !tasks->plan->is_padded && !tasks->options.no_plan_cache &&
        qn_task_list_is(&tasks->list, list, n))
        return QN_OK;
    return read_batch(tasks, list, n, found, err);
}

/* Accounts. */

static bucket_series *find_bucket(qn_tasks *tasks, const qn_task_spec *spec, int *is_new)
{
    qn_metrics *metrics = qn_ctx_metrics(tasks->ctx);
    char key[64], label[24];
    bucket_series *bucket;

    snprintf(key, sizeof key, "%s %llu", spec->op->name, (unsigned long long)spec->bucket);
    *is_new = 0;
    if ((bucket = qn_map_get(&tasks->buckets, key)))
        return bucket;
    if (!(bucket = calloc(1, sizeof *bucket)))
        return NULL;
    if (qn_map_put(&tasks->buckets, key, bucket) != QN_OK) {
        free(bucket);
        return NULL;
    }
    snprintf(label, sizeof label, "%llu", (unsigned long long)spec->bucket);
    bucket->tasks = qn_metric_of(metrics, "bucket_tasks", QN_LABELS("bucket", label));
    bucket->elems = qn_metric_of(metrics, "bucket_elems", QN_LABELS("bucket", label));
    *is_new = 1;
    return bucket;
}

/* Counts the tasks of each bucket, which are adjacent because positions are sorted. */
static void count_buckets(qn_tasks *tasks)
{
    const qn_task_plan *plan = tasks->plan;

    for (int k = 0, end; k < plan->n_tasks; k = end) {
        const qn_task_spec *spec = &plan->specs[k];
        bucket_series *bucket;
        double elems = 0;
        int is_new;

        for (end = k; end < plan->n_tasks && plan->specs[end].op == spec->op &&
                      plan->specs[end].bucket == spec->bucket;
             end++)
            elems += (double)spec->op->elems(&plan->specs[end]);
        if (!(bucket = find_bucket(tasks, spec, &is_new)))
            continue;
        qn_metric_add(bucket->tasks, end - k);
        qn_metric_add(bucket->elems, elems);
        tasks->stats.bucket_misses += (uint64_t)is_new;
        tasks->stats.bucket_hits += (uint64_t)(end - k - is_new);
        qn_metric_add(tasks->m.bucket_misses, is_new);
        qn_metric_add(tasks->m.bucket_hits, end - k - is_new);
    }
    qn_metric_set(tasks->m.bucket_count, (double)tasks->buckets.count);
}

static void count_plan(qn_tasks *tasks, qn_task_found found)
{
    const int n = tasks->plan->n_tasks;

    tasks->stats.was_planned = found == QN_FOUND_NEW;
    if (found == QN_FOUND_SHAPE) {
        tasks->stats.plan_hits += (uint64_t)n;
        qn_metric_add(tasks->m.plan_hits, n);
    } else {
        tasks->stats.plan_misses += (uint64_t)n;
        qn_metric_add(tasks->m.plan_misses, n);
    }
}

static int module_of(const qn_task_op *op)
{
    int i = 0;

    while (i < N_MODULES - 1 && strcmp(modules[i], op->module))
        i++;
    return i;
}

/* Records the device on which the graph of the plan ran the part. */
static void find_device(const qn_task_plan *plan, qn_task_part *part)
{
    part->device = qn_graph_stage_device(plan->graph, part->stage);
    part->fell_back = 0;
    for (int s = part->stage; s < part->stage + part->n_stages; s++)
        if (qn_graph_stage_fell_back(plan->graph, s)) {
            part->device = qn_graph_stage_device(plan->graph, s);
            part->fell_back++;
        }
}

/* Counts the device of each part in the metrics of its module. */
static void note_parts(qn_tasks *tasks, double us_per_cost)
{
    qn_task_plan *plan = tasks->plan;

    for (int p = 0; p < plan->n_parts; p++) {
        qn_task_part *part = &plan->parts[p];
        const module_series *m = &tasks->m.modules[module_of(part->op)];
        const qn_task_spec *last = &plan->specs[part->first + part->n_tasks - 1];

        if (!tasks->split)
            find_device(plan, part);
        if (!strncmp(part->device, "cpu", 3) && !part->fell_back)
            continue;
        qn_metric_add(m->executions, part->n_stages);
        qn_metric_add(m->failures, part->fell_back);
        qn_metric_add(m->cpu_fallbacks, part->fell_back);
        qn_metric_set(m->last_size, part->trees ? (double)last->n : part->n_tasks);
        qn_metric_observe(m->latency_ms, qn_task_part_cost(plan, part, NULL) * us_per_cost / 1000);
    }
}

static int fell_back(const qn_task_plan *plan, int position)
{
    for (int p = plan->slots[position]; p < plan->n_parts && plan->parts[p].first <= position; p++)
        if (plan->parts[p].fell_back)
            return 1;
    return 0;
}

/* The device of a task, or all devices that ran a piece of it. */
static const char *device_of(const qn_tasks *tasks, int position)
{
    const qn_task_plan *plan = tasks->plan;
    unsigned slots = 0;

    if (!tasks->split)
        return plan->parts[plan->slots[position]].device;
    for (int p = plan->slots[position]; p < plan->n_parts && plan->parts[p].first <= position; p++)
        slots |= 1u << plan->parts[p].slot;
    return qn_task_split_name(tasks->split, slots);
}

static const char *devices_of(const qn_tasks *tasks)
{
    unsigned slots = 0;

    if (!tasks->split)
        return tasks->results[0].device;
    for (int p = 0; p < tasks->plan->n_parts; p++)
        slots |= 1u << tasks->plan->parts[p].slot;
    return qn_task_split_name(tasks->split, slots);
}

static void note_results(qn_tasks *tasks, const qn_task *list)
{
    qn_task_plan *plan = tasks->plan;
    double total = 0;

    for (int k = 0; k < plan->n_tasks; k++)
        total += plan->specs[k].op->cost(&plan->specs[k]);
    note_parts(tasks, tasks->stats.wall_us / total);
    for (int k = 0; k < plan->n_tasks; k++) {
        const qn_task_spec *spec = &plan->specs[k];

        tasks->results[plan->order[k]] = (qn_task_result){
            .id = list[plan->order[k]].id,
            .state = fell_back(plan, k) ? QN_TASK_FALLBACK : QN_TASK_OK,
            .device = device_of(tasks, k),
            .bucket = spec->bucket,
            .bytes = spec->op->result_bytes(spec),
            .exec_us = tasks->stats.wall_us * spec->op->cost(spec) / total,
        };
    }
    tasks->stats.devices = devices_of(tasks);
}

/* Running. */

static double cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static qn_status run_graph(qn_graph *graph, uint64_t *submissions, qn_err *err)
{
    const uint64_t before = qn_graph_get_stats(graph).submissions;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_graph_wait(graph, err));
    *submissions = qn_graph_get_stats(graph).submissions - before;
out:
    return st;
}

/* The timed section: from inputs on the host to results on the host. */
static qn_status run_plan(qn_tasks *tasks, qn_err *err)
{
    qn_task_plan *plan = tasks->plan;
    uint64_t *submissions = &tasks->stats.submissions;
    const double cpu = cpu_seconds(), real = qn_now_us();
    const double begin = qn_ctx_now_us(tasks->ctx);
    qn_status st = QN_OK;

    plan->has_run = 1;
    QN_TRY(tasks->split ? qn_task_split_run(tasks->split, plan, submissions, err)
                        : run_graph(plan->graph, submissions, err));
    tasks->stats.wall_us = qn_ctx_now_us(tasks->ctx) - begin;
    qn_metric_set(tasks->m.batch_size, plan->n_tasks);
    qn_metric_set(tasks->m.duration_ms, tasks->stats.wall_us / 1000);
    qn_metric_set(tasks->m.parallel_factor, (cpu_seconds() - cpu) * 1e6 / (qn_now_us() - real));
out:
    return st;
}

qn_status qn_tasks_run(qn_tasks *tasks, const qn_task *list, int n, qn_err *err)
{
    const double begin = qn_ctx_now_us(tasks->ctx);
    qn_tasks_stats *stats = &tasks->stats;
    qn_task_found found;
    double planned;
    qn_status st = QN_OK;

    stats->n_tasks = 0;
    QN_TRY(plan_batch(tasks, list, n, &found, err));
    QN_TRY(QN_ROOM(tasks->results, n, &tasks->cap_results, "results of tasks", err));
    planned = qn_ctx_now_us(tasks->ctx);
    stats->plan_us = planned - begin;
    QN_TRY(qn_task_plan_fill(tasks->plan, err));
    stats->fill_us = qn_ctx_now_us(tasks->ctx) - planned;
    QN_TRY(run_plan(tasks, err));

    stats->batches++;
    stats->n_tasks = n;
    stats->n_groups = tasks->plan->n_groups;
    stats->n_stages = qn_graph_get_stats(tasks->plan->graph).n_stages;
    qn_task_cache_observe(tasks->cache, stats->plan_us + stats->wall_us);
    count_plan(tasks, found);
    count_buckets(tasks);
    note_results(tasks, list);
out:
    return st;
}

qn_status qn_tasks_touch(qn_tasks *tasks, qn_err *err)
{
    return tasks->plan ? qn_task_plan_touch(tasks->plan, err) : QN_OK;
}

/* Results. */

const qn_task_result *qn_tasks_results(const qn_tasks *tasks)
{
    return tasks->stats.n_tasks ? tasks->results : NULL;
}

qn_tasks_stats qn_tasks_get_stats(const qn_tasks *tasks)
{
    return tasks->stats;
}

static qn_status check_index(const qn_tasks *tasks, int i, qn_err *err)
{
    if (i < 0 || i >= tasks->stats.n_tasks)
        return qn_fail(err, QN_ERR_USAGE, "no result %d, the last batch has %d", i,
                       tasks->stats.n_tasks);
    return QN_OK;
}

static qn_status copy_piece(void *user, QN_UNUSED const qn_task_spec *spec, size_t offset,
                            const void *data, size_t bytes, QN_UNUSED qn_err *err)
{
    memcpy((char *)user + offset, data, bytes);
    return QN_OK;
}

qn_status qn_tasks_read(qn_tasks *tasks, int i, void *dst, size_t bytes, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(check_index(tasks, i, err));
    if (bytes != tasks->results[i].bytes)
        QN_FAIL(err, QN_ERR_USAGE, "result %d has %zu bytes, not %zu", i, tasks->results[i].bytes,
                bytes);
    QN_TRY(qn_task_plan_result(tasks->plan, tasks->plan->place[i], copy_piece, dst, err));
out:
    return st;
}

/* Numbers are little-endian in memory on every machine we run on. */
static qn_status hash_piece(void *user, const qn_task_spec *spec, QN_UNUSED size_t offset,
                            const void *data, size_t bytes, QN_UNUSED qn_err *err)
{
    uint64_t *hash = user;

    if (spec->op == &qn_task_merkle)
        for (int i = 0; i < 8; i++)
            *hash = *hash << 8 | ((const uint8_t *)data)[i];
    else
        *hash = qn_fnv1a64_add(*hash, data, bytes);
    return QN_OK;
}

qn_status qn_tasks_checksum(qn_tasks *tasks, int i, char out[QN_TASK_CHECKSUM_SIZE], qn_err *err)
{
    uint64_t hash = QN_FNV1A64_START;
    qn_status st = QN_OK;
    int position;

    QN_TRY(check_index(tasks, i, err));
    position = tasks->plan->place[i];
    if (tasks->plan->specs[position].arg->is_smooth) {
        strcpy(out, "-");
        return QN_OK;
    }
    QN_TRY(qn_task_plan_result(tasks->plan, position, hash_piece, &hash, err));
    snprintf(out, QN_TASK_CHECKSUM_SIZE, "%016llx", (unsigned long long)hash);
out:
    return st;
}

qn_status qn_tasks_verify(qn_tasks *tasks, qn_err *err)
{
    qn_err first = { .status = QN_OK }; /* later calls use err too */
    qn_status st = QN_OK;

    for (int i = 0; i < tasks->stats.n_tasks; i++) {
        const int position = tasks->plan->place[i];
        const qn_task_spec *spec = &tasks->plan->specs[position];
        qn_diff diff;

        QN_TRY(qn_task_check(tasks->plan, position, &diff, err));
        if (!diff.mismatched)
            continue;
        tasks->results[i].state = QN_TASK_FAILED;
        if (first.status == QN_OK)
            qn_fail(&first, QN_ERR_MISMATCH,
                    "task %lld (%s, size %lld): %zu of %zu values differ from the reference, the "
                    "first at %zu",
                    (long long)tasks->results[i].id, spec->op->name, (long long)spec->n,
                    diff.mismatched, diff.checked, diff.first);
    }
    if (first.status != QN_OK)
        st = qn_fail(err, first.status, "%s", first.text);
out:
    return st;
}

qn_status qn_tasks_memory_map(const qn_tasks *tasks, const char *path, qn_err *err)
{
    qn_status st = QN_OK;

    if (!tasks->plan)
        return qn_fail(err, QN_ERR_USAGE, "memory map: no batch has run");
    /* After runs with graphs of parts, the graph of the whole plan is not compiled yet. */
    if (tasks->split)
        QN_TRY(qn_graph_compile(tasks->plan->graph, err));
    QN_TRY(qn_graph_memory_map(tasks->plan->graph, path, err));
out:
    return st;
}

/* session.c - the programs and values of a session, and the results of its last run. */
#include "domain/arc/compile/compile.h"
#include "domain/arc/run/session_impl.h"
#include "domain/arc/value/value.h"
#include "engine/engine.h"
#include "util/list.h"
#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Longest launch by estimate, below the limits of display watchdogs. */
enum { LAUNCH_MS = 200 };

static size_t pool_budget(qn_ctx *ctx, const qn_arc_session_options *options)
{
    const qn_device_info *info = qn_device_get(ctx, qn_device_count(ctx) > 1 ? 1 : 0);
    const size_t most = (size_t)1 << 31;
    const size_t quarter = info->mem_total / 4 < most ? (size_t)(info->mem_total / 4) : most;

    if (options->pool_bytes)
        return options->pool_bytes;
    return quarter ? quarter : most;
}

/* Costs of programs. */

/* As with the engine's profiles, a bad file never makes a run fail. */
static void load_costs(qn_arc_session *s)
{
    qn_err err = { .status = QN_OK };
    const int n = snprintf(s->costs_path, sizeof s->costs_path, "%s/profile/arc-costs.json",
                           qn_ctx_settings(s->ctx)->cache_dir);

    if (!qn_profile_is_used() || !qn_ctx_settings(s->ctx)->cache_dir[0] ||
        n >= (int)sizeof s->costs_path)
        s->costs_path[0] = '\0';
    if (!s->costs_path[0] || access(s->costs_path, F_OK) != 0)
        return;
    if (qn_arc_costs_read(s->costs, s->costs_path, &err) != QN_OK)
        qn_log_put(qn_ctx_log(s->ctx), QN_LOG_INFO, "costs of programs are ignored: %s", err.text);
}

static void save_costs(qn_arc_session *s)
{
    qn_err err = { .status = QN_OK };

    if (s->costs && s->costs_path[0] && qn_arc_costs_write(s->costs, s->costs_path, &err) != QN_OK)
        qn_log_put(qn_ctx_log(s->ctx), QN_LOG_INFO, "costs of programs are not saved: %s",
                   err.text);
}

qn_status qn_arc_session_new(qn_ctx *ctx, const qn_arc_session_options *options,
                             qn_arc_session **out, qn_err *err)
{
    qn_arc_session *s = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(s, 1, "a session", err));
    s->ctx = ctx;
    s->limits = options->limits;
    s->common.mode = options->prefixes;
    s->measures_programs = options->measures_programs;
    s->threads = (int)qn_device_get(ctx, QN_CPU_SLOT)->units;
    s->threads = s->threads > 0 ? s->threads : 1;
    s->launch_us = options->launch_ms < 0
                       ? 0
                       : 1e3 * (options->launch_ms > 0 ? options->launch_ms : LAUNCH_MS);
    s->device = qn_device_count(ctx) > 1 ? QN_CPU_SLOT + 1 : QN_CPU_SLOT;
    QN_TRY(qn_arc_executor_new(ctx, &s->limits, s->device, &s->usual.executor, err));
    s->executors[s->device] = s->usual.executor;
    QN_TRY(qn_arc_pool_open(ctx, pool_budget(ctx, options), &s->usual.pool, err));
    QN_TRY(qn_arc_split_new(s, &options->split, &s->split, err));
    QN_TRY(qn_arc_costs_new(&s->costs, err));
    load_costs(s);
    qn_arc_place_begin(s);
    *out = s;
    s = NULL;
out:
    qn_arc_session_free(s);
    return st;
}

static void forget_values(qn_arc_session *s)
{
    qn_arena_clear(&s->values.arena);
    free(s->values.items);
    s->values = (qn_arc_values_added){ 0 };
}

void qn_arc_session_free(qn_arc_session *s)
{
    if (!s)
        return;
    qn_arc_place_end(s);
    save_costs(s);
    qn_arc_costs_free(s->costs);
    qn_arc_split_free(s->split);
    qn_arc_executor_free(s->oversize.executor);
    qn_content_close(s->oversize.pool);
    for (int d = 0; d < QN_MAX_DEVICES; d++)
        qn_arc_executor_free(s->executors[d]);
    qn_content_close(s->usual.pool);
    qn_arc_session_forget_programs(s);
    forget_values(s);
    free(s->lists);
    free(s->outcomes);
    free(s->out);
    free(s->trace);
    free(s);
}

/* The executor of a device. The CPU beside a device has its own limits. */
qn_status qn_arc_session_executor(qn_arc_session *s, int device, qn_arc_executor **out, qn_err *err)
{
    const qn_arc_limits limits =
        device == QN_CPU_SLOT ? qn_arc_executor_on_cpu(s->usual.executor) : s->limits;
    qn_status st = QN_OK;

    if (!s->executors[device])
        QN_TRY(qn_arc_executor_new(s->ctx, &limits, device, &s->executors[device], err));
    *out = s->executors[device];
out:
    return st;
}

/* Programs and values. */

/* Allocates `n` bytes followed by the id. */
static qn_status store(qn_arena *arena, const char *id, size_t n, unsigned char **bytes,
                       const char **copy, qn_err *err)
{
    const size_t n_id = strlen(id) + 1;

    if (!(*bytes = qn_arena_take(arena, n + n_id)))
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory");
    *copy = memcpy(*bytes + n, id, n_id);
    return QN_OK;
}

qn_status qn_arc_session_program(qn_arc_session *s, const char *id, const unsigned char *bytes,
                                 size_t n, int *program, qn_err *err)
{
    qn_arc_programs_added *list = &s->programs;
    qn_arc_program_entry k = { .n = n };
    unsigned char *to = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_arc_code_check(bytes, n, err));
    QN_TRY(QN_GROW(list->items, list->n, &list->room, "programs", err));
    QN_TRY(store(&list->arena, id, n, &to, &k.id, err));
    k.bytes = memcpy(to, bytes, n);
    k.key = qn_arc_costs_key(bytes, n);
    *program = (int)list->n;
    list->items[list->n++] = k;
out:
    return st;
}

/* Adds a value of `n` bytes, which the caller writes. */
static qn_status add_value(qn_arc_session *s, const char *id, uint64_t slot, size_t n, int *index,
                           unsigned char **to, qn_err *err)
{
    qn_arc_values_added *list = &s->values;
    qn_arc_value_entry k = { .n = (uint32_t)n, .slot = slot, .pooled = slot };
    qn_status st = QN_OK;

    if (n > UINT32_MAX)
        return qn_fail(err, QN_ERR_LIMIT, "arc: value %s has %zu bytes", id, n);
    QN_TRY(QN_GROW(list->items, list->n, &list->room, "values", err));
    QN_TRY(store(&list->arena, id, n, to, &k.id, err));
    k.bytes = *to;
    *index = (int)list->n;
    list->items[list->n++] = k;
out:
    return st;
}

qn_status qn_arc_session_value(qn_arc_session *s, const char *id, const qn_arc_value *value,
                               int *index, qn_err *err)
{
    qn_arc_blob blob = { 0 };
    unsigned char *to = NULL;
    uint64_t slot;
    qn_status st = QN_OK;

    QN_TRY(qn_arc_encode(value, &blob, &slot, err));
    QN_TRY(add_value(s, id, slot, blob.n, index, &to, err));
    if (blob.n)
        memcpy(to, blob.bytes, blob.n);
out:
    qn_arc_blob_free(&blob);
    return st;
}

qn_status qn_arc_session_grid(qn_arc_session *s, const char *id, const unsigned char *cells,
                              int rows, int cols, int *index, qn_err *err)
{
    const uint16_t size[2] = { (uint16_t)rows, (uint16_t)cols };
    const size_t n_cells = (size_t)rows * (size_t)cols;
    unsigned char *to = NULL;
    qn_status st = QN_OK;

    QN_TRY(add_value(s, id, ARC_SLOT(ARC_GRID, 0, 0), ARC_GRID_HEAD + n_cells, index, &to, err));
    memset(to, 0, ARC_GRID_HEAD);
    memcpy(to, size, sizeof size);
    memcpy(to + ARC_GRID_HEAD, cells, n_cells);
out:
    return st;
}

void qn_arc_session_forget_programs(qn_arc_session *s)
{
    qn_arc_prefixes_forget(&s->common);
    qn_arena_clear(&s->programs.arena);
    free(s->programs.items);
    s->programs = (qn_arc_programs_added){ 0 };
}

void qn_arc_session_forget(qn_arc_session *s)
{
    qn_arc_session_forget_programs(s);
    forget_values(s);
    qn_content_clear(s->usual.pool);
}

/* Results. */

const arc_result *qn_arc_session_result(const qn_arc_session *s, uint32_t job)
{
    return &s->outcomes[job].result;
}

qn_status qn_arc_session_output(const qn_arc_session *s, uint32_t job, qn_arc_heap *heap,
                                qn_arc_value *out, qn_err *err)
{
    const qn_arc_outcome *o = &s->outcomes[job];

    return qn_arc_decode(o->result.value, qn_arc_out_of(s, o), o->out_bytes, 0, heap, out, err);
}

const int8_t *qn_arc_session_output_grid(const qn_arc_session *s, uint32_t job, int *rows,
                                         int *cols)
{
    const qn_arc_outcome *o = &s->outcomes[job];
    const size_t at = ARC_PAYLOAD(o->result.value);
    const unsigned char *grid = qn_arc_out_of(s, o);
    uint16_t size[2];

    if (ARC_TAG(o->result.value) != ARC_GRID || at + ARC_GRID_HEAD > o->out_bytes)
        return NULL;
    memcpy(size, grid + at, sizeof size);
    if (!size[0] || !size[1] ||
        at + ARC_GRID_HEAD + (size_t)size[0] * (size_t)size[1] > o->out_bytes)
        return NULL;
    *rows = size[0];
    *cols = size[1];
    return (const int8_t *)(grid + at + ARC_GRID_HEAD);
}

const uint64_t *qn_arc_session_trace(const qn_arc_session *s, uint32_t job)
{
    return s->trace ? s->trace + (size_t)job * s->trace_stride : NULL;
}

const qn_arc_stats *qn_arc_session_stats(qn_arc_session *s)
{
    const qn_content_stats pool = qn_content_get_stats(s->usual.pool);

    s->stats.cache_hits = pool.hits;
    s->stats.cache_misses = pool.misses;
    s->stats.cache_evictions = pool.evictions;
    s->stats.cache_bytes = pool.bytes;
    return &s->stats;
}

const char *qn_arc_session_device(const qn_arc_session *s)
{
    const int is_cpu = s->route == QN_ARC_ROUTE_CPU ||
                       (s->route == QN_ARC_ROUTE_MEASURED && s->ran_last == QN_CPU_SLOT);

    if (s->split)
        return qn_arc_split_name(s->split);
    return qn_device_id(s->ctx, is_cpu ? QN_CPU_SLOT : s->device);
}

void qn_arc_session_until(qn_arc_session *s, double us)
{
    s->deadline_us = us;
}

void qn_arc_session_watch(qn_arc_session *s, qn_arc_on_progress *on_progress, void *user)
{
    s->on_progress = on_progress;
    s->user = user;
}

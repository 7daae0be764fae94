/* session.c - what a session keeps, and what came out of its last run. */
#include "domain/arc/run/session.h"

#include "domain/arc/compile/check.h"
#include "domain/arc/run/choose.h"
#include "domain/arc/run/session_impl.h"
#include "domain/arc/value/encode.h"
#include "engine/engine.h"
#include "util/list.h"
#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Longest launch by estimate: below what watchdogs of displays allow. */
enum { SLICE_MS = 200 };

static size_t pool_budget(qn_ctx *ctx, const qn_arc_session_options *options)
{
    const qn_device_info *info = qn_device_get(ctx, qn_device_count(ctx) > 1 ? 1 : 0);
    const size_t most = (size_t)1 << 31;
    const size_t quarter = info->mem_total / 4 < most ? (size_t)(info->mem_total / 4) : most;

    if (options->pool_bytes)
        return options->pool_bytes;
    return quarter ? quarter : most;
}

/* What programs cost. */

/* As with the engine's profiles, a file that is wrong is never a reason to fail. */
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
        qn_log_put(qn_ctx_log(s->ctx), QN_LOG_INFO, "costs of programs are not kept: %s", err.text);
}

qn_status qn_arc_session_new(qn_ctx *ctx, const qn_arc_session_options *options,
                             qn_arc_session **out, qn_err *err)
{
    const qn_arc_pool_options pool = { .budget_bytes = pool_budget(ctx, options) };
    qn_arc_session *s = calloc(1, sizeof *s);
    qn_arc_limits on_cpu;
    qn_status st = QN_OK;

    if (!s)
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory");
    s->ctx = ctx;
    s->limits = options->limits;
    s->share.mode = options->share;
    s->adapts = options->adapts;
    s->threads = (int)qn_device_get(ctx, QN_CPU_SLOT)->units;
    s->threads = s->threads > 0 ? s->threads : 1;
    s->slice_us =
        options->slice_ms < 0 ? 0 : 1e3 * (options->slice_ms > 0 ? options->slice_ms : SLICE_MS);
    s->device = qn_device_count(ctx) > 1 ? QN_CPU_SLOT + 1 : QN_CPU_SLOT;
    QN_TRY(qn_arc_station_new(ctx, &s->limits, s->device, &s->usual.station, err));
    QN_TRY(qn_arc_pool_new(&pool, &s->usual.pool, err));
    on_cpu = qn_arc_station_on_cpu(s->usual.station);
    QN_TRY(qn_arc_spread_new(ctx, &s->limits, &on_cpu, &options->split, &s->spread, err));
    QN_TRY(qn_arc_costs_new(&s->costs, err));
    load_costs(s);
    qn_arc_choose_begin(s);
    *out = s;
    s = NULL;
out:
    qn_arc_session_free(s);
    return st;
}

static void forget_values(qn_arc_session *s)
{
    qn_arc_attic_drop(&s->values.attic);
    free(s->values.items);
    s->values = (qn_arc_kept_values){ 0 };
}

void qn_arc_session_free(qn_arc_session *s)
{
    if (!s)
        return;
    qn_arc_choose_end(s);
    save_costs(s);
    qn_arc_costs_free(s->costs);
    qn_arc_spread_free(s->spread);
    qn_arc_station_free(s->cpu);
    qn_arc_station_free(s->outsize.station);
    qn_arc_pool_free(s->outsize.pool);
    qn_arc_station_free(s->usual.station);
    qn_arc_pool_free(s->usual.pool);
    qn_arc_session_forget_programs(s);
    forget_values(s);
    free(s->outcomes);
    free(s->out);
    free(s->trace);
    free(s);
}

/* What is kept. */

/* One more element in an array. */
static qn_status grow(void **items, size_t n, size_t *room, size_t size, qn_err *err)
{
    void *grown = qn_grown(*items, n, room, size);

    if (!grown)
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory");
    *items = grown;
    return QN_OK;
}

/* Room for `n` bytes with the id behind them. */
static qn_status store(qn_arc_attic *attic, const char *id, size_t n, unsigned char **bytes,
                       const char **copy, qn_err *err)
{
    const size_t n_id = strlen(id) + 1;

    if (!(*bytes = qn_arc_attic_take(attic, n + n_id)))
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory");
    *copy = memcpy(*bytes + n, id, n_id);
    return QN_OK;
}

qn_status qn_arc_session_program(qn_arc_session *s, const char *id, const unsigned char *bytes,
                                 size_t n, int *program, qn_err *err)
{
    qn_arc_kept_programs *list = &s->programs;
    qn_arc_kept_program k = { .n = n };
    unsigned char *to = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_arc_code_check(bytes, n, err));
    QN_TRY(grow((void **)&list->items, list->n, &list->room, sizeof *list->items, err));
    QN_TRY(store(&list->attic, id, n, &to, &k.id, err));
    k.bytes = memcpy(to, bytes, n);
    k.key = qn_arc_costs_key(bytes, n);
    *program = (int)list->n;
    list->items[list->n++] = k;
out:
    return st;
}

void qn_arc_session_place(qn_arc_session *s, int program, qn_arc_place place)
{
    s->programs.items[program].place = place;
}

/* A value of `n` bytes, which the caller writes. */
static qn_status add_value(qn_arc_session *s, const char *id, uint64_t slot, size_t n, int *index,
                           unsigned char **to, qn_err *err)
{
    qn_arc_kept_values *list = &s->values;
    qn_arc_kept_value k = { .n = (uint32_t)n, .slot = slot, .placed = slot };
    qn_status st = QN_OK;

    if (n > UINT32_MAX)
        return qn_fail(err, QN_ERR_LIMIT, "arc: value %s has %zu bytes", id, n);
    QN_TRY(grow((void **)&list->items, list->n, &list->room, sizeof *list->items, err));
    QN_TRY(store(&list->attic, id, n, to, &k.id, err));
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
    qn_arc_share_forget(&s->share);
    qn_arc_attic_drop(&s->programs.attic);
    free(s->programs.items);
    s->programs = (qn_arc_kept_programs){ 0 };
}

void qn_arc_session_forget(qn_arc_session *s)
{
    qn_arc_session_forget_programs(s);
    forget_values(s);
    qn_arc_pool_clear(s->usual.pool);
}

/* What came out. */

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
    const qn_arc_pool_stats pool = qn_arc_pool_get_stats(s->usual.pool);

    s->stats.cache_hits = pool.cache_hits;
    s->stats.cache_misses = pool.cache_misses;
    s->stats.cache_evictions = pool.cache_evictions;
    s->stats.cache_bytes = pool.cache_bytes;
    return &s->stats;
}

const char *qn_arc_session_device(const qn_arc_session *s)
{
    const int is_cpu = s->route == QN_ARC_ROUTE_CPU ||
                       (s->route == QN_ARC_ROUTE_MEASURED && s->ran_last == QN_CPU_SLOT);

    if (s->spread)
        return qn_arc_spread_name(s->spread);
    return qn_device_id(s->ctx, is_cpu ? QN_CPU_SLOT : s->device);
}

void qn_arc_session_until(qn_arc_session *s, double us)
{
    s->deadline_us = us;
}

void qn_arc_session_watch(qn_arc_session *s, qn_arc_told told, void *user)
{
    s->told = told;
    s->told_user = user;
}

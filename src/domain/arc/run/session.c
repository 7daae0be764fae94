/* session.c - what a session keeps, and runs cut into slices that fit the pool. */
#include "domain/arc/run/session.h"

#include "domain/arc/compile/check.h"
#include "domain/arc/run/session_impl.h"
#include "domain/arc/value/encode.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

enum { SLICE = 1 << 17, UPLOAD_GAP = 4096 };

static size_t pool_budget(qn_ctx *ctx, const qn_arc_session_options *options)
{
    const qn_device_info *info = qn_device_get(ctx, qn_device_count(ctx) > 1 ? 1 : 0);
    const size_t most = (size_t)1 << 31;
    const size_t quarter = info->mem_total / 4 < most ? (size_t)(info->mem_total / 4) : most;

    if (options->pool_bytes)
        return options->pool_bytes;
    return quarter ? quarter : most;
}

qn_status qn_arc_session_new(qn_ctx *ctx, const qn_arc_session_options *options,
                             qn_arc_session **out, qn_err *err)
{
    const qn_arc_pool_options pool = { .budget_bytes = pool_budget(ctx, options) };
    qn_arc_session *s = calloc(1, sizeof *s);
    qn_status st = QN_OK;

    if (!s)
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory");
    s->ctx = ctx;
    QN_TRY(qn_arc_vm_new(ctx, &options->limits, &s->vm, err));
    QN_TRY(qn_arc_pool_new(&pool, &s->pool, err));
    *out = s;
    s = NULL;
out:
    qn_arc_session_free(s);
    return st;
}

static void free_kept(qn_arc_kept_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->items[i].id);
        free(list->items[i].bytes);
    }
    free(list->items);
}

void qn_arc_session_free(qn_arc_session *s)
{
    if (!s)
        return;
    qn_arc_vm_free(s->vm);
    qn_arc_pool_free(s->pool);
    free_kept(&s->programs);
    free_kept(&s->values);
    free(s->outcomes);
    free(s->out);
    free(s->trace);
    free(s);
}

/* ---- what is kept ---------------------------------------------------------------------- */

/* Takes over `bytes`. */
static qn_status keep(qn_arc_kept_list *list, const char *id, unsigned char *bytes, size_t n,
                      uint64_t slot, int *index, qn_err *err)
{
    char *copy = strdup(id);

    if (copy && list->n == list->room) {
        const size_t room = list->room ? 2 * list->room : 64;
        qn_arc_kept *grown = realloc(list->items, room * sizeof *grown);

        if (grown) {
            list->items = grown;
            list->room = room;
        }
    }
    if (!copy || list->n == list->room) {
        free(copy);
        free(bytes);
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory");
    }
    *index = (int)list->n;
    list->items[list->n++] =
        (qn_arc_kept){ .id = copy, .bytes = bytes, .n = n, .slot = slot, .slice = UINT64_MAX };
    return QN_OK;
}

qn_status qn_arc_session_program(qn_arc_session *s, const char *id, const unsigned char *bytes,
                                 size_t n, int *program, qn_err *err)
{
    unsigned char *copy;
    const qn_status st = qn_arc_code_check(bytes, n, err);

    if (st != QN_OK)
        return st;
    if (!(copy = malloc(n)))
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory");
    memcpy(copy, bytes, n);
    return keep(&s->programs, id, copy, n, 0, program, err);
}

qn_status qn_arc_session_value(qn_arc_session *s, const char *id, const qn_arc_value *value,
                               int *index, qn_err *err)
{
    qn_arc_blob blob = { 0 };
    uint64_t slot;
    const qn_status st = qn_arc_encode(value, &blob, &slot, err);

    if (st != QN_OK) {
        qn_arc_blob_free(&blob);
        return st;
    }
    return keep(&s->values, id, blob.bytes, blob.n, slot, index, err);
}

qn_status qn_arc_session_grid(qn_arc_session *s, const char *id, const unsigned char *cells,
                              int rows, int cols, int *index, qn_err *err)
{
    const uint16_t size[2] = { (uint16_t)rows, (uint16_t)cols };
    const size_t n_cells = (size_t)rows * (size_t)cols, n = ARC_GRID_HEAD + n_cells;
    unsigned char *bytes = calloc(1, n);

    if (!bytes)
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory");
    memcpy(bytes, size, sizeof size);
    memcpy(bytes + ARC_GRID_HEAD, cells, n_cells);
    return keep(&s->values, id, bytes, n, ARC_SLOT(ARC_GRID, 0, 0), index, err);
}

void qn_arc_session_forget_programs(qn_arc_session *s)
{
    free_kept(&s->programs);
    s->programs = (qn_arc_kept_list){ 0 };
}

void qn_arc_session_forget(qn_arc_session *s)
{
    qn_arc_session_forget_programs(s);
    free_kept(&s->values);
    s->values = (qn_arc_kept_list){ 0 };
    qn_arc_pool_clear(s->pool);
}

/* ---- slices ---------------------------------------------------------------------------- */

static qn_status take_program(qn_arc_session *s, qn_arc_batch *batch, int index,
                              qn_arc_taken *taken, qn_err *err)
{
    qn_arc_kept *k = &s->programs.items[index];
    uint32_t place = 0;
    qn_status st = QN_OK;

    *taken = QN_ARC_RESIDENT;
    if (k->slice == s->slice)
        return QN_OK;
    QN_TRY(qn_arc_pool_take_program(s->pool, batch, k->bytes, k->n, &place, taken, err));
    k->placed = place;
    k->slice = *taken == QN_ARC_RESIDENT ? s->slice : UINT64_MAX;
out:
    return st;
}

static qn_status take_value(qn_arc_session *s, qn_arc_batch *batch, int index, qn_arc_taken *taken,
                            qn_err *err)
{
    qn_arc_kept *k;
    qn_status st = QN_OK;

    *taken = QN_ARC_RESIDENT;
    if (index < 0 || (k = &s->values.items[index])->slice == s->slice)
        return QN_OK;
    k->placed = k->slot;
    QN_TRY(qn_arc_pool_take(s->pool, batch, QN_ARC_USE_ALWAYS, &k->placed, k->bytes, k->n, taken,
                            err));
    k->slice = *taken == QN_ARC_RESIDENT ? s->slice : UINT64_MAX;
out:
    return st;
}

static qn_status take_job(qn_arc_session *s, qn_arc_batch *batch, const qn_arc_job *job,
                          qn_arc_taken *taken, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(take_program(s, batch, job->program, taken, err));
    for (int a = 0; a < 3 && *taken == QN_ARC_RESIDENT; a++)
        QN_TRY(take_value(s, batch, job->args[a], taken, err));
    if (*taken == QN_ARC_RESIDENT)
        QN_TRY(take_value(s, batch, job->expected, taken, err));
out:
    return st;
}

/* Runs as many jobs from `first` on as the pool has room for, up to SLICE; *done says how many. */
static qn_status run_slice(qn_arc_session *s, qn_arc_slice *slice, uint32_t n, qn_err *err)
{
    const qn_arc_range *fresh = NULL;
    qn_arc_taken taken = QN_ARC_RESIDENT;
    qn_arc_batch batch = { 0 };
    qn_status st = QN_OK;

    s->slice++;
    for (slice->n = 0; slice->n < n && slice->n < SLICE; slice->n++) {
        QN_TRY(take_job(s, &batch, &slice->jobs[slice->first + slice->n], &taken, err));
        if (taken != QN_ARC_RESIDENT)
            break;
    }
    if (slice->n == 0) {
        st =
            qn_fail(err, QN_ERR_LIMIT, "arc: a program with its values does not fit into the pool");
        goto out;
    }
    slice->n_fresh = qn_arc_batch_uploads(&batch, UPLOAD_GAP, &fresh);
    slice->fresh = fresh;
    QN_TRY(qn_arc_run_tiers(s, slice, err));
out:
    if (st == QN_OK)
        qn_arc_pool_release(s->pool, &batch);
    else
        qn_arc_pool_abandon(s->pool, &batch);
    return st;
}

static qn_status check_jobs(const qn_arc_session *s, const qn_arc_job *jobs, uint32_t n,
                            qn_err *err)
{
    const int n_values = (int)s->values.n;

    for (uint32_t i = 0; i < n; i++) {
        const qn_arc_job *j = &jobs[i];
        int is_known = j->program >= 0 && j->program < (int)s->programs.n;

        for (int a = 0; a < 3; a++)
            is_known &= j->args[a] >= -1 && j->args[a] < n_values;
        if (!is_known || j->expected < -1 || j->expected >= n_values)
            return qn_fail(err, QN_ERR_USAGE,
                           "arc: job %u names a program or value that is not there", i);
    }
    return QN_OK;
}

static qn_status make_room(qn_arc_session *s, uint32_t n, uint32_t trace_stride, qn_err *err)
{
    free(s->outcomes);
    free(s->trace);
    s->trace = NULL;
    s->n_out = 0;
    s->n_outcomes = n;
    s->trace_stride = trace_stride;
    s->outcomes = calloc((size_t)n + 1, sizeof *s->outcomes);
    if (trace_stride)
        s->trace = calloc((size_t)n * trace_stride + 1, sizeof *s->trace);
    if (!s->outcomes || (trace_stride && !s->trace))
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %u results", n);
    return QN_OK;
}

qn_status qn_arc_session_run(qn_arc_session *s, const qn_arc_job *jobs, uint32_t n, uint32_t want,
                             uint32_t trace_stride, qn_err *err)
{
    const qn_transfer_count before = qn_ctx_transfers(s->ctx);
    qn_arc_slice slice = { .jobs = jobs, .want = want, .trace_stride = trace_stride };
    qn_transfer_count after;
    qn_status st = QN_OK;

    QN_TRY(check_jobs(s, jobs, n, err));
    QN_TRY(make_room(s, n, trace_stride, err));
    while (slice.first < n) {
        QN_TRY(run_slice(s, &slice, n - slice.first, err));
        slice.first += slice.n;
    }
    after = qn_ctx_transfers(s->ctx);
    s->stats.transfers += after.h2d_count + after.d2h_count - before.h2d_count - before.d2h_count;
    s->stats.transfer_bytes +=
        after.h2d_bytes + after.d2h_bytes - before.h2d_bytes - before.d2h_bytes;
out:
    return st;
}

/* ---- what came out --------------------------------------------------------------------- */

const arc_result *qn_arc_session_result(const qn_arc_session *s, uint32_t job)
{
    return &s->outcomes[job].result;
}

qn_status qn_arc_session_output(const qn_arc_session *s, uint32_t job, qn_arc_heap *heap,
                                qn_arc_value *out, qn_err *err)
{
    const qn_arc_outcome *o = &s->outcomes[job];

    return qn_arc_decode(o->result.value, s->out + o->out_at, o->out_bytes, 0, heap, out, err);
}

const uint64_t *qn_arc_session_trace(const qn_arc_session *s, uint32_t job)
{
    return s->trace ? s->trace + (size_t)job * s->trace_stride : NULL;
}

const qn_arc_stats *qn_arc_session_stats(qn_arc_session *s)
{
    const qn_arc_pool_stats pool = qn_arc_pool_get_stats(s->pool);

    s->stats.cache_hits = pool.cache_hits;
    s->stats.cache_misses = pool.cache_misses;
    s->stats.cache_evictions = pool.cache_evictions;
    s->stats.cache_bytes = pool.cache_bytes;
    return &s->stats;
}

const char *qn_arc_session_device(const qn_arc_session *s)
{
    return qn_device_id(s->ctx, qn_device_count(s->ctx) > 1 ? 1 : 0);
}

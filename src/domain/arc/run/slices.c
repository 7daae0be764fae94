/* slices.c - a run in slices whose programs and values fit the pool together. */
#include "domain/arc/run/adapt.h"
#include "domain/arc/run/order.h"
#include "domain/arc/run/session_impl.h"
#include "engine/engine.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

enum { SLICE = 1 << 17, UPLOAD_GAP = 4096 };

/* A pool is not made smaller than that: the engine finds memory for it, or the CPU runs. */
enum { LEAST_POOL = 1 << 16 };

#define OUTSIZE_BYTES ((size_t)1 << 31)

/* Taking. */

static qn_status take_program(qn_arc_session *s, qn_arc_pool *pool, qn_arc_batch *batch, int index,
                              qn_arc_taken *taken, qn_err *err)
{
    qn_arc_kept_program *k = &s->programs.items[index];
    const int is_usual = pool == s->usual.pool;
    uint32_t place = 0;
    qn_status st = QN_OK;

    *taken = QN_ARC_RESIDENT;
    if (k->slice == s->slice)
        return QN_OK;
    k->cost = qn_arc_program_cost(s, k);
    k->slice = s->slice;
    if (is_usual && qn_arc_pool_retake(pool, batch, k->ticket))
        return QN_OK;
    k->slice = 0;
    k->ticket = (qn_arc_ticket){ 0 };
    QN_TRY(qn_arc_pool_take_program(pool, batch, k->bytes, k->n, &place, taken, err));
    if (*taken != QN_ARC_RESIDENT)
        return QN_OK;
    k->placed = place;
    k->slice = s->slice;
    if (is_usual)
        k->ticket = qn_arc_pool_ticket(pool);
out:
    return st;
}

static qn_status take_value(qn_arc_session *s, qn_arc_pool *pool, qn_arc_batch *batch, int index,
                            qn_arc_taken *taken, qn_err *err)
{
    const int is_usual = pool == s->usual.pool;
    qn_arc_kept_value *k;
    uint64_t slot;
    qn_status st = QN_OK;

    *taken = QN_ARC_RESIDENT;
    if (index < 0 || (k = &s->values.items[index])->slice == s->slice)
        return QN_OK;
    k->slice = s->slice;
    if (is_usual && qn_arc_pool_retake(pool, batch, k->ticket))
        return QN_OK;
    k->slice = 0;
    k->ticket = (qn_arc_ticket){ 0 };
    slot = k->slot;
    QN_TRY(qn_arc_pool_take(pool, batch, QN_ARC_USE_ALWAYS, &slot, k->bytes, k->n, taken, err));
    if (*taken != QN_ARC_RESIDENT)
        return QN_OK;
    k->placed = slot;
    k->slice = s->slice;
    if (is_usual)
        k->ticket = qn_arc_pool_ticket(pool);
out:
    return st;
}

static qn_status take_job(qn_arc_session *s, qn_arc_pool *pool, qn_arc_batch *batch,
                          const qn_arc_job *job, qn_arc_taken *taken, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(take_program(s, pool, batch, job->program, taken, err));
    for (int a = 0; a < 3 && *taken == QN_ARC_RESIDENT; a++)
        QN_TRY(take_value(s, pool, batch, job->args[a], taken, err));
    if (*taken == QN_ARC_RESIDENT)
        QN_TRY(take_value(s, pool, batch, job->expected, taken, err));
out:
    return st;
}

/* A slice. */

/* Runs as many jobs from `first` on as the home's pool has room for, up to `most`; slice->n says
 * how many, 0 when not even one. */
static qn_status run_at(qn_arc_session *s, qn_arc_home *home, qn_arc_slice *slice, uint32_t most,
                        qn_err *err)
{
    const qn_arc_range *fresh = NULL;
    qn_arc_taken taken = QN_ARC_RESIDENT;
    qn_arc_batch batch = { 0 };
    qn_status st = QN_OK;

    slice->home = home;
    slice->number = ++s->slice;
    slice->n_launched = 0;
    for (slice->n = 0; slice->n < most; slice->n++) {
        QN_TRY(take_job(s, home->pool, &batch, &slice->jobs[slice->first + slice->n], &taken, err));
        if (taken != QN_ARC_RESIDENT)
            break;
    }
    slice->n_fresh = qn_arc_batch_uploads(&batch, UPLOAD_GAP, &fresh);
    slice->fresh = fresh;
    if (slice->n)
        QN_TRY(qn_arc_run_tiers(s, slice, err));
out:
    if (st == QN_OK)
        qn_arc_pool_release(home->pool, &batch);
    else
        qn_arc_pool_abandon(home->pool, &batch);
    return st;
}

/* A job that is larger than the pool: the CPU has one of its own for it. */
static qn_status run_outsize(qn_arc_session *s, qn_arc_slice *slice, qn_err *err)
{
    const qn_arc_pool_options options = { .budget_bytes = OUTSIZE_BYTES };
    const qn_arc_job *job = &slice->jobs[slice->first];
    const int grid = qn_arc_job_grid(s, job);
    qn_err why;
    qn_status st = QN_OK;

    if (s->device != QN_CPU_SLOT) {
        qn_fail(&why, QN_ERR_LIMIT, "POOL limit %zu KB (program %s, grid %s)",
                qn_arc_pool_budget(s->usual.pool) >> 10, s->programs.items[job->program].id,
                grid < 0 ? "none" : s->values.items[grid].id);
        if (qn_fallback_note(s->ctx, "arc.vm", &why) != QN_OK)
            return qn_fail(err, why.status, "%s", why.text);
    }
    if (!s->outsize.pool)
        QN_TRY(qn_arc_pool_new(&options, &s->outsize.pool, err));
    if (!s->outsize.station)
        QN_TRY(qn_arc_station_new(s->ctx, &s->limits, s->device, &s->outsize.station, err));
    s->stats.outsize++;
    QN_TRY(run_at(s, &s->outsize, slice, 1, err));
    if (slice->n == 0)
        st = qn_fail(err, QN_ERR_LIMIT, "arc: program %s with its values is larger than %zu MB",
                     s->programs.items[job->program].id, OUTSIZE_BYTES >> 20);
    qn_arc_pool_clear(s->outsize.pool);
out:
    return st;
}

/* The device has no memory for the pool: half of it, and the slice again in smaller ones. */
static int shrink_pool(qn_arc_session *s)
{
    const size_t extent = qn_arc_pool_extent(s->usual.pool);
    const size_t had = qn_arc_pool_budget(s->usual.pool);
    size_t budget = LEAST_POOL;

    while (2 * budget < extent && 2 * budget < had)
        budget *= 2;
    if (had <= LEAST_POOL || budget >= had)
        return 0;
    qn_arc_pool_shrink(s->usual.pool, budget);
    s->stats.pool_shrinks++;
    qn_log_put(qn_ctx_log(s->ctx), QN_LOG_WARN,
               "arc: %s has no memory for %zu KB of programs and grids; batches go in pieces of "
               "%zu KB",
               qn_device_id(s->ctx, s->device), extent >> 10, budget >> 10);
    return 1;
}

static qn_status run_slice(qn_arc_session *s, qn_arc_slice *slice, uint32_t n, qn_err *err)
{
    const uint32_t most = n < SLICE ? n : SLICE;
    qn_status st;

    do
        st = run_at(s, &s->usual, slice, most, err);
    while (st == QN_ERR_NOMEM && !slice->n_launched && shrink_pool(s));
    if (st == QN_OK && slice->n == 0)
        return run_outsize(s, slice, err);
    s->stats.pool_pieces += st == QN_OK && slice->n < most;
    return st;
}

/* A run. */

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
    free(s->trace);
    s->trace = NULL;
    s->n_outcomes = n;
    s->trace_stride = trace_stride;
    if (n > s->outcomes_room) {
        qn_arc_outcome *grown = realloc(s->outcomes, (size_t)n * sizeof *grown);

        s->outcomes = grown ? grown : s->outcomes;
        s->outcomes_room = grown ? n : s->outcomes_room;
    }
    if (trace_stride)
        s->trace = calloc((size_t)n * trace_stride + 1, sizeof *s->trace);
    if (n > s->outcomes_room || (trace_stride && !s->trace))
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %u results", n);
    return QN_OK;
}

/* What became of the jobs, and what their programs took, for the order of later batches. */
static void count_jobs(qn_arc_session *s, const qn_arc_job *jobs, uint32_t n)
{
    qn_arc_stats *stats = &s->stats;

    for (uint32_t k = 0; k < n; k++) {
        const arc_result *r = &s->outcomes[k].result;
        qn_arc_kept_program *program = &s->programs.items[jobs[k].program];

        stats->ok += r->code == ARC_OK;
        stats->limits += (uint64_t)qn_arc_code_is_limit(r->code);
        stats->not_ok_steps += r->not_ok;
        stats->steps_total += r->steps;
        if (r->code == ARC_E_TIMEOUT) {
            stats->timeouts++;
            continue;
        }
        program->steps += r->steps;
        program->runs++;
    }
    stats->instances += n;
    stats->errors = stats->instances - stats->ok - stats->limits;
}

/* Adds what this run has shown. */
static void note_costs(qn_arc_session *s)
{
    for (size_t p = 0; p < s->programs.n; p++) {
        qn_arc_kept_program *k = &s->programs.items[p];

        if (!k->runs)
            continue;
        qn_arc_costs_add(s->costs, k->key, (double)k->steps / k->runs);
        k->steps = 0;
        k->runs = 0;
    }
}

qn_status qn_arc_run_all(qn_arc_session *s, const qn_arc_job *jobs, uint32_t first, uint32_t n,
                         uint32_t want, uint32_t trace_stride, qn_err *err)
{
    qn_arc_slice slice = {
        .jobs = jobs, .first = first, .want = want, .trace_stride = trace_stride
    };
    qn_status st = QN_OK;

    QN_TRY(make_room(s, n, trace_stride, err));
    if (!first)
        s->n_out = 0;
    while (slice.first < n) {
        QN_TRY(run_slice(s, &slice, n - slice.first, err));
        slice.first += slice.n;
    }
out:
    return st;
}

qn_status qn_arc_session_time(qn_arc_session *s, const qn_arc_job *jobs, uint32_t n,
                              double *seconds, qn_err *err)
{
    const qn_arc_stats before = s->stats;
    const qn_arc_told told = s->told;
    const double deadline_us = s->deadline_us;
    qn_status st = QN_OK;

    s->told = NULL;
    s->deadline_us = 0;
    s->is_measuring = 1;
    QN_TRY(check_jobs(s, jobs, n, err));
    QN_TRY(qn_arc_run_all(s, jobs, 0, n, 0, 0, err));
    *seconds = s->stats.time_kernel - before.time_kernel;
out:
    s->told = told;
    s->deadline_us = deadline_us;
    s->is_measuring = 0;
    s->stats = before;
    return st;
}

qn_status qn_arc_session_run(qn_arc_session *s, const qn_arc_job *jobs, uint32_t n, uint32_t want,
                             uint32_t trace_stride, qn_err *err)
{
    const qn_transfer_count before = qn_ctx_transfers(s->ctx);
    qn_transfer_count after;
    int is_done = 0;
    qn_status st = QN_OK;

    QN_TRY(check_jobs(s, jobs, n, err));
    QN_TRY(qn_arc_adapt(s, jobs, n, err));
    QN_TRY(qn_arc_share_run(s, jobs, n, want, &is_done, err));
    if (!is_done)
        QN_TRY(qn_arc_run_all(s, jobs, 0, n, want, trace_stride, err));
    count_jobs(s, jobs, n);
    note_costs(s);
    after = qn_ctx_transfers(s->ctx);
    s->stats.transfers += after.h2d_count + after.d2h_count - before.h2d_count - before.d2h_count;
    s->stats.transfer_bytes +=
        after.h2d_bytes + after.d2h_bytes - before.h2d_bytes - before.d2h_bytes;
out:
    return st;
}

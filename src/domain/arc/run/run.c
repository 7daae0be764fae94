/* run.c - runs jobs in batches whose programs and values fit into the pool together. */
#include "domain/arc/run/cut.h"
#include "domain/arc/run/session_impl.h"
#include "domain/arc/value/value.h"
#include "util/list.h"
#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>

#define OVERSIZE_BYTES ((size_t)1 << 31)

/* Residency. */

static qn_status take_program(qn_arc_batch *b, qn_content_hold *hold, int index,
                              qn_content_taken *taken, qn_err *err)
{
    qn_arc_program_entry *k = &b->s->programs.items[index];

    *taken = QN_CONTENT_RESIDENT;
    if (qn_content_is_held(hold, &k->ticket))
        return QN_OK;
    k->cost = qn_arc_program_cost(b->s, k);
    if (qn_content_retake(b->home->pool, hold, &k->ticket))
        return QN_OK;
    return qn_arc_pool_program(b->home->pool, hold, k->bytes, k->n, &k->ticket, &k->pooled, taken,
                               err);
}

static qn_status take_value(qn_arc_batch *b, qn_content_hold *hold, int index,
                            qn_content_taken *taken, qn_err *err)
{
    qn_arc_value_entry *k;

    *taken = QN_CONTENT_RESIDENT;
    if (index < 0)
        return QN_OK;
    k = &b->s->values.items[index];
    if (qn_content_is_held(hold, &k->ticket) || qn_content_retake(b->home->pool, hold, &k->ticket))
        return QN_OK;
    k->pooled = k->slot;
    return qn_arc_pool_value(b->home->pool, hold, k->bytes, k->n, &k->ticket, &k->pooled, taken,
                             err);
}

qn_status qn_arc_take_job(qn_arc_batch *b, qn_content_hold *hold, const qn_arc_job *job,
                          qn_content_taken *taken, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(take_program(b, hold, job->program, taken, err));
    for (int a = 0; a < 3 && *taken == QN_CONTENT_RESIDENT; a++)
        QN_TRY(take_value(b, hold, job->args[a], taken, err));
    if (*taken == QN_CONTENT_RESIDENT)
        QN_TRY(take_value(b, hold, job->expected, taken, err));
out:
    return st;
}

/* A batch. */

/* Runs as many jobs, up to `most`, as the pool of the home holds; batch->n says how many, 0 if not
 * even one fits. */
static qn_status run_at(qn_arc_batch *b, qn_arc_home *home, uint32_t most, qn_err *err)
{
    qn_content_taken taken = QN_CONTENT_RESIDENT;
    qn_content_hold hold = { 0 };
    qn_status st = QN_OK;

    b->home = home;
    b->n_launched = 0;
    for (b->n = 0; b->n < most; b->n++) {
        QN_TRY(qn_arc_take_job(b, &hold, qn_arc_job_at(b, b->n), &taken, err));
        if (taken != QN_CONTENT_RESIDENT)
            break;
    }
    if (b->n)
        QN_TRY(qn_arc_run_rungs(b, err));
out:
    qn_content_release(home->pool, &hold);
    return st;
}

/* Runs a job that is larger than the pool on the CPU, in its own pool. */
static qn_status run_oversize(qn_arc_batch *b, qn_err *err)
{
    qn_arc_session *s = b->s;
    const qn_arc_job *job = &b->jobs[b->first];
    const qn_arc_limits limits = qn_arc_executor_on_cpu(s->usual.executor);
    char reason[64];
    qn_status st = QN_OK;

    snprintf(reason, sizeof reason, "POOL limit %zu KB", qn_content_budget(s->usual.pool) >> 10);
    if (s->device != QN_CPU_SLOT)
        QN_TRY(qn_arc_note_fallback(s, job, QN_ERR_LIMIT, reason, err));
    if (!s->oversize.pool)
        QN_TRY(qn_arc_pool_open(s->ctx, OVERSIZE_BYTES, &s->oversize.pool, err));
    if (!s->oversize.executor)
        QN_TRY(qn_arc_executor_new(s->ctx, &limits, QN_CPU_SLOT, &s->oversize.executor, err));
    s->stats.oversize++;
    QN_TRY(run_at(b, &s->oversize, 1, err));
    if (b->n == 0)
        st = qn_fail(err, QN_ERR_LIMIT, "arc: program %s with its values is larger than %zu MB",
                     s->programs.items[job->program].id, OVERSIZE_BYTES >> 20);
    qn_content_clear(s->oversize.pool);
out:
    return st;
}

/* Halves a pool for which the device has no memory, so that the batch runs in smaller ones. */
static int shrink_pool(qn_arc_session *s)
{
    const int is_smaller = qn_content_halve(s->usual.pool, s->device);

    s->stats.pool_shrinks += (uint64_t)is_smaller;
    return is_smaller;
}

static qn_status run_batch(qn_arc_batch *b, uint32_t n_left, qn_err *err)
{
    const uint32_t most = qn_arc_cut_batch(n_left);
    qn_arc_session *s = b->s;
    qn_status st;

    do
        st = run_at(b, &s->usual, most, err);
    while (st == QN_ERR_NOMEM && !b->n_launched && shrink_pool(s));
    if (st == QN_OK && b->n == 0)
        return run_oversize(b, err);
    s->stats.pool_pieces += st == QN_OK && b->n < most;
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
    qn_status st = QN_OK;

    free(s->trace);
    s->trace = NULL;
    s->trace_stride = trace_stride;
    QN_TRY(QN_ROOM(s->outcomes, n, &s->outcomes_room, "results", err));
    if (trace_stride)
        QN_TRY(QN_NEW(s->trace, (size_t)n * trace_stride, "a trace", err));
out:
    return st;
}

/* Counts how the jobs ended, and records the steps of their programs, for the order of later
 * batches. */
static void count_jobs(qn_arc_session *s, const qn_arc_job *jobs, uint32_t n)
{
    qn_arc_stats *stats = &s->stats;

    for (uint32_t k = 0; k < n; k++) {
        const arc_result *r = &s->outcomes[k].result;
        qn_arc_program_entry *program = &s->programs.items[jobs[k].program];

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
    for (size_t p = 0; p < s->programs.n; p++) {
        qn_arc_program_entry *k = &s->programs.items[p];

        if (k->runs)
            qn_arc_costs_add(s->costs, k->key, (double)k->steps / k->runs);
        k->steps = 0;
        k->runs = 0;
    }
}

qn_status qn_arc_run_all(qn_arc_session *s, const qn_arc_job *jobs, uint32_t first, uint32_t n,
                         uint32_t want, uint32_t trace_stride, qn_err *err)
{
    qn_arc_batch batch = {
        .s = s, .jobs = jobs, .first = first, .want = want, .trace_stride = trace_stride
    };
    qn_status st = QN_OK;

    QN_TRY(make_room(s, n, trace_stride, err));
    if (!first)
        s->n_out = 0;
    for (; batch.first < n; batch.first += batch.n)
        QN_TRY(run_batch(&batch, n - batch.first, err));
out:
    return st;
}

qn_status qn_arc_session_time(qn_arc_session *s, const qn_arc_job *jobs, uint32_t n,
                              double *seconds, qn_err *err)
{
    const qn_arc_stats before = s->stats;
    qn_arc_on_progress *const on_progress = s->on_progress;
    const double deadline_us = s->deadline_us;
    qn_status st = QN_OK;

    s->on_progress = NULL;
    s->deadline_us = 0;
    s->is_measuring = 1;
    QN_TRY(check_jobs(s, jobs, n, err));
    QN_TRY(qn_arc_run_all(s, jobs, 0, n, 0, 0, err));
    *seconds = s->stats.time_kernel - before.time_kernel;
out:
    s->on_progress = on_progress;
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
    QN_TRY(qn_arc_place_programs(s, jobs, n, err));
    QN_TRY(qn_arc_prefixes_run(s, jobs, n, want, &is_done, err));
    if (!is_done)
        QN_TRY(qn_arc_run_all(s, jobs, 0, n, want, trace_stride, err));
    count_jobs(s, jobs, n);
    after = qn_ctx_transfers(s->ctx);
    s->stats.transfers += after.h2d_count + after.d2h_count - before.h2d_count - before.d2h_count;
    s->stats.transfer_bytes +=
        after.h2d_bytes + after.d2h_bytes - before.h2d_bytes - before.d2h_bytes;
out:
    return st;
}

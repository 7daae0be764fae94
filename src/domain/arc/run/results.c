/* results.c - handles the results of a launch: they are final, or the job runs again. */
#include "domain/arc/run/session_impl.h"
#include "domain/arc/value/value.h"
#include "util/list.h"
#include "util/status.h"

#include <stdio.h>
#include <string.h>

/* The rung on which a job that ended with `code` runs again; QN_ARC_N_RUNGS: the result is final. A
 * job that ran on the CPU beside a device does not go back to the device. */
static qn_arc_rung next_rung(const qn_arc_batch *b, int code, int device)
{
    const int is_beside = device == QN_CPU_SLOT && b->s->device != QN_CPU_SLOT;

    if (!qn_arc_code_is_limit(code) || code == ARC_E_STEPS || code == ARC_E_RESULT ||
        code == ARC_E_TIMEOUT || b->rung == QN_ARC_RUNG_CPU)
        return QN_ARC_N_RUNGS;
    if (b->rung == QN_ARC_RUNG_MANY && !is_beside &&
        (code == ARC_E_ARENA || code == ARC_E_FRAMES || code == ARC_E_SLOTS))
        return QN_ARC_RUNG_FEW;
    return QN_ARC_RUNG_CPU;
}

/* Leaving the device. */

qn_status qn_arc_note_fallback(const qn_arc_session *s, const qn_arc_job *job, qn_status status,
                               const char *reason, qn_err *err)
{
    const int grid = qn_arc_job_grid(s, job);
    qn_err why;

    qn_fail(&why, status, "%s (program %s, grid %s)", reason, s->programs.items[job->program].id,
            grid < 0 ? "none" : s->values.items[grid].id);
    if (qn_fallback_note(s->ctx, "arc.vm", &why) == QN_OK)
        return QN_OK;
    return qn_fail(err, why.status, "%s", why.text);
}

static void limit_text(const qn_arc_batch *b, int code, char *out, size_t n)
{
    const uint32_t bytes = qn_arc_executor_room(b->home->executor, b->rung).arena;

    if (code == ARC_E_ARENA && bytes >= 1 << 20)
        snprintf(out, n, "ARENA limit %u MB", bytes >> 20);
    else if (code == ARC_E_ARENA)
        snprintf(out, n, "ARENA limit %u KB", bytes >> 10);
    else if (code == ARC_E_LOOPS)
        snprintf(out, n, "LOOPS limit %u", qn_arc_executor_max_loops(b->home->executor));
    else
        snprintf(out, n, "%s", qn_arc_code_name(code));
}

/* Counts and logs a job that leaves the device. */
static qn_status leave(qn_arc_batch *b, uint32_t job, int code, int device, qn_err *err)
{
    char limit[64];

    b->s->stats.fallbacks[code]++;
    if (device == QN_CPU_SLOT || b->s->is_measuring)
        return QN_OK;
    limit_text(b, code, limit, sizeof limit);
    return qn_arc_note_fallback(b->s, qn_arc_job_at(b, job),
                                code == ARC_E_UNSUPPORTED ? QN_ERR_UNSUPPORTED : QN_ERR_LIMIT,
                                limit, err);
}

/* Queues a job that exceeded a limit: on its next rung, or on this one with more memory for outputs
 * or a larger budget. */
static qn_status queue_again(qn_arc_batch *b, uint32_t job, const arc_result *r, int device,
                             int *is_final, qn_err *err)
{
    const qn_arc_rung to = next_rung(b, r->code, device);
    qn_arc_queue *q;

    *is_final = 0;
    if (qn_arc_deadline_is_short(b, r)) {
        q = &b->budgets[b->rung].small;
    } else if (r->code == ARC_E_RESULT && !b->is_alone) {
        b->again[b->n_again++] = job;
        b->s->stats.reruns++;
        return QN_OK;
    } else if (r->code == ARC_E_LOOPS) {
        b->is_long[job] = 1;
        q = &b->beside;
    } else if (to == QN_ARC_N_RUNGS) {
        *is_final = 1;
        return QN_OK;
    } else {
        q = &b->waiting[to];
    }
    q->jobs[q->n++] = job;
    if (q == &b->beside || q == &b->waiting[QN_ARC_RUNG_CPU])
        return leave(b, job, r->code, device, err);
    b->s->stats.reruns++;
    return QN_OK;
}

static void count_runs(qn_arc_batch *b, const arc_result *results, uint32_t n, int device)
{
    qn_arc_stats *stats = &b->s->stats;
    uint64_t steps = 0, arena = stats->arena_high_water, frames = stats->frames_high_water;

#pragma omp parallel for schedule(static) if (n > QN_ARC_MANY) num_threads(b->s->threads)          \
    reduction(+ : steps) reduction(max : arena, frames)
    for (uint32_t k = 0; k < n; k++) {
        steps += results[k].steps;
        arena = results[k].arena > arena ? results[k].arena : arena;
        frames = results[k].frames > frames ? results[k].frames : frames;
    }
    *(device == QN_CPU_SLOT ? &stats->cpu_ops : &stats->gpu_ops) += steps;
    stats->arena_high_water = arena;
    stats->frames_high_water = frames;
}

/* Storing. */

qn_status qn_arc_keep_outputs(qn_arc_session *s, const qn_arc_answer *answer, size_t *at,
                              qn_err *err)
{
    qn_status st = QN_OK;

    *at = s->n_out;
    QN_TRY(QN_ROOM(s->out, s->n_out + answer->n_out, &s->out_room, "outputs", err));
    if (answer->n_out)
        memcpy(s->out + s->n_out, answer->out, answer->n_out);
    s->n_out += answer->n_out;
out:
    return st;
}

/* Jobs are in order of cost, so their outcomes are scattered: threads share the cache misses. */
static void keep_results(qn_arc_batch *b, const uint32_t *jobs, uint32_t n,
                         const qn_arc_answer *answer, size_t out_at)
{
    const uint32_t stride = b->trace_stride;

#pragma omp parallel for schedule(static) if (n > QN_ARC_MANY) num_threads(b->s->threads)
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t place = b->first + jobs[k];

        b->s->outcomes[place] = (qn_arc_outcome){ .result = answer->results[k],
                                                  .out_at = out_at,
                                                  .out_bytes = answer->n_out };
        if (stride)
            memcpy(b->s->trace + (size_t)place * stride, answer->trace + (size_t)k * stride,
                   stride * sizeof *answer->trace);
    }
}

qn_status qn_arc_take_results(qn_arc_batch *b, uint32_t first, uint32_t n,
                              const qn_arc_answer *answer, int device, qn_err *err)
{
    const uint32_t *jobs = b->waiting[b->rung].jobs + first;
    uint32_t n_final = n;
    size_t out_at = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_arc_keep_outputs(b->s, answer, &out_at, err));
    keep_results(b, jobs, n, answer, out_at);
    count_runs(b, answer->results, n, device);
    for (uint32_t k = 0; k < n; k++) {
        int is_final = 1;

        if (answer->results[k].code != ARC_OK)
            QN_TRY(queue_again(b, jobs[k], &answer->results[k], device, &is_final, err));
        n_final -= !is_final;
    }
    if (b->s->on_progress && n_final)
        b->s->on_progress(b->s->user, n_final);
out:
    return st;
}

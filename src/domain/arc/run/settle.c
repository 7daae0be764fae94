/* settle.c - what becomes of the results of a launch: final, or to be run again elsewhere. */
#include "domain/arc/run/deadline.h"
#include "domain/arc/run/tiers.h"
#include "domain/arc/value/op_names.h"
#include "engine/engine.h"
#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a job goes that ended with `code`; QN_ARC_N_TIERS: nowhere, this is final. What ran on the
 * CPU beside a device has no business there. */
static qn_arc_tier next_tier(const qn_arc_flight *f, int code, int device)
{
    const int is_beside = device == QN_CPU_SLOT && f->s->device != QN_CPU_SLOT;

    if (!qn_arc_code_is_limit(code) || code == ARC_E_STEPS || code == ARC_E_RESULT ||
        f->tier == QN_ARC_TIER_CPU)
        return QN_ARC_N_TIERS;
    if (f->tier == QN_ARC_TIER_MANY && !is_beside &&
        (code == ARC_E_ARENA || code == ARC_E_FRAMES || code == ARC_E_SLOTS))
        return QN_ARC_TIER_FEW;
    return QN_ARC_TIER_CPU;
}

/* Leaving the device. */

static void limit_text(const qn_arc_flight *f, int code, char *out, size_t n)
{
    const uint32_t bytes = qn_arc_station_arena(f->slice->home->station, f->tier);

    if (code == ARC_E_ARENA && bytes >= 1 << 20)
        snprintf(out, n, "ARENA limit %u MB", bytes >> 20);
    else if (code == ARC_E_ARENA)
        snprintf(out, n, "ARENA limit %u KB", bytes >> 10);
    else if (code == ARC_E_TURNS)
        snprintf(out, n, "TURNS limit %u", qn_arc_station_turns(f->slice->home->station));
    else
        snprintf(out, n, "%s", qn_arc_code_name(code));
}

/* The line that says that a job leaves the device, and its count. */
static qn_status leave(qn_arc_flight *f, uint32_t job, int code, int device, qn_err *err)
{
    const qn_arc_job *j = qn_arc_job_at(f, job);
    const int grid = qn_arc_job_grid(f->s, j);
    char limit[64];
    qn_err why;

    f->s->stats.fallbacks[code]++;
    if (device == QN_CPU_SLOT || f->s->is_measuring)
        return QN_OK;
    limit_text(f, code, limit, sizeof limit);
    qn_fail(&why, code == ARC_E_UNSUPPORTED ? QN_ERR_UNSUPPORTED : QN_ERR_LIMIT,
            "%s (program %s, grid %s)", limit, f->s->programs.items[j->program].id,
            grid < 0 ? "none" : f->s->values.items[grid].id);
    if (qn_fallback_note(f->s->ctx, "arc.vm", &why) == QN_OK)
        return QN_OK;
    return qn_fail(err, why.status, "%s", why.text);
}

/* Counting. */

static void count_runs(qn_arc_flight *f, const arc_result *results, uint32_t n, int device)
{
    qn_arc_stats *stats = &f->s->stats;
    uint64_t steps = 0, arena = stats->arena_high_water, frames = stats->frames_high_water;

#pragma omp parallel for schedule(static) if (n > QN_ARC_MANY) num_threads(f->s->threads)          \
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

/* Keeping. */

qn_status qn_arc_keep_outputs(qn_arc_session *s, const qn_arc_answer *answer, size_t *at,
                              qn_err *err)
{
    *at = s->n_out;
    if (s->n_out + answer->n_out > s->out_room) {
        const size_t room = 2 * (s->n_out + answer->n_out);
        unsigned char *grown = realloc(s->out, room);

        if (!grown)
            return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %zu bytes", room);
        s->out = grown;
        s->out_room = room;
    }
    if (answer->n_out)
        memcpy(s->out + s->n_out, answer->out, answer->n_out);
    s->n_out += answer->n_out;
    return QN_OK;
}

/* What did not fit waits for its next tier, or for its turn or a larger budget in this one. */
static qn_status send_on(qn_arc_flight *f, uint32_t job, const arc_result *r, int device,
                         int *is_final, qn_err *err)
{
    const qn_arc_tier to = next_tier(f, r->code, device);

    *is_final = 0;
    if (qn_arc_deadline_is_short(f, r)) {
        f->budgets[f->tier].small.jobs[f->budgets[f->tier].small.n++] = job;
        f->s->stats.reruns++;
    } else if (r->code == ARC_E_RESULT && !f->is_alone) {
        f->again[f->n_again++] = job;
        f->s->stats.reruns++;
    } else if (r->code == ARC_E_TURNS) {
        f->is_long[job] = 1;
        f->beside.jobs[f->beside.n++] = job;
        return leave(f, job, r->code, device, err);
    } else if (to == QN_ARC_N_TIERS) {
        *is_final = 1;
    } else {
        f->waiting[to].jobs[f->waiting[to].n++] = job;
        if (to == QN_ARC_TIER_CPU)
            return leave(f, job, r->code, device, err);
        f->s->stats.reruns++;
    }
    return QN_OK;
}

/* Jobs are in the order of their cost, so their outcomes lie anywhere: threads share the misses. */
static void keep_results(qn_arc_flight *f, const uint32_t *jobs, uint32_t n,
                         const qn_arc_answer *answer, size_t out_at)
{
    const uint32_t stride = f->slice->trace_stride;

#pragma omp parallel for schedule(static) if (n > QN_ARC_MANY) num_threads(f->s->threads)
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t place = f->slice->first + jobs[k];

        f->s->outcomes[place] = (qn_arc_outcome){ .result = answer->results[k],
                                                  .out_at = out_at,
                                                  .out_bytes = answer->n_out };
        if (stride)
            memcpy(f->s->trace + (size_t)place * stride, answer->trace + (size_t)k * stride,
                   stride * sizeof *answer->trace);
    }
}

qn_status qn_arc_settle(qn_arc_flight *f, uint32_t first, uint32_t n, const qn_arc_answer *answer,
                        int device, qn_err *err)
{
    const uint32_t *jobs = f->waiting[f->tier].jobs + first;
    uint32_t n_final = n;
    size_t out_at = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_arc_keep_outputs(f->s, answer, &out_at, err));
    keep_results(f, jobs, n, answer, out_at);
    count_runs(f, answer->results, n, device);
    for (uint32_t k = 0; k < n; k++) {
        int is_final = 1;

        if (answer->results[k].code != ARC_OK)
            QN_TRY(send_on(f, jobs[k], &answer->results[k], device, &is_final, err));
        n_final -= !is_final;
    }
    if (f->s->told && n_final)
        f->s->told(f->s->told_user, n_final);
out:
    return st;
}

/* tiers.c - a slice of jobs through the tiers, until each has run or failed for good. */
#include "domain/arc/run/session_impl.h"
#include "domain/arc/value/op_names.h"
#include "engine/fallback.h"
#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for outputs of a launch that is run again. */
enum { LEAST_OUTPUT = 8 << 20, MOST_OUTPUT = 256 << 20 };

/* Jobs that a tier is to run, by their number in the slice. */
typedef struct queue {
    uint32_t *jobs;
    uint32_t n;
} queue;

typedef struct flight {
    qn_arc_session *s;
    const qn_arc_slice *slice;
    queue waiting[QN_ARC_N_TIERS];
    uint32_t n_now;      /* jobs of the queue in the next launch */
    int is_alone;        /* which is one, since its output fits beside no other */
    size_t output_bytes; /* room for outputs; 0: what most need */
    arc_instance *list;
    int is_loaded; /* what is new in the pool is on the device */
} flight;

static const arc_program *program_of(const flight *f, uint32_t job)
{
    const qn_arc_job *j = &f->slice->jobs[f->slice->first + job];

    return (const arc_program *)(const void *)f->s->programs.items[j->program].bytes;
}

static uint64_t placed(const flight *f, int value)
{
    return value < 0 ? ARC_SLOT_NONE : f->s->values.items[value].placed;
}

/* ---- order ----------------------------------------------------------------------------- */

/* Costly programs first, so that none is left for the end; neighbours run the same code. */
typedef struct ranked {
    uint32_t bucket; /* of the cost: its highest bit */
    int program;
    uint32_t job;
} ranked;

static int by_rank(const void *a, const void *b)
{
    const ranked *x = a, *y = b;

    if (x->bucket != y->bucket)
        return x->bucket > y->bucket ? -1 : 1;
    if (x->program != y->program)
        return x->program < y->program ? -1 : 1;
    return x->job < y->job ? -1 : x->job > y->job;
}

static uint32_t bucket_of(uint32_t cost)
{
    uint32_t bits = 0;

    for (; cost; cost /= 2)
        bits++;
    return bits;
}

/* The first tier of the device whose slots suffice, which is known before anything has run. */
static qn_arc_tier first_tier(const flight *f, uint32_t job)
{
    const uint32_t n_slot = program_of(f, job)->n_slot;

    return n_slot <= qn_arc_vm_slots(f->s->vm, QN_ARC_TIER_MANY) ? QN_ARC_TIER_MANY
                                                                 : QN_ARC_TIER_FEW;
}

static qn_status queue_all(flight *f, qn_err *err)
{
    const uint32_t n = f->slice->n;
    ranked *order = malloc(((size_t)n + 1) * sizeof *order);

    if (!order)
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %u jobs", n);
    for (uint32_t k = 0; k < n; k++)
        order[k] = (ranked){ .bucket = bucket_of(program_of(f, k)->cost),
                             .program = f->slice->jobs[f->slice->first + k].program,
                             .job = k };
    qsort(order, n, sizeof *order, by_rank);
    for (uint32_t k = 0; k < n; k++) {
        queue *q = &f->waiting[first_tier(f, order[k].job)];

        q->jobs[q->n++] = order[k].job;
    }
    free(order);
    return QN_OK;
}

/* ---- after a tier ---------------------------------------------------------------------- */

/* Where a job goes that ended with `code` in `tier`; QN_ARC_N_TIERS: nowhere, this is final. */
static qn_arc_tier next_tier(qn_arc_tier tier, int code)
{
    if (!qn_arc_code_is_limit(code) || code == ARC_E_STEPS || code == ARC_E_RESULT ||
        tier == QN_ARC_TIER_CPU)
        return QN_ARC_N_TIERS;
    if (tier == QN_ARC_TIER_MANY &&
        (code == ARC_E_ARENA || code == ARC_E_FRAMES || code == ARC_E_SLOTS))
        return QN_ARC_TIER_FEW;
    return QN_ARC_TIER_CPU;
}

static void limit_text(const flight *f, qn_arc_tier tier, int code, char *out, size_t n)
{
    const uint32_t bytes = qn_arc_vm_arena(f->s->vm, tier);

    if (code == ARC_E_ARENA && bytes >= 1 << 20)
        snprintf(out, n, "ARENA limit %u MB", bytes >> 20);
    else if (code == ARC_E_ARENA)
        snprintf(out, n, "ARENA limit %u KB", bytes >> 10);
    else
        snprintf(out, n, "%s", qn_arc_code_name(code));
}

/* The line that says that a job leaves the device, and its count. */
static qn_status note_fallback(flight *f, qn_arc_tier tier, uint32_t job, int code, qn_err *err)
{
    const qn_arc_job *j = &f->slice->jobs[f->slice->first + job];
    const int grid = j->args[1] >= 0 ? j->args[1] : j->args[0];
    char limit[64];
    qn_err why;

    f->s->stats.fallbacks[code]++;
    if (!qn_arc_vm_was_on_device(f->s->vm))
        return QN_OK;
    limit_text(f, tier, code, limit, sizeof limit);
    qn_fail(&why, code == ARC_E_UNSUPPORTED ? QN_ERR_UNSUPPORTED : QN_ERR_LIMIT,
            "%s (program %s, grid %s)", limit, f->s->programs.items[j->program].id,
            grid < 0 ? "none" : f->s->values.items[grid].id);
    if (qn_fallback_note(f->s->ctx, "arc.vm", &why) == QN_OK)
        return QN_OK;
    return qn_fail(err, why.status, "%s", why.text);
}

static void count_final(qn_arc_stats *stats, const arc_result *r)
{
    stats->instances++;
    stats->ok += r->code == ARC_OK;
    stats->errors += r->code != ARC_OK && !qn_arc_code_is_limit(r->code);
    stats->limits += (uint64_t)qn_arc_code_is_limit(r->code);
    stats->not_ok_steps += r->not_ok;
    stats->steps_total += r->steps;
}

static void count_run(qn_arc_stats *stats, const arc_result *r, int on_device)
{
    *(on_device ? &stats->gpu_ops : &stats->cpu_ops) += r->steps;
    if (r->arena > stats->arena_high_water)
        stats->arena_high_water = r->arena;
    if (r->frames > stats->frames_high_water)
        stats->frames_high_water = r->frames;
}

/* Keeps a copy of a launch's outputs behind those of earlier ones. */
static qn_status keep_outputs(qn_arc_session *s, const qn_arc_answer *answer, size_t *at,
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

/* Leaves in the tier's queue what is to run there again: those whose output found no room. */
static qn_status sort_out(flight *f, qn_arc_tier tier, const qn_arc_answer *answer, qn_err *err)
{
    queue *q = &f->waiting[tier];
    uint32_t n_again = 0;
    const uint32_t stride = f->slice->trace_stride;
    const int on_device = qn_arc_vm_was_on_device(f->s->vm);
    size_t out_at = 0;
    qn_status st = QN_OK;

    QN_TRY(keep_outputs(f->s, answer, &out_at, err));
    for (uint32_t k = 0; k < f->n_now; k++) {
        const uint32_t job = q->jobs[k], place = f->slice->first + job;
        const arc_result *r = &answer->results[k];
        const qn_arc_tier to = next_tier(tier, r->code);

        count_run(&f->s->stats, r, on_device);
        f->s->outcomes[place] =
            (qn_arc_outcome){ .result = *r, .out_at = out_at, .out_bytes = answer->n_out };
        if (stride)
            memcpy(f->s->trace + (size_t)place * stride, answer->trace + (size_t)k * stride,
                   stride * sizeof *answer->trace);
        if (r->code == ARC_E_RESULT && !f->is_alone) {
            q->jobs[n_again++] = job;
            f->s->stats.reruns++;
            continue;
        }
        if (to == QN_ARC_N_TIERS) {
            count_final(&f->s->stats, r);
            continue;
        }
        f->waiting[to].jobs[f->waiting[to].n++] = job;
        if (to == QN_ARC_TIER_CPU && to != tier)
            QN_TRY(note_fallback(f, tier, job, r->code, err));
        else
            f->s->stats.reruns++;
    }
    memmove(q->jobs + n_again, q->jobs + f->n_now, (q->n - f->n_now) * sizeof *q->jobs);
    q->n += n_again - f->n_now;
out:
    return st;
}

/* ---- a tier ---------------------------------------------------------------------------- */

static void list_jobs(flight *f, const queue *q)
{
    for (uint32_t k = 0; k < f->n_now; k++) {
        const qn_arc_job *j = &f->slice->jobs[f->slice->first + q->jobs[k]];

        f->list[k] =
            (arc_instance){ .program = (uint32_t)(f->s->programs.items[j->program].placed / 16),
                            .number = k,
                            .args = { placed(f, j->args[0]), placed(f, j->args[1]),
                                      placed(f, j->args[2]) },
                            .expected = placed(f, j->expected) };
    }
}

static void add_times(flight *f)
{
    const qn_arc_times t = qn_arc_vm_times(f->s->vm);
    qn_arc_stats *stats = &f->s->stats;

    stats->time_upload += t.upload * 1e-6;
    stats->time_download += t.download * 1e-6;
    *(qn_arc_vm_was_on_device(f->s->vm) ? &stats->time_kernel : &stats->time_cpu) +=
        t.kernel * 1e-6;
}

static qn_status launch(flight *f, qn_arc_tier tier, qn_err *err)
{
    const queue *q = &f->waiting[tier];
    qn_arc_work work = { .pool = { .bytes = qn_arc_pool_bytes(f->s->pool),
                                   .n = qn_arc_pool_extent(f->s->pool),
                                   .fresh = f->slice->fresh,
                                   .n_fresh = f->is_loaded ? 0 : f->slice->n_fresh },
                         .list = f->list,
                         .n = f->n_now,
                         .want = f->slice->want,
                         .trace_stride = f->slice->trace_stride,
                         .output_bytes = f->output_bytes };
    qn_arc_answer answer = { 0 };
    qn_status st = QN_OK;

    list_jobs(f, q);
    QN_TRY(qn_arc_vm_run(f->s->vm, tier, &work, &answer, err));
    f->is_loaded = 1;
    add_times(f);
    QN_TRY(sort_out(f, tier, &answer, err));
out:
    return st;
}

/* With twice the room for outputs each time; when that helps none, one by one. */
static qn_status run_tier(flight *f, qn_arc_tier tier, qn_err *err)
{
    const queue *q = &f->waiting[tier];
    qn_status st = QN_OK;

    f->output_bytes = 0;
    f->is_alone = 0;
    while (q->n) {
        const uint32_t before = q->n;

        f->n_now = f->is_alone ? 1 : q->n;
        QN_TRY(launch(f, tier, err));
        f->is_alone |= q->n == before;
        f->output_bytes = f->is_alone || 2 * f->output_bytes > MOST_OUTPUT ? MOST_OUTPUT
                          : f->output_bytes                                ? 2 * f->output_bytes
                                                                           : LEAST_OUTPUT;
    }
out:
    return st;
}

qn_status qn_arc_run_tiers(qn_arc_session *session, const qn_arc_slice *slice, qn_err *err)
{
    flight f = { .s = session, .slice = slice };
    qn_status st = QN_OK;

    f.list = malloc(((size_t)slice->n + 1) * sizeof *f.list);
    for (int t = 0; t < QN_ARC_N_TIERS; t++)
        if (!(f.waiting[t].jobs = malloc(((size_t)slice->n + 1) * sizeof(uint32_t))))
            st = QN_ERR_NOMEM;
    if (!f.list || st != QN_OK) {
        st = qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %u jobs", slice->n);
        goto out;
    }
    QN_TRY(queue_all(&f, err));
    for (int t = 0; t < QN_ARC_N_TIERS; t++)
        QN_TRY(run_tier(&f, (qn_arc_tier)t, err));
out:
    free(f.list);
    for (int t = 0; t < QN_ARC_N_TIERS; t++)
        free(f.waiting[t].jobs);
    return st;
}

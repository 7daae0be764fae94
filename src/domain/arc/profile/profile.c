/* profile.c - jobs on threads of the CPU, and the sum of what their machines counted. */
#include "domain/arc/profile/profile.h"

#include "domain/arc/pool/pool.h"
#include "domain/arc/profile/profile_vm.h"
#include "domain/arc/run/session_impl.h"
#include "util/clock.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

#define POOL_BYTES ((size_t)1 << 31)

enum { DEVICE_TRIES = 2 };

/* Where values and programs of the session lie in the profile's pool. */
typedef struct places {
    qn_arc_pool *pool;
    qn_arc_batch batch;
    uint64_t *values;   /* slots, by number in the session; 0: not taken yet */
    uint32_t *programs; /* places + 1 */
} places;

typedef struct job_time {
    int64_t ticks;
    uint32_t steps;
    uint8_t code;
} job_time;

/* ---- what jobs need -------------------------------------------------------------------- */

static qn_status open_places(places *p, const qn_arc_session *s, qn_err *err)
{
    const qn_arc_pool_options options = { .budget_bytes = POOL_BYTES };

    p->values = calloc(s->values.n + 1, sizeof *p->values);
    p->programs = calloc(s->programs.n + 1, sizeof *p->programs);
    if (!p->values || !p->programs)
        return qn_fail(err, QN_ERR_NOMEM, "arc: no memory for a profile");
    return qn_arc_pool_new(&options, &p->pool, err);
}

static void close_places(places *p)
{
    if (p->pool)
        qn_arc_pool_release(p->pool, &p->batch);
    qn_arc_pool_free(p->pool);
    free(p->values);
    free(p->programs);
}

static qn_status place_value(places *p, const qn_arc_session *s, int value, uint64_t *out,
                             qn_err *err)
{
    const qn_arc_kept_value *k;
    qn_arc_taken taken = QN_ARC_FULL;
    qn_status st = QN_OK;

    *out = ARC_SLOT_NONE;
    if (value < 0)
        return QN_OK;
    k = &s->values.items[value];
    if (!p->values[value]) {
        p->values[value] = k->slot;
        QN_TRY(qn_arc_pool_take(p->pool, &p->batch, QN_ARC_USE_ALWAYS, &p->values[value], k->bytes,
                                k->n, &taken, err));
        if (taken != QN_ARC_RESIDENT)
            return qn_fail(err, QN_ERR_LIMIT, "arc: a profile takes more than %zu MB of values",
                           POOL_BYTES >> 20);
    }
    *out = p->values[value];
out:
    return st;
}

static qn_status place_job(places *p, const qn_arc_session *s, const qn_arc_job *job,
                           arc_instance *out, qn_err *err)
{
    const qn_arc_kept_program *k = &s->programs.items[job->program];
    qn_arc_taken taken = QN_ARC_RESIDENT;
    uint32_t place = 0;
    qn_status st = QN_OK;

    if (!p->programs[job->program]) {
        QN_TRY(qn_arc_pool_take_program(p->pool, &p->batch, k->bytes, k->n, &place, &taken, err));
        if (taken != QN_ARC_RESIDENT)
            return qn_fail(err, QN_ERR_LIMIT, "arc: a profile takes more than %zu MB of programs",
                           POOL_BYTES >> 20);
        p->programs[job->program] = place + 1;
    }
    out->program = (p->programs[job->program] - 1) / 16;
    for (int a = 0; a < 3; a++)
        QN_TRY(place_value(p, s, job->args[a], &out->args[a], err));
    out->expected = ARC_SLOT_NONE;
out:
    return st;
}

/* ---- running --------------------------------------------------------------------------- */

static void add_ops(qn_arc_profile *profile, const qn_arc_profile_vm *vm, double per_tick)
{
    const qn_arc_op_count *counts = qn_arc_profile_vm_ops(vm);

    for (int op = 0; op < ARC_N_OPS; op++) {
        profile->ops[op].count += counts[op].count;
        profile->ops[op].elements += counts[op].elements;
        if (counts[op].ticks > 0)
            profile->ops[op].seconds += (double)counts[op].ticks * per_tick;
    }
}

/* Ticks of the processor's counter last as long as the wall clock says. */
static double seconds_per_tick(void)
{
    enum { US = 20000 };
    const double start = qn_now_us();
    const int64_t ticks = qn_arc_profile_now();
    double us;

    do
        us = qn_now_us() - start;
    while (us < US);
    return us * 1e-6 / (double)(qn_arc_profile_now() - ticks);
}

static void add_programs(qn_arc_profile *profile, const qn_arc_job *jobs, const job_time *times,
                         uint32_t n, double per_tick)
{
    for (uint32_t k = 0; k < n; k++) {
        qn_arc_profile_program *program = &profile->programs[jobs[k].program];
        const double seconds = (double)times[k].ticks * per_tick;

        program->runs++;
        program->steps += times[k].steps;
        program->seconds += seconds;
        profile->runs++;
        profile->steps += times[k].steps;
        profile->seconds += seconds;
        profile->limits += (uint64_t)qn_arc_code_is_limit(times[k].code);
    }
}

/* Every thread takes jobs until none is left; which one ran a job is not seen in the sums. */
static qn_status run_jobs(qn_arc_profile *profile, const places *p, const arc_instance *list,
                          const qn_arc_session *s, job_time *times, uint32_t n, int threads,
                          double per_tick, qn_err *err)
{
    const unsigned char *pool = qn_arc_pool_bytes(p->pool);
    int has_failed = 0;

#pragma omp parallel num_threads(threads)
    {
        qn_arc_profile_vm *vm = qn_arc_profile_vm_new(s->limits.max_steps);

        if (!vm) {
#pragma omp atomic write
            has_failed = 1;
        }
#pragma omp for schedule(dynamic, 16)
        for (uint32_t k = 0; k < n; k++) {
            arc_result r = { 0 };

            if (!vm)
                continue;
            times[k].ticks = qn_arc_profile_vm_run(vm, pool, &list[k], &r);
            times[k].steps = r.steps;
            times[k].code = r.code;
        }
#pragma omp critical(qn_arc_profile)
        if (vm)
            add_ops(profile, vm, per_tick);
        qn_arc_profile_vm_free(vm);
    }
    return has_failed ? qn_fail(err, QN_ERR_NOMEM, "arc: no memory for a profile") : QN_OK;
}

static qn_status make_room(qn_arc_profile *profile, const qn_arc_session *s, qn_err *err)
{
    const int n = (int)s->programs.n;
    qn_arc_profile_program *grown;

    if (n <= profile->n_programs)
        return QN_OK;
    if (!(grown = realloc(profile->programs, (size_t)n * sizeof *grown)))
        return qn_fail(err, QN_ERR_NOMEM, "arc: no memory for a profile of %d programs", n);
    memset(grown + profile->n_programs, 0, (size_t)(n - profile->n_programs) * sizeof *grown);
    profile->programs = grown;
    profile->n_programs = n;
    return QN_OK;
}

qn_status qn_arc_profile_add(qn_arc_profile *profile, const qn_arc_session *s,
                             const qn_arc_job *jobs, uint32_t n, int threads, qn_err *err)
{
    const double per_tick = seconds_per_tick();
    places p = { 0 };
    arc_instance *list = malloc(((size_t)n + 1) * sizeof *list);
    job_time *times = calloc((size_t)n + 1, sizeof *times);
    qn_status st = QN_OK;

    if (!list || !times) {
        st = qn_fail(err, QN_ERR_NOMEM, "arc: no memory for a profile of %u runs", n);
        goto out;
    }
    QN_TRY(make_room(profile, s, err));
    QN_TRY(open_places(&p, s, err));
    for (uint32_t k = 0; k < n; k++)
        QN_TRY(place_job(&p, s, &jobs[k], &list[k], err));
    QN_TRY(run_jobs(profile, &p, list, s, times, n, threads > 0 ? threads : 1, per_tick, err));
    add_programs(profile, jobs, times, n, per_tick);
out:
    close_places(&p);
    free(list);
    free(times);
    return st;
}

qn_status qn_arc_profile_device(qn_arc_profile *p, qn_arc_session *session, const qn_arc_job *jobs,
                                uint32_t n, qn_err *err)
{
    qn_arc_job *own = malloc(((size_t)n + 1) * sizeof *own);
    qn_status st = QN_OK;

    if (!own)
        return qn_fail(err, QN_ERR_NOMEM, "arc: no memory for %u runs", n);
    for (int program = 0; program < p->n_programs; program++) {
        uint32_t n_own = 0;
        double best = 0;

        for (uint32_t k = 0; k < n; k++)
            if (jobs[k].program == program)
                own[n_own++] = jobs[k];
        for (int i = 0; n_own && i < DEVICE_TRIES; i++) {
            double seconds = 0;

            QN_TRY(qn_arc_session_time(session, own, n_own, &seconds, err));
            best = i == 0 || seconds < best ? seconds : best;
        }
        p->programs[program].device_seconds += best;
    }
    p->has_device = 1;
out:
    free(own);
    return st;
}

void qn_arc_profile_free(qn_arc_profile *profile)
{
    free(profile->programs);
    *profile = (qn_arc_profile){ 0 };
}

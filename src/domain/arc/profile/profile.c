/* profile.c - runs jobs on threads of the CPU and sums the counts of their machines. */
#include "domain/arc/profile/profile.h"

#include "domain/arc/run/session_impl.h"
#include "domain/arc/value/value.h"
#include "util/clock.h"
#include "util/list.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

enum { DEVICE_TRIES = 2 };

typedef struct job_time {
    int64_t ticks;
    uint32_t steps;
    uint8_t code;
} job_time;

/* Running. */

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

/* Calibrates the processor's counter against the wall clock. */
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

/* Threads take jobs until none is left; the sums do not depend on which thread ran a job. */
static qn_status run_jobs(qn_arc_profile *profile, const qn_arc_placed_jobs *p,
                          const qn_arc_session *s, job_time *times, uint32_t n, int threads,
                          double per_tick, qn_err *err)
{
    const unsigned char *pool = qn_content_bytes(p->pool);
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
            times[k].ticks = qn_arc_profile_vm_run(vm, pool, &p->list[k], &r);
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
    qn_status st = QN_OK;

    if (n <= profile->n_programs)
        return QN_OK;
    QN_TRY(QN_ROOM(profile->programs, n, &profile->room, "a profile of programs", err));
    memset(profile->programs + profile->n_programs, 0,
           (size_t)(n - profile->n_programs) * sizeof *profile->programs);
    profile->n_programs = n;
out:
    return st;
}

qn_status qn_arc_profile_add(qn_arc_profile *profile, qn_arc_session *s, const qn_arc_job *jobs,
                             uint32_t n, int threads, qn_err *err)
{
    const double per_tick = seconds_per_tick();
    qn_arc_placed_jobs p = { 0 };
    job_time *times = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(times, (size_t)n + 1, "a profile of runs", err));
    QN_TRY(make_room(profile, s, err));
    QN_TRY(qn_arc_placed_jobs_open(&p, s, jobs, n, err));
    QN_TRY(run_jobs(profile, &p, s, times, n, threads > 0 ? threads : 1, per_tick, err));
    add_programs(profile, jobs, times, n, per_tick);
out:
    qn_arc_placed_jobs_close(&p);
    free(times);
    return st;
}

qn_status qn_arc_profile_device(qn_arc_profile *p, qn_arc_session *session, const qn_arc_job *jobs,
                                uint32_t n, qn_err *err)
{
    qn_arc_job *own = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(own, n, "runs", err));
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

/* adapt.c - what a run of a program takes on the device and on the CPU. */
#include "domain/arc/run/adapt.h"

#include "domain/arc/run/session_impl.h"
#include "engine/engine.h"
#include "util/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Jobs of a program that are measured, and how often: the quicker time counts. With copies they are
 * as many as the device runs at once, and so many that a launch itself hardly counts; but at most
 * what the CPU does in that time. */
enum { MOST_SAMPLES = 32, TRIES = 2, LEAST_FILLED = 256, MOST_FILL_US = 200000 };

/* Less than that of a run is no reason to leave the device. */
#define TELLING_US 0.1

int qn_arc_is_for_cpu(const qn_arc_session *s, int program)
{
    return s->programs.items[program].place == QN_ARC_PLACE_CPU && s->device != QN_CPU_SLOT &&
           !s->spread;
}

static int can_choose(const qn_arc_session *s)
{
    return s->adapts && s->device != QN_CPU_SLOT && !s->spread && s->route != QN_ARC_ROUTE_CPU;
}

/* Measuring. */

/* Time of the jobs at one place, by the clock that routes are chosen by. */
static qn_status time_at(qn_arc_session *s, qn_arc_route route, const qn_arc_job *jobs, uint32_t n,
                         double *us, qn_err *err)
{
    const qn_arc_route had = s->route;
    double seconds, start;
    qn_status st = QN_OK;

    s->route = route;
    for (int i = 0; st == QN_OK && i < TRIES; i++) {
        double took;

        start = qn_ctx_now_us(s->ctx);
        st = qn_arc_session_time(s, jobs, n, &seconds, err);
        took = qn_ctx_now_us(s->ctx) - start;
        *us = i == 0 || took < *us ? took : *us;
    }
    s->route = had;
    return st;
}

/* The first jobs of a program; gives how many. */
static uint32_t take_samples(const qn_arc_job *jobs, uint32_t n, int program, qn_arc_job *out)
{
    uint32_t k = 0;

    for (uint32_t i = 0; i < n && k < MOST_SAMPLES; i++)
        if (jobs[i].program == program)
            out[k++] = jobs[i];
    return k;
}

/* Copies behind the n samples, until there are enough; gives how many there are then. */
static uint32_t fill(qn_arc_job *samples, uint32_t n, uint32_t enough)
{
    uint32_t k = n;

    for (; k < enough; k++)
        samples[k] = samples[k - n];
    return k;
}

static void explain(qn_arc_session *s, const qn_arc_kept_program *p, uint32_t n, const double us[2])
{
    qn_route_choice choice = { .device = p->place == QN_ARC_PLACE_CPU ? QN_CPU_SLOT : s->device,
                               .why = QN_WHY_BEST };

    for (int d = 0; d < QN_MAX_DEVICES; d++)
        choice.predicted_us[d] = d == QN_CPU_SLOT ? us[0] : d == s->device ? us[1] : NAN;
    qn_route_explain_choice(s->ctx, p->id, "arc.program", n, &choice, NAN);
}

static uint32_t enough_jobs(const qn_arc_session *s)
{
    const uint32_t n_teams = qn_arc_station_teams(s->usual.station, QN_ARC_TIER_MANY);

    return n_teams > LEAST_FILLED ? n_teams : LEAST_FILLED;
}

/* `samples` has room for copies. */
static qn_status measure(qn_arc_session *s, int program, qn_arc_job *samples, uint32_t n,
                         qn_err *err)
{
    const uint32_t enough = enough_jobs(s);
    double cpu_us = 0, device_us = 0;
    qn_arc_kept_program *p;
    uint32_t n_filled = n;
    qn_status st = QN_OK;

    QN_TRY(time_at(s, QN_ARC_ROUTE_CPU, samples, n, &cpu_us, err));
    if (cpu_us / n * enough < MOST_FILL_US) {
        n_filled = fill(samples, n, enough);
        QN_TRY(time_at(s, QN_ARC_ROUTE_CPU, samples, n_filled, &cpu_us, err));
    }
    QN_TRY(time_at(s, QN_ARC_ROUTE_DEVICE, samples, n_filled, &device_us, err));
    cpu_us /= n_filled;
    device_us /= n_filled;
    p = &s->programs.items[program];
    p->place = device_us > cpu_us + TELLING_US ? QN_ARC_PLACE_CPU : QN_ARC_PLACE_DEVICE;
    explain(s, p, n, (const double[]){ cpu_us, device_us });
out:
    return st;
}

/* A batch. */

/* Programs of the batch without a place, in the order of their first jobs. */
static uint32_t find_new(const qn_arc_session *s, const qn_arc_job *jobs, uint32_t n, int *out)
{
    char *is_listed = calloc(s->programs.n + 1, 1);
    uint32_t n_new = 0;

    for (uint32_t k = 0; is_listed && k < n; k++) {
        const int p = jobs[k].program;

        if (s->programs.items[p].place == QN_ARC_PLACE_OPEN && !is_listed[p])
            out[n_new++] = p;
        is_listed[p] = 1;
    }
    free(is_listed);
    return n_new;
}

qn_status qn_arc_adapt(qn_arc_session *s, const qn_arc_job *jobs, uint32_t n, qn_err *err)
{
    qn_arc_job *samples = NULL;
    int *fresh = NULL;
    uint32_t n_fresh;
    double ignored;
    qn_status st = QN_OK;

    if (!can_choose(s))
        return QN_OK;
    fresh = malloc((s->programs.n + 1) * sizeof *fresh);
    samples = malloc((enough_jobs(s) + MOST_SAMPLES) * sizeof *samples);
    if (!fresh || !samples) {
        st = qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory to measure %zu programs",
                     s->programs.n);
        goto out;
    }
    n_fresh = find_new(s, jobs, n, fresh);
    for (uint32_t k = 0; k < n_fresh; k++) {
        const uint32_t n_own = take_samples(jobs, n, fresh[k], samples);

        /* The first launch loads the module and makes buffers. */
        if (k == 0)
            QN_TRY(time_at(s, QN_ARC_ROUTE_DEVICE, samples, n_own, &ignored, err));
        QN_TRY(measure(s, fresh[k], samples, n_own, err));
        s->stats.cpu_programs += s->programs.items[fresh[k]].place == QN_ARC_PLACE_CPU;
        s->stats.adapted_programs++;
    }
out:
    free(fresh);
    free(samples);
    return st;
}

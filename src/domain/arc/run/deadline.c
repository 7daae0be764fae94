/* deadline.c - budgets of steps that keep launches short. */
#include "domain/arc/run/deadline.h"

#include "util/clock.h"

#include <string.h>

/* The first budget: of the public solvers' runs, 96 of 100 need no more. What comes to the last
 * tier has values of any size, so that its steps take long. */
enum { FIRST_STEPS = 1024, FIRST_STEPS_LAST = 64, MOST_GROWTH = 8 };

/* Jobs of a launch while budgets are small; and those that a device runs at the same time. */
enum { FIRST_JOBS = 512, DEVICE_JOBS = 256 };

/* A budget that can grow by less is not worth another run. */
#define LEAST_GROWTH 1.25

static int is_cpu(const qn_arc_flight *f)
{
    return f->s->device == QN_CPU_SLOT && !f->s->spread;
}

/* Jobs that run at the same time. */
static uint32_t at_once(const qn_arc_flight *f)
{
    if (f->tier == QN_ARC_TIER_CPU)
        return qn_arc_station_teams(f->s->usual.station, QN_ARC_TIER_CPU);
    return is_cpu(f) ? (uint32_t)f->s->threads : DEVICE_JOBS;
}

/* Until it has run, a job has a result that says so. */
static void clear_outcomes(qn_arc_flight *f)
{
    static const qn_arc_outcome none = { .result = { .value = ARC_SLOT_NONE, .differing = 65535 } };

    for (uint32_t k = 0; k < f->slice->n; k++)
        f->s->outcomes[f->slice->first + k] = none;
}

void qn_arc_deadline_begin(qn_arc_flight *f)
{
    if (!(f->s->deadline_us > 0))
        return;
    for (int t = 0; t < QN_ARC_N_TIERS; t++)
        f->budgets[t].steps = t == QN_ARC_TIER_CPU ? FIRST_STEPS_LAST : FIRST_STEPS;
    clear_outcomes(f);
}

int qn_arc_deadline_is_over(const qn_arc_flight *f)
{
    return f->s->deadline_us > 0 && qn_now_us() >= f->s->deadline_us;
}

uint32_t qn_arc_deadline_jobs(const qn_arc_flight *f)
{
    const uint32_t steps = f->budgets[f->tier].steps;

    if (!steps)
        return UINT32_MAX;
    return f->tier == QN_ARC_TIER_MANY && steps == FIRST_STEPS ? FIRST_JOBS : at_once(f);
}

/* Jobs run in waves of as many as run at once; the longest wave says what a budget may take. */
void qn_arc_deadline_took(qn_arc_flight *f, double us)
{
    const double waves = (f->n_now + at_once(f) - 1) / at_once(f);
    qn_arc_budget *b = &f->budgets[f->tier];

    if (us / waves > b->wave_us)
        b->wave_us = us / waves;
}

int qn_arc_deadline_is_short(const qn_arc_flight *f, const arc_result *r)
{
    const uint32_t steps = f->budgets[f->tier].steps;

    if (!steps || steps >= qn_arc_station_steps(f->s->usual.station))
        return 0;
    return r->code == ARC_E_STEPS || (r->code == ARC_E_TURNS && r->steps >= steps);
}

/* What ran has left a result that says how far it came. */
void qn_arc_deadline_give_up(qn_arc_flight *f, qn_arc_tier tier)
{
    qn_arc_queue *q = &f->waiting[tier];

    for (uint32_t k = 0; k < q->n; k++)
        f->s->outcomes[f->slice->first + q->jobs[k]].result.code = ARC_E_TIMEOUT;
    if (f->s->told && q->n)
        f->s->told(f->s->told_user, q->n);
    q->n = 0;
}

/* The tier's jobs with too small a budget become its queue. */
static void queue_small(qn_arc_flight *f, int tier)
{
    qn_arc_queue *small = &f->budgets[tier].small, *q = &f->waiting[tier];

    memcpy(q->jobs, small->jobs, small->n * sizeof *q->jobs);
    q->n = small->n;
    small->n = 0;
}

int qn_arc_deadline_again(qn_arc_flight *f)
{
    const double left_us = f->s->deadline_us - qn_now_us();
    const uint32_t most = qn_arc_station_steps(f->s->usual.station);
    int n_tiers = 0, n_again = 0;

    for (int t = 0; t < QN_ARC_N_TIERS; t++)
        n_tiers += f->budgets[t].small.n > 0;
    for (int t = 0; t < QN_ARC_N_TIERS; t++) {
        qn_arc_budget *b = &f->budgets[t];
        const double growth = b->small.n ? left_us / n_tiers / b->wave_us : 0;
        const double steps = b->steps * (growth < MOST_GROWTH ? growth : MOST_GROWTH);

        if (!b->small.n)
            continue;
        queue_small(f, t);
        if (growth < LEAST_GROWTH) {
            qn_arc_deadline_give_up(f, (qn_arc_tier)t);
            continue;
        }
        n_again++;
        b->wave_us = 0;
        b->steps = steps < most ? (uint32_t)steps : most;
    }
    return n_again > 0;
}

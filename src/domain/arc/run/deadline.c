/* deadline.c - budgets of steps that keep launches short.
 *
 * Nothing stops a launch that has begun on a device, and only the CPU tells a run the time. So with
 * a deadline launches are short: they have few jobs, and each job has a budget of steps. When all rungs have
 * run what they could, jobs that need more are run again from their beginning. Their budget grows
 * by as much as the time left allows, at most MOST_GROWTH times, which costs a seventh more at
 * worst. When the time is over, what has not ended is given up. Without a deadline there is no
 * budget but the limit on steps.
 */
#include "domain/arc/run/cut.h"
#include "domain/arc/run/session_impl.h"

#include "util/clock.h"

#include <string.h>

/* Of the runs of the public solvers, 96 of 100 need no more than QN_ARC_FIRST_STEPS. Values on the
 * last rung have any size, so its steps take long. */
enum { FIRST_STEPS_LAST = 64, MOST_GROWTH = 8 };

/* A budget that can grow by less is not worth another run. */
#define LEAST_GROWTH 1.25

/* Until it has run, a job has a result that says it did not finish. */
static void clear_outcomes(qn_arc_batch *b)
{
    static const qn_arc_outcome none = { .result = { .value = ARC_SLOT_NONE, .differing = 65535 } };

    for (uint32_t k = 0; k < b->n; k++)
        b->s->outcomes[b->first + k] = none;
}

void qn_arc_deadline_begin(qn_arc_batch *b)
{
    if (!(b->s->deadline_us > 0))
        return;
    for (int r = 0; r < QN_ARC_N_RUNGS; r++)
        b->budgets[r].steps = r == QN_ARC_RUNG_CPU ? FIRST_STEPS_LAST : QN_ARC_FIRST_STEPS;
    clear_outcomes(b);
}

int qn_arc_deadline_is_over(const qn_arc_batch *b)
{
    return b->s->deadline_us > 0 && qn_now_us() >= b->s->deadline_us;
}

/* Jobs run in waves of as many as fit at the same time; the longest wave limits the budget. */
void qn_arc_deadline_took(qn_arc_batch *b, double us)
{
    const uint32_t at_once = qn_arc_jobs_at_once(b);
    const double waves = (b->n_now + at_once - 1) / at_once;
    qn_arc_budget *budget = &b->budgets[b->rung];

    if (us / waves > budget->wave_us)
        budget->wave_us = us / waves;
}

int qn_arc_deadline_is_short(const qn_arc_batch *b, const arc_result *r)
{
    const uint32_t steps = b->budgets[b->rung].steps;

    if (!steps || steps >= qn_arc_executor_max_steps(b->s->usual.executor))
        return 0;
    return r->code == ARC_E_STEPS || (r->code == ARC_E_LOOPS && r->steps >= steps);
}

/* Jobs that ran have left a result that says how far they got. */
void qn_arc_deadline_give_up(qn_arc_batch *b, qn_arc_rung rung)
{
    qn_arc_queue *q = &b->waiting[rung];

    for (uint32_t k = 0; k < q->n; k++)
        b->s->outcomes[b->first + q->jobs[k]].result.code = ARC_E_TIMEOUT;
    if (b->s->on_progress && q->n)
        b->s->on_progress(b->s->user, q->n);
    q->n = 0;
}

/* Moves the rung's jobs whose budget was too small into its queue. */
static void queue_small(qn_arc_batch *b, int rung)
{
    qn_arc_queue *small = &b->budgets[rung].small, *q = &b->waiting[rung];

    memcpy(q->jobs, small->jobs, small->n * sizeof *q->jobs);
    q->n = small->n;
    small->n = 0;
}

int qn_arc_deadline_again(qn_arc_batch *b)
{
    const double left_us = b->s->deadline_us - qn_now_us();
    const uint32_t most = qn_arc_executor_max_steps(b->s->usual.executor);
    int n_rungs = 0, n_again = 0;

    for (int r = 0; r < QN_ARC_N_RUNGS; r++)
        n_rungs += b->budgets[r].small.n > 0;
    for (int r = 0; r < QN_ARC_N_RUNGS; r++) {
        qn_arc_budget *budget = &b->budgets[r];
        const double growth = budget->small.n ? left_us / n_rungs / budget->wave_us : 0;
        const double steps = budget->steps * (growth < MOST_GROWTH ? growth : MOST_GROWTH);

        if (!budget->small.n)
            continue;
        queue_small(b, r);
        if (growth < LEAST_GROWTH) {
            qn_arc_deadline_give_up(b, (qn_arc_rung)r);
            continue;
        }
        n_again++;
        budget->wave_us = 0;
        budget->steps = steps < most ? (uint32_t)steps : most;
    }
    return n_again > 0;
}

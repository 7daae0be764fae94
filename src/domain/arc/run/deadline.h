/* deadline.h - runs that are to be over at some time. Private to domain/arc/run.
 *
 * Nothing stops a launch that has begun, and no device tells the time to a run. So with a deadline
 * launches are short: they have few jobs, and each job a budget of steps. When all tiers have run
 * what they could, those that need more are run again from their beginning with a budget that is
 * larger by as much as the time left allows, 8 times at most, which costs a seventh more at worst.
 * When the time is over, what has not ended is given up. Without a deadline there is no budget but
 * the limit on steps.
 */
#ifndef QN_ARC_DEADLINE_H
#define QN_ARC_DEADLINE_H

#include "domain/arc/run/tiers.h"

/* The first budgets of all tiers. */
void qn_arc_deadline_begin(qn_arc_flight *flight);

/* Whether the time is over. */
int qn_arc_deadline_is_over(const qn_arc_flight *flight);

/* The most jobs that a launch of the tier may have now. */
uint32_t qn_arc_deadline_jobs(const qn_arc_flight *flight);

/* A launch of the flight's jobs took `us`. */
void qn_arc_deadline_took(qn_arc_flight *flight, double us);

/* Whether a job that ended so waits for a larger budget. */
int qn_arc_deadline_is_short(const qn_arc_flight *flight, const arc_result *result);

/* Jobs whose budget was too small wait in their tiers again, with a larger one. 0: there are none,
 * or there is no time for them and they have been given up. */
int qn_arc_deadline_again(qn_arc_flight *flight);

/* Gives up all jobs that wait in a tier. */
void qn_arc_deadline_give_up(qn_arc_flight *flight, qn_arc_tier tier);

#endif

/* pace.h - when to save a state for an interruption: not often, and for little of the time.
 *
 * All of them together take at most a fiftieth of the time since the beginning, by what the last
 * one took for each byte. QUERN_CHECKPOINT_S sets the least seconds between two; 0 makes one due
 * always, for tests.
 */
#ifndef QN_UTIL_PACE_H
#define QN_UTIL_PACE_H

typedef struct qn_pace {
    double least_us, start_us, last_us, spent_us, us_per_byte;
} qn_pace;

qn_pace qn_pace_begin(void);

/* Whether to save a state of so many bytes now. */
int qn_pace_is_due(const qn_pace *pace, double bytes);

/* A state was saved, from `since_us` until now. */
void qn_pace_note(qn_pace *pace, double bytes, double since_us);

#endif

/* ahead.h - work that is begun before its result is asked for, on threads beside the caller's.
 *
 * A job is posted, and needed later: who needs one that no thread has begun does it himself, so
 * nobody ever waits for a thread to become free. Threads are made when there is work and end when
 * there is none.
 */
#ifndef QN_UTIL_AHEAD_H
#define QN_UTIL_AHEAD_H

#include <quern/quern.h>

typedef struct qn_ahead qn_ahead;

typedef enum { QN_JOB_NEW, QN_JOB_POSTED, QN_JOB_RUNNING, QN_JOB_DONE } qn_job_state;

/* First member of what the caller makes a job of. */
typedef struct qn_job {
    void (*run)(struct qn_job *job);
    qn_job_state state; /* of ahead.c alone */
    struct qn_job *next;
} qn_job;

/* `n_threads` at most; 0: every job is done by who needs it. NULL for lack of memory. */
qn_ahead *qn_ahead_new(int n_threads);

/* Waits for jobs that were begun and forgets the others. NULL is fine. */
void qn_ahead_free(qn_ahead *ahead);

void qn_ahead_post(qn_ahead *ahead, qn_job *job);

/* Returns when the job is done. */
void qn_ahead_need(qn_ahead *ahead, qn_job *job);

/* Makes sure that no thread has the job or will take it; it may not have been done. */
void qn_ahead_drop(qn_ahead *ahead, qn_job *job);

int qn_ahead_is_done(qn_ahead *ahead, const qn_job *job);

#endif

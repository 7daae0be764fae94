/* placed_jobs.h - where values and programs of a session lie for the machine of a profile. */
#ifndef QN_ARC_PLACED_JOBS_H
#define QN_ARC_PLACED_JOBS_H

#include "domain/arc/run/pool.h"
#include "domain/arc/run/session.h"

typedef struct qn_arc_placed_jobs {
    qn_content_store *pool;
    qn_content_hold hold;
    uint64_t *values;   /* slots, by number in the session; 0: not taken yet */
    uint32_t *programs; /* places + 1 */
} qn_arc_placed_jobs;

qn_status qn_arc_placed_jobs_open(qn_arc_placed_jobs *placed, const qn_arc_session *session,
                                  qn_err *err);
void qn_arc_placed_jobs_close(qn_arc_placed_jobs *placed); /* zeroed is fine */

/* Puts what the job needs into the pool. */
qn_status qn_arc_placed_jobs_add(qn_arc_placed_jobs *placed, const qn_arc_session *session,
                                 const qn_arc_job *job, arc_instance *out, qn_err *err);

#endif

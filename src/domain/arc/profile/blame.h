/* blame.h - which primitive failed, where a function was called.
 *
 * A result names the statement: apply(f, x) failed. The job runs once more, on the machine of a
 * profile, to find out what f did. That is for people who look at a few failures.
 */
#ifndef QN_ARC_BLAME_H
#define QN_ARC_BLAME_H

#include "domain/arc/profile/profile_vm.h"
#include "domain/arc/run/session.h"

/* Finds it for a job that failed with this result. op is -1 when nothing more is known. */
qn_status qn_arc_blame(const qn_arc_session *session, const qn_arc_job *job,
                       const arc_result *result, qn_arc_blamed *out, qn_err *err);

#endif

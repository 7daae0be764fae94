/* profile.h - where the time of grid programs goes: by primitive and by program.
 *
 * Devices count the steps of whole runs alone. A profile is made by the virtual machine as plain C
 * on the CPU, in which every primitive is timed: it is the same text and takes the same steps. The
 * time of a primitive that calls a function is what it does itself; what the function does counts
 * for its own primitives.
 */
#ifndef QN_ARC_PROFILE_H
#define QN_ARC_PROFILE_H

#include "domain/arc/compile/compile.h"
#include "domain/arc/profile/profile_vm.h"
#include "domain/arc/run/executor.h"
#include "domain/arc/run/session.h"
#include "kernel/arc/arc_ops.h"

typedef struct qn_arc_profile_op {
    uint64_t count;
    uint64_t elements; /* of its first operand: cells of grids, members of containers, else 1 */
    double seconds;
} qn_arc_profile_op;

typedef struct qn_arc_profile_program {
    uint64_t runs, steps;
    double seconds;
    double device_seconds; /* of launches that hold nothing else */
} qn_arc_profile_program;

typedef struct qn_arc_profile {
    qn_arc_profile_op ops[ARC_N_OPS];
    qn_arc_profile_program *programs; /* of the session, by their numbers */
    int n_programs;
    size_t room;
    uint64_t runs, steps;
    uint64_t limits; /* runs that ended at a limit of this machine, which has narrow integers */
    double seconds;  /* of all runs, over all threads; what is not in `ops` is calling */
    int has_device;  /* programs were timed on a device too */
} qn_arc_profile;

/* Adds the jobs of a session to the profile, which is zeroed before the first. */
qn_status qn_arc_profile_add(qn_arc_profile *profile, qn_arc_session *session,
                             const qn_arc_job *jobs, uint32_t n, int threads, qn_err *err);

/* Times the jobs of each program on the session's device, in launches of their own; they have been
 * added before. Results of the session's last run are gone then. */
qn_status qn_arc_profile_device(qn_arc_profile *profile, qn_arc_session *session,
                                const qn_arc_job *jobs, uint32_t n, qn_err *err);
void qn_arc_profile_free(qn_arc_profile *profile); /* zeroed is fine */

/* Writes it as JSON, what takes the most time first. `codes` are the session's programs. */
qn_status qn_arc_profile_write(const qn_arc_profile *profile, const qn_arc_code *codes,
                               const char *path, qn_err *err);

/* Jobs of a session in a pool of the host, for the machine of a profile. Zeroed is closed. */
typedef struct qn_arc_placed_jobs {
    qn_content_store *pool;
    qn_content_hold hold;
    arc_instance *list;
} qn_arc_placed_jobs;

qn_status qn_arc_placed_jobs_open(qn_arc_placed_jobs *placed, qn_arc_session *session,
                                  const qn_arc_job *jobs, uint32_t n, qn_err *err);
void qn_arc_placed_jobs_close(qn_arc_placed_jobs *placed);

/* Which primitive failed, where a function was called.
 *
 * A result names the statement: apply(f, x) failed. The job runs once more, on the machine of a
 * profile, to find out what f did. That is for people who look at a few failures.
 */

/* Finds it for a job that failed with this result. op is -1 when nothing more is known. */
qn_status qn_arc_blame(qn_arc_session *session, const qn_arc_job *job, const arc_result *result,
                       qn_arc_blamed *out, qn_err *err);

#endif

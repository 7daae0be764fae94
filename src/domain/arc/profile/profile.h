/* profile.h - profiles grid programs by primitive and by program.
 *
 * Devices only count the steps of whole runs. A profile is made by running the virtual machine as
 * plain C on the CPU, with every primitive timed: it is the same text and takes the same steps. The
 * time of a primitive that calls a function excludes the function, whose time counts for its own
 * primitives.
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
    double device_seconds; /* of launches with this program alone */
} qn_arc_profile_program;

typedef struct qn_arc_profile {
    qn_arc_profile_op ops[ARC_N_OPS];
    qn_arc_profile_program *programs; /* those of the session, by number */
    int n_programs;
    size_t room;
    uint64_t runs, steps;
    uint64_t limits; /* runs that ended at a limit of this machine, whose integers are narrow */
    double seconds;  /* of all runs, over all threads; `ops` leaves out the time of calls */
    int has_device;  /* programs were also timed on a device */
} qn_arc_profile;

/* Adds the jobs of a session to the profile, which must be zeroed before the first call. */
qn_status qn_arc_profile_add(qn_arc_profile *profile, qn_arc_session *session,
                             const qn_arc_job *jobs, uint32_t n, int threads, qn_err *err);

/* Times the jobs of each program on the session's device, in separate launches; they must have been
 * added before. Discards the results of the session's last run. */
qn_status qn_arc_profile_device(qn_arc_profile *profile, qn_arc_session *session,
                                const qn_arc_job *jobs, uint32_t n, qn_err *err);
void qn_arc_profile_free(qn_arc_profile *profile); /* may be zeroed */

/* Writes the profile as JSON, slowest first. `codes` are the session's programs. */
qn_status qn_arc_profile_write(const qn_arc_profile *profile, const qn_arc_code *codes,
                               const char *path, qn_err *err);

/* Jobs of a session in a pool of the host, for the machine of a profile. A zeroed struct is
 * closed. */
typedef struct qn_arc_placed_jobs {
    qn_content_store *pool;
    qn_content_hold hold;
    arc_instance *list;
} qn_arc_placed_jobs;

qn_status qn_arc_placed_jobs_open(qn_arc_placed_jobs *placed, qn_arc_session *session,
                                  const qn_arc_job *jobs, uint32_t n, qn_err *err);
void qn_arc_placed_jobs_close(qn_arc_placed_jobs *placed);

/* Finds the primitive that failed inside a called function.
 *
 * A result names only the statement: apply(f, x) failed. To find out what f did, the job runs again
 * on the machine of a profile. This is meant for reading a few failures.
 */

/* Finds it for a job that failed with this result. op is -1 if nothing more is known. */
qn_status qn_arc_blame(qn_arc_session *session, const qn_arc_job *job, const arc_result *result,
                       qn_arc_blamed *out, qn_err *err);

#endif

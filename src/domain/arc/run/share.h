/* share.h - what several programs of a batch compute from the same grid, computed once.
 *
 * A batch goes in three passes: prefixes (compile/prefix.h) on the grids where three jobs or more
 * need them, whose values become resident; the jobs, those that have such a value by their rests;
 * and jobs again whose rest ended in a way that does not say what the program does: at a limit, or
 * at a failure amid the steps that were left out. That is done where it saves a quarter of the
 * batch's cost and more by estimate: values go over the host, and a launch is added. Results, steps
 * and places of failures are those of the programs. Private to domain/arc/run.
 */
#ifndef QN_ARC_RUN_SHARE_H
#define QN_ARC_RUN_SHARE_H

#include "domain/arc/compile/prefix.h"
#include "domain/arc/run/attic.h"
#include "domain/arc/run/session.h"

struct qn_arc_kept_program;

typedef struct qn_arc_share {
    qn_arc_sharing_mode mode;
    size_t n_planned; /* programs of the plan: other than there are, it is made anew */
    qn_arc_prefixes plan;
    struct qn_arc_kept_program *programs; /* prefixes, then rests by program */
    qn_arc_attic values;                  /* of the run */
} qn_arc_share;

/* Runs all jobs and fills the outcomes. *is_done stays 0, and nothing has run, where no value would
 * be shared. */
qn_status qn_arc_share_run(qn_arc_session *session, const qn_arc_job *jobs, uint32_t n,
                           uint32_t want, int *is_done, qn_err *err);

/* Programs have been forgotten. */
void qn_arc_share_forget(qn_arc_share *share);

#endif

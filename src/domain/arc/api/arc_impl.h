/* arc_impl.h - the contents of a qn_arc, and its runs. */
#ifndef QN_ARC_API_ARC_IMPL_H
#define QN_ARC_API_ARC_IMPL_H

#include "domain/arc/batch/batch.h"
#include "domain/arc/run/session.h"
#include "util/arena.h"
#include "util/map.h"

#include <quern/arc.h>

/* A program that the session holds. */
typedef struct qn_arc_program_added {
    qn_arc_programs parsed;                                       /* one program */
    int number;                                                   /* in the session */
    int is_chosen;                                                /* for the current run */
    uint64_t runs, solved, errors, steps, differing, other_shape; /* in the current run */
} qn_arc_program_added;

struct qn_arc {
    qn_arc_session *session;
    double timeout_s; /* of a request that does not set one; 0: no limit */
    qn_map programs;  /* id -> qn_arc_program_added */
    qn_map tasks;     /* id -> qn_arc_task */
    qn_arc_questions questions;
    size_t live_bytes, stale_bytes; /* estimates of what the session holds for them, and for those
                                     * replaced */
    qn_str answer;                  /* of qn_arc_ask */
    qn_arc_result *results;         /* of qn_arc_run */
    size_t n_results, results_room;
    qn_arena texts; /* and cells of the results */
};

/* arc.c: shared by the public calls and the requests in JSON. `notes` receives the parser's
 * messages. */
qn_status qn_arc_add_program(qn_arc *arc, const char *id, const char *text, qn_str *notes,
                             qn_err *err);

/* Takes ownership of the task; on failure it stays with the caller. */
qn_status qn_arc_take_task(qn_arc *arc, qn_arc_task *task, qn_err *err);

/* run.c: a run of chosen programs on chosen questions. */
typedef struct qn_arc_order {
    qn_arc_pairs pairs;
    int match_all;
    int with_outputs;
    double timeout_s; /* 0: no limit */
    char *is_chosen;  /* by question */
} qn_arc_order;

/* Chooses all questions of the pairs, and all programs. The sums start at 0. */
qn_status qn_arc_order_all(qn_arc *arc, qn_arc_order *order, qn_err *err);

/* Called for every run; its output is valid until the call returns. */
typedef qn_status qn_arc_on_run(void *user, qn_arc_program_added *program,
                                const qn_arc_written *run, qn_err *err);

qn_status qn_arc_order_run(qn_arc *arc, const qn_arc_order *order, qn_arc_on_run *on_run,
                           void *user, uint64_t *n_runs, qn_err *err);

static inline int qn_arc_is_batt(const qn_arc_code *code)
{
    return (qn_arc_code_head(code).flags & ARC_FLAG_BATT) != 0;
}

/* Adds the run to the sums of its program. */
void qn_arc_count_run(qn_arc_program_added *program, const qn_arc_written *run, int is_solved);

/* The session options that a public option struct stands for. */

/* NULL stands for the defaults. Texts remain the caller's. */
qn_status qn_arc_session_options_of(const qn_arc_options *given, qn_arc_session_options *out,
                                    qn_err *err);

#endif

/* arc_impl.h - what a qn_arc holds, and the runs that it is asked for. */
#ifndef QN_ARC_API_ARC_IMPL_H
#define QN_ARC_API_ARC_IMPL_H

#include "domain/arc/batch/batch.h"
#include "domain/arc/run/session.h"
#include "util/arena.h"
#include "util/map.h"

#include <quern/arc.h>

/* A program that the session has. */
typedef struct qn_arc_program_added {
    qn_arc_programs parsed;                                       /* one program */
    int number;                                                   /* in the session */
    int is_chosen;                                                /* for the run under way */
    uint64_t runs, solved, errors, steps, differing, other_shape; /* of that run */
} qn_arc_program_added;

struct qn_arc {
    qn_arc_session *session;
    double timeout_s; /* of a request that does not set one; 0: no limit */
    qn_map programs;  /* id -> qn_arc_program_added */
    qn_map tasks;     /* id -> qn_arc_task */
    qn_arc_questions questions;
    size_t live_bytes, stale_bytes; /* about what the session has of them, and of those replaced */
    qn_str answer;                  /* of qn_arc_ask */
    qn_arc_result *results;         /* of qn_arc_run */
    size_t n_results, results_room;
    qn_arena texts; /* and cells of the results */
};

/* arc.c: what the public calls and requests in JSON share. `notes` gets what the parser says. */
qn_status qn_arc_add_program(qn_arc *arc, const char *id, const char *text, qn_str *notes,
                             qn_err *err);

/* Takes over the task. On failure it stays the caller's. */
qn_status qn_arc_take_task(qn_arc *arc, qn_arc_task *task, qn_err *err);

/* run.c: programs that are chosen, on the questions that are chosen. */
typedef struct qn_arc_order {
    qn_arc_pairs pairs;
    int match_all;
    int with_outputs;
    double timeout_s; /* 0: no limit */
    char *is_chosen;  /* by question */
} qn_arc_order;

/* Chooses all questions of the pairs, and all programs. Its sums begin at 0. */
qn_status qn_arc_order_all(qn_arc *arc, qn_arc_order *order, qn_err *err);

/* Is called with every run, whose output is there until it returns. */
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

/* What the public option structs mean for a session. */

/* NULL stands for the defaults. Texts stay the caller's. */
qn_status qn_arc_session_options_of(const qn_arc_options *given, qn_arc_session_options *out,
                                    qn_err *err);

#endif

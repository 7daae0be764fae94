/* desk_impl.h - what a desk holds. Private to domain/arc/serve. */
#ifndef QN_ARC_DESK_IMPL_H
#define QN_ARC_DESK_IMPL_H

#include "domain/arc/batch/series.h"
#include "domain/arc/serve/desk.h"
#include "util/json.h"
#include "util/map.h"

/* A program that the session has. */
typedef struct qn_arc_desk_program {
    qn_arc_programs parsed; /* one program, whose id is the desk's */
    int number;             /* in the session */
    int is_chosen;          /* by the run under way */
    uint64_t runs, solved, errors, steps, differing, other_shape; /* of that run */
} qn_arc_desk_program;

struct qn_arc_desk {
    qn_arc_session *session;
    double timeout_s; /* of a run that does not say; 0: none */
    qn_map programs;  /* id -> qn_arc_desk_program */
    qn_map tasks;     /* id -> qn_arc_task */
    qn_arc_questions questions;
};

/* desk_keep.c: each answers its request by members of `answer`. */
qn_status qn_arc_desk_programs(qn_arc_desk *desk, const json_t *request, json_t *answer,
                               qn_err *err);
qn_status qn_arc_desk_tasks(qn_arc_desk *desk, const json_t *request, json_t *answer, qn_err *err);
qn_status qn_arc_desk_clear(qn_arc_desk *desk, const json_t *request, json_t *answer, qn_err *err);
void qn_arc_desk_drop_programs(qn_arc_desk *desk);
void qn_arc_desk_drop_tasks(qn_arc_desk *desk);

/* desk_run.c: the same; results go to `results` as "{...},\n{...},\n". */
qn_status qn_arc_desk_run(qn_arc_desk *desk, const json_t *request, json_t *answer, qn_str *results,
                          qn_err *err);

#endif

/* evaluate.h - programs on the grids of tasks: `quern arc run`. */
#ifndef QN_ARC_EVALUATE_H
#define QN_ARC_EVALUATE_H

#include "domain/arc/batch/series.h"
#include "util/progress.h"

typedef struct qn_arc_evaluate_options {
    qn_arc_session_options session;
    qn_arc_run_options run; /* texts may be NULL */
    qn_progress_options watch;
} qn_arc_evaluate_options;

typedef struct qn_arc_evaluation {
    uint64_t runs, solved, errors;
    uint64_t unscored;    /* no output was expected */
    qn_arc_score *scores; /* by program */
    int n_scores;
    qn_arc_stats stats;
    double wall_s; /* loading and running */
    char device[32];
} qn_arc_evaluation;

qn_status qn_arc_evaluate(qn_ctx *ctx, const qn_arc_programs *programs, const qn_arc_tasks *tasks,
                          const qn_arc_evaluate_options *options, qn_arc_evaluation *out,
                          qn_err *err);
void qn_arc_evaluation_free(qn_arc_evaluation *evaluation); /* zeroed is fine */

#endif

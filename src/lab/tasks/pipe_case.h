/* pipe_case.h - the reference case of the pipeline: many batches of vadd through one graph. */
#ifndef QN_LAB_TASKS_PIPE_CASE_H
#define QN_LAB_TASKS_PIPE_CASE_H

#include <quern/pipe.h>

#include "util/stats.h"
#include "util/status.h"

typedef struct qn_pipe_case {
    int n_tasks, rounds;
    qn_i64 elems; /* of each task */
    uint64_t seed;
} qn_pipe_case;

typedef struct qn_pipe_result {
    int depth;
    qn_stats wall_us;     /* of a round: all tasks, over the rounds */
    qn_pipe_stats phases; /* per round; no overlap where there are no copies */
    uint64_t checksum;    /* FNV-1a of all results in order */
} qn_pipe_result;

/* False for devices that use host memory: there nothing can overlap. */
static inline int qn_pipe_has_copies(const qn_pipe_stats *phases)
{
    return phases->h2d_us + phases->d2h_us > 0;
}

/* One round to warm up, then the measured ones. Every result of the last is compared with a plain
 * computation: QN_ERR_MISMATCH. */
qn_status qn_pipe_case_run(qn_ctx *ctx, const qn_pipe_case *what, int depth, qn_pipe_result *out,
                           qn_err *err);

#endif

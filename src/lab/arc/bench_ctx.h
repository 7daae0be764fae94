/* bench_ctx.h - where a bench measures: a context, a session, and jobs to run in it. */
#ifndef QN_LAB_ARC_BENCH_CTX_H
#define QN_LAB_ARC_BENCH_CTX_H

#include "lab/arc/bench.h"

typedef struct qn_arc_bench_ctx {
    const qn_arc_programs *programs;
    const qn_arc_tasks *tasks;
    const qn_arc_bench_options *options;
    qn_ctx *ctx;
    qn_arc_session *session;
    qn_arc_questions questions;
    qn_arc_job *jobs;
    int *program_of; /* of each job */
    uint32_t n;
} qn_arc_bench_ctx;

/* Opens the device, or the CPU with so many threads (0: all). */
qn_status qn_arc_bench_ctx_open(qn_arc_bench_ctx *bctx, const qn_arc_programs *programs,
                                const qn_arc_tasks *tasks, const qn_arc_bench_options *options,
                                const char *backend, int threads, qn_err *err);
void qn_arc_bench_ctx_close(qn_arc_bench_ctx *bctx); /* zeroed is fine */

/* Forgets what the session holds, and lists jobs of every grid `copies` times; `without` is a
 * program that is left out, or -1. */
qn_status qn_arc_bench_ctx_load(qn_arc_bench_ctx *bctx, int copies, int without, qn_err *err);

typedef struct qn_arc_bench_time {
    double wall_s, kernel_s;
} qn_arc_bench_time;

/* Runs jobs first, first + stride, ... n of them. */
qn_status qn_arc_bench_ctx_run(qn_arc_bench_ctx *bctx, uint32_t first, uint32_t stride, uint32_t n,
                               qn_arc_bench_time *time, qn_err *err);

#endif

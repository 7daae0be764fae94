/* session_impl.h - the inside of a session. Private to domain/arc/run. */
#ifndef QN_ARC_SESSION_IMPL_H
#define QN_ARC_SESSION_IMPL_H

#include "domain/arc/pool/pool.h"
#include "domain/arc/run/session.h"

/* A program or a value that the session keeps. */
typedef struct qn_arc_kept {
    char *id;
    unsigned char *bytes;
    size_t n;
    uint64_t slot;   /* of a value, its payload an offset into bytes */
    uint64_t placed; /* of the slice `slice`: the pooled slot, or the place of the program */
    uint64_t slice;
} qn_arc_kept;

typedef struct qn_arc_kept_list {
    qn_arc_kept *items;
    size_t n, room;
} qn_arc_kept_list;

/* Result of a job, and where in `out` the bytes of its launch begin. */
typedef struct qn_arc_outcome {
    arc_result result;
    size_t out_at, out_bytes;
} qn_arc_outcome;

struct qn_arc_session {
    qn_ctx *ctx;
    qn_arc_vm *vm;
    qn_arc_pool *pool;
    qn_arc_kept_list programs, values;
    uint64_t slice;

    qn_arc_outcome *outcomes;
    uint32_t n_outcomes;
    unsigned char *out; /* outputs of all launches of the last run */
    size_t n_out, out_room;
    uint64_t *trace;
    uint32_t trace_stride;

    qn_arc_stats stats;
};

/* A slice of a run: jobs first .. first + n - 1, with everything resident. */
typedef struct qn_arc_slice {
    const qn_arc_job *jobs;
    uint32_t first, n;
    uint32_t want, trace_stride;
    const qn_arc_range *fresh;
    size_t n_fresh;
} qn_arc_slice;

/* tiers.c: runs the slice, what did not fit again in the next tier, and fills the outcomes. */
qn_status qn_arc_run_tiers(qn_arc_session *session, const qn_arc_slice *slice, qn_err *err);

#endif

/* session.h - many programs on many values, run after run, with everything resident.
 *
 *     qn_arc_session_program(s, id, code.bytes, code.n, &p, err);   once per program
 *     qn_arc_session_value(s, id, &grid, &v, err);                  once per grid
 *     qn_arc_session_run(s, jobs, n, ARC_WANT_OUTPUT, 0, &err);     as often as wanted
 *     qn_arc_session_result(s, k), qn_arc_session_output(s, k, heap, &value, &err)
 *
 * This is the entry point for search loops: programs and values stay on the device, a run uploads
 * what is new and the list of jobs, and brings back results.
 */
#ifndef QN_ARC_SESSION_H
#define QN_ARC_SESSION_H

#include "domain/arc/run/stats.h"
#include "domain/arc/run/vm.h"
#include "domain/arc/value/value.h"

#include <quern/split.h>

typedef struct qn_arc_session qn_arc_session;

/* What several programs compute from the same grid is computed once: run/share.h. */
typedef enum qn_arc_sharing_mode {
    QN_ARC_SHARE_WORTH, /* where that saves enough, by estimate */
    QN_ARC_SHARE_NONE,
    QN_ARC_SHARE_ALL
} qn_arc_sharing_mode;

typedef struct qn_arc_session_options {
    qn_arc_limits limits;
    size_t pool_bytes;      /* 0: a quarter of the device's memory, at most 2 GiB */
    qn_split_options split; /* how devices share a batch, where several are to */
    qn_arc_sharing_mode share;
    int adapts;      /* programs that the CPU runs sooner are for it: run/adapt.h */
    double slice_ms; /* a launch is to be shorter by estimate; 0: 200, below 0: any */
} qn_arc_session_options;

/* Where jobs of a program run whose batch goes to a device. */
typedef enum qn_arc_place {
    QN_ARC_PLACE_OPEN, /* there; where the session adapts, it is measured */
    QN_ARC_PLACE_DEVICE,
    QN_ARC_PLACE_CPU
} qn_arc_place;

/* Indices of a program and of values; -1 stands for NONE. */
typedef struct qn_arc_job {
    int program;
    int args[3]; /* I; or S, I, C */
    int expected;
} qn_arc_job;

qn_status qn_arc_session_new(qn_ctx *ctx, const qn_arc_session_options *options,
                             qn_arc_session **out, qn_err *err);
void qn_arc_session_free(qn_arc_session *session); /* NULL is fine */

/* Adds a compiled program, which is checked and copied. `id` appears in messages. */
qn_status qn_arc_session_program(qn_arc_session *session, const char *id,
                                 const unsigned char *bytes, size_t n, int *program, qn_err *err);

/* Decides for a program, whatever was measured. */
void qn_arc_session_place(qn_arc_session *session, int program, qn_arc_place place);

/* Adds a value; `id` appears in messages. */
qn_status qn_arc_session_value(qn_arc_session *session, const char *id, const qn_arc_value *value,
                               int *index, qn_err *err);

/* The same of a grid of digits, without a value in between. An expected output is in no message,
 * and needs no id. */
qn_status qn_arc_session_grid(qn_arc_session *session, const char *id, const unsigned char *cells,
                              int rows, int cols, int *index, qn_err *err);

/* Drops every program and value; indices begin at 0 again. Devices and their buffers stay. */
void qn_arc_session_forget(qn_arc_session *session);
void qn_arc_session_forget_programs(qn_arc_session *session); /* values keep their indices */

/* Runs every job, in any order. What does not fit goes to the next tier; each that ends up on the
 * CPU is logged and counted. `trace_stride` is the number of hashes per job with ARC_WANT_TRACE. */
qn_status qn_arc_session_run(qn_arc_session *session, const qn_arc_job *jobs, uint32_t n,
                             uint32_t want, uint32_t trace_stride, qn_err *err);

/* Seconds that the device takes for the jobs, beside all copies. Nothing is counted. */
qn_status qn_arc_session_time(qn_arc_session *session, const qn_arc_job *jobs, uint32_t n,
                              double *seconds, qn_err *err);

/* Runs are to be over at that time (qn_now_us): what has not ended then ends with ARC_E_TIMEOUT. A
 * launch that has begun is finished, and compiling kernels does not count. 0: no such time. */
void qn_arc_session_until(qn_arc_session *session, double us);

/* Is told during runs how many jobs more have ended. */
typedef void (*qn_arc_told)(void *user, uint32_t n);
void qn_arc_session_watch(qn_arc_session *session, qn_arc_told told, void *user);

/* Of the last run, by the number of the job. */
const arc_result *qn_arc_session_result(const qn_arc_session *session, uint32_t job);
qn_status qn_arc_session_output(const qn_arc_session *session, uint32_t job, qn_arc_heap *heap,
                                qn_arc_value *out, qn_err *err);
/* An output that is a grid, as it came: rows * cols cells of -128 .. 127, until the next run. NULL:
 * it is something else. */
const int8_t *qn_arc_session_output_grid(const qn_arc_session *session, uint32_t job, int *rows,
                                         int *cols);
const uint64_t *qn_arc_session_trace(const qn_arc_session *session, uint32_t job);

/* Sums since the session began. */
const qn_arc_stats *qn_arc_session_stats(qn_arc_session *session);

/* Of the first tier: "cuda:0", or "cuda:0+cuda:1" where several share it; where batches are routed,
 * that of the last one. */
const char *qn_arc_session_device(const qn_arc_session *session);

#endif

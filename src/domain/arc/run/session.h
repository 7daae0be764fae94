/* session.h - many programs on many values, run after run, with everything resident.
 *
 *     qn_arc_session_program(s, id, code.bytes, code.n, &p, err);   once per program
 *     qn_arc_session_value(s, id, &grid, &v, err);                  once per grid
 *     qn_arc_session_run(s, jobs, n, ARC_WANT_OUTPUT, 0, err);      as often as you like
 *     qn_arc_session_result(s, k), qn_arc_session_output(s, k, heap, &value, err)
 *
 * This is the entry point for search loops. Programs and values stay on the device; a run uploads
 * what is new and the list of jobs, and downloads results.
 */
#ifndef QN_ARC_SESSION_H
#define QN_ARC_SESSION_H

#include "domain/arc/value/value.h"
#include "kernel/arc/arc_code.h"
#include "util/json.h"

#include <quern/split.h>

typedef struct qn_arc_session qn_arc_session;

#define QN_ARC_ANY_LOOPS UINT32_MAX

/* 0 anywhere means the default of the rung (executor.h). */
typedef struct qn_arc_limits {
    uint32_t arena, frames, max_steps; /* of the first rung; max_steps: of all rungs */
    uint32_t max_loops; /* on devices: the CPU takes over longer runs; QN_ARC_ANY_LOOPS: no limit */
    int group;          /* lanes of a team: 8, 16 or 32 */
    uint32_t off[8];    /* primitives that devices refuse, one bit each */
    uint32_t pad_to;    /* pads to groups of this many instances of one program, even where teams do
                         * not share groups; 0: as many as teams share */
} qn_arc_limits;

/* Computations on a grid that several programs have in common can run once: prefixes.c. */
typedef enum qn_arc_prefix_mode {
    QN_ARC_PREFIXES_WORTH, /* if that is estimated to save enough */
    QN_ARC_PREFIXES_OFF,
    QN_ARC_PREFIXES_ALL
} qn_arc_prefix_mode;

typedef struct qn_arc_session_options {
    qn_arc_limits limits;
    size_t pool_bytes;      /* 0: a quarter of the device's memory, at most 2 GiB */
    qn_split_options split; /* how several devices share a batch */
    qn_arc_prefix_mode prefixes;
    int measures_programs; /* programs that run faster on the CPU go there: place.c */
    double launch_ms;      /* longest launch by estimate; 0: 200, below 0: any */
} qn_arc_session_options;

/* Where jobs of a program run if the batch goes to a device. */
typedef enum qn_arc_place {
    QN_ARC_PLACE_OPEN, /* there, or where the program was measured to be faster */
    QN_ARC_PLACE_DEVICE,
    QN_ARC_PLACE_CPU
} qn_arc_place;

/* Indices of a program and of values; -1 stands for NONE. */
typedef struct qn_arc_job {
    int program;
    int args[3]; /* I; or S, I, C */
    int expected;
} qn_arc_job;

/* Sums since the session began. */
typedef struct qn_arc_stats {
    uint64_t instances, ok, errors, limits, timeouts, not_ok_steps;
    uint64_t gpu_ops, cpu_ops;       /* executed primitives, by where they ran */
    uint64_t fallbacks[ARC_N_CODES]; /* to the CPU, by the code that caused them */
    uint64_t reruns;                 /* on the device, with more memory */
    uint64_t launches;               /* of the first rung */
    uint64_t oversize;               /* jobs larger than the pool, run on the CPU */
    uint64_t pool_pieces;            /* batches made smaller because the pool was full */
    uint64_t pool_shrinks;           /* times that the device had no memory for the pool */
    uint64_t transfers, transfer_bytes;
    uint64_t cache_hits, cache_misses, cache_evictions, cache_bytes;
    uint64_t shared_nodes, shared_hits;       /* values of prefixes, and jobs that used one */
    uint64_t measured_programs, cpu_programs; /* and those of them that went to the CPU */
    uint64_t arena_high_water, frames_high_water, steps_total;
    double time_compile, time_upload, time_kernel, time_download, time_cpu; /* seconds */
} qn_arc_stats;

qn_status qn_arc_session_new(qn_ctx *ctx, const qn_arc_session_options *options,
                             qn_arc_session **out, qn_err *err);
void qn_arc_session_free(qn_arc_session *session); /* may be NULL */

/* Adds a compiled program, which is checked and copied. `id` appears in messages. */
qn_status qn_arc_session_program(qn_arc_session *session, const char *id,
                                 const unsigned char *bytes, size_t n, int *program, qn_err *err);

/* Adds a value; `id` appears in messages. */
qn_status qn_arc_session_value(qn_arc_session *session, const char *id, const qn_arc_value *value,
                               int *index, qn_err *err);

/* Adds a grid of digits without building a qn_arc_value. An expected output appears in no message
 * and needs no id. */
qn_status qn_arc_session_grid(qn_arc_session *session, const char *id, const unsigned char *cells,
                              int rows, int cols, int *index, qn_err *err);

/* Drops all programs and values; indices start at 0 again. Devices and their buffers stay. */
void qn_arc_session_forget(qn_arc_session *session);
void qn_arc_session_forget_programs(qn_arc_session *session); /* values keep their indices */

/* Runs all jobs, in any order. A job that exceeds a limit is run again on the next rung; each one
 * that ends up on the CPU is logged and counted. With ARC_WANT_TRACE, `trace_stride` is the number
 * of hashes per job. */
qn_status qn_arc_session_run(qn_arc_session *session, const qn_arc_job *jobs, uint32_t n,
                             uint32_t want, uint32_t trace_stride, qn_err *err);

/* Seconds that the device takes for the jobs, without copies. Adds nothing to the statistics. */
qn_status qn_arc_session_time(qn_arc_session *session, const qn_arc_job *jobs, uint32_t n,
                              double *seconds, qn_err *err);

/* Sets a deadline for runs (in the time of qn_now_us), after which unfinished jobs end with
 * ARC_E_TIMEOUT. A launch that has begun on a device is finished; the CPU looks at the clock even
 * inside a primitive. Compiling kernels does not count. 0: no deadline. */
void qn_arc_session_until(qn_arc_session *session, double us);

/* Called during runs with the number of jobs that have ended since the last call. */
typedef void qn_arc_on_progress(void *user, uint32_t n);
void qn_arc_session_watch(qn_arc_session *session, qn_arc_on_progress *on_progress, void *user);

/* The result of a job of the last run, by its number. */
const arc_result *qn_arc_session_result(const qn_arc_session *session, uint32_t job);
qn_status qn_arc_session_output(const qn_arc_session *session, uint32_t job, qn_arc_heap *heap,
                                qn_arc_value *out, qn_err *err);
/* The output if it is a grid: rows * cols cells of -128 .. 127, valid until the next run. NULL if
 * it is anything else. */
const int8_t *qn_arc_session_output_grid(const qn_arc_session *session, uint32_t job, int *rows,
                                         int *cols);
const uint64_t *qn_arc_session_trace(const qn_arc_session *session, uint32_t job);

const qn_arc_stats *qn_arc_session_stats(qn_arc_session *session);
json_t *qn_arc_stats_json(const qn_arc_stats *stats); /* new reference; NULL when out of memory */

/* Where the first rung runs: "cuda:0", or "cuda:0+cuda:1" if several devices share it. If batches
 * are routed, where the last one went. */
const char *qn_arc_session_device(const qn_arc_session *session);

#endif

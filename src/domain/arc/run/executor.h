/* executor.h - launches of the virtual machine on one device of the context.
 *
 * An executor has a copy of the pool and a number of slots. Each slot has buffers and graphs of its
 * own, so that the copies of one launch overlap the kernel of another.
 *
 * A launch is for one of three rungs, each with more room and fewer teams than the one before. A
 * job that exceeds a limit of its rung is run again from its beginning on the next one (rungs.c).
 * The last rung is the CPU with the widest limits, wherever the executor is; a job that fails there
 * has failed.
 */
#ifndef QN_ARC_EXECUTOR_H
#define QN_ARC_EXECUTOR_H

#include "domain/arc/run/session.h"
#include "util/content_store.h"

typedef enum qn_arc_rung {
    QN_ARC_RUNG_MANY, /* the device, all teams */
    QN_ARC_RUNG_FEW,  /* the device, few teams with large arenas */
    QN_ARC_RUNG_CPU,  /* the CPU, wide integers */
    QN_ARC_N_RUNGS
} qn_arc_rung;

/* The room of a team on a rung. Programs with more slots are for a later one. */
typedef struct qn_arc_room {
    uint32_t arena, frames, slots;
    int n_teams;
} qn_arc_room;

/* A pool as it is at a version, and the ranges that are new since the version before. */
typedef struct qn_arc_pool_state {
    const qn_content_store *pool;
    uint64_t version; /* from 1 on */
    const qn_content_range *fresh;
    size_t n_fresh;
} qn_arc_pool_state;

typedef struct qn_arc_launch {
    const arc_instance *list; /* numbered first .. first + n - 1, each once, in any order */
    uint32_t n, first;
    uint32_t want; /* ARC_WANT_* */
    uint32_t trace_stride;
    uint32_t max_steps;  /* of a run; 0: the limit of the executor */
    size_t output_bytes; /* least room for outputs; 0: what most need */
} qn_arc_launch;

/* Belongs to the slot until the slot is prepared again. */
typedef struct qn_arc_answer {
    arc_result *results; /* by number - first */
    unsigned char *out;  /* what their values point to */
    size_t n_out;
    uint64_t *trace;    /* trace_stride hashes per job */
    double download_us; /* of outputs and traces */
} qn_arc_answer;

enum { QN_ARC_SLOTS = 8 };

typedef struct qn_arc_executor qn_arc_executor;

qn_status qn_arc_executor_new(qn_ctx *ctx, const qn_arc_limits *limits, int device,
                              qn_arc_executor **out, qn_err *err);
void qn_arc_executor_free(qn_arc_executor *executor); /* NULL is fine */

qn_arc_room qn_arc_executor_room(const qn_arc_executor *executor, qn_arc_rung rung);
uint32_t qn_arc_executor_max_steps(const qn_arc_executor *executor); /* of a run */

/* The text of its kernel. */
const qn_kernel_module *qn_arc_executor_module(const qn_arc_executor *executor);
uint32_t qn_arc_executor_max_loops(const qn_arc_executor *executor); /* of a run; 0: any */

/* Limits with which the CPU does what this executor does: the same room for a run, and the built-in
 * kernel, which needs no compiler. */
qn_arc_limits qn_arc_executor_on_cpu(const qn_arc_executor *executor);

/* Uploads what this executor's copy of the pool lacks. No slot is in use. */
qn_status qn_arc_executor_update(qn_arc_executor *executor, const qn_arc_pool_state *state,
                                 qn_err *err);
void qn_arc_executor_lose_pool(qn_arc_executor *executor); /* its copy cannot be trusted */

/* Prepares a launch in a free slot. The graph belongs to the slot and is to be run once. */
qn_status qn_arc_executor_prepare(qn_arc_executor *executor, qn_arc_rung rung,
                                  const qn_arc_launch *launch, int *slot, qn_graph **graph,
                                  qn_err *err);

/* Downloads the results of a graph that has run, and frees the slot. */
qn_status qn_arc_executor_collect(qn_arc_executor *executor, int slot, const qn_arc_launch *launch,
                                  qn_arc_answer *answer, qn_err *err);

/* Frees all slots; nothing is running in them. */
void qn_arc_executor_reset(qn_arc_executor *executor);

/* Updates the pool, prepares, runs and collects. Where the device fails, the engine makes the CPU
 * run the launch if it can, and logs that; *device says where it ran. */
qn_status qn_arc_executor_run(qn_arc_executor *executor, qn_arc_rung rung,
                              const qn_arc_pool_state *state, const qn_arc_launch *launch,
                              qn_arc_answer *answer, int *device, qn_err *err);

/* Programs and values as content of a store, where devices read them. */

/* Opens a store; slots can address 2 GiB of it. */
qn_status qn_arc_pool_open(size_t budget_bytes, qn_content_store **out, qn_err *err);

/* Takes a value. *slot points into the n bytes, and on QN_CONTENT_RESIDENT into the pool. */
qn_status qn_arc_pool_value(qn_content_store *pool, qn_content_hold *hold, uint64_t *slot,
                            const unsigned char *bytes, size_t n, qn_content_taken *taken,
                            qn_err *err);

/* Takes a program in the form that it has in a file. *at is its byte offset in the pool. */
qn_status qn_arc_pool_program(qn_content_store *pool, qn_content_hold *hold,
                              const unsigned char *bytes, size_t n, uint32_t *at,
                              qn_content_taken *taken, qn_err *err);

#endif

/* executor.h - launches of the virtual machine on one device of the context.
 *
 * An executor has a number of slots. Each slot has buffers and graphs of its own, so that the copies
 * of one launch overlap the kernel of another. Programs and values are in a pool, a content store of
 * the engine; all executors of a store read the copy of their device.
 *
 * A launch is for one of three rungs, each with more memory and fewer teams than the one before. A
 * job that exceeds a limit of its rung starts again from the beginning on the next one (rungs.c).
 * The last rung is the CPU with the widest limits, whatever the executor's device; a job that fails
 * there has failed.
 */
#ifndef QN_ARC_EXECUTOR_H
#define QN_ARC_EXECUTOR_H

#include "domain/arc/run/session.h"
#include "engine/engine.h"

typedef enum qn_arc_rung {
    QN_ARC_RUNG_MANY, /* the device, all teams */
    QN_ARC_RUNG_FEW,  /* the device, few teams with large arenas */
    QN_ARC_RUNG_CPU,  /* the CPU, wide integers */
    QN_ARC_N_RUNGS
} qn_arc_rung;

/* The memory of a team on a rung. Programs with more slots need a later rung. */
typedef struct qn_arc_room {
    uint32_t arena, frames, slots;
    int n_teams;
} qn_arc_room;

typedef struct qn_arc_launch {
    const arc_instance *list; /* numbers first .. first + n - 1, each once, in any order */
    uint32_t n, first;
    uint32_t want; /* ARC_WANT_* */
    uint32_t trace_stride;
    uint32_t max_steps;  /* of a run; 0: the limit of the executor */
    size_t output_bytes; /* least room for outputs; 0: what most need */
    double until_us;     /* runs on the CPU end then, as qn_now_us has it; 0: no limit on time */
} qn_arc_launch;

/* Belongs to the slot until the next launch is prepared there. */
typedef struct qn_arc_answer {
    arc_result *results; /* by number - first */
    unsigned char *out;  /* the content of their values */
    size_t n_out;
    uint64_t *trace;    /* trace_stride hashes per job */
    double download_us; /* of outputs and traces */
} qn_arc_answer;

enum { QN_ARC_SLOTS = 8 };

typedef struct qn_arc_executor qn_arc_executor;

qn_status qn_arc_executor_new(qn_ctx *ctx, const qn_arc_limits *limits, int device,
                              qn_arc_executor **out, qn_err *err);
void qn_arc_executor_free(qn_arc_executor *executor); /* may be NULL */

qn_arc_room qn_arc_executor_room(const qn_arc_executor *executor, qn_arc_rung rung);
uint32_t qn_arc_executor_max_steps(const qn_arc_executor *executor); /* per run */
uint32_t qn_arc_executor_max_loops(const qn_arc_executor *executor); /* per run; 0: any */

/* The module of its kernel. */
const qn_kernel_module *qn_arc_executor_module(const qn_arc_executor *executor);

/* Limits with which the CPU replaces this executor: the same memory for a run, and the built-in
 * kernel, which needs no compiler. */
qn_arc_limits qn_arc_executor_on_cpu(const qn_arc_executor *executor);

/* Uploads what the device's copy of the pool lacks. No slot is in use. */
qn_status qn_arc_executor_update(qn_arc_executor *executor, qn_content_store *pool, qn_err *err);

/* Prepares a launch in a free slot. The graph belongs to the slot and is run once. */
qn_status qn_arc_executor_prepare(qn_arc_executor *executor, qn_arc_rung rung,
                                  const qn_arc_launch *launch, int *slot, qn_graph **graph,
                                  qn_err *err);

/* Downloads the results after the graph has run, and frees the slot. */
qn_status qn_arc_executor_collect(qn_arc_executor *executor, int slot, const qn_arc_launch *launch,
                                  qn_arc_answer *answer, qn_err *err);

/* Frees all slots; nothing may be running in them. */
void qn_arc_executor_reset(qn_arc_executor *executor);

/* Updates the pool, prepares, runs and collects. Where the device fails, the engine makes the CPU
 * run the launch if it can, and logs that; *device says where it ran. */
qn_status qn_arc_executor_run(qn_arc_executor *executor, qn_arc_rung rung, qn_content_store *pool,
                              const qn_arc_launch *launch, qn_arc_answer *answer, int *device,
                              qn_err *err);

/* Programs and values as content of a store that devices read. */

/* Opens a store; slots can address 2 GiB of it. */
qn_status qn_arc_pool_open(qn_ctx *ctx, size_t budget_bytes, qn_content_store **out, qn_err *err);

/* Takes a value. *slot points into the n bytes, and on QN_CONTENT_RESIDENT into the pool. */
qn_status qn_arc_pool_value(qn_content_store *pool, qn_content_hold *hold,
                            const unsigned char *bytes, size_t n, qn_content_ticket *ticket,
                            uint64_t *slot, qn_content_taken *taken, qn_err *err);

/* Adds a program in its file format. *at is its byte offset in the pool. */
qn_status qn_arc_pool_program(qn_content_store *pool, qn_content_hold *hold,
                              const unsigned char *bytes, size_t n, qn_content_ticket *ticket,
                              uint32_t *at, qn_content_taken *taken, qn_err *err);

#endif

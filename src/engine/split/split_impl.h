/* split_impl.h - the inside of a split. Private to engine/.
 *
 * split.c opens workers and shares batches among them, split_serve.c lets them work.
 */
#ifndef QN_ENGINE_SPLIT_IMPL_H
#define QN_ENGINE_SPLIT_IMPL_H

#include "engine/split/cluster.h"
#include "engine/graph/run.h"
#include "engine/split/share.h"

/* A chunk's place on a device. */
typedef struct qn_split_slot {
    qn_graph *graph; /* of the slot, or of its last chunk in this run when the work has them */
    qn_chunk chunk;
    double n_tasks;  /* that the chunk counts for */
    double begin_us; /* when it was submitted */
} qn_split_slot;

/* A device with its slots, used in turn: `n_busy` of them, from `oldest` on, have a chunk. */
typedef struct qn_split_worker {
    qn_device *device;
    qn_split_slot slots[QN_SPLIT_MAX_DEPTH];
    int depth, n_busy, oldest;
    qn_i64 items_busy;
    double free_us;             /* when its last chunk was done */
    double seen_items, seen_us; /* of this run and, ever less, of earlier ones */
    qn_split_device did;
    qn_metric *tasks, *active, *exec_ms;
} qn_split_worker;

struct qn_split {
    qn_ctx *ctx;
    char name[64];
    qn_split_work work;
    qn_split_mode mode;
    int depth;
    qn_split_worker workers[QN_MAX_DEVICES + 1]; /* the set, then the CPU when it takes over */
    int n_set, n_workers;                        /* n_workers: those at work in this run */
    double rates[QN_MAX_DEVICES];                /* of blocks */
    qn_rebalance rebalance;
    qn_i64 chunk_items; /* of this run */
    double start_us;
    int has_fallen;        /* in this run: no device is left */
    char failed_stage[64]; /* of the device that failed last, and why */
    qn_err failure;
    qn_split_stats stats;
};

/* Makes the slots of one more worker. */
qn_status qn_split_hire(qn_split *split, qn_split_worker *worker, int device, int depth,
                        qn_err *err);

/* Binds a graph to the worker's device, as runs of chunks need it; once is enough. */
void qn_split_adopt(qn_graph *graph, const qn_split_worker *worker, int slot);

/* Items per us, 0 when not known. */
static inline double qn_split_rate(const qn_split_worker *worker)
{
    return worker->seen_us > 0 ? worker->seen_items / worker->seen_us : 0;
}

/* Takes the worker out of this run: `err` happened to `stage`. Without a source it had nothing. */
void qn_split_fail(qn_split *split, qn_split_worker *worker, const char *stage, const qn_err *err,
                   const qn_chunk_source *source);

#endif

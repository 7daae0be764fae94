/* split_impl.h - the private parts of a split.
 *
 * split.c opens workers and divides batches among them; split_serve.c runs them.
 */
#ifndef QN_ENGINE_SPLIT_IMPL_H
#define QN_ENGINE_SPLIT_IMPL_H

#include "engine/graph/run.h"

#include <quern/split.h>

/* The interface between a source of chunks and the devices that run them.
 *
 * The devices of this process (split.c) take chunks from a source and report back to it. For a
 * batch in this process the source is chunks.c. A source that gets its items from another process
 * has the same interface, so split.c and its callers do not notice. */

/* Items [first, first + count). */
typedef struct qn_chunk {
    qn_i64 first, count;
} qn_chunk;

/* Workers are numbered from 0; in this process each worker is a device. */
typedef struct qn_chunk_source {
    void *state;
    /* The next chunk for the worker. 0: none for it now. */
    int (*take)(void *state, int worker, qn_chunk *out);
    /* The chunk's results were delivered. */
    void (*finish)(void *state, int worker, qn_chunk chunk);
    /* The chunk was not done; another worker gets it. */
    void (*give_back)(void *state, int worker, qn_chunk chunk);
    /* The worker takes no more chunks; other workers may take its block. */
    void (*leave)(void *state, int worker);
    /* Items that no worker has taken yet. */
    qn_i64 (*left)(void *state);
    /* Everything is delivered. */
    int (*is_over)(void *state);
} qn_chunk_source;

/* Lets the devices of `split` work until the source is over. */
qn_status qn_split_serve(qn_split *split, const qn_chunk_source *source, qn_err *err);

/* chunks.c: a batch in this process. */

typedef struct qn_chunks qn_chunks;

/* Divides items 0 .. n_items - 1 into chunks of at most `chunk_items`. `blocks` (one count per
 * worker, sum n_items) gives each worker its own block, in order; NULL: one queue for all. At most
 * `in_flight` chunks are taken at a time. */
qn_status qn_chunks_new(qn_i64 n_items, qn_i64 chunk_items, const qn_i64 *blocks, int n_workers,
                        int in_flight, qn_chunks **out, qn_err *err);
void qn_chunks_free(qn_chunks *chunks);

qn_chunk_source qn_chunks_source(qn_chunks *chunks);

/* share.c: how many items each device gets; computed from numbers only. */

/* n / k each; the first ones get the remainder. */
void qn_share_equal(qn_i64 n, int k, qn_i64 *out);

/* By rate, rounded so that the sum is n (largest fractions first). A device without a positive rate
 * gets nothing; if no rate is positive, all get the same number. */
void qn_share_by_rate(qn_i64 n, const double *rates, int k, qn_i64 *out);

/* Spread of the finishing times, in percent of the last one. A time of 0 means that the device did
 * not work; it is ignored. */
double qn_share_spread_pct(const double *finish_us, int k);

/* Corrections continue until the devices agree, then stop until they disagree. */
typedef struct qn_rebalance {
    int is_on;
} qn_rebalance;

/* After a batch in which device i did items[i] in finish_us[i]: corrects `rates` if needed and
 * returns 1, else 0. Rates of devices that did not work are scaled too. */
int qn_share_rebalance(qn_rebalance *state, const qn_i64 *items, const double *finish_us, int k,
                       double *rates);

/* select.c: sets of devices for a split. */

/* Measured rates of `n` devices that can be compared: items per ms in this context's split batches,
 * or, from the profiles, a rate between memory speed and arithmetic speed. 0 when a device has
 * none, since the set could not be compared. */
int qn_rates_of_work(const qn_ctx *ctx, const int *devices, int n, double *out);
int qn_rates_of_profile(const qn_ctx *ctx, const int *devices, int n, double *out);

/* The devices named by `text` (qn_split_options.devices), in slot order, without missing ones. The
 * CPU if nothing else is available, or if the router is bound to it. Returns the count, at least 1;
 * `out` has room for QN_MAX_DEVICES. */
int qn_devices_set(qn_ctx *ctx, const char *text, int *out);

/* split.c. */

/* A chunk's place on a device. */
typedef struct qn_split_slot {
    qn_graph *graph; /* of the slot; if the work has its own graphs, that of the last chunk */
    qn_chunk chunk;
    double n_tasks;  /* tasks of its chunk */
    double begin_us; /* when the chunk was submitted */
} qn_split_slot;

/* A device with its slots, which are used in turn: `n_busy` of them, from `oldest` on, have a
 * chunk. */
typedef struct qn_split_worker {
    qn_device *device;
    qn_split_slot slots[QN_SPLIT_MAX_DEPTH];
    int depth, n_busy, oldest;
    qn_i64 items_busy;
    double free_us;             /* when its last chunk was done */
    double seen_items, seen_us; /* from this run and, with falling weight, earlier ones */
    qn_split_device did;
    qn_metric *tasks, *active, *exec_ms;
} qn_split_worker;

struct qn_split {
    qn_ctx *ctx;
    char name[64];
    qn_split_work work;
    qn_split_mode mode;
    int depth;
    qn_split_worker workers[QN_MAX_DEVICES + 1]; /* the devices, then the CPU if it takes over */
    int n_set, n_workers;                        /* n_workers: workers in this run */
    double rates[QN_MAX_DEVICES];                /* of blocks */
    qn_rebalance rebalance;
    qn_i64 chunk_items; /* of this run */
    double start_us;
    int has_fallen;        /* in this run: no device is left */
    char failed_stage[64]; /* the device that failed last, and the reason */
    qn_err failure;
    qn_split_stats stats;
};

/* Adds a worker and makes its slots. */
qn_status qn_split_hire(qn_split *split, qn_split_worker *worker, int device, int depth,
                        qn_err *err);

/* Binds a graph to the worker's device, as chunks need it; once is enough. */
void qn_split_adopt(qn_graph *graph, const qn_split_worker *worker, int slot);

/* Items per us, 0 when not known. */
static inline double qn_split_rate(const qn_split_worker *worker)
{
    return worker->seen_us > 0 ? worker->seen_items / worker->seen_us : 0;
}

/* Removes the worker from this run because of `err` in `stage`. Without a source it had no
 * chunk. */
void qn_split_fail(qn_split *split, qn_split_worker *worker, const char *stage, const qn_err *err,
                   const qn_chunk_source *source);

#endif

/* split.h - one batch, or one list of tiles, over several devices.
 *
 * The items 0 .. n - 1 are cut into chunks. Each device of the set has `depth` slots, each with
 * buffers and a graph of its own that is bound to the device; a chunk takes a free slot of one
 * device, so copies of one chunk overlap the kernels of another, and one host thread keeps all
 * devices busy. Any chunk may run anywhere: results are the same for any number of devices of one
 * backend.
 *
 * When a device fails, its unfinished chunks go back to the queue and the others continue. When
 * none is left, that is a fallback: the CPU takes the rest.
 */
#ifndef QUERN_SPLIT_H
#define QUERN_SPLIT_H

#include <quern/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qn_split qn_split;

enum { QN_SPLIT_DEPTH = 2, QN_SPLIT_MAX_DEPTH = 8 };

typedef enum qn_split_mode {
    QN_SPLIT_DYNAMIC,     /* a shared queue: who is free takes the next chunk */
    QN_SPLIT_EQUAL,       /* a block per device; the remainder goes to the first ones */
    QN_SPLIT_PROPORTIONAL /* a block per device, by its rate */
} qn_split_mode;

/* "dynamic", "equal", "proportional", as --split has them. Returns 0, or -1 for another word. */
QN_API int qn_split_mode_find(const char *name, qn_split_mode *out);

/* The work, as three calls. Each returns QN_OK, or a failure with its sentence in `err`. `device`
 * is a number as in qn_device_id; it may be 0, the CPU, even when the set does not have it. */
typedef struct qn_split_work {
    void *user;
    qn_i64 chunk_items; /* what the buffers of a slot hold */
    /* Makes the buffers of a slot and adds its stages and outputs to `graph`. */
    qn_status (*build)(void *user, int device, int slot, qn_graph *graph, qn_err *err);
    /* Optional: fills everything that the items [first, first + count) need, 1 <= count <=
     * chunk_items. Nothing may be left over from the slot's last chunk. */
    qn_status (*prepare)(void *user, int device, int slot, qn_i64 first, qn_i64 count, qn_err *err);
    /* Optional: takes the results. Every item is delivered once; chunks come in the order in which
     * they are done. */
    qn_status (*deliver)(void *user, int device, int slot, qn_i64 first, qn_i64 count, qn_err *err);
    /* Optional, instead of `build`, when chunks are not alike: the graph that runs these items on
     * this device, asked for before `prepare`. It belongs to the work, outlives the run, and serves
     * one chunk at a time. */
    qn_status (*graph)(void *user, int device, qn_i64 first, qn_i64 count, qn_graph **out,
                       qn_err *err);
    /* Optional: what the items count in the device_* metrics; otherwise one each. */
    double (*tasks)(void *user, qn_i64 first, qn_i64 count);
} qn_split_work;

typedef struct qn_split_options {
    size_t size; /* sizeof(qn_split_options), as QN_SPLIT_OPTIONS sets it */
    qn_split_mode mode;
    /* "cuda:0,cuda:1,cpu", names of backends, or "all" (of the context; the CPU only by name).
     * Names that are not there are left out. NULL: QUERN_DEVICES, else what --backend lists or
     * names but the CPU, else the devices of the best one's backend. The CPU joins when the route
     * mode is `balance`. */
    const char *devices;
    const double *rates; /* per device of the set, any unit; NULL: as measured, else equal */
    int depth;           /* 0: 2. Beyond 8: QN_ERR_LIMIT */
} qn_split_options;

#define QN_SPLIT_OPTIONS(...) ((qn_split_options){ .size = sizeof(qn_split_options), __VA_ARGS__ })

/* Builds all slots and compiles their kernels. `options` may be NULL. */
QN_API qn_status qn_split_open(qn_ctx *ctx, const char *name, const qn_split_options *options,
                               const qn_split_work *work, qn_split **out, qn_err *err);
QN_API void qn_split_close(qn_split *split); /* NULL is fine */

/* Runs the items 0 .. n_items - 1 and returns when all are delivered. With blocks (EQUAL,
 * PROPORTIONAL): when devices finish more than 30 % apart, the next batch is shared by the rates
 * seen in this one, and so on until they are less than 10 % apart. */
QN_API qn_status qn_split_run(qn_split *split, qn_i64 n_items, qn_err *err);

/* What one device did in the last run. */
typedef struct qn_split_device {
    int device;
    qn_i64 items, chunks;
    double busy_us;   /* with a chunk of this run in hand */
    double finish_us; /* when its last chunk was done, from the start of the run */
    double share_pct; /* of its block in the next run, with blocks */
    int has_failed;
    char reason[480]; /* why, with the stage */
} qn_split_device;

/* Devices of the set, and one more when the CPU had to take over. */
QN_API int qn_split_count(const qn_split *split);
QN_API qn_split_device qn_split_get(const qn_split *split, int i);

typedef struct qn_split_stats {
    uint64_t runs, chunks,
        requeued;        /* of all runs; requeued: chunks given back by failed devices */
    uint64_t rebalances; /* batches whose shares were corrected */
    double wall_us;      /* of the last run */
    double spread_pct;   /* of the last run: how far the finishing times lay apart */
} qn_split_stats;

QN_API qn_split_stats qn_split_get_stats(const qn_split *split);

#ifdef __cplusplus
}
#endif
#endif

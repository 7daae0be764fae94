/* split.h - divides one batch, or one list of tiles, among several devices.
 *
 * The items 0 .. n - 1 are cut into chunks. Each device of the set has `depth` slots, each with its
 * own buffers and a graph bound to the device. A chunk takes a free slot of one device, so copies
 * of one chunk overlap kernels of another, and one host thread keeps all devices busy. Any chunk
 * may run anywhere: results do not depend on the number of devices of one backend.
 *
 * When a device fails, its unfinished chunks go back to the queue and the other devices continue.
 * If no device is left, the CPU does the rest, which counts as a fallback.
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
    QN_SPLIT_DYNAMIC,     /* a shared queue: a free device takes the next chunk */
    QN_SPLIT_EQUAL,       /* an equal block per device; the first ones get the remainder */
    QN_SPLIT_PROPORTIONAL /* a block per device, sized by its rate */
} qn_split_mode;

/* Finds a mode by its name in --split: "dynamic", "equal", "proportional". Returns 0, or -1 for any
 * other word. */
QN_API int qn_split_mode_find(const char *name, qn_split_mode *out);

/* The work, as three calls. Each returns QN_OK, or a failure with a message in `err`. `device` is a
 * number as in qn_device_id; it may be 0, the CPU, even if the CPU is not in the set. */
typedef struct qn_split_work {
    void *user;
    qn_i64 chunk_items; /* items that fit in the buffers of a slot */
    /* Makes the buffers of a slot and adds their stages and outputs to `graph`. */
    qn_status (*build)(void *user, int device, int slot, qn_graph *graph, qn_err *err);
    /* Optional: fills all inputs of the items [first, first + count), 1 <= count <= chunk_items, so
     * that nothing remains from the slot's last chunk. */
    qn_status (*prepare)(void *user, int device, int slot, qn_i64 first, qn_i64 count, qn_err *err);
    /* Optional: reads the results. Every item is delivered once; chunks are delivered as they
     * finish. */
    qn_status (*deliver)(void *user, int device, int slot, qn_i64 first, qn_i64 count, qn_err *err);
    /* Optional, instead of `build`, if chunks differ: returns the graph that runs these items on
     * this device; called before `prepare`. The graph belongs to the work, outlives the run, and
     * runs one chunk at a time. */
    qn_status (*graph)(void *user, int device, qn_i64 first, qn_i64 count, qn_graph **out,
                       qn_err *err);
    /* Optional: how many tasks the items count as in the device_* metrics; by default one each. */
    double (*tasks)(void *user, qn_i64 first, qn_i64 count);
} qn_split_work;

typedef struct qn_split_options {
    size_t size; /* sizeof(qn_split_options), as QN_SPLIT_OPTIONS sets it */
    qn_split_mode mode;
    /* "cuda:0,cuda:1,cpu", names of backends, or "all" (of the context; the CPU only if named).
     * Names of absent devices are ignored. NULL: QUERN_DEVICES, else the devices in --backend
     * except the CPU, else all devices of the best device's backend. The CPU joins if the route
     * mode is `balance`. */
    const char *devices;
    const double *rates; /* per device of the set, in any unit; NULL: measured, else equal */
    int depth;           /* 0 means 2; above 8 is QN_ERR_LIMIT */
} qn_split_options;

#define QN_SPLIT_OPTIONS(...) ((qn_split_options){ .size = sizeof(qn_split_options), __VA_ARGS__ })

/* Builds all slots and compiles their kernels. `options` may be NULL. */
QN_API qn_status qn_split_open(qn_ctx *ctx, const char *name, const qn_split_options *options,
                               const qn_split_work *work, qn_split **out, qn_err *err);
QN_API void qn_split_close(qn_split *split); /* NULL is fine */

/* Runs the items 0 .. n_items - 1; returns when all are delivered. With blocks (EQUAL,
 * PROPORTIONAL): if devices finish more than 30 % apart, the next batch is divided by the rates of
 * this one, and so on until they are less than 10 % apart. */
QN_API qn_status qn_split_run(qn_split *split, qn_i64 n_items, qn_err *err);

/* What one device did in the last run. */
typedef struct qn_split_device {
    int device;
    qn_i64 items, chunks;
    double busy_us;   /* time with a chunk of this run in progress */
    double finish_us; /* from the start of the run to the end of its last chunk */
    double share_pct; /* with blocks: size of its block in the next run */
    int has_failed;
    char reason[480]; /* why it failed, with the stage */
} qn_split_device;

/* Number of devices in the set, plus one if the CPU had to take over. */
QN_API int qn_split_count(const qn_split *split);
QN_API qn_split_device qn_split_get(const qn_split *split, int i);

typedef struct qn_split_stats {
    uint64_t runs, chunks,
        requeued;        /* of all runs; requeued: chunks given back by failed devices */
    uint64_t rebalances; /* batches after which blocks were resized */
    double wall_us;      /* of the last run */
    double spread_pct;   /* of the last run: spread of the finishing times */
} qn_split_stats;

QN_API qn_split_stats qn_split_get_stats(const qn_split *split);

#ifdef __cplusplus
}
#endif
#endif

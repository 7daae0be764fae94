/* graph_impl.h - the private parts of a graph, and data derived from it.
 *
 * order.c finds dependencies and lifetimes of stages, fuse.c fuses stages, plan.c turns a range of
 * stages and the current residency into steps, branch.c assigns stages to streams.
 */
#ifndef QN_ENGINE_GRAPH_IMPL_H
#define QN_ENGINE_GRAPH_IMPL_H

#include "engine/ops/registry.h"
#include "engine/memory/residency.h"

enum { QN_MAX_RECORDINGS = 4 };

typedef struct qn_stage_arg {
    int buf_i;      /* index into graph->bufs, -1 for a value */
    size_t offset;  /* bytes into the root */
    size_t bytes;   /* from there to the end of the buffer or view */
    int is_partial; /* a view, an offset, a later range: OUT must preserve the rest of the root */
    qn_arg_mode mode;
    size_t value_at; /* into stage->values */
    size_t value_bytes;
} qn_stage_arg;

/* The transform of a stage. */
typedef struct qn_stage_fft {
    qn_fft_shape shape;
    qn_fft_direction direction;
    qn_fft *plans[QN_MAX_DEVICES];
    unsigned own; /* devices whose plan belongs to this stage alone */
} qn_stage_fft;

typedef struct qn_stage {
    char name[64];
    const qn_op *op;              /* cost, exactness, priority */
    const qn_kernel_info *kernel; /* NULL for a host stage */
    int kernel_i;                 /* in its module */
    qn_stage_fft *fft;            /* not NULL: `kernel` is only the head of a transform */
    qn_host_fn host;
    void *user;
    qn_range range;
    int n_args;
    qn_stage_arg *args;
    unsigned char *values;
    uint64_t value_gen; /* graph->value_gen when a value last changed */
    int pin;            /* slot, -1 = the router decides */
    int device;         /* slot chosen by compile */
    int *deps;          /* earlier stages it must follow */
    int n_deps;
    qn_module *modules[QN_MAX_DEVICES];
    qn_launch last;                     /* span, group and grid of its last launch */
    qn_stage_log *logs[QN_MAX_DEVICES]; /* its runs on each device */
    uint64_t h2d_bytes, d2h_bytes;      /* moved for this stage */
} qn_stage;

typedef struct qn_graph_buf {
    qn_buf *root;
    int first, last; /* stages that touch it */
    int is_output;
    int temp_slot;          /* shared memory of temporaries, else -1 */
    uint64_t start_version; /* versions at the start of the run: a rerun needs them */
    uint64_t end_version;   /* versions at its end: a rerun must find them unless they are lost */
    qn_block *spare;        /* host memory with the run's inputs, or for its downloads */
    uint64_t spare_version; /* of its content */
} qn_graph_buf;

/* Memory that temporaries use one after the other. */
typedef struct qn_temp_slot {
    size_t bytes;
    int tenant;                      /* the last buffer to use it */
    qn_block *block[QN_MAX_DEVICES]; /* slot 0: host memory */
    qn_points used[QN_MAX_DEVICES];  /* all their accesses; the next user waits for these */
} qn_temp_slot;

typedef enum { QN_STEP_UPLOAD, QN_STEP_DOWNLOAD, QN_STEP_PEER, QN_STEP_STAGE } qn_step_kind;

typedef struct qn_step {
    qn_step_kind kind;
    int stage;  /* the stage that needs it */
    int buf_i;  /* transfers */
    int device; /* where it happens */
    int from;   /* PEER */
} qn_step;

/* Where a plan needs memory for a buffer, and where it writes the buffer: one bit per slot, 0 is
 * the host. */
typedef struct qn_touch {
    unsigned where, writes;
} qn_touch;

/* Stage `after` waits for stage `before`, which is on another stream of the same device. */
typedef struct qn_meet {
    int before, after;
} qn_meet;

/* The end of one stage on its stream. */
typedef struct qn_end {
    qn_event *event;
    qn_point at;
} qn_end;

/* How stages are assigned to the compute streams of their devices. */
typedef struct qn_branches {
    int n_stages;
    qn_stream *on;              /* by stage, counted from the graph's own stream */
    int (*clock)[QN_N_COMPUTE]; /* by stage: the last stage of each stream that has ended */
    unsigned char *is_met;      /* by stage: another stream waits for it */
    qn_meet *meets;             /* in the order of `after` */
    int n_meets;
    size_t cap_meets;
    unsigned used; /* streams, one bit each */
    qn_end *ends;  /* by awaited stage, while a plan is submitted */
} qn_branches;

typedef struct qn_plan {
    qn_step *steps;
    int n;
    size_t cap;
    int from; /* its first stage; earlier stages are submitted already */
    qn_branches branches;
    int crossings, elided;
    qn_touch *touched; /* by buffer */
    int one_device;    /* slot, if every step is on one non-CPU device, else -1 */
} qn_plan;

/* The failure that stopped a run, and its place. */
typedef struct qn_failure {
    int stage;
    const qn_step *step; /* NULL: there was no memory for the stage */
    int source;          /* slot that failed to deliver data to a CPU stage, 0: none */
    int is_late;         /* the step was queued, so its output cannot be trusted */
    int is_final;        /* not a device's fault, so avoiding a device would not help */
    int is_reported;     /* already logged and counted */
} qn_failure;

/* A plan that worked, with the state it is valid for. */
typedef struct qn_recording {
    uint64_t key[2];
    qn_plan plan;
    qn_replay *replay; /* NULL: the steps are submitted again without planning */
    int device;
    uint64_t value_gen;
    int *launch_i;     /* per stage: its launch in the recording, -1: launched in parts */
    qn_launch *shapes; /* per stage: span, group and grid of that launch */
    uint64_t tick;
} qn_recording;

/* fence.c: marks exactly where one run ends.
 *
 * Waiting for a point (stream.c) also waits for later work on its stream. That is fine for a single
 * graph. If several graphs take turns on a device, the end of one would be seen only when the next
 * is done, so a fence records events right after the submission instead. */

enum { QN_FENCE_MARKS = 4 * QN_N_STREAMS }; /* four devices with all their streams */

typedef struct qn_fence_mark {
    qn_device *device;
    qn_event *event;
    qn_point at;
} qn_fence_mark;

/* Zero-initialised: empty, which counts as done. */
typedef struct qn_fence {
    qn_fence_mark marks[QN_FENCE_MARKS];
    int n;
} qn_fence;

/* Adds the current end of a stream. If the fence is full or the device refuses, nothing is added;
 * waiting for the point still works but takes longer. */
void qn_fence_add(qn_fence *fence, qn_device *device, qn_stream on);

/* 1 if waiting would return at once, also if the device is lost or reports a failure. */
int qn_fence_is_done(qn_fence *fence);

/* Makes the host wait for the fence's events on this device. */
qn_status qn_fence_await(qn_fence *fence, qn_device *device, qn_err *err);

/* Drops all events, done or not. */
void qn_fence_clear(qn_fence *fence);

struct qn_graph {
    qn_runs runs; /* first member: buffers refer to the graph by it */
    qn_ctx *ctx;
    char name[64];
    qn_stage *stages;
    int n_stages;
    size_t cap_stages;
    struct qn_fusion *fusion; /* fuse.c: the stages as built, NULL if none were fused */
    qn_graph_buf *bufs;
    int n_bufs;
    size_t cap_bufs;
    int (*edges)[2]; /* explicit ones */
    int n_edges;
    qn_temp_slot *slots;
    int n_slots;
    int *stage_device; /* for the run in progress: the compiled choice, or CPU after a fallback */
    qn_plan plan;      /* scratch of the run in progress */
    qn_recording recordings[QN_MAX_RECORDINGS];
    int is_timed;       /* every step of the run is timed */
    double phase_us[4]; /* sums over such runs, by kind of step */
    uint64_t timed_runs;
    struct qn_graph_route *route; /* place.h */
    int is_sampled;               /* the router wants the time of stages of this run */
    int is_compiled;
    int awaited; /* slot that a CPU stage waits for, 0: none */
    qn_stream stream;
    uint64_t value_gen;
    qn_graph_stats stats;
    qn_points last[QN_MAX_DEVICES];  /* ends of the runs on each device */
    unsigned queued[QN_MAX_DEVICES]; /* stages submitted since the last wait, by device */
    int is_fenced;                   /* other graphs take turns with it, so runs end in a fence */
    qn_fence fence;
    qn_fallback_policy fallback; /* ERROR: device failures are returned to the caller */
    int failed_stage;            /* with ERROR: the stage where the last run failed, else -1 */
    qn_err failure;              /* and why */
};

/* order.c. */
qn_status qn_order_check(qn_graph *graph, qn_err *err);     /* edges; cycles */
qn_status qn_order_lifetimes(qn_graph *graph, qn_err *err); /* first/last, temp slots */
/* Frees the memory of the temporaries on one device (0: the host); the graph must not be
 * running. */
void qn_order_release(qn_graph *graph, int slot);
void qn_order_release_all(qn_graph *graph);

/* plan.c. */
/* Steps for stages [from, to); the number after the last stage means the outputs. */
qn_status qn_plan_build(qn_graph *graph, int from, int to, qn_plan *plan, qn_err *err);
/* Allocates memory for everything the plan touches. On QN_ERR_NOMEM nothing is lost, and *stage is
 * the first stage that did not fit. */
qn_status qn_plan_memory(qn_graph *graph, const qn_plan *plan, int *stage, qn_err *err);
/* Pins everything the plan touches (by = 1), and unpins it (by = -1). */
void qn_plan_pin(qn_graph *graph, const qn_plan *plan, int by);
/* Identifies the residency the plan starts from. */
void qn_plan_key(const qn_graph *graph, uint64_t key[2]);
void qn_plan_free(qn_plan *plan);

/* branch.c. */
/* Assigns all stages to streams; `device` has the slot of each, NULL means one device for all. */
qn_status qn_branches_find(const qn_graph *graph, const int *device, qn_branches *out, qn_err *err);
/* All stages on one stream. */
qn_status qn_branches_none(const qn_graph *graph, qn_branches *out, qn_err *err);
/* Call before and after stage `s` is submitted. Before: its stream waits for the others, which
 * advances *next_meet. After: its end is marked if another stage waits for it. */
qn_status qn_branches_begin(qn_graph *graph, const qn_branches *branches, int s, int *next_meet,
                            qn_err *err);
qn_status qn_branches_end(qn_graph *graph, const qn_branches *branches, int s, qn_point at,
                          qn_err *err);
/* Frees the events of a submission. */
void qn_branches_drop(qn_graph *graph, const qn_branches *branches);
void qn_branches_free(qn_branches *branches);
/* The compute stream of branch `on`: the graph's own, or one of the following. */
static inline qn_stream qn_branch_stream(const qn_graph *graph, qn_stream on)
{
    return QN_COMPUTE + (graph->stream - QN_COMPUTE + on) % QN_N_COMPUTE;
}

/* fuse.c. */
/* Replace chains of element-wise stages by one stage each, and restore them. Callers use the
 * numbers of the stages they built; the rest of the engine numbers the stages that run. */
qn_status qn_fuse(qn_graph *graph, qn_err *err);
void qn_fuse_undo(qn_graph *graph);
int qn_fuse_count(const qn_graph *graph);            /* stages as built */
int qn_fuse_place(const qn_graph *graph, int stage); /* the stage that runs a built stage */
qn_stage *qn_fuse_built(qn_graph *graph, int stage);
/* A value of the built stage has changed. */
void qn_fuse_update(qn_graph *graph, int stage);

/* Whether the stage needs the old content of buffer `b`; whether it writes the buffer. */
int qn_stage_reads(const qn_stage *stage, int b);
int qn_stage_writes(const qn_stage *stage, int b);

/* spare.c. */
/* Whether the buffer's content at the start of a run is part of the run's results. */
int qn_run_needs(const qn_graph *graph, int b);
/* A download into the host copy may overwrite input that a rerun would need. It then goes to a
 * spare block, which becomes the host copy, and the old host copy becomes the spare block. The
 * calls: allocate spare blocks while memory is plentiful; say where the download goes; record that
 * it was submitted. */
void qn_spare_prepare(qn_graph *graph, int b);
void *qn_spare_landing(const qn_graph *graph, int b);
void qn_spare_landed(qn_graph *graph, int b);
/* Swaps spare block and host copy. */
void qn_spare_exchange(qn_graph_buf *buf);

/* memory_map.c. */
/* Records in the context's ledger which buffers the graph uses; lifetimes are known. */
void qn_ledger_graph(const qn_graph *graph);

#endif

/* run.h - running graphs.
 *
 * graph.c builds stages, run.c runs plans, submit.c queues steps, record.c records and replays
 * plans, recover.c handles failures.
 */
#ifndef QN_ENGINE_RUN_H
#define QN_ENGINE_RUN_H

#include "engine/place/place.h"

/* submit.c. */
/* Streams that a step may use: separate ones in a plain submission, a single one during capture. */
typedef struct qn_lanes {
    qn_stream upload, compute, download;
} qn_lanes;

/* Begins to make the modules and transforms that stages of the plan lack, side by side, but the first:
 * who asks for that one comes at once and makes it himself. */
void qn_plan_ahead(qn_graph *graph, const qn_plan *plan);
/* Submits the plan. On failure *failure tells the place. */
qn_status qn_submit_plan(qn_graph *graph, const qn_plan *plan, qn_failure *failure, qn_err *err);
/* Queues one step without updating the state of buffers. */
qn_status qn_submit_step(qn_graph *graph, const qn_step *step, const qn_lanes *lanes,
                         int *n_launches, qn_err *err);
/* Updates the state of the buffers after a step was submitted. */
void qn_apply_step(qn_graph *graph, const qn_step *step, qn_point at);
/* Fills the arguments of a launch; `out` has at least n_args of the stage. */
void qn_fill_args(qn_graph *graph, const qn_stage *stage, qn_device *device, qn_launch_arg *out);
/* Gets the stage's module on the device, compiled if needed. */
qn_status qn_stage_module(qn_stage *stage, qn_device *device, qn_err *err);

/* The record of the stage on the device; lives as long as the context. NULL if out of memory. */
qn_stage_log *qn_stage_log_of(qn_stage *stage, qn_device *device);

/* fft_stage.c. */
/* Gets the plan on the device, made if needed; the counterpart of qn_stage_module. */
qn_status qn_stage_fft_plan(qn_stage *stage, qn_device *device, qn_err *err);
/* Queues the transform; after a failure, part of it may still run. */
qn_status qn_stage_fft_run(qn_stage *stage, qn_device *device, const qn_launch_arg *data,
                           qn_stream on, qn_err *err);
/* Copies values that the transform leaves undefined from `got` to `want`, so that they compare
 * equal; `want` is the root of the buffer. */
void qn_stage_fft_ignore(const qn_stage *stage, void *want, const void *got);
void qn_stage_fft_free(qn_graph *graph, qn_stage_fft *fft);

/* capture.c. */
/* Records the plan of `recording` on its device, launches numbered for later updates. */
qn_status qn_capture(qn_graph *graph, qn_recording *recording, qn_err *err);

/* record.c. */
qn_recording *qn_record_find(qn_graph *graph, const uint64_t key[2]);
/* Plans the whole graph from its current residency, allocates memory and stores the plan under
 * `key`, captured on the device if possible. NULL if this run cannot be recorded. */
qn_recording *qn_record_make(qn_graph *graph, const uint64_t key[2]);
/* Replays a recording; after a failure the run loop continues. */
qn_status qn_record_run(qn_graph *graph, qn_recording *recording, qn_err *err);
void qn_record_free(qn_graph *graph);

/* run.c. */
/* Call when the run has ended: removes its stages from the device queues. */
void qn_run_settled(qn_graph *graph);

/* recover.c. */
/* Starts a run: saves what a rerun would need, and moves stages off devices that are lost or
 * unhealthy, which is a fallback too. */
qn_status qn_recover_begin(qn_graph *graph, qn_err *err);
/* Logs and counts the fallback of stage `s` because of `err`, and clears `err`; returns the failure
 * if fallback is not allowed. */
qn_status qn_recover_note(qn_graph *graph, int s, qn_err *err);
/* The device takes no work now: stages from `s` on go to the CPU, with a log line for each. */
qn_status qn_recover_move(qn_graph *graph, const qn_device *device, int s, qn_err *err);
/* Ends a submitted run: saves the versions it produced, for a later recovery. */
void qn_recover_end(qn_graph *graph);
/* Decides how to continue after a failure. QN_OK: continue at stage *next, which has moved to the
 * CPU, or at the first stage with everything on the CPU. Otherwise the failure is final. */
qn_status qn_recover(qn_graph *graph, const qn_failure *failure, int *next, qn_err *err);
/* Waits for the last run; if it turns out to have failed, reruns the graph on the CPU. */
qn_status qn_recover_wait(qn_graph *graph, qn_err *err);
/* Rung 4: runs a splittable stage through the device in pieces, at most 2^6. */
qn_status qn_split_stage(qn_graph *graph, int stage, qn_err *err);

/* graph.c. */
/* Adds a stage with the head `kernel`. */
qn_status qn_graph_add(qn_graph *graph, const char *name, const qn_op *op,
                       const qn_kernel_info *kernel, qn_range range, const qn_arg *args,
                       qn_err *err);
/* qn_graph_compile with an error. */
qn_status qn_graph_prepare(qn_graph *graph, qn_err *err);

/* run.c. */
/* The run loop without replay, from a stage on. */
qn_status qn_graph_run_from(qn_graph *graph, int stage, qn_err *err);
/* Reacts to a failure: frees memory, or moves the stage. *next is the stage to continue with. */
qn_status qn_graph_go_on(qn_graph *graph, const qn_failure *failure, int *next, qn_err *err);

/* stage_clock.c. */
/* Times one step for QUERN_TIMING or as a sample for the router. */
typedef struct qn_stage_clock {
    int is_on;
    double start_us;
    qn_event *begin;
} qn_stage_clock;

qn_status qn_clock_start(qn_graph *graph, const qn_step *step, qn_stream on, qn_stage_clock *clock,
                         qn_err *err);
qn_status qn_clock_stop(qn_graph *graph, const qn_step *step, qn_stream on, qn_stage_clock *clock,
                        qn_err *err);
/* Call for a failed step instead of stopping the clock. */
void qn_clock_cancel(qn_graph *graph, const qn_step *step, qn_stage_clock *clock);

/* verify.c. */
/* Submits graph->plan, which holds stage `s` alone, and checks it if it is one of the sampled
 * stages. On failure *failure has the place. A mismatch counts as a failure of the device, and
 * after two in a row the device is refused; the CPU's result replaces the wrong one. */
qn_status qn_verify_run(qn_graph *graph, int s, qn_failure *failure, qn_err *err);

#endif

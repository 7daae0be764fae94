/* run_impl.h - shared by the files of a run. */
#ifndef QN_LES_RUN_IMPL_H
#define QN_LES_RUN_IMPL_H

#include "run.h"
#include "variables.h"

#include "domain/les/flow/safe.h"
#include "util/pace.h"

enum { RUN_GRAPHS_MAX = 32 };

/* A graph of steps, and the span that it computes. */
typedef struct run_span {
    qn_les_span span;
    qn_graph *graph;
    int last_used;
} run_span;

/* One of two snapshot buffers: while one is downloaded, the other is computed. */
typedef struct run_slot {
    qn_graph *graph;
    qn_buf *field;
    int copy;                            /* its stage that copies the field to the store, or -1 */
    int pending;                         /* step whose field is being downloaded, or -1 */
    qn_buf *parts[QN_LES_MAX_VARIABLES]; /* what flow.nc has besides the field */
    int n_parts;
} run_slot;

typedef struct run {
    qn_ctx *ctx;
    qn_les_options options;       /* settled */
    const qn_les_options *config; /* the same */
    qn_les_result *result;
    qn_les_schedule plan;

    qn_les_sim *sim;
    qn_les_codec *codec; /* NULL with what = sim */
    qn_les_proxy *proxy;
    qn_buf *z;     /* [n_frames][ensemble][D] */
    qn_buf *store; /* member 0 at every snapshot, [n_snapshots][N][N]; NULL when it is not needed */
    qn_buf *hashes; /* omega, z, per hashed step */
    qn_buf *shells;

    run_span spans[RUN_GRAPHS_MAX];
    int n_spans, clock;
    run_slot slots[2];
    qn_graph *hash_graph;
    int hash_omega, hash_z; /* first stages of the digests */

    qn_les_saved saved; /* the last state on the host; step 0: none */
    qn_les_safe safe;
    qn_pace pace; /* of states on the host */
    int step;
    int is_stopped; /* cells are not finite */

    qn_progress *progress;
    qn_les_phase phase;
    double phase_since;
    double span_us; /* time of a usual span, last measured */
} run;

/* From now on, time counts as `phase`. */
void qn_les_run_enter(run *r, qn_les_phase phase);

/* qn_graph_wait; counts the call when it had to wait. */
qn_status qn_les_run_wait(run *r, qn_graph *graph, qn_err *err);

size_t qn_les_run_real_bytes(const run *r);
size_t qn_les_run_field_bytes(const run *r); /* of one member */
size_t qn_les_run_row_bytes(const run *r);   /* of one row of z */

/* ahead.c: begins to compile what the run will need. */
void qn_les_run_ahead(const run *r);

/* run_loop.c: from the state at r->step to the end. */
qn_status qn_les_run_loop_make(run *r, qn_err *err);
qn_status qn_les_run_first(run *r, qn_err *err); /* everything due at step 0 */
qn_status qn_les_run_loop(run *r, qn_err *err);
void qn_les_run_loop_free(run *r);

/* run_record.c: records of snapshots, and flow.nc, which is made from them. */
qn_status qn_les_run_add_record(run *r, run_slot *slot, qn_err *err); /* to its graph */
size_t qn_les_run_record_bytes(const run_slot *slot);                 /* besides the field */
qn_status qn_les_run_put_record(run *r, const run_slot *slot, const void *field, qn_err *err);
void qn_les_run_free_record(run_slot *slot);
qn_status qn_les_run_write_nc(run *r, qn_err *err);

/* run_save.c: checkpoints, and states on the host. */
qn_status qn_les_run_save(run *r, qn_err *err);
qn_status qn_les_run_forget(run *r, qn_err *err); /* the last state of a shorter run */
int qn_les_run_should_keep(const run *r);
qn_status qn_les_run_keep(run *r, qn_err *err);
qn_status qn_les_run_keep_field(run *r, int step, const void *field,
                                qn_err *err); /* of a snapshot */
qn_status qn_les_run_load(run *r,
                          qn_err *err); /* reads and checks the file; before anything else */
qn_status qn_les_run_restore(run *r, qn_err *err); /* restores the state from it */

/* run_proxy.c: learn, roll out, decode, compare, draw. */
qn_status qn_les_run_proxy(run *r, qn_err *err);
qn_status qn_les_run_kernel_only(run *r, qn_err *err);

/* run_read.c: reading results back at the end. */
qn_status qn_les_run_read(run *r, qn_err *err);
qn_status qn_les_run_read_rows(run *r, const char *name, qn_buf *buf, int rows, qn_err *err);
qn_status qn_les_run_measure_encode(run *r, qn_err *err);

#endif

/* run_impl.h - what the files of a run share. */
#ifndef QN_LES_RUN_IMPL_H
#define QN_LES_RUN_IMPL_H

#include "run.h"

#include "util/y4m.h"

enum { RUN_GRAPHS_MAX = 32 };

/* A graph of steps, and the span it makes. */
typedef struct run_span {
    qn_les_span span;
    qn_graph *graph;
    int last_used;
} run_span;

/* One of two sets that take turns: while one is downloaded, the other is computed. */
typedef struct run_slot {
    qn_graph *graph;
    qn_buf *field;
    int keep;    /* its stage that copies the field to the store, or -1 */
    int pending; /* step whose field is on its way, or -1 */
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
    qn_buf *z;      /* [n_frames][ensemble][D] */
    qn_buf *store;  /* member 0 at every snapshot, [n_snapshots][N][N]; NULL when nobody needs it */
    qn_buf *hashes; /* omega, z, per hashed step */
    qn_buf *shells;

    run_span spans[RUN_GRAPHS_MAX];
    int n_spans, clock;
    run_slot slots[2];
    qn_graph *hash_graph;
    int hash_omega, hash_z; /* first stages of the digests */

    qn_les_saved saved; /* what the last checkpoint had; grows */
    int has_saved;
    int step;
    int is_stopped; /* cells are not finite */

    qn_progress *progress;
    qn_les_phase phase;
    double phase_since;
    double span_us; /* of a usual span, as seen last */
    qn_film *film;
} run;

/* The time from now on counts as `phase`. */
void qn_les_run_enter(run *r, qn_les_phase phase);

/* qn_graph_wait that counts when it had to. */
qn_status qn_les_run_wait(run *r, qn_graph *graph, qn_err *err);

size_t qn_les_run_real_bytes(const run *r);
size_t qn_les_run_field_bytes(const run *r); /* of one member */
size_t qn_les_run_row_bytes(const run *r);   /* of one row of z */

/* run_loop.c: from the state at r->step to the end. */
qn_status qn_les_run_loop_make(run *r, qn_err *err);
qn_status qn_les_run_first(run *r, qn_err *err); /* what is due at step 0 */
qn_status qn_les_run_loop(run *r, qn_err *err);
void qn_les_run_loop_free(run *r);

/* run_save.c: checkpoints. */
qn_status qn_les_run_save(run *r, qn_err *err);
qn_status qn_les_run_load(run *r,
                          qn_err *err); /* reads and checks the file; before anything else */
qn_status qn_les_run_restore(run *r, qn_err *err); /* puts back what it says */

/* run_proxy.c: learn, roll out, decode, compare, draw. */
qn_status qn_les_run_proxy(run *r, qn_err *err);
qn_status qn_les_run_kernel_only(run *r, qn_err *err);

/* run_read.c: what is read back at the end. */
qn_status qn_les_run_read(run *r, qn_err *err);
qn_status qn_les_run_measure_encode(run *r, qn_err *err);

#endif

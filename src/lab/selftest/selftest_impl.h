/* selftest_impl.h - what the files of the selftest share. */
#ifndef QN_LAB_SELFTEST_SELFTEST_IMPL_H
#define QN_LAB_SELFTEST_SELFTEST_IMPL_H

#include "lab/selftest/selftest.h"
#include "engine/context.h"
#include "engine/ops/registry.h"
#include "engine/ops/segment.h"

/* Adds a check. `st` other than QN_OK is a failure with the text of `why`. */
qn_status qn_selftest_note(qn_selftest *tests, const char *name, const char *device, qn_status st,
                           const qn_err *why, qn_err *err);
qn_status qn_selftest_skip(qn_selftest *tests, const char *name, const char *device,
                           const char *reason, qn_err *err);

/* Rig.c: one graph with its buffers, pinned to a device. */

enum { QN_RIG_BUFS = 12 };

typedef struct qn_rig {
    qn_ctx *ctx;
    qn_graph *graph;
    qn_segments *segments;
    qn_buf *bufs[QN_RIG_BUFS]; /* freed with the rig */
    int n_bufs;
    qn_buf *out;      /* the result; borrowed */
    const char *type; /* of its elements */
    qn_err err;       /* why a buffer could not be made */
} qn_rig;

qn_status qn_rig_open(qn_ctx *ctx, qn_rig *rig, qn_err *err);
void qn_rig_close(qn_rig *rig);

/* A buffer of the rig; zero, a copy of `data`, or values from a seed. NULL when it failed; then
 * the rig's err says why. */
qn_buf *qn_rig_new(qn_rig *rig, size_t bytes);
qn_buf *qn_rig_copy(qn_rig *rig, const void *data, size_t bytes);
qn_buf *qn_rig_floats(qn_rig *rig, qn_i64 n, uint64_t seed);
qn_buf *qn_rig_bytes(qn_rig *rig, qn_i64 n, uint64_t seed);

/* Runs all stages on the device, without fallback, and copies the result. The caller frees
 * *data. */
qn_status qn_rig_run(qn_rig *rig, const char *device, void **data, size_t *bytes, qn_err *err);

/* Cases.c: how each op is built. */

typedef struct qn_case qn_case;
struct qn_case {
    const char *name;
    const char *ops; /* rows of the registry that its stages run, comma list; the last decides how
                        exact the result must be */
    qn_status (*build)(qn_rig *rig, const qn_case *self, qn_err *err);
    qn_i64 n;
    const char *arg;
};

extern const qn_case qn_cases[]; /* ended by a name of NULL */

/* The case of a map_* op, which all look alike. */
qn_case qn_case_of_map(const qn_op *op);

/* Builds and runs a case; the caller frees *data. */
qn_status qn_case_run(qn_ctx *ctx, const char *device, const qn_case *c, const char **type,
                      void **data, size_t *bytes, qn_err *err);

/* Hashes of messages, and the root over leaves of bytes from `seed`, as known answers need. */
qn_status qn_build_hash(qn_rig *rig, const char *op, const void *messages, const qn_i64 *start,
                        qn_i64 n, qn_err *err);
qn_status qn_build_merkle(qn_rig *rig, qn_i64 n_leaves, uint64_t seed, int is_rfc, qn_err *err);

/* The groups of checks. */

qn_status qn_selftest_known_host(qn_selftest *tests, qn_err *err);
qn_status qn_selftest_known(qn_selftest *tests, qn_ctx *ctx, int device, qn_err *err);
qn_status qn_selftest_parity(qn_selftest *tests, qn_ctx *reference, qn_ctx *ctx, int device,
                             qn_err *err);
qn_status qn_selftest_geometry(qn_selftest *tests, qn_ctx *ctx, int device, qn_err *err);
qn_status qn_selftest_fault(qn_selftest *tests, const qn_options *engine, const char *device,
                            qn_err *err);
qn_status qn_selftest_cache(qn_selftest *tests, const qn_options *engine, const char *device,
                            qn_err *err);

#endif

/* selftest_impl.h - shared by the files of the selftest. */
#ifndef QN_LAB_SELFTEST_SELFTEST_IMPL_H
#define QN_LAB_SELFTEST_SELFTEST_IMPL_H

#include "lab/owned.h"
#include "lab/selftest/selftest.h"
#include "engine/engine.h"

/* Adds a check. It has failed if `st` is not QN_OK, with the text of `why`. */
qn_status qn_selftest_note(qn_findings *findings, const char *name, const char *device,
                           qn_status st, const qn_err *why, qn_err *err);
qn_status qn_selftest_skip(qn_findings *findings, const char *name, const char *device,
                           const char *reason, qn_err *err);

/* fixture.c: one graph with its buffers, pinned to a device. */

typedef struct qn_fixture {
    qn_ctx *ctx;
    qn_graph *graph;
    qn_segments *segments;
    qn_owned owned;   /* the graph and buffers */
    qn_buf *out;      /* the result; borrowed */
    const char *type; /* of its elements */
    qn_err err;       /* why a buffer could not be made */
} qn_fixture;

qn_status qn_fixture_open(qn_ctx *ctx, qn_fixture *fixture, qn_err *err);
void qn_fixture_close(qn_fixture *fixture);

/* A buffer of the fixture, filled with zeros, a copy of `data`, or values from a seed. NULL on
 * failure; the fixture's err then says why. */
qn_buf *qn_fixture_new(qn_fixture *fixture, size_t bytes);
qn_buf *qn_fixture_copy(qn_fixture *fixture, const void *data, size_t bytes);
qn_buf *qn_fixture_floats(qn_fixture *fixture, qn_i64 n, uint64_t seed);
qn_buf *qn_fixture_bytes(qn_fixture *fixture, qn_i64 n, uint64_t seed);

/* Makes the buffer of the result. */
qn_status qn_fixture_out(qn_fixture *fixture, size_t bytes, qn_err *err);

/* Runs all stages on the device, without fallback, and copies the result, which belongs to the
 * fixture; `data` is the address of a pointer. */
qn_status qn_fixture_run(qn_fixture *fixture, const char *device, void *data, qn_err *err);

/* cases.c: the graph of each op. */

typedef struct qn_case qn_case;
struct qn_case {
    const char *name;
    const char *ops; /* rows of the registry that its stages run, comma list; the last decides how
                        exact the result must be */
    qn_status (*build)(qn_fixture *fixture, const qn_case *self, qn_err *err);
    qn_i64 n;
    const char *arg;
};

extern const qn_case qn_cases[]; /* ends with a NULL name */

/* The case of a map_* op; these are all alike. */
qn_case qn_case_of_map(const qn_op *op);

/* Builds and runs a case in an open fixture; `data` is as above. */
qn_status qn_case_run(qn_fixture *fixture, const char *device, const qn_case *c, void *data,
                      qn_err *err);

/* Hashes of messages, and the root over leaves of bytes from `seed`, for known answers. */
qn_status qn_build_hash(qn_fixture *fixture, const char *op, const void *messages,
                        const qn_i64 *start, qn_i64 n, qn_err *err);
qn_status qn_build_merkle(qn_fixture *fixture, qn_i64 n_leaves, uint64_t seed, int is_rfc,
                          qn_err *err);

/* The groups of checks. */

qn_status qn_selftest_known_host(qn_findings *findings, qn_err *err);
qn_status qn_selftest_known(qn_findings *findings, qn_ctx *ctx, int device, qn_err *err);
qn_status qn_selftest_parity(qn_findings *findings, qn_ctx *reference, qn_ctx *ctx, int device,
                             qn_err *err);
qn_status qn_selftest_geometry(qn_findings *findings, qn_ctx *ctx, int device, qn_err *err);
qn_status qn_selftest_fault(qn_findings *findings, const qn_options *engine, const char *device,
                            qn_err *err);
qn_status qn_selftest_cache(qn_findings *findings, const qn_options *engine, const char *device,
                            qn_err *err);

#endif

/* checkpoint.h - files from which an interrupted run continues.
 *
 *     bytes 0-7     "QNLESCP3"
 *     8-15          bytes of the payload
 *     16-47         SHA-256 of the payload
 *     48            payload: step, sizes, then the arrays in the order of qn_les_saved, each padded
 *                   to a multiple of 8 bytes
 *
 * Numbers are little endian. The folder of a run knows its options, which are not in its files; a flow
 * by itself has them here. A damaged file is refused with a sentence that says what is wrong.
 */
#ifndef QN_LES_CHECKPOINT_H
#define QN_LES_CHECKPOINT_H

#include "util/file.h"

typedef struct qn_les_bytes {
    void *data;
    size_t n;
} qn_les_bytes;

enum {
    QN_LES_SAVED_SIM,     /* state and clock, as qn_les_sim_save has them */
    QN_LES_SAVED_Z,       /* rows so far */
    QN_LES_SAVED_ANCHORS, /* int32_t */
    QN_LES_SAVED_LOG,     /* qn_les_row */
    QN_LES_SAVED_FIELDS,  /* of the snapshots so far */
    QN_LES_SAVED_HASHES,  /* uint64_t: of omega, of z, per hashed step */
    QN_LES_SAVED_SHELLS,  /* the spectrum of the first step */
    QN_LES_SAVED_OPTIONS, /* of a flow that is not part of a run: JSON */
    QN_LES_SAVED_FORCE,   /* of such a flow, too: N x N doubles */
    QN_LES_SAVED_PARTS
};

/* Zero-initialised is empty. */
typedef struct qn_les_saved {
    qn_i64 step;
    qn_les_bytes parts[QN_LES_SAVED_PARTS];
} qn_les_saved;

void qn_les_saved_free(qn_les_saved *saved);

/* Makes part `part` `bytes` long; new bytes are zero. */
qn_status qn_les_saved_grow(qn_les_saved *saved, int part, size_t bytes, qn_err *err);

/* Ends `out`. */
qn_status qn_les_checkpoint_write(qn_out *out, const qn_les_saved *saved, qn_err *err);

/* A missing or damaged file is QN_ERR_INPUT. */
qn_status qn_les_checkpoint_read(const char *path, qn_les_saved *out, qn_err *err);

#endif

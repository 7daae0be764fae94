/* checkpoint.h - files from which an interrupted run continues.
 *
 *     bytes 0-7     "QNLESCP1"
 *     8-11          version, 1; 12-15: zero
 *     16-23         bytes of the payload
 *     24-55         SHA-256 of the configuration, as far as results depend on it
 *     56-87         SHA-256 of the payload
 *     88            payload: counts, then the arrays in the order of qn_les_saved, each padded to
 *                   a multiple of 8 bytes
 *
 * Numbers are little endian. A file is used only if both hashes fit: a damaged file, or one of
 * another run, is refused with a sentence that says what is wrong.
 */
#ifndef QN_LES_CHECKPOINT_H
#define QN_LES_CHECKPOINT_H

#include "domain/les/options/options.h"

enum { QN_LES_STAMP_SIZE = 17 };

typedef struct qn_les_bytes {
    void *data;
    size_t n;
} qn_les_bytes;

enum {
    QN_LES_SAVED_CONFIG,  /* JSON text */
    QN_LES_SAVED_SIM,     /* state and clock, as qn_les_sim_save has them */
    QN_LES_SAVED_Z,       /* rows so far */
    QN_LES_SAVED_ANCHORS, /* int32_t */
    QN_LES_SAVED_LOG,     /* qn_les_row */
    QN_LES_SAVED_FIELDS,  /* of the snapshots so far */
    QN_LES_SAVED_HASHES,  /* uint64_t: of omega, of z, per hashed step */
    QN_LES_SAVED_PARTS
};

/* Zero-initialised is empty. */
typedef struct qn_les_saved {
    qn_i64 step;
    char stamp[QN_LES_STAMP_SIZE]; /* of the first part of the run */
    qn_les_bytes parts[QN_LES_SAVED_PARTS];
} qn_les_saved;

void qn_les_saved_free(qn_les_saved *saved);

/* Makes part `part` `bytes` long; new bytes are zero. */
qn_status qn_les_saved_grow(qn_les_saved *saved, int part, size_t bytes, qn_err *err);

/* The path of the checkpoint of a run. */
void qn_les_checkpoint_path(const qn_les_options *config, char *out, size_t size);

/* Writes `saved`, including the part CONFIG, which is made here. The old file stays until the new
 * one is complete. */
qn_status qn_les_checkpoint_write(const char *path, const qn_les_options *config,
                                  qn_les_saved *saved, qn_err *err);

/* A missing or damaged file is QN_ERR_INPUT; a file made with other options is QN_ERR_USAGE, and
 * the message names the option. */
qn_status qn_les_checkpoint_read(const char *path, const qn_les_options *config, qn_les_saved *out,
                                 qn_err *err);

#endif

/* codec.h - encodes fields as short vectors and decodes them, on resident buffers.
 *
 * An encoded vector has the largest waves exactly, the strongest waves of the next band (anchors,
 * chosen once at the first encoded frame), the energies of the other waves, and the share of cells
 * that differ much from their surroundings (the support of the ternary field). Decoding restores
 * the stored waves and gives the others their energy with random phases.
 */
#ifndef QN_LES_CODEC_H
#define QN_LES_CODEC_H

#include "domain/les/options/options.h"
#include "domain/les/flow/modes.h"

#include <quern/graph.h>

typedef struct qn_les_codec qn_les_codec;

/* `config` must outlive it. */
qn_status qn_les_codec_new(qn_ctx *ctx, const qn_les_options *config, qn_les_codec **out,
                           qn_err *err);
void qn_les_codec_free(qn_les_codec *codec); /* NULL is fine */

const qn_les_modes *qn_les_codec_modes(const qn_les_codec *codec);
qn_les_layout qn_les_codec_layout(const qn_les_codec *codec);

/* Encode. */

/* Adds the choice of anchors of every member from the half spectrum `state` (sim.h). */
qn_status qn_les_codec_add_anchors(qn_les_codec *codec, qn_graph *graph, qn_buf *state,
                                   qn_err *err);

/* Adds the encoding of `state` as the next row of `z`, [room][ensemble][D] in run precision. The
 * device counts the rows and writes none beyond `room`. */
qn_status qn_les_codec_add_encode(qn_les_codec *codec, qn_graph *graph, qn_buf *state, qn_buf *z,
                                  int room, qn_err *err);

/* Sets the next row to be written: after reading a checkpoint, or to start again. */
qn_status qn_les_codec_set_row(qn_les_codec *codec, int row, qn_err *err);

/* Anchors as modes (modes.h), n_anchors per member; for files and checkpoints. */
qn_status qn_les_codec_read_anchors(qn_les_codec *codec, int32_t *modes, qn_err *err);
qn_status qn_les_codec_set_anchors(qn_les_codec *codec, const int32_t *modes, qn_err *err);

/* The ternary field of the last encoding or gated decoding, before or after the majority passes:
 * int8 [ensemble][N][N]. For checks. */
qn_buf *qn_les_codec_ternary(const qn_les_codec *codec, int is_before);

/* Decode. */

/* Adds the decoding of row `row` of `z`, [rows][ensemble][D], as the frame of step `step`:
 * low-pass field and field with residual, [ensemble][N][N]. `full` may be NULL. With codec origin
 * the phases may be given by config->phases or config->phase_field: doubles [2][N][N], mid then
 * high, as angles of the modes of the full plane. */
qn_status qn_les_codec_add_decode(qn_les_codec *codec, qn_graph *graph, qn_buf *z, int row,
                                  int step, qn_buf *lp, qn_buf *full, qn_err *err);

/* Comparison. */

/* Sums over a pair of fields, and the errors that follow from them and from the spectra. */
typedef struct qn_les_errors {
    double rel_l2, corr, dE, dZ, dE_rel, dZ_rel, spectrum_err;
} qn_les_errors;

/* Adds the comparison of member 0 of fields `a` (the truth) and `b`; the result is in row `row` of
 * `sums`, QN_LES_SUMS doubles each. */
enum { QN_LES_SUMS = 16 };
qn_status qn_les_codec_add_compare(qn_les_codec *codec, qn_graph *graph, qn_buf *a, qn_buf *b,
                                   qn_buf *sums, int row, qn_err *err);
qn_les_errors qn_les_errors_of(const qn_les_options *config, const double sums[QN_LES_SUMS]);

#endif

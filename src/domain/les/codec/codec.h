/* codec.h - fields as short vectors, and back, on resident buffers.
 *
 * Encoding keeps the largest waves as they are, the strongest of the next band (anchors, chosen
 * once at the first encoded frame), the energies of the rest, and how much of the field is far from
 * its surroundings (the support of the ternary field). Decoding puts the waves back and gives the
 * rest its energy with random phases.
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

/* Adds zeros in all `room` rows of `z`, and row 0 as the next one. Not needed for right results: a
 * new buffer is zero and a new codec begins with row 0, but then these zeros come from the host. */
qn_status qn_les_codec_add_begin(qn_les_codec *codec, qn_graph *graph, qn_buf *z, int room,
                                 qn_err *err);

/* Adds the choice of anchors of every member from the half spectrum `state` (sim.h). */
qn_status qn_les_codec_add_anchors(qn_les_codec *codec, qn_graph *graph, qn_buf *state,
                                   qn_err *err);

/* Adds the encoding of `state` as the next row of `z`, [room][ensemble][D] in run precision. The
 * device counts the rows; those beyond `room` are not written. */
qn_status qn_les_codec_add_encode(qn_les_codec *codec, qn_graph *graph, qn_buf *state, qn_buf *z,
                                  int room, qn_err *err);

/* The next row to be written becomes `row`: after a checkpoint was read, or to begin again. */
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
 * the phases come from config->phases when it names a file: float64 [2][N][N], mid then high, as
 * angles of the modes of the full plane. */
qn_status qn_les_codec_add_decode(qn_les_codec *codec, qn_graph *graph, qn_buf *z, int row,
                                  int step, qn_buf *lp, qn_buf *full, qn_err *err);

/* Comparison. */

/* Six sums of a pair of fields, and what follows from them and the spectra. */
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

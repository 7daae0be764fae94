/* modes.h - the modes that the codec stores, their order, and their places in the encoded vector.
 *
 * The squared radius n2 = nx^2 + ny^2 decides the band: low up to k_cut^2, mid up to k_mid^2, high
 * beyond. Codec quern lists half-plane modes (kx > 0, or kx = 0 and ky > 0) by ky, then kx; mid
 * and high omit the Nyquist row and column, and high omits the modes that dealiasing removes. Codec
 * origin lists all modes of the full plane, with the mean among the low ones, in the order of an
 * N x N spectrum.
 *
 * A mode is one number: j (N/2 + 1) + i in the half spectrum for codec quern, j N + i in the full
 * one for codec origin. The lists of low and mid are short and stored; high has most modes of the
 * grid, so only their count is stored, and membership is tested.
 */
#ifndef QN_LES_MODES_H
#define QN_LES_MODES_H

#include "domain/les/options/options.h"

typedef struct qn_les_modes {
    int n; /* cells along a side */
    int is_full;
    int low2, mid2; /* largest n2 of low and of mid */
    int high_edge;  /* high: |nx|, |ny| up to this */
    int32_t *low;   /* n_low modes */
    int32_t *mid;   /* n_mid modes */
    int n_low, n_mid;
    int n_anchors; /* of mid: pairs or topk_mid, at most n_mid */
    qn_i64 n_high;
} qn_les_modes;

typedef enum { QN_LES_LOW, QN_LES_MID, QN_LES_HIGH } qn_les_band;

typedef struct qn_les_wave {
    int kx, ky;
} qn_les_wave;

qn_status qn_les_modes_new(const qn_les_options *config, qn_les_modes *out, qn_err *err);
void qn_les_modes_free(qn_les_modes *modes);

/* Whether mode (kx, ky) is in the lists of `band`. */
int qn_les_in_band(const qn_les_modes *modes, qn_les_band band, qn_les_wave wave);

/* Writes the modes of `band` in their order; returns how many. A NULL `out` only counts. */
qn_i64 qn_les_list_band(const qn_les_modes *modes, qn_les_band band, int32_t *out);

/* From a mode's number to its wavenumbers, and back. */
qn_les_wave qn_les_wave_of(const qn_les_modes *modes, int32_t mode);
int32_t qn_les_mode_of(const qn_les_modes *modes, qn_les_wave wave);

/* Offsets of the parts of an encoded vector; -1: the codec has no such part. Real parts of a list
 * come first, then its imaginary parts. */
typedef struct qn_les_layout {
    int mean, low_re, low_im, support, mid, high, count, anchor_re, anchor_im;
    int size; /* D */
} qn_les_layout;

qn_les_layout qn_les_layout_of(const qn_les_modes *modes);

#endif

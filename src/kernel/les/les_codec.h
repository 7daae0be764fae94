/* les_codec.h - encoding and decoding of fields: layout, and the order of the stages.
 *
 * Fields and half spectra of all members have the layout of the transforms: rows of n + 2 reals, or
 * of n/2 + 1 complex numbers (quern/fft.h). Decoded spectra are normalised, c = h / n^2, so that
 * the inverse transform gives the field itself.
 *
 *     ternary   les_smooth_spectrum, inverse transform      or, by sums,
 *               les_scaled, inverse transform, les_smooth_rows, les_smooth_cols
 *               les_max_part, les_max_join, les_threshold, les_majority
 *     anchors   les_mid_power, les_rank, les_place
 *     encode    ternary, les_band_part, les_encode
 *     decode    les_clear, les_scatter, les_level, les_draw, ...: see les_codec_decode.c
 */
#ifndef QN_KERNEL_LES_CODEC_H
#define QN_KERNEL_LES_CODEC_H

#include "kernel/types.h"

/* Bands of which only the energy is stored: mid without its anchors, and high. */
enum { CODEC_MID, CODEC_HIGH, CODEC_BANDS };

typedef struct {
    u64 seed;   /* of the phases */
    i64 n_high; /* modes of high */
    i32 n;      /* cells along a side */
    i32 members;
    i32 is_full; /* lists are of the full plane (codec origin) */
    i32 low2, mid2, edge;
    i32 reach; /* the map of anchors has |kx|, |ky| up to this */
    i32 n_low, n_mid, n_anchors;
    i32 size;                          /* numbers of an encoded vector */
    i32 at_low, at_support, at_anchor; /* places in the vector; the energies follow the support */
    i32 is_drawn_before;               /* phases are given, not drawn */
    i32 spare;
} codec_par;
QN_PAR_SIZE(codec_par, 80);

/* The smoothing box: 2 reach + 1 cells, periodic or with zeros beyond the edge. */
typedef struct {
    i32 n, reach, is_periodic, spare;
} smooth_par;
QN_PAR_SIZE(smooth_par, 16);

#define CODEC_PHASES 1024 /* entries of the table of unit vectors */

/* A group of les_majority computes this many cells, in up to MAJORITY_DEEP passes. */
#define MAJORITY_DEEP 8
#define MAJORITY_COLS 112
#define MAJORITY_ROWS 48

/* Sums of a pair of fields, as les_compare_join leaves them. */
enum {
    PAIR_A,
    PAIR_B,
    PAIR_AA,
    PAIR_BB,
    PAIR_AB,
    PAIR_DIFF,
    PAIR_PLAIN, /* the entries above are sums over the cells */
    PAIR_ENERGY_A = PAIR_PLAIN,
    PAIR_ENERGY_B,
    PAIR_SPECTRUM, /* largest |ln| of the ratio of shells */
    PAIR_SUMS
};

#endif

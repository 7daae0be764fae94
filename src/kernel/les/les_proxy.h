/* les_proxy.h - learning and applying a linear operator: parameters and tiles. */
#ifndef QN_KERNEL_LES_PROXY_H
#define QN_KERNEL_LES_PROXY_H

#include "kernel/types.h"

/* c = a b: element (r, k) of a is at a_at + r a_row + k a_col, so that a may be a transpose; b and
 * c have rows of `cols` numbers and begin at b_at and c_at. */
typedef struct {
    i64 a_at, a_row, a_col, b_at, c_at;
    i32 rows, cols, depth, spare;
} gemm_par;
QN_PAR_SIZE(gemm_par, 56);

#define GEMM_ROWS 8 /* a group makes a tile of this size */
#define GEMM_COLS 64

/* Vectors of `size` numbers, `pitch` apart. */
typedef struct {
    i64 pitch;
    i32 size, n;
} frames_par;
QN_PAR_SIZE(frames_par, 16);

/* Rows of `size` numbers from `at` on become those `ahead` numbers later. */
typedef struct {
    i64 at, ahead;
    i32 size, rows;
} rows_par;
QN_PAR_SIZE(rows_par, 24);

#define SET_ROWS 16 /* a group makes one element of as many rows */

/* Norms: values are added up by groups of this many. */
#define NORM_CHUNK 4096

/* The state of the spectral radius: ln of the norm so far, the last norm, the radius. */
enum { RADIUS_LOG, RADIUS_NORM, RADIUS_VALUE, RADIUS_STATE };

#endif

/* matmul.h - parameters of matmul.c. */
#ifndef QN_KERNEL_MATMUL_H
#define QN_KERNEL_MATMUL_H

#include "kernel/types.h"

/* c = a b, `rows` x `depth` times `depth` x `cols`, row by row without gaps. In a batch, product z
 * starts at z times the steps. */
typedef struct {
    i64 a_step, b_step, c_step; /* elements */
    i32 rows, cols, depth, spare;
} matmul_par;
QN_PAR_SIZE(matmul_par, 40);

/* A group computes a tile of c of this size; the range counts tiles along cols and rows, and
 * products along z. */
#define MATMUL_TILE_ROWS 32
#define MATMUL_TILE_COLS 128

#endif

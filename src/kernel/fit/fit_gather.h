/* fit_gather.h - parameters of the sums of fit; domain/fit/device launches them. */
#ifndef QN_KERNEL_FIT_GATHER_H
#define QN_KERNEL_FIT_GATHER_H

#include "kernel/types.h"

#define FIT_LANES                                                                                  \
    32                 /* the longest list that one item sums alone, and the lanes of a longer
                        * one */
#define FIT_CHUNK 4096 /* items per partial sum */

/* A set of blocks with `cells` sums each: dim for a gradient, dim * dim for diagonal blocks. Cell c
 * of block b is out[first + b * cells + c]. */
typedef struct {
    i64 first, first_block, n_chunks;
    i32 cells, stride; /* stride: cells per place in the tables */
} fit_gather_par;

QN_PAR_SIZE(fit_gather_par, 32);

#endif

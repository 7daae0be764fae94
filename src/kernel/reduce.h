/* reduce.h - launching reductions.
 *
 * Two stages: <op>_part over x = chunks of the longest array, y = arrays, with `part` an array of
 * arrays x `pitch` floats; then sum_join (sum, dot) or max_join over x = arrays.
 */
#ifndef QN_KERNEL_REDUCE_H
#define QN_KERNEL_REDUCE_H

#include "kernel/types.h"

#define REDUCE_CHUNK 4096 /* elements per partial result */

#endif

/* segment.h - constants of the segmented sum, which engine/ops/segment.c launches. */
#ifndef QN_KERNEL_SEGMENT_H
#define QN_KERNEL_SEGMENT_H

#include "kernel/types.h"

#define SEGMENT_SHORT 32   /* longest list that one work item sums */
#define SEGMENT_CHUNK 4096 /* items per partial sum of a longer one */

#endif

/* scan.h - how the prefix sum is launched. */
#ifndef QN_KERNEL_SCAN_H
#define QN_KERNEL_SCAN_H

#include "kernel/types.h"

#define SCAN_CHUNK 2048 /* elements per group of scan_part */

#endif

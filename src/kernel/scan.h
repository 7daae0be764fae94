/* scan.h - launching the prefix sum. */
#ifndef QN_KERNEL_SCAN_H
#define QN_KERNEL_SCAN_H

#include "kernel/types.h"

#define SCAN_CHUNK 2048 /* elements per group of scan_part */

#endif

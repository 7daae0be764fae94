/* cpu_ops.h - ops that exist on the CPU only: a head without kernel text, and a C body. */
#ifndef QN_ENGINE_CPU_OPS_H
#define QN_ENGINE_CPU_OPS_H

#include <quern/kernel.h>

/* sort(VAL(i64, n), IN(float, x), OUT(float, out)): rows of n floats, ascending, -0 before +0,
 * NaNs last. Range x: rows. */
extern const qn_kernel_info qn_cpu_sort;

#endif

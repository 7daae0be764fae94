/* crossover.h - the size from which a device is faster than the CPU.
 *
 * The 90 % rule: at the crossover and at every larger measured size, the device takes at most 0.90
 * of the CPU's time. If it fails this at one size, the crossover is above that size, so a lucky
 * sample cannot lower a threshold.
 */
#ifndef QN_UTIL_CROSSOVER_H
#define QN_UTIL_CROSSOVER_H

#include <quern/quern.h>

typedef struct qn_crossover {
    qn_i64 crossover;      /* 0: none */
    qn_i64 first_win;      /* smallest size with any gain; 0: none */
    ptrdiff_t crossover_i; /* index of `crossover` in the sizes; -1: none */
} qn_crossover;

/* Sizes are positive and ascending, and have medians at the same index. A NaN median is not a
 * win. */
qn_crossover qn_crossover_find(const qn_i64 *sizes, const double *device_us, const double *cpu_us,
                               size_t n);

/* "250000"; "none" for 0, "-" for a negative value (unknown); returns `out`. */
const char *qn_crossover_text(qn_i64 crossover, char *out, size_t size);

#endif

/* crossover.h - the size from which a device is worth it.
 *
 * The 90 % rule: the crossover is the smallest measured size from which on, at every measured
 * size, the device needs at most 0.90 of the CPU's time. One lost size above it moves the
 * crossover after that size, so a lucky sample cannot lower a threshold.
 */
#ifndef QN_UTIL_CROSSOVER_H
#define QN_UTIL_CROSSOVER_H

#include <quern/quern.h>

typedef struct qn_crossover {
    qn_i64 crossover;      /* 0: none */
    qn_i64 first_win;      /* smallest size with any gain at all; 0: none */
    ptrdiff_t crossover_i; /* index of `crossover` in the sizes; -1: none */
} qn_crossover;

/* Sizes ascend and are positive; medians belong to them by index. A NaN median is no win. */
qn_crossover qn_crossover_find(const qn_i64 *sizes, const double *device_us, const double *cpu_us,
                               size_t n);

/* "250000"; "none" for 0, "-" for a negative one (not known); returns `out`. */
const char *qn_crossover_text(qn_i64 crossover, char *out, size_t size);

#endif

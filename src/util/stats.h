/* stats.h - statistics of a set of samples.
 *
 * Only finite samples count. NaN and infinities are counted in `dropped`, so one broken sample is
 * visible and does not spoil the rest. Without finite samples n is 0 and every figure is NaN: a
 * missing time must not look like a fast one.
 */
#ifndef QN_UTIL_STATS_H
#define QN_UTIL_STATS_H

#include <stddef.h>

typedef struct qn_stats {
    size_t n, dropped;
    double median; /* even n: mean of the middle two */
    double p90;    /* nearest rank: sorted[ceil(0.9 n) - 1] */
    double min, max, mean;
    double stddev; /* of the sample (n - 1); 0 for one sample */
    double mad;    /* median of |x - median|, unscaled */
} qn_stats;

/* Reorders `values`: finite ones in ascending order, then the others. */
qn_stats qn_stats_of(double *values, size_t n);

/* Both need ascending finite values and return NaN for n = 0. `pct` is 1 to 100. */
double qn_sorted_median(const double *sorted, size_t n);
double qn_sorted_rank(const double *sorted, size_t n, unsigned pct);

#endif

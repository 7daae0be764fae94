/* sum_order.h - the order in which contributions are added.
 *
 * Lists of up to 32 numbers are added from first to last. Longer lists use 32 lanes, where lane l
 * adds numbers l, l + 32, ..., and a tree over the lanes. Beyond 4096 numbers this is done chunk by
 * chunk, and the sums of chunks are added the same way. kernel/fit/fit_gather.c adds in the same
 * order, so devices and the CPU agree bit for bit, for any number of threads.
 */
#ifndef QN_FIT_PROBLEM_SUM_ORDER_H
#define QN_FIT_PROBLEM_SUM_ORDER_H

#include <quern/quern.h>

enum { QN_FIT_SHORT = 32, QN_FIT_CHUNK = 4096 };

/* The sum of one chunk, or of the sums of chunks. */
static inline double qn_fit_sum_lanes(const double *v, qn_i64 n)
{
    double lane[QN_FIT_SHORT] = { 0 }, t = 0;

    if (n <= QN_FIT_SHORT) {
        for (qn_i64 k = 0; k < n; k++)
            t += v[k];
        return t;
    }
    for (qn_i64 k = 0; k < n; k++)
        lane[k % QN_FIT_SHORT] += v[k];
    for (int w = QN_FIT_SHORT / 2; w > 0; w /= 2)
        for (int l = 0; l < w; l++)
            lane[l] += lane[l + w];
    return lane[0];
}

#endif

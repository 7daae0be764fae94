/* order.h - the one order in which contributions are added.
 *
 * Lists of up to 32 numbers from first to last. Longer ones by 32 lanes, lane l taking numbers l,
 * l + 32, ..., and a tree over the lanes; beyond 4096 numbers chunk by chunk, the chunks' sums in
 * the same way. kernel/fit/gather.c adds in the same order, so devices and the CPU agree bit for
 * bit, for any number of threads.
 */
#ifndef QN_FIT_PROBLEM_SUM_ORDER_H
#define QN_FIT_PROBLEM_SUM_ORDER_H

#include <quern/quern.h>

enum { QN_FIT_SHORT = 32, QN_FIT_CHUNK = 4096 };

/* Of one chunk, or of the sums of chunks. */
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

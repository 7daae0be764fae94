/* share.h - how many items each device gets. Numbers in, numbers out. */
#ifndef QN_ENGINE_SHARE_H
#define QN_ENGINE_SHARE_H

#include <quern/quern.h>

/* n / k each; the remainder goes to the first ones. */
void qn_share_equal(qn_i64 n, int k, qn_i64 *out);

/* By rate, rounded so that the sum is n (largest fractions first). A rate that is not a positive
 * number gets nothing; when none is, all are equal. */
void qn_share_by_rate(qn_i64 n, const double *rates, int k, qn_i64 *out);

/* How far finishing times lie apart, in percent of the last. Times of 0 are of devices that did
 * not work, and do not count. */
double qn_share_spread_pct(const double *finish_us, int k);

/* One correction after another until the devices agree, then none until they disagree. */
typedef struct qn_rebalance {
    int is_on;
} qn_rebalance;

/* After a batch in which device i did items[i] in finish_us[i]: corrects `rates` when that is
 * called for and returns 1, else 0. Rates of devices that did not work are scaled along. */
int qn_share_rebalance(qn_rebalance *state, const qn_i64 *items, const double *finish_us, int k,
                       double *rates);

#endif

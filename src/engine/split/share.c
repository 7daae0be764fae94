/* share.c - how many items each device gets. */
#include "engine/split/split_impl.h"

#include <assert.h>
#include <math.h>

enum { MAX_SHARES = 64, APART_PCT = 30, AGREED_PCT = 10 };

void qn_share_equal(qn_i64 n, int k, qn_i64 *out)
{
    for (int i = 0; i < k; i++)
        out[i] = n / k + (i < n % k);
}

static double usable(double rate)
{
    return isfinite(rate) && rate > 0 ? rate : 0;
}

void qn_share_by_rate(qn_i64 n, const double *rates, int k, qn_i64 *out)
{
    double fraction[MAX_SHARES] = { 0 }, sum = 0;
    qn_i64 left = n;

    assert(k <= MAX_SHARES);
    for (int i = 0; i < k; i++)
        sum += usable(rates[i]);
    if (!(sum > 0) || !isfinite(sum)) {
        qn_share_equal(n, k, out);
        return;
    }
    for (int i = 0; i < k; i++) {
        const double exact = (double)n * (usable(rates[i]) / sum);

        out[i] = (qn_i64)floor(exact);
        if (out[i] > left)
            out[i] = left;
        fraction[i] = exact - (double)out[i];
        left -= out[i];
    }
    for (; left > 0; left--) {
        int most = 0;

        for (int i = 1; i < k; i++)
            if (fraction[i] > fraction[most])
                most = i;
        out[most]++;
        fraction[most] -= 1;
    }
}

double qn_share_spread_pct(const double *finish_us, int k)
{
    double first = INFINITY, last = 0;

    for (int i = 0; i < k; i++) {
        if (!(finish_us[i] > 0))
            continue;
        first = fmin(first, finish_us[i]);
        last = fmax(last, finish_us[i]);
    }
    return last > 0 ? 100 * (last - first) / last : 0;
}

int qn_share_rebalance(qn_rebalance *state, const qn_i64 *items, const double *finish_us, int k,
                       double *rates)
{
    const double spread = qn_share_spread_pct(finish_us, k);
    double seen = 0, thought = 0;

    state->is_on = spread > (state->is_on ? AGREED_PCT : APART_PCT);
    if (!state->is_on)
        return 0;
    for (int i = 0; i < k; i++)
        if (finish_us[i] > 0) {
            seen += (double)items[i] / finish_us[i];
            thought += usable(rates[i]);
        }
    for (int i = 0; i < k; i++)
        rates[i] = finish_us[i] > 0 ? (double)items[i] / finish_us[i]
                   : thought > 0    ? usable(rates[i]) * seen / thought
                                    : 0;
    return 1;
}

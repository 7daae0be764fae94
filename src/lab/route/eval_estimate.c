/* eval_estimate.c - trimmed means of paired differences, with what is known of their error. */
#include "lab/route/eval_estimate.h"

#include "util/stats.h"

#include <math.h>

static const double trimmed_share = 0.2; /* on either side */

/* The trimmed mean is that of the winsorised values with its error scaled up, since the values at
 * the ends stand for those that were left out. */
qn_estimate qn_trimmed_mean(double *values, size_t n)
{
    const size_t cut = (size_t)(trimmed_share * (double)n), kept = n - 2 * cut;
    double sum = 0, winsorised = 0, square = 0;

    if (!n)
        return (qn_estimate){ NAN, NAN };
    qn_stats_of(values, n); /* sorts */
    for (size_t i = cut; i < n - cut; i++)
        sum += values[i];
    if (n < 2)
        return (qn_estimate){ sum, NAN };
    winsorised = (sum + (double)cut * (values[cut] + values[n - cut - 1])) / (double)n;
    for (size_t i = 0; i < n; i++) {
        const size_t at = i < cut ? cut : i >= n - cut ? n - cut - 1 : i;

        square += (values[at] - winsorised) * (values[at] - winsorised);
    }
    return (qn_estimate){ sum / (double)kept, sqrt(square / (double)(n - 1)) /
                                                  ((double)kept / (double)n * sqrt((double)n)) };
}

static qn_estimate full_mean(double *values, size_t n)
{
    const qn_stats stats = qn_stats_of(values, n);

    return (qn_estimate){ stats.mean, n < 2 ? fabs(stats.mean) : stats.stddev / sqrt((double)n) };
}

qn_estimate qn_paired_difference(const double *way_us, const double *other_us,
                                 const uint8_t *is_special, size_t n, double *scratch)
{
    qn_estimate sum = { 0, 0 };
    double variance = 0;

    for (int special = 0; special < 2; special++) {
        qn_estimate part;
        size_t n_part = 0;
        double share;

        for (size_t i = 0; i < n; i++)
            if ((is_special && is_special[i]) == special)
                scratch[n_part++] = way_us[i] - other_us[i];
        if (!n_part)
            continue;
        part = special ? full_mean(scratch, n_part) : qn_trimmed_mean(scratch, n_part);
        share = (double)n_part / (double)n;
        sum.us += share * part.us;
        variance += share * part.se_us * share * part.se_us;
    }
    sum.se_us = sqrt(variance);
    return n ? sum : (qn_estimate){ NAN, NAN };
}

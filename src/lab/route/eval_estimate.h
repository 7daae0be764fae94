/* eval_estimate.h - estimates the difference in time between two ways of running.
 *
 * The two ways alternate within each round, so disturbances affect both, and their difference in a
 * round is more precise than either time. Disturbances are not symmetric: about one run in some
 * thousands is interrupted for milliseconds, which would dominate a mean of microseconds. So a fifth
 * of the differences of ordinary rounds is left out at either end (a trimmed mean, with the standard
 * error from the winsorised variance). Rounds in which a way does something rare on purpose, such as
 * a router that explores another device, would be left out, too. They form a stratum of their own,
 * in which each counts in full; the strata are added by their share of the rounds.
 */
#ifndef QN_LAB_ROUTE_EVAL_ESTIMATE_H
#define QN_LAB_ROUTE_EVAL_ESTIMATE_H

#include <stddef.h>
#include <stdint.h>

typedef struct qn_estimate {
    double us;
    double se_us; /* standard error; NaN when there are fewer than two rounds */
} qn_estimate;

/* The trimmed mean of n values, which are reordered. */
qn_estimate qn_trimmed_mean(double *values, size_t n);

/* The time of `way` less that of `other`, over n rounds. `is_special[i]` marks rounds that count in
 * full; NULL when there are none. `scratch` has room for n values. */
qn_estimate qn_paired_difference(const double *way_us, const double *other_us,
                                 const uint8_t *is_special, size_t n, double *scratch);

#endif

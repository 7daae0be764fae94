/* eval_estimate.h - how much longer one way of running takes than another.
 *
 * Two ways take turns, round by round, so what the machine does meanwhile strikes both of them, and
 * their difference within a round says more than either time. What a machine does is not symmetric:
 * one run in some thousands is stopped for milliseconds, and a mean of runs of microseconds then
 * speaks of nothing else. So of ordinary rounds a fifth of the differences is left out on either
 * side (a trimmed mean; its standard error comes from the winsorised variance). Rounds in which a
 * way did something on purpose that it does seldom - a router that tries another device - would be
 * among those left out. They are therefore a stratum of their own, of which every one counts in
 * full, and the two strata are added up by their share of the rounds.
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

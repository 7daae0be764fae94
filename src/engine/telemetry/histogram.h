/* histogram.h - distribution of many values in fixed memory.
 *
 * Observing takes no lock and no memory and may happen from any thread. Quantiles are the
 * nearest rank, within 1.6 % of the true value for values from 1e-9 to 4e12; count, sum, min,
 * max and last are exact.
 */
#ifndef QN_ENGINE_HISTOGRAM_H
#define QN_ENGINE_HISTOGRAM_H

#include <quern/metrics.h>

typedef struct qn_histogram qn_histogram;

qn_status qn_histogram_new(qn_histogram **out, qn_err *err);
void qn_histogram_free(qn_histogram *histogram); /* NULL is fine */

/* Values are times, sizes and shares, so zero or above; what is below counts as zero in the
 * quantiles. A value that is not finite is not counted. */
void qn_histogram_observe(qn_histogram *histogram, double value);

/* With count 0 everything else is 0 too. */
qn_summary qn_histogram_summary(const qn_histogram *histogram);

#endif

/* derived.h - metrics that are computed from others when they are read.
 *
 * Each function is the `derive` of a row in the table of names (metrics.c). Rates over all
 * labels are rates of the sums, never sums of rates.
 */
#ifndef QN_ENGINE_DERIVED_H
#define QN_ENGINE_DERIVED_H

#include "engine/telemetry/metrics.h"

#define QN_DERIVE(name)                                                                            \
    double name(const qn_metrics *metrics, const qn_metric_def *def, const char *const *labels)

QN_DERIVE(qn_derive_failure_rate);
QN_DERIVE(qn_derive_fallback_rate);
QN_DERIVE(qn_derive_utilization);
QN_DERIVE(qn_derive_pool_hit_rate);
QN_DERIVE(qn_derive_device_avg);
QN_DERIVE(qn_derive_throughput);
QN_DERIVE(qn_derive_svf_fallbacks);
QN_DERIVE(qn_derive_wall_time);
QN_DERIVE(qn_derive_mean); /* of the distribution behind def->from */
QN_DERIVE(qn_derive_min);
QN_DERIVE(qn_derive_max);

#endif

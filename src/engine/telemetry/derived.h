/* derived.h - metrics that are computed from others when they are read.
 *
 * Each function is the `derive` of a row in the table of names (metrics.c). Rates over all
 * labels are rates of the sums, never sums of rates.
 */
#ifndef QN_ENGINE_DERIVED_H
#define QN_ENGINE_DERIVED_H

#include "engine/telemetry/metrics.h"

QN_DERIVE(qn_derive_failure_rate);
QN_DERIVE(qn_derive_fallback_rate);
QN_DERIVE(qn_derive_utilization);
QN_DERIVE(qn_derive_pool_hit_rate);
QN_DERIVE(qn_derive_device_avg);
QN_DERIVE(qn_derive_wall_time);

#endif

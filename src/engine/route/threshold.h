/* threshold.h - thresholds as gauges; the public calls are in <quern/route.h>. */
#ifndef QN_ENGINE_THRESHOLD_H
#define QN_ENGINE_THRESHOLD_H

#include "engine/device/context.h"

/* Sets gpu_threshold of every op and device of which something is known. */
void qn_thresholds_publish(qn_ctx *ctx);

#endif

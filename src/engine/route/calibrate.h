/* calibrate.h - measuring devices, in full or just enough to begin with. */
#ifndef QN_ENGINE_CALIBRATE_H
#define QN_ENGINE_CALIBRATE_H

#include "engine/device/context.h"

/* The quick scan of candidates that have no profile, within two seconds together; what it finds
 * becomes their profile. Simulated devices and CPU devices of other backends are left to
 * qn_calibrate: the first have no lasting identity, the second take seconds to compile for and
 * are the same silicon as cpu:0. Failures are logged at info level and leave the estimates in force. */
void qn_calibrate_missing(qn_ctx *ctx);

#endif

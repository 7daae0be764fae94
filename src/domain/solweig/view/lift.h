/* lift.h - the context's last error, as the sentence of the call that met it, and what it means. */
#ifndef QN_SOLWEIG_VIEW_LIFT_H
#define QN_SOLWEIG_VIEW_LIFT_H

#include "util/status.h"

#include <quern/quern.h>

/* For calls that leave their sentence in the context. */
static inline qn_status qn_sw_lift(const qn_ctx *ctx, qn_status st, qn_err *err)
{
    return st == QN_OK ? QN_OK : qn_fail(err, st, "%s", qn_error(ctx));
}

/* 1 when a device has failed, not what it was asked for: the CPU can still do it. */
static inline int qn_sw_is_of_device(qn_status st)
{
    return st == QN_ERR_INJECTED || st == QN_ERR_LAUNCH || st == QN_ERR_DEVICE_LOST ||
           st == QN_ERR_TIMEOUT;
}

#endif

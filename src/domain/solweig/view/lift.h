/* lift.h - the context's last error, as the sentence of the call that met it. */
#ifndef QN_SOLWEIG_VIEW_LIFT_H
#define QN_SOLWEIG_VIEW_LIFT_H

#include "util/status.h"

#include <quern/quern.h>

/* For calls that leave their sentence in the context. */
static inline qn_status qn_sw_lift(qn_ctx *ctx, qn_status st, qn_err *err)
{
    return st == QN_OK ? QN_OK : qn_fail(err, st, "%s", qn_error(ctx));
}

#endif

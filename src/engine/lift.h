/* lift.h - the sentence a call left in its context, as that of the caller's error. */
#ifndef QN_ENGINE_LIFT_H
#define QN_ENGINE_LIFT_H

#include <quern/quern.h>

#include "util/status.h"

static inline qn_status qn_lift(const qn_ctx *ctx, qn_status st, qn_err *err)
{
    return st == QN_OK ? st : qn_fail(err, st, "%s", qn_error(ctx));
}

#endif

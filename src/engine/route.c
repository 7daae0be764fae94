/* route.c - which device runs what. */
#include "engine/route.h"

qn_status qn_router_open(qn_ctx *ctx, qn_err *err)
{
    (void)ctx;
    (void)err;
    return QN_OK;
}

void qn_router_close(qn_ctx *ctx)
{
    (void)ctx;
}

void qn_router_observe(qn_ctx *ctx, const qn_op *op, int device, qn_i64 size, double us)
{
    (void)ctx;
    (void)op;
    (void)device;
    (void)size;
    (void)us;
}

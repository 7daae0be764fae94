/* route.h - which device runs what: the decision and what it learns from. */
#ifndef QN_ENGINE_ROUTE_H
#define QN_ENGINE_ROUTE_H

#include "engine/context.h"
#include "engine/registry.h"

qn_status qn_router_open(qn_ctx *ctx, qn_err *err);
void qn_router_close(qn_ctx *ctx);

/* A measured time of an op at a size on a device. */
void qn_router_observe(qn_ctx *ctx, const qn_op *op, int device, qn_i64 size, double us);

#endif

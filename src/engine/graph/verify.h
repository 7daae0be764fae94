/* verify.h - cross-check: recompute a share of device stages on the CPU and compare. */
#ifndef QN_ENGINE_VERIFY_H
#define QN_ENGINE_VERIFY_H

#include "engine/graph/graph_impl.h"

/* Submits graph->plan, which holds stage `s` alone, and checks it when the sample says so. On
 * failure *failure says where. A mismatch counts as a failure of the device, and two in a row
 * trip its breaker; the CPU's result replaces the wrong one. */
qn_status qn_verify_run(qn_graph *graph, int s, qn_failure *failure, qn_err *err);

#endif

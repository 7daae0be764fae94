/* registry.h - the ops of all tools, and those of the engine itself. */
#ifndef QN_ENGINE_REGISTRY_H
#define QN_ENGINE_REGISTRY_H

#include "engine/engine.h"
#include "util/status.h"

/* The op whose kernel this is; for a kernel without one an op of priority 1 and exactness BITS
 * whose cost is the size of its arguments; for NULL that of host functions. Never NULL. */
const qn_op *qn_op_of_kernel(const qn_kernel_info *kernel);

/* NULL: no tool has such an op. */
const qn_op *qn_op_yardstick(qn_yardstick yardstick);

#endif

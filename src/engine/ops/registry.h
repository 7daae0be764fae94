/* registry.h - the ops of all tools, and those of the engine itself. */
#ifndef QN_ENGINE_REGISTRY_H
#define QN_ENGINE_REGISTRY_H

#include "engine/engine.h"
#include "util/status.h"

/* The op of this kernel. A kernel without one gets an op of priority 1 and exactness BITS whose
 * cost is the size of its arguments; NULL gets the op of host functions. Never NULL. */
const qn_op *qn_op_of_kernel(const qn_kernel_info *kernel);

/* NULL if no tool has such an op. */
const qn_op *qn_op_yardstick(qn_yardstick yardstick);

#endif

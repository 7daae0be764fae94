/* samples.h - ops of tasks with made-up data, to be measured. */
#ifndef QN_TASKS_SAMPLES_H
#define QN_TASKS_SAMPLES_H

#include "engine/engine.h"

extern const qn_op_sampler qn_task_samplers[]; /* ended by a NULL op */

#endif

/* compile.h - kernel text to device module, through the memory and disk caches. */
#ifndef QN_ENGINE_COMPILE_H
#define QN_ENGINE_COMPILE_H

#include "engine/context.h"

/* The module on the device, compiled when neither cache has it. Owned by the device. */
qn_status qn_compile(qn_device *device, const qn_kernel_module *module, qn_module **out,
                     qn_err *err);

/* LANES of TEAM kernels on the device. */
int qn_team_lanes(const qn_device *device);

/* Unloads everything the device holds. */
void qn_compile_close(qn_device *device);

#endif

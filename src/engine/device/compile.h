/* compile.h - kernel text to device module, through the memory and disk caches. */
#ifndef QN_ENGINE_COMPILE_H
#define QN_ENGINE_COMPILE_H

#include "engine/device/context.h"

enum { QN_MODULES_KEPT = 512 };

/* The module on the device, compiled when neither cache has it. Owned by the device and held for
 * the caller: it stays loaded until every holder has dropped it. Modules without holders stay
 * as well, up to device->modules_kept together with the others; beyond, those that were asked for
 * longest ago go first. */
qn_status qn_compile(qn_device *device, const qn_kernel_module *module, qn_module **out,
                     qn_err *err);

/* LANES of a TEAM kernel on the device. */
int qn_team_lanes(const qn_device *device, const qn_kernel_info *kernel);

/* Unloads everything the device holds. */
void qn_compile_close(qn_device *device);

#endif

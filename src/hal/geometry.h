/* geometry.h - divides a range into launches that fit a device.
 *
 * Any range runs on any device: a range larger than the grid is launched in parts, and a 1-D range
 * beyond 2^30 is folded into rows of 2^30 (gy counts them) for kernels that use GI.
 */
#ifndef QN_HAL_GEOMETRY_H
#define QN_HAL_GEOMETRY_H

#include "hal/backend.h"

/* Checks the range against the axis limit and the kernel's ability to fold. */
qn_status qn_range_check(const qn_kernel_info *kernel, const qn_range *range, qn_err *err);

/* Launches `range` in as many parts as needed. `call` has module, kernel, kernel_i, args and stream
 * set; team_lanes matters only for TEAM. *n_launches, unless NULL, gets the number of parts. */
qn_status qn_launch_range(const qn_backend *backend, qn_dev *dev, const qn_device_info *info,
                          qn_launch *call, const qn_range *range, int team_lanes, int *n_launches,
                          qn_err *err);

int qn_module_has_teams(const qn_kernel_module *module);

#endif

/* sim_limits.h - limits, speeds and behaviour of a sim device, as text.
 *
 * A list of key=value, separated by commas; missing keys have their defaults.
 *
 *   devices      how many there are                              1
 *   max_grid     groups per axis: "4" for all, or "4x4x1"        2147483647x65535x65535
 *   max_group    items of a group                                1024
 *   mem          bytes of device memory, "64M"                   16G
 *   max_alloc    bytes of the largest block                      mem
 *   align        bytes                                           256
 *   h2d_us, d2h_us, peer_us            latency of a copy         8, 8, 5
 *   h2d_gbps, d2h_gbps, peer_gbps      10^9 bytes per second     12, 12, 50
 *   submit_us    host time per launch, and per replay            2
 *   launch_us    device time of an empty launch                  5
 *   gbps         device memory, 10^9 bytes per second            400
 *   kernels      launches that run concurrently                  1
 *   ns_per_item  arithmetic of one item                          0
 *   rate.<i>     speed of launches on device i, relative         1
 *   slow.<i>     added device time per launch on device i, us    0
 *   noise_pct    spread of launch times, pseudo-random           0
 *   async        copies overlap with launches and the host       1
 *   replay       submissions can be captured                     1
 *   alloc_us     host time of an allocation                      0
 *   compile_us   host time of a compilation                      0
 *   lazy         memory is allocated on the first use of it      0
 *   refuse_at    launch number that is refused                   0 (none)
 *   fail_at      launch number at which the device dies          0 (never)
 *
 * A dead device still accepts work but does none of it: downloads deliver poison, and the first
 * wait reports that the device is lost.
 */
#ifndef QN_HAL_SIM_LIMITS_H
#define QN_HAL_SIM_LIMITS_H

#include "util/status.h"

enum { QN_SIM_MAX_DEVICES = 64 };

typedef struct qn_sim_limits {
    uint32_t devices, max_grid[3], max_group, align;
    size_t mem, max_alloc;
    double h2d_us, d2h_us, peer_us, h2d_gbps, d2h_gbps, peer_gbps;
    double submit_us, launch_us, gbps, ns_per_item, noise_pct;
    double rate[QN_SIM_MAX_DEVICES], slow[QN_SIM_MAX_DEVICES];
    double alloc_us, compile_us;
    uint32_t async, replay, lazy, kernels, refuse_at, fail_at;
} qn_sim_limits;

/* NULL or "" gives the defaults. An unknown key or a bad value is QN_ERR_USAGE naming it. */
qn_status qn_sim_limits_parse(const char *text, qn_sim_limits *out, qn_err *err);

#endif

/* launch.h - the CPU beside a device, for whoever needs it. Private to domain/arc/run. */
#ifndef QN_ARC_LAUNCH_H
#define QN_ARC_LAUNCH_H

#include "domain/arc/run/tiers.h"

/* Runs instances of the flight's slice on the CPU, in the first tier. The answer stays until the
 * next launch there. */
qn_status qn_arc_launch_cpu(qn_arc_flight *flight, const arc_instance *list, uint32_t n,
                            qn_arc_answer *answer, qn_err *err);

#endif

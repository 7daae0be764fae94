/* adapt.h - programs that the CPU runs, though the batch goes to a device.
 *
 * A device that runs a batch sooner than the CPU may still be slower at some of its programs: those
 * whose steps depend on each other, or whose values are large. With adapting, the first batch that
 * has a new program measures it: its jobs, repeated until they fill the device, in launches of
 * their own there and on the CPU. A program whose run takes longer on the device is in the CPU's
 * set from then on. Which place ran a job cannot be seen in its result.
 */
#ifndef QN_ARC_ADAPT_H
#define QN_ARC_ADAPT_H

#include "domain/arc/run/session.h"

/* Measures programs of the jobs that have no place yet. Does nothing where the session does not
 * adapt, or has no device to choose. Nothing is counted but the programs of the CPU's set. */
qn_status qn_arc_adapt(qn_arc_session *session, const qn_arc_job *jobs, uint32_t n, qn_err *err);

/* Whether jobs of the program belong to the CPU's set. */
int qn_arc_is_for_cpu(const qn_arc_session *session, int program);

#endif

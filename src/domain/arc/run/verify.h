/* verify.h - a share of the runs of a device once more on the CPU.
 *
 * The engine's cross-check compares whole arrays after every stage, and arenas are scratch that no
 * two devices leave alike. So it is switched off for launches of grid programs, and results of runs
 * are compared here, as many as --verify-sample says.
 */
#ifndef QN_ARC_VERIFY_H
#define QN_ARC_VERIFY_H

#include "domain/arc/run/tiers.h"

/* Keeps the engine from comparing arrays until qn_arc_verify_end. */
void qn_arc_verify_begin(qn_arc_session *session);
void qn_arc_verify_end(qn_arc_session *session);

/* Compares results of the launch that has just been settled. What differs is replaced by what the
 * CPU says, with the line that tells it; under --fallback=error that is an error. */
qn_status qn_arc_verify(qn_arc_flight *flight, qn_err *err);

#endif

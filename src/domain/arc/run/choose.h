/* choose.h - the device or the CPU for a batch, by how long batches took at both.
 *
 * A launch on a device costs a fixed time that a small batch does not win back. Where the user left
 * the choice open (no device named, --route auto or static) every batch is a decision of the
 * engine's router, with the cost of its jobs as the size; what was measured in earlier processes is
 * where it begins. --route cpu and gpu decide for all batches.
 */
#ifndef QN_ARC_CHOOSE_H
#define QN_ARC_CHOOSE_H

#include "domain/arc/run/session_impl.h"
#include "engine/engine.h"

typedef struct qn_arc_decision {
    qn_route_choice choice; /* QN_CPU_SLOT, or the session's device */
    double units;           /* cost of the batch */
    double compiled_ms;     /* by the context, before the batch */
} qn_arc_decision;

/* Reads what is known of both places. */
void qn_arc_choose_begin(qn_arc_session *session);

/* A decision for a batch of that cost. */
qn_arc_decision qn_arc_choose(qn_arc_session *session, double units);

/* The batch took `us` where it was decided to run, or ran elsewhere (us < 0). */
void qn_arc_chosen(qn_arc_session *session, const qn_arc_decision *decision, double us);

/* Keeps what was measured among the costs. */
void qn_arc_choose_end(qn_arc_session *session);

#endif

/* order.h - in which order jobs are handed to the teams of a device. */
#ifndef QN_ARC_ORDER_H
#define QN_ARC_ORDER_H

#include "domain/arc/run/session_impl.h"

/* What a run of the program costs on a grid of a hundred cells, in scalar primitives: by what was
 * measured, else by its instructions. */
double qn_arc_program_cost(const qn_arc_session *session, const qn_arc_kept_program *program);

/* The cost of a job; estimates of its program are those of the slice. */
double qn_arc_job_cost(const qn_arc_session *session, const qn_arc_job *job);

/* The jobs of the slice by their number in it, and what each costs, by that number. Costly ones
 * first, in steps of a factor of two, so that none is left for the end; among equals those of one
 * program together, since neighbours then run the same code. */
qn_status qn_arc_order(const qn_arc_session *session, const qn_arc_slice *slice, uint32_t *order,
                       float *costs, qn_err *err);

#endif

/* route_stage.h - where graphs meet the router: choosing devices, feeding back times. */
#ifndef QN_ENGINE_ROUTE_STAGE_H
#define QN_ENGINE_ROUTE_STAGE_H

#include "engine/graph_impl.h"

/* Sets the device of every stage. */
void qn_route_graph(qn_graph *graph);

/* Times one step when somebody wants to know: QUERN_TIMING, or a sample for the router. */
typedef struct qn_stage_clock {
    int is_on;
    double start_us;
    qn_event *begin;
} qn_stage_clock;

qn_status qn_clock_start(qn_graph *graph, const qn_step *step, qn_stream on, qn_stage_clock *clock,
                         qn_err *err);
qn_status qn_clock_stop(qn_graph *graph, const qn_step *step, qn_stream on, qn_stage_clock *clock,
                        qn_err *err);

#endif

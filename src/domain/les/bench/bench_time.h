/* bench_time.h - what the benches of a flow share. */
#ifndef QN_LES_BENCH_TIME_H
#define QN_LES_BENCH_TIME_H

#include "bench.h"

#include <quern/graph.h>

/* Median time of a run of the graph; *first is that of the very first. */
qn_status qn_les_time_graph(qn_graph *graph, int samples, double *first, double *us);

/* `st`, with what the context says of it in `err`. */
qn_status qn_les_lift(qn_ctx *ctx, qn_status st, qn_err *err);

#endif

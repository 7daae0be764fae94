/* bench_time.h - shared by the benches of a flow. */
#ifndef QN_LAB_LES_BENCH_BENCH_TIME_H
#define QN_LAB_LES_BENCH_BENCH_TIME_H

#include "bench.h"
#include "lab/engine/time_runs.h"

#include <quern/graph.h>

/* Median time per run of the graph; *first is the time of the first run. */
qn_status qn_les_time_graph(qn_graph *graph, int samples, double *first, double *us, qn_err *err);

#endif

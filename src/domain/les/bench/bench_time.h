/* bench_time.h - what the benches of a flow share. */
#ifndef QN_LES_BENCH_TIME_H
#define QN_LES_BENCH_TIME_H

#include "bench.h"
#include "domain/bench/time_runs.h"

#include <quern/graph.h>

/* Median time of a run of the graph; *first is that of the very first. */
qn_status qn_les_time_graph(qn_graph *graph, int samples, double *first, double *us);

#endif

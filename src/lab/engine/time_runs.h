/* time_runs.h - what every bench does: run a graph a number of times, and pass errors on. */
#ifndef QN_LAB_ENGINE_TIME_RUNS_H
#define QN_LAB_ENGINE_TIME_RUNS_H

#include <quern/graph.h>

/* Microseconds of each of `runs` runs one behind the other, with one wait at the end. */
qn_status qn_bench_time_runs(qn_graph *graph, int runs, double *us, qn_err *err);

#endif

/* time_runs.c - what every bench does: run a graph a number of times, and pass errors on. */
#include "lab/engine/time_runs.h"

#include "util/clock.h"
#include "util/status.h"

qn_status qn_bench_time_runs(qn_graph *graph, int runs, double *us, qn_err *err)
{
    const double start = qn_now_us();
    qn_status st = QN_OK;

    for (int i = 0; i < runs; i++)
        QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_graph_wait(graph, err));
    *us = (qn_now_us() - start) / runs;
out:
    return st;
}

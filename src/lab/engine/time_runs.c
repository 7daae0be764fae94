/* time_runs.c - what every bench does: run a graph a number of times, and pass errors on. */
#include "lab/engine/time_runs.h"

#include "util/clock.h"
#include "util/status.h"

qn_status qn_bench_lift(const qn_ctx *ctx, qn_status st, qn_err *err)
{
    if (st != QN_OK && err && !err->text[0])
        qn_fail(err, st, "%s", qn_error(ctx)[0] ? qn_error(ctx) : qn_status_name(st));
    return st;
}

qn_status qn_bench_time_runs(qn_graph *graph, int runs, double *us)
{
    const double start = qn_now_us();
    qn_status st = QN_OK;

    for (int i = 0; i < runs; i++)
        QN_TRY(qn_graph_run(graph));
    QN_TRY(qn_graph_wait(graph));
    *us = (qn_now_us() - start) / runs;
out:
    return st;
}

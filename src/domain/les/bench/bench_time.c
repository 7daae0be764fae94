/* bench_time.c - how long a run of a graph takes. */
#include "bench_time.h"

#include "util/clock.h"
#include "util/stats.h"

enum { WARM_RUNS = 3, MAX_SAMPLES = 100 };
static const double SAMPLE_US = 5e4; /* a sample takes about so long, or one batch */

qn_status qn_les_lift(qn_ctx *ctx, qn_status st, qn_err *err)
{
    if (st != QN_OK && err && !err->text[0])
        qn_fail(err, st, "%s", qn_error(ctx)[0] ? qn_error(ctx) : qn_status_name(st));
    return st;
}

static qn_status time_runs(qn_graph *graph, int runs, double *us)
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

qn_status qn_les_time_graph(qn_graph *graph, int samples, double *first, double *us)
{
    double times[MAX_SAMPLES], warm;
    qn_status st = QN_OK;
    int runs;

    QN_TRY(time_runs(graph, 1, first));
    for (int i = 0; i < WARM_RUNS; i++)
        QN_TRY(time_runs(graph, 1, &warm));
    runs = warm < SAMPLE_US ? (int)(SAMPLE_US / warm) : 1;
    for (int i = 0; i < samples && i < MAX_SAMPLES; i++)
        QN_TRY(time_runs(graph, runs, &times[i]));
    *us = qn_stats_of(times, (size_t)(samples < MAX_SAMPLES ? samples : MAX_SAMPLES)).median;
out:
    return st;
}

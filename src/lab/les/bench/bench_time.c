/* bench_time.c - time per run of a graph. */
#include "bench_time.h"

#include "util/stats.h"

enum { WARM_RUNS = 3, MAX_SAMPLES = 100 };
static const double SAMPLE_US = 5e4; /* approximate time of a sample, at least one batch */

qn_status qn_les_time_graph(qn_graph *graph, int samples, double *first, double *us, qn_err *err)
{
    double times[MAX_SAMPLES], warm;
    qn_status st = QN_OK;
    int runs;

    QN_TRY(qn_bench_time_runs(graph, 1, first, err));
    for (int i = 0; i < WARM_RUNS; i++)
        QN_TRY(qn_bench_time_runs(graph, 1, &warm, err));
    runs = warm < SAMPLE_US ? (int)(SAMPLE_US / warm) : 1;
    for (int i = 0; i < samples && i < MAX_SAMPLES; i++)
        QN_TRY(qn_bench_time_runs(graph, runs, &times[i], err));
    *us = qn_stats_of(times, (size_t)(samples < MAX_SAMPLES ? samples : MAX_SAMPLES)).median;
out:
    return st;
}

/* measure.c - time per evaluation, alone and in a row. */
#include "lab/fit/bench/bench_impl.h"

#include <stdio.h>

enum { SAMPLES = 20, MIN_PIPED = 5, MAX_PIPED = 400 };
static const double PIPED_US = 2e5; /* approximate time of a row of evaluations */

qn_status qn_fit_measure(qn_graph *graph, qn_fit_bench_row *row, qn_err *err)
{
    qn_timing timing;
    double piped;
    qn_status st = QN_OK;
    int runs;

    QN_TRY(qn_time_graph(graph, SAMPLES, 0, &timing, err));
    row->first_us = timing.first_us;
    row->best_us = timing.samples.min;
    row->median_us = timing.samples.median;
    runs = (int)(PIPED_US / row->best_us);
    runs = runs < MIN_PIPED ? MIN_PIPED : runs > MAX_PIPED ? MAX_PIPED : runs;
    row->piped_us = 0;
    for (int i = 0; i < 3; i++) {
        QN_TRY(qn_time_runs(graph, runs, &piped, err));
        row->piped_us = i == 0 || piped < row->piped_us ? piped : row->piped_us;
    }
    snprintf(row->device, sizeof row->device, "%s", qn_graph_stage_device(graph, 0));
out:
    return st;
}

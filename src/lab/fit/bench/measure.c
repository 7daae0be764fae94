/* measure.c - how long an evaluation takes, alone and one behind the other. */
#include "lab/fit/bench/bench_impl.h"

#include "kernel/vector.gen.h"
#include "util/stats.h"

#include <stdio.h>

enum { WARM = 3, SAMPLES = 20, MIN_PIPED = 5, MAX_PIPED = 400 };
static const double PIPED_US = 2e5; /* a row of evaluations takes about so long */

qn_status qn_fit_measure(qn_graph *graph, qn_fit_bench_row *row, qn_err *err)
{
    double times[SAMPLES], warm = 0, piped;
    qn_status st = QN_OK;
    qn_stats stats;
    int runs;

    QN_TRY(qn_bench_time_runs(graph, 1, &row->first_us, err));
    for (int i = 0; i < WARM; i++)
        QN_TRY(qn_bench_time_runs(graph, 1, &warm, err));
    for (int i = 0; i < SAMPLES; i++)
        QN_TRY(qn_bench_time_runs(graph, 1, &times[i], err));
    stats = qn_stats_of(times, SAMPLES);
    row->best_us = stats.min;
    row->median_us = stats.median;
    runs = (int)(PIPED_US / stats.min);
    runs = runs < MIN_PIPED ? MIN_PIPED : runs > MAX_PIPED ? MAX_PIPED : runs;
    row->piped_us = 0;
    for (int i = 0; i < 3; i++) {
        QN_TRY(qn_bench_time_runs(graph, runs, &piped, err));
        row->piped_us = i == 0 || piped < row->piped_us ? piped : row->piped_us;
    }
    snprintf(row->device, sizeof row->device, "%s", qn_graph_stage_device(graph, 0));
out:
    return st;
}

qn_status qn_fit_measure_bandwidth(qn_ctx *ctx, double *gbs, qn_err *err)
{
    enum { N = 1 << 25 };
    qn_buf *x = NULL, *y = NULL;
    qn_graph *graph = NULL;
    double us = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_new(ctx, "fit.x", (size_t)N * sizeof(float), &x, err));
    QN_TRY(qn_buf_new(ctx, "fit.y", (size_t)N * sizeof(float), &y, err));
    QN_TRY(qn_graph_new(ctx, "fit.bandwidth", &graph, err));
    QN_TRY(stage_saxpy(graph, "fit.bandwidth", qn_range_1d(N), 0.5f, x, y, err));
    for (int i = 0; i < WARM; i++)
        QN_TRY(qn_bench_time_runs(graph, MIN_PIPED, &us, err));
    QN_TRY(qn_bench_time_runs(graph, us > 1e4 ? MIN_PIPED : 100, &us, err));
    *gbs = 12.0 * N / us / 1e3;
out:
    qn_graph_free(graph);
    qn_buf_free(x);
    qn_buf_free(y);
    return st;
}

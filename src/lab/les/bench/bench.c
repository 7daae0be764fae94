/* bench.c - how long steps and their transforms take. */
#include "bench.h"
#include "lab/timing.h"

#include "domain/les/options/options.h"
#include "domain/les/run/output.h"
#include "domain/les/flow/sim.h"
#include "util/clock.h"

#include <quern/fft.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 10 };

void qn_les_points_free(qn_les_points *points)
{
    free(points->list);
    *points = (qn_les_points){ 0 };
}

/* One point. */

/* The transforms of BATCH steps, on zeros, which take the same time and stay zeros. */
static qn_status add_transforms(qn_graph *graph, const qn_les_options *config, qn_buf *fields,
                                qn_err *err)
{
    static const int batches[2][4] = { { 4, 2, 4, 2 }, { 7, 1, 5, 1 } };
    const int *batch = batches[config->form == QN_LES_ADVECTIVE];
    qn_status st = QN_OK;

    for (int i = 0; i < 4 * BATCH; i++) {
        const qn_fft_shape shape = {
            .rows = config->N,
            .cols = config->N,
            .batch = batch[i % 4] * config->ensemble,
            .is_f64 = config->precision == QN_LES_F64,
            .keep = config->dealias == QN_LES_DEALIAS_TWO_THIRDS ? (config->N - 1) / 3 : 0,
        };

        QN_TRY(qn_graph_fft(graph, "bench.fft", &shape, i % 2 ? QN_FFT_FORWARD : QN_FFT_INVERSE,
                            fields, 0, err));
    }
out:
    return st;
}

static qn_status time_transforms(qn_ctx *ctx, const qn_les_options *config, int samples,
                                 qn_les_point *point, qn_err *err)
{
    const int most = config->form == QN_LES_FLUX ? 4 : 7;
    const qn_fft_shape largest = { config->N, config->N, most * config->ensemble,
                                   config->precision == QN_LES_F64, 0 };
    qn_graph *graph = NULL;
    qn_buf *fields = NULL;
    qn_timing timing;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_new(ctx, "bench.fields", qn_fft_bytes(&largest), &fields, err));
    QN_TRY(qn_graph_new(ctx, "bench.fft", &graph, err));
    QN_TRY(add_transforms(graph, config, fields, err));
    QN_TRY(qn_time_graph(graph, samples, QN_LES_SAMPLE_US, &timing, err));
    point->fft_us = timing.samples.median / BATCH;
    snprintf(point->device, sizeof point->device, "%s", qn_graph_stage_device(graph, 0));
out:
    qn_graph_free(graph);
    qn_buf_free(fields);
    return st;
}

static qn_status time_steps(qn_ctx *ctx, const qn_les_options *config, int samples,
                            qn_les_point *point, qn_err *err)
{
    const double start = qn_now_us();
    qn_les_sim *sim = NULL;
    qn_graph *graph = NULL;
    qn_timing timing;
    double made;
    qn_status st = QN_OK;

    QN_TRY(qn_les_sim_new(ctx, config, &sim, err));
    QN_TRY(qn_graph_new(ctx, "bench.steps", &graph, err));
    QN_TRY(qn_les_sim_add_steps(sim, graph, BATCH, err));
    made = qn_now_us() - start;
    QN_TRY(qn_time_graph(graph, samples, QN_LES_SAMPLE_US, &timing, err));
    point->first_s = (made + timing.first_us) / 1e6;
    point->step_us = timing.samples.median / BATCH;
    snprintf(point->device, sizeof point->device, "%s", qn_graph_stage_device(graph, 0));
out:
    qn_graph_free(graph);
    qn_les_sim_free(sim);
    return st;
}

qn_status qn_les_bench_add(qn_ctx *ctx, const qn_les_options *options, int samples, int is_fft_only,
                           qn_les_points *points, qn_err *err)
{
    qn_les_options config;
    qn_les_point point = { .step_us = NAN };
    qn_les_point *list;
    qn_status st = QN_OK;

    QN_TRY(qn_les_options_take(options, &config, err));
    point.n = config.N;
    point.members = config.ensemble;
    point.is_f64 = config.precision == QN_LES_F64;
    point.is_origin = config.form == QN_LES_ADVECTIVE;
    QN_TRY(time_transforms(ctx, &config, samples, &point, err));
    if (!is_fft_only)
        QN_TRY(time_steps(ctx, &config, samples, &point, err));
    point.cell_steps = 1e6 * config.N * config.N * config.ensemble / point.step_us;
    point.gbs = qn_les_step_bytes(&config) / point.step_us / 1e3;
    point.roofline = points->gbs > 0 ? point.gbs / points->gbs : NAN;
    if (!(list = realloc(points->list, (points->n + 1) * sizeof *list)))
        return qn_fail(err, QN_ERR_NOMEM, "bench: no memory for %zu points", points->n + 1);
    points->list = list;
    list[points->n++] = point;
out:
    return st;
}

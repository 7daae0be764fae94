/* bench.c - times graphs, one after another. */
#include "bench.h"

#include "step.h"

#include "engine/engine.h"
#include "domain/solweig/api/api.h"
#include "domain/solweig/view/view.h"
#include "lab/timing.h"
#include "util/clock.h"

#include <quern/metrics.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SAMPLES = 100 };

/* The context of all measurements. */
typedef struct bench {
    qn_ctx *ctx;
    qn_sw_surface *surface;
    const qn_sw_bench_options *options;
    qn_sw_bench_result *result;
    char device[32]; /* that ran the last graph */
} bench;

static qn_status add_line(bench *b, const char *part, const char *name, double us, qn_err *err)
{
    qn_sw_bench_line line = { .ms = us / 1e3,
                              .rows = b->surface->dsm.place.rows,
                              .cols = b->surface->dsm.place.cols,
                              .relief = (double)qn_sw_relief_of(b->surface).max_height };

    line.ms_per_mpix = line.ms / ((double)line.rows * (double)line.cols / 1e6);
    snprintf(line.part, sizeof line.part, "%s", part);
    snprintf(line.name, sizeof line.name, "%s", name);
    snprintf(line.device, sizeof line.device, "%s", b->device);
    return QN_SHEET_ADD(b->result->lines, b->result->n, b->result->room, &line, err);
}

static qn_status time_run(void *graph, double *us, qn_err *err)
{
    return qn_time_runs(graph, 1, us, err);
}

/* Median time of a graph, which is freed; the device of its first stage is noted. */
static qn_status time_graph(bench *b, qn_graph *graph, const char *part, const char *name,
                            qn_err *err)
{
    qn_timing timing;
    qn_status st = QN_OK;

    QN_TRY(qn_time(0, b->options->samples, time_run, graph, &timing, err));
    if (qn_graph_stage_device(graph, 0))
        snprintf(b->device, sizeof b->device, "%s", qn_graph_stage_device(graph, 0));
    QN_TRY(add_line(b, part, name, timing.samples.median, err));
out:
    qn_graph_free(graph);
    return st;
}

/* Work that is done only once. */

typedef qn_status (*add_fn)(qn_sw_bench_step *step, qn_graph *graph, qn_err *err);

static qn_status time_part(bench *b, qn_sw_bench_step *step, add_fn add, const char *name,
                           qn_err *err)
{
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(b->ctx, name, &graph, err));
    QN_TRY(add(step, graph, err));
    return time_graph(b, graph, "once", name, err);
out:
    qn_graph_free(graph);
    return st;
}

/* Runs a graph without timing it. */
static qn_status run_parts(bench *b, qn_sw_bench_step *step, qn_err *err)
{
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(b->ctx, "start", &graph, err));
    QN_TRY(qn_sw_step_add_walls(step, graph, err));
    QN_TRY(qn_sw_step_add_svf(step, graph, err));
    QN_TRY(qn_sw_step_add_geometry(step, graph, err));
    QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_graph_wait(graph, err));
out:
    qn_graph_free(graph);
    return st;
}

static qn_status run_tiled(void *user, double *us, qn_err *err)
{
    const bench *b = user;
    const qn_sw_svf_job job = { .patch_option = b->options->patch_option,
                                .tile = b->options->tile };
    qn_sw_svf_arrays arrays = { 0 };
    qn_sw_svf_figures report;
    const qn_status st = qn_sw_svf_compute(b->ctx, b->surface, &job, &arrays, &report, err);

    if (st != QN_OK)
        return st;
    qn_sw_svf_arrays_free(&arrays);
    *us = report.wall_s * 1e6;
    return QN_OK;
}

static qn_status time_tiled(bench *b, qn_err *err)
{
    qn_timing timing;
    qn_status st = QN_OK;

    QN_TRY(qn_time(0, b->options->samples, run_tiled, b, &timing, err));
    QN_TRY(add_line(b, "once", "svf, tiles, copies", timing.samples.median, err));
out:
    return st;
}

/* A time step. */

static qn_status time_stages(bench *b, qn_sw_bench_step *step, const char *part, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_sw_step_table_seek(step->series, QN_SW_STEP_NOON, err));
    for (int i = 0; i < QN_SW_STEP_STAGES; i++) {
        qn_graph *graph = NULL;

        if ((st = qn_graph_new(b->ctx, "stage", &graph, err)) != QN_OK ||
            (st = qn_sw_step_add(step, graph, (qn_sw_step_stage)i, err)) != QN_OK) {
            qn_graph_free(graph);
            return st;
        }
        QN_TRY(time_graph(b, graph, part, qn_sw_step_name(step, (qn_sw_step_stage)i), err));
    }
out:
    return st;
}

typedef struct replay {
    const bench *b;
    qn_sw_step_table *series;
    qn_graph *graph;
} replay;

/* A time step, as the mean of `steps` runs of one graph from midnight on. */
static qn_status run_steps(void *user, double *us, qn_err *err)
{
    const replay *r = user;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_step_table_seek(r->series, 0, err));
    QN_TRY(qn_time_runs(r->graph, r->b->options->steps, us, err));
out:
    return st;
}

/* All parts except PET. */
static qn_status time_steps(bench *b, qn_sw_bench_step *step, const char *part, qn_err *err)
{
    qn_graph *graph = NULL;
    qn_timing timing;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(b->ctx, "time step", &graph, err));
    for (int i = 0; i < QN_SW_STEP_PET; i++)
        QN_TRY(qn_sw_step_add(step, graph, (qn_sw_step_stage)i, err));
    QN_TRY(qn_sw_add_next(step->series, graph, err));
    QN_TRY(qn_time(0, 1, run_steps, &(replay){ b, step->series, graph }, &timing, err));
    QN_TRY(add_line(b, part, "step without pet", timing.samples.median, err));
out:
    qn_graph_free(graph);
    return st;
}

/* All measurements. */

static qn_status bench_sky(bench *b, int is_aniso, qn_err *err)
{
    const char *part = is_aniso ? "aniso" : "iso";
    qn_sw_bench_step step = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_sw_step_open(b->ctx, b->surface, b->options->patch_option, is_aniso,
                           b->options->steps, &step, err));
    if (is_aniso) {
        QN_TRY(time_part(b, &step, qn_sw_step_add_walls, "walls", err));
        QN_TRY(time_part(b, &step, qn_sw_step_add_svf, "svf", err));
        QN_TRY(time_part(b, &step, qn_sw_step_add_geometry, "gvf.geometry", err));
        b->result->bytes_per_pixel =
            qn_metric_value(qn_ctx_metrics(b->ctx), "gpu_memory_peak_bytes", NULL) /
            ((double)step.rows * step.cols);
    } else {
        QN_TRY(run_parts(b, &step, err));
    }
    QN_TRY(time_stages(b, &step, part, err));
    QN_TRY(time_steps(b, &step, part, err));
out:
    qn_sw_step_close(&step);
    return st;
}

qn_status qn_sw_bench(qn_ctx *ctx, qn_sw_surface *surface, const qn_sw_bench_options *options,
                      qn_sw_bench_result *out, qn_err *err)
{
    qn_sw_bench_result result = { 0 };
    bench b = { .ctx = ctx, .surface = surface, .options = options, .result = &result };
    const qn_sw_wall_job walls = { .limit = 1 };
    qn_status st = QN_OK;

    if (options->samples < 1 || options->samples > MAX_SAMPLES || options->steps < 1)
        return qn_fail(err, QN_ERR_USAGE, "%d samples of %d steps; samples are 1 to %d",
                       options->samples, options->steps, MAX_SAMPLES);
    qn_ctx_pack_memory(ctx);
    if (!surface->wall_height.data)
        QN_TRY(qn_sw_walls_compute(ctx, &surface->dsm, &walls, &surface->wall_height,
                                   &surface->wall_aspect, err));
    QN_TRY(bench_sky(&b, 1, err));
    QN_TRY(bench_sky(&b, 0, err));
    if (options->tile)
        QN_TRY(time_tiled(&b, err));
    *out = result;
    result = (qn_sw_bench_result){ 0 };
out:
    qn_sw_bench_free(&result);
    return st;
}

void qn_sw_bench_free(qn_sw_bench_result *result)
{
    free(result->lines);
    *result = (qn_sw_bench_result){ 0 };
}

qn_sheet qn_sw_bench_sheet(const qn_sw_bench_result *result)
{
    static const qn_column columns[] = {
        { QN_COLUMN(qn_sw_bench_line, part, "SKY", NULL) },
        { QN_COLUMN(qn_sw_bench_line, name, "STAGE", NULL) },
        { QN_COLUMN(qn_sw_bench_line, ms, "MS", NULL, .shown = "%.4f") },
        { QN_COLUMN(qn_sw_bench_line, ms_per_mpix, "MS PER MPIX", NULL, .shown = "%.3f") },
        { QN_COLUMN(qn_sw_bench_line, rows, "ROWS", NULL) },
        { QN_COLUMN(qn_sw_bench_line, cols, "COLS", NULL) },
        { QN_COLUMN(qn_sw_bench_line, relief, "RELIEF M", NULL, .shown = "%.1f") },
        { QN_COLUMN(qn_sw_bench_line, device, "DEVICE", NULL) },
    };

    return QN_SHEET(columns, result->lines, result->n);
}

qn_status qn_sw_bench_load(const qn_sw_layer_options *layers, qn_sw_surface *out, qn_sw_grid *grid,
                           qn_err *err)
{
    qn_sw_layer_options own;

    return qn_sw_api_load(layers, 0, &own, out, grid, err);
}

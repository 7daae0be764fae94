/* bench.c - times of graphs, one after another. */
#include "bench.h"

#include "step.h"

#include "engine/engine.h"
#include "domain/solweig/api/api.h"
#include "domain/solweig/view/view.h"
#include "lab/timing.h"
#include "util/clock.h"

#include <quern/metrics.h>

#include <stdio.h>
#include <string.h>

enum { MAX_SAMPLES = 100 };

/* The context of all measurements. */
typedef struct bench {
    qn_ctx *ctx;
    qn_sw_surface *surface;
    const qn_sw_bench_options *options;
    qn_sw_bench_result *result;
} bench;

static void add_line(bench *b, const char *part, const char *name, double us)
{
    const double mpix = (double)b->result->rows * (double)b->result->cols / 1e6;
    qn_sw_bench_line *line = &b->result->lines[b->result->n];

    if (b->result->n == QN_SW_BENCH_LINES)
        return;
    b->result->n++;
    snprintf(line->part, sizeof line->part, "%s", part);
    snprintf(line->name, sizeof line->name, "%s", name);
    line->ms = us / 1e3;
    line->ms_per_mpix = us / 1e3 / mpix;
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
    add_line(b, part, name, timing.samples.median);
    if (qn_graph_stage_device(graph, 0))
        snprintf(b->result->device, sizeof b->result->device, "%s",
                 qn_graph_stage_device(graph, 0));
out:
    qn_graph_free(graph);
    return st;
}

/* Work that is done once. */

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
    add_line(b, "once", "svf, tiles, copies", timing.samples.median);
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

/* `steps` runs of one graph with everything but PET, waited for at the end. */
static qn_status replay(bench *b, qn_sw_bench_step *step, qn_graph *graph, double *us, qn_err *err)
{
    qn_status st = QN_OK;
    double start;

    QN_TRY(qn_sw_step_table_seek(step->series, 0, err));
    start = qn_now_us();
    for (int i = 0; i < b->options->steps && st == QN_OK; i++)
        st = qn_graph_run(graph, err);
    if (st == QN_OK)
        st = qn_graph_wait(graph, err);
    QN_TRY(st);
    *us = (qn_now_us() - start) / b->options->steps;
out:
    return st;
}

static qn_status time_steps(bench *b, qn_sw_bench_step *step, const char *part, qn_err *err)
{
    qn_graph *graph = NULL;
    double us[2];
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(b->ctx, "time step", &graph, err));
    for (int i = 0; i < QN_SW_STEP_PET; i++)
        QN_TRY(qn_sw_step_add(step, graph, (qn_sw_step_stage)i, err));
    QN_TRY(qn_sw_add_next(step->series, graph, err));
    for (int i = 0; i < 2; i++)
        if ((st = replay(b, step, graph, &us[i], err)) != QN_OK)
            goto free;
    add_line(b, part, "step without pet", us[1]);
    goto free;
out:
free:
    qn_graph_free(graph);
    return st;
}

/* All of it. */

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
    qn_sw_bench_result result = { .rows = surface->dsm.place.rows,
                                  .cols = surface->dsm.place.cols,
                                  .relief = (double)qn_sw_relief_of(surface).max_height };
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
out:
    return st;
}

qn_status qn_sw_bench_load(const qn_sw_layer_options *layers, qn_sw_surface *out, qn_sw_grid *grid,
                           qn_err *err)
{
    qn_sw_layer_options own;

    return qn_sw_api_load(layers, 0, &own, out, grid, err);
}

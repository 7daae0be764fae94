/* bench.c - how long steps and their transforms take, and the files that say so. */
#include "bench.h"
#include "lab/document.h"
#include "lab/timing.h"

#include "domain/les/options/options.h"
#include "domain/les/run/output.h"
#include "domain/les/flow/sim.h"
#include "domain/les/proxy/proxy.h"
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
    point.over_fft = point.step_us / point.fft_us;
    QN_TRY(QN_SHEET_ADD(points->list, points->n, points->room, &point, err));
out:
    return st;
}

/* The learned operator. */

enum { ROLLOUT = 1024 };

/* A slightly damped rotation of neighbours: vectors stay finite and no entry vanishes. */
static qn_status set_operator(qn_les_proxy *proxy, int d, qn_err *err)
{
    double *const a = calloc((size_t)d * (size_t)d + 2 * (size_t)d, sizeof *a);
    qn_status st;

    if (!a)
        return qn_fail(err, QN_ERR_NOMEM, "bench: no memory for an operator of %d x %d", d, d);

    double *const mu = a + (size_t)d * (size_t)d, *const scale = mu + d;

    for (int i = 0; i < d; i++) {
        a[(size_t)i * (size_t)d + (size_t)((i + 1) % d)] = 0.999;
        scale[i] = 1;
    }
    st = qn_les_proxy_set(proxy, a, mu, scale, err);
    free(a);
    return st;
}

static qn_status fill(qn_buf *z, int n, int is_f64, qn_err *err)
{
    void *data;
    const qn_status st = qn_buf_host(z, QN_HOST_DISCARD, &data, err);

    for (int i = 0; st == QN_OK && i < n; i++)
        if (is_f64)
            ((double *)data)[i] = cos(i);
        else
            ((float *)data)[i] = cosf((float)i);
    return st;
}

qn_status qn_les_bench_rollout(qn_ctx *ctx, const qn_les_options *options, int d, int samples,
                               double *us, qn_err *err)
{
    const int is_f64 = options->precision == QN_LES_F64;
    const size_t row = (size_t)d * (size_t)options->ensemble * (is_f64 ? 8 : 4);
    qn_les_options config;
    qn_les_proxy *proxy = NULL;
    qn_graph *graph = NULL;
    qn_buf *z = NULL, *zhat = NULL;
    qn_timing timing;
    qn_status st = QN_OK;

    QN_TRY(qn_les_options_take(options, &config, err));
    QN_TRY(qn_les_proxy_new(ctx, &config, d, &proxy, err));
    QN_TRY(set_operator(proxy, d, err));
    QN_TRY(qn_buf_new(ctx, "bench.z", row, &z, err));
    QN_TRY(qn_buf_new(ctx, "bench.zhat", (ROLLOUT + 1) * row, &zhat, err));
    QN_TRY(fill(z, d * config.ensemble, is_f64, err));
    QN_TRY(qn_graph_new(ctx, "bench.rollout", &graph, err));
    QN_TRY(qn_les_proxy_add_rollout(proxy, graph, z, ROLLOUT, zhat, err));
    QN_TRY(qn_time_graph(graph, samples, QN_LES_SAMPLE_US, &timing, err));
    *us = timing.samples.median / ROLLOUT;
out:
    qn_graph_free(graph);
    qn_buf_free(z);
    qn_buf_free(zhat);
    qn_les_proxy_free(proxy);
    return st;
}

/* Files. */

static const char *const precisions[] = { "f32", "f64", NULL };
static const char *const profiles[] = { "quern", "origin", NULL };

qn_sheet qn_les_sheet(const qn_les_points *points)
{
    static const qn_column columns[] = {
        { QN_COLUMN(qn_les_point, is_origin, "PROFILE", "profile", .words = profiles) },
        { QN_COLUMN(qn_les_point, is_f64, "PREC", "precision", .words = precisions) },
        { QN_COLUMN(qn_les_point, device, "DEVICE", "device") },
        { QN_COLUMN(qn_les_point, n, "N", "n") },
        { QN_COLUMN(qn_les_point, members, "MEMBERS", "members") },
        { QN_COLUMN(qn_les_point, step_us, "MS PER STEP", "ms_per_step", .shown = "%.4f",
                    .per = 1e3) },
        { QN_COLUMN(qn_les_point, cell_steps, "CELL STEPS/S", "cell_steps_per_s",
                    .shown = "%.3e") },
        { QN_COLUMN(qn_les_point, fft_us, "FFT MS", "fft_ms", .shown = "%.4f", .per = 1e3) },
        { QN_COLUMN(qn_les_point, over_fft, "STEP / FFT", "step_over_fft", .shown = "%.2f") },
        { QN_COLUMN(qn_les_point, gbs, NULL, "gbs_model") },
        { QN_COLUMN(qn_les_point, roofline, "ROOFLINE %", NULL, .shown = "%.1f", .per = 0.01) },
        { QN_COLUMN(qn_les_point, roofline, NULL, "roofline_frac") },
        { QN_COLUMN(qn_les_point, first_s, NULL, "first_s") },
    };

    return QN_SHEET(columns, points->list, points->n);
}

static int is_same_curve(const qn_les_point *a, const qn_les_point *b)
{
    return a->members == b->members && a->is_f64 == b->is_f64 && a->is_origin == b->is_origin &&
           !strcmp(a->device, b->device);
}

/* Time per step by N: one curve per device, precision, profile and number of members. */
static void add_chart(qn_page *page, const qn_les_points *points)
{
    enum { CURVES = 16 };
    qn_point *xy = calloc(points->n + 1, sizeof *xy);
    qn_series series[CURVES];
    char names[CURVES][96];
    size_t n_series = 0, used = 0;

    for (size_t i = 0; xy && i < points->n && n_series < CURVES; i++) {
        const qn_les_point *first = &points->list[i];
        qn_series *s = &series[n_series];
        size_t k = 0;

        while (k < i && !is_same_curve(&points->list[k], first))
            k++;
        if (k < i) /* drawn already */
            continue;
        *s = (qn_series){ .name = names[n_series], .points = xy + used };
        snprintf(names[n_series++], sizeof names[0], "%s %s %s%s", first->device,
                 precisions[first->is_f64], profiles[first->is_origin],
                 first->members > 1 ? ", ensemble" : "");
        for (k = i; k < points->n; k++)
            if (is_same_curve(&points->list[k], first)) {
                xy[used++] = (qn_point){ .x = points->list[k].n, .y = points->list[k].step_us };
                s->n_points++;
            }
    }
    qn_page_lines(page,
                  &(qn_line_chart){ .title = "Time per step",
                                    .x = { "cells along a side", QN_UNIT_COUNT, 1 },
                                    .y = { "time per step", QN_UNIT_US, 1 },
                                    .series = series,
                                    .n_series = n_series },
                  1);
    page->html.failed |= !xy;
    free(xy);
}

static qn_status write_page(const qn_les_points *points, const char *path, const char *command,
                            qn_err *err)
{
    const qn_sheet sheet = qn_les_sheet(points);
    const qn_fact facts[] = { { "command", command, NULL } };
    qn_table table = qn_sheet_table(&sheet);
    qn_page page = { 0 };

    qn_page_begin(&page, "quern les bench", "Time per step of the flow, by grid size.");
    qn_page_conditions(&page, facts, 1);
    qn_page_section(&page, "Steps");
    add_chart(&page, points);
    qn_page_table(&page, NULL, &table);
    qn_table_free(&table);
    return qn_page_write(&page, path, err);
}

qn_status qn_les_bench_write(const qn_les_points *points, const char *prefix, const char *command,
                             qn_err *err)
{
    const qn_sheet sheet = qn_les_sheet(points);
    char path[QN_DOCUMENT_PATH];
    qn_status st = QN_OK;

    QN_TRY(qn_document_path(prefix, ".csv", path, err));
    QN_TRY(qn_sheet_save_csv(path, &sheet, err));
    QN_TRY(qn_document_path(prefix, ".json", path, err));
    QN_TRY(qn_sheet_save(path,
                         json_pack("{s:s, s:o, s:o, s:o}", "schema", "quern-les-bench/1", "command",
                                   qn_json_text(command), "memory_gbs", qn_json_number(points->gbs),
                                   "points", qn_sheet_json(&sheet)),
                         err));
    QN_TRY(qn_document_path(prefix, ".html", path, err));
    QN_TRY(write_page(points, path, command, err));
out:
    return st;
}

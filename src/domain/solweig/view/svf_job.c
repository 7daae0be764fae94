/* svf_job.c - tile after tile, and the cores of tiles to where they belong. */
#include "svf_job.h"

#include "domain/solweig/view/of_device.h"
#include "svf_flight.h"

#include "domain/solweig/shadow/shadow.h"
#include "engine/engine.h"
#include "util/clock.h"

#include <quern/metrics.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IN_FLIGHT = 2 };

/* Of a tile's progress until its sums are made. */
static const double MARCH_SHARE = 0.95;

typedef struct job {
    qn_ctx *ctx;
    const qn_sw_surface *surface;
    qn_sw_svf_plan plan;
    qn_sw_svf_arrays arrays;
    qn_progress *bar;
    char device[32];
    double stitch_us;
    float *stage; /* a tile's heights on their way up, a core's plane on its way down */
    qn_sw_flight flights[IN_FLIGHT];
} job;

/* One tile. */

/* Uploads a tile and begins its march. */
static qn_status begin(job *j, qn_sw_flight *f, qn_i64 tile, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_sw_flight_open(f, j->ctx, j->surface, &j->plan, tile, j->stage, err));
    QN_TRY(qn_sw_flight_start(f, 0, err));
out:
    return st;
}

/* What is left after the first word, which is running. */
static qn_status go_on(job *j, qn_sw_flight *f, qn_err *err)
{
    const int n_words = f->sky->n_words;
    qn_status st = QN_OK;

    for (int w = 0; w <= n_words; w++) {
        const double share = w < n_words ? MARCH_SHARE * qn_sw_sky_share(f->sky, w + 1) : 1;

        if (w > 0)
            QN_TRY(qn_sw_flight_start(f, w, err));
        QN_TRY(qn_sw_flight_wait(f, j->device, err));
        qn_progress_at(j->bar, ((double)f->tile + share) * f->sky->n_patches);
    }
out:
    return st;
}

/* From tiles to the raster. */

/* `n` bytes of each pixel of the core, from `offset` of `buf` on, to their place in `to`. */
static qn_status stitch(job *j, const qn_sw_flight *f, qn_buf *buf, size_t offset, size_t n,
                        void *to, qn_err *err)
{
    const qn_sw_window *w = &f->at.core;
    const size_t row_bytes = (size_t)w->cols * n, pitch = (size_t)j->plan.tiles.cols * n;
    char *const first = (char *)to + (size_t)w->row * pitch + (size_t)w->col * n;
    qn_status st = QN_OK;

    if (row_bytes == pitch)
        return qn_buf_read(buf, offset, first, row_bytes * (size_t)w->rows, err);
    QN_TRY(qn_buf_read(buf, offset, j->stage, row_bytes * (size_t)w->rows, err));
    for (qn_i64 r = 0; r < w->rows; r++)
        memcpy(first + (size_t)r * pitch, (char *)j->stage + (size_t)r * row_bytes, row_bytes);
out:
    return st;
}

/* Everything of the core to where it belongs. */
static qn_status stitch_all(job *j, const qn_sw_flight *f, qn_err *err)
{
    const size_t plane = (size_t)f->at.core.rows * (size_t)f->at.core.cols * sizeof(float);
    qn_status st = QN_OK;

    for (int i = 0; i < QN_SW_SVF_MAPS; i++)
        QN_TRY(stitch(j, f, f->views.svf, (size_t)i * plane, sizeof(float), j->arrays.map[i], err));
    for (int i = 0; i < QN_SW_SVF_MATRICES; i++)
        QN_TRY(stitch(j, f, f->bytes[i], 0, (size_t)j->arrays.n_bytes, j->arrays.matrix[i], err));
out:
    return st;
}

/* Makes a tile once more, on the CPU, whose results a device has lost; `err` says how. */
static qn_status redo(job *j, qn_sw_flight *f, qn_status failed, qn_err *err)
{
    const double start_us = f->start_us;
    const qn_i64 tile = f->tile;
    qn_status st = failed;

    if (!qn_sw_is_of_device(failed))
        return failed;
    QN_TRY(qn_fallback_note(j->ctx, "svf.finish", err));
    qn_sw_flight_clear(f);
    f->is_on_cpu = 1;
    QN_TRY(begin(j, f, tile, err));
    QN_TRY(go_on(j, f, err));
    f->start_us = start_us;
out:
    f->is_on_cpu = 0;
    return st;
}

static qn_status collect(job *j, qn_sw_flight *f, qn_err *err)
{
    qn_metrics *metrics = qn_ctx_metrics(j->ctx);
    double start_us = qn_now_us(), end_us;
    qn_status st = stitch_all(j, f, err);

    if (st != QN_OK) {
        QN_TRY(redo(j, f, st, err));
        start_us = qn_now_us();
        QN_TRY(stitch_all(j, f, err));
    }
    end_us = qn_now_us();
    j->stitch_us += end_us - start_us;
    qn_metric_observe(qn_metric_of(metrics, "svf_stitch_copy_time_ms", NULL),
                      (end_us - start_us) / 1e3);
    qn_metric_observe(qn_metric_of(metrics, "svf_tile_wall_time_s", NULL),
                      (end_us - f->start_us) / 1e6);
    qn_metric_observe(qn_metric_of(metrics, "tile_turnaround_ms", NULL),
                      (end_us - f->start_us) / 1e3);
out:
    qn_sw_flight_clear(f);
    return st;
}

static qn_status run_tiles(job *j, qn_err *err)
{
    const qn_i64 n = qn_sw_tiles_count(&j->plan.tiles);
    qn_status st = QN_OK;

    for (qn_i64 i = 0; i < n; i++) {
        qn_sw_flight *f = &j->flights[i % IN_FLIGHT];

        QN_TRY(begin(j, f, i, err));
        if (i > 0)
            QN_TRY(collect(j, &j->flights[(i - 1) % IN_FLIGHT], err));
        if ((st = go_on(j, f, err)) != QN_OK)
            QN_TRY(redo(j, f, st, err));
    }
    QN_TRY(collect(j, &j->flights[(n - 1) % IN_FLIGHT], err));
out:
    for (int i = 0; i < IN_FLIGHT; i++)
        qn_sw_flight_free(&j->flights[i]);
    return st;
}

/* The whole. */

/* Room for the largest area of a tile, and for the widest pixels of its core. */
static qn_status make_stage(job *j, qn_err *err)
{
    size_t bytes = 0;

    for (qn_i64 i = 0; i < qn_sw_tiles_count(&j->plan.tiles); i++) {
        const qn_sw_tile_cut t = qn_sw_tiles_at(&j->plan.tiles, i);
        const size_t area = (size_t)t.area.rows * (size_t)t.area.cols * sizeof(float);
        const size_t core = (size_t)t.core.rows * (size_t)t.core.cols * (size_t)j->arrays.n_bytes;

        bytes = area > bytes ? area : bytes;
        bytes = core > bytes ? core : bytes;
    }
    free(j->stage);
    if (!(j->stage = malloc(bytes)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a tile of %zu bytes", bytes);
    return QN_OK;
}

static qn_status run_plan(job *j, const qn_sw_svf_options *options, qn_err *err)
{
    const double total = (double)qn_sw_tiles_count(&j->plan.tiles) * j->arrays.n_patches;
    qn_status st = QN_OK;

    QN_TRY(make_stage(j, err));
    j->bar = qn_progress_phase(options->progress, options->share, "sky view", "patches", total);
    QN_TRY(run_tiles(j, err));
    qn_progress_done(j->bar);
out:
    qn_progress_free(j->bar);
    j->bar = NULL;
    return st;
}

static void tell(const job *j, double wall_s, uint64_t d2h_bytes, qn_sw_svf_report *report)
{
    const double patches = (double)qn_sw_tiles_count(&j->plan.tiles) * j->arrays.n_patches;
    qn_metrics *metrics = qn_ctx_metrics(j->ctx);

    qn_metric_set(qn_metric_of(metrics, "svf_patch_progress_rate", NULL),
                  wall_s > 0 ? patches / wall_s : 0);
    qn_metric_max(qn_metric_of(metrics, "max_queue", NULL),
                  qn_sw_tiles_count(&j->plan.tiles) > 1 ? IN_FLIGHT : 1);
    qn_metric_set(qn_metric_of(metrics, "inflight_limit", NULL), IN_FLIGHT);
    if (!report)
        return;
    *report = (qn_sw_svf_report){ .n_tiles = qn_sw_tiles_count(&j->plan.tiles),
                                  .core = j->plan.tiles.core,
                                  .overlap = j->plan.tiles.overlap,
                                  .n_patches = j->arrays.n_patches,
                                  .wall_s = wall_s,
                                  .stitch_ms = j->stitch_us / 1e3,
                                  .is_mapped = j->arrays.is_mapped,
                                  .tile_bytes = qn_sw_tiles_bytes(&j->plan.tiles),
                                  .d2h_bytes = (double)d2h_bytes };
    snprintf(report->device, sizeof report->device, "%s", j->device);
}

qn_status qn_sw_svf_compute(qn_ctx *ctx, const qn_sw_surface *surface,
                            const qn_sw_svf_options *options, qn_sw_svf_arrays *out,
                            qn_sw_svf_report *report, qn_err *err)
{
    const int option = options->patch_option ? options->patch_option : 2;
    const uint64_t before = qn_ctx_transfers(ctx).d2h_bytes;
    const double start_us = qn_now_us();
    job j = { .ctx = ctx, .surface = surface };
    qn_status st = QN_OK;

    qn_ctx_pack_memory(ctx);
    QN_TRY(qn_sw_svf_plan_make(ctx, surface, option, options->tile, &j.plan, err));
    QN_TRY(qn_sw_svf_arrays_new((size_t)j.plan.tiles.rows * (size_t)j.plan.tiles.cols,
                                qn_sw_patch_count(option), &j.arrays, err));
    QN_TRY(run_plan(&j, options, err));
    tell(&j, (qn_now_us() - start_us) / 1e6, qn_ctx_transfers(ctx).d2h_bytes - before, report);
    *out = j.arrays;
    j.arrays = (qn_sw_svf_arrays){ 0 };
out:
    qn_sw_svf_arrays_free(&j.arrays);
    free(j.stage);
    return st;
}

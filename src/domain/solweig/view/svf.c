/* svf.c - sky view factors: uploads the heights of a tile, casts rays word by word, sums, downloads
 * the core.
 *
 * A word has the bits of 32 patches. One word at a time allows showing progress.
 */
#include "view.h"

#include "util/clock.h"

#include <quern/metrics.h>

#include <math.h>
#include <stdio.h>

/* Planes of a tile, 4 bytes each: three of heights, four for casting rays, and five while those are
 * made; without vegetation four in all. */
enum { PLANES = 12, PLANES_BARE = 4 };

enum { IN_FLIGHT = 2 };

/* Part of a tile's progress before its sums. */
static const double MARCH_SHARE = 0.95;

/* Arrays of a tile, and its running graph. */
typedef struct svf_tile {
    qn_sw_height_bufs layers;
    qn_sw_shadow_raster *shadow;
    qn_sw_sky *sky; /* reused for the next tile of the same shape */
    qn_i64 sky_rows, sky_cols;
    qn_sw_views views;
    qn_buf *bytes[QN_SW_SVF_MATRICES];
    qn_graph *graph;
} svf_tile;

typedef struct svf_job {
    qn_ctx *ctx;
    const qn_sw_surface *surface;
    int patch_option;        /* as in patches.h */
    qn_sw_ray_limits limits; /* over the whole raster */
    float gmax;              /* largest height */
    int has_veg;             /* there are canopy and trunks */
    qn_tiles tiles;
    svf_tile in_flight[IN_FLIGHT];
    qn_sw_svf_arrays arrays;
    qn_progress *bar;
    char device[32];
    double stitch_us;
} svf_job;

/* The cut. */

/* The farthest pixel, by rows or columns, that a ray to any patch reaches. */
static qn_status farthest(const qn_sw_ray_limits *limits, int option, qn_i64 *out, qn_err *err)
{
    qn_sw_patch patches[QN_SW_MAX_PATCHES];
    qn_status st = QN_OK;
    int most = 0;

    QN_TRY(qn_sw_patches(option, patches, err));
    for (int i = 0; i < qn_sw_patch_count(option); i++) {
        const qn_sw_beam beam = { .azimuth = patches[i].azimuth, .altitude = patches[i].altitude };
        int pixels = 0;

        QN_TRY(qn_sw_ray_pixels(limits, &beam, &pixels, err));
        most = pixels > most ? pixels : most;
    }
    *out = most;
out:
    return st;
}

static qn_status cut(svf_job *j, qn_i64 core, qn_err *err)
{
    const qn_sw_surface *s = j->surface;
    const qn_sw_place *place = &s->dsm.place;
    const qn_sw_relief relief = qn_sw_relief_of(s);
    const int n_patches = qn_sw_patch_count(j->patch_option);
    const int words_bytes = (n_patches + 31) / 32 * 4;
    const int matrix_bytes = words_bytes + (n_patches + 7) / 8;
    qn_tiles_needs needs = { .n_in_flight = IN_FLIGHT, .core = core };
    qn_status st = QN_OK;

    j->has_veg = s->cdsm.data && s->tdsm.data;
    j->gmax = j->has_veg ? relief.top : relief.highest;
    j->limits =
        (qn_sw_ray_limits){ .rows = (int)place->rows,
                            .cols = (int)place->cols,
                            .px = (float)place->pixel_size,
                            .max_height = j->has_veg ? relief.max_height : relief.max_building };
    QN_TRY(farthest(&j->limits, j->patch_option, &needs.border, err));
    needs.cost = (qn_tiles_cost){
        .device = sizeof(float) * (j->has_veg ? PLANES : PLANES_BARE),
        .device_core = SW_SVF_PLANES * sizeof(float) + 3.0 * matrix_bytes,
        .widest_core = fmax(words_bytes, SW_SVF_PLANES * sizeof(float)),
    };
    QN_TRY(qn_sw_tiles_of(j->ctx, place, &needs, &j->tiles, err));
out:
    return st;
}

/* Memory of a tile. */

static void clear(void *user, qn_tile_slot *slot)
{
    svf_job *j = user;
    svf_tile *t = &j->in_flight[slot->index];

    qn_graph_free(t->graph);
    t->graph = NULL;
    qn_sw_shadow_free(t->shadow);
    t->shadow = NULL;
    qn_buf_free(t->views.svf);
    qn_buf_free(t->views.bldg);
    qn_buf_free(t->views.veg);
    qn_buf_free(t->views.vb);
    t->views = (qn_sw_views){ 0 };
    qn_sw_heights_free(&t->layers);
    for (int i = 0; i < QN_SW_SVF_MATRICES; i++) {
        qn_buf_free(t->bytes[i]);
        t->bytes[i] = NULL;
    }
}

/* Rays depend only on the shape of a tile. */
static qn_status make_sky(const svf_job *j, svf_tile *t, const qn_window *w, qn_err *err)
{
    qn_sw_ray_limits limits = j->limits;
    qn_status st = QN_OK;

    if (t->sky && t->sky_rows == w->rows && t->sky_cols == w->cols)
        return QN_OK;
    qn_sw_sky_free(t->sky);
    t->sky = NULL;
    limits.rows = (int)w->rows;
    limits.cols = (int)w->cols;
    QN_TRY(qn_sw_sky_new(j->ctx, j->patch_option, &limits, &t->sky, err));
    t->sky_rows = w->rows;
    t->sky_cols = w->cols;
out:
    return st;
}

static qn_status make_results(qn_ctx *ctx, svf_tile *t, const qn_window *core, qn_err *err)
{
    const size_t cells = qn_window_pixels(core);
    const size_t words = cells * (size_t)t->sky->n_words * sizeof(uint32_t);
    qn_status st = QN_OK;

    QN_TRY(qn_buf_new(ctx, "sw svf", cells * SW_SVF_PLANES * sizeof(float), &t->views.svf, err));
    QN_TRY(qn_buf_new(ctx, "sw bldg", words, &t->views.bldg, err));
    QN_TRY(qn_buf_new(ctx, "sw veg", words, &t->views.veg, err));
    QN_TRY(qn_buf_new(ctx, "sw vb", words, &t->views.vb, err));
    for (int i = 0; i < QN_SW_SVF_MATRICES; i++)
        QN_TRY(
            qn_buf_new(ctx, "sw patch bytes", cells * (size_t)t->sky->n_bytes, &t->bytes[i], err));
out:
    return st;
}

static qn_status make_tile(svf_job *j, svf_tile *t, const qn_tile *tile, qn_err *err)
{
    const qn_sw_area area = qn_sw_area_of(tile, j->gmax);
    qn_status st = QN_OK;

    QN_TRY(qn_sw_heights_upload(j->ctx, j->surface, j->has_veg, tile, &t->layers, err));
    QN_TRY(make_sky(j, t, &tile->outer, err));
    QN_TRY(make_results(j->ctx, t, &tile->core, err));
    QN_TRY(qn_sw_shadow_new(j->ctx, &area, &t->layers, &t->shadow, err));
out:
    return st;
}

/* Parts of the work on a tile. */

/* Adds word `word`; the first one first adds the planes for casting rays. */
static qn_status add_word(svf_tile *t, int word, qn_err *err)
{
    qn_status st = QN_OK;

    if (word == 0)
        QN_TRY(qn_sw_add_cover(t->shadow, t->graph, err));
    QN_TRY(qn_sw_add_svf_words(t->shadow, t->graph, t->sky, word, word + 1, &t->views, err));
out:
    return st;
}

static qn_status add_sums(svf_tile *t, qn_err *err)
{
    qn_buf *const words[QN_SW_SVF_MATRICES] = { t->views.bldg, t->views.veg, t->views.vb };
    qn_status st = QN_OK;

    QN_TRY(qn_sw_add_svf_finish(t->shadow, t->graph, t->sky, &t->views, err));
    for (int i = 0; i < QN_SW_SVF_MATRICES; i++)
        QN_TRY(qn_sw_add_svf_bytes(t->shadow, t->graph, t->sky, words[i], t->bytes[i], err));
out:
    return st;
}

/* Starts word `word`, or after the last one the sums. */
static qn_status start(const svf_job *j, const qn_tile_slot *slot, svf_tile *t, int word,
                       qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(j->ctx, "svf", &t->graph, err));
    QN_TRY(word < t->sky->n_words ? add_word(t, word, err) : add_sums(t, err));
    QN_TRY(qn_sw_tile_start(slot, t->graph, err));
out:
    return st;
}

static qn_status finish(svf_job *j, svf_tile *t, qn_err *err)
{
    const qn_status st = qn_graph_wait(t->graph, err);

    if (st == QN_OK && qn_graph_stage_device(t->graph, 0))
        snprintf(j->device, sizeof j->device, "%s", qn_graph_stage_device(t->graph, 0));
    qn_graph_free(t->graph);
    t->graph = NULL;
    return st;
}

/* Phases of a tile. */

static qn_status begin(void *user, qn_tile_slot *slot, qn_err *err)
{
    svf_job *j = user;
    svf_tile *t = &j->in_flight[slot->index];
    qn_status st = QN_OK;

    QN_TRY(make_tile(j, t, &slot->tile, err));
    QN_TRY(start(j, slot, t, 0, err));
out:
    return st;
}

static qn_status compute(void *user, qn_tile_slot *slot, qn_err *err)
{
    svf_job *j = user;
    svf_tile *t = &j->in_flight[slot->index];
    const int n_words = t->sky->n_words;
    qn_status st = QN_OK;

    for (int w = 0; w <= n_words; w++) {
        const double share = w < n_words ? MARCH_SHARE * qn_sw_sky_share(t->sky, w + 1) : 1;

        if (w > 0)
            QN_TRY(start(j, slot, t, w, err));
        QN_TRY(finish(j, t, err));
        qn_progress_at(j->bar, ((double)slot->tile.number + share) * t->sky->n_patches);
    }
out:
    return st;
}

/* Copies the core of all results to its place. */
static qn_status stitch(svf_job *j, const svf_tile *t, const qn_window *core, qn_err *err)
{
    const size_t plane = qn_window_pixels(core) * sizeof(float);
    const qn_i64 cols = j->tiles.cols;
    qn_tile_source from = { t->views.svf, 0, core->cols, sizeof(float) };
    qn_status st = QN_OK;

    for (int i = 0; i < QN_SW_SVF_MAPS; i++, from.offset += plane)
        QN_TRY(qn_tile_download(&from, core, j->arrays.map[i], cols, err));
    for (int i = 0; i < QN_SW_SVF_MATRICES; i++) {
        from = (qn_tile_source){ t->bytes[i], 0, core->cols, (size_t)j->arrays.n_bytes };
        QN_TRY(qn_tile_download(&from, core, j->arrays.matrix[i], cols, err));
    }
out:
    return st;
}

static qn_status collect(void *user, qn_tile_slot *slot, qn_err *err)
{
    svf_job *j = user;
    qn_metrics *metrics = qn_ctx_metrics(j->ctx);
    const double start_us = qn_now_us();
    double end_us;
    qn_status st = QN_OK;

    QN_TRY(stitch(j, &j->in_flight[slot->index], &slot->tile.core, err));
    end_us = qn_now_us();
    j->stitch_us += end_us - start_us;
    qn_metric_observe(qn_metric_of(metrics, "svf_stitch_copy_time_ms", NULL),
                      (end_us - start_us) / 1e3);
    qn_metric_observe(qn_metric_of(metrics, "svf_tile_wall_time_s", NULL),
                      (end_us - slot->start_us) / 1e6);
    qn_metric_observe(qn_metric_of(metrics, "tile_turnaround_ms", NULL),
                      (end_us - slot->start_us) / 1e3);
out:
    return st;
}

/* The whole. */

static qn_status run_tiles(svf_job *j, const qn_sw_svf_job *options, qn_tiles_stats *stats,
                           qn_err *err)
{
    const qn_tile_work work = { .stage = "svf.finish",
                                .user = j,
                                .begin = begin,
                                .compute = compute,
                                .collect = collect,
                                .clear = clear };
    const double total = (double)qn_tiles_count(&j->tiles) * j->arrays.n_patches;
    qn_status st = QN_OK;

    j->bar = qn_progress_phase(options->progress, options->share, "sky view", "patches", total);
    QN_TRY(qn_tiles_run(j->ctx, &j->tiles, &work, stats, err));
    qn_progress_done(j->bar);
out:
    qn_progress_free(j->bar);
    for (int i = 0; i < IN_FLIGHT; i++)
        qn_sw_sky_free(j->in_flight[i].sky);
    return st;
}

static void set_metrics(const svf_job *j, double wall_s, const qn_tiles_stats *stats)
{
    const double patches = (double)qn_tiles_count(&j->tiles) * j->arrays.n_patches;
    qn_metrics *metrics = qn_ctx_metrics(j->ctx);

    qn_metric_set(qn_metric_of(metrics, "svf_patch_progress_rate", NULL),
                  wall_s > 0 ? patches / wall_s : 0);
    qn_metric_max(qn_metric_of(metrics, "max_queue", NULL), stats->peak_in_flight);
    qn_metric_set(qn_metric_of(metrics, "inflight_limit", NULL), IN_FLIGHT);
}

static qn_sw_svf_figures report_of(const svf_job *j, double wall_s, uint64_t d2h_bytes)
{
    qn_sw_svf_figures r = { .n_tiles = qn_tiles_count(&j->tiles),
                            .core = j->tiles.core,
                            .overlap = (int)j->tiles.border,
                            .n_patches = j->arrays.n_patches,
                            .wall_s = wall_s,
                            .stitch_ms = j->stitch_us / 1e3,
                            .is_mapped = j->arrays.block.is_mapped,
                            .tile_bytes = qn_tiles_bytes(&j->tiles),
                            .d2h_bytes = (double)d2h_bytes };

    snprintf(r.device, sizeof r.device, "%s", j->device);
    return r;
}

qn_status qn_sw_svf_compute(qn_ctx *ctx, const qn_sw_surface *surface, const qn_sw_svf_job *options,
                            qn_sw_svf_arrays *out, qn_sw_svf_figures *report, qn_err *err)
{
    const uint64_t before = qn_ctx_transfers(ctx).d2h_bytes;
    const double start_us = qn_now_us();
    svf_job j = { .ctx = ctx,
                  .surface = surface,
                  .patch_option = options->patch_option ? options->patch_option : 2 };
    qn_tiles_stats stats;
    double wall_s;
    qn_status st = QN_OK;

    QN_TRY(cut(&j, options->tile, err));
    QN_TRY(qn_sw_svf_arrays_new((size_t)j.tiles.rows * (size_t)j.tiles.cols,
                                qn_sw_patch_count(j.patch_option), &j.arrays, err));
    QN_TRY(run_tiles(&j, options, &stats, err));
    wall_s = (qn_now_us() - start_us) / 1e6;
    set_metrics(&j, wall_s, &stats);
    if (report)
        *report = report_of(&j, wall_s, qn_ctx_transfers(ctx).d2h_bytes - before);
    *out = j.arrays;
    j.arrays = (qn_sw_svf_arrays){ 0 };
out:
    qn_sw_svf_arrays_free(&j.arrays);
    return st;
}

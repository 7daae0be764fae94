/* svf.c - sky view factors as arrays, and as files for later runs. */
#include "api.h"

#include <string.h>

static qn_status write_files(const qn_sw_svf_options *o, qn_run_folder *to,
                             const qn_sw_surface *surface, const qn_sw_svf_arrays *arrays,
                             qn_err *err)
{
    static const char *const endings[] = {
        [QN_SW_TIF_RASTERS] = ".tif", [QN_SW_NPY_RASTERS] = ".npy"
    };
    const qn_sw_place *place = &surface->dsm.place;
    const qn_sw_svf_key key = qn_sw_svf_key_of(surface, o->patches + 1);
    const qn_sw_map look = {
        .title = "Sky view factor", .low = 0, .high = 1, .pixel_size = place->pixel_size
    };
    qn_sw_raster map = { .place = *place, .data = arrays->map[0] }; /* both borrowed */
    qn_status st = QN_OK;

    QN_TRY(qn_sw_svf_cache_write(to, place, arrays, &key, err));
    QN_TRY(qn_sw_api_put(to, "svf", ".png", &map, &look, err));
    for (int i = 0; o->rasters != QN_SW_NO_RASTERS && i < QN_SW_SVF_MAPS; i++) {
        char name[QN_SW_SVF_NAME];

        map.data = arrays->map[i];
        QN_TRY(
            qn_sw_api_put(to, qn_sw_svf_map_name(i, name), endings[o->rasters], &map, NULL, err));
    }
    QN_TRY(qn_run_folder_finish(to, err));
out:
    return st;
}

/* Arrays. */

static void give_arrays(const qn_sw_layer_options *layers, const qn_sw_place *place,
                        const qn_sw_svf_arrays *arrays, float *maps, uint8_t *matrices)
{
    const qn_window at = qn_sw_api_window(layers, place);
    const size_t cells = (size_t)layers->rows * (size_t)layers->cols;
    const size_t bytes = (size_t)arrays->n_bytes;

    if (maps)
        qn_sw_api_clear(maps, QN_SW_SVF_MAPS * cells);
    for (size_t i = 0; maps && i < QN_SW_SVF_MAPS; i++)
        qn_window_paste(arrays->map[i], &at, sizeof(float), maps + i * cells, layers->cols);
    if (matrices)
        memset(matrices, 0, QN_SW_SVF_MATRICES * cells * bytes);
    for (size_t i = 0; matrices && i < QN_SW_SVF_MATRICES; i++)
        qn_window_paste(arrays->matrix[i], &at, bytes, matrices + i * cells * bytes, layers->cols);
}

static qn_sw_svf_report report_of(const qn_sw_grid *grid, const qn_sw_svf_figures *r)
{
    qn_sw_svf_report out = { .grid = *grid,
                             .n_patches = r->n_patches,
                             .border = r->overlap,
                             .n_tiles = r->n_tiles,
                             .core = r->core,
                             .wall_s = r->wall_s,
                             .stitch_ms = r->stitch_ms };

    memcpy(out.device, r->device, sizeof out.device);
    return out;
}

qn_status qn_sw_svf(qn_ctx *ctx, const qn_sw_layer_options *layers,
                    const qn_sw_svf_options *options, float *maps, uint8_t *matrices,
                    qn_sw_svf_report *report, qn_err *err)
{
    qn_sw_layer_options l;
    qn_sw_svf_options o;
    qn_sw_grid grid;
    qn_sw_svf_job job = { .share = 1 };
    qn_sw_svf_arrays arrays = { 0 };
    qn_sw_surface surface = { 0 };
    qn_sw_svf_figures found;
    qn_run_folder *to = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_svf_take(options, &o, err));
    if (o.rasters == QN_SW_TIF_RASTERS)
        QN_TRY(qn_sw_map_check("svf.tif", err));
    job.patch_option = o.patches + 1;
    job.tile = o.tile;
    QN_TRY(qn_sw_api_load(layers, maps || matrices, &l, &surface, &grid, err));
    QN_TRY(qn_sw_api_begin(o.out, "svf", &to, err));
    QN_TRY(qn_sw_api_progress("solweig svf", o.progress, &job.progress, err));
    QN_TRY(qn_sw_svf_compute(ctx, &surface, &job, &arrays, &found, err));
    qn_progress_done(job.progress);
    if (to)
        QN_TRY(write_files(&o, to, &surface, &arrays, err));
    give_arrays(&l, &surface.dsm.place, &arrays, maps, matrices);
    if (report)
        *report = report_of(&grid, &found);
out:
    qn_run_folder_close(to);
    qn_progress_free(job.progress);
    qn_sw_svf_arrays_free(&arrays);
    qn_sw_surface_free(&surface);
    return st;
}

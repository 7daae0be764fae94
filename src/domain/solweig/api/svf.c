/* svf.c - sky view factors: arrays, and the files of a later run. */
#include "api.h"

#include "domain/solweig/view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Files. */

/* Names of the maps as in the cache. */
static void map_name(int i, char *out, size_t size)
{
    static const char *const sides[] = { "", "N", "E", "S", "W" };
    static const char *const kinds[] = { "", "veg", "aveg" };

    snprintf(out, size, "svf%s%s", sides[i % 5], kinds[i / 5]);
}

static qn_status write_map(const char *folder, const char *name, const char *ending,
                           const qn_sw_raster *map, qn_err *err)
{
    const qn_sw_map look = {
        .title = "Sky view factor", .low = 0, .high = 1, .pixel_size = map->place.pixel_size
    };
    char *path = NULL;
    qn_status st;

    if (asprintf(&path, "%s/%s%s", folder, name, ending) < 0)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for a name", folder);
    st = qn_sw_map_out(path, map, &look, err);
    free(path);
    return st;
}

static qn_status write_files(const qn_sw_svf_options *o, const qn_sw_surface *surface,
                             const qn_sw_svf_arrays *arrays, qn_err *err)
{
    static const char *const endings[] = {
        [QN_SW_TIF_RASTERS] = ".tif", [QN_SW_NPY_RASTERS] = ".npy"
    };
    const qn_sw_place *place = &surface->dsm.place;
    const qn_sw_svf_key key = qn_sw_svf_key_of(surface, o->patches + 1);
    qn_sw_raster map = { .place = *place, .data = arrays->map[0] }; /* both borrowed */
    qn_status st = QN_OK;

    QN_TRY(qn_sw_svf_cache_write(o->out, place, arrays, &key, err));
    QN_TRY(write_map(o->out, "svf", ".png", &map, err));
    for (int i = 0; o->rasters != QN_SW_NO_RASTERS && i < QN_SW_SVF_MAPS; i++) {
        char name[16];

        map_name(i, name, sizeof name);
        map.data = arrays->map[i];
        QN_TRY(write_map(o->out, name, endings[o->rasters], &map, err));
    }
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
    qn_status st = QN_OK;

    QN_TRY(qn_sw_svf_take(options, &o, err));
    if (o.rasters == QN_SW_TIF_RASTERS)
        QN_TRY(qn_sw_map_check("svf.tif", err));
    job.patch_option = o.patches + 1;
    job.tile = o.tile;
    QN_TRY(qn_sw_api_load(layers, maps || matrices, &l, &surface, &grid, err));
    if (o.out[0])
        QN_TRY(qn_sw_api_folder(o.out, err));
    QN_TRY(qn_sw_api_progress("solweig svf", o.progress, &job.progress, err));
    QN_TRY(qn_sw_svf_compute(ctx, &surface, &job, &arrays, &found, err));
    qn_progress_done(job.progress);
    if (o.out[0])
        QN_TRY(write_files(&o, &surface, &arrays, err));
    give_arrays(&l, &surface.dsm.place, &arrays, maps, matrices);
    if (report)
        *report = report_of(&grid, &found);
out:
    qn_progress_free(job.progress);
    qn_sw_svf_arrays_free(&arrays);
    qn_sw_surface_free(&surface);
    return st;
}

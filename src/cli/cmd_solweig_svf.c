/* cmd_solweig_svf.c - `quern solweig svf`: sky view factors of a city, kept for runs. */
#include "cli/cmd_solweig.h"

#include "cli/solweig_options.h"
#include "domain/solweig/view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const qn_opt options[] = { QN_SW_OPTIONS_LAYERS,
                                  QN_SW_OPTIONS_HEIGHTS,
                                  QN_SW_OPTIONS_PATCHES,
                                  QN_SW_OPTIONS_TILE,
                                  { .name = "rasters",
                                    .kind = QN_OPT_CHOICE,
                                    .help = "also every view factor as a file of its own",
                                    .value = "none|tif|npy",
                                    .fallback = "none" },
                                  QN_SW_OPTION_OUT,
                                  { 0 } };

static const char *const examples[] = {
    "quern solweig bench --size 64 --steps 1 --samples 1 --save city --backend cpu",
    "quern solweig svf --dsm city/dsm.npy --cdsm city/cdsm.npy --out view --backend cpu", NULL
};

/* Names of the maps as the cache has them. */
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

static qn_status write_all(const qn_args *args, const char *folder, const qn_sw_surface *surface,
                           const qn_sw_svf_arrays *arrays, qn_err *err)
{
    const qn_sw_place *place = &surface->dsm.place;
    const qn_sw_svf_key key = qn_sw_svf_key_of(surface, qn_sw_patch_option_of(args));
    const char *kind = qn_text(args, "rasters");
    qn_sw_raster map = { .place = *place, .data = arrays->map[0] }; /* both borrowed */
    qn_status st = QN_OK;

    QN_TRY(qn_sw_svf_cache_write(folder, place, arrays, &key, err));
    QN_TRY(write_map(folder, "svf", ".png", &map, err));
    for (int i = 0; strcmp(kind, "none") && i < QN_SW_SVF_MAPS; i++) {
        char name[16];

        map_name(i, name, sizeof name);
        map.data = arrays->map[i];
        QN_TRY(write_map(folder, name, strcmp(kind, "tif") ? ".npy" : ".tif", &map, err));
    }
out:
    return st;
}

static void print_report(const qn_sw_place *place, const qn_sw_svf_report *r, const char *folder)
{
    const double mpix = (double)place->rows * (double)place->cols / 1e6;

    printf("%lld x %lld pixels, %d patches on %s: %.3f s (%.3f s per megapixel)\n",
           (long long)place->rows, (long long)place->cols, r->n_patches, r->device, r->wall_s,
           r->wall_s / mpix);
    if (r->n_tiles > 1)
        printf("%lld tiles of %lld pixels with %d around them, stitched in %.1f ms\n",
               (long long)r->n_tiles, (long long)r->core, r->overlap, r->stitch_ms);
    printf("files: %s/svfs.zip, shadowmats.npz, svf.json, svf.png\n", folder);
}

static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_sw_svf_options job = { .patch_option = qn_sw_patch_option_of(args), .share = 1 };
    qn_progress_options watch = { 0 };
    qn_sw_surface surface = { 0 };
    qn_sw_svf_arrays arrays = { 0 };
    qn_sw_svf_report report;
    const char *folder = NULL;
    int tile = 0;
    qn_status st = QN_OK;

    if (!strcmp(qn_text(args, "rasters"), "tif"))
        QN_TRY(qn_sw_map_check("svf.tif", err));
    QN_TRY(qn_sw_tile_of(args, &tile, err));
    job.tile = tile;
    QN_TRY(qn_cli_progress(args, &watch.mode, err));
    QN_TRY(qn_sw_surface_of(args, &surface, err));
    QN_TRY(qn_sw_folder_of(args, &folder, err));
    QN_TRY(qn_progress_new(&watch, "solweig svf", "", 1, &job.progress, err));
    QN_TRY(qn_sw_svf_compute(ctx, &surface, &job, &arrays, &report, err));
    qn_progress_done(job.progress);
    QN_TRY(write_all(args, folder, &surface, &arrays, err));
    print_report(&surface.dsm.place, &report, folder);
    qn_cli_summary(args, (double)qn_sw_elems(&surface.dsm.place), "pixel", "pixels");
out:
    qn_progress_free(job.progress);
    qn_sw_svf_arrays_free(&arrays);
    qn_sw_surface_free(&surface);
    return st;
}

const qn_command qn_verb_solweig_svf = {
    .name = "svf",
    .summary = "sky view factors, and which patches of the sky each pixel sees",
    .options = options,
    .notes =
        "Files in --out: svfs.zip (15 maps as GeoTIFF), shadowmats.npz (bits of patches) and\n"
        "svf.json (what they were made for), which `quern solweig run --svf DIR` takes; a map\n"
        "of the total, svf.png. A build without GDAL writes .npy files instead. Tiles give the\n"
        "same bits as the whole raster, whatever their size.",
    .examples = examples,
    .run = run,
};

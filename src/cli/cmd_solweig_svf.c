/* cmd_solweig_svf.c - `quern solweig svf`: sky view factors of a city, for later runs. */

#include "cli/solweig_options.h"

static const qn_opt options[] = {
#include "cli/solweig_layer_rows.def"
#define OPTION QN_CLI_OPTION
#define MEMBER QN_CLI_NO_OPTION
#include <quern/options/solweig_svf.def>
    QN_SW_OPTION_TILE, QN_SW_OPTION_OUT, { 0 }
};

static const char *const examples[] = {
    "quern make town --size 64 --out city",
    "quern solweig svf --dsm city/dsm.npy --cdsm city/cdsm.npy --out view --backend cpu", NULL
};

static void print_report(const qn_sw_svf_report *r, const char *folder)
{
    const double mpix = (double)r->grid.rows * (double)r->grid.cols / 1e6;

    printf("%lld x %lld pixels, %d patches on %s: %.3f s (%.3f s per megapixel)\n",
           (long long)r->grid.rows, (long long)r->grid.cols, r->n_patches, r->device, r->wall_s,
           r->wall_s / mpix);
    if (r->n_tiles > 1)
        printf("%lld tiles of %lld pixels with a margin of %d, stitched in %.1f ms\n",
               (long long)r->n_tiles, (long long)r->core, r->border, r->stitch_ms);
    printf("files: %s/svfs.zip, shadowmats.npz, svf.json, svf.png\n", folder);
}

static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_sw_layer_options layers;
    qn_sw_svf_options o;
    qn_sw_svf_report report;
    qn_option_store store = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_sw_layers_of(args, &layers, &store, err));
    QN_TRY(qn_cli_options(args, qn_sw_svf_option_table(), &o, &store, err));
    QN_TRY(qn_sw_tile_of(args, &o.tile, err));
    QN_TRY(qn_sw_progress_of(args, &o.progress, err));
    o.out = qn_text(args, "out");
    QN_TRY(qn_sw_svf(ctx, &layers, &o, NULL, NULL, &report, err));
    qn_sw_note_smoothed(args, &layers, &report.grid);
    print_report(&report, o.out);
    qn_cli_summary(args, (double)report.grid.rows * (double)report.grid.cols, "pixel", "pixels");
out:
    qn_option_store_free(&store);
    return st;
}

const qn_command qn_verb_solweig_svf = {
    .name = "svf",
    .summary = "sky view factors, and which patches of the sky each pixel sees",
    .options = options,
    .notes =
        "Files in --out: svfs.zip (15 maps as GeoTIFF), shadowmats.npz (bits of patches) and\n"
        "svf.json (the surface they belong to), which `quern solweig run --svf DIR` reads; a map\n"
        "of the total, svf.png. A build without GDAL writes .npy files instead. Tiling does not\n"
        "change a single bit.",
    .examples = examples,
    .run = run,
};

/* cmd_solweig_shadow.c - `quern solweig shadow` and `walls`: maps of shadows for one position of
 * the sun, and of walls. */

#include "cli/solweig_options.h"

/* Shadow. */

static const qn_opt shadow_options[] = {
#include "cli/solweig_layer_rows.def"
#define OPTION QN_CLI_OPTION
#define MEMBER QN_CLI_NO_OPTION
#include <quern/options/solweig_shadow.def>
    QN_SW_OPTION_TILE,
    { 'o', NULL, QN_OPT_TEXT, "write the result: .tif, .npy or .png", .value = "FILE" },
    { 0 }
};

static const char *const shadow_examples[] = {
    "quern make town --size 64 --out city",
    "quern solweig shadow --dsm city/dsm.npy --azimuth 135 --altitude 30 -o morning.png",
    "quern solweig shadow --dsm city/dsm.npy --at 2006-07-26T11:30Z --lat 57.7 --lon 12 -o "
    "july.npy",
    NULL
};

static qn_status run_shadow(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_sw_layer_options layers;
    qn_sw_shadow_options o;
    qn_sw_shadow_report r;
    qn_option_store store = { 0 };
    qn_status st = QN_OK;

    if (!qn_text(args, "o"))
        return qn_fail(err, QN_ERR_USAGE, "-o FILE is needed: .tif, .npy or .png");
    QN_TRY(qn_cli_options(args, qn_sw_shadow_option_table(), &o, &store, err));
    QN_TRY(qn_sw_tile_of(args, &o.tile, err));
    o.file = qn_text(args, "o");
    QN_TRY(qn_sw_layers_of(args, &layers, &store, err));
    QN_TRY(qn_sw_shadow(ctx, &layers, &o, NULL, &r, err));
    qn_sw_note_smoothed(args, &layers, &r.grid);
    printf("sun at azimuth %.3f, altitude %.3f%s: %.1f %% sunlit\nfile: %s\n", r.azimuth,
           r.altitude, r.altitude > 0 ? "" : ", below the horizon", 100 * r.sunlit, o.file);
    qn_cli_summary(args, (double)r.grid.rows * (double)r.grid.cols, "pixel", "pixels");
out:
    qn_option_store_free(&store);
    return st;
}

const qn_command qn_verb_solweig_shadow = {
    .name = "shadow",
    .summary = "shadows of buildings and trees for one position of the sun",
    .options = shadow_options,
    .notes =
        "Pixels are 1 in the sun, 0 in the shade of a building, and --psi in the shade of a tree.\n"
        "With the sun below the horizon everything is 1.",
    .examples = shadow_examples,
    .run = run_shadow,
};

/* Walls. */

static const qn_opt walls_options[] = {
#include "cli/solweig_layer_rows.def"
    QN_SW_OPTION_TILE, QN_SW_OPTION_OUT, { 0 }
};

static const char *const walls_examples[] = {
    "quern make town --size 64 --out city",
    "quern solweig walls --dsm city/dsm.npy --out walls --backend cpu", NULL
};

static qn_status run_walls(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_sw_layer_options layers;
    qn_sw_wall_options o;
    qn_sw_wall_report r;
    qn_option_store store = { 0 };
    qn_status st = QN_OK;

    qn_sw_wall_options_init(&o, sizeof o);
    QN_TRY(qn_sw_tile_of(args, &o.tile, err));
    o.out = qn_text(args, "out");
    QN_TRY(qn_sw_layers_of(args, &layers, &store, err));
    QN_TRY(qn_sw_walls(ctx, &layers, &o, NULL, NULL, &r, err));
    qn_sw_note_smoothed(args, &layers, &r.grid);
    printf("%lld of %lld pixels have a wall, the highest %.1f m\n", (long long)r.n_walls,
           (long long)(r.grid.rows * r.grid.cols), r.highest);
    printf("files: %s/wall_height%s, wall_aspect%s, wall_height.png\n", o.out, r.ending, r.ending);
    qn_cli_summary(args, (double)r.grid.rows * (double)r.grid.cols, "pixel", "pixels");
out:
    qn_option_store_free(&store);
    return st;
}

const qn_command qn_verb_solweig_walls = {
    .name = "walls",
    .summary = "heights of walls, and the directions they face",
    .options = walls_options,
    .notes = "wall_height is in metres, 0 without a wall; wall_aspect in degrees clockwise from\n"
             "north. A wall is a pixel beside one that is at least 1 m higher.",
    .examples = walls_examples,
    .run = run_walls,
};

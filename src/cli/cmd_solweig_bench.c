/* cmd_solweig_bench.c - `quern solweig bench`: times stages on a generated or a given city. */

#include "cli/solweig_options.h"
#include "domain/solweig/shadow/shadow.h"
#include "lab/solweig/bench/bench.h"
#include "lab/made/town.h"
#include "util/table.h"

#include <math.h>
#include <stdlib.h>

static const qn_opt options[] = {
#include "cli/solweig_layer_rows.def"
    { 0, "size", QN_OPT_INT, .value = "N", .fallback = "1000", .min = 16, .max = 1 << 16,
      .help = "side of the generated city, pixels" },
    { 0, "relief", QN_OPT_REAL, .value = "M", .fallback = "40", .min = 1, .max = 1000,
      .help = "height of the tallest roof of the generated city, in metres" },
    { 0, "veg", QN_OPT_CHOICE, .value = "0|1", .fallback = "1",
      .help = "1: the generated city has trees" },
    { 0, "steps", QN_OPT_INT, .value = "N", .fallback = "24", .min = 1, .max = 100000,
      .help = "number of time steps to replay" },
    { 0, "samples", QN_OPT_INT, .value = "N", .fallback = "5", .min = 1, .max = 100,
      .help = "measurements per figure; the median is printed" },
    { 0, "mirror", QN_OPT_TEXT, .value = "RxC", .fallback = "1x1",
      .help = "repeat the layers of --dsm as mirror images, down and across" },
    { 0, "patches", QN_OPT_CHOICE, .value = "145|153|305|609", .fallback = "153",
      .help = "patches of the sky" },
    QN_SW_OPTION_TILE,
    { 0, "save", QN_OPT_TEXT, .value = "DIR",
      .help = "old spelling of `quern make town --out DIR`" },
    { 0, "json", QN_OPT_FLAG, .help = "print JSON instead of a table" },
    { 0 }
};

static const char *const examples[] = {
    "quern solweig bench --size 128 --relief 30 --steps 2 --samples 1 --backend cpu", NULL
};

/* The number, 1 to 4, of the patch set in --patches. */
static int patch_option_of(const qn_args *args)
{
    const int n = atoi(qn_text(args, "patches"));
    int option = 1;

    while (option < 4 && qn_sw_patch_count(option) != n)
        option++;
    return option;
}

/* The city. */

static qn_status parse_mirror(const char *text, int *down, int *across, qn_err *err)
{
    char rest = 0;

    if (sscanf(text, "%dx%d%c", down, across, &rest) != 2 || *down < 1 || *across < 1 ||
        *down > 1000 || *across > 1000)
        return qn_fail(err, QN_ERR_USAGE, "--mirror: '%s' is not like 2x2, up to 1000x1000", text);
    return QN_OK;
}

static qn_status make_city(const qn_args *args, qn_sw_surface *out, qn_err *err)
{
    const qn_made_town made = { .side = qn_int(args, "size"),
                                .relief = qn_real(args, "relief"),
                                .has_trees = qn_text(args, "veg")[0] == '1' };
    const qn_sw_height_options heights = { 0 };
    const char *folder = qn_text(args, "save");
    qn_status st = QN_OK;

    QN_TRY(qn_town_make(&made, out, err));
    if (folder) {
        if (!args->global.quiet)
            fprintf(stderr,
                    "quern solweig bench: --save is now `quern make town --out %s`; the old "
                    "spelling will be removed\n",
                    folder);
        QN_TRY(qn_town_save(out, folder, err));
    }
    QN_TRY(qn_sw_prepare_heights(out, &heights, NULL, err));
out:
    return st;
}

static qn_status city_of(const qn_args *args, qn_sw_surface *out, qn_err *err)
{
    qn_sw_layer_options layers;
    qn_option_store store = { 0 };
    qn_sw_grid grid;
    int down = 1, across = 1;
    qn_status st = QN_OK;

    if (!qn_text(args, "dsm"))
        return make_city(args, out, err);
    QN_TRY(parse_mirror(qn_text(args, "mirror"), &down, &across, err));
    QN_TRY(qn_sw_layers_of(args, &layers, &store, err));
    QN_TRY(qn_sw_bench_load(&layers, out, &grid, err));
    qn_sw_note_smoothed(args, &layers, &grid);
    QN_TRY(qn_town_mirror(out, down, across, err));
out:
    qn_option_store_free(&store);
    return st;
}

/* The table. */

static qn_status print_result(const qn_args *args, const qn_sw_bench_result *r, qn_err *err)
{
    const int is_json = qn_flag(args, "json");
    const qn_sheet sheet = qn_sw_bench_sheet(r);
    qn_table table = qn_sheet_table(&sheet);
    const qn_status st = qn_cli_print_table(&table, is_json, err);

    if (st != QN_OK)
        return st;
    if (!is_json && r->bytes_per_pixel > 0)
        printf("device memory: at most %.0f bytes per pixel\n", r->bytes_per_pixel);
    return QN_OK;
}

static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_sw_bench_options bench = { .patch_option = patch_option_of(args),
                                  .steps = (int)qn_int(args, "steps"),
                                  .samples = (int)qn_int(args, "samples") };
    qn_sw_bench_result result = { 0 };
    qn_sw_surface surface = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_sw_tile_of(args, &bench.tile, err));
    QN_TRY(city_of(args, &surface, err));
    QN_TRY(qn_sw_bench(ctx, &surface, &bench, &result, err));
    QN_TRY(print_result(args, &result, err));
out:
    qn_sw_bench_free(&result);
    qn_sw_surface_free(&surface);
    return st;
}

const qn_command qn_verb_solweig_bench = {
    .name = "bench",
    .summary = "time view factors, shadows, walls and the stages of a time step",
    .options = options,
    .notes =
        "Without --dsm a city is generated: blocks of buildings, streets, trees. Data stays on\n"
        "the device, and files are not timed: `svf` casts rays to all patches and sums them,\n"
        "`step without pet` replays a recorded step --steps times, from midnight on. With\n"
        "--tile N view factors are also computed in tiles, with uploads and copies of results.",
    .examples = examples,
    .run = run,
};

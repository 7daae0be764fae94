/* cmd_solweig_bench.c - `quern solweig bench`: times of stages on a made-up or a given city. */
#include "cli/cmd_solweig.h"

#include "cli/solweig_options.h"
#include "domain/solweig/shadow/shadow.h"
#include "lab/solweig/bench/bench.h"
#include "lab/made/town.h"
#include "util/table.h"

#include <math.h>
#include <stdlib.h>

static const qn_opt options[] = {
#define OPTION     QN_CLI_OPTION
#define MEMBER     QN_CLI_NO_OPTION
#define RUN_OPTION QN_CLI_NO_OPTION
#define RENAMED    QN_SW_CLI_RENAMED
#include <quern/options/solweig_layer.def>
    { .name = "size",
      .kind = QN_OPT_INT,
      .help = "side of the generated city, pixels",
      .value = "N",
      .fallback = "1000",
      .min = 16,
      .max = 1 << 16 },
    { .name = "relief",
      .kind = QN_OPT_REAL,
      .help = "metres from the ground to the highest roof of the generated city",
      .value = "M",
      .fallback = "40",
      .min = 1,
      .max = 1000 },
    { .name = "veg",
      .kind = QN_OPT_CHOICE,
      .help = "1: the generated city has trees",
      .value = "0|1",
      .fallback = "1" },
    { .name = "steps",
      .kind = QN_OPT_INT,
      .help = "time steps replayed",
      .value = "N",
      .fallback = "24",
      .min = 1,
      .max = 100000 },
    { .name = "samples",
      .kind = QN_OPT_INT,
      .help = "measurements per figure; the median is printed",
      .value = "N",
      .fallback = "5",
      .min = 1,
      .max = 100 },
    { .name = "mirror",
      .kind = QN_OPT_TEXT,
      .help = "repeat the layers of --dsm, down and across, as mirror images",
      .value = "RxC",
      .fallback = "1x1" },
    { .name = "patches",
      .kind = QN_OPT_CHOICE,
      .help = "patches of the sky",
      .value = "145|153|305|609",
      .fallback = "153" },
    QN_SW_OPTION_TILE,
    { .name = "save",
      .kind = QN_OPT_TEXT,
      .help = "old spelling of `quern make town --out DIR`",
      .value = "DIR" },
    { .name = "json", .kind = QN_OPT_FLAG, .help = "print JSON instead of a table" },
    { 0 }
};

static const char *const examples[] = {
    "quern solweig bench --size 128 --relief 30 --steps 2 --samples 1 --backend cpu", NULL
};

/* Number 1 to 4 of the set of patches that --patches names. */
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
                    "spelling will go\n",
                    folder);
        QN_TRY(qn_town_save(out, folder, err));
    }
    QN_TRY(qn_sw_prepare_heights(out, &heights, NULL, err));
out:
    return st;
}

static qn_status city_of(const qn_ctx *ctx, const qn_args *args, qn_sw_surface *out, qn_err *err)
{
    qn_sw_layer_options layers;
    qn_option_store store = { 0 };
    qn_sw_grid grid;
    int down = 1, across = 1;
    qn_status st = QN_OK;

    if (!qn_text(args, "dsm"))
        return make_city(args, out, err);
    QN_TRY(parse_mirror(qn_text(args, "mirror"), &down, &across, err));
    QN_TRY(qn_sw_layers_of(ctx, args, &layers, &store, err));
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
    qn_table table =
        qn_table_begin("SKY", "STAGE", "MS", "MS PER MPIX", "ROWS", "COLS", "RELIEF M", "DEVICE");

    for (int i = 0; i < r->n; i++) {
        qn_table_add(&table, r->lines[i].part);
        qn_table_add(&table, r->lines[i].name);
        qn_table_addf(&table, "%.4f", r->lines[i].ms);
        qn_table_addf(&table, "%.3f", r->lines[i].ms_per_mpix);
        qn_table_addf(&table, "%lld", (long long)r->rows);
        qn_table_addf(&table, "%lld", (long long)r->cols);
        qn_table_addf(&table, "%.1f", r->relief);
        qn_table_add(&table, r->device);
    }
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
    QN_TRY(qn_sw_one_device(ctx, args, err));
    QN_TRY(city_of(ctx, args, &surface, err));
    QN_TRY(qn_sw_bench(ctx, &surface, &bench, &result, err));
    QN_TRY(print_result(args, &result, err));
out:
    qn_sw_surface_free(&surface);
    return st;
}

const qn_command qn_verb_solweig_bench = {
    .name = "bench",
    .summary = "time of view factors, shadows, walls and of the stages of a time step",
    .options = options,
    .notes =
        "Without --dsm a city is generated: blocks of buildings, streets, trees. Data stays on\n"
        "the device, and files are not timed: `svf` marches to all patches and adds up the sums,\n"
        "`step without pet` replays a recorded step --steps times, from midnight on. With\n"
        "--tile N view factors are also computed in tiles, with uploads and copies of results.",
    .examples = examples,
    .run = run,
};

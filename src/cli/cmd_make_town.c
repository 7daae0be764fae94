/* cmd_make_town.c - `quern make town`: generates the layers of a town. */
#include "cli/cli.h"

#include "lab/made/town.h"

static const qn_opt options[] = {
    { 0, "size", QN_OPT_INT, .value = "N", .fallback = "256", .min = 16, .max = 1 << 16,
      .help = "pixels of 1 m along each side" },
    { 0, "relief", QN_OPT_REAL, .value = "M", .fallback = "40", .min = 1, .max = 1000,
      .help = "height of the tallest roof above ground, in metres" },
    { 0, "veg", QN_OPT_CHOICE, .value = "0|1", .fallback = "1", .help = "1: with trees" },
    { 0, "out", QN_OPT_TEXT, .value = "DIR", .fallback = "out",
      .help = "folder for dsm.npy and cdsm.npy" },
    { 0 }
};

static const char *const examples[] = {
    "quern make town --size 128 --relief 30 --out town",
    "quern solweig svf --dsm town/dsm.npy --cdsm town/cdsm.npy --out views --backend cpu", NULL
};

static qn_status run(QN_UNUSED qn_ctx *none, const qn_args *args, qn_err *err)
{
    const qn_made_town made = { .side = qn_int(args, "size"),
                                .relief = qn_real(args, "relief"),
                                .has_trees = qn_text(args, "veg")[0] == '1' };
    const char *folder = qn_text(args, "out");
    qn_sw_surface town = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_town_make(&made, &town, err));
    QN_TRY(qn_town_save(&town, folder, err));
    printf("%s/dsm.npy%s: %lld x %lld pixels of 1 m\n", folder, made.has_trees ? ", cdsm.npy" : "",
           (long long)made.side, (long long)made.side);
    printf("next: quern solweig svf --dsm %s/dsm.npy", folder);
    if (made.has_trees)
        printf(" --cdsm %s/cdsm.npy", folder);
    printf(" --out views\n");
out:
    qn_sw_surface_free(&town);
    return st;
}

const qn_command qn_verb_make_town = {
    .name = "town",
    .summary = "generate a town for solweig: buildings, streets, trees",
    .options = options,
    .notes = "dsm.npy holds heights above sea level, cdsm.npy heights of trees above ground. The\n"
             "same options give the same town everywhere.",
    .examples = examples,
    .bare = 1,
    .run = run,
};

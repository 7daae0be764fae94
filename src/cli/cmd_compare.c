/* cmd_compare.c - `quern compare`: scans of several machines or versions side by side. */
#include "cli/cli.h"

#include "domain/scan/report.h"

static const qn_opt options[] = {
    { 'o', NULL, QN_OPT_TEXT, .value = "PREFIX", .fallback = "out/compare",
      .help = "write PREFIX.md and PREFIX.html" },
    { 0 },
};

static const char *const examples[] = {
    "quern scan --backends cpu,cpu1 --sizes 1000,10000 --samples 5 -o a",
    "quern scan --backends cpu,cpu1 --sizes 1000,20000 --samples 5 -o b",
    "quern compare a.csv b.csv -o ab", NULL
};

static qn_status run(qn_ctx *none, const qn_args *args, qn_err *err)
{
    qn_status st = QN_OK;
    qn_compare compare = { 0 };

    (void)none;
    for (int i = 0; i < args->n_words; i++)
        QN_TRY(qn_cli_input(args->words[i], err));
    QN_TRY(qn_compare_read(args->words, (size_t)args->n_words, &compare, err));
    QN_TRY(qn_compare_save(&compare, qn_text(args, "o"), err));
    QN_TRY(qn_compare_print(&compare, stdout, err));
out:
    qn_compare_free(&compare);
    return st;
}

const qn_command qn_cmd_compare = {
    .name = "compare",
    .summary = "hold scans against each other, size by size",
    .words = "A.csv B.csv...",
    .min_words = 2,
    .max_words = QN_COMPARE_MAX,
    .options = options,
    .notes =
        "The first scan is A; every other one is B. A ratio B / A from 0.95 to 1.05 is a tie.\n"
        "Sizes that one of them lacks are listed, not compared.",
    .examples = examples,
    .bare = 1,
    .run = run,
};

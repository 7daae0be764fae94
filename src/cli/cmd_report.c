/* cmd_report.c - `quern report`: makes one page about any number of runs. */
#include "cli/cli.h"

#include "domain/report/report.h"

static const qn_opt options[] = {
    { 0, "title", QN_OPT_TEXT, .value = "TEXT", .fallback = "quern: what it did here",
      .help = "title of the page" },
    { 'o', NULL, QN_OPT_TEXT, .value = "FILE.html", .fallback = "out/report.html",
      .help = "file of the page" },
    { 0 },
};

static const char *const examples[] = {
    "quern tasks run --scenario Uniform-32k --metrics first/metrics.json",
    "quern report first -o first.html", NULL
};

static qn_status print_summary(const qn_rp_runs *runs, qn_err *err)
{
    qn_table table = qn_rp_summary(runs);

    return qn_cli_print_table(&table, 0, err);
}

/* The page is written even if a comparison failed; the exit code reports it. */
static qn_status judge(const qn_rp_runs *runs, qn_err *err)
{
    size_t n, n_ok;

    qn_rp_count_checks(runs, &n, &n_ok);
    if (n_ok < n)
        return qn_fail(err, QN_ERR_MISMATCH, "%zu of %zu comparisons do not hold", n - n_ok, n);
    return QN_OK;
}

static qn_status run(QN_UNUSED qn_ctx *none, const qn_args *args, qn_err *err)
{
    qn_rp_runs runs = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_rp_read(args->words, (size_t)args->n_words, &runs, err));
    QN_TRY(qn_rp_write(&runs, qn_text(args, "title"), qn_text(args, "o"), err));
    QN_TRY(print_summary(&runs, err));
    QN_TRY(judge(&runs, err));
out:
    qn_rp_free(&runs);
    return st;
}

const qn_command qn_cmd_report = {
    .name = "report",
    .summary = "make one page about runs: results, comparisons, pictures, charts",
    .words = "DIR...",
    .min_words = 1,
    .max_words = QN_RP_MAX_RUNS,
    .options = options,
    .notes =
        "Each DIR holds the files of one run, or one folder per run. The page shows metrics\n"
        "(run commands with --metrics DIR/metrics.json), pictures, figures (*.figures.json, which\n"
        "tools write beside their report pages) and comparisons (`quern compare A B -o "
        "DIR/NAME`).\n"
        "It needs no script and no network. The command prints each run and its comparisons.\n"
        "Exit 4: a comparison does not hold. Exit 6: a folder has nothing to report, or contains\n"
        "a broken file.",
    .examples = examples,
    .bare = 1,
    .run = run,
};

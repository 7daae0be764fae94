/* cmd_les_check.c - `quern les check`: compares with reference arrays, and validates. */
#include "cli/cli.h"

#include "lab/les/check/check.h"
#include "lab/sheet.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static const qn_opt options[] = {
    { 0, "golden", QN_OPT_TEXT, .value = "DIR",
      .help = "folder of reference arrays to compare with" },
    { 0, "precision", QN_OPT_TEXT, .value = "LIST", .fallback = "f64",
      .help = "precisions to compare with --golden: f32, f64 or both" },
    { 0, "json", QN_OPT_FLAG, .help = "print JSON instead of a table" },
    { 0 }
};

static const char *const examples[] = { "quern les check V9 --backend cpu", NULL };

static const qn_les_check *const tables[] = { qn_les_checks, qn_les_codec_checks };

enum { N_TABLES = sizeof tables / sizeof *tables };

static qn_status check_names(const qn_args *args, qn_err *err)
{
    for (int w = 0; w < args->n_words; w++) {
        int is_known = !strcasecmp(args->words[w], "all");

        for (int t = 0; t < N_TABLES; t++)
            for (const qn_les_check *c = tables[t]; c->name; c++)
                is_known |= !strcasecmp(c->name, args->words[w]);
        if (!is_known)
            return qn_fail(err, QN_ERR_USAGE,
                           "unknown check '%s'; the checks are V1 to V16, and all", args->words[w]);
    }
    return QN_OK;
}

static int is_wanted(const qn_args *args, const char *name, int is_long)
{
    for (int w = 0; w < args->n_words; w++)
        if (!strcasecmp(args->words[w], name) || (!is_long && !strcasecmp(args->words[w], "all")))
            return 1;
    return 0;
}

static qn_status run_checks(qn_ctx *ctx, const qn_args *args, qn_findings *findings, qn_err *err)
{
    qn_status st = QN_OK;

    for (int t = 0; t < N_TABLES; t++)
        for (const qn_les_check *c = tables[t]; c->name; c++)
            if (is_wanted(args, c->name, c->is_long))
                QN_TRY(c->run(ctx, findings, err));
    if (is_wanted(args, "V11", 0))
        QN_TRY(qn_les_check_pipeline(ctx, findings, err));
out:
    return st;
}

static qn_status run_golden(qn_ctx *ctx, const qn_args *args, qn_findings *findings, qn_err *err)
{
    qn_status st = QN_OK;
    char word[16];

    for (int i = 0; qn_list_item(qn_text(args, "precision"), i, word, sizeof word); i++) {
        if (strcmp(word, "f32") && strcmp(word, "f64"))
            return qn_fail(err, QN_ERR_USAGE, "--precision: '%s' is neither f32 nor f64", word);
        QN_TRY(
            qn_les_check_golden(ctx, qn_text(args, "golden"), !strcmp(word, "f64"), findings, err));
    }
out:
    return st;
}

static qn_status print(const qn_findings *findings, int is_json, qn_err *err)
{
    static const char *const words[] = {
        [QN_FINDING_OK] = "yes", [QN_FINDING_OUT] = "NO", [QN_FINDING_SKIPPED] = "skipped", NULL
    };
    static const qn_column columns[] = {
        { QN_COLUMN(qn_finding, part, "CHECK", NULL) },
        { QN_COLUMN(qn_finding, name, "WHAT", NULL) },
        { QN_COLUMN(qn_finding, value, "VALUE", NULL, .shown = "%.6g") },
        { QN_COLUMN(qn_finding, low, "FROM", NULL, .shown = "%.6g") },
        { QN_COLUMN(qn_finding, high, "TO", NULL, .shown = "%.6g") },
        { QN_COLUMN(qn_finding, verdict, "OK", NULL, .words = words) },
    };
    qn_table table = qn_sheet_table(&QN_SHEET(columns, findings->list, findings->n));

    return qn_cli_print_table(&table, is_json, err);
}

static const char *title_of(const char *name)
{
    for (int t = 0; t < N_TABLES; t++)
        for (const qn_les_check *c = tables[t]; c->name; c++)
            if (!strcmp(c->name, name))
                return c->title;
    return "reference arrays";
}

static void add_to_metrics(const qn_args *args, const qn_findings *findings)
{
    for (size_t i = 0; i < findings->n; i++) {
        const qn_finding *f = &findings->list[i];

        qn_cli_check(args, (qn_run_check){ .what = f->name,
                                           .against = title_of(f->part),
                                           .n_values = 1,
                                           .n_equal = NAN,
                                           .error = f->value,
                                           .limit = f->high,
                                           .is_ok = f->verdict == QN_FINDING_OK });
    }
}

static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_findings findings = { 0 };
    qn_status st = QN_OK;

    if (!args->n_words && !qn_given(args, "golden"))
        return qn_fail(err, QN_ERR_USAGE, "give --golden DIR, names of checks (V1 to V16), or all");
    QN_TRY(check_names(args, err));
    if (qn_given(args, "golden"))
        QN_TRY(run_golden(ctx, args, &findings, err));
    QN_TRY(run_checks(ctx, args, &findings, err));
    QN_TRY(print(&findings, qn_flag(args, "json"), err));
    qn_cli_summary(args, (double)findings.n, "finding", "findings");
    add_to_metrics(args, &findings);
    QN_TRY(qn_findings_complete(&findings, err));
    QN_TRY(qn_findings_judge(&findings, err));
out:
    qn_findings_free(&findings);
    return st;
}

const qn_command qn_verb_les_check = {
    .name = "check",
    .summary = "compare the solver with reference arrays, analysis and the literature",
    .words = "[V1..V16|all]",
    .max_words = 20,
    .options = options,
    .notes =
        "--golden DIR runs every case <prefix>.json there with its parameters and compares\n"
        "every array <prefix>_<what>.npy, within the limits of docs/les.md. Exit 4: a finding\n"
        "is out of bounds. V15 takes long; `all` leaves it out.",
    .examples = examples,
    .run = run,
};

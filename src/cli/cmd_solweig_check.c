/* cmd_solweig_check.c - `quern solweig check`: compares with reference data and measurements. */
#include "cli/solweig_options.h"

#include "lab/solweig/check/check.h"
#include "lab/sheet.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const qn_opt options[] = {
    { 0, "golden", QN_OPT_TEXT, .value = "DIR",
      .help = "compare with the reference data in this folder" },
    { 0, "stage", QN_OPT_TEXT, .value = "LIST", .fallback = "all",
      .help = "parts to compare: names of --list, or stages, days, all" },
    { 0, "measured", QN_OPT_FLAG,
      .help = "instead compare Tmrt with the measurements in this folder" },
    { 0, "export-npy", QN_OPT_TEXT, .value = "DIR",
      .help = "instead write the layers of the sites as .npy, for machines without GDAL" },
    { 0, "list", QN_OPT_FLAG, .help = "print the names for --stage" },
    { 0, "json", QN_OPT_FLAG, .help = "print JSON instead of a table" },
    { 0 }
};

static const char *const examples[] = { "quern solweig check --list", NULL };

static qn_status print_list(int is_json, qn_err *err)
{
    qn_table table = qn_table_begin("NAME", "KIND", "ABOUT");

    for (const qn_check *c = qn_sw_checks; c->name; c++) {
        if (!c->about)
            continue;
        qn_table_addf(&table, "%s\t%s\t%s", c->name, c->group, c->about);
    }
    return qn_cli_print_table(&table, is_json, err);
}

/* Findings. */

static qn_status print(const qn_findings *findings, int is_json, qn_err *err)
{
    static const qn_column columns[] = {
        { QN_COLUMN(qn_finding, part, "STAGE", NULL) },
        { QN_COLUMN(qn_finding, name, "NAME", NULL) },
        { QN_COLUMN(qn_finding, n, "VALUES", NULL, .hides_zero = 1) },
        { QN_COLUMN(qn_finding, mean, "MEAN_ABS_DIFF", NULL) },
        { QN_COLUMN(qn_finding, value, "MAX_ABS_DIFF", NULL) },
        { QN_COLUMN(qn_finding, equal_pct, "EQUAL_PCT", NULL, .shown = "%.3f") },
        { QN_COLUMN(qn_finding, note, "LIMIT", NULL) },
        { QN_COLUMN(qn_finding, verdict, "VERDICT", NULL, .words = qn_verdict_words) },
    };
    qn_table table = qn_sheet_table(&QN_SHEET(columns, findings->list, findings->n));

    return qn_cli_print_table(&table, is_json, err);
}

/* Measurements. */

static qn_status print_measured(const qn_sw_measured_list *list, int is_json, qn_err *err)
{
    static const qn_column columns[] = {
        { QN_COLUMN(qn_sw_measured, day, "DAY", NULL) },
        { QN_COLUMN(qn_sw_measured, n_hours, "HOURS", NULL) },
        { QN_COLUMN(qn_sw_measured, ours.rmse, "RMSE K", NULL, .shown = "%.3f") },
        { QN_COLUMN(qn_sw_measured, ours.bias, "BIAS K", NULL, .shown = "%+.3f") },
        { QN_COLUMN(qn_sw_measured, ours.correlation, "CORR", NULL, .shown = "%.4f") },
        { QN_COLUMN(qn_sw_measured, reference.rmse, "REFERENCE RMSE K", NULL, .shown = "%.3f") },
        { QN_COLUMN(qn_sw_measured, reference.bias, "REFERENCE BIAS K", NULL, .shown = "%+.3f") },
        { QN_COLUMN(qn_sw_measured, reference.correlation, "REFERENCE CORR", NULL,
                    .shown = "%.4f") },
    };
    qn_table table = qn_sheet_table(&QN_SHEET(columns, list->list, list->n));

    return qn_cli_print_table(&table, is_json, err);
}

/* Must be as good as the reference, whose figures are known to a hundredth of a kelvin. */
static qn_status run_measured(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_sw_measured_list list = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_sw_check_measured(ctx, qn_text(args, "golden"), &list, err));
    QN_TRY(print_measured(&list, qn_flag(args, "json"), err));
    qn_cli_summary(args, (double)list.n, "day", "days");
    for (size_t i = 0; i < list.n && st == QN_OK; i++)
        if (!(list.list[i].ours.rmse <= list.list[i].reference.rmse + 0.01))
            st = qn_fail(err, QN_ERR_MISMATCH, "%s is %.3f K from measurements, the reference %.3f",
                         list.list[i].day, list.list[i].ours.rmse, list.list[i].reference.rmse);
out:
    qn_sw_measured_free(&list);
    return st;
}

/* Layers for other machines. */

static qn_status run_export(const qn_args *args, qn_err *err)
{
    int n_layers = 0;
    const qn_status st =
        qn_sw_check_export(qn_text(args, "golden"), qn_text(args, "export-npy"), &n_layers, err);

    if (st == QN_OK)
        qn_cli_summary(args, n_layers, "layer", "layers");
    return st;
}

/* The verb. */

static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    const char *dir = qn_text(args, "golden"), *list = qn_text(args, "stage");
    qn_findings findings = { 0 };
    char word[32];
    qn_status st = QN_OK;

    if (qn_flag(args, "list"))
        return print_list(qn_flag(args, "json"), err);
    if (!dir)
        return qn_fail(err, QN_ERR_USAGE, "give --golden DIR, a folder with reference data");
    if (qn_text(args, "export-npy"))
        return run_export(args, err);
    if (qn_flag(args, "measured"))
        return run_measured(ctx, args, err);
    if (qn_checks_unknown(qn_sw_checks, list, word))
        return qn_fail(err, QN_ERR_USAGE, "--stage: '%s' is not a stage; --list prints their names",
                       word);
    QN_TRY(qn_sw_check_run(ctx, dir, list, &findings, err));
    QN_TRY(print(&findings, qn_flag(args, "json"), err));
    qn_cli_summary(args, (double)findings.n, "finding", "findings");
    QN_TRY(qn_findings_judge(&findings, err));
out:
    qn_findings_free(&findings);
    return st;
}

const qn_command qn_verb_solweig_check = {
    .name = "check",
    .summary = "compare with reference data, stage by stage and for whole days",
    .options = options,
    .notes =
        "--stage stages compares every stage separately, days whole days. A missing file is a\n"
        "skipped finding. Results are those of --backend. Exit 4: a finding is out of bounds, or\n"
        "a file cannot be read; with --measured, a day is further from measurements than the\n"
        "reference.",
    .examples = examples,
    .run = run,
};

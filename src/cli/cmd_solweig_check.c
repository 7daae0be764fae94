/* cmd_solweig_check.c - `quern solweig check`: reference data, and measurements. */
#include "cli/cmd_solweig.h"
#include "cli/solweig_options.h"

#include "lab/solweig/check/check.h"
#include "util/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const qn_opt options[] = {
    { 0, "golden", QN_OPT_TEXT, .value = "DIR",
      .help = "compare with the reference data of this folder" },
    { 0, "stage", QN_OPT_TEXT, .value = "LIST", .fallback = "all",
      .help = "parts to compare: names of --list, or stages, days, all" },
    { 0, "measured", QN_OPT_FLAG,
      .help = "instead compare Tmrt with measurements on the days of the folder" },
    { 0, "export-npy", QN_OPT_TEXT, .value = "DIR",
      .help = "instead write the layers of the sites as .npy, for machines without GDAL" },
    { 0, "list", QN_OPT_FLAG, .help = "print the names for --stage" },
    { 0, "json", QN_OPT_FLAG, .help = "print JSON instead of a table" },
    { 0 }
};

static const char *const examples[] = { "quern solweig check --list", NULL };

static qn_status check_list(const char *list, qn_err *err)
{
    char word[24];

    do {
        const size_t n = strcspn(list, ",");

        snprintf(word, sizeof word, "%.*s", (int)n, list);
        if (!qn_sw_check_is_name(word))
            return qn_fail(err, QN_ERR_USAGE,
                           "--stage: '%s' is no stage; --list prints their names", word);
        list += n + (list[n] == ',');
    } while (*list);
    return QN_OK;
}

static qn_status print_list(int is_json, qn_err *err)
{
    qn_table table = qn_table_begin("NAME", "KIND", "ABOUT");
    qn_sw_check_info info;

    for (int i = 0; qn_sw_check_at(i, &info); i++) {
        qn_table_add(&table, info.name);
        qn_table_add(&table, info.is_day ? "days" : "stages");
        qn_table_add(&table, info.about);
    }
    return qn_cli_print_table(&table, is_json, err);
}

/* Findings. */

static void add_figures(qn_table *table, const qn_finding *f)
{
    if (!f->n) {
        for (int i = 0; i < 4; i++)
            qn_table_add(table, "-");
        return;
    }
    qn_table_addf(table, "%lld", (long long)f->n);
    qn_table_addf(table, "%.4g", f->mean);
    qn_table_addf(table, "%.4g", f->value);
    qn_table_addf(table, "%.3f", f->equal_pct);
}

static qn_status print(const qn_findings *findings, int is_json, qn_err *err)
{
    qn_table table = qn_table_begin("STAGE", "NAME", "VALUES", "MEAN_ABS_DIFF", "MAX_ABS_DIFF",
                                    "EQUAL_PCT", "LIMIT", "VERDICT");

    for (size_t i = 0; i < findings->n; i++) {
        const qn_finding *f = &findings->list[i];

        qn_table_add(&table, f->part);
        qn_table_add(&table, f->name);
        add_figures(&table, f);
        qn_table_add(&table, f->note);
        qn_table_add(&table, qn_verdict_name(f->verdict));
    }
    return qn_cli_print_table(&table, is_json, err);
}

/* Measurements. */

static qn_status print_measured(const qn_sw_measured_list *list, int is_json, qn_err *err)
{
    qn_table table = qn_table_begin("DAY", "HOURS", "RMSE K", "BIAS K", "CORR", "REFERENCE RMSE K",
                                    "REFERENCE BIAS K", "REFERENCE CORR");

    for (size_t i = 0; i < list->n; i++) {
        const qn_sw_measured *m = &list->list[i];
        const qn_sw_fit *fits[] = { &m->ours, &m->reference };

        qn_table_add(&table, m->day);
        qn_table_addf(&table, "%d", m->n_hours);
        for (int k = 0; k < 2; k++) {
            qn_table_addf(&table, "%.3f", fits[k]->rmse);
            qn_table_addf(&table, "%+.3f", fits[k]->bias);
            qn_table_addf(&table, "%.4f", fits[k]->correlation);
        }
    }
    return qn_cli_print_table(&table, is_json, err);
}

/* As good as the reference: to the hundredth of a kelvin that its figures are known by. */
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
    qn_status st = QN_OK;

    if (qn_flag(args, "list"))
        return print_list(qn_flag(args, "json"), err);
    if (!dir)
        return qn_fail(err, QN_ERR_USAGE, "give --golden DIR, a folder with reference data");
    QN_TRY(qn_sw_one_device(ctx, args, err));
    if (qn_text(args, "export-npy"))
        return run_export(args, err);
    if (qn_flag(args, "measured"))
        return run_measured(ctx, args, err);
    QN_TRY(check_list(list, err));
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
        "--stage stages compares every stage separately, days whole days. An absent file is a\n"
        "skipped finding. Results are those of --backend. Exit 4: a finding is out of bounds, or\n"
        "a file cannot be read; with --measured, a day is further from measurements than the\n"
        "reference.",
    .examples = examples,
    .run = run,
};

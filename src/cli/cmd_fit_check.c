/* cmd_fit_check.c - `quern fit check`: lists the terms of a program, or compares with reference
 * values. */
#include "cli/fit_options.h"

#include "lab/fit/check/check.h"
#include "domain/fit/code/tape.h"
#include "lab/sheet.h"

#include <string.h>

static const qn_opt options[] = {
#define OPTION QN_CLI_OPTION
#define MEMBER QN_CLI_NO_OPTION
#include <quern/options/fit_load.def>
    { 0, "golden", QN_OPT_TEXT, .value = "DIR",
      .help = "compare with the reference data in this folder, instead of checking a program" },
    { 0, "part", QN_OPT_TEXT, .value = "LIST", .fallback = "all",
      .help =
          "parts of --golden to compare: ops, composites, nist, mgh, bal, mesh, examples or all" },
    { 'v', "verbose", QN_OPT_FLAG,
      .help = "with --golden, print every finding instead of one line per part" },
    { 0, "json", QN_OPT_FLAG, .help = "print JSON with every finding or term, instead of a table" },
    { 0 }
};

static const char *const examples[] = { "quern fit new mesh >ball.fit", "quern fit check ball.fit",
                                        NULL };

/* A program. */

static qn_status add_group(qn_table *table, const qn_fit_group *g, qn_err *err)
{
    const unsigned wants = g->is_energy ? QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_GRAD)
                                        : QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_JAC);
    qn_fit_tape *value = NULL, *whole = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_tape_new(g->graph, QN_FIT_WANT(QN_FIT_RES), g->loss, QN_FIT_SWEEP_AUTO, &value,
                           err));
    QN_TRY(qn_fit_tape_new(g->graph, wants, g->loss, QN_FIT_SWEEP_AUTO, &whole, err));
    qn_table_addf(table, "%s\t%s\t%lld\t%d\t%d\t%d\t%d\t%d\t%d", g->name,
                  g->is_energy ? "energy" : "residual", (long long)g->n, g->n_rows,
                  whole->n_variables, g->n_columns, value->n_ops, whole->n_ops, whole->peak_live);
out:
    qn_fit_tape_free(value);
    qn_fit_tape_free(whole);
    return st;
}

static qn_status check_program(const qn_args *args, qn_err *err)
{
    qn_table table = qn_table_begin("TERM", "KIND", "INSTANCES", "ROWS", "VARIABLES", "COLUMNS",
                                    "OPS", "OPS WITH DERIVATIVES", "ALIVE AT ONCE");
    const int is_json = qn_flag(args, "json");
    qn_fit_text *text = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_cli_fit_text(args, &text, err));
    for (int k = 0; k < text->problem->n_groups; k++)
        QN_TRY(add_group(&table, &text->problem->groups[k], err));
    for (int k = 0; k < text->n_solves; k++) {
        qn_fit_solve_options o;

        QN_TRY(qn_fit_solve_options_of(&text->solves[k], &o, err));
    }
    if (!is_json)
        printf("%s: %u parameters, %u of them free; %lld rows of residuals\n", args->words[0],
               text->problem->n_scalars - (uint32_t)text->problem->n_sums, text->problem->n_free,
               (long long)qn_fit_problem_n_rows(text->problem));
    QN_TRY(qn_cli_print_table(&table, is_json, err));
    table = (qn_table){ 0 };
out:
    qn_table_free(&table);
    qn_fit_text_free(text);
    return st;
}

/* Reference values. */

static qn_status print_findings(const qn_findings *findings, int is_all, int is_json, qn_err *err)
{
    static const qn_column columns[] = {
        { QN_COLUMN(qn_finding, part, "PART", NULL) },
        { QN_COLUMN(qn_finding, name, "WHAT", NULL) },
        { QN_COLUMN(qn_finding, n, "VALUES", NULL, .hides_zero = 1) },
        { QN_COLUMN(qn_finding, value, "FOUND", NULL, .shown = "%.3g") },
        { QN_COLUMN(qn_finding, high, "LIMIT", NULL, .shown = "%.3g") },
        { QN_COLUMN(qn_finding, verdict, "VERDICT", NULL, .words = qn_verdict_words) },
    };
    qn_findings shown = { 0 };
    qn_status st = QN_OK;
    qn_table table;

    for (size_t k = 0; k < findings->n; k++)
        if (is_all || findings->list[k].verdict != QN_FINDING_OK)
            qn_findings_add(&shown, &findings->list[k]);
    QN_TRY(qn_findings_complete(&shown, err));
    table = qn_sheet_table(&QN_SHEET(columns, shown.list, shown.n));
    if (shown.n || is_json)
        st = qn_cli_print_table(&table, is_json, err);
    else
        qn_table_free(&table);
out:
    qn_findings_free(&shown);
    return st;
}

static void print_parts(const qn_findings *findings)
{
    for (const qn_check *part = qn_fit_checks; part->name; part++) {
        size_t n = 0, out = 0, skipped = 0;
        qn_i64 values = 0;

        for (size_t k = 0; k < findings->n; k++) {
            const qn_finding *f = &findings->list[k];

            if (strcmp(f->part, part->name))
                continue;
            n++;
            values += f->n;
            out += f->verdict == QN_FINDING_OUT;
            skipped += f->verdict == QN_FINDING_SKIPPED;
        }
        if (n && part->about)
            printf("%-10s  %zu findings of %lld values: %zu ok, %zu out of bounds, %zu skipped\n",
                   part->name, n, (long long)values, n - out - skipped, out, skipped);
    }
}

static qn_status check_golden(const qn_args *args, qn_err *err)
{
    const int is_json = qn_flag(args, "json");
    qn_findings findings = { 0 };
    qn_ctx *ctx = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_cli_open(args, &ctx, err));
    QN_TRY(
        qn_fit_check_golden(ctx, qn_text(args, "golden"), qn_text(args, "part"), &findings, err));
    QN_TRY(print_findings(&findings, is_json || qn_flag(args, "verbose"), is_json, err));
    if (!is_json)
        print_parts(&findings);
    qn_cli_summary(args, (double)findings.n, "finding", "findings");
    QN_TRY(qn_findings_judge(&findings, err));
out:
    st = qn_cli_close(args, ctx, st, err);
    qn_findings_free(&findings);
    return st;
}

static qn_status run(QN_UNUSED qn_ctx *none, const qn_args *args, qn_err *err)
{
    if (qn_given(args, "golden") && args->n_words)
        return qn_fail(err, QN_ERR_USAGE, "give a program or --golden DIR, not both");
    if (qn_given(args, "golden"))
        return check_golden(args, err);
    if (!args->n_words)
        return qn_fail(err, QN_ERR_USAGE, "give a program, or --golden DIR");
    return check_program(args, err);
}

const qn_command qn_verb_fit_check = {
    .name = "check",
    .summary = "list the terms of a program, or compare with reference values",
    .words = "[FILE.fit]",
    .max_words = 1,
    .options = options,
    .notes =
        "With a program: lists its terms and their numbers of operations. Faults of the program\n"
        "are listed with their lines, exit 6. With --golden: values and derivatives on the device\n"
        "of --backend, solves by dense and sparse factorisations on the CPU. Exit 4: a finding is\n"
        "out of bounds.",
    .examples = examples,
    .bare = 1,
    .run = run,
};

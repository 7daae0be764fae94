/* cmd_arc_check.c - `quern arc check`: tests the primitives with golden cases. */
#include "cli/arc_options.h"

#include "lab/arc/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const qn_opt options[] = {
    { 0, "cases", QN_OPT_TEXT, .value = "FILE[,FILE]",
      .help = "cases, each with an operation, its arguments and its result" },
#define OPTION QN_CLI_OPTION
#define MEMBER QN_CLI_NO_OPTION
#include <quern/options/arc.def>
    { 0 }
};

static const char *const examples[] = {
    "echo "
    "'{\"format\":\"quern-arc-cases-1\",\"cases\":[{\"op\":\"add\",\"args\":[1,2],\"out\":3}]}' "
    ">cases.json",
    "quern arc check --cases cases.json", NULL
};

static qn_status check_file(qn_ctx *ctx, const qn_arc_session_options *o, const char *path,
                            qn_arc_check *total, qn_err *err)
{
    qn_arc_session *session = NULL;
    qn_arc_check report = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_cli_input(path, err));
    QN_TRY(qn_arc_session_new(ctx, o, &session, err));
    QN_TRY(qn_arc_check_cases(session, path, &report, err));
    for (size_t i = 0; i < report.failures.n; i++)
        printf("%s%s\n", report.failures.list[i].name, report.failures.list[i].note);
    printf("%s: %" PRIu64 " of %" PRIu64 " cases pass on %s, %" PRIu64
           " of them moved to the CPU\n",
           path, report.passed, report.n, qn_arc_session_device(session), report.on_cpu);
    total->n += report.n;
    total->passed += report.passed;
out:
    qn_arc_check_free(&report);
    qn_arc_session_free(session);
    return st;
}

/* Checks every file in the list, then every word. */
static qn_status check_all(qn_ctx *ctx, const qn_arc_session_options *o, const qn_args *args,
                           qn_arc_check *total, qn_err *err)
{
    char *list = strdup(qn_text(args, "cases"));
    qn_status st = QN_OK;

    if (!list)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for names of files");
    for (char *at = list, *next; at; at = next) {
        if ((next = strchr(at, ',')))
            *next++ = '\0';
        QN_TRY(check_file(ctx, o, at, total, err));
    }
    for (int w = 0; w < args->n_words; w++)
        QN_TRY(check_file(ctx, o, args->words[w], total, err));
out:
    free(list);
    return st;
}

static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_arc_session_options o;
    qn_option_store store = { 0 };
    qn_arc_check total = { 0 };
    qn_status st = QN_OK;

    if (!qn_given(args, "cases"))
        return qn_fail(err, QN_ERR_USAGE, "--cases FILE is needed");
    QN_TRY(qn_arc_cli_session(args, &o, &store, err));
    QN_TRY(check_all(ctx, &o, args, &total, err));
    qn_cli_summary(args, (double)total.n, "case", "cases");
    if (total.passed != total.n)
        st = qn_fail(err, QN_ERR_MISMATCH, "%" PRIu64 " of %" PRIu64 " cases fail",
                     total.n - total.passed, total.n);
out:
    qn_option_store_free(&store);
    return st;
}

const qn_command qn_verb_arc_check = {
    .name = "check",
    .summary = "compare primitives with golden cases",
    .words = "[FILE...]",
    .max_words = 16,
    .options = options,
    .notes = "Each case runs as a program of one statement through parser, compiler and virtual\n"
             "machine. Exit 4: a case fails; the first ones are printed.",
    .examples = examples,
    .run = run,
};

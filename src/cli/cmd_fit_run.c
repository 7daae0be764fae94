/* cmd_fit_run.c - `quern fit run`: solves a program, writes its results and reports. */
#include "cli/cmd_fit.h"
#include "cli/fit_options.h"

#include <signal.h>
#include <string.h>

static const qn_opt options[] = {
#define OPTION QN_CLI_OPTION
#define MEMBER QN_CLI_NO_OPTION
#include <quern/options/fit.def>
    { 0, "out", QN_OPT_TEXT, .value = "DIR", .fallback = "out",
      .help = "folder for the files that the program writes" },
    { 0 }
};

static const char *const examples[] = { "quern fit new nist >curve.fit",
                                        "quern fit run curve.fit --report curve.html", NULL };

/* Interrupts. */

static volatile sig_atomic_t was_interrupted;

/* A second interrupt ends the process as usual. */
static void note_interrupt(int number)
{
    was_interrupted = 1;
    signal(number, SIG_DFL);
}

static int is_stopped(void)
{
    return was_interrupted;
}

/* Files. */

/* One line with the files that were written, if there are any. */
static void print_files(const qn_fit_text *text, const qn_fit_options *o)
{
    qn_str line = { 0 };

    for (int k = 0; k < text->n_writes; k++)
        qn_str_addf(&line, ", %s%s%s", text->writes[k].file[0] == '/' ? "" : o->out,
                    text->writes[k].file[0] == '/' ? "" : "/", text->writes[k].file);
    for (size_t k = 0; k < o->n_report; k++)
        qn_str_addf(&line, ", %s", o->report[k]);
    if (o->stats[0])
        qn_str_addf(&line, ", %s", o->stats);
    if (o->picture[0])
        qn_str_addf(&line, ", %s", o->picture);
    if (line.len)
        printf("files: %s\n", qn_str_get(&line) + 2);
    qn_str_free(&line);
}

static double iterations_of(const qn_fit_result *result)
{
    double n = 0;

    for (int k = 0; k < result->n_solves; k++)
        n += result->solves[k].report.n_accepted + result->solves[k].report.n_rejected;
    return n;
}

/* Every solve block has to converge, since the next starts from its result. */
static qn_status judge(const qn_fit_result *result, qn_err *err)
{
    for (int k = 0; k < result->n_solves; k++) {
        const qn_fit_report *r = &result->solves[k].report;

        if (!qn_fit_end_is_converged(r->end))
            return qn_fail(err, QN_ERR_FAILED, "not converged: %s: %s", qn_fit_end_name(r->end),
                           r->text);
    }
    return QN_OK;
}

static qn_status run(qn_ctx *none, const qn_args *args, qn_err *err)
{
    qn_fit_watch watch = { .is_stopped = is_stopped };
    qn_option_store store = { 0 };
    qn_fit_options o;
    qn_fit_text *text = NULL;
    qn_fit_result result = { 0 };
    qn_str line = { 0 }, summary = { 0 };
    qn_ctx *ctx = NULL;
    qn_status st = QN_OK;

    (void)none;
    QN_TRY(qn_cli_fit_options(args, &o, &store, err));
    qn_cli_line(args, &line);
    o.command = qn_str_get(&line);
    o.out = qn_text(args, "out");
    QN_TRY(qn_cli_progress(args, &watch.progress.mode, err));
    QN_TRY(qn_cli_fit_load(&o, &text, err));
    QN_TRY(qn_fit_check_files(text, &o, err));
    QN_TRY(qn_cli_open(args, &ctx, err));
    if (signal(SIGINT, note_interrupt) == SIG_IGN) /* as in the background of a script */
        signal(SIGINT, SIG_IGN);
    QN_TRY(qn_fit_run(ctx, text, &o, &watch, &result, err));
    QN_TRY(qn_fit_write_files(ctx, text, &result, &o, err));
    qn_fit_print_summary(text, &result, qn_fit_base_name(&o), &summary);
    fputs(qn_str_get(&summary), stdout);
    print_files(text, &o);
    /* A solve in host memory has nothing to say about devices. */
    if (strncmp(result.solves[result.n_solves - 1].device, "cpu", 3))
        qn_cli_summary(args, iterations_of(&result), "iteration", "iterations");
    QN_TRY(judge(&result, err));
out:
    st = qn_cli_close(args, ctx, st, err);
    qn_str_free(&line);
    qn_str_free(&summary);
    qn_fit_result_free(&result);
    qn_fit_text_free(text);
    qn_option_store_free(&store);
    return st;
}

const qn_command qn_verb_fit_run = {
    .name = "run",
    .summary = "solve a program and write its results",
    .words = "FILE.fit",
    .min_words = 1,
    .max_words = 1,
    .options = options,
    .notes =
        "Prints how the solve ended, its cost, and the parameters with their standard deviations.\n"
        "If the device lacks the linear solver, the CPU solves the program, and a line says so.\n"
        "An interrupt ends the solve after the current iteration. Exit 0: converged. Exit 1: not\n"
        "converged, but all files are written; or a file cannot be written, which is checked "
        "before\n"
        "the solve. Exit 6: the program or its data are wrong; each fault is listed with its line.",
    .examples = examples,
    .bare = 1,
    .run = run,
};

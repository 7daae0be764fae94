/* cmd_fit_run.c - `quern fit run`: a program solved, its results and reports written. */
#include "cli/cmd_fit.h"
#include "cli/fit_options.h"

#include "domain/fit/show/show.h"

#include <signal.h>
#include <string.h>

static const char *check_report(const char *value)
{
    const size_t n = strlen(value);

    return (n > 5 && !strcmp(value + n - 5, ".json")) || (n > 5 && !strcmp(value + n - 5, ".html"))
               ? NULL
               : "does not end in .json or .html";
}

static const qn_opt options[] = {
    QN_FIT_OPTIONS_LOAD,
    { 0, "covariance", QN_OPT_FLAG,
      .help = "standard deviations also of 201 to 2000 free parameters" },
    QN_FIT_OPTION_PRECISION,
    { 0, "out", QN_OPT_TEXT, .value = "DIR", .fallback = "out",
      .help = "folder of the results that the program writes" },
    { 0, "report", QN_OPT_TEXT, .value = "FILE", .is_list = 1, .check = check_report,
      .help = "write FILE.json, or FILE.html with charts; may be given again" },
    { 0, "stats", QN_OPT_TEXT, .value = "FILE.json",
      .help = "write operations of each term, kernels, copies, fallbacks" },
    { 0, "picture", QN_OPT_TEXT, .value = "FILE.png",
      .help = "draw the program's mesh before and after" },
    { 0 }
};

static const char *const examples[] = { "quern fit new nist >curve.fit",
                                        "quern fit run curve.fit --report curve.html", NULL };

enum { PICTURE_SIDE = 600 };

/* The end by hand. */

static volatile sig_atomic_t was_interrupted;

/* The second interrupt ends the process, as it would without this. */
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

/* What cannot be written is told before anything is computed. */
static qn_status check_files(const qn_args *args, const qn_fit_text *text, qn_err *err)
{
    qn_fit_mesh mesh;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_check_results(text, qn_text(args, "out"), err));
    for (int k = 0; qn_list(args, "report", k); k++)
        QN_TRY(qn_fit_check_file(qn_list(args, "report", k), err));
    if (qn_text(args, "stats"))
        QN_TRY(qn_fit_check_file(qn_text(args, "stats"), err));
    if (!qn_text(args, "picture"))
        goto out;
    QN_TRY(qn_fit_check_file(qn_text(args, "picture"), err));
    if (qn_fit_mesh_set(text, &mesh) < 0)
        st =
            qn_fail(err, QN_ERR_USAGE, "--picture: %s moves no vertices of a mesh", args->words[0]);
out:
    return st;
}

static qn_status draw(const char *path, const qn_fit_text *text, const qn_fit_result *result,
                      qn_err *err)
{
    qn_fit_mesh mesh;
    const uint32_t first = text->problem->sets[qn_fit_mesh_set(text, &mesh)].first;

    mesh.pos = text->problem->x + first;
    return qn_fit_show_mesh(path, &mesh, result->start + first, PICTURE_SIDE, err);
}

static qn_status write_files(qn_ctx *ctx, const qn_args *args, const qn_fit_text *text,
                             const qn_fit_result *result, qn_err *err)
{
    qn_str line = { 0 };
    qn_status st = QN_OK;

    qn_cli_line(args, &line);
    const qn_fit_report_names names = { qn_fit_base_name(args->words[0]), qn_str_get(&line) };

    QN_TRY(qn_fit_write_results(text, qn_text(args, "out"), err));
    for (int k = 0; qn_list(args, "report", k); k++)
        QN_TRY(qn_fit_write_report(ctx, qn_list(args, "report", k), text, result, names, err));
    if (qn_text(args, "stats"))
        QN_TRY(qn_fit_write_stats(ctx, qn_text(args, "stats"), text, result, err));
    if (qn_text(args, "picture"))
        QN_TRY(draw(qn_text(args, "picture"), text, result, err));
out:
    qn_str_free(&line);
    return st;
}

/* What write_files wrote, in one line; nothing where it wrote nothing. */
static void print_files(const qn_args *args, const qn_fit_text *text)
{
    static const char *const names[] = { "stats", "picture" };
    qn_str line = { 0 };

    for (int k = 0; k < text->n_writes; k++)
        qn_str_addf(&line, ", %s%s%s", text->writes[k].file[0] == '/' ? "" : qn_text(args, "out"),
                    text->writes[k].file[0] == '/' ? "" : "/", text->writes[k].file);
    for (int k = 0; qn_list(args, "report", k); k++)
        qn_str_addf(&line, ", %s", qn_list(args, "report", k));
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (qn_text(args, names[k]))
            qn_str_addf(&line, ", %s", qn_text(args, names[k]));
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

/* Every solve block has to converge: one that did not leaves the next a bad start. */
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
    qn_fit_run_options o = { .precision = strcmp(qn_text(args, "precision"), "f32") ? QN_FIT_F64
                                                                                    : QN_FIT_F32,
                             .n_threads = args->global.engine.threads,
                             .is_covariance = qn_flag(args, "covariance"),
                             .is_stopped = is_stopped };
    qn_fit_text *text = NULL;
    qn_fit_result result = { 0 };
    qn_str summary = { 0 };
    qn_ctx *ctx = NULL;
    qn_status st = QN_OK;

    (void)none;
    QN_TRY(qn_cli_progress(args, &o.watch.mode, err));
    QN_TRY(qn_fit_text_of(args, &text, err));
    QN_TRY(check_files(args, text, err));
    QN_TRY(qn_cli_open(args, &ctx, err));
    if (signal(SIGINT, note_interrupt) == SIG_IGN) /* as in the background of a script */
        signal(SIGINT, SIG_IGN);
    QN_TRY(qn_fit_run(ctx, text, &o, &result, err));
    QN_TRY(write_files(ctx, args, text, &result, err));
    qn_fit_print_summary(text, &result, qn_fit_base_name(args->words[0]), &summary);
    fputs(qn_str_get(&summary), stdout);
    print_files(args, text);
    /* A solve in host memory leaves nothing to say about devices. */
    if (strncmp(result.solves[result.n_solves - 1].device, "cpu", 3))
        qn_cli_summary(args, iterations_of(&result), "iteration", "iterations");
    QN_TRY(judge(&result, err));
out:
    st = qn_cli_close(args, ctx, st, err);
    qn_str_free(&summary);
    qn_fit_result_free(&result);
    qn_fit_text_free(text);
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
        "Prints how the solve ended, its cost, and parameters with their standard deviations.\n"
        "A solve whose linear solver a device does not have is done on the CPU, with a line that\n"
        "says so. An interrupt ends the solve after its iteration. Exit 0: converged. Exit 1: not\n"
        "converged, with all files written; or a file cannot be written, which is told before the\n"
        "solve. Exit 6: the program or its data are wrong; every fault is told with its place.",
    .examples = examples,
    .bare = 1,
    .run = run,
};

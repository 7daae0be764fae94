/* cmd_fit_run.c - `quern fit run`: solves a program, writes its results and reports. */
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

/* Progress. */

typedef struct {
    qn_progress_options how;
    qn_progress *bar; /* of the current solve */
    int is_shown;
    double n_iterations; /* of all solves */
} watch;

static void end_bar(watch *w, int is_done)
{
    if (is_done && w->is_shown)
        qn_progress_done(w->bar);
    qn_progress_free(w->bar);
    w->bar = NULL;
    w->is_shown = 0;
}

/* Each solve has a bar, shown after one second. */
static int watch_iteration(void *user, const qn_fit_progress *p)
{
    watch *w = user;
    qn_err ignored;

    w->n_iterations++;
    if (p->iteration == 1) {
        end_bar(w, 1);
        qn_progress_new(&w->how, p->solver, "iterations", p->max_iterations, &w->bar, &ignored);
    }
    w->is_shown |= p->seconds > 1;
    if (w->is_shown)
        qn_progress_at(w->bar, p->iteration);
    return was_interrupted;
}

static qn_status solve(qn_ctx *ctx, const qn_fit_options *o, qn_fit_solution **out, qn_err *err)
{
    char *faults = NULL;
    const qn_status st = qn_fit_solve_file(ctx, o->name, o, out, &faults, err);

    if (faults)
        fputs(faults, stderr);
    qn_fit_faults_free(faults);
    return st;
}

static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    watch w = { .bar = NULL };
    const qn_fit_callback callback = { watch_iteration, &w };
    qn_option_store store = { 0 };
    qn_fit_options o;
    qn_fit_solution *solution = NULL;
    qn_fit_ending end;
    qn_str line = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_cli_fit_options(args, &o, &store, err));
    QN_TRY(qn_cli_input(o.name, err));
    QN_TRY(qn_cli_progress(args, &w.how.mode, err));
    QN_TRY(qn_cli_line(args, &line, err));
    o.command = qn_str_get(&line);
    o.out = qn_text(args, "out");
    o.callbacks = &callback;
    o.n_callbacks = 1;
    if (signal(SIGINT, note_interrupt) == SIG_IGN) /* as for background jobs of a script */
        signal(SIGINT, SIG_IGN);
    QN_TRY(solve(ctx, &o, &solution, err));
    end_bar(&w, qn_fit_solution_is_converged(solution));
    fputs(qn_fit_solution_summary(solution), stdout);
    qn_fit_solution_ending(solution, &end);
    /* The summary is about devices, which a solve in host memory does not use. */
    if (strncmp(end.device, "cpu", 3))
        qn_cli_summary(args, w.n_iterations, "iteration", "iterations");
    if (!qn_fit_solution_is_converged(solution))
        st = qn_fail(err, QN_ERR_FAILED, "not converged: %s: %s", end.status, end.text);
out:
    end_bar(&w, 0);
    qn_fit_solution_free(solution);
    qn_str_free(&line);
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
    .run = run,
};

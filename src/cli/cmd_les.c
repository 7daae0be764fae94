/* cmd_les.c - `quern les`: the verbs, and `run`. */

#include "cli/options.h"
#include "util/table.h"

#include <quern/les.h>

#include <string.h>

static const char *const run_examples[] = {
    "quern les run --n 32 --steps 40 --stride 10 --observer snapshots --out flow "
    "--backend cpu",
    "quern les run --n 32 --steps 40 --stride 10 --kernel-only flow --out again "
    "--backend cpu",
    NULL
};

static const qn_opt run_options[] = { QN_CLI_OPTION_CONFIG,
#define OPTION QN_CLI_OPTION
#define MEMBER QN_CLI_NO_OPTION
#include <quern/options/les.def>
                                      { 0, "out", QN_OPT_TEXT, .value = "DIR", .fallback = "out",
                                        .help = "folder for the results" },
                                      { 0 } };

/* Checks the folder of --kernel-only before anything is computed. */
static qn_status check_folder(const qn_les_options *config, qn_err *err)
{
    char path[QN_OPTION_TEXT_BYTES + 8];

    snprintf(path, sizeof path, "%s/A.npy", config->kernel_only);
    return config->kernel_only[0] ? qn_cli_input(path, err) : QN_OK;
}

static qn_status print_errors(const qn_les_result *result, qn_err *err)
{
    qn_table table = qn_table_begin("STEP", "WINDOW", "LOW-PASS ERROR", "CORR", "DECODED ERROR",
                                    "CORR ", "ENERGY %", "ENSTROPHY %", "PERSISTENCE");
    qn_les_comparison c;

    for (int i = 0; qn_les_result_comparison(result, i, &c); i++)
        qn_table_addf(&table, "%d\t%s\t%.4f\t%.4f\t%.4f\t%.4f\t%+.2f\t%+.2f\t%.4f", c.step,
                      c.window, c.lowpass_error, c.lowpass_correlation, c.error, c.correlation,
                      100 * c.energy_drift, 100 * c.enstrophy_drift, c.persistence);
    return qn_cli_print_table(&table, 0, err);
}

static qn_status print_result(const qn_les_options *options, const qn_les_result *result,
                              qn_err *err)
{
    qn_les_comparison first;
    qn_les_summary run;
    qn_status st = QN_OK;

    qn_les_result_summary(result, &run);
    if (run.was_finished) {
        printf("the run in %s has already finished: nothing to do\n", options->out);
        return QN_OK;
    }
    if (run.n_steps)
        printf("%lld steps of %d x %d%s on %s: %.4f ms per step, time %g\n", (long long)run.n_steps,
               options->N, options->N, options->precision == QN_LES_F64 ? " (f64)" : "", run.device,
               1e3 * run.step_s, run.time);
    if (qn_les_result_comparison(result, 0, &first))
        QN_TRY(print_errors(result, err));
    printf("files: %s/les_*%s\n", options->out,
           options->observer != QN_LES_OBSERVE_NONE && run.n_steps ? ", report.html, report.md"
                                                                   : "");
out:
    return st;
}

/* Sets options that are not in the list: progress, the command line, and the default of --out. */
static qn_status add_frame(const qn_args *args, const char *line, qn_les_options *options,
                           qn_err *err)
{
    qn_progress_mode mode;
    qn_status st = QN_OK;

    QN_TRY(qn_cli_progress(args, &mode, err));
    options->progress = mode == QN_PROGRESS_ON     ? QN_LES_PROGRESS_ON
                        : mode == QN_PROGRESS_AUTO ? QN_LES_PROGRESS_AUTO
                                                   : QN_LES_PROGRESS_OFF;
    options->hold = QN_LES_HOLD_TABLES;
    options->command = line;
    if (!options->out[0])
        options->out = qn_text(args, "out");
out:
    return st;
}

/* Opens the device of --backend, or of the file of --config. */
static qn_status open_device(const qn_args *args, const char *backend, qn_ctx **out, qn_err *err)
{
    qn_args local = *args;

    if (!qn_given(args, "backend") && strcmp(backend, "auto"))
        local.global.engine.backend = backend;
    return qn_cli_open(&local, out, err);
}

static qn_status run(QN_UNUSED qn_ctx *none, const qn_args *args, qn_err *err)
{
    qn_les_options options;
    qn_option_store store = { 0 };
    qn_les_result *result = NULL;
    qn_ctx *ctx = NULL;
    qn_str line = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_cli_line(args, &line, err));
    QN_TRY(qn_cli_options(args, qn_les_option_table(), &options, &store, err));
    QN_TRY(add_frame(args, qn_str_get(&line), &options, err));
    QN_TRY(check_folder(&options, err));
    QN_TRY(open_device(args, options.backend, &ctx, err));
    QN_TRY(qn_les_run(ctx, &options, &result, err));
    QN_TRY(print_result(&options, result, err));
    qn_cli_summary(args, (double)options.steps, "step", "steps");
out:
    st = qn_cli_close(args, ctx, st, err);
    qn_les_result_free(result);
    qn_option_store_free(&store);
    qn_str_free(&line);
    return st;
}

const qn_command qn_verb_les_run = {
    .name = "run",
    .summary = "simulate a flow, encode it, learn from it, and compare the forecast",
    .options = run_options,
    .notes =
        "The defaults shown are those of --profile quern; --profile origin has its own\n"
        "(docs/les.md).\n"
        "Files in --out: les_metrics.json, les_series.csv and les_spectrum.csv; with --observer\n"
        "snapshots also fields (.npy), pictures (.png) and a film; report.html and report.md;\n"
        "z.npy, A.npy, mu.npy, scale.npy and anchors.npy for --kernel-only.\n"
        "Exit 1: the flow became NaN or infinite. Exit 2: the time step is unstable; the message\n"
        "names the largest stable one. --resume continues from the last checkpoint in --out,\n"
        "and gives the files of an uninterrupted run, byte for byte.",
    .examples = run_examples,
    .bare = 1,
    .run = run,
};

static const qn_command *const verbs[] = { &qn_verb_les_run, &qn_verb_les_bench, &qn_verb_les_check,
                                           NULL };

const qn_command qn_cmd_les = {
    .name = "les",
    .summary = "2-D turbulence, with an optional learned surrogate",
    .one_device = 1,
    .verbs = verbs,
};

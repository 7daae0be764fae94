/* cmd_tasks.c - `quern tasks`: the verbs, and `run`. */
#include "cli/cmd_tasks.h"

#include "domain/tasks/batch.h"
#include "util/file.h"
#include "util/stats.h"
#include "util/table.h"

#include <string.h>

qn_status qn_tasks_options_of(const qn_args *args, qn_tasks_options *out, qn_err *err)
{
    qn_option_store store = { 0 };
    qn_status st;

    st = qn_cli_options(args, qn_tasks_option_table(), out, &store, err);
    out->devices = args->global.devices ? args->global.devices : "";
    qn_option_store_free(&store); /* it owned only the list of devices */
    return st;
}

/* The options for batches that several devices share. */
static qn_status shared_options_of(const qn_args *args, qn_tasks_options *out, qn_err *err)
{
    const qn_status st = qn_tasks_options_of(args, out, err);

    if (st == QN_OK && out->split == QN_TASKS_SPLIT_NONE)
        out->split = QN_TASKS_SPLIT_DYNAMIC;
    return st;
}

qn_split_options qn_tasks_split_of(const qn_args *args)
{
    qn_split_options split =
        QN_SPLIT_OPTIONS(.devices = args->global.devices, .depth = args->global.pipeline);

    qn_split_mode_find(args->global.split, &split.mode);
    return split;
}

qn_status qn_tasks_pick(const char *name, int *first, int *end, qn_err *err)
{
    const int n = qn_scenario_count();
    const char *names[16] = { "all" };
    const char *close;

    *first = 0;
    *end = n;
    if (!strcmp(name, "all"))
        return QN_OK;
    for (int i = 0; i < n; i++) {
        names[i + 1] = qn_scenario_at(i)->name;
        if (qn_scenario_at(i) == qn_scenario_find(name)) {
            *first = i;
            *end = i + 1;
            return QN_OK;
        }
    }
    if ((close = qn_closest(name, names)))
        return qn_fail(err, QN_ERR_USAGE, "unknown scenario '%s'; did you mean %s?", name, close);
    return qn_fail(err, QN_ERR_USAGE,
                   "unknown scenario '%s'; there are: all, Uniform-32k, Uniform-64k, "
                   "Mixed-Same-Bucket, Mixed-Adjacent-Buckets, Mixed-Diverse, Large-Uniform, "
                   "Large-Mixed",
                   name);
}

/* Run. */

static const qn_opt run_options[] = {
    { 0, "scenario", QN_OPT_TEXT, .value = "NAME",
      .help = "run a built-in batch instead of a file, or all of them" },
    { 0, "op", QN_OPT_TEXT, .value = "OP", .fallback = "vadd",
      .help = "op that the scenarios run" },
    { 0, "arg", QN_OPT_TEXT, .value = "ARG", .help = "argument of --op" },
    { 0, "no-verify", QN_OPT_FLAG, .help = "do not check results on the host" },
#define OPTION QN_CLI_OPTION
#define MEMBER QN_CLI_NO_OPTION
#include <quern/options/tasks.def>
    { 'o', NULL, QN_OPT_TEXT, .value = "RESULT.csv",
      .help = "file for the results of a batch file (default: stdout)" },
    { 0 }
};

static const char *const run_examples[] = {
    "printf 'id,op,n,seed,arg\\n1,vadd,20000,7,\\n2,merkle,1024,9,\\n' > batch.csv",
    "quern tasks run batch.csv -o result.csv",
    "quern tasks run --scenario Mixed-Diverse --op saxpy", NULL
};

/* Counts verified results: all were equal, since the first difference ends a run. */
static void add_verified(const qn_args *args, int n)
{
    if (!qn_flag(args, "no-verify"))
        qn_cli_check_equal(args, "results", "a plain computation on the host", n, n);
}

static qn_status run_batch(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_tasks_options options;
    const char *path = qn_text(args, "o");
    qn_tasks *tasks = NULL;
    qn_batch batch = { .n = 0 };
    qn_out out = { 0 };
    qn_err wrong = { .status = QN_OK };
    qn_status st = QN_OK;

    QN_TRY(shared_options_of(args, &options, err));
    QN_TRY(qn_cli_input(args->words[0], err));
    QN_TRY(qn_batch_read(args->words[0], &options, &batch, err));
    if (path) /* fail before any work is done */
        QN_TRY(qn_out_open(path, &out, err));
    QN_TRY(qn_tasks_new(ctx, &options, &tasks, err));
    QN_TRY(qn_tasks_run(tasks, batch.tasks, batch.n, err));
    if (!qn_flag(args, "no-verify"))
        qn_tasks_verify(tasks, &wrong);
    if (wrong.status != QN_OK && wrong.status != QN_ERR_MISMATCH) {
        *err = wrong;
        st = wrong.status;
        goto out;
    }
    /* A result that differs is marked in the file and fails the run. */
    QN_TRY(qn_batch_write(tasks, &batch, path ? out.file : stdout, err));
    if (path)
        QN_TRY(qn_out_commit(&out, err));
    qn_cli_summary(args, batch.n, "task", "tasks");
    if (wrong.status == QN_OK) {
        add_verified(args, batch.n);
    } else {
        *err = wrong;
        st = wrong.status;
    }
out:
    qn_out_abort(&out);
    qn_tasks_free(tasks);
    qn_batch_free(&batch);
    return st;
}

static void add_row(qn_table *table, const qn_scenario *scenario, const qn_tasks *tasks, double us,
                    int is_verified)
{
    const qn_tasks_stats stats = qn_tasks_get_stats(tasks);
    const qn_task_result *results = qn_tasks_results(tasks);
    int n_fallbacks = 0;

    for (int i = 0; i < stats.n_tasks; i++)
        n_fallbacks += results[i].state == QN_TASK_FALLBACK;
    qn_table_addf(table, "%s\t%d\t%d\t%s\t%.3f\t%.3f\t%d\t%s", scenario->name, stats.n_tasks,
                  stats.n_groups, stats.devices, us, us / stats.n_tasks, n_fallbacks,
                  is_verified ? "verified" : "not verified");
}

/* The first runs make plans and recordings; later runs only upload the inputs again. */
static qn_status run_scenario(qn_tasks *tasks, const qn_scenario *scenario, const qn_args *args,
                              double *median_us, qn_err *err)
{
    enum { WARM_UP = 4, TIMED = 9 };
    qn_task list[QN_SCENARIO_TASKS];
    double us[TIMED];
    qn_status st = QN_OK;

    qn_scenario_tasks(scenario, qn_text(args, "op"), qn_text(args, "arg"), args->global.seed, list);
    for (int i = -WARM_UP; i < TIMED; i++) {
        QN_TRY(qn_tasks_touch(tasks, err));
        QN_TRY(qn_tasks_run(tasks, list, scenario->n_tasks, err));
        if (i >= 0)
            us[i] = qn_tasks_get_stats(tasks).wall_us;
    }
    *median_us = qn_stats_of(us, TIMED).median;
    if (!qn_flag(args, "no-verify"))
        QN_TRY(qn_tasks_verify(tasks, err));
out:
    return st;
}

static qn_status run_scenarios(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_tasks_options options;
    qn_table table = qn_table_begin("SCENARIO", "TASKS", "GROUPS", "DEVICE", "BATCH US", "TASK US",
                                    "FALLBACKS", "RESULT");
    qn_tasks *tasks = NULL;
    qn_status st = QN_OK;
    int first, end, n = 0;

    QN_TRY(shared_options_of(args, &options, err));
    QN_TRY(qn_tasks_pick(qn_text(args, "scenario"), &first, &end, err));
    QN_TRY(qn_tasks_new(ctx, &options, &tasks, err));
    for (int i = first; i < end; i++) {
        const qn_scenario *scenario = qn_scenario_at(i);
        double us;

        if ((st = run_scenario(tasks, scenario, args, &us, err)) != QN_OK) {
            qn_prefix(err, "%s", scenario->name);
            goto out;
        }
        add_row(&table, scenario, tasks, us, !qn_flag(args, "no-verify"));
        n += scenario->n_tasks;
    }
    qn_cli_summary(args, n, "task", "tasks");
    add_verified(args, n);
out:
    qn_tasks_free(tasks);
    if (st != QN_OK)
        qn_table_free(&table);
    else
        st = qn_cli_print_table(&table, 0, err);
    return st;
}

static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    const int has_scenario = qn_given(args, "scenario");

    if (has_scenario == (args->n_words == 1))
        return qn_fail(err, QN_ERR_USAGE, "give either BATCH.csv or --scenario");
    if (has_scenario && qn_given(args, "o"))
        return qn_fail(err, QN_ERR_USAGE, "-o is for BATCH.csv, not for --scenario");
    if (!has_scenario && (qn_given(args, "op") || qn_given(args, "arg")))
        return qn_fail(err, QN_ERR_USAGE, "--op and --arg are for --scenario, not for BATCH.csv");
    return has_scenario ? run_scenarios(ctx, args, err) : run_batch(ctx, args, err);
}

const qn_command qn_verb_tasks_run = {
    .name = "run",
    .summary = "run a batch file or built-in scenarios, and check every result",
    .words = "[BATCH.csv]",
    .max_words = 1,
    .options = run_options,
    .notes =
        "BATCH.csv has the columns id,op,n,seed,arg:\n"
        "  vadd, sum, dot, max  n elements           saxpy   arg: factor (2)\n"
        "  chain    arg: maps (mul:2,add:1,abs,sqrt) of mul add sub div min max (with :K)\n"
        "           abs neg sqrt square exp log sin cos tanh\n"
        "  matmul   n is the side      merkle   n leaves, arg: plain or rfc6962\n"
        "  sha256, keccak256   n messages, arg: bytes of each (64), or LEAST-MOST\n"
        "Tasks are grouped by op, arg and bucket: the smallest power of two that holds n, at "
        "least\n"
        "16384 (QUERN_BUCKET_MIN). exec_us is a task's part of the batch time from host to host,\n"
        "by bytes and operations. checksum is FNV-1a of the result; for a Merkle root its first\n"
        "16 digits; - if devices may differ in the last bits.\n"
        "Several devices (--devices, a list for --backend, or --route balance, which includes the\n"
        "CPU) share the batch by the rule of --split. Large vectors are cut and then list all of\n"
        "their devices. When a device fails, the others take over its parts.\n"
        "Scenarios: Uniform-32k Uniform-64k Mixed-Same-Bucket Mixed-Adjacent-Buckets\n"
        "Mixed-Diverse Large-Uniform Large-Mixed. They run a few times to warm up, then\n"
        "nine times for the median.",
    .examples = run_examples,
    .run = run,
};

static const qn_command *const verbs[] = { &qn_verb_tasks_run, &qn_verb_tasks_bench,
                                           &qn_verb_tasks_pipe, &qn_verb_tasks_hash, NULL };

const qn_command qn_cmd_tasks = {
    .name = "tasks",
    .summary = "batches of independent tasks of mixed sizes; hashes of files",
    .verbs = verbs,
};

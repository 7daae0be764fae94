/* cmd_tasks_bench.c - `quern tasks bench`: scenarios with each mechanism on and off. */
#include "cli/cmd_tasks.h"

#include "lab/sheet.h"
#include "lab/tasks/bench.h"
#include "util/clock.h"
#include "util/file.h"

#include <string.h>

enum { MAX_GAINS = 16 * QN_BENCH_MECHANISMS };

static const qn_opt options[] = {
    { 0, "scenario", QN_OPT_TEXT, .value = "NAME", .fallback = "all",
      .help = "built-in batch to measure, or all" },
    { 0, "op", QN_OPT_TEXT, .value = "OP", .fallback = "vadd", .help = "op that the tasks run" },
    { 0, "arg", QN_OPT_TEXT, .value = "ARG", .help = "argument of --op" },
    { 0, "samples", QN_OPT_INT, .value = "N", .fallback = "20", .min = 5, .max = 100000,
      .help = "measurements per figure; the median is reported" },
#define OPTION QN_CLI_OPTION
#define MEMBER QN_CLI_NO_OPTION
#include <quern/options/tasks.def>
    { 0, "csv", QN_OPT_TEXT, .value = "FILE", .help = "write all figures to this file" },
    { 0, "md", QN_OPT_TEXT, .value = "FILE", .help = "write the table as Markdown to this file" },
    { 0 }
};

static const char *const examples[] = {
    "quern tasks bench --scenario Uniform-32k --samples 5 --csv bench.csv --md bench.md", NULL
};

/* Files. */

/* A mechanism that is on or off. */
typedef struct setting {
    const char *scenario, *mechanism, *setting, *device;
    int n_tasks;
    qn_stats us;
    double task_us, gain, waste_pct;
} setting;

static const qn_column setting_columns[] = {
    { QN_COLUMN(setting, scenario, NULL, "scenario") },
    { QN_COLUMN(setting, mechanism, NULL, "mechanism") },
    { QN_COLUMN(setting, setting, NULL, "setting") },
    { QN_COLUMN(setting, device, NULL, "device") },
    { QN_COLUMN(setting, n_tasks, NULL, "tasks") },
    { QN_COLUMN(setting, us.n, NULL, "samples") },
    { QN_COLUMN(setting, us.median, NULL, "median_us", .stored = "%.3f") },
    { QN_COLUMN(setting, us.p90, NULL, "p90_us", .stored = "%.3f") },
    { QN_COLUMN(setting, us.min, NULL, "min_us", .stored = "%.3f") },
    { QN_COLUMN(setting, us.max, NULL, "max_us", .stored = "%.3f") },
    { QN_COLUMN(setting, us.mean, NULL, "mean_us", .stored = "%.3f") },
    { QN_COLUMN(setting, us.stddev, NULL, "stddev_us", .stored = "%.3f") },
    { QN_COLUMN(setting, task_us, NULL, "task_us", .stored = "%.3f") },
    { QN_COLUMN(setting, gain, NULL, "gain", .stored = "%.3f") },
    { QN_COLUMN(setting, waste_pct, NULL, "waste_pct", .stored = "%.1f") },
};

static const qn_column gain_columns[] = {
    { QN_COLUMN(qn_tasks_gain, scenario, "SCENARIO", NULL) },
    { QN_COLUMN(qn_tasks_gain, mechanism, "MECHANISM", NULL) },
    { QN_COLUMN(qn_tasks_gain, on.median, "ON US", NULL, .shown = "%.1f") },
    { QN_COLUMN(qn_tasks_gain, on.p90, "P90", NULL, .shown = "%.1f") },
    { QN_COLUMN(qn_tasks_gain, off.median, "OFF US", NULL, .shown = "%.1f") },
    { QN_COLUMN(qn_tasks_gain, off.p90, "OFF P90", NULL, .shown = "%.1f") },
    { QN_COLUMN(qn_tasks_gain, gain, "GAIN", NULL, .shown = "%.2f") },
    { QN_COLUMN(qn_tasks_gain, waste_pct, "WASTE %", NULL, .shown = "%.1f") },
};

static qn_status put_csv(FILE *to, const qn_tasks_gain *list, int n, const char *line,
                         const char *device, qn_err *err)
{
    setting rows[2 * MAX_GAINS];
    qn_csv_writer w = { .to = to };
    char date[QN_UTC_SIZE];

    for (int i = 0; i < 2 * n; i++) {
        const qn_tasks_gain *r = &list[i / 2];
        const qn_stats us = i % 2 ? r->off : r->on;

        rows[i] = (setting){ r->scenario, r->mechanism, i % 2 ? "off" : "on",   r->device,
                             r->n_tasks,  us,           us.median / r->n_tasks, i % 2 ? 1 : r->gain,
                             r->waste_pct };
    }
    (void)err; /* the writer reports failures at the end */
    qn_utc(date);
    qn_csv_put_comment(&w, "quern-tasks-bench", "1");
    qn_csv_put_comment(&w, "version", qn_version());
    qn_csv_put_comment(&w, "date", date);
    qn_csv_put_comment(&w, "device", device);
    qn_csv_put_comment(&w, "command", line);
    qn_sheet_csv(&QN_SHEET(setting_columns, rows, (size_t)(2 * n)), &w);
    return QN_OK;
}

static qn_status put_markdown(FILE *to, const qn_tasks_gain *list, int n, const char *line,
                              const char *device, qn_err *err)
{
    char date[QN_UTC_SIZE];
    qn_table table = qn_sheet_table(&QN_SHEET(gain_columns, list, (size_t)n));

    qn_utc(date);
    fprintf(
        to,
        "# Batches of tasks\n\n"
        "Made by `%s`, quern %s, %s, on %s.\n\n"
        "Microseconds per batch from host to host, medians and 90th percentiles of %zu batches.\n"
        "Planning is included, making inputs is not. The last batch of each series was\n"
        "verified.\n\n",
        line, qn_version(), date, device, list[0].on.n);
    const qn_status st = qn_table_print(&table, to, QN_TABLE_MARKDOWN, err);
    fprintf(to,
            "\n"
            "- single pass: one submission for the batch; off: one and a wait per task.\n"
            "- plan cache: the same batch again; off: planned every time.\n"
            "- bucket cache: other sizes in the same buckets every time; off: planned every time.\n"
            "- pools: batches planned every time; off: memory from the driver every time.\n"
            "- waste: fraction of the buckets that the sizes of the scenario leave empty.\n");
    return st;
}

/* Command. */

typedef qn_status (*put_fn)(FILE *to, const qn_tasks_gain *list, int n, const char *line,
                            const char *device, qn_err *err);

/* Writes the device of the figures, with its name. */
static void describe(const qn_ctx *ctx, const char *id, qn_str *out)
{
    for (int d = 0; d < qn_device_count(ctx); d++)
        if (!strcmp(qn_device_id(ctx, d), id))
            qn_str_addf(out, "%s %s", id, qn_device_get(ctx, d)->name);
}

static qn_status finish(qn_out *out, put_fn put, const qn_tasks_gain *list, int n, const char *line,
                        const char *device, qn_err *err)
{
    if (!out->file)
        return QN_OK;
    const qn_status st = put(out->file, list, n, line, device, err);

    return st == QN_OK ? qn_out_commit(out, err) : st; /* the caller removes an incomplete file */
}

static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_tasks_bench_options bench = { .op = qn_text(args, "op"),
                                     .arg = qn_text(args, "arg"),
                                     .samples = (int)qn_int(args, "samples"),
                                     .seed = args->global.seed };
    qn_tasks_gain list[MAX_GAINS];
    qn_table table;
    qn_str line = { 0 }, device = { 0 };
    qn_out csv = { 0 }, md = { 0 };
    qn_status st = QN_OK;
    int first, end, n = 0;

    QN_TRY(qn_tasks_options_of(args, &bench.tasks, err));
    bench.tasks.split = QN_TASKS_SPLIT_NONE;
    QN_TRY(qn_tasks_pick(qn_text(args, "scenario"), &first, &end, err));
    if (qn_text(args, "csv"))
        QN_TRY(qn_out_open(qn_text(args, "csv"), &csv, err));
    if (qn_text(args, "md"))
        QN_TRY(qn_out_open(qn_text(args, "md"), &md, err));
    for (int i = first; i < end; i++, n += QN_BENCH_MECHANISMS)
        if ((st = qn_tasks_bench(ctx, qn_scenario_at(i), &bench, list + n, err)) != QN_OK) {
            qn_prefix(err, "%s", qn_scenario_at(i)->name);
            goto out;
        }
    QN_TRY(qn_cli_line(args, &line, err));
    describe(ctx, list[0].device, &device);
    QN_TRY(finish(&csv, put_csv, list, n, qn_str_get(&line), qn_str_get(&device), err));
    QN_TRY(finish(&md, put_markdown, list, n, qn_str_get(&line), qn_str_get(&device), err));
    table = qn_sheet_table(&QN_SHEET(gain_columns, list, (size_t)n));
    st = qn_cli_print_table(&table, 0, err);
out:
    qn_out_abort(&csv);
    qn_out_abort(&md);
    qn_str_free(&line);
    qn_str_free(&device);
    return st;
}

const qn_command qn_verb_tasks_bench = {
    .name = "bench",
    .summary = "measure the gain from plans, buckets, pools and the single pass, per scenario",
    .options = options,
    .notes =
        "Microseconds per batch from host to host, with and without each mechanism: one\n"
        "submission for the batch or one per task; the plan of the batch cached or made again;\n"
        "other sizes in the same buckets, with plans per bucket or without; batches planned\n"
        "every time, with memory pools or without. GAIN is the ratio of the medians.",
    .examples = examples,
    .run = run,
};

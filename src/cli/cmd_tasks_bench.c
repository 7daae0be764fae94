/* cmd_tasks_bench.c - `quern tasks bench`: scenarios with each mechanism on and off. */
#include "cli/cmd_tasks.h"

#include "lab/tasks/bench.h"
#include "util/clock.h"
#include "util/csv.h"
#include "util/file.h"
#include "util/table.h"

#include <string.h>

enum { MAX_SCENARIOS = 16 };

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

typedef struct {
    const qn_scenario *scenario;
    qn_bench_result results[QN_BENCH_MECHANISMS];
} measured;

/* Files. */

static void put_row(qn_csv_writer *w, const qn_scenario *scenario, const qn_bench_result *r,
                    int is_on)
{
    const qn_stats *s = is_on ? &r->on : &r->off;

    qn_csv_put(w, scenario->name);
    qn_csv_put(w, qn_bench_name(r->mechanism));
    qn_csv_put(w, is_on ? "on" : "off");
    qn_csv_put(w, r->device);
    qn_csv_putf(w, "%d", scenario->n_tasks);
    qn_csv_putf(w, "%zu", s->n);
    qn_csv_putf(w, "%.3f", s->median);
    qn_csv_putf(w, "%.3f", s->p90);
    qn_csv_putf(w, "%.3f", s->min);
    qn_csv_putf(w, "%.3f", s->max);
    qn_csv_putf(w, "%.3f", s->mean);
    qn_csv_putf(w, "%.3f", s->stddev);
    qn_csv_putf(w, "%.3f", s->median / scenario->n_tasks);
    qn_csv_putf(w, "%.3f", is_on ? r->gain : 1.0);
    qn_csv_putf(w, "%.1f", r->waste_pct);
    qn_csv_end_row(w);
}

static void put_csv(FILE *to, const measured *list, int n, const char *line, const char *device)
{
    static const char *const header[] = {
        "scenario", "mechanism", "setting", "device", "tasks",
        "samples",  "median_us", "p90_us",  "min_us", "max_us",
        "mean_us",  "stddev_us", "task_us", "gain",   "waste_pct"
    };
    qn_csv_writer w = { .to = to };
    char date[QN_UTC_SIZE];

    qn_utc(date);
    qn_csv_put_comment(&w, "quern-tasks-bench", "1");
    qn_csv_put_comment(&w, "version", qn_version());
    qn_csv_put_comment(&w, "date", date);
    qn_csv_put_comment(&w, "device", device);
    qn_csv_put_comment(&w, "command", line);
    for (size_t i = 0; i < sizeof header / sizeof *header; i++)
        qn_csv_put(&w, header[i]);
    qn_csv_end_row(&w);
    for (int i = 0; i < n; i++)
        for (int m = 0; m < QN_BENCH_MECHANISMS; m++) {
            put_row(&w, list[i].scenario, &list[i].results[m], 1);
            put_row(&w, list[i].scenario, &list[i].results[m], 0);
        }
}

static qn_table make_table(const measured *list, int n)
{
    qn_table t = qn_table_begin("SCENARIO", "MECHANISM", "ON US", "P90", "OFF US", "OFF P90",
                                "GAIN", "WASTE %");

    for (int i = 0; i < n; i++)
        for (int m = 0; m < QN_BENCH_MECHANISMS; m++) {
            const qn_bench_result *r = &list[i].results[m];

            qn_table_add(&t, list[i].scenario->name);
            qn_table_add(&t, qn_bench_name(r->mechanism));
            qn_table_addf(&t, "%.1f", r->on.median);
            qn_table_addf(&t, "%.1f", r->on.p90);
            qn_table_addf(&t, "%.1f", r->off.median);
            qn_table_addf(&t, "%.1f", r->off.p90);
            qn_table_addf(&t, "%.2f", r->gain);
            qn_table_addf(&t, "%.1f", r->waste_pct);
        }
    return t;
}

static void put_markdown(FILE *to, const measured *list, int n, const char *line,
                         const char *device)
{
    char date[QN_UTC_SIZE];
    qn_table table = make_table(list, n);

    qn_utc(date);
    fprintf(
        to,
        "# Batches of tasks\n\n"
        "Made by `%s`, quern %s, %s, on %s.\n\n"
        "Microseconds per batch from host to host, medians and 90th percentiles of %zu batches.\n"
        "Planning is included, making inputs is not. The last batch of each series was\n"
        "verified.\n\n",
        line, qn_version(), date, device, list[0].results[0].on.n);
    qn_table_print(&table, to, QN_TABLE_MARKDOWN);
    fprintf(to,
            "\n"
            "- single pass: one submission for the batch; off: one and a wait per task.\n"
            "- plan cache: the same batch again; off: planned every time.\n"
            "- bucket cache: other sizes in the same buckets every time; off: planned every time.\n"
            "- pools: batches planned every time; off: memory from the driver every time.\n"
            "- waste: share of the buckets that the sizes of the scenario leave empty.\n");
}

/* Command. */

typedef void (*put_fn)(FILE *to, const measured *list, int n, const char *line, const char *device);

/* The device of the figures, with its name. */
static void describe(const qn_ctx *ctx, const char *id, qn_str *out)
{
    for (int d = 0; d < qn_device_count(ctx); d++)
        if (!strcmp(qn_device_id(ctx, d), id))
            qn_str_addf(out, "%s %s", id, qn_device_get(ctx, d)->name);
}

static qn_status finish(qn_out *out, put_fn put, const measured *list, int n, const char *line,
                        const char *device, qn_err *err)
{
    if (!out->file)
        return QN_OK;
    put(out->file, list, n, line, device);
    return qn_out_commit(out, err);
}

static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_bench_options bench = { .op = qn_text(args, "op"),
                               .arg = qn_text(args, "arg"),
                               .samples = (int)qn_int(args, "samples"),
                               .seed = args->global.seed };
    measured list[MAX_SCENARIOS] = { { .scenario = NULL } };
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
    for (int i = first; i < end; i++, n++) {
        list[n].scenario = qn_scenario_at(i);
        if ((st = qn_tasks_bench(ctx, list[n].scenario, &bench, list[n].results, err)) != QN_OK) {
            qn_prefix(err, "%s", list[n].scenario->name);
            goto out;
        }
    }
    qn_cli_line(args, &line);
    describe(ctx, list[0].results[0].device, &device);
    QN_TRY(finish(&csv, put_csv, list, n, qn_str_get(&line), qn_str_get(&device), err));
    QN_TRY(finish(&md, put_markdown, list, n, qn_str_get(&line), qn_str_get(&device), err));
    table = make_table(list, n);
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
    .summary = "measure the gain of plans, buckets, pools and the single pass, per scenario",
    .options = options,
    .notes =
        "Microseconds per batch from host to host, with and without each mechanism: one\n"
        "submission for the batch or one per task; the plan of the batch cached or made again;\n"
        "other sizes in the same buckets, with plans per bucket or without; batches planned\n"
        "every time, with memory pools or without. GAIN is the ratio of the medians.",
    .examples = examples,
    .run = run,
};

/* cmd_arc_bench.c - `quern arc bench`: runs per second, on the CPU and on devices. */
#include "cli/arc_options.h"

#include "lab/arc/bench.h"

#include <stdlib.h>
#include <string.h>

static const qn_opt options[] = {
    { 0, "tasks", QN_OPT_TEXT, .value = "DIR|FILE",
      .help = "tasks whose grids the programs run on" },
    { 0, "replicate", QN_OPT_TEXT, .value = "R[,R]", .fallback = "1",
      .help = "copies of every grid; one row per number" },
    { 0, "no-check", QN_OPT_FLAG,
      .help = "give every copy different colours, so that no grids are equal; compare nothing" },
    { 0, "match", QN_OPT_CHOICE, .value = "id|all", .fallback = "id",
      .help = "run each program on the task of its id, or on every grid" },
    { 0, "without", QN_OPT_TEXT, .value = "ID",
      .help = "program to leave out in every second row (default: the slowest)" },
    { 0, "samples", QN_OPT_INT, .value = "N", .fallback = "3", .min = 1, .max = 32,
      .help = "measurements per figure; the median is reported" },
#define OPTION QN_CLI_OPTION
#define MEMBER QN_CLI_NO_OPTION
#include <quern/options/arc.def>
    { 'o', NULL, QN_OPT_TEXT, .value = "FILE.json", .help = "write all figures" },
    { 0, "json", QN_OPT_FLAG, .help = "print JSON instead of a table" },
    { 0 }
};

static const char *const examples[] = {
    "echo '{\"train\":[{\"input\":[[1,2]],\"output\":[[2,1]]}],\"test\":[]}' >turn.json",
    "printf 'def solve_turn(I):\\n    O = vmirror(I)\\n    return O\\n' >solvers.py",
    "quern arc bench solvers.py --tasks turn.json --samples 1 --backend cpu", NULL
};

static qn_status read_replicates(const char *list, qn_arc_bench_options *o, qn_err *err)
{
    char word[16];

    for (int i = 0; qn_list_item(list, i, word, sizeof word); i++) {
        char *end = NULL;
        const long copies = strtol(word, &end, 10);

        if (end == word || *end || copies < 1 || copies > 4096)
            return qn_fail(err, QN_ERR_USAGE, "--replicate: '%s' is not a number from 1 to 4096",
                           word);
        if (i == QN_ARC_BENCH_REPLICATES)
            return qn_fail(err, QN_ERR_USAGE, "--replicate: over %d numbers",
                           QN_ARC_BENCH_REPLICATES);
        if (i && copies <= o->replicates[i - 1])
            return qn_fail(err, QN_ERR_USAGE, "--replicate: %ld does not ascend", copies);
        o->replicates[o->n_replicates++] = (int)copies;
    }
    return QN_OK;
}

static void print_rest(const qn_arc_bench_report *report)
{
    if (*report->worst)
        printf("%s takes %.1f %% of the CPU's time\n", report->worst, report->worst_share_pct);
    for (int i = 0; i < report->n_crossovers; i++) {
        const qn_arc_bench_crossover *c = &report->crossovers[i];

        if (c->crossover)
            printf("%s overtakes the CPU from %lld runs a batch on\n", c->device,
                   (long long)c->crossover);
        else
            printf("%s is behind the CPU at every size of a batch, up to %lld runs\n", c->device,
                   (long long)(c->n ? c->sizes[c->n - 1] : 0));
    }
}

static qn_status report_all(const qn_args *args, const qn_arc_bench_report *report, qn_err *err)
{
    const qn_sheet rows = qn_arc_bench_sheet(report);
    qn_str line = { 0 };
    json_t *json = NULL;
    qn_table table;
    qn_status st = QN_OK;

    QN_TRY(qn_cli_line(args, &line, err));
    if (!(json = qn_arc_bench_json(report, qn_str_get(&line))))
        QN_FAIL(err, QN_ERR_NOMEM, "no memory for the report");
    if (qn_text(args, "o"))
        QN_TRY(qn_json_write(qn_text(args, "o"), json, err));
    if (qn_flag(args, "json")) {
        json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
        putchar('\n');
    } else {
        table = qn_sheet_table(&rows);
        QN_TRY(qn_cli_print_table(&table, 0, err));
        print_rest(report);
    }
out:
    json_decref(json);
    qn_str_free(&line);
    return st;
}

static qn_status run(QN_UNUSED qn_ctx *none, const qn_args *args, qn_err *err)
{
    qn_arc_bench_options o = { .engine = args->global.engine,
                               .no_check = qn_flag(args, "no-check"),
                               .match_all = !strcmp(qn_text(args, "match"), "all"),
                               .samples = (int)qn_int(args, "samples"),
                               .without = qn_text(args, "without") };
    qn_option_store store = { 0 };
    qn_arc_bench_report report = { 0 };
    qn_arc_programs programs = { 0 };
    qn_arc_tasks tasks = { 0 };
    const char *path;
    qn_status st = QN_OK;

    QN_TRY(qn_arc_tasks_of(args, &path, err));
    QN_TRY(read_replicates(qn_text(args, "replicate"), &o, err));
    QN_TRY(qn_arc_cli_session(args, &o.session, &store, err));
    QN_TRY(qn_cli_progress(args, &o.watch.mode, err));
    QN_TRY(qn_arc_programs_of(args, 0, &programs, err));
    QN_TRY(qn_arc_tasks_read(path, &tasks, err));
    QN_TRY(qn_arc_bench(&programs, &tasks, &o, &report, err));
    QN_TRY(report_all(args, &report, err));
out:
    qn_arc_bench_free(&report);
    qn_arc_tasks_free(&tasks);
    qn_arc_programs_free(&programs);
    qn_option_store_free(&store);
    return st;
}

const qn_command qn_verb_arc_bench = {
    .name = "bench",
    .summary = "runs per second on one thread, on all threads, and on each device",
    .words = "PROGRAMS",
    .min_words = 1,
    .max_words = 1,
    .options = options,
    .notes =
        "RUN: programs and grids are resident; the list of runs is uploaded, results downloaded.\n"
        "KERNEL: the time of kernels in RUN. END TO END: everything is encoded and uploaded "
        "again.\n"
        "All are medians. A second row leaves out one program, the one that takes the most time.\n"
        "Copies of a grid are equal, so that outputs can be compared, and take one place on the\n"
        "device; --no-check makes them differ.",
    .examples = examples,
    .bare = 1,
    .run = run,
};

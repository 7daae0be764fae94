/* cmd_tasks_pipe.c - `quern tasks pipe`: measures the gain of overlapping copies with kernels. */
#include "cli/cmd_tasks.h"

#include "lab/sheet.h"
#include "lab/tasks/bench.h"
#include "util/file.h"

#include <string.h>

static const char *check_depths(const char *value);

static const qn_opt options[] = {
    { 0, "tasks", QN_OPT_INT, .value = "N", .fallback = "24", .min = 1, .max = 1000000,
      .help = "batches per round, each of one task" },
    { 0, "elems", QN_OPT_INT, .value = "N", .fallback = "32768", .min = 1, .max = 1 << 30,
      .help = "elements per task" },
    { 0, "rounds", QN_OPT_INT, .value = "N", .fallback = "5", .min = 1, .max = 100000,
      .help = "number of measured rounds" },
    { 0, "depths", QN_OPT_TEXT, .value = "LIST", .fallback = "1,2,4", .check = check_depths,
      .help = "numbers of batches in flight to measure, from 1 to 8" },
    { 0, "csv", QN_OPT_TEXT, .value = "FILE", .help = "write the figures to this file" },
    { 0 }
};

static const char *const examples[] = { "quern tasks pipe --tasks 8 --rounds 2 --csv pipe.csv",
                                        NULL };

/* Checks a list of single digits, separated by commas and not too long. */
static const char *check_depths(const char *value)
{
    for (int n = 1;; value++, n++) {
        if (n > QN_PIPE_MAX_DEPTH || *value < '1' || *value > '0' + QN_PIPE_MAX_DEPTH ||
            (value[1] && value[1] != ','))
            return "is not a list of numbers from 1 to 8, such as 1,2,4";
        if (!*++value)
            return NULL;
    }
}

static qn_status measure(qn_ctx *ctx, const qn_args *args, qn_pipe_result *results, int *n,
                         qn_err *err)
{
    const qn_pipe_case what = { .n_tasks = (int)qn_int(args, "tasks"),
                                .rounds = (int)qn_int(args, "rounds"),
                                .elems = qn_int(args, "elems"),
                                .seed = args->global.seed };
    qn_status st = QN_OK;

    for (const char *c = qn_text(args, "depths"); *c && *n < QN_PIPE_MAX_DEPTH; c++) {
        if (*c == ',')
            continue;
        QN_TRY(qn_pipe_case_run(ctx, &what, *c - '0', &results[*n], err));
        if (results[*n].checksum != results[0].checksum)
            QN_FAIL(err, QN_ERR_MISMATCH, "results of depth %d and depth %d differ",
                    results[*n].depth, results[0].depth);
        ++*n;
    }
    qn_cli_summary(args, (double)*n * (what.rounds + 1) * what.n_tasks, "task", "tasks");
out:
    return st;
}

/* A result with the settings of the command. */
typedef struct row {
    qn_pipe_result r;
    const char *tasks, *elems, *rounds;
    double speedup;
    char overlap[16], checksum[20];
} row;

static const qn_column columns[] = {
    { QN_COLUMN(row, r.depth, "DEPTH", "depth") },
    { QN_COLUMN(row, tasks, NULL, "tasks") },
    { QN_COLUMN(row, elems, NULL, "elems") },
    { QN_COLUMN(row, rounds, NULL, "rounds") },
    { QN_COLUMN(row, r.wall_us.median, "WALL US", "wall_us", .shown = "%.1f", .stored = "%.3f") },
    { QN_COLUMN(row, r.wall_us.p90, "P90 US", "p90_us", .shown = "%.1f", .stored = "%.3f") },
    { QN_COLUMN(row, r.phases.prepare_us, "PREPARE", "prepare_us", .shown = "%.1f",
                .stored = "%.3f") },
    { QN_COLUMN(row, r.phases.h2d_us, "H2D", "h2d_us", .shown = "%.1f", .stored = "%.3f") },
    { QN_COLUMN(row, r.phases.compute_us, "COMPUTE", "compute_us", .shown = "%.1f",
                .stored = "%.3f") },
    { QN_COLUMN(row, r.phases.d2h_us, "D2H", "d2h_us", .shown = "%.1f", .stored = "%.3f") },
    { QN_COLUMN(row, overlap, "OVERLAP", NULL) },
    { QN_COLUMN(row, r.phases.overlap_ratio, NULL, "overlap_ratio", .stored = "%.4f") },
    { QN_COLUMN(row, r.phases.queue_depth_peak, "PEAK", "queue_depth_peak") },
    { QN_COLUMN(row, speedup, "SPEEDUP", "speedup", .shown = "%.2f", .stored = "%.3f") },
    { QN_COLUMN(row, checksum, NULL, "checksum") },
};

static row row_of(const qn_args *args, const qn_pipe_result *results, int i)
{
    row made = { .r = results[i],
                 .tasks = qn_text(args, "tasks"),
                 .elems = qn_text(args, "elems"),
                 .rounds = qn_text(args, "rounds"),
                 .speedup = results[0].wall_us.median / results[i].wall_us.median };

    snprintf(made.overlap, sizeof made.overlap,
             qn_pipe_has_copies(&made.r.phases) ? "%.3f" : "no copies",
             made.r.phases.overlap_ratio);
    snprintf(made.checksum, sizeof made.checksum, "%016llx", (unsigned long long)made.r.checksum);
    return made;
}

static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_pipe_result results[QN_PIPE_MAX_DEPTH];
    row rows[QN_PIPE_MAX_DEPTH];
    qn_out csv = { 0 };
    qn_table table;
    qn_status st = QN_OK;
    int n = 0;

    if (qn_text(args, "csv"))
        QN_TRY(qn_out_open(qn_text(args, "csv"), &csv, err));
    QN_TRY(measure(ctx, args, results, &n, err));
    for (int i = 0; i < n; i++)
        rows[i] = row_of(args, results, i);
    const qn_sheet sheet = QN_SHEET(columns, rows, (size_t)n);

    if (csv.file) {
        qn_sheet_csv(&sheet, &(qn_csv_writer){ .to = csv.file });
        QN_TRY(qn_out_commit(&csv, err));
    }
    table = qn_sheet_table(&sheet);
    st = qn_cli_print_table(&table, 0, err);
out:
    qn_out_abort(&csv);
    return st;
}

const qn_command qn_verb_tasks_pipe = {
    .name = "pipe",
    .summary = "measure batches in flight: preparing, copying and computing overlap",
    .options = options,
    .notes =
        "Per round, in microseconds: the wall clock (median and p90 of the rounds) and the sum\n"
        "of each phase. OVERLAP is 1 - wall / sum of the phases, at least 0; the CPU works in\n"
        "host memory and has no copies to overlap. SPEEDUP is against the first depth.\n"
        "Results are compared with a plain computation and between depths.",
    .examples = examples,
    .run = run,
};

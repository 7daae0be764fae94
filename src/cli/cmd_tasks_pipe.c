/* cmd_tasks_pipe.c - `quern tasks pipe`: the gain of overlapping copies with kernels. */
#include "cli/cmd_tasks.h"

#include "lab/tasks/pipe_case.h"
#include "util/csv.h"
#include "util/file.h"
#include "util/table.h"

#include <string.h>

static const char *check_depths(const char *value);

static const qn_opt options[] = {
    { 0, "tasks", QN_OPT_INT, .value = "N", .fallback = "24", .min = 1, .max = 1000000,
      .help = "batches per round, of one task each" },
    { 0, "elems", QN_OPT_INT, .value = "N", .fallback = "32768", .min = 1, .max = 1 << 30,
      .help = "elements per task" },
    { 0, "rounds", QN_OPT_INT, .value = "N", .fallback = "5", .min = 1, .max = 100000,
      .help = "number of measured rounds" },
    { 0, "depths", QN_OPT_TEXT, .value = "LIST", .fallback = "1,2,4", .check = check_depths,
      .help = "numbers of batches in flight to measure, each 1 to 8" },
    { 0, "csv", QN_OPT_TEXT, .value = "FILE", .help = "write the figures to this file" },
    { 0 }
};

static const char *const examples[] = { "quern tasks pipe --tasks 8 --rounds 2 --csv pipe.csv",
                                        NULL };

/* One digit, then a comma or the end; not more of them than there are digits. */
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
        if (results[*n].checksum != results[0].checksum) {
            st = qn_fail(err, QN_ERR_MISMATCH, "depth %d gives other results than depth %d",
                         results[*n].depth, results[0].depth);
            goto out;
        }
        ++*n;
    }
    qn_cli_summary(args, (double)*n * (what.rounds + 1) * what.n_tasks, "task", "tasks");
out:
    return st;
}

static void put_csv(FILE *to, const qn_args *args, const qn_pipe_result *results, int n)
{
    static const char *const header[] = { "depth",      "tasks",         "elems",
                                          "rounds",     "wall_us",       "p90_us",
                                          "prepare_us", "h2d_us",        "compute_us",
                                          "d2h_us",     "overlap_ratio", "queue_depth_peak",
                                          "speedup",    "checksum" };
    qn_csv_writer w = { .to = to };

    for (size_t i = 0; i < sizeof header / sizeof *header; i++)
        qn_csv_put(&w, header[i]);
    qn_csv_end_row(&w);
    for (int i = 0; i < n; i++) {
        const qn_pipe_result *r = &results[i];

        qn_csv_putf(&w, "%d", r->depth);
        qn_csv_put(&w, qn_text(args, "tasks"));
        qn_csv_put(&w, qn_text(args, "elems"));
        qn_csv_put(&w, qn_text(args, "rounds"));
        qn_csv_putf(&w, "%.3f", r->wall_us.median);
        qn_csv_putf(&w, "%.3f", r->wall_us.p90);
        qn_csv_putf(&w, "%.3f", r->phases.prepare_us);
        qn_csv_putf(&w, "%.3f", r->phases.h2d_us);
        qn_csv_putf(&w, "%.3f", r->phases.compute_us);
        qn_csv_putf(&w, "%.3f", r->phases.d2h_us);
        qn_csv_putf(&w, "%.4f", r->phases.overlap_ratio);
        qn_csv_putf(&w, "%d", r->phases.queue_depth_peak);
        qn_csv_putf(&w, "%.3f", results[0].wall_us.median / r->wall_us.median);
        qn_csv_putf(&w, "%016llx", (unsigned long long)r->checksum);
        qn_csv_end_row(&w);
    }
}

static qn_status print(const qn_pipe_result *results, int n, qn_err *err)
{
    qn_table t = qn_table_begin("DEPTH", "WALL US", "P90 US", "PREPARE", "H2D", "COMPUTE", "D2H",
                                "OVERLAP", "PEAK", "SPEEDUP");

    for (int i = 0; i < n; i++) {
        const qn_pipe_result *r = &results[i];

        qn_table_addf(&t, "%d", r->depth);
        qn_table_addf(&t, "%.1f", r->wall_us.median);
        qn_table_addf(&t, "%.1f", r->wall_us.p90);
        qn_table_addf(&t, "%.1f", r->phases.prepare_us);
        qn_table_addf(&t, "%.1f", r->phases.h2d_us);
        qn_table_addf(&t, "%.1f", r->phases.compute_us);
        qn_table_addf(&t, "%.1f", r->phases.d2h_us);
        if (qn_pipe_has_copies(&r->phases))
            qn_table_addf(&t, "%.3f", r->phases.overlap_ratio);
        else
            qn_table_add(&t, "no copies");
        qn_table_addf(&t, "%d", r->phases.queue_depth_peak);
        qn_table_addf(&t, "%.2f", results[0].wall_us.median / r->wall_us.median);
    }
    return qn_cli_print_table(&t, 0, err);
}

static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_pipe_result results[QN_PIPE_MAX_DEPTH];
    qn_out csv = { 0 };
    qn_status st = QN_OK;
    int n = 0;

    if (qn_text(args, "csv"))
        QN_TRY(qn_out_open(qn_text(args, "csv"), &csv, err));
    QN_TRY(measure(ctx, args, results, &n, err));
    if (csv.file) {
        put_csv(csv.file, args, results, n);
        QN_TRY(qn_out_commit(&csv, err));
    }
    QN_TRY(print(results, n, err));
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

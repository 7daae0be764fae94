/* cmd_fit_bench.c - `quern fit bench`: times evaluations, solves and compilation. */
#include "cli/cli.h"

#include "lab/fit/bench/bench.h"

#include <string.h>

static const qn_opt options[] = {
    { 0, "n", QN_OPT_INT, .value = "N", .min = 0, .max = 1 << 28,
      .help = "number of instances, instead of the bench's own sizes (B8: the highest level)" },
    { 0, "precision", QN_OPT_CHOICE, .value = "f64|f32", .fallback = "f64",
      .help = "precision of parameters, tables and results" },
    { 0, "storage", QN_OPT_CHOICE, .value = "same|f32", .fallback = "same",
      .help = "precision of stored Jacobians; same: as --precision" },
    { 'o', NULL, QN_OPT_TEXT, .value = "FILE.json", .help = "write all figures" },
    { 0 }
};

static const char *const examples[] = { "quern fit bench B1 --n 10000 --backend cpu", NULL };

static const char *const all[] = { "hello", "B1", "B2", "B3", "B4", "B7", "B8", NULL };

static qn_status print_rows(const qn_fit_bench *bench, qn_err *err)
{
    const qn_sheet rows = qn_fit_bench_sheet(bench);
    qn_table table = qn_sheet_table(&rows);
    const qn_status st = qn_cli_print_table(&table, 0, err);

    if (st != QN_OK)
        return st;
    printf("memory: %.1f GB/s\n", bench->gbs);
    for (size_t k = 0; k < bench->n; k++)
        if (bench->rows[k].note[0])
            printf("%s %s\n", bench->rows[k].what, bench->rows[k].note);
    return QN_OK;
}

static qn_status write_json(const qn_args *args, const qn_fit_bench *bench, qn_err *err)
{
    qn_str line = { 0 };
    qn_status st;

    QN_TRY(qn_cli_line(args, &line, err));
    QN_TRY(qn_sheet_save(qn_text(args, "o"), qn_fit_bench_json(bench, qn_str_get(&line)), err));
out:
    qn_str_free(&line);
    return st;
}

/* Whole solves. */

static int is_of_solves(const char *name)
{
    return !strcmp(name, "B5") || !strcmp(name, "B6");
}

static qn_status print_solves(const json_t *rows, qn_err *err)
{
    qn_table table = qn_table_begin("BENCH", "WHAT", "N", "SOLVER", "LINEAR", "STATUS", "COST",
                                    "STEPS", "FIRST S", "BEST S", "NOTE");
    const json_t *row;
    size_t k;

    json_array_foreach(rows, k, row)
    {
        static const char *const words[] = { "solver", "linear", "status" };
        const json_int_t steps = json_integer_value(json_object_get(row, "accepted"));

        qn_table_addf(&table, "%s\t%s\t%lld", json_string_value(json_object_get(row, "bench")),
                      json_string_value(json_object_get(row, "what")),
                      (long long)json_integer_value(json_object_get(row, "n")));
        for (size_t w = 0; w < sizeof words / sizeof *words; w++)
            qn_table_add(&table, json_string_value(json_object_get(row, words[w])));
        qn_table_addf(&table, "%.6g\t%lld\t%.4f\t%.4f\t%s",
                      json_number_value(json_object_get(row, "final_cost")), (long long)steps,
                      json_number_value(json_object_get(row, "first_s")),
                      json_number_value(json_object_get(row, "best_s")),
                      json_string_value(json_object_get(row, "note")));
    }
    return qn_cli_print_table(&table, 0, err);
}

/* On the best device, or if there is only the CPU, with the solvers in host memory. */
static qn_status run_solves(qn_ctx *ctx, const qn_args *args, qn_fit_precision precision,
                            qn_err *err)
{
    const qn_fit_bench_solve_options o = { .name = args->words[0], .precision = precision };
    json_t *rows = json_array();
    qn_status st = QN_OK;

    if (!rows)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %s", args->words[0]);
    QN_TRY(qn_fit_bench_solve(qn_device_count(ctx) > 1 ? ctx : NULL, &o, rows, err));
    QN_TRY(print_solves(rows, err));
    if (qn_text(args, "o"))
        QN_TRY(qn_json_write(qn_text(args, "o"), rows, err));
out:
    json_decref(rows);
    return st;
}

static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    const char *one[] = { args->words[0], NULL };
    const char *const *names = strcmp(args->words[0], "all") ? one : all;
    const qn_fit_precision precision =
        strcmp(qn_text(args, "precision"), "f32") ? QN_FIT_F64 : QN_FIT_F32;
    qn_fit_bench bench = { .stores_f32 = !strcmp(qn_text(args, "storage"), "f32") };
    qn_status st = QN_OK;

    if (is_of_solves(args->words[0]))
        return run_solves(ctx, args, precision, err);
    for (int k = 0; names[k]; k++)
        QN_TRY(qn_fit_bench_run(ctx, names[k], qn_int(args, "n"), precision, &bench, err));
    QN_TRY(print_rows(&bench, err));
    if (qn_text(args, "o"))
        QN_TRY(write_json(args, &bench, err));
out:
    qn_fit_bench_free(&bench);
    return st;
}

const qn_command qn_verb_fit_bench = {
    .name = "bench",
    .summary = "measure evaluations, solves, compilation and break-even",
    .words = "hello|B1|B2|B3|B4|B5|B6|B7|B8|all",
    .min_words = 1,
    .max_words = 1,
    .options = options,
    .notes = "B1: springs. B2: a term of 64 operations. B3: cameras. B4: ways to sum gradients.\n"
             "B5: whole solves, springs and cameras. B6: the hinge energy by L-BFGS.\n"
             "B7: compilation and its caches. B8: break-even size of a device.\n"
             "PIPED: time per evaluation of many with one wait at the end. BOUND %: the time that\n"
             "memory traffic alone would take, as a share of the measured time.",
    .examples = examples,
    .run = run,
};

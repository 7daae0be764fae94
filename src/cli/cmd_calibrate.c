/* cmd_calibrate.c - `quern calibrate`: measures the devices and stores their profiles. */
#include "cli/cli.h"

#include "engine/engine.h"
#include "util/progress.h"
#include "util/crossover.h"
#include "util/table.h"

static const qn_opt options[] = {
    { 0, "op", QN_OPT_TEXT, .value = "LIST", .help = "ops to measure (default all)" },
    { 0, "quick", QN_OPT_FLAG,
      .help = "measure only vadd, matmul and the copies, in about two seconds" },
    { 0, "seconds", QN_OPT_REAL, .value = "S", .fallback = "2", .min = 0, .max = 3600,
      .help = "longest time per op and device" },
    { 0 }
};

static const char *const examples[] = { "quern calibrate --quick --backend cpu", NULL };

/* The first call makes the bar, since only then the total is known. */
typedef struct {
    qn_progress_options how;
    qn_progress *bar;
} watch;

static void show_progress(void *user, QN_UNUSED const char *device, QN_UNUSED const char *op,
                          int done, int total)
{
    watch *w = user;
    qn_err ignored;

    if (!w->bar && done == 0)
        qn_progress_new(&w->how, "calibrate", "curves", total, &w->bar, &ignored);
    qn_progress_at(w->bar, done);
}

static qn_i64 crossover_of(const qn_route_op *op, int d, int m)
{
    return d == QN_CPU_SLOT ? -1 : qn_route_op_crossover(op, d, (qn_residency)m);
}

static void add_row(qn_table *table, const qn_route_op *op, const char *device, int d)
{
    const int n = qn_route_op_points(op, d);
    const qn_route_point first = qn_route_op_point(op, d, 0),
                         last = qn_route_op_point(op, d, n - 1);
    char text[32];

    qn_table_addf(table, "%s\t%s\t%d\t%.0f\t%.3f\t%.0f\t%.3f", qn_route_op_name(op), device, n,
                  first.size, first.median_us, last.size, last.median_us);
    for (int m = QN_RESIDENT; m <= QN_COLD; m++)
        qn_table_add(table, qn_crossover_text(crossover_of(op, d, m), text, sizeof text));
}

static qn_status print_result(const qn_ctx *ctx, qn_err *err)
{
    qn_table table =
        qn_table_begin("OP", "DEVICE", "POINTS", "FROM", "US", "TO", "US", "RESIDENT", "COLD");
    const qn_route_op *op;
    size_t at = 0;

    while ((op = qn_route_op_next(ctx, &at)))
        for (int d = 0; d < qn_device_count(ctx); d++)
            if (qn_route_op_points(op, d))
                add_row(&table, op, qn_device_id(ctx, d), d);
    return qn_table_print(&table, stdout, QN_TABLE_TEXT, err);
}

static qn_status print_files(const qn_ctx *ctx, qn_err *err)
{
    char path[1200];
    qn_status st = QN_OK;

    for (int d = 0; d < qn_device_count(ctx); d++) {
        if (d != QN_CPU_SLOT && !qn_device_is_candidate(ctx, d))
            continue;
        QN_TRY(qn_profile_path(ctx, d, path, sizeof path, err));
        printf("%s  %s\n", qn_device_id(ctx, d), path);
    }
out:
    return st;
}

static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    watch w = { .bar = NULL };
    const qn_calibration what =
        QN_CALIBRATION(.ops = qn_text(args, "op"), .is_quick = qn_flag(args, "quick"),
                       .op_seconds = qn_real(args, "seconds"), .progress = show_progress,
                       .user = &w);
    qn_status st = QN_OK;

    if (what.is_quick && what.ops)
        return qn_fail(err, QN_ERR_USAGE, "--quick has its own ops; do not give --op");
    QN_TRY(qn_cli_progress(args, &w.how.mode, err));
    QN_TRY(qn_calibrate(ctx, &what, err));
    qn_progress_done(w.bar);
    QN_TRY(print_result(ctx, err));
    QN_TRY(print_files(ctx, err));
out:
    qn_progress_free(w.bar);
    return st;
}

const qn_command qn_cmd_calibrate = {
    .name = "calibrate",
    .summary = "measure ops and copies, and write the device profiles",
    .options = options,
    .notes =
        "RESIDENT and COLD are the sizes from which the device needs at most 0.90 of the time of\n"
        "the CPU, with the data in place and with its copies. Sizes count work items.\n"
        "Profiles are in the folder `profile` of the cache; QUERN_PROFILE=0 ignores them.",
    .examples = examples,
    .run = run,
};

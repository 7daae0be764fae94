/* cmd_scan.c - `quern scan`: measures ops by size and device, and finds crossovers. */
#include "cli/cli.h"

#include "lab/scan/report.h"

#include <string.h>

/* Checks a list of the names allowed in --backend, with or without an index, and cpu1. */
static const char *check_backends(const char *value)
{
    static const char *const known[] = { "cpu", "cpu1", "opencl", "cuda", "sim" };
    char name[48];

    for (int i = 0; qn_list_item(value, i, name, sizeof name); i++) {
        const size_t len = strcspn(name, ":");
        const char *index = name + len + (name[len] == ':');
        int is_known = 0;

        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            is_known |= strlen(known[k]) == len && !memcmp(known[k], name, len);
        if (!is_known)
            return "names no backend; there are: cpu, cpu1, opencl, cuda, sim";
        if (name[len] &&
            (!strncmp(name, "cpu1", 4) || !*index || index[strspn(index, "0123456789")]))
            return "has an index that is not a number, or one for cpu1, which has none";
    }
    return NULL;
}

static const qn_opt options[] = {
    { 0, "op", QN_OPT_TEXT, .value = "LIST", .fallback = "vadd",
      .help = "ops of `quern tasks`, or all" },
    { 0, "sizes", QN_OPT_TEXT, .value = "LIST",
      .help =
          "such as 1000,1e6 or MIN:MAX:PER_DECADE (default 1000 to 10 million in steps of 1, 2, 5; "
          "less for matmul and hashes)" },
    { 0, "samples", QN_OPT_INT, .value = "N", .fallback = "10", .min = QN_SCAN_MIN_SAMPLES,
      .max = 1000000, .help = "measurements per figure; the median is reported" },
    { 0, "warmup", QN_OPT_INT, .value = "N", .fallback = "2", .min = 1, .max = 1000,
      .help = "number of runs before the measurements" },
    { 0, "backends", QN_OPT_TEXT, .value = "LIST", .check = check_backends,
      .help =
          "what to measure, such as cpu,cpu1,cuda:0; cpu1 is one thread (default: all available)" },
    { 0, "residency", QN_OPT_CHOICE, .value = "both|cold|resident", .fallback = "both",
      .help = "cold: from host to host; resident: data in place" },
    { 0, "refine", QN_OPT_FLAG, .help = "find crossovers to within 10 %" },
    { 'o', NULL, QN_OPT_TEXT, .value = "PREFIX", .fallback = "out/scan",
      .help = "write PREFIX.csv, .md, .html and .json" },
    { 0 }
};

static const char *const examples[] = {
    "quern scan --op vadd,sum --sizes 1000:100000:3 --samples 5 --backends cpu,cpu1 -o first", NULL
};

/* Opens the devices in --backends, else those in --backend. cpu1 is the CPU. */
static qn_status open_devices(const qn_args *args, qn_ctx **out, qn_err *err)
{
    const char *names = qn_text(args, "backends");
    qn_args local = *args;
    qn_str list = { 0 };
    char name[48];
    qn_status st;

    for (int i = 0; names && qn_list_item(names, i, name, sizeof name); i++)
        qn_str_addf(&list, "%s%s", list.len ? "," : "", strcmp(name, "cpu1") ? name : "cpu");
    if (list.failed) {
        qn_str_free(&list);
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a list of backends");
    }
    if (list.len)
        local.global.engine.backend = list.data;
    st = qn_cli_open(&local, out, err);
    qn_str_free(&list);
    return st;
}

static qn_status measure(qn_ctx *ctx, const qn_args *args, const char *command, qn_scan *scan,
                         qn_err *err)
{
    const char *residency = qn_text(args, "residency");
    qn_status st = QN_OK;
    qn_scan_options wanted = {
        .ops = qn_text(args, "op"),
        .sizes = qn_text(args, "sizes"),
        .backends = qn_text(args, "backends"),
        .samples = (int)qn_int(args, "samples"),
        .warmup = (int)qn_int(args, "warmup"),
        .has_cold = strcmp(residency, "resident") != 0,
        .has_resident = strcmp(residency, "cold") != 0,
        .is_refined = qn_flag(args, "refine"),
        .seed = args->global.seed,
        .command = command,
        .engine = args->global.engine,
    };

    QN_TRY(qn_cli_progress(args, &wanted.watch.mode, err));
    QN_TRY(qn_scan_run(ctx, &wanted, scan, err));
out:
    return st;
}

static void add_check(const qn_args *args, const qn_scan *scan)
{
    double n_equal = 0;

    for (size_t i = 0; i < scan->n_rows; i++)
        n_equal += scan->rows[i].is_verified != 0;
    qn_cli_check_equal(args, "results of all sizes and devices", "results of the CPU",
                       (double)scan->n_rows, n_equal);
}

static qn_status run(QN_UNUSED qn_ctx *none, const qn_args *args, qn_err *err)
{
    const char *prefix = qn_text(args, "o");
    qn_status st = QN_OK;
    qn_scan scan = { 0 };
    qn_str line = { 0 };
    qn_ctx *ctx = NULL;

    QN_TRY(qn_cli_line(args, &line, err));
    QN_TRY(qn_scan_set_name(&scan, prefix, err));
    QN_TRY(open_devices(args, &ctx, err));
    QN_TRY(measure(ctx, args, qn_str_get(&line), &scan, err));
    qn_cli_summary(args, (double)scan.n_rows, "measurement", "measurements");
    add_check(args, &scan);
    QN_TRY(qn_scan_save(&scan, prefix, err));
    QN_TRY(qn_scan_print(&scan, stdout, err));
out:
    st = qn_cli_close(args, ctx, st, err);
    qn_str_free(&line);
    qn_scan_free(&scan);
    return st;
}

const qn_command qn_cmd_scan = {
    .name = "scan",
    .summary = "measure ops over sizes and devices, and find where devices overtake the CPU",
    .options = options,
    .notes =
        "Crossover: the size from which the device always needs at most 0.90 of the time of the\n"
        "CPU. First win: the smallest size with any gain. Every result is compared with that of\n"
        "the CPU. Exit 4: a result differs.",
    .examples = examples,
    .bare = 1,
    .run = run,
};

/* cmd_bench.c - `quern bench`: micro-benchmarks of the engine, and what a change did to them. */
#include "cli/cli.h"

#include "lab/engine/bench.h"

#include <string.h>

#define SAMPLES                                                                                    \
    0, "samples", QN_OPT_INT, .value = "N", .fallback = "20", .min = 3, .max = 100000,             \
                              .help = "measurements per figure; the median is reported"
#define FIGURES 'o', NULL, QN_OPT_TEXT, .value = "FILE.json", .help = "write all figures"
#define COMPARE                                                                                    \
    0, "compare", QN_OPT_TEXT, .value = "OLD.json",                                                \
                               .help = "compare with figures written earlier by -o"

static const qn_opt ops_options[] = {
    { 0, "op", QN_OPT_TEXT, .value = "LIST", .help = "ops of `quern tasks` (default all)" },
    { 0, "sizes", QN_OPT_TEXT, .value = "LIST",
      .help = "elements (default: large enough for op and device)" },
    { 0, "sweep-priority", QN_OPT_FLAG,
      .help = "speed-up of a chain of ops when those up to priority 1, 2, 3 leave the CPU" },
    { SAMPLES },
    { COMPARE },
    { FIGURES },
    { 0 },
};

static const qn_opt graph_options[] = {
    { 0, "stages", QN_OPT_INT, .value = "N", .fallback = "650", .min = 2, .max = 100000,
      .help = "length of the chain" },
    { SAMPLES },
    { COMPARE },
    { FIGURES },
    { 0 },
};

static const qn_opt pool_options[] = { { SAMPLES }, { COMPARE }, { FIGURES }, { 0 } };

static const qn_opt kernels_options[] = {
    { 0, "modules", QN_OPT_TEXT, .value = "LIST", .help = "kernel modules (default all)" },
    { SAMPLES },
    { COMPARE },
    { FIGURES },
    { 0 },
};

static const qn_opt fft_options[] = {
    { 0, "sizes", QN_OPT_TEXT, .value = "LIST", .fallback = "256,512,1024",
      .help = "sides of the square fields" },
    { 0, "batch", QN_OPT_TEXT, .value = "LIST", .fallback = "1,4", .help = "fields per transform" },
    { 0, "precision", QN_OPT_TEXT, .value = "LIST", .fallback = "f32,f64",
      .help = "f32, f64 or both" },
    { 0, "two-thirds", QN_OPT_FLAG, .help = "only modes up to a third of the side count" },
    { SAMPLES },
    { COMPARE },
    { FIGURES },
    { 0 },
};

typedef qn_status (*bench_fn)(const qn_bench_options *options, qn_bench *bench, qn_err *err);

/* Reads the older figures first: a file that is no good should not cost a measurement. */
static qn_status load_older(const qn_args *args, qn_bench *older, qn_err *err)
{
    const char *path = qn_text(args, "compare");
    qn_status st = QN_OK;

    if (!path)
        return QN_OK;
    QN_TRY(qn_cli_input(path, err));
    QN_TRY(qn_bench_load(path, older, err));
    if (strcmp(older->verb, args->command->name))
        st = qn_fail(err, QN_ERR_INPUT, "%s is of bench %s, not of bench %s", path, older->verb,
                     args->command->name);
out:
    return st;
}

static qn_status measure(const qn_args *args, qn_bench_options *options, bench_fn fn,
                         qn_bench *bench, qn_err *err)
{
    qn_status st = QN_OK;
    qn_str line = { 0 };

    options->engine = args->global.engine;
    options->seed = args->global.seed;
    options->samples = (int)qn_int(args, "samples");
    snprintf(bench->verb, sizeof bench->verb, "%s", args->command->name);
    qn_cli_line(args, &line);
    bench->command = line.data;
    QN_TRY(qn_cli_progress(args, &options->watch.mode, err));
    QN_TRY(fn(options, bench, err));
out:
    return st;
}

static qn_status run_verb(const qn_args *args, qn_bench_options *options, bench_fn fn, qn_err *err)
{
    qn_status st = QN_OK;
    qn_bench bench = { 0 }, older = { 0 };

    QN_TRY(load_older(args, &older, err));
    QN_TRY(measure(args, options, fn, &bench, err));
    QN_TRY(qn_bench_print(&bench, stdout, err));
    if (qn_given(args, "compare")) {
        putchar('\n');
        QN_TRY(qn_bench_print_change(&older, &bench, stdout, err));
    }
    if (qn_given(args, "o"))
        QN_TRY(qn_bench_save(&bench, qn_text(args, "o"), err));
out:
    qn_bench_free(&bench);
    qn_bench_free(&older);
    return st;
}

static qn_status run_ops(qn_ctx *none, const qn_args *args, qn_err *err)
{
    qn_bench_options options = { .ops = qn_text(args, "op"),
                                 .sizes = qn_text(args, "sizes"),
                                 .sweeps_priority = qn_flag(args, "sweep-priority") };

    (void)none;
    return run_verb(args, &options, qn_bench_ops, err);
}

static qn_status run_graph(qn_ctx *none, const qn_args *args, qn_err *err)
{
    qn_bench_options options = { .stages = (int)qn_int(args, "stages") };

    (void)none;
    return run_verb(args, &options, qn_bench_graph, err);
}

static qn_status run_pool(qn_ctx *none, const qn_args *args, qn_err *err)
{
    qn_bench_options options = { 0 };

    (void)none;
    return run_verb(args, &options, qn_bench_pool, err);
}

static qn_status run_kernels(qn_ctx *none, const qn_args *args, qn_err *err)
{
    qn_bench_options options = { .modules = qn_text(args, "modules") };

    (void)none;
    return run_verb(args, &options, qn_bench_kernels, err);
}

static qn_status run_fft(qn_ctx *none, const qn_args *args, qn_err *err)
{
    qn_bench_options options = { .sizes = qn_text(args, "sizes"),
                                 .batches = qn_text(args, "batch"),
                                 .precision = qn_text(args, "precision"),
                                 .keeps_two_thirds = qn_flag(args, "two-thirds") };

    (void)none;
    return run_verb(args, &options, qn_bench_fft, err);
}

static const char *const ops_examples[] = {
    "quern bench ops --backend cpu --op vadd --sizes 100000 --samples 3", NULL
};
static const char *const graph_examples[] = {
    "quern bench graph --backend cpu --stages 50 --samples 5 -o before.json",
    "quern bench graph --backend cpu --stages 50 --samples 5 --compare before.json", NULL
};
static const char *const pool_examples[] = { "quern bench pool --backend cpu --samples 5", NULL };
static const char *const kernels_examples[] = {
    "quern bench kernels --backend cpu --modules vector", NULL
};

static const char *const fft_examples[] = {
    "quern bench fft --backend cpu --sizes 64,96 --batch 1 --precision f32 --samples 5", NULL
};

static const qn_command ops_verb = {
    .name = "ops",
    .summary = "rate of every op with its data in place, compared with the triad of the machine",
    .options = ops_options,
    .examples = ops_examples,
    .bare = 1,
    .run = run_ops,
};

static const qn_command pool_verb = {
    .name = "pool",
    .summary = "time to allocate a block of memory, with the pool and without it",
    .options = pool_options,
    .examples = pool_examples,
    .bare = 1,
    .run = run_pool,
};

static const qn_command graph_verb = {
    .name = "graph",
    .summary = "overhead of a stage, submitted directly and replayed",
    .options = graph_options,
    .examples = graph_examples,
    .bare = 1,
    .run = run_graph,
};

static const qn_command kernels_verb = {
    .name = "kernels",
    .summary = "time until a kernel module is ready: compiled, from disk, from memory",
    .options = kernels_options,
    .examples = kernels_examples,
    .bare = 1,
    .run = run_kernels,
};

static const qn_command fft_verb = {
    .name = "fft",
    .summary = "time of a batched 2-D transform of real fields, and the rate of its bytes",
    .options = fft_options,
    .examples = fft_examples,
    .bare = 1,
    .run = run_fft,
};

static const qn_command *const verbs[] = { &ops_verb,     &pool_verb, &graph_verb,
                                           &kernels_verb, &fft_verb,  NULL };

const qn_command qn_cmd_bench = {
    .name = "bench",
    .summary = "micro-benchmarks of the engine",
    .notes = "A change within 5 % is reported neither as better nor as worse.",
    .verbs = verbs,
};

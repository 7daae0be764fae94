/* cmd_bench.c - `quern bench`: micro-benchmarks of the engine, compared with earlier figures. */
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
/* The last options of every verb, which end its table. */
/* clang-format off */
#define COMMON { SAMPLES }, { COMPARE }, { FIGURES }, { 0 }
/* clang-format on */

static const qn_opt ops_options[] = {
    { 0, "op", QN_OPT_TEXT, .value = "LIST", .help = "ops of `quern tasks` (default all)" },
    { 0, "sizes", QN_OPT_TEXT, .value = "LIST",
      .help = "elements (default: large enough for op and device)" },
    { 0, "sweep-priority", QN_OPT_FLAG,
      .help = "speed-up of a chain of ops if ops up to priority 1, 2, 3 leave the CPU" },
    COMMON,
};

static const qn_opt graph_options[] = {
    { 0, "stages", QN_OPT_INT, .value = "N", .fallback = "650", .min = 2, .max = 100000,
      .help = "length of the chain" },
    COMMON,
};

static const qn_opt pool_options[] = { COMMON };

static const qn_opt kernels_options[] = {
    { 0, "modules", QN_OPT_TEXT, .value = "LIST", .help = "kernel modules (default all)" }, COMMON
};

static const qn_opt fft_options[] = {
    { 0, "sizes", QN_OPT_TEXT, .value = "LIST", .fallback = "256,512,1024",
      .help = "sides of the square fields" },
    { 0, "batch", QN_OPT_TEXT, .value = "LIST", .fallback = "1,4", .help = "fields per transform" },
    { 0, "precision", QN_OPT_TEXT, .value = "LIST", .fallback = "f32,f64",
      .help = "f32, f64 or both" },
    { 0, "two-thirds", QN_OPT_FLAG, .help = "only modes up to a third of the side count" },
    COMMON,
};

/* Reads the older figures before measuring, so that a bad file is reported at once. */
static qn_status load_older(const qn_args *args, qn_bench *older, qn_err *err)
{
    const char *path = qn_text(args, "compare");
    qn_status st = QN_OK;

    if (!path)
        return QN_OK;
    QN_TRY(qn_cli_input(path, err));
    QN_TRY(qn_bench_load(path, older, err));
    if (strcmp(older->verb, args->command->name))
        st = qn_fail(err, QN_ERR_INPUT, "%s is from bench %s, not bench %s", path, older->verb,
                     args->command->name);
out:
    return st;
}

/* NULL if the verb has no such option. */
static const char *text_of(const qn_args *args, const char *name)
{
    return qn_has_option(args, name) ? qn_text(args, name) : NULL;
}

static qn_status measure(const qn_args *args, qn_bench *bench, qn_err *err)
{
    static const struct {
        const char *verb;
        qn_status (*run)(const qn_bench_options *options, qn_bench *bench, qn_err *err);
    } benches[] = { { "ops", qn_bench_ops },
                    { "pool", qn_bench_pool },
                    { "graph", qn_bench_graph },
                    { "kernels", qn_bench_kernels },
                    { "fft", qn_bench_fft } };
    qn_bench_options options = {
        .engine = args->global.engine,
        .seed = args->global.seed,
        .samples = (int)qn_int(args, "samples"),
        .ops = text_of(args, "op"),
        .sizes = text_of(args, "sizes"),
        .sweeps_priority = qn_has_option(args, "sweep-priority") && qn_flag(args, "sweep-priority"),
        .stages = qn_has_option(args, "stages") ? (int)qn_int(args, "stages") : 0,
        .modules = text_of(args, "modules"),
        .batches = text_of(args, "batch"),
        .precision = text_of(args, "precision"),
        .keeps_two_thirds = qn_has_option(args, "two-thirds") && qn_flag(args, "two-thirds"),
    };
    qn_status st = QN_OK;
    qn_str line = { 0 };
    int i = 0;

    while (strcmp(benches[i].verb, args->command->name))
        i++;
    snprintf(bench->verb, sizeof bench->verb, "%s", args->command->name);
    st = qn_cli_line(args, &line, err);
    bench->command = line.data; /* possibly incomplete */
    QN_TRY(st);
    QN_TRY(qn_cli_progress(args, &options.watch.mode, err));
    QN_TRY(benches[i].run(&options, bench, err));
out:
    return st;
}

static qn_status run(QN_UNUSED qn_ctx *none, const qn_args *args, qn_err *err)
{
    qn_status st = QN_OK;
    qn_bench bench = { 0 }, older = { 0 };

    QN_TRY(load_older(args, &older, err));
    QN_TRY(measure(args, &bench, err));
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

#define VERB(word, summary_)                                                                       \
    static const qn_command word##_verb = { .name = #word,                                         \
                                            .summary = summary_,                                   \
                                            .options = word##_options,                             \
                                            .examples = word##_examples,                           \
                                            .bare = 1,                                             \
                                            .run = run }

VERB(ops, "rate of every op with its data in place, compared with the triad of the machine");
VERB(pool, "time to allocate a block of memory, with the pool and without it");
VERB(graph, "overhead of a stage, submitted directly and replayed");
VERB(kernels, "time until a kernel module is ready: compiled, from disk, from memory");
VERB(fft, "time of a batched 2-D transform of real fields, and the rate of its bytes");

static const qn_command *const verbs[] = { &ops_verb,     &pool_verb, &graph_verb,
                                           &kernels_verb, &fft_verb,  NULL };

const qn_command qn_cmd_bench = {
    .name = "bench",
    .summary = "micro-benchmarks of the engine",
    .notes = "A change within 5 % is reported neither as better nor as worse.",
    .verbs = verbs,
};

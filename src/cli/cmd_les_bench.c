/* cmd_les_bench.c - `quern les bench`: times steps on several grids, and whole runs. */
#include "cli/cli.h"

#include "lab/timing.h"
#include "lab/les/bench/bench.h"
#include "lab/scan/scan.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const qn_opt bench_options[] = {
    { 0, "sizes", QN_OPT_TEXT, .value = "LIST", .fallback = "256,512,1024",
      .help = "grid sizes, in cells along a side" },
    { 0, "precision", QN_OPT_TEXT, .value = "LIST", .fallback = "f32",
      .help = "precisions of the fields: f32, f64 or both" },
    { 0, "ensemble", QN_OPT_TEXT, .value = "LIST", .fallback = "1",
      .help = "ensemble sizes, in members" },
    { 0, "profile", QN_OPT_TEXT, .value = "LIST", .fallback = "quern",
      .help = "sets of defaults: quern, origin or both" },
    { 0, "samples", QN_OPT_INT, .value = "N", .fallback = "7", .min = 3, .max = 100,
      .help = "measurements per time; the median is reported" },
    { 0, "steps", QN_OPT_INT, .value = "N", .fallback = "200", .min = 20, .max = 1000000,
      .help = "steps of each run of --table and --sweep" },
    { 0, "fft", QN_OPT_TEXT, .value = "WAY", .fallback = "auto",
      .help = "Fourier transforms: auto, fftw, vkfft or own" },
    { 0, "fft-only", QN_OPT_FLAG, .help = "time only the Fourier transforms of a step" },
    { 0, "table", QN_OPT_FLAG,
      .help = "time whole runs on the CPU, mixed, and on the device; append to summary.md" },
    { 0, "sweep", QN_OPT_FLAG,
      .help = "time whole runs by size, precision, and frames every 1, 10 and 50 steps" },
    { 0, "features", QN_OPT_TEXT, .value = "LIST",
      .help = "time a step of the learned operator instead, for these numbers of features" },
    { 0, "out", QN_OPT_TEXT, .value = "DIR", .fallback = "out", .help = "folder for the results" },
    { 0 }
};

static const char *const examples[] = {
    "quern les bench --sizes 32 --samples 3 --backend cpu --out figures", NULL
};

enum { TABLE_FRAMES = 20 };

/* The cases to measure. */

typedef struct cases {
    qn_sizes sizes, members;
    int has_precision[2], has_profile[2], fft;
} cases;

static void cases_free(cases *c)
{
    qn_sizes_free(&c->sizes);
    qn_sizes_free(&c->members);
}

/* Finds which of two words are in a list. */
static qn_status parse_words(const char *option, const char *list, const char *a, const char *b,
                             int has[2], qn_err *err)
{
    char word[16];

    for (int i = 0; qn_list_item(list, i, word, sizeof word); i++) {
        if (strcmp(word, a) && strcmp(word, b))
            return qn_fail(err, QN_ERR_USAGE, "--%s: '%s' is neither %s nor %s", option, word, a,
                           b);
        has[!strcmp(word, b)] = 1;
    }
    return QN_OK;
}

/* Converts "auto" to QN_LES_FFT_AUTO, and so on. */
static qn_status parse_fft(const char *word, int *out, qn_err *err)
{
    static const char *const words[] = { "auto", "fftw", "vkfft", "own", NULL };

    for (*out = 0; words[*out]; ++*out)
        if (!strcmp(words[*out], word))
            return QN_OK;
    return qn_fail(err, QN_ERR_USAGE, "--fft: '%s' is not one of auto, fftw, vkfft, own", word);
}

static qn_status parse(const qn_args *args, cases *out, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_sizes_parse(qn_text(args, "sizes"), &out->sizes, err));
    QN_TRY(qn_sizes_parse(qn_text(args, "ensemble"), &out->members, err));
    QN_TRY(parse_words("precision", qn_text(args, "precision"), "f32", "f64", out->has_precision,
                       err));
    QN_TRY(
        parse_words("profile", qn_text(args, "profile"), "quern", "origin", out->has_profile, err));
    QN_TRY(parse_fft(qn_text(args, "fft"), &out->fft, err));
out:
    return st;
}

/* The options of one flow for all sizes, with a time step that is stable on all of them and two
 * right-hand sides per step. */
static qn_les_options make_options(const cases *c, int profile, int what, int n, int members,
                                   int is_f64)
{
    qn_les_options o;

    qn_les_options_init(&o, sizeof o);
    qn_les_options_profile(&o, profile);
    o.what = what;
    o.N = n;
    o.ensemble = members;
    o.precision = is_f64 ? QN_LES_F64 : QN_LES_F32;
    o.ic = QN_LES_IC_SPECTRAL;
    o.dt_mode = QN_LES_DT_AUTO;
    o.integrator = QN_LES_HEUN;
    o.steps = 200;
    o.stride = 100;
    o.observer = QN_LES_OBSERVE_METRICS;
    o.video = QN_LES_VIDEO_NONE;
    o.fft = c->fft;
    return o;
}

/* Steps. */

static qn_status print_points(const qn_les_points *points, qn_err *err)
{
    const qn_sheet sheet = qn_les_sheet(points);
    qn_table table = qn_sheet_table(&sheet);

    return qn_cli_print_table(&table, 0, err);
}

static qn_status measure_steps(qn_ctx *ctx, const qn_args *args, const cases *c,
                               qn_les_points *points, qn_err *err)
{
    const int samples = (int)qn_int(args, "samples");
    qn_les_options options;
    qn_status st = QN_OK;

    QN_TRY(qn_time_bandwidth(ctx, &points->gbs, err));
    for (size_t i = 0; i < c->sizes.n; i++)
        for (size_t m = 0; m < c->members.n; m++)
            for (int k = 0; k < 4; k++) {
                if (!c->has_precision[k % 2] || !c->has_profile[k / 2])
                    continue;
                options = make_options(c, k / 2, QN_LES_WHAT_SIM, (int)c->sizes.list[i],
                                       (int)c->members.list[m], k % 2);
                QN_TRY(qn_les_bench_add(ctx, &options, samples, qn_flag(args, "fft-only"), points,
                                        err));
            }
out:
    return st;
}

static void prefix_of(const qn_args *args, const char *what, char *out, size_t size)
{
    char utc[QN_UTC_SIZE], stamp[QN_UTC_SIZE];
    int n = 0;

    qn_utc(utc);
    for (const char *c = utc; *c; c++)
        if (*c != '-' && *c != ':')
            stamp[n++] = *c;
    stamp[n] = 0;
    snprintf(out, size, "%s/les_%s_%s", qn_text(args, "out"), what, stamp);
}

static qn_status bench_steps(qn_ctx *ctx, const qn_args *args, const cases *c, qn_err *err)
{
    qn_les_points points = { 0 };
    char prefix[QN_OPTION_TEXT_BYTES];
    qn_str line = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_cli_line(args, &line, err));
    prefix_of(args, "bench", prefix, sizeof prefix);
    QN_TRY(measure_steps(ctx, args, c, &points, err));
    QN_TRY(qn_les_bench_write(&points, prefix, qn_str_get(&line), err));
    QN_TRY(print_points(&points, err));
    printf("memory: %.1f GB/s; files: %s.csv, .json, .html\n", points.gbs, prefix);
out:
    qn_les_points_free(&points);
    qn_str_free(&line);
    return st;
}

/* Whole runs. */

static qn_status open_cpu(const qn_args *args, qn_ctx **out, qn_err *err)
{
    qn_args local = *args;

    local.global.engine.backend = "cpu";
    local.global.metrics_port = 0;
    return qn_cli_open(&local, out, err);
}

static qn_status add_summary(const qn_args *args, const qn_table *table, const char *line,
                             qn_err *err)
{
    char path[QN_OPTION_TEXT_BYTES], utc[QN_UTC_SIZE];
    char *before = NULL;
    size_t bytes = 0;
    qn_str text = { 0 };
    qn_err none = { .text = "" };
    qn_status st = QN_OK;

    snprintf(path, sizeof path, "%s/summary.md", qn_text(args, "out"));
    qn_utc(utc);
    if (qn_file_read(path, &before, &bytes, &none) == QN_OK)
        qn_str_add_n(&text, before, bytes);
    else
        qn_str_add(&text, "# Flow, encoded and learned: CPU, mixed, device\n");
    qn_str_addf(&text, "\n## %s\n\n    %s\n\n", utc, line);
    qn_str_add(
        &text,
        "Seconds of a whole run: steps, encoding, learning, rollout, decoding, and drawing 20 "
        "frames, after a brief run that made plans and kernels. flow on cpu: only the steps. cpu: "
        "everything on the CPU. mixed: the flow on the CPU, every frame uploaded, nothing "
        "decoded or drawn. gpu: only snapshots and frames leave the device.\n\n");
    qn_table_format(table, QN_TABLE_MARKDOWN, &text);
    QN_TRY(qn_make_parent(path, err));
    QN_TRY(qn_file_write_str(path, &text, err));
    printf("added to %s\n", path);
out:
    free(before);
    qn_str_free(&text);
    return st;
}

static qn_status add_row(qn_table *table, qn_ctx *cpu, qn_ctx *device,
                         const qn_les_options *options, qn_err *err)
{
    qn_les_options brief = *options;
    qn_les_whole on_cpu, on_both, on_device;
    qn_status st = QN_OK;

    brief.steps = 40;
    brief.stride = 20;
    brief.observer = QN_LES_OBSERVE_METRICS;
    QN_TRY(qn_les_whole_run(cpu, &brief, &on_cpu, err));
    QN_TRY(qn_les_whole_run(device, &brief, &on_device, err));
    QN_TRY(qn_les_whole_run(cpu, options, &on_cpu, err));
    QN_TRY(qn_les_mixed_run(cpu, device, options, &on_both, err));
    QN_TRY(qn_les_whole_run(device, options, &on_device, err));
    qn_table_addf(table, "%d\t%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.2f\t%.4f\t%.4f\t%s", options->N,
                  options->precision == QN_LES_F64 ? "f64" : "f32", options->steps,
                  on_cpu.step_us * options->steps / 1e6, on_cpu.total_s, on_both.total_s,
                  on_device.total_s, on_cpu.total_s / on_device.total_s, on_cpu.error,
                  on_device.error, on_device.device);
out:
    return st;
}

static qn_status bench_table(qn_ctx *device, const qn_args *args, const cases *c, qn_err *err)
{
    qn_table table = qn_table_begin("N", "precision", "steps", "flow on cpu s", "cpu s", "mixed s",
                                    "gpu s", "cpu / gpu", "cpu error", "gpu error", "device");
    qn_les_options options;
    qn_ctx *cpu = NULL;
    qn_str line = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_cli_line(args, &line, err));
    QN_TRY(open_cpu(args, &cpu, err));
    for (size_t i = 0; i < c->sizes.n; i++)
        for (int k = 0; k < 2; k++) {
            if (!c->has_precision[k])
                continue;
            options =
                make_options(c, QN_LES_PROFILE_QUERN, QN_LES_WHAT_ALL, (int)c->sizes.list[i], 1, k);
            options.steps = (int)qn_int(args, "steps");
            options.stride = options.steps / TABLE_FRAMES;
            options.observer = QN_LES_OBSERVE_SNAPSHOTS;
            QN_TRY(add_row(&table, cpu, device, &options, err));
        }
    QN_TRY(add_summary(args, &table, qn_str_get(&line), err));
    QN_TRY(qn_table_print(&table, stdout, QN_TABLE_TEXT, err));
out:
    qn_table_free(&table);
    qn_ctx_close(cpu);
    qn_str_free(&line);
    return st;
}

/* Adds the rows of a sweep for one size, in both precisions. */
static qn_status sweep_size(qn_ctx *ctx, const qn_args *args, const cases *c, int n,
                            qn_table *table, qn_err *err)
{
    static const int every[] = { 1, 10, 50 };
    qn_les_options options;
    qn_les_whole whole;
    qn_status st = QN_OK;

    for (int k = 0; k < 6; k++) {
        const int is_f64 = k / 3, steps = (int)qn_int(args, "steps");

        if (!c->has_precision[is_f64] || steps < 4 * every[k % 3])
            continue;
        options = make_options(c, QN_LES_PROFILE_QUERN, QN_LES_WHAT_ALL, n, 1, is_f64);
        options.steps = steps / 100 ? steps / 100 * 100 : steps;
        options.stride = options.steps / 2;
        options.encode_every = every[k % 3];
        QN_TRY(qn_les_whole_run(ctx, &options, &whole, err));
        qn_table_addf(table, "%d\t%s\t%d\t%s\t%.3f\t%.3f\t%.3f\t%.6f", n, is_f64 ? "f64" : "f32",
                      every[k % 3], whole.device, whole.total_s, whole.step_us, whole.rollout_us,
                      whole.error);
    }
out:
    return st;
}

static qn_status bench_sweep(qn_ctx *ctx, const qn_args *args, const cases *c, qn_err *err)
{
    qn_table table = qn_table_begin("N", "PRECISION", "FRAMES EVERY", "DEVICE", "RUN S", "STEP US",
                                    "ROLLOUT US", "ERROR");
    char prefix[QN_OPTION_TEXT_BYTES], path[QN_OPTION_TEXT_BYTES + 8];
    qn_str json = { 0 }, md = { 0 };
    qn_status st = QN_OK;

    prefix_of(args, "sweep", prefix, sizeof prefix);
    for (size_t i = 0; i < c->sizes.n; i++)
        QN_TRY(sweep_size(ctx, args, c, (int)c->sizes.list[i], &table, err));
    qn_table_format(&table, QN_TABLE_JSON, &json);
    qn_table_format(&table, QN_TABLE_MARKDOWN, &md);
    QN_TRY(qn_make_parent(prefix, err));
    snprintf(path, sizeof path, "%s.json", prefix);
    QN_TRY(qn_file_write_str(path, &json, err));
    snprintf(path, sizeof path, "%s.md", prefix);
    QN_TRY(qn_file_write_str(path, &md, err));
    QN_TRY(qn_table_print(&table, stdout, QN_TABLE_TEXT, err));
    printf("files: %s.json, .md\n", prefix);
out:
    qn_table_free(&table);
    qn_str_free(&json);
    qn_str_free(&md);
    return st;
}

/* The learned operator. */

static qn_status bench_rollout(qn_ctx *ctx, const qn_args *args, const cases *c, qn_err *err)
{
    static const int ways[] = { QN_LES_ROLLOUT_GEMV, QN_LES_ROLLOUT_BLOCKED };
    qn_table table = qn_table_begin("FEATURES", "PREC", "MEMBERS", "GEMV US", "BLOCKED US");
    qn_les_options options;
    qn_sizes features = { 0 };
    qn_status st = QN_OK;
    double us;

    QN_TRY(qn_sizes_parse(qn_text(args, "features"), &features, err));
    for (size_t i = 0; i < features.n * c->members.n * 2; i++) {
        const int is_f64 = (int)(i % 2), members = (int)c->members.list[i / 2 % c->members.n];
        const int d = (int)features.list[i / 2 / c->members.n];

        if (!c->has_precision[is_f64])
            continue;
        options = make_options(c, QN_LES_PROFILE_QUERN, QN_LES_WHAT_ALL, 64, members, is_f64);
        qn_table_addf(&table, "%d\t%s\t%d", d, is_f64 ? "f64" : "f32", members);
        for (int way = 0; way < 2; way++) {
            options.rollout = ways[way];
            QN_TRY(qn_les_bench_rollout(ctx, &options, d, (int)qn_int(args, "samples"), &us, err));
            qn_table_addf(&table, "%.3f", us);
        }
    }
    QN_TRY(qn_table_print(&table, stdout, QN_TABLE_TEXT, err));
out:
    qn_table_free(&table);
    qn_sizes_free(&features);
    return st;
}

static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    cases c = { 0 };
    qn_status st = QN_OK;

    QN_TRY(parse(args, &c, err));
    if (qn_given(args, "features"))
        QN_TRY(bench_rollout(ctx, args, &c, err));
    else if (qn_flag(args, "table"))
        QN_TRY(bench_table(ctx, args, &c, err));
    else if (qn_flag(args, "sweep"))
        QN_TRY(bench_sweep(ctx, args, &c, err));
    else
        QN_TRY(bench_steps(ctx, args, &c, err));
out:
    cases_free(&c);
    return st;
}

const qn_command qn_verb_les_bench = {
    .name = "bench",
    .summary = "measure the time per step, its transforms alone, and the memory rate of the device",
    .options = bench_options,
    .notes = "ROOFLINE: bytes per second of a step by the cost model (77 fields; 89 for origin),\n"
             "relative to a plain loop over large arrays in the same memory. STEP / FFT: time of\n"
             "a step over the time of its transforms.",
    .examples = examples,
    .run = run,
};

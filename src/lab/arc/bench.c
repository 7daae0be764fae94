/* bench.c - measures every place, set of programs and batch size. */
#include "lab/arc/bench.h"

#include "lab/arc/check.h"
#include "lab/timing.h"
#include "util/clock.h"
#include "util/crossover.h"
#include "util/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE_SAMPLES = 3, PROGRAM_SAMPLES = 3 };

/* Where a bench measures: a context, a session, and jobs to run in it. */
typedef struct place {
    const qn_arc_programs *programs;
    const qn_arc_tasks *tasks;
    const qn_arc_bench_options *options;
    qn_ctx *ctx;
    qn_arc_session *session;
    qn_arc_questions questions;
    qn_arc_job *jobs;
    int *program_of; /* of each job */
    uint32_t n;
} place;

static void drop_jobs(place *at)
{
    qn_arc_questions_free(&at->questions);
    free(at->jobs);
    free(at->program_of);
    at->jobs = NULL;
    at->program_of = NULL;
    at->n = 0;
}

static void close_place(place *at)
{
    drop_jobs(at);
    qn_arc_session_free(at->session);
    qn_ctx_close(at->ctx);
    *at = (place){ 0 };
}

/* Opens the device, or the CPU with that many threads (0: all). */
static qn_status open_place(place *at, const qn_arc_programs *programs, const qn_arc_tasks *tasks,
                            const qn_arc_bench_options *options, const char *backend, int threads,
                            qn_err *err)
{
    qn_options engine = options->engine;
    qn_status st = QN_OK;

    *at = (place){ .programs = programs, .tasks = tasks, .options = options };
    engine.backend = backend;
    if (threads)
        engine.threads = threads;
    QN_TRY(qn_ctx_open(&engine, &at->ctx, err));
    QN_TRY(qn_arc_session_new(at->ctx, &options->session, &at->session, err));
out:
    if (st != QN_OK)
        close_place(at);
    return st;
}

/* A permutation of colours for each copy; the first copy keeps the original colours. */
static void shuffle(int copy, unsigned char recolour[QN_ARC_COLOURS])
{
    for (int c = 0; c < QN_ARC_COLOURS; c++)
        recolour[c] = (unsigned char)c;
    for (int c = QN_ARC_COLOURS - 1; copy && c > 0; c--) {
        const int other = (int)(qn_random_u64((uint64_t)copy, (uint64_t)c) % (uint64_t)(c + 1));
        const unsigned char was = recolour[c];

        recolour[c] = recolour[other];
        recolour[other] = was;
    }
}

static qn_status load_questions(place *s, int copies, qn_err *err)
{
    unsigned char recolour[QN_ARC_COLOURS];
    qn_arc_question_options options = { .pairs = QN_ARC_PAIRS_ALL,
                                        .with_samples = qn_arc_takes_samples(s->programs->codes,
                                                                             s->programs->n),
                                        .without_expected = s->options->no_check,
                                        .recolour = s->options->no_check ? recolour : NULL };
    qn_status st = QN_OK;

    for (int c = 0; c < copies; c++) {
        shuffle(c, recolour);
        for (size_t t = 0; t < s->tasks->n; t++)
            QN_TRY(qn_arc_questions_add(&s->questions, &s->tasks->items[t], &options, s->session,
                                        err));
    }
out:
    return st;
}

static qn_status list_jobs(place *s, int without, qn_err *err)
{
    const qn_arc_code *codes = s->programs->codes;
    qn_arc_series series = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_arc_series_make(codes, s->programs->n, &s->questions, s->options->match_all, &series,
                              err));
    s->jobs = malloc(((size_t)series.n + 1) * sizeof *s->jobs);
    s->program_of = malloc(((size_t)series.n + 1) * sizeof *s->program_of);
    if (!s->jobs || !s->program_of)
        QN_FAIL(err, QN_ERR_NOMEM, "arc: no memory for %u runs", series.n);
    for (uint32_t k = 0; k < series.n; k++) {
        const qn_arc_series_run *run = &series.items[k];

        if (run->program == without)
            continue;
        s->program_of[s->n] = run->program;
        s->jobs[s->n++] =
            qn_arc_job_of(&codes[run->program], run->program, &s->questions.items[run->question]);
    }
    if (!s->n)
        st = qn_fail(err, QN_ERR_INPUT,
                     "no program has the id of a task; --match all runs each on "
                     "every grid");
out:
    qn_arc_series_free(&series);
    return st;
}

/* Clears the session, and lists jobs for every grid `copies` times; `without` is a program to leave
 * out, or -1. */
static qn_status load_jobs(place *s, int copies, int without, qn_err *err)
{
    qn_status st = QN_OK;

    drop_jobs(s);
    qn_arc_session_forget(s->session);
    for (int p = 0; p < s->programs->n; p++) {
        const qn_arc_code *code = &s->programs->codes[p];
        int number;

        QN_TRY(qn_arc_session_program(s->session, code->id, code->bytes, code->n, &number, err));
    }
    QN_TRY(load_questions(s, copies, err));
    QN_TRY(list_jobs(s, without, err));
out:
    return st;
}

static double kernel_seconds(place *s)
{
    const qn_arc_stats *stats = qn_arc_session_stats(s->session);

    return stats->time_kernel + stats->time_cpu;
}

/* Runs every `stride`-th job, `n` in all: microseconds on the clock and in kernels. */
static qn_status run_jobs(place *s, uint32_t stride, uint32_t n, double *wall_us, double *kernel_us,
                          qn_err *err)
{
    const double kernel = kernel_seconds(s), start = qn_now_us();
    qn_arc_job *list = s->jobs;
    qn_status st = QN_OK;

    if (stride > 1) {
        if (!(list = malloc((size_t)n * sizeof *list)))
            return qn_fail(err, QN_ERR_NOMEM, "arc: no memory for %u runs", n);
        for (uint32_t k = 0; k < n; k++)
            list[k] = s->jobs[k * stride];
    }
    st = qn_arc_session_run(s->session, list, n, 0, 0, err);
    *wall_us = qn_now_us() - start;
    *kernel_us = (kernel_seconds(s) - kernel) * 1e6;
    if (stride > 1)
        free(list);
    return st;
}

/* The bench. */

typedef struct bench {
    const qn_arc_programs *programs;
    const qn_arc_tasks *tasks;
    const qn_arc_bench_options *options;
    qn_arc_bench_report *report;
    qn_progress *progress;
    int worst; /* program, or -1 */
    qn_i64 sizes[QN_ARC_BENCH_SIZES];
    double cpu_us[QN_ARC_BENCH_SIZES];
    int n_sizes;
} bench;

/* Runs in a session. */

/* Jobs first, first + stride, ... of a session, run as one batch. */
typedef struct batch {
    place *at;
    uint32_t stride, n;
} batch;

enum { WALL, KERNEL, N_FIGURES };

static qn_status run_batch(void *user, double *us, qn_err *err)
{
    const batch *b = user;

    return run_jobs(b->at, b->stride, b->n, &us[WALL], &us[KERNEL], err);
}

/* The slowest program. */

static qn_status time_programs(bench *b, place *at, double *us, qn_err *err)
{
    qn_arc_job *const jobs = at->jobs;
    const uint32_t n = at->n;
    qn_arc_job *own = malloc(((size_t)n + 1) * sizeof *own);
    qn_timing times[N_FIGURES];
    qn_status st = QN_OK;

    if (!own)
        return qn_fail(err, QN_ERR_NOMEM, "arc: no memory for %u runs", n);
    at->jobs = own;
    for (int p = 0; p < b->programs->n; p++) {
        uint32_t n_own = 0;

        for (uint32_t k = 0; k < n; k++)
            if (at->program_of[k] == p)
                own[n_own++] = jobs[k];
        if (!n_own)
            continue;
        QN_TRY(qn_time_figures(0, PROGRAM_SAMPLES - 1, N_FIGURES, run_batch,
                               &(batch){ at, 1, n_own }, times, err));
        us[p] = qn_time_best(&times[KERNEL]);
    }
out:
    at->jobs = jobs;
    free(own);
    return st;
}

static qn_status find_worst(bench *b, place *at, qn_err *err)
{
    const int n = b->programs->n;
    double *us = calloc((size_t)n, sizeof *us);
    double total = 0, warm[N_FIGURES];
    qn_status st = QN_OK;

    b->worst = -1;
    if (!us)
        return qn_fail(err, QN_ERR_NOMEM, "arc: no memory for times of %d programs", n);
    QN_TRY(load_jobs(at, 1, -1, err));
    QN_TRY(run_batch(&(batch){ at, 1, at->n }, warm, err));
    QN_TRY(time_programs(b, at, us, err));
    for (int p = 0; p < n; p++) {
        const int is_named =
            b->options->without && !strcmp(b->options->without, b->programs->codes[p].id);

        total += us[p];
        if (b->options->without ? is_named : n > 1 && (b->worst < 0 || us[p] > us[b->worst]))
            b->worst = p;
    }
    if (b->options->without && b->worst < 0)
        QN_FAIL(err, QN_ERR_USAGE, "there is no program '%s' to leave out", b->options->without);
    if (b->worst >= 0 && total > 0) {
        snprintf(b->report->worst, sizeof b->report->worst, "%s", b->programs->codes[b->worst].id);
        b->report->worst_share_pct = 100 * us[b->worst] / total;
    }
out:
    free(us);
    return st;
}

/* Rows. */

static void count(place *at, qn_arc_bench_row *row)
{
    row->runs = at->n;
    row->solved = row->errors = 0;
    for (uint32_t k = 0; k < at->n; k++) {
        const arc_result *r = qn_arc_session_result(at->session, k);

        row->solved += r->code == ARC_OK && r->equal;
        row->errors += r->code != ARC_OK;
    }
}

typedef struct row_work {
    bench *b;
    place *at;
    qn_arc_bench_row *row;
    int without; /* the program to leave out; -1: none */
} row_work;

enum { END_TO_END = N_FIGURES, N_ROW_FIGURES };

/* Loads and runs everything, then runs it again with everything resident. */
static qn_status run_row(void *user, double *us, qn_err *err)
{
    const row_work *w = user;
    const double start = qn_now_us();
    const uint64_t fallbacks = qn_arc_fallbacks(w->at->session);
    qn_status st = QN_OK;

    QN_TRY(load_jobs(w->at, w->row->copies, w->without, err));
    QN_TRY(run_batch(&(batch){ w->at, 1, w->at->n }, us, err));
    count(w->at, w->row);
    w->row->fallbacks = qn_arc_fallbacks(w->at->session) - fallbacks;
    us[END_TO_END] = qn_now_us() - start;
    QN_TRY(run_batch(&(batch){ w->at, 1, w->at->n }, us, err));
out:
    return st;
}

static qn_status measure_row(bench *b, place *at, int without, qn_arc_bench_row *row, qn_err *err)
{
    row_work work = { b, at, row, without };
    qn_timing times[N_ROW_FIGURES];
    qn_status st = QN_OK;

    QN_TRY(qn_time_figures(0, b->options->samples, N_ROW_FIGURES, run_row, &work, times, err));
    row->wall_s = times[END_TO_END].samples.median / 1e6;
    row->run_s = times[WALL].samples.median / 1e6;
    row->shortest_run_s = times[WALL].samples.min / 1e6;
    row->kernel_s = times[KERNEL].samples.median / 1e6;
    row->kernel_rate = row->runs / row->kernel_s;
    row->run_rate = row->runs / row->run_s;
    row->wall_rate = row->runs / row->wall_s;
out:
    return st;
}

static qn_status measure_place(bench *b, place *at, int threads, qn_err *err)
{
    qn_status st = QN_OK;

    for (int i = 0; i < b->options->n_replicates; i++)
        for (int set = 0; set < (b->worst >= 0 ? 2 : 1); set++) {
            qn_arc_bench_row row = { .threads = threads,
                                     .without = set ? b->programs->codes[b->worst].id : "",
                                     .copies = b->options->replicates[i] };

            snprintf(row.device, sizeof row.device, "%s", qn_arc_session_device(at->session));
            QN_TRY(measure_row(b, at, set ? b->worst : -1, &row, err));
            QN_TRY(QN_SHEET_ADD(b->report->rows, b->report->n, b->report->room, &row, err));
            qn_progress_add(b->progress, 1);
        }
out:
    return st;
}

/* Sizes. */

/* Batches are drawn evenly from the whole list, so each is a fair sample of it. */
static qn_status measure_sizes(bench *b, place *at, double *us, qn_err *err)
{
    const int copies = b->options->replicates[b->options->n_replicates - 1];
    qn_status st = QN_OK;
    qn_i64 size = 1;

    QN_TRY(load_jobs(at, copies, b->worst, err));
    for (b->n_sizes = 0; b->n_sizes < QN_ARC_BENCH_SIZES && size <= at->n; size *= 4) {
        qn_timing times[N_FIGURES];

        QN_TRY(qn_time_figures(0, SIZE_SAMPLES, N_FIGURES, run_batch,
                               &(batch){ at, at->n / (uint32_t)size, (uint32_t)size }, times, err));
        b->sizes[b->n_sizes] = size;
        us[b->n_sizes++] = times[WALL].samples.median;
    }
out:
    return st;
}

static qn_status add_crossover(bench *b, place *at, qn_err *err)
{
    qn_arc_bench_crossover *c = &b->report->crossovers[b->report->n_crossovers];
    qn_status st = QN_OK;

    if (b->report->n_crossovers == QN_ARC_BENCH_PLACES)
        return QN_OK;
    QN_TRY(measure_sizes(b, at, c->device_us, err));
    snprintf(c->device, sizeof c->device, "%s", qn_arc_session_device(at->session));
    memcpy(c->sizes, b->sizes, sizeof c->sizes);
    memcpy(c->cpu_us, b->cpu_us, sizeof c->cpu_us);
    c->n = b->n_sizes;
    c->crossover = qn_crossover_find(c->sizes, c->device_us, c->cpu_us, (size_t)c->n).crossover;
    b->report->n_crossovers++;
out:
    return st;
}

/* Places. */

static qn_status bench_cpu(bench *b, int threads, qn_err *err)
{
    place at = { 0 };
    qn_status st = QN_OK;

    QN_TRY(open_place(&at, b->programs, b->tasks, b->options, "cpu", threads, err));
    if (!threads)
        QN_TRY(find_worst(b, &at, err));
    QN_TRY(measure_place(b, &at, threads ? threads : (int)qn_device_get(at.ctx, 0)->units, err));
    if (!threads)
        QN_TRY(measure_sizes(b, &at, b->cpu_us, err));
out:
    close_place(&at);
    return st;
}

static qn_status bench_device(bench *b, const char *id, qn_err *err)
{
    place at = { 0 };
    qn_status st = QN_OK;

    QN_TRY(open_place(&at, b->programs, b->tasks, b->options, id, 0, err));
    QN_TRY(measure_place(b, &at, 0, err));
    QN_TRY(add_crossover(b, &at, err));
out:
    close_place(&at);
    return st;
}

/* Names of the devices, besides the CPU, that the engine's options open. */
static qn_status list_devices(const qn_options *engine, char ids[][32], int *n, qn_err *err)
{
    qn_ctx *ctx = NULL;
    qn_status st = QN_OK;

    *n = 0;
    QN_TRY(qn_ctx_open(engine, &ctx, err));
    for (int d = 1; d < qn_device_count(ctx) && *n < QN_ARC_BENCH_PLACES; d++)
        snprintf(ids[(*n)++], 32, "%s", qn_device_id(ctx, d));
out:
    qn_ctx_close(ctx);
    return st;
}

qn_status qn_arc_bench(const qn_arc_programs *programs, const qn_arc_tasks *tasks,
                       const qn_arc_bench_options *options, qn_arc_bench_report *out, qn_err *err)
{
    char ids[QN_ARC_BENCH_PLACES][32];
    qn_arc_bench_report report = { 0 };
    bench b = { .programs = programs, .tasks = tasks, .options = options, .report = &report };
    int n_devices = 0;
    qn_status st = QN_OK;

    QN_TRY(list_devices(&options->engine, ids, &n_devices, err));
    QN_TRY(qn_progress_new(&options->watch, "arc bench", "rows",
                           (2.0 + n_devices) * options->n_replicates * (programs->n > 1 ? 2 : 1),
                           &b.progress, err));
    QN_TRY(bench_cpu(&b, 0, err));
    QN_TRY(bench_cpu(&b, 1, err));
    for (int d = 0; d < n_devices; d++)
        QN_TRY(bench_device(&b, ids[d], err));
    *out = report;
    report = (qn_arc_bench_report){ 0 };
out:
    qn_progress_free(b.progress);
    qn_arc_bench_free(&report);
    return st;
}

void qn_arc_bench_free(qn_arc_bench_report *report)
{
    free(report->rows);
    *report = (qn_arc_bench_report){ 0 };
}

/* Columns and JSON. */

qn_sheet qn_arc_bench_sheet(const qn_arc_bench_report *report)
{
    static const qn_column columns[] = {
        { QN_COLUMN(qn_arc_bench_row, device, "DEVICE", "device") },
        { QN_COLUMN(qn_arc_bench_row, threads, "THREADS", "threads", .hides_zero = 1) },
        { QN_COLUMN(qn_arc_bench_row, without, "WITHOUT", "without") },
        { QN_COLUMN(qn_arc_bench_row, copies, NULL, "copies") },
        { QN_COLUMN(qn_arc_bench_row, runs, "RUNS", "runs") },
        { QN_COLUMN(qn_arc_bench_row, solved, "SOLVED", "solved") },
        { QN_COLUMN(qn_arc_bench_row, errors, "ERRORS", "errors") },
        { QN_COLUMN(qn_arc_bench_row, fallbacks, "FALLBACKS", "fallbacks") },
        { QN_COLUMN(qn_arc_bench_row, kernel_s, "KERNEL MS", NULL, .shown = "%.3f", .per = 1e-3) },
        { QN_COLUMN(qn_arc_bench_row, kernel_rate, "KERNEL RUNS/S", "kernel_runs_per_s",
                    .shown = "%.0f") },
        { QN_COLUMN(qn_arc_bench_row, run_s, "RUN MS", NULL, .shown = "%.3f", .per = 1e-3) },
        { QN_COLUMN(qn_arc_bench_row, wall_s, "END TO END MS", NULL, .shown = "%.3f",
                    .per = 1e-3) },
        { QN_COLUMN(qn_arc_bench_row, wall_rate, "END TO END RUNS/S", "wall_runs_per_s",
                    .shown = "%.0f") },
        { QN_COLUMN(qn_arc_bench_row, kernel_s, NULL, "kernel_s") },
        { QN_COLUMN(qn_arc_bench_row, run_s, NULL, "run_s") },
        { QN_COLUMN(qn_arc_bench_row, shortest_run_s, NULL, "shortest_run_s") },
        { QN_COLUMN(qn_arc_bench_row, wall_s, NULL, "wall_s") },
        { QN_COLUMN(qn_arc_bench_row, run_rate, NULL, "runs_per_s") },
    };

    return QN_SHEET(columns, report->rows, report->n);
}

static json_t *crossover_json(const qn_arc_bench_crossover *c)
{
    json_t *sizes = json_array();

    for (int i = 0; i < c->n; i++)
        json_array_append_new(sizes,
                              json_pack("{s:I, s:f, s:f}", "runs", (json_int_t)c->sizes[i],
                                        "cpu_us", c->cpu_us[i], "device_us", c->device_us[i]));
    return json_pack("{s:s, s:I, s:o}", "device", c->device, "crossover", (json_int_t)c->crossover,
                     "sizes", sizes);
}

json_t *qn_arc_bench_json(const qn_arc_bench_report *report, const char *command)
{
    const qn_sheet rows = qn_arc_bench_sheet(report);
    json_t *crossovers = json_array();

    for (int i = 0; i < report->n_crossovers; i++)
        json_array_append_new(crossovers, crossover_json(&report->crossovers[i]));
    return json_pack("{s:s, s:s, s:f, s:o, s:o, s:o}", "format", "quern-arc-bench-1",
                     "worst_program", report->worst, "worst_share_pct", report->worst_share_pct,
                     "rows", qn_sheet_json(&rows), "crossovers", crossovers, "command",
                     qn_json_text(command));
}

/* bench.c - the places, the sets and the sizes that are measured. */
#include "lab/arc/bench.h"

#include "lab/arc/bench_ctx.h"
#include "util/clock.h"
#include "util/crossover.h"
#include "util/stats.h"
#include "util/list.h"
#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SAMPLES = 32, SIZE_SAMPLES = 3, PROGRAM_SAMPLES = 3 };

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

/* Which program takes the most time. */

static qn_status time_programs(bench *b, qn_arc_bench_ctx *bctx, double *seconds, qn_err *err)
{
    qn_arc_job *const jobs = bctx->jobs;
    const uint32_t n = bctx->n;
    qn_arc_job *own = malloc(((size_t)n + 1) * sizeof *own);
    qn_status st = QN_OK;

    if (!own)
        return qn_fail(err, QN_ERR_NOMEM, "arc: no memory for %u runs", n);
    for (int p = 0; p < b->programs->n; p++) {
        uint32_t n_own = 0;

        for (uint32_t k = 0; k < n; k++)
            if (bctx->program_of[k] == p)
                own[n_own++] = jobs[k];
        bctx->jobs = own;
        for (int i = 0; i < PROGRAM_SAMPLES && n_own && st == QN_OK; i++) {
            qn_arc_bench_time time;

            st = qn_arc_bench_ctx_run(bctx, 0, 1, n_own, &time, err);
            if (st == QN_OK && (i == 0 || time.kernel_s < seconds[p]))
                seconds[p] = time.kernel_s;
        }
        bctx->jobs = jobs;
        if (st != QN_OK)
            break;
    }
    free(own);
    return st;
}

static qn_status find_worst(bench *b, qn_arc_bench_ctx *bctx, qn_err *err)
{
    const int n = b->programs->n;
    double *seconds = calloc((size_t)n, sizeof *seconds);
    double total = 0;
    qn_arc_bench_time time;
    qn_status st = QN_OK;

    b->worst = -1;
    if (!seconds)
        return qn_fail(err, QN_ERR_NOMEM, "arc: no memory for times of %d programs", n);
    QN_TRY(qn_arc_bench_ctx_load(bctx, 1, -1, err));
    QN_TRY(qn_arc_bench_ctx_run(bctx, 0, 1, bctx->n, &time, err)); /* warms up */
    QN_TRY(time_programs(b, bctx, seconds, err));
    for (int p = 0; p < n; p++) {
        const int is_named =
            b->options->without && !strcmp(b->options->without, b->programs->codes[p].id);

        total += seconds[p];
        if (b->options->without ? is_named
                                : n > 1 && (b->worst < 0 || seconds[p] > seconds[b->worst]))
            b->worst = p;
    }
    if (b->options->without && b->worst < 0) {
        st = qn_fail(err, QN_ERR_USAGE, "there is no program '%s' to leave out",
                     b->options->without);
        goto out;
    }
    if (b->worst >= 0 && total > 0) {
        snprintf(b->report->worst, sizeof b->report->worst, "%s", b->programs->codes[b->worst].id);
        b->report->worst_share_pct = 100 * seconds[b->worst] / total;
    }
out:
    free(seconds);
    return st;
}

/* Rows. */

static qn_arc_bench_row *add_row(qn_arc_bench_report *report, qn_err *err)
{
    qn_arc_bench_row *grown =
        qn_grown(report->rows, (size_t)report->n, &report->room, sizeof *grown);

    if (!grown) {
        qn_fail(err, QN_ERR_NOMEM, "arc: no memory for %d rows", report->n + 1);
        return NULL;
    }
    report->rows = grown;
    return &report->rows[report->n++];
}

static uint64_t fallbacks_of(qn_arc_bench_ctx *bctx)
{
    const qn_arc_stats *stats = qn_arc_session_stats(bctx->session);
    uint64_t n = 0;

    for (int c = 0; c < ARC_N_CODES; c++)
        n += stats->fallbacks[c];
    return n;
}

static void count(qn_arc_bench_ctx *bctx, qn_arc_bench_row *row)
{
    row->runs = bctx->n;
    row->solved = row->errors = 0;
    for (uint32_t k = 0; k < bctx->n; k++) {
        const arc_result *r = qn_arc_session_result(bctx->session, k);

        row->solved += r->code == ARC_OK && r->equal;
        row->errors += r->code != ARC_OK;
    }
}

static qn_status measure_row(bench *b, qn_arc_bench_ctx *bctx, qn_arc_bench_row *row, qn_err *err)
{
    const int n = b->options->samples < MAX_SAMPLES ? b->options->samples : MAX_SAMPLES;
    const int without = row->without_worst ? b->worst : -1;
    double wall[MAX_SAMPLES], run[MAX_SAMPLES], kernel[MAX_SAMPLES];
    qn_arc_bench_time time;
    qn_status st = QN_OK;

    for (int i = -1; i < n; i++) { /* the first one makes buffers and is not counted */
        const double start = qn_now_us();
        const uint64_t fallbacks = fallbacks_of(bctx);

        QN_TRY(qn_arc_bench_ctx_load(bctx, row->copies, without, err));
        QN_TRY(qn_arc_bench_ctx_run(bctx, 0, 1, bctx->n, &time, err));
        count(bctx, row);
        row->fallbacks = fallbacks_of(bctx) - fallbacks;
        if (i < 0)
            continue;
        wall[i] = (qn_now_us() - start) * 1e-6;
        QN_TRY(qn_arc_bench_ctx_run(bctx, 0, 1, bctx->n, &time, err));
        kernel[i] = time.kernel_s;
        run[i] = time.wall_s;
    }
    row->wall_s = qn_stats_of(wall, (size_t)n).median;
    row->run_s = qn_stats_of(run, (size_t)n).median;
    row->shortest_run_s = qn_stats_of(run, (size_t)n).min;
    row->kernel_s = qn_stats_of(kernel, (size_t)n).median;
out:
    return st;
}

static qn_status measure_place(bench *b, qn_arc_bench_ctx *bctx, int threads, qn_err *err)
{
    qn_status st = QN_OK;

    for (int i = 0; i < b->options->n_replicates; i++)
        for (int set = 0; set < (b->worst >= 0 ? 2 : 1); set++) {
            qn_arc_bench_row row = { .threads = threads,
                                     .without_worst = set,
                                     .copies = b->options->replicates[i] };
            qn_arc_bench_row *kept;

            snprintf(row.device, sizeof row.device, "%s", qn_arc_session_device(bctx->session));
            QN_TRY(measure_row(b, bctx, &row, err));
            if (!(kept = add_row(b->report, err)))
                return QN_ERR_NOMEM;
            *kept = row;
            qn_progress_add(b->progress, 1);
        }
out:
    return st;
}

/* Sizes. */

/* Batches are taken evenly from the whole list, so that each holds a bit of everything. */
static qn_status measure_sizes(bench *b, qn_arc_bench_ctx *bctx, double *us, qn_err *err)
{
    const int copies = b->options->replicates[b->options->n_replicates - 1];
    qn_status st = QN_OK;
    qn_i64 size = 1;

    QN_TRY(qn_arc_bench_ctx_load(bctx, copies, b->worst, err));
    for (b->n_sizes = 0; b->n_sizes < QN_ARC_BENCH_SIZES && size <= bctx->n; size *= 4) {
        double samples[SIZE_SAMPLES];
        qn_arc_bench_time time;

        for (int i = -1; i < SIZE_SAMPLES; i++) {
            QN_TRY(qn_arc_bench_ctx_run(bctx, 0, bctx->n / (uint32_t)size, (uint32_t)size, &time,
                                        err));
            if (i >= 0)
                samples[i] = time.wall_s * 1e6;
        }
        b->sizes[b->n_sizes] = size;
        us[b->n_sizes++] = qn_stats_of(samples, SIZE_SAMPLES).median;
    }
out:
    return st;
}

static qn_status add_crossover(bench *b, qn_arc_bench_ctx *bctx, qn_err *err)
{
    qn_arc_bench_crossover *c = &b->report->crossovers[b->report->n_crossovers];
    qn_status st = QN_OK;

    if (b->report->n_crossovers == QN_ARC_BENCH_PLACES)
        return QN_OK;
    QN_TRY(measure_sizes(b, bctx, c->device_us, err));
    snprintf(c->device, sizeof c->device, "%s", qn_arc_session_device(bctx->session));
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
    qn_arc_bench_ctx bctx = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_arc_bench_ctx_open(&bctx, b->programs, b->tasks, b->options, "cpu", threads, err));
    if (!threads)
        QN_TRY(find_worst(b, &bctx, err));
    QN_TRY(
        measure_place(b, &bctx, threads ? threads : (int)qn_device_get(bctx.ctx, 0)->units, err));
    if (!threads)
        QN_TRY(measure_sizes(b, &bctx, b->cpu_us, err));
out:
    qn_arc_bench_ctx_close(&bctx);
    return st;
}

static qn_status bench_device(bench *b, const char *id, qn_err *err)
{
    qn_arc_bench_ctx bctx = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_arc_bench_ctx_open(&bctx, b->programs, b->tasks, b->options, id, 0, err));
    QN_TRY(measure_place(b, &bctx, 0, err));
    QN_TRY(add_crossover(b, &bctx, err));
out:
    qn_arc_bench_ctx_close(&bctx);
    return st;
}

/* Names of devices beyond the CPU that the engine's options open. */
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

/* bench_ops.c - the rate of every op with its data in place.
 *
 * Bytes are those that an op must move: each operand read and each result written once.
 */
#include "lab/engine/bench_impl.h"

#include "lab/scan/scan.h"
#include "lab/scan/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_RUNS = 3 };

/* The work of one run of an op of size n, and the sizes to measure it at. */
typedef struct op_rate {
    const char *op;
    double bytes;  /* per n */
    double flops;  /* per n, per n^3 for matmul */
    double hashes; /* per n */
    int is_cubic;
    qn_i64 host_n, device_n, slow_n; /* default sizes: CPU, GPU, slower devices */
} op_rate;

#define MI ((qn_i64)1 << 20)

static const op_rate rates[] = {
    { "vadd", 12, 0, 0, 0, 64 * MI, 256 * MI, MI },
    { "saxpy", 12, 0, 0, 0, 64 * MI, 256 * MI, MI },
    { "chain", 8, 0, 0, 0, 64 * MI, 256 * MI, MI },
    { "sum", 4, 0, 0, 0, 64 * MI, 256 * MI, MI },
    { "dot", 8, 0, 0, 0, 64 * MI, 256 * MI, MI },
    { "max", 4, 0, 0, 0, 64 * MI, 256 * MI, MI },
    { "matmul", 0, 2, 0, 1, 1024, 4096, 128 },
    { "sha256", 0, 0, 1, 0, MI, 16 * MI, MI / 64 },
    { "keccak256", 0, 0, 1, 0, MI, 16 * MI, MI / 64 },
    { "merkle", 0, 0, 1, 0, MI, MI, MI / 64 },
    { NULL, 0, 0, 0, 0, MI, MI, MI / 64 }, /* any other op */
};

static const op_rate *rate_of(const char *op)
{
    int i = 0;

    while (rates[i].op && strcmp(rates[i].op, op))
        i++;
    return &rates[i];
}

/* One op at one size on one device. */

static qn_status add_rates(qn_bench *bench, const char *item, const char *device,
                           const op_rate *rate, qn_i64 size, double us, qn_err *err)
{
    const double n = (double)size, count = rate->is_cubic ? n * n * n : n;
    qn_status st = QN_OK;

    QN_TRY(qn_bench_add(bench, item, device, "us", QN_LESS, us, err));
    if (rate->bytes > 0)
        QN_TRY(qn_bench_add(bench, item, device, "GB/s", QN_MORE, rate->bytes * n / us / 1e3, err));
    if (rate->flops > 0)
        QN_TRY(qn_bench_add(bench, item, device, "GFLOP/s", QN_MORE, rate->flops * count / us / 1e3,
                            err));
    if (rate->hashes > 0)
        QN_TRY(qn_bench_add(bench, item, device, "Mhash/s", QN_MORE, rate->hashes * n / us, err));
out:
    return st;
}

/* The triad is the yardstick for everything bound by memory: a loop without kernels, graphs or
 * pools, over three arrays as large as those of the op it is compared with. Pages are first
 * touched by the thread that uses them. */

enum { PAGE = 4096, WARM_TRIADS = 2 };

static void fill(float *a, float *b, float *c, qn_i64 n, int threads)
{
#pragma omp parallel for simd schedule(static) num_threads(threads)
    for (qn_i64 i = 0; i < n; i++) {
        a[i] = 0.0f;
        b[i] = 1.0f;
        c[i] = 2.0f;
    }
}

static void triad(float *restrict a, const float *restrict b, const float *restrict c, float s,
                  qn_i64 n, int threads)
{
#pragma omp parallel for simd schedule(static) num_threads(threads)
    for (qn_i64 i = 0; i < n; i++)
        a[i] = b[i] + s * c[i];
}

typedef struct {
    void *arrays[3];
    qn_i64 n;
    int threads;
} triad_work;

static qn_status run_triad(void *user, double *us, QN_UNUSED qn_err *err)
{
    const triad_work *w = user;
    const double start = qn_now_us();

    triad(w->arrays[0], w->arrays[1], w->arrays[2], 0.5f, w->n, w->threads);
    *us = qn_now_us() - start;
    return QN_OK;
}

/* Median time of a[i] = b[i] + s * c[i] over `n` floats each, on `threads` threads. */
static qn_status time_triad(qn_i64 n, int threads, int samples, double *us, qn_err *err)
{
    const size_t bytes = (size_t)n * sizeof(float);
    triad_work w = { .n = n, .threads = threads };
    qn_timing timing;
    qn_status st = QN_OK;

    for (int i = 0; i < 3; i++)
        if (posix_memalign(&w.arrays[i], PAGE, bytes)) {
            w.arrays[i] = NULL;
            QN_FAIL(err, QN_ERR_NOMEM, "triad: no memory for 3 arrays of %zu bytes", bytes);
        }
    fill(w.arrays[0], w.arrays[1], w.arrays[2], n, threads);
    QN_TRY(qn_time(WARM_TRIADS - 1, samples, run_triad, &w, &timing, err));
    *us = timing.samples.median;
out:
    for (int i = 0; i < 3; i++)
        free(w.arrays[i]);
    return st;
}

/* vadd and saxpy do what the triad does, so the ratio of their rates shows the cost of the
 * engine. */
static qn_status add_triad(qn_ctx *ctx, const char *op, const char *item, qn_i64 n, int samples,
                           double us, qn_bench *bench, qn_err *err)
{
    const char *device = qn_device_id(ctx, QN_CPU_SLOT);
    char name[48];
    double triad_us;
    qn_status st = QN_OK;

    if (strcmp(op, "vadd") && strcmp(op, "saxpy"))
        return QN_OK;
    snprintf(name, sizeof name, "triad %lld", (long long)n);
    triad_us = qn_bench_value(bench, name, device, "us");
    if (isnan(triad_us)) {
        QN_TRY(time_triad(n, (int)qn_device_get(ctx, QN_CPU_SLOT)->units, samples, &triad_us, err));
        QN_TRY(add_rates(bench, name, device, rate_of("vadd"), n, triad_us, err));
    }
    QN_TRY(qn_bench_add(bench, item, device, "of triad", QN_MORE, triad_us / us, err));
out:
    return st;
}

static qn_status bench_one(const qn_bench_run *run, int d, const char *op, qn_i64 n, qn_err *err)
{
    const qn_bench_options *options = run->options;
    qn_bench *bench = run->bench;
    qn_ctx *ctx = run->ctx;
    qn_work work = { 0 };
    qn_work_times times;
    qn_status st = QN_OK;
    char item[48];

    snprintf(item, sizeof item, "%.20s %lld", op, (long long)n);
    QN_TRY(qn_work_open(ctx, d, op, n, options->seed, 0, &work, err));
    QN_TRY(qn_work_time(&work, WARM_RUNS - 1, options->samples, NULL, &times, err));
    const double us = times.timing.samples.median;

    QN_TRY(add_rates(bench, item, qn_device_id(ctx, d), rate_of(op), n, us, err));
    qn_work_close(&work); /* the triad needs the memory */
    qn_ctx_trim(ctx, QN_TRIM_HOST);
    if (d == QN_CPU_SLOT)
        QN_TRY(add_triad(ctx, op, item, n, options->samples, us, bench, err));
out:
    qn_work_close(&work);
    return st;
}

/* Which sizes. */

/* Halved until the arrays take at most a quarter of the memory. 40 bytes per element are enough for
 * every op except hashes, which need 100. */
static qn_i64 default_size(const qn_ctx *ctx, int d, const op_rate *rate)
{
    const qn_device_info *info = qn_device_get(ctx, d), *host = qn_device_get(ctx, QN_CPU_SLOT);
    const uint64_t room = (info->mem_free < host->mem_free ? info->mem_free : host->mem_free) / 4;
    const double each = rate->hashes > 0 ? 100 : 40;
    qn_i64 n = d == QN_CPU_SLOT                                                     ? rate->host_n
               : info->kind == QN_KIND_DISCRETE || info->kind == QN_KIND_INTEGRATED ? rate->device_n
                                                                                    : rate->slow_n;

    while (!rate->is_cubic && n > 1024 && each * (double)n > (double)room)
        n /= 2;
    return n;
}

static qn_status bench_sizes(const qn_bench_run *run, int d, const char *op, qn_err *err)
{
    qn_sizes sizes = { 0 };
    qn_status st = QN_OK;

    if (run->options->sizes)
        QN_TRY(qn_sizes_parse(run->options->sizes, &sizes, err));
    else
        QN_TRY(qn_sizes_add(&sizes, default_size(run->ctx, d, rate_of(op)), err));
    for (size_t i = 0; i < sizes.n; i++)
        QN_TRY(bench_one(run, d, op, sizes.list[i], err));
out:
    qn_sizes_free(&sizes);
    return st;
}

static qn_status bench_device(const qn_bench_run *run, int d, void *user, qn_err *err)
{
    qn_status st = QN_OK;
    char op[48];

    for (int i = 0; qn_list_item(user, i, op, sizeof op); i++) {
        QN_TRY(bench_sizes(run, d, op, err));
        qn_progress_add(run->progress, 1);
    }
out:
    return st;
}

qn_status qn_bench_ops(const qn_bench_options *options, qn_bench *bench, qn_err *err)
{
    const char *ops = qn_op_list_of(options->ops ? options->ops : "all");
    qn_status st = QN_OK;
    int n_ops = 0;
    char op[48];

    QN_TRY(qn_op_list_check(ops, err));
    while (qn_list_item(ops, n_ops, op, sizeof op))
        n_ops++;
    QN_TRY(qn_bench_each(options, bench, "ops", n_ops, bench_device, (void *)ops, err));
    if (options->sweeps_priority)
        QN_TRY(qn_bench_each(options, bench, "devices", 1, qn_bench_sweep, NULL, err));
out:
    return st;
}

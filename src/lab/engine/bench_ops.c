/* bench_ops.c - the rate of every op with its data in place.
 *
 * Bytes are those an op cannot do without: each operand read and each result written once.
 */
#include "lab/engine/bench_impl.h"

#include "lab/engine/triad.h"
#include "lab/scan/sizes.h"
#include "lab/scan/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_RUNS = 3 };

/* What one run of an op of size n does, and the size to do it at. */
typedef struct op_rate {
    const char *op;
    double bytes;  /* per n */
    double flops;  /* per n, per n^3 for matmul */
    double hashes; /* per n */
    int is_cubic;
    qn_i64 host_n, device_n, slow_n; /* default sizes: CPU, GPU, devices that only look like one */
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
    { NULL, 0, 0, 0, 0, MI, MI, MI / 64 }, /* an op that came later */
};

static const op_rate *rate_of(const char *op)
{
    int i = 0;

    while (rates[i].op && strcmp(rates[i].op, op))
        i++;
    return &rates[i];
}

/* One op at one size on one device. */

typedef struct {
    qn_work *work;
    int n_left; /* runs to warm up */
    int repeats;
} sampler;

static qn_status run_work(void *user, double *us, qn_err *err)
{
    sampler *s = user;
    const int is_warming = s->n_left > 0;
    const qn_status st = qn_work_run(s->work, is_warming ? 1 : s->repeats, us, err);

    if (is_warming && st == QN_OK) {
        s->n_left--;
        s->repeats = qn_work_repeats(s->work, *us);
    }
    return st;
}

static qn_status time_work(qn_work *work, int samples, double *out, qn_err *err)
{
    sampler s = { .work = work, .n_left = WARM_RUNS };
    qn_timing timing;
    qn_status st = QN_OK;

    QN_TRY(qn_time(WARM_RUNS - 1, samples, run_work, &s, &timing, err));
    *out = timing.samples.median;
out:
    return st;
}

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

/* vadd and saxpy do what the triad does, so their share of it is what the engine costs. */
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
        QN_TRY(
            qn_triad_us(n, (int)qn_device_get(ctx, QN_CPU_SLOT)->units, samples, &triad_us, err));
        QN_TRY(add_rates(bench, name, device, rate_of("vadd"), n, triad_us, err));
    }
    QN_TRY(qn_bench_add(bench, item, device, "of triad", QN_MORE, triad_us / us, err));
out:
    return st;
}

static qn_status bench_one(qn_ctx *ctx, int d, const char *op, qn_i64 n,
                           const qn_bench_options *options, qn_bench *bench, qn_err *err)
{
    qn_work work = { 0 };
    qn_status st = QN_OK;
    char item[48];
    double us = 0;

    snprintf(item, sizeof item, "%.20s %lld", op, (long long)n);
    QN_TRY(qn_work_open(ctx, d, op, n, options->seed, 0, &work, err));
    QN_TRY(time_work(&work, options->samples, &us, err));
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

/* Halved until it takes no more than a quarter of the memory; 40 bytes per element are more than
 * any op needs but hashes, which need 100. */
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

static qn_status bench_sizes(qn_ctx *ctx, int d, const char *op, const qn_bench_options *options,
                             qn_bench *bench, qn_err *err)
{
    qn_sizes sizes = { 0 };
    qn_status st = QN_OK;

    if (options->sizes)
        QN_TRY(qn_sizes_parse(options->sizes, &sizes, err));
    else
        QN_TRY(qn_sizes_add(&sizes, default_size(ctx, d, rate_of(op)), err));
    for (size_t i = 0; i < sizes.n; i++)
        QN_TRY(bench_one(ctx, d, op, sizes.list[i], options, bench, err));
out:
    qn_sizes_free(&sizes);
    return st;
}

qn_status qn_bench_ops(const qn_bench_options *options, qn_bench *bench, qn_err *err)
{
    const char *ops = qn_op_list_of(options->ops ? options->ops : "all");
    qn_ctx *ctx = NULL;
    qn_progress *progress = NULL;
    qn_status st = QN_OK;
    int n_ops = 0;
    char op[48];

    QN_TRY(qn_op_list_check(ops, err));
    while (qn_list_item(ops, n_ops, op, sizeof op))
        n_ops++;
    QN_TRY(qn_bench_open(options, NULL, bench, &ctx, err));
    QN_TRY(qn_progress_new(&options->watch, "bench ops", "ops", n_ops * qn_bench_devices(ctx),
                           &progress, err));
    for (int d = 0; d < qn_device_count(ctx); d++) {
        for (int i = 0; qn_bench_has(ctx, d) && qn_list_item(ops, i, op, sizeof op); i++) {
            QN_TRY(bench_sizes(ctx, d, op, options, bench, err));
            qn_progress_add(progress, 1);
        }
    }
    if (options->sweeps_priority)
        QN_TRY(qn_bench_sweep(ctx, options, bench, err));
out:
    qn_progress_free(progress);
    qn_ctx_close(ctx);
    return st;
}

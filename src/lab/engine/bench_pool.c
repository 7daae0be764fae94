/* bench_pool.c - time to allocate a block of memory, from a pool and from the driver.
 *
 * The pools are those of the context, so the memory is what stages get: device memory, and on the
 * host pinned memory where a device offers it. A block of plain host memory costs most when it is
 * first touched, so host blocks are also timed with every page written.
 */
#include "lab/engine/bench_impl.h"

#include <stdlib.h>
#include <string.h>

enum { PER_SAMPLE = 8 };

static const struct {
    const char *name;
    size_t bytes;
} sizes[] = { { "64 KiB", 64 << 10 }, { "1 MiB", 1 << 20 }, { "16 MiB", 16 << 20 } };
enum { N_SIZES = sizeof sizes / sizeof *sizes };

typedef struct {
    qn_pool *pool;
    size_t bytes;
    int is_host, is_touched;
} cycle;

static qn_status run_cycles(void *user, double *us, qn_err *err)
{
    const cycle *c = user;
    const double start = qn_now_us();
    qn_status st = QN_OK;

    for (int k = 0; k < PER_SAMPLE; k++)
        QN_TRY(qn_pool_cycle(c->pool, c->bytes, c->is_host, c->is_touched, err));
    *us = (qn_now_us() - start) / PER_SAMPLE;
out:
    return st;
}

static qn_status median_us(cycle c, int samples, double *out, qn_err *err)
{
    qn_timing timing;
    const qn_status st = qn_time(0, samples, run_cycles, &c, &timing, err);

    if (st == QN_OK)
        *out = timing.samples.median;
    return st;
}

/* With the pool and without, and what it gains. */
static qn_status both(qn_pool *pool, const char *device, const char *item, size_t bytes,
                      int is_host, int is_touched, int samples, qn_bench *bench, qn_err *err)
{
    qn_status st = QN_OK;
    double with_us = 0, without_us = 0;

    QN_TRY(median_us((cycle){ pool, bytes, is_host, is_touched }, samples, &with_us, err));
    qn_pool_set_disabled(pool, 1);
    st = median_us((cycle){ pool, bytes, is_host, is_touched }, samples, &without_us, err);
    qn_pool_set_disabled(pool, 0);
    QN_TRY(st);
    QN_TRY(qn_bench_add(bench, item, device, "pool us", QN_LESS, with_us, err));
    QN_TRY(qn_bench_add(bench, item, device, "no pool us", QN_LESS, without_us, err));
    QN_TRY(qn_bench_add(bench, item, device, "gain", QN_MORE, without_us / with_us, err));
out:
    return st;
}

static qn_status one_pool(qn_pool *pool, const char *device, int is_host, int samples,
                          qn_bench *bench, qn_err *err)
{
    qn_status st = QN_OK;
    char item[48];

    for (int i = 0; i < N_SIZES; i++) {
        QN_TRY(both(pool, device, sizes[i].name, sizes[i].bytes, is_host, 0, samples, bench, err));
        if (!is_host)
            continue;
        snprintf(item, sizeof item, "%s, written", sizes[i].name);
        QN_TRY(both(pool, device, item, sizes[i].bytes, is_host, 1, samples, bench, err));
    }
out:
    return st;
}

qn_status qn_bench_pool(const qn_bench_options *options, qn_bench *bench, qn_err *err)
{
    qn_ctx *ctx = NULL;
    qn_progress *progress = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_bench_open(options, NULL, bench, &ctx, err));
    QN_TRY(qn_progress_new(&options->watch, "bench pool", "pools", 1 + qn_bench_devices(ctx),
                           &progress, err));
    QN_TRY(one_pool(qn_ctx_host_pool(ctx), qn_ctx_host_is_pinned(ctx) ? "host, pinned" : "host", 1,
                    options->samples, bench, err));
    qn_progress_add(progress, 1);
    for (int d = 0; d < qn_device_count(ctx); d++) {
        if (!qn_bench_has(ctx, d))
            continue;
        if (qn_device_pool(ctx, d))
            QN_TRY(one_pool(qn_device_pool(ctx, d), qn_device_id(ctx, d), 0, options->samples,
                            bench, err));
        qn_progress_add(progress, 1);
    }
out:
    qn_progress_free(progress);
    qn_ctx_close(ctx);
    return st;
}

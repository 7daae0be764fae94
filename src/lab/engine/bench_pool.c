/* bench_pool.c - time to allocate a block of memory, from a pool and from the driver.
 *
 * The pools are those of the context, so the memory is the same as for stages: device memory, and
 * on the host pinned memory if a device offers it. A block of plain host memory costs most when it
 * is first touched, so host blocks are also timed with every page written.
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

/* Times with the pool and without, and the gain. */
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

/* The host's pool comes before that of the first device. */
static qn_status bench_device(const qn_bench_run *run, int d, void *user, qn_err *err)
{
    int *n_done = user;
    qn_ctx *ctx = run->ctx;
    qn_status st = QN_OK;

    if (!(*n_done)++)
        QN_TRY(one_pool(qn_ctx_host_pool(ctx), qn_ctx_host_is_pinned(ctx) ? "host, pinned" : "host",
                        1, run->options->samples, run->bench, err));
    if (qn_device_pool(ctx, d))
        QN_TRY(one_pool(qn_device_pool(ctx, d), qn_device_id(ctx, d), 0, run->options->samples,
                        run->bench, err));
    qn_progress_add(run->progress, 1);
out:
    return st;
}

qn_status qn_bench_pool(const qn_bench_options *options, qn_bench *bench, qn_err *err)
{
    int n_done = 0;

    return qn_bench_each(options, bench, "pools", 1, bench_device, &n_done, err);
}

/* bench_sweep.c - what it gains to let ops of priority 1, 2, 3 leave the CPU.
 *
 * The work is one chain over stages of all three priorities, the way programs mix them. A stage
 * that stays on the CPU costs two copies besides, so the gain does not grow evenly: it shows where
 * bringing more ops to the device stops paying.
 */
#include "lab/engine/bench_impl.h"

#include "kernel/scan.gen.h"
#include "kernel/vector.gen.h"
#include "util/stats.h"

#include <stdlib.h>

enum { N_BUFS = 8, WARM_RUNS = 4 };

typedef struct mix {
    qn_ctx *ctx;
    qn_graph *graph;
    qn_buf *bufs[N_BUFS];
} mix;

static void mix_free(mix *m)
{
    qn_graph_free(m->graph);
    for (int i = 0; i < N_BUFS; i++)
        qn_buf_free(m->bufs[i]);
    *m = (mix){ 0 };
}

/* Priorities 1, 2, 1, 2, then the three stages of a prefix sum: 3. The result goes to the host. */
static qn_status mix_make(qn_ctx *ctx, qn_i64 n, mix *m, qn_err *err)
{
    const qn_i64 chunks = (n + SCAN_CHUNK - 1) / SCAN_CHUNK;
    const size_t bytes = (size_t)n * 4;
    const size_t sizes[N_BUFS] = {
        bytes, bytes, bytes, bytes, bytes, bytes, (size_t)chunks * 4, 4
    };
    qn_buf **b = m->bufs;
    qn_status st = QN_OK;

    *m = (mix){ .ctx = ctx };
    QN_TRY(qn_graph_new(ctx, "bench.mix", &m->graph, err));
    for (int i = 0; i < N_BUFS; i++)
        QN_TRY(qn_buf_new(ctx, "bench.mix", sizes[i], &b[i], err));
    QN_TRY(stage_vadd(m->graph, "vadd", qn_range_1d(n), b[0], b[1], b[2], err));
    QN_TRY(stage_map_mul(m->graph, "map_mul", qn_range_1d(n), 0.5f, b[2], b[3], err));
    QN_TRY(stage_vadd(m->graph, "vadd", qn_range_1d(n), b[3], b[0], b[4], err));
    QN_TRY(stage_map_abs(m->graph, "map_abs", qn_range_1d(n), b[4], b[2], err));
    QN_TRY(stage_scan_part(m->graph, "scan_part", qn_range_1d(chunks), n, b[2], b[5], b[6], err));
    QN_TRY(
        stage_scan_join(m->graph, "scan_join", qn_range_1d(1), (int32_t)chunks, b[6], b[7], err));
    QN_TRY(stage_scan_add(m->graph, "scan_add", qn_range_1d(n), b[6], b[5], err));
    QN_TRY(qn_graph_output(m->graph, b[5], err));
out:
    return st;
}

static qn_status run_once(const mix *m, int d, double *us, qn_err *err)
{
    const double start = qn_bench_now_us(m->ctx, d);
    qn_status st = QN_OK;

    QN_TRY(qn_graph_run(m->graph, err));
    QN_TRY(qn_graph_wait(m->graph, err));
    *us = qn_bench_now_us(m->ctx, d) - start;
out:
    return st;
}

static qn_status time_mix(qn_ctx *ctx, int d, qn_i64 n, double *times, int samples, qn_err *err)
{
    mix m = { 0 };
    qn_status st = QN_OK;
    double unused;

    QN_TRY(mix_make(ctx, n, &m, err));
    for (int i = 0; i < WARM_RUNS; i++)
        QN_TRY(run_once(&m, d, &unused, err));
    for (int i = 0; i < samples; i++)
        QN_TRY(run_once(&m, d, &times[i], err));
out:
    mix_free(&m);
    return st;
}

/* Level 0: everything on the CPU. */
static qn_status time_level(const qn_bench_options *options, const char *device, int level,
                            qn_i64 n, double *us, qn_err *err)
{
    double *times = calloc((size_t)options->samples, sizeof *times);
    qn_options engine = options->engine;
    qn_ctx *ctx = NULL;
    qn_status st = QN_OK;

    if (!times)
        return qn_fail(err, QN_ERR_NOMEM, "sweep: no memory for %d samples", options->samples);
    engine.backend = level ? device : "cpu";
    engine.op_priority = level;
    QN_TRY(qn_ctx_open(&engine, &ctx, err));
    QN_TRY(time_mix(ctx, qn_device_count(ctx) - 1, n, times, options->samples, err));
    *us = qn_stats_of(times, (size_t)options->samples).median;
out:
    qn_ctx_close(ctx);
    free(times);
    return st;
}

static qn_status sweep_device(const qn_bench_options *options, const char *device, qn_i64 n,
                              double cpu_us, qn_bench *bench, qn_err *err)
{
    static const char *const items[] = { "mix up to priority 1", "mix up to priority 2",
                                         "mix up to priority 3" };
    qn_status st = QN_OK;
    double us = 0;

    for (int level = 1; level <= 3; level++) {
        QN_TRY(time_level(options, device, level, n, &us, err));
        QN_TRY(qn_bench_add(bench, items[level - 1], device, "us", QN_LESS, us, err));
        QN_TRY(
            qn_bench_add(bench, items[level - 1], device, "speed-up", QN_MORE, cpu_us / us, err));
    }
out:
    return st;
}

qn_status qn_bench_sweep(const qn_ctx *ctx, const qn_bench_options *options, qn_bench *bench,
                         qn_err *err)
{
    const qn_i64 small = (qn_i64)1 << 18, large = (qn_i64)1 << 24;
    qn_status st = QN_OK;

    for (int d = 1; d < qn_device_count(ctx); d++) {
        const qn_device_kind kind = qn_device_get(ctx, d)->kind;
        const qn_i64 n = kind == QN_KIND_DISCRETE || kind == QN_KIND_INTEGRATED ? large : small;
        double cpu_us;

        if (!qn_bench_has(ctx, d))
            continue;
        QN_TRY(time_level(options, NULL, 0, n, &cpu_us, err));
        QN_TRY(sweep_device(options, qn_device_id(ctx, d), n, cpu_us, bench, err));
    }
out:
    return st;
}

/* bench_sweep.c - the speed-up from letting ops of priority 1, 2, 3 leave the CPU.
 *
 * The work is one chain of stages of all three priorities, as programs mix them. A stage that stays
 * on the CPU costs two more copies, so the gain does not grow evenly: it shows the priority from
 * which moving ops to the device is no longer worth it.
 */
#include "lab/engine/bench_impl.h"

#include "kernel/scan.gen.h"
#include "kernel/vector.gen.h"

enum { N_BUFS = 8, WARM_RUNS = 4 };

typedef struct mix {
    qn_ctx *ctx;
    qn_graph *graph;
    qn_buf *bufs[N_BUFS];
    qn_owned owned; /* all of these */
} mix;

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
    QN_TRY(qn_owned_graph(&m->owned, ctx, "bench.mix", &m->graph, err));
    for (int i = 0; i < N_BUFS; i++)
        QN_TRY(qn_owned_buf(&m->owned, ctx, "bench.mix", sizes[i], &b[i], err));
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

static qn_status run_once(void *user, double *us, qn_err *err)
{
    const mix *m = user;
    const int last = qn_device_count(m->ctx) - 1;
    const double start = qn_time_now_us(m->ctx, last);
    qn_status st = QN_OK;

    QN_TRY(qn_run_graph(m->graph, err));
    *us = qn_time_now_us(m->ctx, last) - start;
out:
    return st;
}

/* Level 0: everything on the CPU. */
static qn_status time_level(const qn_bench_options *options, const char *device, int level,
                            qn_i64 n, double *us, qn_err *err)
{
    qn_options engine = options->engine;
    qn_ctx *ctx = NULL;
    mix m = { 0 };
    qn_timing timing;
    qn_status st = QN_OK;

    engine.backend = level ? device : "cpu";
    engine.op_priority = level;
    QN_TRY(qn_ctx_open(&engine, &ctx, err));
    QN_TRY(mix_make(ctx, n, &m, err));
    QN_TRY(qn_time(WARM_RUNS - 1, options->samples, run_once, &m, &timing, err));
    *us = timing.samples.median;
out:
    qn_owned_free(&m.owned, 0);
    qn_ctx_close(ctx);
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

qn_status qn_bench_sweep(const qn_bench_run *run, int d, QN_UNUSED void *user, qn_err *err)
{
    const qn_device_kind kind = qn_device_get(run->ctx, d)->kind;
    const int is_large = kind == QN_KIND_DISCRETE || kind == QN_KIND_INTEGRATED;
    const qn_i64 n = (qn_i64)1 << (is_large ? 24 : 18);
    double cpu_us;
    qn_status st = QN_OK;

    if (d == QN_CPU_SLOT)
        goto out;
    QN_TRY(time_level(run->options, NULL, 0, n, &cpu_us, err));
    QN_TRY(sweep_device(run->options, qn_device_id(run->ctx, d), n, cpu_us, run->bench, err));
out:
    qn_progress_add(run->progress, 1);
    return st;
}

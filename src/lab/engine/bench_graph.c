/* bench_graph.c - what a stage costs beyond its work: chains of stages that do next to nothing,
 * each waiting for the one before.
 *
 * "direct" plans and submits every stage in each run; a rule for faults that never comes true
 * keeps the engine from recording. "replayed" is what a graph does from its second run on.
 */
#include "lab/engine/bench_impl.h"

#include "util/stats.h"

#include <math.h>
#include <stdlib.h>

enum { ELEMS = 1024, WARM_RUNS = 4, PIPED_RUNS = 8 };

static const char no_fault[] = "launch:stage.that.does.not.exist";

typedef struct chain {
    qn_ctx *ctx;
    int device, n_stages;
    qn_graph *graph;
    qn_buf *side[2];
} chain;

/* Medians, in microseconds. */
typedef struct chain_times {
    double first_us, run_us, piped_us, host_us;
} chain_times;

static void chain_free(chain *c)
{
    qn_graph_free(c->graph);
    qn_buf_free(c->side[0]);
    qn_buf_free(c->side[1]);
    *c = (chain){ 0 };
}

/* Stage s reads what stage s - 1 wrote. */
static qn_status chain_make(qn_ctx *ctx, int device, int n_stages, chain *c, qn_err *err)
{
    const qn_kernel_info *kernel = qn_kernel_builtin("map_add");
    const float one = 1;
    qn_status st = QN_OK;

    *c = (chain){ .ctx = ctx, .device = device, .n_stages = n_stages };
    if (!kernel)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "this build has no kernel map_add");
    QN_TRY(qn_graph_new(ctx, "bench.chain", &c->graph, err));
    QN_TRY(qn_buf_new(ctx, "bench.a", ELEMS * sizeof one, &c->side[0], err));
    QN_TRY(qn_buf_new(ctx, "bench.b", ELEMS * sizeof one, &c->side[1], err));
    for (int s = 0; s < n_stages; s++) {
        const qn_arg args[] = { qn_arg_val(&one, sizeof one), qn_arg_buf(c->side[s & 1]),
                                qn_arg_buf(c->side[~s & 1]) };

        QN_TRY(qn_graph_stage(c->graph, "bench.add", kernel, qn_range_1d(ELEMS), args, err));
        QN_TRY(qn_graph_pin(c->graph, s, qn_device_id(ctx, device), err));
    }
    qn_graph_set_fallback(c->graph, QN_FALLBACK_ERROR);
out:
    return st;
}

static qn_status run_chain(const chain *c, int n_runs, double *host_us, double *all_us, qn_err *err)
{
    const double host_start = qn_now_us(), start = qn_bench_now_us(c->ctx, c->device);
    qn_status st = QN_OK;

    for (int i = 0; i < n_runs; i++)
        QN_TRY(qn_graph_run(c->graph, err));
    *host_us = qn_now_us() - host_start;
    QN_TRY(qn_graph_wait(c->graph, err));
    *all_us = qn_bench_now_us(c->ctx, c->device) - start;
out:
    return st;
}

static qn_status measure(const chain *c, int samples, chain_times *out, qn_err *err)
{
    double *times = calloc((size_t)samples * 3, sizeof *times);
    double *run = times, *host = times + samples, *piped = times + 2 * samples, unused;
    qn_status st = QN_OK;

    if (!times)
        return qn_fail(err, QN_ERR_NOMEM, "bench graph: no memory for %d samples", samples);
    QN_TRY(run_chain(c, 1, &unused, &out->first_us, err));
    for (int i = 0; i < WARM_RUNS; i++)
        QN_TRY(run_chain(c, 1, &unused, &unused, err));
    for (int i = 0; i < samples; i++) {
        QN_TRY(run_chain(c, 1, &host[i], &run[i], err));
        QN_TRY(run_chain(c, PIPED_RUNS, &unused, &piped[i], err));
        piped[i] /= PIPED_RUNS;
    }
    out->run_us = qn_stats_of(run, (size_t)samples).median;
    out->host_us = qn_stats_of(host, (size_t)samples).median;
    out->piped_us = qn_stats_of(piped, (size_t)samples).median;
out:
    free(times);
    return st;
}

static qn_status add(qn_bench *bench, const chain *c, const char *how, const chain_times *t,
                     qn_err *err)
{
    const char *device = qn_device_id(c->ctx, c->device);
    const double n = c->n_stages;
    qn_status st = QN_OK;
    char item[48];

    snprintf(item, sizeof item, "%d stage%s %s", c->n_stages, c->n_stages == 1 ? "" : "s", how);
    QN_TRY(qn_bench_add(bench, item, device, "us/stage", QN_LESS, t->run_us / n, err));
    QN_TRY(qn_bench_add(bench, item, device, "us/stage piped", QN_LESS, t->piped_us / n, err));
    QN_TRY(qn_bench_add(bench, item, device, "host us/stage", QN_LESS, t->host_us / n, err));
    QN_TRY(qn_bench_add(bench, item, device, "us/run", QN_LESS, t->run_us, err));
    QN_TRY(qn_bench_add(bench, item, device, "host us/run", QN_LESS, t->host_us, err));
    QN_TRY(qn_bench_add(bench, item, device, "first us/run", QN_LESS, t->first_us, err));
out:
    return st;
}

static qn_status one_chain(qn_ctx *ctx, int device, int n_stages, const qn_bench_options *options,
                           qn_bench *bench, qn_err *err)
{
    qn_status st = QN_OK;
    chain_times times = { 0 };
    chain c;

    QN_TRY(chain_make(ctx, device, n_stages, &c, err));
    QN_TRY(measure(&c, options->samples, &times, err));
    QN_TRY(
        add(bench, &c, qn_graph_get_stats(c.graph).replays ? "replayed" : "direct", &times, err));
out:
    chain_free(&c);
    return st;
}

qn_status qn_bench_graph(const qn_bench_options *options, qn_bench *bench, qn_err *err)
{
    qn_ctx *ctx[2] = { NULL, NULL };
    const int lengths[] = { options->stages, 1 };
    qn_progress *progress = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_bench_open(options, no_fault, bench, &ctx[0], err));
    QN_TRY(qn_bench_open(options, NULL, bench, &ctx[1], err));
    QN_TRY(qn_progress_new(&options->watch, "bench graph", "chains", 4 * qn_bench_devices(ctx[0]),
                           &progress, err));
    for (int d = 0; d < qn_device_count(ctx[0]); d++) {
        for (int k = 0; qn_bench_has(ctx[0], d) && k < 4; k++) {
            QN_TRY(one_chain(ctx[k & 1], d, lengths[k >> 1], options, bench, err));
            qn_progress_add(progress, 1);
        }
    }
out:
    qn_progress_free(progress);
    qn_ctx_close(ctx[0]);
    qn_ctx_close(ctx[1]);
    return st;
}

/* bench_graph.c - measures the overhead of a stage: chains of stages that do next to nothing, each
 * waiting for the one before.
 *
 * "direct" plans and submits every stage in each run; a fault rule that never matches stops the
 * engine from recording. "replayed" is what a graph does from its second run on.
 */
#include "lab/engine/bench_impl.h"

enum { ELEMS = 1024, WARM_RUNS = 4, PIPED_RUNS = 8 };

static const char no_fault[] = "launch:stage.that.does.not.exist";

typedef struct chain {
    qn_ctx *ctx;
    int device, n_stages;
    qn_graph *graph;
    qn_buf *side[2];
    qn_owned owned; /* all of these */
} chain;

/* Figures of one sample: a run with its wait, the host's part of it, and one of many runs in a
 * row. */
enum { RUN, HOST, PIPED, N_FIGURES };

/* Stage s reads what stage s - 1 wrote. */
static qn_status chain_make(qn_ctx *ctx, int device, int n_stages, chain *c, qn_err *err)
{
    const qn_kernel_info *kernel = qn_kernel_builtin("map_add");
    const float one = 1;
    qn_status st = QN_OK;

    *c = (chain){ .ctx = ctx, .device = device, .n_stages = n_stages };
    if (!kernel)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "this build has no kernel map_add");
    QN_TRY(qn_owned_graph(&c->owned, ctx, "bench.chain", &c->graph, err));
    QN_TRY(qn_owned_buf(&c->owned, ctx, "bench.a", ELEMS * sizeof one, &c->side[0], err));
    QN_TRY(qn_owned_buf(&c->owned, ctx, "bench.b", ELEMS * sizeof one, &c->side[1], err));
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
    const double host_start = qn_now_us(), start = qn_time_now_us(c->ctx, c->device);
    qn_status st = QN_OK;

    for (int i = 0; i < n_runs; i++)
        QN_TRY(qn_graph_run(c->graph, err));
    *host_us = qn_now_us() - host_start;
    QN_TRY(qn_graph_wait(c->graph, err));
    *all_us = qn_time_now_us(c->ctx, c->device) - start;
out:
    return st;
}

static qn_status sample(void *user, double *us, qn_err *err)
{
    const chain *c = user;
    double unused;
    qn_status st = QN_OK;

    QN_TRY(run_chain(c, 1, &us[HOST], &us[RUN], err));
    QN_TRY(run_chain(c, PIPED_RUNS, &unused, &us[PIPED], err));
    us[PIPED] /= PIPED_RUNS;
out:
    return st;
}

static qn_status add(qn_bench *bench, const chain *c, const char *how, const qn_timing *t,
                     qn_err *err)
{
    const char *device = qn_device_id(c->ctx, c->device);
    const double n = c->n_stages, run = t[RUN].samples.median, host = t[HOST].samples.median;
    const double piped = t[PIPED].samples.median;
    qn_status st = QN_OK;
    char item[48];

    snprintf(item, sizeof item, "%d stage%s %s", c->n_stages, c->n_stages == 1 ? "" : "s", how);
    QN_TRY(qn_bench_add(bench, item, device, "us/stage", QN_LESS, run / n, err));
    QN_TRY(qn_bench_add(bench, item, device, "us/stage piped", QN_LESS, piped / n, err));
    QN_TRY(qn_bench_add(bench, item, device, "host us/stage", QN_LESS, host / n, err));
    QN_TRY(qn_bench_add(bench, item, device, "us/run", QN_LESS, run, err));
    QN_TRY(qn_bench_add(bench, item, device, "host us/run", QN_LESS, host, err));
    QN_TRY(qn_bench_add(bench, item, device, "first us/run", QN_LESS, t[RUN].first_us, err));
out:
    return st;
}

static qn_status one_chain(const qn_bench_run *run, int d, int n_stages, qn_err *err)
{
    qn_status st = QN_OK;
    qn_timing times[N_FIGURES];
    chain c;

    QN_TRY(chain_make(run->ctx, d, n_stages, &c, err));
    QN_TRY(qn_time_figures(WARM_RUNS, run->options->samples, N_FIGURES, sample, &c, times, err));
    QN_TRY(add(run->bench, &c, qn_graph_get_stats(c.graph).replays ? "replayed" : "direct", times,
               err));
    qn_progress_add(run->progress, 1);
out:
    qn_owned_free(&c.owned, 0);
    return st;
}

static qn_status bench_device(const qn_bench_run *run, int d, QN_UNUSED void *user, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(one_chain(run, d, run->options->stages, err));
    QN_TRY(one_chain(run, d, 1, err));
out:
    return st;
}

qn_status qn_bench_graph(const qn_bench_options *options, qn_bench *bench, qn_err *err)
{
    qn_bench_options direct = *options;
    qn_status st = QN_OK;

    direct.engine.fault = no_fault;
    QN_TRY(qn_bench_each(&direct, bench, "chains", 2, bench_device, NULL, err));
    QN_TRY(qn_bench_each(options, bench, "chains", 2, bench_device, NULL, err));
out:
    return st;
}

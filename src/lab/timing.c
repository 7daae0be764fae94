/* timing.c - times calls of any function, and runs of graphs. */
#include "lab/timing.h"

#include "lab/owned.h"
#include "engine/engine.h"
#include "kernel/vector.gen.h"
#include "util/clock.h"

#include <math.h>
#include <stdlib.h>

qn_status qn_time_figures(int n_warm, int n_samples, int n, qn_timed_fn fn, void *user,
                          qn_timing *out, qn_err *err)
{
    const size_t count = n_samples < 0                       ? 0
                         : n_samples > QN_TIMING_MAX_SAMPLES ? QN_TIMING_MAX_SAMPLES
                                                             : (size_t)n_samples;
    double *us = calloc((count + 1) * (size_t)n, sizeof *us), *now = us + count * (size_t)n;
    qn_status st = QN_OK;

    if (!us)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %zu samples", count);
    for (int i = 0; i < 1 + n_warm; i++) {
        QN_TRY(fn(user, now, err));
        for (int k = 0; k < n; k++) {
            out[k].first_us = i ? out[k].first_us : now[k];
            out[k].warm_us = now[k];
        }
    }
    for (size_t i = 0; i < count; i++) {
        QN_TRY(fn(user, now, err));
        for (int k = 0; k < n; k++)
            us[(size_t)k * count + i] = now[k];
    }
    for (int k = 0; k < n; k++)
        out[k].samples = qn_stats_of(us + (size_t)k * count, count);
out:
    free(us);
    return st;
}

qn_status qn_time(int n_warm, int n_samples, qn_timed_fn fn, void *user, qn_timing *out,
                  qn_err *err)
{
    return qn_time_figures(n_warm, n_samples, 1, fn, user, out, err);
}

double qn_time_best(const qn_timing *timing)
{
    return fmin(timing->first_us, timing->samples.min);
}

qn_status qn_time_runs(qn_graph *graph, int runs, double *us, qn_err *err)
{
    const double start = qn_now_us();
    qn_status st = QN_OK;

    for (int i = 0; i < runs; i++)
        QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_graph_wait(graph, err));
    *us = (qn_now_us() - start) / runs;
out:
    return st;
}

typedef struct graph_runs {
    qn_graph *graph;
    double sample_us;
    int n_done, n_single; /* runs so far; how many of them are run one by one */
    int runs;
} graph_runs;

static qn_status run_graph(void *user, double *us, qn_err *err)
{
    graph_runs *r = user;
    const int is_single = r->n_done < r->n_single;
    const qn_status st = qn_time_runs(r->graph, is_single ? 1 : r->runs, us, err);

    if (is_single && st == QN_OK)
        r->runs = *us < r->sample_us ? (int)(r->sample_us / *us) : 1;
    r->n_done++;
    return st;
}

qn_status qn_time_graph(qn_graph *graph, int n_samples, double sample_us, qn_timing *out,
                        qn_err *err)
{
    enum { WARM = 3 };
    graph_runs runs = { .graph = graph, .sample_us = sample_us, .n_single = 1 + WARM, .runs = 1 };

    return qn_time(WARM, n_samples, run_graph, &runs, out, err);
}

double qn_time_now_us(const qn_ctx *ctx, int device)
{
    return qn_device_get(ctx, device)->kind == QN_KIND_SIM ? qn_ctx_now_us(ctx) : qn_now_us();
}

qn_status qn_time_bandwidth(qn_ctx *ctx, double *gbs, qn_err *err)
{
    enum { STAGES = 4, N = 1 << 25, SAMPLES = 3, SAMPLE_US = 50000 };
    qn_owned owned = { 0 };
    qn_buf *x, *y;
    qn_graph *graph;
    qn_timing timing;
    qn_status st = QN_OK;

    QN_TRY(qn_owned_buf(&owned, ctx, "bench.x", (size_t)N * sizeof(float), &x, err));
    QN_TRY(qn_owned_buf(&owned, ctx, "bench.y", (size_t)N * sizeof(float), &y, err));
    QN_TRY(qn_owned_graph(&owned, ctx, "bench.saxpy", &graph, err));
    for (int i = 0; i < STAGES; i++)
        QN_TRY(stage_saxpy(graph, "bench.saxpy", qn_range_1d(N), 0.5f, x, y, err));
    QN_TRY(qn_time_graph(graph, SAMPLES, SAMPLE_US, &timing, err));
    *gbs = 12.0 * N * STAGES / timing.samples.median / 1e3;
out:
    qn_owned_free(&owned, 0);
    return st;
}

/* bench_rollout.c - time per step of the learned operator. */
#include "bench.h"
#include "lab/timing.h"

#include "domain/les/options/options.h"
#include "domain/les/proxy/proxy.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS = 1024 };

/* A slightly damped rotation of neighbours: vectors stay finite and no entry vanishes. */
static qn_status set_operator(qn_les_proxy *proxy, int d, qn_err *err)
{
    double *const a = calloc((size_t)d * (size_t)d + 2 * (size_t)d, sizeof *a);
    qn_status st;

    if (!a)
        return qn_fail(err, QN_ERR_NOMEM, "bench: no memory for an operator of %d x %d", d, d);

    double *const mu = a + (size_t)d * (size_t)d, *const scale = mu + d;

    for (int i = 0; i < d; i++) {
        a[(size_t)i * (size_t)d + (size_t)((i + 1) % d)] = 0.999;
        scale[i] = 1;
    }
    st = qn_les_proxy_set(proxy, a, mu, scale, err);
    free(a);
    return st;
}

static qn_status fill(qn_buf *z, int n, int is_f64, qn_err *err)
{
    void *data;
    const qn_status st = qn_buf_host(z, QN_HOST_DISCARD, &data, err);

    for (int i = 0; st == QN_OK && i < n; i++)
        if (is_f64)
            ((double *)data)[i] = cos(i);
        else
            ((float *)data)[i] = cosf((float)i);
    return st;
}

qn_status qn_les_bench_rollout(qn_ctx *ctx, const qn_les_options *options, int d, int samples,
                               double *us, qn_err *err)
{
    const int is_f64 = options->precision == QN_LES_F64;
    const size_t row = (size_t)d * (size_t)options->ensemble * (is_f64 ? 8 : 4);
    qn_les_options config;
    qn_les_proxy *proxy = NULL;
    qn_graph *graph = NULL;
    qn_buf *z = NULL, *zhat = NULL;
    qn_timing timing;
    qn_status st = QN_OK;

    QN_TRY(qn_les_options_take(options, &config, err));
    QN_TRY(qn_les_proxy_new(ctx, &config, d, &proxy, err));
    QN_TRY(set_operator(proxy, d, err));
    QN_TRY(qn_buf_new(ctx, "bench.z", row, &z, err));
    QN_TRY(qn_buf_new(ctx, "bench.zhat", (STEPS + 1) * row, &zhat, err));
    QN_TRY(fill(z, d * config.ensemble, is_f64, err));
    QN_TRY(qn_graph_new(ctx, "bench.rollout", &graph, err));
    QN_TRY(qn_les_proxy_add_rollout(proxy, graph, z, STEPS, zhat, err));
    QN_TRY(qn_time_graph(graph, samples, QN_LES_SAMPLE_US, &timing, err));
    *us = timing.samples.median / STEPS;
out:
    qn_graph_free(graph);
    qn_buf_free(z);
    qn_buf_free(zhat);
    qn_les_proxy_free(proxy);
    return st;
}

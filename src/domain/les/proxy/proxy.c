/* proxy.c - a learned operator: its buffers, its arrays on the host, and its rollout. */
#include "proxy_parts.h"

#include "kernel/les_proxy_frames.gen.h"
#include "kernel/les_proxy_gemm.gen.h"
#include "util/list.h"

#include <stdlib.h>

/* Life. */

static qn_status make_buffers(qn_les_proxy *proxy, qn_err *err)
{
    const size_t d = (size_t)proxy->d, real = proxy->is_f64 ? sizeof(double) : sizeof(float);
    qn_status st = QN_OK;

    QN_TRY(qn_buf_new(proxy->ctx, "operator", d * d * sizeof(double), &proxy->a, err));
    QN_TRY(qn_buf_new(proxy->ctx, "means of features", d * sizeof(double), &proxy->mu, err));
    QN_TRY(qn_buf_new(proxy->ctx, "scales of features", d * sizeof(double), &proxy->scale, err));
    QN_TRY(qn_buf_new(proxy->ctx, "operator transposed", d * d * real, &proxy->transpose, err));
    QN_TRY(qn_buf_new(proxy->ctx, "spectral radius", RADIUS_STATE * sizeof(double), &proxy->radius,
                      err));
    if (proxy->config->rollout == QN_LES_ROLLOUT_BLOCKED)
        QN_TRY(qn_buf_new(proxy->ctx, "operator of a block, transposed", d * d * real,
                          &proxy->block_transpose, err));
out:
    return st;
}

qn_status qn_les_proxy_new(qn_ctx *ctx, const qn_les_options *config, int d, qn_les_proxy **out,
                           qn_err *err)
{
    qn_les_proxy *proxy = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(proxy, 1, "a proxy", err));
    proxy->ctx = ctx;
    proxy->config = config;
    proxy->d = d;
    proxy->is_f64 = config->precision == QN_LES_F64;
    proxy->info.d = d;
    QN_TRY(make_buffers(proxy, err));
    *out = proxy;
    proxy = NULL;
out:
    qn_les_proxy_free(proxy);
    return st;
}

void qn_les_proxy_free(qn_les_proxy *proxy)
{
    if (!proxy)
        return;
    qn_buf_free(proxy->a);
    qn_buf_free(proxy->mu);
    qn_buf_free(proxy->scale);
    qn_buf_free(proxy->transpose);
    qn_buf_free(proxy->block_transpose);
    qn_buf_free(proxy->radius);
    free(proxy);
}

qn_les_proxy_info qn_les_proxy_get(const qn_les_proxy *proxy)
{
    return proxy->info;
}

/* Files. */

qn_status qn_les_proxy_read(qn_les_proxy *proxy, double *a, double *mu, double *scale, qn_err *err)
{
    const size_t row = (size_t)proxy->d * sizeof(double);
    qn_status st = QN_OK;

    QN_TRY(qn_buf_read(proxy->a, 0, a, row * (size_t)proxy->d, err));
    QN_TRY(qn_buf_read(proxy->mu, 0, mu, row, err));
    QN_TRY(qn_buf_read(proxy->scale, 0, scale, row, err));
out:
    return st;
}

qn_status qn_les_proxy_set(qn_les_proxy *proxy, const double *a, const double *mu,
                           const double *scale, qn_err *err)
{
    const size_t row = (size_t)proxy->d * sizeof(double);
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    for (int k = 0; k < proxy->d; k++)
        if (!(scale[k] > 0))
            return qn_fail(err, QN_ERR_INPUT, "scale of feature %d is %g, not above 0", k,
                           scale[k]);
    QN_TRY(qn_buf_write(proxy->a, 0, a, row * (size_t)proxy->d, err));
    QN_TRY(qn_buf_write(proxy->mu, 0, mu, row, err));
    QN_TRY(qn_buf_write(proxy->scale, 0, scale, row, err));
    QN_TRY(qn_graph_new(proxy->ctx, "les.operator", &graph, err));
    QN_TRY(qn_les_add_operator(proxy, graph, err));
    QN_TRY(qn_les_run_operator(proxy, graph, err));
out:
    qn_graph_free(graph);
    return st;
}

/* Rollout. */

static qn_status add_step(const qn_les_proxy *proxy, qn_graph *graph, int t, qn_buf *y, qn_err *err)
{
    const int members = proxy->config->ensemble;

    return STAGE(proxy, les_gemv, graph, "les.rollout.step", qn_range_2d(proxy->d, members),
                 proxy->d, members, t, proxy->transpose, y, err);
}

/* From vectors t .. t + count - 1 to those PROXY_BLOCK steps later. */
static qn_status add_block(const qn_les_proxy *proxy, qn_graph *graph, int t, int count, qn_buf *y,
                           qn_err *err)
{
    const qn_i64 vector = (qn_i64)proxy->config->ensemble * proxy->d;
    const rows_par par = { .at = t * vector,
                           .ahead = PROXY_BLOCK * vector,
                           .size = proxy->d,
                           .rows = count * proxy->config->ensemble };

    return STAGE(proxy, les_gemv_rows, graph, "les.rollout.block",
                 qn_range_2d(proxy->d, (par.rows + SET_ROWS - 1) / SET_ROWS), par,
                 proxy->block_transpose, y, err);
}

qn_status qn_les_proxy_add_rollout(qn_les_proxy *proxy, qn_graph *graph, qn_buf *z, int n,
                                   qn_buf *zhat, qn_err *err)
{
    const int d = proxy->d, members = proxy->config->ensemble;
    const int singles = proxy->block_transpose && n >= PROXY_BLOCK ? PROXY_BLOCK - 1 : n;
    const qn_range all = qn_range_2d(d, (qn_i64)(n + 1) * members);
    qn_status st = QN_OK;

    /* Until the last stage, zhat holds scaled vectors. */
    QN_TRY(STAGE(proxy, les_begin, graph, "les.rollout.begin", all, d, members, proxy->mu,
                 proxy->scale, z, zhat, err));
    for (int t = 0; t < singles; t++)
        QN_TRY(add_step(proxy, graph, t, zhat, err));
    for (int t = 0; singles < n && t + PROXY_BLOCK <= n; t += PROXY_BLOCK) {
        const int left = n + 1 - t - PROXY_BLOCK;

        QN_TRY(add_block(proxy, graph, t, left < PROXY_BLOCK ? left : PROXY_BLOCK, zhat, err));
    }
    QN_TRY(STAGE(proxy, les_restore, graph, "les.rollout.restore", all, d, proxy->mu, proxy->scale,
                 zhat, err));
out:
    return st;
}

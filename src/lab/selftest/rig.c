/* rig.c - one graph with its buffers, built anew for every check. */
#include "lab/selftest/selftest_impl.h"

#include "util/hash.h"

#include <stdlib.h>
#include <string.h>

qn_status qn_rig_open(qn_ctx *ctx, qn_rig *rig, qn_err *err)
{
    *rig = (qn_rig){ .ctx = ctx };
    return qn_graph_new(ctx, "selftest", &rig->graph, err);
}

void qn_rig_close(qn_rig *rig)
{
    qn_graph_free(rig->graph);
    qn_segments_free(rig->segments);
    for (int i = 0; i < rig->n_bufs; i++)
        qn_buf_free(rig->bufs[i]);
    *rig = (qn_rig){ 0 };
}

qn_buf *qn_rig_new(qn_rig *rig, size_t bytes)
{
    char name[32];

    if (rig->n_bufs == QN_RIG_BUFS) {
        qn_fail(&rig->err, QN_ERR_LIMIT, "selftest: more than %d buffers", QN_RIG_BUFS);
        return NULL;
    }
    snprintf(name, sizeof name, "selftest.%d", rig->n_bufs);
    if (qn_buf_new(rig->ctx, name, bytes, &rig->bufs[rig->n_bufs], &rig->err) != QN_OK)
        return NULL;
    return rig->bufs[rig->n_bufs++];
}

/* A new buffer and the host memory to fill. */
static qn_buf *new_open(qn_rig *rig, size_t bytes, void **data)
{
    qn_buf *buf = qn_rig_new(rig, bytes);

    return buf && qn_buf_host(buf, QN_HOST_DISCARD, data, &rig->err) == QN_OK ? buf : NULL;
}

qn_buf *qn_rig_copy(qn_rig *rig, const void *data, size_t bytes)
{
    void *host;
    qn_buf *buf = new_open(rig, bytes, &host);

    if (buf)
        memcpy(host, data, bytes);
    return buf;
}

qn_buf *qn_rig_floats(qn_rig *rig, qn_i64 n, uint64_t seed)
{
    void *host;
    qn_buf *buf = new_open(rig, (size_t)n * sizeof(float), &host);

    for (qn_i64 i = 0; buf && i < n; i++)
        ((float *)host)[i] = qn_random_float(seed, (uint64_t)i);
    return buf;
}

qn_buf *qn_rig_bytes(qn_rig *rig, qn_i64 n, uint64_t seed)
{
    void *host;
    qn_buf *buf = new_open(rig, (size_t)n, &host);

    for (qn_i64 i = 0; buf && i < n; i++)
        ((uint8_t *)host)[i] = qn_random_byte(seed, (uint64_t)i);
    return buf;
}

static qn_status run_and_read(qn_rig *rig, const char *device, void *data, size_t bytes,
                              qn_err *err)
{
    qn_status st = QN_OK;

    for (int s = 0; s < qn_graph_get_stats(rig->graph).n_stages; s++)
        QN_TRY(qn_graph_pin(rig->graph, s, device, err));
    qn_graph_set_fallback(rig->graph, QN_FALLBACK_ERROR);
    QN_TRY(qn_graph_run(rig->graph, err));
    QN_TRY(qn_graph_wait(rig->graph, err));
    QN_TRY(qn_buf_read(rig->out, 0, data, bytes, err));
out:
    return st;
}

qn_status qn_rig_run(qn_rig *rig, const char *device, void **data, size_t *bytes, qn_err *err)
{
    const size_t n = qn_buf_bytes(rig->out);
    void *result = malloc(n);
    qn_status st;

    if (!result)
        return qn_fail(err, QN_ERR_NOMEM, "selftest: no memory for a result of %zu bytes", n);
    if ((st = run_and_read(rig, device, result, n, err)) != QN_OK) {
        free(result);
        return st;
    }
    *data = result;
    *bytes = n;
    return QN_OK;
}

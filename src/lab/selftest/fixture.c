/* fixture.c - one graph with its buffers, built for every check. */
#include "lab/selftest/selftest_impl.h"

#include "util/hash.h"

#include <stdlib.h>
#include <string.h>

qn_status qn_fixture_open(qn_ctx *ctx, qn_fixture *fixture, qn_err *err)
{
    *fixture = (qn_fixture){ .ctx = ctx };
    return qn_owned_graph(&fixture->owned, ctx, "selftest", &fixture->graph, err);
}

void qn_fixture_close(qn_fixture *fixture)
{
    qn_segments_free(fixture->segments);
    qn_owned_free(&fixture->owned, 0);
    *fixture = (qn_fixture){ 0 };
}

qn_status qn_fixture_out(qn_fixture *fixture, size_t bytes, qn_err *err)
{
    fixture->out = qn_fixture_new(fixture, bytes);
    return fixture->out ? QN_OK : qn_fail(err, fixture->err.status, "%s", fixture->err.text);
}

qn_buf *qn_fixture_new(qn_fixture *fixture, size_t bytes)
{
    qn_buf *buf;
    const qn_status st =
        qn_owned_buf(&fixture->owned, fixture->ctx, "selftest", bytes, &buf, &fixture->err);

    return st == QN_OK ? buf : NULL;
}

/* A new buffer and the host memory to fill. */
static qn_buf *new_open(qn_fixture *fixture, size_t bytes, void **data)
{
    qn_buf *buf = qn_fixture_new(fixture, bytes);

    return buf && qn_buf_host(buf, QN_HOST_DISCARD, data, &fixture->err) == QN_OK ? buf : NULL;
}

qn_buf *qn_fixture_copy(qn_fixture *fixture, const void *data, size_t bytes)
{
    void *host;
    qn_buf *buf = new_open(fixture, bytes, &host);

    if (buf)
        memcpy(host, data, bytes);
    return buf;
}

qn_buf *qn_fixture_floats(qn_fixture *fixture, qn_i64 n, uint64_t seed)
{
    void *host;
    qn_buf *buf = new_open(fixture, (size_t)n * sizeof(float), &host);

    for (qn_i64 i = 0; buf && i < n; i++)
        ((float *)host)[i] = qn_random_float(seed, (uint64_t)i);
    return buf;
}

qn_buf *qn_fixture_bytes(qn_fixture *fixture, qn_i64 n, uint64_t seed)
{
    void *host;
    qn_buf *buf = new_open(fixture, (size_t)n, &host);

    for (qn_i64 i = 0; buf && i < n; i++)
        ((uint8_t *)host)[i] = qn_random_byte(seed, (uint64_t)i);
    return buf;
}

qn_status qn_fixture_run(qn_fixture *fixture, const char *device, void *data, qn_err *err)
{
    const size_t bytes = qn_buf_bytes(fixture->out);
    qn_status st = QN_OK;
    void *result;

    for (int s = 0; s < qn_graph_get_stats(fixture->graph).n_stages; s++)
        QN_TRY(qn_graph_pin(fixture->graph, s, device, err));
    qn_graph_set_fallback(fixture->graph, QN_FALLBACK_ERROR);
    QN_TRY(qn_run_graph(fixture->graph, err));
    QN_TRY(qn_owned_memory(&fixture->owned, bytes, &result, err));
    QN_TRY(qn_buf_read(fixture->out, 0, result, bytes, err));
    memcpy(data, &result, sizeof result);
out:
    return st;
}
